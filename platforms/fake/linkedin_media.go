package fake

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// linkedinPart is the size of the parts of a video.
const linkedinPart = 4 << 20

// linkedinUpload is an upload in progress.
type linkedinUpload struct {
	Video    bool     `json:"video,omitempty"`
	Document bool     `json:"document,omitempty"`
	Bytes    int64    `json:"bytes,omitempty"`
	Token    string   `json:"token,omitempty"`
	Tags     []string `json:"tags,omitempty"` // of the received parts
}

// urnKind is the kind in the URN of what is uploaded.
func (u linkedinUpload) urnKind() string {
	switch {
	case u.Video:
		return "video"
	case u.Document:
		return "document"
	default:
		return "image"
	}
}

const kindLinkedInUpload = "upload"

// linkedinBegin stores an upload and returns its id.
func (s linkedinFake) linkedinBegin(account Account, u linkedinUpload) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := "C4E10AQ" + s.state.nextID(s.now())
	return id, s.putObject(Object{
		ID: id, Network: "linkedin", Kind: kindLinkedInUpload, AccountID: account.ID,
		CreatedAt: s.now(),
	}, u)
}

// linkedinImage starts the upload of an image.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/images-api
func (s linkedinFake) linkedinImage(w http.ResponseWriter, r *http.Request, c caller) {
	s.linkedinSingle(w, r, c, linkedinUpload{})
}

// linkedinDocument starts the upload of a document.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/documents-api
func (s linkedinFake) linkedinDocument(w http.ResponseWriter, r *http.Request, c caller) {
	s.linkedinSingle(w, r, c, linkedinUpload{Document: true})
}

// linkedinSingle starts an upload in one request.
func (s linkedinFake) linkedinSingle(w http.ResponseWriter, r *http.Request, c caller, u linkedinUpload) {
	var body struct {
		Request struct {
			Owner string `json:"owner"`
		} `json:"initializeUploadRequest"`
	}
	if r.URL.Query().Get("action") != "initializeUpload" {
		refuseLinkedIn(w, http.StatusBadRequest, "ILLEGAL_ARGUMENT", "Invalid query parameters passed to request")
		return
	}
	if !readLinkedIn(w, r, &body) {
		return
	}
	owner, refused := s.linkedinAuthor(w, body.Request.Owner, c)
	if refused {
		return
	}
	id, err := s.linkedinBegin(owner, u)
	if err != nil {
		refuseLinkedIn(w, http.StatusInternalServerError, "", "%v", err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"value": map[string]any{
		"uploadUrlExpiresAt": s.now().Add(24 * time.Hour).UnixMilli(), u.urnKind(): "urn:li:" + u.urnKind() + ":" + id,
		"uploadUrl": base(r) + linkedinPrefix + "/dms-uploads/" + id + "?ca=vector_feedshare&sync=0",
	}})
}

// linkedinVideo starts and finishes the upload of a video.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/videos-api
func (s linkedinFake) linkedinVideo(w http.ResponseWriter, r *http.Request, c caller) {
	if r.URL.Query().Get("action") == "finalizeUpload" {
		s.linkedinFinalize(w, r, c)
		return
	}
	var body struct {
		Request struct {
			Owner     string `json:"owner"`
			Bytes     int64  `json:"fileSizeBytes"`
			Captions  bool   `json:"uploadCaptions"`
			Thumbnail bool   `json:"uploadThumbnail"`
		} `json:"initializeUploadRequest"`
	}
	if !readLinkedIn(w, r, &body) {
		return
	}
	owner, refused := s.linkedinAuthor(w, body.Request.Owner, c)
	if refused {
		return
	}
	size := body.Request.Bytes
	if size < 1 || size > 500<<20 {
		refuseLinkedIn(w, http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "fileSizeBytes %d is out of range", size)
		return
	}
	u := linkedinUpload{
		Video: true, Bytes: size, Token: requestID(), Tags: make([]string, (size+linkedinPart-1)/linkedinPart),
	}
	id, err := s.linkedinBegin(owner, u)
	if err != nil {
		refuseLinkedIn(w, http.StatusInternalServerError, "", "%v", err)
		return
	}
	instructions := make([]map[string]any, len(u.Tags))
	for i := range instructions {
		first := int64(i) * linkedinPart
		instructions[i] = map[string]any{
			"uploadUrl": fmt.Sprintf("%s%s/dms-uploads/%s?part=%d", base(r), linkedinPrefix, id, i),
			"firstByte": first, "lastByte": min(first+linkedinPart, size) - 1,
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"value": map[string]any{
		"uploadUrlsExpireAt": s.now().Add(24 * time.Hour).UnixMilli(), "video": "urn:li:video:" + id,
		"uploadToken": u.Token, "uploadInstructions": instructions,
	}})
}

