package fake

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	blueskyBlobLimit  = 100 << 20
	blueskyVideoLimit = 300_000_000
	blueskyBlobTTL    = time.Hour // of uploads without a post
)

// blueskyBlobOf returns an upload that an account's records can refer to.
// Referenced uploads are kept. The caller must hold s.mu.
func (s blueskyFake) blueskyBlobOf(a Account, cid string) *Media {
	m := s.state.media[cid+"-"+a.ID]
	if m == nil || m.Failed || s.now().Before(m.ReadyAt) || m.PostID == "" && !s.now().Before(m.ExpiresAt) {
		return nil
	}
	return m
}

// blueskyStore stores an upload, whose id is derived from its content. problem is
// a status.
func (s blueskyFake) blueskyStore(
	w http.ResponseWriter, r *http.Request, a Account, limit int64,
) (m Media, cid string, status int) {
	sum := &hashingWriter{hash: sha256.New()}
	body := bufio.NewReader(io.TeeReader(http.MaxBytesReader(w, r.Body, limit), sum))
	head, _ := body.Peek(512)
	m = Media{AccountID: a.ID}
	if m.MIMEType, _, _ = strings.Cut(http.DetectContentType(head), ";"); m.MIMEType == "application/octet-stream" ||
		m.MIMEType == "text/plain" {
		m.MIMEType, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	}
	// The id is known at the end only: the bytes are stored under another one
	// until then.
	waiting := "bluesky-" + rand.Text()
	n, err := s.saveMedia(waiting, body)
	if err != nil {
		return m, "", http.StatusRequestEntityTooLarge
	}
	m.Bytes, cid = n, sum.cid()
	m.ID = cid + "-" + a.ID
	if err := s.renameMedia(waiting, m.ID); err != nil {
		return m, "", http.StatusInternalServerError
	}
	return m, cid, http.StatusOK
}

type hashingWriter struct{ hash hash.Hash }

func (x *hashingWriter) Write(p []byte) (int, error) { return x.hash.Write(p) }
func (x *hashingWriter) cid() string {
	return cidOf(codecRaw, x.hash.Sum(nil))
}

func (s blueskyFake) blueskyUpload(w http.ResponseWriter, r *http.Request, c caller) {
	if r.Header.Get("Content-Type") == "" {
		xrpcError(w, http.StatusBadRequest, "InvalidRequest",
			"Request encoding (Content-Type) required but not provided")
		return
	}
	m, cid, status := s.blueskyStore(w, r, c.account, blueskyBlobLimit)
	if status != http.StatusOK {
		xrpcError(w, status, xrpcName(status), "request entity too large")
		return
	}
	m.ExpiresAt = s.now().Add(min(blueskyBlobTTL, s.options.MediaTTL))
	s.scheduleMedia(r, &m)
	m.ReadyAt, m.Failed = s.now(), false // not processed
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.blueskySaveBlob(m); err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"blob": blueskyEntity(m, cid)})
}

// blueskySaveBlob stores an upload; one that a post refers to stays unchanged.
// The caller must hold s.mu.
func (s blueskyFake) blueskySaveBlob(m Media) error {
	if before := s.state.media[m.ID]; before != nil && before.PostID != "" {
		return nil
	}
	return s.commit(record{Kind: kindMedia, Media: &m})
}

func blueskyEntity(m Media, cid string) map[string]any {
	return map[string]any{
		"$type": "blob", "ref": map[string]string{"$link": cid}, "mimeType": m.MIMEType,
		"size": m.Bytes,
	}
}

// serviceToken lets a service act for an account
// (com.atproto.server.getServiceAuth).
type serviceToken struct {
	Method  string    `json:"method"`
	Expires time.Time `json:"expires"`
}

