package s3server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The examples of the S3 API Reference, "Signature Calculations for the Authorization
// Header" and "Authenticating Requests: Using Query Parameters".
func TestSignatureOfAWSExamples(t *testing.T) {
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	v := &verifier{accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	now := time.Date(2013, time.May, 24, 0, 0, 0, 0, time.UTC)
	byHeader := func(path, signed, signature string, headers ...string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "http://examplebucket.s3.amazonaws.com"+path, nil)
		r.Header.Set("X-Amz-Date", "20130524T000000Z")
		r.Header.Set("X-Amz-Content-Sha256", empty)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		r.Header.Set("Authorization",
			"AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders="+signed+
				",Signature="+signature)
		return r
	}
	const dated = "host;x-amz-content-sha256;x-amz-date"
	object := byHeader("/test.txt", "host;range;x-amz-content-sha256;x-amz-date",
		"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", "Range", "bytes=0-9")
	presigned := func(signature string) *http.Request {
		return httptest.NewRequest(http.MethodGet,
			"http://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"+
				"&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="+signature,
			nil)
	}
	for name, r := range map[string]*http.Request{
		"an object": object,
		"a parameter": byHeader("/?lifecycle", dated,
			"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
		"a listing": byHeader("/?max-keys=2&prefix=J", dated,
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
		"presigned": presigned("aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"),
	} {
		if !v.isSigned(r, now) {
			t.Errorf("%s is refused", name)
		}
	}
	for name, change := range map[string]func(r *http.Request){
		"another method": func(r *http.Request) { r.Method = http.MethodDelete },
		"another path":   func(r *http.Request) { r.URL.Path = "/test2.txt" },
		"another host":   func(r *http.Request) { r.Host = "otherbucket.s3.amazonaws.com" },
		"another range":  func(r *http.Request) { r.Header.Set("Range", "bytes=0-10") },
		"another hash":   func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", unsigned) },
		"another date":   func(r *http.Request) { r.Header.Set("X-Amz-Date", "20130525T000000Z") },
		"a parameter":    func(r *http.Request) { r.URL.RawQuery = "acl" },
		"another key": func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "AKIAIOSFODNN7EXAMPLE",
				"AKIAIOSFODNN7EXAMPLF", 1))
		},
		"no host": func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "host;", "", 1))
		},
		"no signature": func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Signature=") },
		"no header":    func(r *http.Request) { r.Header.Del("Authorization") },
	} {
		r := object.Clone(t.Context())
		if change(r); v.isSigned(r, now) {
			t.Errorf("with %s it is accepted", name)
		}
	}
	if v.isSigned(presigned("aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d405"), now) {
		t.Error("a forged URL is accepted")
	}
	if v.isSigned(presigned("aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"),
		now.Add(24*time.Hour+time.Second)) {
		t.Error("an expired URL is accepted")
	}
}
