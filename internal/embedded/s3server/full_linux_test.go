package s3server_test

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"testing"

	"dateline/internal/embedded/s3server"
	"dateline/internal/infra/blob"
	"dateline/internal/storage/objects"
	"dateline/internal/testing/enginetest"
)

func TestServer_AnswersInsufficientStorageWhenItsDiskIsFull(t *testing.T) {
	handler, err := s3server.New(s3server.Options{
		Dir: enginetest.SmallDisk(t, 6<<20), Bucket: "small", AccessKey: "test", SecretKey: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	bucket, err := objects.Open(t.Context(), objects.Options{
		Endpoint: server.URL, Region: "us-east-1", Bucket: "small",
		AccessKey: "test", SecretKey: "test", PathStyle: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	put := func(key string, size int) error {
		return bucket.Put(t.Context(), key, "text/plain", int64(size), bytes.NewReader(make([]byte, size)))
	}
	if err := put("before", 1<<20); err != nil {
		t.Fatal(err)
	}
	// Too large to be received, and too large to be stored after it is received.
	for name, size := range map[string]int{"huge": 8 << 20, "large": 4 << 20} {
		if err := put(name, size); !errors.Is(err, blob.ErrFull) {
			t.Errorf("%s: got %v, want ErrFull", name, err)
		}
		if _, err := bucket.Size(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s: got %v, want no object", name, err)
		}
	}
	if err := put("after", 1<<20); err != nil {
		t.Errorf("an object that fits: %v", err)
	}
}
