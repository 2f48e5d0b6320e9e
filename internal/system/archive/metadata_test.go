package archive_test

import (
	"bytes"
	"io"
	"testing"

	"dateline/internal/publishing/media"
	"dateline/internal/testing/mediatest"
)

func TestImport_RemovesMetadata(t *testing.T) {
	from, to := open(t), open(t)
	tagged := mediatest.JPEG(64, 48, 1)
	_, err := from.Media.Upload(t.Context(), from.Owner, "clean.jpg", "", bytes.NewReader(tagged))
	from.Must(err)
	// The bucket contains the original file with its metadata, as in a forged archive.
	item, err := from.Media.Upload(t.Context(), from.Owner, "tagged.png", "", picture(t))
	from.Must(err)
	from.Must(from.Objects.Put(t.Context(), item.ObjectKey, "image/jpeg", int64(len(tagged)), bytes.NewReader(tagged)))
	from.Exec("update media set bytes = $1, file_name = 'tagged.jpg' where id = $2", len(tagged), item.ID)

	if done := to.take(from.export(), to.Owner); len(done.Skipped) != 0 {
		t.Fatalf("left out: %v", done.Skipped)
	}
	items, err := to.Media.List(t.Context(), media.Filter{WorkspaceID: to.Workspace.ID, Limit: 10})
	to.Must(err)
	if len(items) != 2 {
		t.Fatalf("got %d files, want 2", len(items))
	}
	for _, item := range items {
		if !item.LocationRemoved() {
			t.Errorf("%s: %v is removed, want the location in it", item.FileName, item.MetadataRemoved)
		}
		body, err := to.Objects.Get(t.Context(), item.ObjectKey)
		to.Must(err)
		stored, err := io.ReadAll(body)
		to.Must(err)
		to.Must(body.Close())
		for _, secret := range append(mediatest.Secrets(), mediatest.Credits()...) {
			if bytes.Contains(stored, secret) {
				t.Errorf("%s: the stored object contains %q", item.FileName, secret)
			}
		}
	}
}
