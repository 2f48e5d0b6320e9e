package objects_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"dateline/internal/embedded/s3server"
	"dateline/internal/infra/blob"
	"dateline/internal/storage/objects"
	"dateline/internal/testing/s3test"
)

func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return b
}

func put(t *testing.T, b *objects.Bucket, key string, body []byte) {
	t.Helper()
	if err := b.Put(t.Context(), key, "video/mp4", int64(len(body)), bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
}

func TestObject_ReadsFromAnyOffset(t *testing.T) {
	b := s3test.Bucket(t)
	whole := content(700_000) // more than the read-ahead
	put(t, b, "media/ảnh 1.mp4", whole)
	r := blob.NewReader(t.Context(), b, "media/ảnh 1.mp4", int64(len(whole)))
	defer r.Close()
	if err := iotest.TestReader(io.NewSectionReader(r, 0, 5000), whole[:5000]); err != nil {
		t.Error(err)
	}
	for _, at := range []int{0, 1, 255 << 10, 256<<10 - 1, 500_000, 699_999, 3} {
		for _, n := range []int{1, 1000, 300 << 10} {
			got := make([]byte, n)
			read, err := r.ReadAt(got, int64(at))
			want := whole[at:min(at+n, len(whole))]
			if !bytes.Equal(got[:read], want) || (err != nil) != (len(want) < n) || err != nil &&
				!errors.Is(err, io.EOF) {
				t.Errorf("%d at %d: %d %v", n, at, read, err)
			}
		}
	}
	for _, at := range []int64{699_990, 10, 0} {
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, whole[at:]) {
			t.Errorf("from %d: %d bytes, %v", at, len(got), err)
		}
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("a negative offset was accepted")
	}
	if size, err := r.Seek(0, io.SeekEnd); err != nil || size != int64(len(whole)) {
		t.Errorf("its end is %d, %v", size, err)
	}
	missing := blob.NewReader(t.Context(), b, "none", 10)
	if _, err := missing.ReadAt(make([]byte, 1), 0); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a missing object: %v", err)
	}
}

func TestObjectsAreCopiedAndDeleted(t *testing.T) {
	b := s3test.Bucket(t)
	put(t, b, "a b+ả%.mp4", content(1000))
	if err := b.Copy(t.Context(), "a b+ả%.mp4", "media/copy", "image/png"); err != nil {
		t.Fatal(err)
	}
	if size, err := b.Size(t.Context(), "media/copy"); err != nil || size != 1000 {
		t.Errorf("%d %v", size, err)
	}
	address, err := b.PresignGet(t.Context(), "media/copy", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "image/png" {
		t.Errorf("%s %v", answer.Status, answer.Header)
	}
	if err := b.Copy(t.Context(), "none", "media/other", "image/png"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a copy of a missing object: %v", err)
	}
	for range 2 {
		if err := b.Delete(t.Context(), "media/copy"); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Size(t.Context(), "media/copy"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("after the deletion: %v", err)
	}
	if err := b.AbortMultipartUpload(t.Context(), "media/copy", "nothing"); err != nil {
		t.Error(err)
	}
	if _, err := b.ListParts(t.Context(), "media/copy", "nothing"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("parts of an unknown upload: %v", err)
	}
}

// URLs name the public endpoint, which may be a proxy, and are valid there; Dateline's
// own requests use the other endpoint.
func TestAddressesAreThoseOfThePublicEndpoint(t *testing.T) {
	handler, err := s3server.New(s3server.Options{
		Dir: t.TempDir(), Bucket: "dateline", AccessKey: "key", SecretKey: "secret",
	})
	if err != nil {
		t.Fatal(err)
	}
	inside := httptest.NewServer(handler)
	t.Cleanup(inside.Close)
	target, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	outside := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // as proxies in front of S3 have to
	}})
	t.Cleanup(outside.Close)
	b, err := objects.Open(t.Context(), objects.Options{
		Endpoint: inside.URL, PublicEndpoint: outside.URL,
		Region: "us-east-1", Bucket: "dateline",
		AccessKey: "key", SecretKey: "secret", PathStyle: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := b.PresignPut(t.Context(), "a", 5, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(signed.URL, outside.URL) || len(signed.Header) != 0 {
		t.Errorf("%+v", signed)
	}
	for body, want := range map[string]int{"hello": 200, "hello, world": 403, "": 403} {
		r, err := http.NewRequestWithContext(t.Context(), signed.Method, signed.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q is answered %s", body, answer.Status)
		}
	}
	address, err := b.PresignGet(t.Context(), "a", time.Minute)
	if err != nil || !strings.HasPrefix(address, outside.URL) {
		t.Fatalf("%s %v", address, err)
	}
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(answer.Body)
	if err != nil || string(got) != "hello" {
		t.Errorf("%q %v", got, err)
	}
	_ = answer.Body.Close()
}