func (s blueskyFake) blueskyServiceToken(w http.ResponseWriter, r *http.Request, c caller) {
	query := r.URL.Query()
	expires := s.now().Add(time.Minute)
	if seconds, err := strconv.ParseInt(query.Get("exp"), 10, 64); err == nil {
		expires = time.Unix(seconds, 0)
	}
	switch {
	case !strings.HasPrefix(query.Get("aud"), "did:"):
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Params must have the property \"aud\"")
		return
	case expires.Before(s.now()):
		xrpcError(w, http.StatusBadRequest, "BadExpiration", "expiration is in past")
		return
	case expires.After(s.now().Add(time.Hour)):
		xrpcError(w, http.StatusBadRequest, "BadExpiration",
			"cannot request a token with an expiration more than an hour in the future")
		return
	}
	value := s.blueskyJWT(query.Get("lxm"), c.account, time.Until(expires))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.issued = append(s.state.issued, value)
	err := s.putObject(Object{
		ID: "bluesky/pass/" + value, Network: blueskyName, Kind: "pass", AccountID: c.account.ID,
		CreatedAt: s.now(),
	},
		serviceToken{Method: query.Get("lxm"), Expires: expires})
	if err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"token": value})
}

// videoJob is a video at the video service.
type videoJob struct {
	MediaID string `json:"media_id"`
	CID     string `json:"cid"`
}

// blueskyVideo is app.bsky.video.uploadVideo, which returns the job unwrapped,
// unlike its lexicon.
func (s blueskyFake) blueskyVideo(w http.ResponseWriter, r *http.Request) {
	var p serviceToken
	s.mu.Lock()
	t, ok := s.object(blueskyName, "pass", "bluesky/pass/"+bearer(r), &p)
	var a Account
	if ok {
		a = *s.state.accounts[t.AccountID]
	}
	s.mu.Unlock()
	if !ok || p.Method != "com.atproto.repo.uploadBlob" || !s.now().Before(p.Expires) ||
		r.URL.Query().Get("did") != blueskyDID(a) {
		xrpcError(w, http.StatusUnauthorized, "Unauthorized", "invalid service token")
		return
	}
	m, cid, status := s.blueskyStore(w, r, a, blueskyVideoLimit)
	if status != http.StatusOK || !strings.HasPrefix(m.MIMEType, "video/") {
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "unsupported or too large video")
		return
	}
	s.scheduleMedia(r, &m)
	if s.options.MediaDelay == 0 && conditionsOf(r).processingTime == 0 {
		m.ReadyAt = s.now().Add(time.Second)
	}
	m.MIMEType = "video/mp4" // the transcoded format
	s.mu.Lock()
	defer s.mu.Unlock()
	id := "bluesky/job/" + m.ID
	if s.blueskyBlobOf(a, cid) != nil {
		writeJSON(w, http.StatusConflict,
			map[string]any{
				"error": "already_exists", "message": "Video already processed",
				"jobId": id, "did": blueskyDID(a), "state": "JOB_STATE_COMPLETED",
			})
		return
	}
	err := s.blueskySaveBlob(m)
	if err == nil {
		err = s.putObject(Object{ID: id, Network: blueskyName, Kind: "job", AccountID: a.ID, CreatedAt: s.now()},
			videoJob{MediaID: m.ID, CID: cid})
	}
	if err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"jobId": id, "did": blueskyDID(a), "state": "JOB_STATE_CREATED"})
}

func (s blueskyFake) blueskyJob(w http.ResponseWriter, r *http.Request) {
	var j videoJob
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.object(blueskyName, "job", r.URL.Query().Get("jobId"), &j)
	m := s.state.media[j.MediaID]
	if !ok || m == nil || m.PostID == "" && !s.now().Before(m.ExpiresAt) {
		xrpcError(w, http.StatusNotFound, "NotFound", "job not found")
		return
	}
	status := map[string]any{"jobId": t.ID, "did": blueskyDID(*s.state.accounts[t.AccountID])}
	switch {
	case s.now().Before(m.ReadyAt):
		status["state"], status["progress"] = "JOB_STATE_ENCODING", 50
	case m.Failed:
		status["state"], status["error"], status["message"] = "JOB_STATE_FAILED", "encoding_failed",
			"The video could not be encoded."
	default:
		status["state"], status["progress"], status["blob"] = "JOB_STATE_COMPLETED", 100, blueskyEntity(*m, j.CID)
	}
	writeJSON(w, http.StatusOK, map[string]any{"jobStatus": status})
}
