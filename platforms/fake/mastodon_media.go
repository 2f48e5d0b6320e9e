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

// createMedia takes an upload: version 2 answers 202 while it is processed.
func (s *Server) createMedia(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	m := Media{ID: s.state.nextID(s.now()), AccountID: c.account.ID}
	s.mu.Unlock()
	if problem := s.readUpload(w, r, &m); problem != "" {
		writeJSON(w, http.StatusUnprocessableEntity, failure{problem})
		return
	}
	delay := s.options.MediaDelay
	if delay == 0 && !strings.HasPrefix(m.MIMEType, "image/") {
		delay = time.Second
	}
	if strings.HasPrefix(r.URL.Path, "/api/v1/") {
		delay = 0
	}
	m.ReadyAt = s.now().Add(delay)
	s.mu.Lock()
	stored := m
	err := s.commit(record{Kind: kindMedia, Media: &stored})
	s.mu.Unlock()
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, failure{err.Error()})
		return
	}
	status := http.StatusOK
	if delay > 0 {
		status = http.StatusAccepted
	}
	writeJSON(w, status, mediaEntity(r, m, delay == 0))
}

// readUpload streams the form's file into storage and gives what is wrong.
func (s *Server) readUpload(w http.ResponseWriter, r *http.Request, m *Media) string {
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
			return "Error processing thumbnail for uploaded media"
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
				return "Error processing thumbnail for uploaded media"
			}
		}
	}
	most := int64(videoLimit)
	if strings.HasPrefix(m.MIMEType, "image/") {
		most = imageLimit
	}
	switch {
	case m.MIMEType == "":
		return "Validation failed: File can't be blank"
	case !slices.Contains(supportedTypes(), m.MIMEType):
		return "Validation failed: File content type is invalid, File is invalid"
	case m.Bytes > most:
		return "Validation failed: File file size must be less than the limit"
	case len([]rune(m.Description)) > altLimit:
		return "Validation failed: Description is too long (maximum is 1500 characters)"
	}
	return ""
}

// readMedia answers 206 while the file is processed. Attached media is gone
// from here, as in app/controllers/api/v1/media_controller.rb.
func (s *Server) readMedia(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	found := s.state.media[r.PathValue("id")]
	var m Media
	if found != nil {
		m = *found
	}
	s.mu.Unlock()
	if found == nil || m.AccountID != c.account.ID || m.PostID != "" {
		writeJSON(w, http.StatusNotFound, failure{wording(http.StatusNotFound)})
		return
	}
	ready := !s.now().Before(m.ReadyAt)
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

// showMedia serves a file to the timeline.
func (s *Server) showMedia(w http.ResponseWriter, r *http.Request) {
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
