package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/mediatest"
)

func TestUploadMedia_AnswersInsufficientStorageWhenTheDiskIsFull(t *testing.T) {
	s := start(t)
	t.Setenv("TMPDIR", enginetest.SmallDisk(t, 256<<10))
	a := s.upload0("film.mp4", mediatest.Movie{Width: 640, Height: 360, Seconds: 60, Frames: 800 << 10}.Bytes())
	var problem struct{ Code, Detail string }
	if err := json.Unmarshal(a.body, &problem); err != nil || a.StatusCode != http.StatusInsufficientStorage ||
		problem.Code != "insufficient_storage" || !strings.Contains(problem.Detail, "TMPDIR") {
		t.Errorf("got %d %s, want 507 and what to do", a.StatusCode, a.body)
	}
}
