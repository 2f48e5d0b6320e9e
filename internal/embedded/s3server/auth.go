package s3server

import (
	"crypto/subtle"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	amzTime   = "20060102T150405Z"
	algorithm = "AWS4-HMAC-SHA256"
	unsigned  = "UNSIGNED-PAYLOAD"
)

// requireSignature rejects requests without a valid AWS signature, version 4, in the header or in
// the query (presigned). https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
func requireSignature(accessKey, secretKey string, next http.Handler) http.Handler {
	v := &verifier{accessKey: accessKey, secretKey: secretKey}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !v.isSigned(r, time.Now()) {
			writeError(w, http.StatusForbidden, "SignatureDoesNotMatch",
				"the request is not signed with the credentials of this server")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// signatureFields are the fields of the signature of a request.
type signatureFields struct {
	at        string // X-Amz-Date
	scope     string // date/region/service/aws4_request
	headers   string // signed headers, in lower case, separated by ;
	payload   string // hash of the body, or a keyword
	query     string // of the canonical request
	signature string
}

// isSigned reports whether a request has a valid, unexpired signature.
func (v *verifier) isSigned(r *http.Request, now time.Time) bool {
	var c signatureFields
	var credential string
	if r.URL.RawQuery != "" && strings.Contains(r.URL.RawQuery, "X-Amz-Signature=") {
		query := r.URL.Query()
		at, err := time.Parse(amzTime, query.Get("X-Amz-Date"))
		lifetime, errLifetime := time.ParseDuration(query.Get("X-Amz-Expires") + "s")
		if err != nil || errLifetime != nil || now.After(at.Add(lifetime)) ||
			query.Get("X-Amz-Algorithm") != algorithm {
			return false
		}
		credential = query.Get("X-Amz-Credential")
		c = signatureFields{
			at: query.Get("X-Amz-Date"), headers: query.Get("X-Amz-SignedHeaders"), payload: unsigned,
			signature: query.Get("X-Amz-Signature"),
		}
		if hash := r.Header.Get("X-Amz-Content-Sha256"); hash != "" {
			c.payload = hash
		}
		query.Del("X-Amz-Signature")
		c.query = canonicalQuery(query)
	} else {
		fields, ok := strings.CutPrefix(r.Header.Get("Authorization"), algorithm+" ")
		if !ok {
			return false
		}
		c = signatureFields{at: r.Header.Get("X-Amz-Date"), payload: r.Header.Get("X-Amz-Content-Sha256")}
		for field := range strings.SplitSeq(fields, ",") {
			switch name, value, _ := strings.Cut(strings.TrimSpace(field), "="); name {
			case "Credential":
				credential = value
			case "SignedHeaders":
				c.headers = value
			case "Signature":
				c.signature = value
			}
		}
		if r.URL.RawQuery != "" {
			c.query = canonicalQuery(r.URL.Query())
		}
	}
	key, scope, _ := strings.Cut(credential, "/")
	c.scope = scope
	want, ok := v.signature(r, c)
	return ok && key == v.accessKey && subtle.ConstantTimeCompare([]byte(c.signature), []byte(want)) == 1
}

// canonicalQuery encodes parameters ordered by name (as url.Values does) and value,
// with spaces as %20.
func canonicalQuery(query url.Values) string {
	for _, values := range query {
		slices.Sort(values)
	}
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}

// writeError writes an error response in the format of S3.
func writeError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: message})
}
