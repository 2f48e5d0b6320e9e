package s3server

import (
	"crypto/subtle"
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const amzTime = "20060102T150405Z"

// requireSignature lets a request pass if it carries our signature, version 4, in its header or, presigned, in its query. It
// signs the same request again and compares.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
func requireSignature(accessKey, secretKey string, next http.Handler) http.Handler {
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // As S3 wants it.
	credentials := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var given, want string
		var ok bool
		if r.URL.Query().Has("X-Amz-Signature") {
			given, want, ok = presignedSignature(r, signer, credentials)
		} else {
			given, want, ok = headerSignature(r, signer, credentials)
		}
		if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(want)) != 1 {
			writeError(w, http.StatusForbidden, "SignatureDoesNotMatch", "the request is not signed with this server's credentials")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// headerSignature returns the Authorization header that was given and the one that would be right.
func headerSignature(r *http.Request, signer *v4.Signer, credentials aws.Credentials) (given, want string, ok bool) {
	given = r.Header.Get("Authorization")
	fields := make(map[string]string)
	for part := range strings.SplitSeq(strings.TrimPrefix(given, "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	// access key/date/region/service/aws4_request
	scope := strings.Split(fields["Credential"], "/")
	at, err := time.Parse(amzTime, r.Header.Get("X-Amz-Date"))
	if err != nil || len(scope) != 5 || scope[0] != credentials.AccessKeyID {
		return "", "", false
	}
	copied := signedPart(r, fields["SignedHeaders"])
	if err := signer.SignHTTP(r.Context(), credentials, copied, r.Header.Get("X-Amz-Content-Sha256"), scope[3], scope[2], at); err != nil {
		return "", "", false
	}
	return given, copied.Header.Get("Authorization"), true
}

// presignedSignature does the same for a presigned URL, and checks that it has not expired.
func presignedSignature(r *http.Request, signer *v4.Signer, credentials aws.Credentials) (given, want string, ok bool) {
	query := r.URL.Query()
	given = query.Get("X-Amz-Signature")
	scope := strings.Split(query.Get("X-Amz-Credential"), "/")
	at, err := time.Parse(amzTime, query.Get("X-Amz-Date"))
	lifetime, errLifetime := time.ParseDuration(query.Get("X-Amz-Expires") + "s")
	if err != nil || errLifetime != nil || len(scope) != 5 || scope[0] != credentials.AccessKeyID || time.Now().After(at.Add(lifetime)) {
		return "", "", false
	}
	copied := signedPart(r, query.Get("X-Amz-SignedHeaders"))
	// The signer adds these itself.
	for _, name := range []string{"Signature", "Credential", "Date", "SignedHeaders", "Algorithm"} {
		query.Del("X-Amz-" + name)
	}
	copied.URL.RawQuery = query.Encode()
	hash := "UNSIGNED-PAYLOAD"
	if header := r.Header.Get("X-Amz-Content-Sha256"); header != "" {
		hash = header
	}
	signed, _, err := signer.PresignHTTP(r.Context(), credentials, copied, hash, scope[3], scope[2], at)
	if err != nil {
		return "", "", false
	}
	u, err := url.Parse(signed)
	if err != nil {
		return "", "", false
	}
	return given, u.Query().Get("X-Amz-Signature"), true
}

// signedPart copies the request with only the headers that the client signed.
func signedPart(r *http.Request, signedHeaders string) *http.Request {
	copied := &http.Request{Method: r.Method, Host: r.Host, Header: make(http.Header),
		URL: &url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}}
	for name := range strings.SplitSeq(signedHeaders, ";") {
		switch name {
		case "host":
		case "content-length":
			copied.ContentLength = r.ContentLength
		default:
			if values := r.Header.Values(name); len(values) > 0 {
				copied.Header[http.CanonicalHeaderKey(name)] = values
			}
		}
	}
	return copied
}

// writeError answers in S3's error format.
func writeError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: message})
}
