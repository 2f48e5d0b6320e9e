// Package s3test starts S3 servers for tests. It is apart from package enginetest because
// the S3 client is large, and few tests need it.
package s3test

import (
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/embedded/s3server"
	"dateline/internal/storage/objects"
)

// Bucket opens an empty bucket of an S3 server for the test. TEST_S3_URL
// (http://access-key:secret-key@host:port) names a server to use instead; its buckets
// are not deleted.
func Bucket(t testing.TB) *objects.Bucket {
	t.Helper()
	given := os.Getenv("TEST_S3_URL")
	if given == "" {
		bucket, _ := StoppableBucket(t, t.TempDir())
		return bucket
	}
	u, err := url.Parse(given)
	if err != nil || u.User == nil {
		t.Fatal("TEST_S3_URL must be like http://access-key:secret-key@host:port")
	}
	user := u.User
	secret, _ := user.Password()
	u.User = nil
	bucket, err := objects.Open(t.Context(), objects.Options{
		Endpoint: u.String(), Region: "us-east-1",
		Bucket:    "dateline-test-" + uuid.NewString(),
		AccessKey: user.Username(), SecretKey: secret, PathStyle: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bucket
}

// StoppableBucket is Bucket for tests that stop it or access its directory.
func StoppableBucket(t testing.TB, dir string) (bucket *objects.Bucket, stop func()) {
	t.Helper()
	handler, err := s3server.New(s3server.Options{
		Dir: dir, Bucket: "dateline-test", AccessKey: "test", SecretKey: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	bucket, err = objects.Open(t.Context(), objects.Options{
		Endpoint: server.URL, Region: "us-east-1",
		Bucket:    "dateline-test",
		AccessKey: "test", SecretKey: "test", PathStyle: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bucket, server.Close
}
