package fake

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// xUpload is an incomplete upload.
type xUpload struct {
	MIMEType string        `json:"mime_type"`
	Category string        `json:"category"`
	Total    int64         `json:"total"`
	Sizes    map[int]int64 `json:"sizes"` // by segment
}

// xMaxBytes returns X's limits for attachments
// (https://docs.x.com/x-api/media/quickstart/best-practices).
func xMaxBytes(category string) int64 {
	switch category {
	case "tweet_image":
		return 5 << 20
	case "tweet_gif":
		return 15 << 20
	case "tweet_video", "amplify_video":
		return 512 << 20
	default:
		return 0
	}
}

const (
	xMediaTTL   = 86_400
	xUploadTTL  = 1_295_999
	xAltLimit   = 1000
	xMaxSegment = 5 << 20
)

// xInitialize starts an upload.
// https://docs.x.com/x-api/media/initialize-media-upload
func (s xFake) xInitialize(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct {
		MediaType string   `json:"media_type"`
		Total     int64    `json:"total_bytes"`
		Category  string   `json:"media_category"`
		Owners    []string `json:"additional_owners"`
		Shared    bool     `json:"shared"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	kind, _, _ := strings.Cut(in.MediaType, "/")
	fits := in.Category == "tweet_video" && kind == "video" || in.Category == "tweet_gif" &&
		in.MediaType == "image/gif" ||
		in.Category == "tweet_image" && kind == "image"
	if !fits || !slices.Contains(xTypes(), in.MediaType) {
		invalidRequest(w, "The media type unrecognized for this media category.", map[string][]string{
			"media_type": {in.MediaType},
		})
		return
	}
	if in.Total < 1 || in.Total > xMaxBytes(in.Category) {
		invalidRequest(w, "File size exceeds "+strconv.FormatInt(xMaxBytes(in.Category), 10)+" bytes.",
			map[string][]string{"total_bytes": {strconv.FormatInt(in.Total, 10)}})
		return
	}
	s.mu.Lock()
	thing := Object{
		ID: s.state.nextID(s.now()), Network: "x", Kind: "upload", AccountID: c.account.ID,
		CreatedAt: s.now(),
	}
	err := s.putObject(thing, xUpload{in.MediaType, in.Category, in.Total, map[int]int64{}})
	s.mu.Unlock()
	if err != nil {
		writeProblem(w, http.StatusInternalServerError, xProblem{Detail: err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": map[string]any{
		"id": thing.ID, "media_key": xMediaKey(in.Category, thing.ID), "expires_after_secs": xUploadTTL,
	}})
}

func xTypes() []string {
	return []string{"image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/quicktime", "video/webm"}
}

func xMediaKey(category, id string) string {
	switch category {
	case "tweet_video":
		return "7_" + id
	case "tweet_gif":
		return "16_" + id
	default:
		return "3_" + id
	}
}

// xOpen returns one of the caller's uploads. The caller must hold s.mu.
func (s xFake) xOpen(id string, c caller) (Object, xUpload, bool) {
	var u xUpload
	thing, ok := s.object("x", "upload", id, &u)
	return thing, u, ok && thing.AccountID == c.account.ID
}

// xAppend stores a segment, which replaces an earlier one with the same index.
func (s xFake) xAppend(w http.ResponseWriter, r *http.Request, c caller) {
	r.Body = http.MaxBytesReader(w, r.Body, xMaxSegment+1<<20)
	if err := r.ParseMultipartForm(maxFormMemory); err != nil { //nolint:gosec // bounded above
		invalidRequest(w, "The multipart form cannot be read: "+err.Error(), nil)
		return
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	id := r.PathValue("id")
	index, err := strconv.Atoi(r.FormValue("segment_index"))
	file, header, errFile := r.FormFile("media")
	isIndex := err == nil && index >= 0 && index <= 999
	if !isIndex || errFile != nil || header.Size > xMaxSegment {
		invalidRequest(w, "A segment needs media of at most 5 MB and a segment_index from 0 to 999.", nil)
		return
	}
	defer func() { _ = file.Close() }()
	s.mu.Lock()
	thing, _, ok := s.xOpen(id, c)
	s.mu.Unlock()
	if !ok {
		xNotFound(w, "media", id)
		return
	}
	n, err := s.saveMedia(xSegment(thing.ID, index), file)
	s.mu.Lock()
	thing, u, ok := s.xOpen(id, c)
	if err == nil && ok {
		u.Sizes[index] = n
		err = s.putObject(thing, u)
	}
	s.mu.Unlock()
	if err != nil {
		writeProblem(w, http.StatusInternalServerError, xProblem{Detail: err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": map[string]any{"expires_at": s.now().Unix() + xUploadTTL}})
}

func xSegment(id string, index int) string { return id + "-" + strconv.Itoa(index) }

// xFinalize joins the segments.
func (s xFake) xFinalize(w http.ResponseWriter, r *http.Request, c caller) {
	id := r.PathValue("id")
	s.mu.Lock()
	thing, u, ok := s.xOpen(id, c)
	s.mu.Unlock()
	if !ok {
		xNotFound(w, "media", id)
		return
	}
	id = thing.ID
	sum := int64(0)
	for _, n := range u.Sizes {
		sum += n
	}
	if _, first := u.Sizes[0]; !first || sum != u.Total {
		invalidRequest(w, "Segments do not add up to provided total file size.", nil)
		return
	}
	m, err := s.xAssemble(id, c.account.ID, u)
	if err != nil {
		invalidRequest(w, err.Error(), nil)
		return
	}
	s.scheduleMedia(r, &m)
	switch delay := conditionsOf(r).processingTime; {
	case delay > 0:
	case u.Category == "tweet_image":
		m.ReadyAt = s.now() // not processed
	case s.options.MediaDelay == 0:
		m.ReadyAt = s.now().Add(time.Second)
	}
	s.mu.Lock()
	stored := m
	err = s.commit(record{Kind: kindMedia, Media: &stored})
	s.mu.Unlock()
	if err != nil {
		writeProblem(w, http.StatusInternalServerError, xProblem{Detail: err.Error()})
		return
	}
	data := map[string]any{
		"id": id, "media_key": xMediaKey(u.Category, id), "size": m.Bytes,
		"expires_after_secs": xMediaTTL,
	}
	if s.now().Before(m.ReadyAt) {
		data["processing_info"] = map[string]any{"state": "pending", "check_after_secs": 1}
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": data})
}

// xAssemble joins the segments of an attachment and verifies that it has the
// declared type.
func (s xFake) xAssemble(id, accountID string, u xUpload) (Media, error) {
	var parts []io.Reader
	for index := range len(u.Sizes) {
		part, err := s.openMedia(xSegment(id, index))
		if err != nil {
			return Media{}, errors.New("segments are missing")
		}
		defer func() { _ = part.Close() }()
		parts = append(parts, part)
	}
	var head [512]byte
	n, err := io.ReadFull(parts[0], head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Media{}, err
	}
	is, _, _ := strings.Cut(http.DetectContentType(head[:n]), ";")
	kind, _, _ := strings.Cut(u.MIMEType, "/")
	if !strings.HasPrefix(is, kind+"/") {
		return Media{}, errors.New("media type unrecognized")
	}
	m := Media{ID: id, AccountID: accountID, MIMEType: u.MIMEType}
	parts = slices.Insert(parts, 0, io.Reader(bytes.NewReader(head[:n])))
	if m.Bytes, err = s.saveMedia(id, io.MultiReader(parts...)); err != nil {
		return Media{}, err
	}
	for index := range len(u.Sizes) {
		s.dropMedia(xSegment(id, index))
	}
	return m, nil
}
