package objects_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"dateline/internal/infra/blob"
	"dateline/internal/storage/objects"
)

// Servers that check the form of an upload's id answer 400 instead of 404.
func TestParts_OfAnUnknownUploadAreNoFailure(t *testing.T) {
	code := func(name string) string {
		return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + name + `</Code><Message>m</Message></Error>`
	}
	for name, row := range map[string]struct {
		status  int
		body    string
		unknown bool
	}{
		"404 NoSuchUpload":         {404, code("NoSuchUpload"), true},
		"404 without a body":       {404, "", true},
		"400 NoSuchUpload":         {400, code("NoSuchUpload"), true},
		"400 InvalidArgument":      {400, code("InvalidArgument"), true},
		"400 InvalidRequest":       {400, code("InvalidRequest"), true},
		"400 without a body":       {400, "", true},
		"400 ExpiredToken":         {400, code("ExpiredToken"), false},
		"400 malformed signature":  {400, code("AuthorizationHeaderMalformed"), false},
		"403 AccessDenied":         {403, code("AccessDenied"), false},
		"403 RequestTimeTooSkewed": {403, code("RequestTimeTooSkewed"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !r.URL.Query().Has("uploadId") {
					return // the bucket exists
				}
				w.Header().Set("Content-Type", "application/xml")
				w.WriteHeader(row.status)
				_, _ = io.WriteString(w, row.body)
			}))
			t.Cleanup(server.Close)
			b, err := objects.Open(t.Context(), objects.Options{
				Endpoint: server.URL, Region: "us-east-1", Bucket: "dateline", AccessKey: "key", SecretKey: "secret",
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.AbortMultipartUpload(t.Context(), "media/a", "lost"); (err == nil) != row.unknown {
				t.Errorf("abort: got %v, want success %v", err, row.unknown)
			}
			if _, err := b.ListParts(t.Context(), "media/a", "lost"); errors.Is(err, blob.ErrNotFound) != row.unknown ||
				err == nil {
				t.Errorf("list: got %v, want not found %v", err, row.unknown)
			}
		})
	}
}
