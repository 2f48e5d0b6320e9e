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

// facebookPhoto stores an unpublished photo, which is processed immediately.
// https://developers.facebook.com/docs/graph-api/reference/page/photos
func (s graphFake) facebookPhoto(w http.ResponseWriter, r *http.Request, c caller) {
	file, _, err := r.FormFile("source")
	if err != nil || r.FormValue("published") != "false" {
		refuseGraph(w, http.StatusBadRequest, graphError{Message: "(#324) Requires upload file", Code: 324})
		return
	}
	defer func() { _ = file.Close() }()
	s.mu.Lock()
	m := Media{ID: s.state.nextID(s.now()), AccountID: c.account.ID, Description: r.FormValue("alt_text_custom")}
	s.mu.Unlock()
	head := bufio.NewReader(file)
	sniffed, _ := head.Peek(512)
	m.MIMEType, _, _ = strings.Cut(http.DetectContentType(sniffed), ";")
	if m.Bytes, err = s.saveMedia(m.ID, head); err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	s.scheduleMedia(r, &m)
	if m.Failed || !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp"},
		m.MIMEType) {
		refuseGraph(w, http.StatusBadRequest, graphError{
			Message: "(#324) Missing or invalid image file", Code: 324,
			Title:       "Missing Or Invalid Image File",
			UserMessage: "We couldn't upload your photo. Please try again with a different photo.",
		})
		return
	}
	if m.Bytes > 10<<20 {
		refuseGraph(w, http.StatusBadRequest, graphError{
			Message: "Invalid parameter", Code: 100, Subcode: 1366046,
			Title: "Can't Read Files",
			UserMessage: "Your photos couldn't be uploaded. Photos should be less than 10 MB and saved as JPG, PNG, " +
				"GIF, TIFF, HEIF or WebP files.",
		})
		return
	}
	m.ReadyAt = s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.commit(record{Kind: kindMedia, Media: &m}); err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"id": m.ID})
}

// facebookSession is the upload of a video.
type facebookSession struct {
	Video    string `json:"video"`
	Bytes    int64  `json:"bytes"`
	Received int64  `json:"received"`
	Parts    int    `json:"parts"`
	Done     bool   `json:"done,omitempty"`
}

const (
	kindFacebookSession = "session"
	facebookChunk       = 1 << 20
)

// facebookVideo starts an upload, accepts its parts, and publishes it.
// https://developers.facebook.com/docs/graph-api/reference/page/videos
func (s graphFake) facebookVideo(w http.ResponseWriter, r *http.Request, c caller) {
	phase := r.FormValue("upload_phase")
	if phase == "start" {
		s.facebookBegin(w, r, c)
		return
	}
	var u facebookSession
	s.mu.Lock()
	t, ok := s.object("facebook", kindFacebookSession, r.FormValue("upload_session_id"), &u)
	s.mu.Unlock()
	switch {
	case !ok || t.AccountID != c.account.ID:
		graphNotFound(w, r.Method, r.FormValue("upload_session_id"))
	case u.Done:
		refuseGraph(w, http.StatusBadRequest, graphError{
			Message: "Invalid parameter", Code: 100, Subcode: 1363041,
			Title: "Invalid Upload Session", UserMessage: "This upload session is finished.",
		})
	case phase == "transfer":
		s.facebookTransfer(w, r, t, u)
	case phase == "finish":
		s.facebookFinish(w, r, c, t, u)
	default:
		graphInvalid(w, "upload_phase must be start, transfer or finish")
	}
}

