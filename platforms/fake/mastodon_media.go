package fake

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// createMedia accepts an upload. Version 2 responds 202 while it is being
// processed.
func (s mastodonFake) createMedia(w http.ResponseWriter, r *http.Request, who caller) {
	s.mu.Lock()
	m := Media{ID: s.state.nextID(s.now()), AccountID: who.account.ID}
	s.mu.Unlock()
	if problem := s.readUpload(w, r, &m); problem != "" {
		writeJSON(w, http.StatusUnprocessableEntity, mastodonError{problem})
		return
	}
	c := conditionsOf(r)
	delay := s.processingTime(r, m, c)
	m.ReadyAt = s.now().Add(delay)
	m.Failed = c.processingResult == MediaError
	m.ExpiresAt = s.now().Add(s.options.MediaTTL)
	if c.mediaTTL > 0 {
		m.ExpiresAt = s.now().Add(c.mediaTTL)
	}
	if c.processingResult == MediaExpired {
		m.ExpiresAt = m.ReadyAt
	}
	s.mu.Lock()
	stored := m
	err := s.commit(record{Kind: kindMedia, Media: &stored})
	s.mu.Unlock()
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, mastodonError{err.Error()})
		return
	}
	status := http.StatusOK
	if delay > 0 {
		status = http.StatusAccepted
	}
	if delay == 0 && m.Failed {
		writeJSON(w, http.StatusUnprocessableEntity, mastodonError{processingFailed})
		return
	}
	writeJSON(w, status, mediaEntity(r, m, delay == 0))
}

// processingFailed is the message of app/controllers/api/v1/media_controller.rb.
const processingFailed = "Error processing thumbnail for uploaded media"

// processingTime returns how long an upload is processed after the response;
// version 1 of the API responds when it is done.
func (s mastodonFake) processingTime(r *http.Request, m Media, c requestConditions) time.Duration {
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/v1/"):
		return 0
	case c.processingTime > 0:
		return c.processingTime
	case s.options.MediaDelay == 0 && !strings.HasPrefix(m.MIMEType, "image/"):
		return time.Second
	default:
		return s.options.MediaDelay
	}
}

// staged returns an upload that a post can still use. The caller must hold s.mu.
func (s *Server) staged(id, accountID string) *Media {
	m := s.state.media[id]
	if m == nil || m.AccountID != accountID || m.PostID != "" || !m.ExpiresAt.IsZero() && !s.now().Before(m.ExpiresAt) {
		return nil
	}
	return m
}

// readUpload streams the form's file to storage and returns what is wrong.
func (s mastodonFake) readUpload(w http.ResponseWriter, r *http.Request, m *Media) string {
	r.Body = http.MaxBytesReader(w, r.Body, videoLimit+1<<20)
	parts, err := r.MultipartReader()
	if err != nil {
		return "Validation failed: File can't be blank"
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return processingFailed
		}
		switch part.FormName() {
		case "description":
			text, _ := io.ReadAll(io.LimitReader(part, 64<<10))
			m.Description = string(text)
		case "file":
			file := bufio.NewReader(part)
			head, _ := file.Peek(512)
			m.MIMEType, _, _ = strings.Cut(http.DetectContentType(head), ";")
			if m.Bytes, err = s.saveMedia(m.ID, file); err != nil {
				return processingFailed
			}
		}
	}
	limit := int64(videoLimit)
	if strings.HasPrefix(m.MIMEType, "image/") {
		limit = imageLimit
	}
	switch {
	case m.MIMEType == "":
		return "Validation failed: File can't be blank"
	case !slices.Contains(supportedTypes(), m.MIMEType):
		return "Validation failed: File content type is invalid, File is invalid"
	case m.Bytes > limit:
		return "Validation failed: File file size must be less than the limit"
	case len([]rune(m.Description)) > altLimit:
		return "Validation failed: Description is too long (maximum is 1500 characters)"
	}
	return ""
}

// readMedia responds 206 while the file is processed and 422 if that failed.
// Attached media is not found here, as in
// app/controllers/api/v1/media_controller.rb.
func (s mastodonFake) readMedia(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	found := s.staged(r.PathValue("id"), c.account.ID)
	var m Media
	if found != nil {
		m = *found
	}
	s.mu.Unlock()
	if found == nil {
		writeJSON(w, http.StatusNotFound, mastodonError{statusMessage(http.StatusNotFound)})
		return
	}
	ready := !s.now().Before(m.ReadyAt)
	if ready && m.Failed {
		writeJSON(w, http.StatusUnprocessableEntity, mastodonError{processingFailed})
		return
	}
	status := http.StatusOK
	if !ready {
		status = http.StatusPartialContent
	}
	writeJSON(w, status, mediaEntity(r, m, ready))
}

func mediaEntity(r *http.Request, m Media, ready bool) map[string]any {
	kind, _, _ := strings.Cut(m.MIMEType, "/")
	var link, description any
	if ready {
		link = base(r) + "/media/" + m.ID
	}
	if m.Description != "" {
		description = m.Description
	}
	return map[string]any{
		"id": m.ID, "type": kind, "url": link, "preview_url": link, "remote_url": nil, "description": description,
		"meta": map[string]any{}, "blurhash": nil,
	}
}

// showMedia serves a file for the timeline.
func (s controls) showMedia(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	m := s.state.media[r.PathValue("id")]
	var data []byte
	if m != nil {
		data = s.state.data[m.ID]
	}
	s.mu.Unlock()
	if m == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", m.MIMEType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if s.options.Journal == "" {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(data)))
		return
	}
	file, err := os.Open(filepath.Join(s.mediaDir(), m.ID))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer func() { _ = file.Close() }()
	http.ServeContent(w, r, "", time.Time{}, file)
}
