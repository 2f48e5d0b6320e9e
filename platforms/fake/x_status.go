package fake

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// openMedia opens what saveMedia stored.
func (s xFake) openMedia(id string) (io.ReadCloser, error) {
	if s.options.Journal != "" {
		return os.Open(filepath.Join(s.mediaDir(), id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.state.data[id]
	if !ok {
		return nil, os.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (s xFake) dropMedia(id string) {
	if s.options.Journal != "" {
		_ = os.Remove(filepath.Join(s.mediaDir(), id))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.state.data, id)
}

// xStatus returns the processing state.
func (s xFake) xStatus(w http.ResponseWriter, r *http.Request, c caller) {
	id := r.URL.Query().Get("media_id")
	s.mu.Lock()
	found := s.staged(id, c.account.ID)
	var m Media
	if found != nil {
		m = *found
	}
	s.mu.Unlock()
	if found == nil {
		xNotFound(w, "media", id)
		return
	}
	info := map[string]any{"state": "succeeded", "progress_percent": 100}
	switch {
	case s.now().Before(m.ReadyAt):
		info = map[string]any{"state": "in_progress", "progress_percent": 50, "check_after_secs": 1}
	case m.Failed:
		info = map[string]any{"state": "failed", "error": map[string]any{
			"code": 1, "name": "InvalidMedia", "message": "Unsupported video format",
		}}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"data": map[string]any{"id": id, "expires_after_secs": xMediaTTL, "processing_info": info},
	})
}

// xMetadata sets the description of an attachment.
// https://docs.x.com/x-api/media/create-media-metadata
func (s xFake) xMetadata(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct {
		ID       string `json:"id"`
		Metadata struct {
			AltText struct {
				Text string `json:"text"`
			} `json:"alt_text"`
		} `json:"metadata"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	if utf8.RuneCountInString(in.Metadata.AltText.Text) > xAltLimit {
		invalidRequest(w, "The alt text must have at most 1000 characters.", nil)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.staged(in.ID, c.account.ID)
	if m == nil {
		xNotFound(w, "media", in.ID)
		return
	}
	described := *m
	described.Description = in.Metadata.AltText.Text
	if err := s.commit(record{Kind: kindMedia, Media: &described}); err != nil {
		writeProblem(w, http.StatusInternalServerError, xProblem{Detail: err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": map[string]any{"id": in.ID, "associated_metadata": in.Metadata}})
}