// linkedinUpload stores the bytes of an image or of one part of a video.
func (s linkedinFake) linkedinUpload(w http.ResponseWriter, r *http.Request, _ caller) {
	var u linkedinUpload
	s.mu.Lock()
	begun, ok := s.object("linkedin", kindLinkedInUpload, r.PathValue("id"), &u)
	s.mu.Unlock()
	part, err := strconv.Atoi(r.URL.Query().Get("part"))
	if !ok || u.Video && (err != nil || part < 0 || part >= len(u.Tags)) {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<20)
	if u.Video {
		err = s.linkedinTakePart(r, begun.ID, part)
	} else {
		err = s.linkedinStore(r, Media{ID: begun.ID, AccountID: begun.AccountID}, u, r.Body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if u.Video {
		w.Header().Set("ETag", linkedinTag(begun.ID, part))
	}
	w.WriteHeader(http.StatusCreated)
}

func linkedinTag(id string, part int) string {
	return fmt.Sprintf("/ambry-video/signedId/%s-%d", id, part)
}

func linkedinPartName(id string, part int) string { return fmt.Sprintf("%s.part%d", id, part) }

func (s linkedinFake) linkedinTakePart(r *http.Request, id string, part int) error {
	n, err := s.saveMedia(linkedinPartName(id, part), r.Body)
	if err != nil {
		return err
	}
	var u linkedinUpload
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.object("linkedin", kindLinkedInUpload, id, &u)
	if want := min(u.Bytes-int64(part)*linkedinPart, linkedinPart); n != want {
		return fmt.Errorf("the part has %d bytes, not %d", n, want)
	}
	u.Tags[part] = linkedinTag(id, part)
	return s.putObject(t, u)
}

// linkedinStore stores a complete file. Files of another kind than announced fail later,
// during processing.
func (s linkedinFake) linkedinStore(r *http.Request, m Media, u linkedinUpload, data io.Reader) error {
	file := bufio.NewReader(data)
	head, _ := file.Peek(512)
	m.MIMEType, _, _ = strings.Cut(http.DetectContentType(head), ";")
	var err error
	if m.Bytes, err = s.saveMedia(m.ID, file); err != nil {
		return err
	}
	s.scheduleMedia(r, &m)
	allowed := []string{"image/jpeg", "image/png", "image/gif", "video/mp4"}
	if u.Document {
		allowed = []string{"application/pdf"}
	}
	m.Failed = m.Failed || !slices.Contains(allowed, m.MIMEType)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit(record{Kind: kindMedia, Media: &m})
}

func (s linkedinFake) linkedinFinalize(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Request struct {
			Video string   `json:"video"`
			Token string   `json:"uploadToken"`
			Parts []string `json:"uploadedPartIds"`
		} `json:"finalizeUploadRequest"`
	}
	if !readLinkedIn(w, r, &body) {
		return
	}
	_, id, _ := linkedinURN(body.Request.Video)
	var u linkedinUpload
	s.mu.Lock()
	begun, ok := s.object("linkedin", kindLinkedInUpload, id, &u)
	owner := s.state.accounts[begun.AccountID]
	s.mu.Unlock()
	switch {
	case !ok || !u.Video || owner == nil || owner.ID != c.account.ID && owner.OwnerID != c.account.ID:
		refuseLinkedIn(w, http.StatusBadRequest, "INVALID_VIDEO_ID", "This Video ID is invalid")
	case slices.Contains(u.Tags, ""):
		refuseLinkedIn(w, http.StatusBadRequest, "MEDIA_ASSET_WAITING_UPLOAD", "Media asset is waiting upload")
	case body.Request.Token != u.Token || !slices.Equal(body.Request.Parts, u.Tags):
		refuseLinkedIn(w, http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD",
			"uploadedPartIds does not match the uploaded parts")
	default:
		if err := s.linkedinAssemble(r, begun, u); err != nil {
			refuseLinkedIn(w, http.StatusInternalServerError, "", "%v", err)
			return
		}
		w.WriteHeader(http.StatusOK)
	}
}

// linkedinAssemble joins the parts to one file.
func (s linkedinFake) linkedinAssemble(r *http.Request, begun Object, u linkedinUpload) (err error) {
	var readers []io.Reader
	for i := range u.Tags {
		name := linkedinPartName(begun.ID, i)
		if s.options.Journal == "" {
			s.mu.Lock()
			readers = append(readers, bytes.NewReader(s.state.data[name]))
			delete(s.state.data, name)
			s.mu.Unlock()
			continue
		}
		file, openErr := os.Open(filepath.Join(s.mediaDir(), name))
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
		readers = append(readers, file)
	}
	return s.linkedinStore(r, Media{ID: begun.ID, AccountID: begun.AccountID}, u, io.MultiReader(readers...))
}

// linkedinMediaStatus returns the processing state. Tokens of members cannot read
// images.
func (s linkedinFake) linkedinMediaStatus(w http.ResponseWriter, r *http.Request, c caller) {
	urn := r.PathValue("urn")
	kind, id, _ := linkedinURN(urn)
	var u linkedinUpload
	s.mu.Lock()
	defer s.mu.Unlock()
	begun, ok := s.object("linkedin", kindLinkedInUpload, id, &u)
	owner, m := s.state.accounts[begun.AccountID], s.state.media[id]
	switch {
	case !ok || owner == nil || u.urnKind() != kind:
		refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		return
	case kind == "image" && (owner.OwnerID != c.account.ID || !c.allowed("r_organization_social")):
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: images.GET.20260701")
		return
	case m != nil && m.PostID == "" && !s.now().Before(m.ExpiresAt):
		refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		return
	}
	status := "AVAILABLE"
	switch {
	case m == nil:
		status = "WAITING_UPLOAD"
	case s.now().Before(m.ReadyAt):
		status = "PROCESSING"
	case m.Failed:
		status = "PROCESSING_FAILED"
	}
	writeJSON(w, http.StatusOK, map[string]any{"id": urn, "owner": linkedinURNOf(*owner), "status": status})
}
