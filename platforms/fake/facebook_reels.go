package fake

import (
	"bufio"
	"net/http"
	"strings"
)

const kindFacebookReel = "reel"

// facebookUpload is the video of a reel or story.
type facebookUpload struct {
	Edge string `json:"edge"`
	Done bool   `json:"done,omitempty"` // published
}

// facebookReel starts the upload of a reel's or a story's video, or publishes it.
// https://developers.facebook.com/docs/video-api/guides/reels-publishing
// https://developers.facebook.com/docs/page-stories-api
func (s graphFake) facebookReel(edge string) func(http.ResponseWriter, *http.Request, caller) {
	return func(w http.ResponseWriter, r *http.Request, c caller) {
		received := s.now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.FormValue("upload_phase") == "start" {
			id := s.state.nextID(s.now())
			if err := s.putObject(Object{
				ID: id, Network: "facebook", Kind: kindFacebookReel, AccountID: c.account.ID,
				CreatedAt: s.now(),
			}, facebookUpload{Edge: edge}); err != nil {
				refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
				return
			}
			writeJSON(w, http.StatusOK, map[string]string{
				"video_id": id, "upload_url": base(r) + facebookPrefix + "/video-upload/v25.0/" + id,
			})
			return
		}
		var upload facebookUpload
		id := r.FormValue("video_id")
		t, ok := s.object("facebook", kindFacebookReel, id, &upload)
		m := s.state.media[id]
		switch {
		case !ok || t.AccountID != c.account.ID || upload.Edge != edge || m == nil:
			graphNotFound(w, r.Method, id)
			return
		case upload.Done:
			refuseGraph(w, http.StatusBadRequest, graphError{
				Message: "Invalid parameter", Code: 100, Subcode: 1363041,
				Title: "Invalid Upload Session", UserMessage: "This video is published.",
			})
			return
		case edge == "video_reels" && r.FormValue("video_state") != "PUBLISHED":
			graphInvalid(w, "video_state must be PUBLISHED")
			return
		}
		upload.Done = true
		if err := s.putObject(t, upload); err != nil {
			refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
			return
		}
		post := Post{
			Network: "facebook", ID: id, AccountID: c.account.ID, Account: c.account.Name,
			Text: r.FormValue("description"), Media: []Media{*m},
			Visibility: "public", ReceivedAt: received, Options: map[string]any{"kind": "reel"},
			URL: base(r) + facebookPrefix + "/" + c.account.ID + "/videos/" + id,
		}
		if edge == "video_stories" {
			post.ID, post.Options = c.account.ID+"_"+s.state.nextID(s.now()), map[string]any{"kind": "story"}
		}
		s.facebookStoreStory(w, r, post)
	}
}

// facebookPhotoStory makes a story of an unpublished photo, which can be posted
// once.
func (s graphFake) facebookPhotoStory(w http.ResponseWriter, r *http.Request, c caller) {
	post := Post{
		Network: "facebook", AccountID: c.account.ID, Account: c.account.Name, Visibility: "public",
		ReceivedAt: s.now(), Options: map[string]any{"kind": "story"},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.facebookAttach(w, &post, r.FormValue("photo_id")) {
		return
	}
	number := s.state.nextID(s.now())
	post.ID = c.account.ID + "_" + number
	post.URL = base(r) + facebookPrefix + "/" + c.account.ID + "/posts/" + number
	s.facebookStoreStory(w, r, post)
}

func (s graphFake) facebookStoreStory(w http.ResponseWriter, r *http.Request, post Post) {
	if err := s.storePost(r, &post); err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"success": true, "post_id": post.ID})
}

// facebookReelUpload accepts the bytes of a video in one piece.
func (s graphFake) facebookReelUpload(w http.ResponseWriter, r *http.Request, c caller) {
	id := r.PathValue("video")
	var upload facebookUpload
	s.mu.Lock()
	t, ok := s.object("facebook", kindFacebookReel, id, &upload)
	s.mu.Unlock()
	if !ok || t.AccountID != c.account.ID || r.Header.Get("Offset") != "0" ||
		!strings.HasPrefix(r.Header.Get("Authorization"), "OAuth ") {
		writeJSON(w, http.StatusBadRequest, map[string]any{
			"debug_info": map[string]any{"retriable": false, "type": "OffsetInvalidError", "message": "Invalid upload"},
		})
		return
	}
	head := bufio.NewReader(r.Body)
	sniffed, _ := head.Peek(512)
	m := Media{ID: id, AccountID: c.account.ID, MIMEType: sniff(sniffed), ReadyAt: s.now()}
	var err error
	if m.Bytes, err = s.saveMedia(id, head); err == nil {
		s.mu.Lock()
		err = s.commit(record{Kind: kindMedia, Media: &m})
		s.mu.Unlock()
	}
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"success": true})
}

// facebookStories lists the stories of a Page.
func (s graphFake) facebookStories(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	list := s.graphPosts(r, c.account.ID, func(p *Post) bool { return p.Options["kind"] == "story" },
		func(p *Post) map[string]any {
			return map[string]any{
				"post_id": p.ID, "media_id": p.Media[0].ID, "status": "PUBLISHED",
				"creation_time": p.CreatedAt.Unix(),
			}
		})
	s.mu.Unlock()
	graphList(w, r, s.networkNamed("facebook"), list)
}