func (s graphFake) facebookBegin(w http.ResponseWriter, r *http.Request, c caller) {
	size, err := strconv.ParseInt(r.FormValue("file_size"), 10, 64)
	if err != nil || size < 1 {
		graphInvalid(w, "file_size is required")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := facebookSession{Video: s.state.nextID(s.now()), Bytes: size}
	session := s.state.nextID(s.now())
	err = errors.Join(
		s.putObject(Object{
			ID: session, Network: "facebook", Kind: kindFacebookSession, AccountID: c.account.ID,
			CreatedAt: s.now(),
		}, u),
		s.putObject(Object{
			ID: u.Video, Network: "facebook", Kind: "video", AccountID: c.account.ID,
			CreatedAt: s.now(),
		}, session),
	)
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	body := facebookOffsets(u)
	body["upload_session_id"], body["video_id"] = session, u.Video
	writeJSON(w, http.StatusOK, body)
}

// facebookOffsets returns the byte range that is expected next, as text.
func facebookOffsets(u facebookSession) map[string]string {
	return map[string]string{
		"start_offset": strconv.FormatInt(u.Received, 10),
		"end_offset":   strconv.FormatInt(min(u.Received+facebookChunk, u.Bytes), 10),
	}
}

func facebookPart(session string, part int) string { return fmt.Sprintf("%s.part%d", session, part) }

func (s graphFake) facebookTransfer(w http.ResponseWriter, r *http.Request, t Object, u facebookSession) {
	file, _, err := r.FormFile("video_file_chunk")
	if err != nil {
		graphInvalid(w, "video_file_chunk is required")
		return
	}
	defer func() { _ = file.Close() }()
	if r.FormValue("start_offset") != strconv.FormatInt(u.Received, 10) {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": map[string]any{
			"message": "There was a problem uploading your video file. Please try again.", "type": "ApiException",
			"code": 6000, "error_subcode": 1363037,
			"error_data": map[string]int64{
				"start_offset": u.Received,
				"end_offset":   min(u.Received+facebookChunk, u.Bytes),
			}, "fbtrace_id": "A",
		}})
		return
	}
	n, err := s.saveMedia(facebookPart(t.ID, u.Parts), file)
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Parts++
	u.Received += n
	if err := s.putObject(t, u); err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, facebookOffsets(u))
}

// facebookFinish publishes a completely uploaded video. Its processing can still
// fail later.
func (s graphFake) facebookFinish(w http.ResponseWriter, r *http.Request, c caller, t Object, u facebookSession) {
	received := s.now()
	m, err := s.facebookAssemble(t, u)
	if err != nil {
		graphInvalid(w, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Done = true
	post := Post{
		Network: "facebook", ID: u.Video, AccountID: c.account.ID, Account: c.account.Name,
		Text:  r.FormValue("description"),
		Media: []Media{m}, Visibility: "public", ReceivedAt: received, URL: base(r) + facebookPrefix + "/" +
			c.account.ID + "/videos/" + u.Video,
	}
	err = errors.Join(s.putObject(t, u), s.commit(record{Kind: kindMedia, Media: &m}), s.storePost(r, &post))
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"success": true})
}

// facebookAssemble joins the parts to one file.
func (s graphFake) facebookAssemble(t Object, u facebookSession) (m Media, err error) {
	if u.Received != u.Bytes {
		return m, fmt.Errorf("the upload has %d of %d bytes", u.Received, u.Bytes)
	}
	var readers []io.Reader
	for i := range u.Parts {
		name := facebookPart(t.ID, i)
		if s.options.Journal == "" {
			s.mu.Lock()
			readers = append(readers, bytes.NewReader(s.state.data[name]))
			delete(s.state.data, name)
			s.mu.Unlock()
			continue
		}
		file, openErr := os.Open(filepath.Join(s.mediaDir(), name))
		if openErr != nil {
			return m, openErr
		}
		defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
		readers = append(readers, file)
	}
	whole := bufio.NewReader(io.MultiReader(readers...))
	head, _ := whole.Peek(512)
	m = Media{ID: u.Video, AccountID: t.AccountID, ReadyAt: s.now()}
	m.MIMEType, _, _ = strings.Cut(http.DetectContentType(head), ";")
	m.Bytes, err = s.saveMedia(m.ID, whole)
	return m, err
}

// facebookObject returns a post, photo or video by id.
func (s graphFake) facebookObject(w http.ResponseWriter, r *http.Request, c caller, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var session string
	_, video := s.object("facebook", "video", node, &session)
	if !video {
		var upload facebookUpload
		_, video = s.object("facebook", kindFacebookReel, node, &upload)
	}
	p, m := s.state.postByID[node], s.state.media[node]
	switch {
	case p != nil && (p.Deleted || p.Network != "facebook" || !s.isListed(p)):
		graphNotFound(w, r.Method, node)
	case p != nil:
		entity := s.facebookCounted(r, p)
		if video {
			entity["published"] = true
			entity["status"] = map[string]string{"video_status": "ready"}
		}
		writeJSON(w, http.StatusOK, entity)
	case video:
		writeJSON(w, http.StatusOK,
			map[string]any{
				"id": node, "published": false, "created_time": graphTime(time.Unix(0, 0)),
				"status": map[string]string{"video_status": "uploading"},
			})
	case m != nil && m.AccountID == c.account.ID && s.now().Before(m.ExpiresAt):
		writeJSON(w, http.StatusOK, map[string]any{"id": node})
	default:
		graphNotFound(w, r.Method, node)
	}
}
