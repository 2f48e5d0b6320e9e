package api_test

import (
	"slices"
	"testing"

	"dateline/api/spec"
	"dateline/internal/testing/mediatest"
)

func TestUploadMedia_ReportsRemovedMetadata(t *testing.T) {
	t.Parallel()
	s := start(t)
	var tagged spec.Media
	s.decode(s.upload0("a.jpg", mediatest.JPEG(64, 48, 1)), 201, &tagged)
	if !tagged.LocationRemoved || !slices.Contains(tagged.MetadataRemoved, spec.MediaMetadataCamera) ||
		!slices.Contains(tagged.MetadataRemoved, spec.MediaMetadataAuthor) {
		t.Errorf("got %v %v, want the location, the camera and the author", tagged.LocationRemoved,
			tagged.MetadataRemoved)
	}
	if plain := s.upload("b.png", ""); plain.LocationRemoved || plain.MetadataRemoved == nil ||
		len(plain.MetadataRemoved) != 0 {
		t.Errorf("got %v %v, want an empty list", plain.LocationRemoved, plain.MetadataRemoved)
	}

	var w spec.Workspace
	s.decode(s.send("PATCH", "/api/v1/workspace", object{"keep_media_credit": true}), 200, &w)
	if !w.KeepMediaCredit {
		t.Error("the workspace does not keep the credit")
	}
	s.decode(s.upload0("c.jpg", mediatest.JPEG(64, 48, 1)), 201, &tagged)
	if !tagged.LocationRemoved || slices.Contains(tagged.MetadataRemoved, spec.MediaMetadataAuthor) {
		t.Errorf("got %v %v, want the location and not the author", tagged.LocationRemoved, tagged.MetadataRemoved)
	}
}
