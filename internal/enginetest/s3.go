package enginetest

import (
	"net/http/httptest"
	"os"
	"testing"

	"dateline/internal/objects"
	"dateline/internal/s3server"
)

// S3 opens an empty bucket of an S3 server that is the test's own.
func S3(t testing.TB) *objects.Bucket {
	t.Helper()
	bucket, _ := StoppableS3(t, t.TempDir())
	return bucket
}

// StoppableS3 is S3 for tests that take it away, or look into the directory that
// it is in.
func StoppableS3(t testing.TB, dir string) (bucket *objects.Bucket, stop func()) {
	t.Helper()
	handler, err := s3server.New(s3server.Options{Dir: dir, Bucket: "dateline-test", AccessKey: "test", SecretKey: "test"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	bucket, err = objects.Open(t.Context(), objects.Options{Endpoint: server.URL, Region: "us-east-1", Bucket: "dateline-test",
		AccessKey: "test", SecretKey: "test", PathStyle: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bucket, server.Close
}

// shortTempDir is t.TempDir with a path that a socket may have (108 bytes,
// unix(7)); test names make the other one longer.
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "dateline-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
