package media_test

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"testing"

	"dateline/internal/embedded/s3server"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"

	"dateline/internal/storage/objects"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
)

func TestUpload_ReportsFullDisk(t *testing.T) {
	movie := mediatest.Movie{Width: 640, Height: 360, Seconds: 60, Frames: 8 << 20}.Bytes()
	full := func(t *testing.T, n *newsroomtest.Newsroom) {
		t.Helper()
		_, err := n.Media.Upload(t.Context(), n.Owner, "film.mp4", "", bytes.NewReader(movie))
		var refused *apperr.Error
		if !errors.As(err, &refused) || refused.Kind != apperr.KindInsufficientStorage ||
			refused.Code != "insufficient_storage" {
			t.Errorf("got %v, want insufficient_storage", err)
		}
		if got := n.Count("select count(*) from media"); got != 0 {
			t.Errorf("got %d files, want none", got)
		}
		small, err := n.Media.Upload(t.Context(), n.Owner, "small.jpg", "",
			bytes.NewReader(mediatest.PlainJPEG(64, 48)))
		if err != nil || small.Bytes == 0 {
			t.Errorf("a file that fits: %v", err)
		}
	}
	t.Run("temporary files", func(t *testing.T) {
		n := newsroomtest.Open(t)
		n.Media.MaxBytes = 64 << 20
		t.Setenv("TMPDIR", enginetest.SmallDisk(t, 4<<20))
		full(t, n)
	})
	t.Run("object store", func(t *testing.T) {
		n := newsroomtest.Open(t)
		n.Media.MaxBytes = 64 << 20
		n.Media.Objects = smallBucket(t, 12<<20) // both the object and the received file are on it
		full(t, n)
	})
}

// smallBucket is a bucket of the embedded server on a small disk.
func smallBucket(t *testing.T, room uint64) media.Objects {
	t.Helper()
	handler, err := s3server.New(s3server.Options{
		Dir: enginetest.SmallDisk(t, room), Bucket: "small", AccessKey: "test", SecretKey: "test",
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
	return bucket
}
