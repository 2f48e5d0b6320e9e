package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const facebookText = 63206

// facebookFeed creates a post with a text, a link, or uploaded photos.
// https://developers.facebook.com/docs/graph-api/reference/page/feed
func (s graphFake) facebookFeed(w http.ResponseWriter, r *http.Request, c caller) {
	received := s.now()
	message, link := r.FormValue("message"), r.FormValue("link")
	s.mu.Lock()
	defer s.mu.Unlock()
	post := Post{
		Network: "facebook", AccountID: c.account.ID, Account: c.account.Name, Text: message,
		Visibility: "public", ReceivedAt: received,
	}
	for i := range 100 {
		raw := r.FormValue(fmt.Sprintf("attached_media[%d]", i))
		if raw == "" {
			break
		}
		var one struct {
			ID string `json:"media_fbid"`
		}
		if json.Unmarshal([]byte(raw), &one) != nil {
			graphInvalid(w, "attached_media must be an object")
			return
		}
		if !s.facebookAttach(w, &post, one.ID) {
			return
		}
	}
	switch {
	case strings.TrimSpace(message) == "" && link == "" && len(post.Media) == 0:
		graphInvalid(w, "Missing message or attachment")
		return
	case len([]rune(message)) > facebookText:
		graphInvalid(w, "Param message must be at most 63206 characters")
		return
	case len(post.Media) > 10:
		graphInvalid(w, "Too many photos")
		return
	case link != "" && !strings.HasPrefix(link, "http://") && !strings.HasPrefix(link, "https://"):
		refuseGraph(w, http.StatusBadRequest, graphError{
			Message: "Invalid parameter", Code: 100, Subcode: 1609005,
			Title: "Link Post Failed", UserMessage: "There was a problem scraping data from the provided link.",
		})
		return
	case len(post.Media) == 0 && s.facebookIsRepeat(post):
		refuseGraph(w, http.StatusBadRequest, graphError{
			Message: "(#506) Duplicate status message", Code: 506,
			Title: "Duplicate Status Update",
			UserMessage: "This status update is identical to the last one you posted. Try posting something " +
				"different, or delete your previous update.",
		})
		return
	}
	if link != "" {
		post.Options = map[string]any{"link": link}
	}
	number := s.state.nextID(s.now())
	post.ID = c.account.ID + "_" + number
	post.URL = base(r) + facebookPrefix + "/" + c.account.ID + "/posts/" + number
	s.facebookStore(w, r, &post)
}

// facebookStore stores a post and responds with its id. The caller must hold
// s.mu.
func (s graphFake) facebookStore(w http.ResponseWriter, r *http.Request, post *Post) {
	if err := s.storePost(r, post); err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"id": post.ID})
}

// facebookIsRepeat reports whether a post repeats the text of the Page's last
// one. The caller must hold s.mu.
func (s graphFake) facebookIsRepeat(post Post) bool {
	for _, p := range slices.Backward(s.state.byAccount[post.AccountID]) {
		if p.ReplyTo == "" && !p.Deleted && p.Options["kind"] == nil {
			return p.Text == post.Text && len(p.Media) == 0
		}
	}
	return false
}

// facebookAttach attaches an unpublished photo to a post. ok is false if a
// refusal was written. The caller must hold s.mu.
func (s graphFake) facebookAttach(w http.ResponseWriter, post *Post, id string) bool {
	m := s.state.media[id]
	switch {
	case m != nil && m.PostID != "":
		refuseGraph(w, http.StatusBadRequest, graphError{
			Message: "Invalid parameter", Code: 100, Subcode: 1366051,
			Title: "Already Posted", UserMessage: "These photos were already posted.",
		})
		return false
	case s.staged(id, post.AccountID) == nil || m.Failed:
		graphNotFound(w, http.MethodPost, id)
		return false
	}
	post.Media = append(post.Media, *m)
	return true
}

// facebookComment creates a comment on a post, comment or video.
// https://developers.facebook.com/docs/graph-api/reference/object/comments
func (s graphFake) facebookComment(w http.ResponseWriter, r *http.Request, c caller, node string) {
	received := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := s.state.postByID[node]
	if parent == nil || parent.Deleted || parent.Network != "facebook" {
		graphNotFound(w, r.Method, node)
		return
	}
	post := Post{
		Network: "facebook", AccountID: c.account.ID, Account: c.account.Name, Text: r.FormValue("message"),
		ReplyTo:    node,
		Visibility: "public", ReceivedAt: received,
	}
	if id := r.FormValue("attachment_id"); id != "" && !s.facebookAttach(w, &post, id) {
		return
	}
	if strings.TrimSpace(post.Text) == "" && len(post.Media) == 0 {
		graphInvalid(w, "Missing message or attachment")
		return
	}
	if len([]rune(post.Text)) > 8000 {
		graphInvalid(w, "Param message must be at most 8000 characters")
		return
	}
	number := s.state.nextID(s.now())
	thread := node[strings.LastIndexByte(node, '_')+1:]
	if parent.ReplyTo != "" { // on a comment: its id begins with its thread's
		thread, _, _ = strings.Cut(node, "_")
	}
	post.ID = thread + "_" + number
	post.URL = base(r) + facebookPrefix + "/" + c.account.ID + "/posts/" + node[strings.LastIndexByte(node, '_')+1:] +
		"?comment_id=" + number
	s.facebookStore(w, r, &post)
}

// facebookPosts lists the published posts of a Page.
// https://developers.facebook.com/docs/graph-api/reference/page/published_posts
func (s graphFake) facebookPosts(w http.ResponseWriter, r *http.Request, c caller) {
	s.facebookList(w, r, func(p *Post) bool {
		return p.AccountID == c.account.ID && p.ReplyTo == "" && p.Options["kind"] == nil
	})
}

func (s graphFake) facebookComments(w http.ResponseWriter, r *http.Request, _ caller, node string) {
	s.mu.Lock()
	parent := s.state.postByID[node]
	s.mu.Unlock()
	if parent == nil || parent.Deleted {
		graphNotFound(w, r.Method, node)
		return
	}
	s.facebookList(w, r, func(p *Post) bool { return p.ReplyTo == node })
}

// facebookList lists posts, newest first.
func (s graphFake) facebookList(w http.ResponseWriter, r *http.Request, wanted func(*Post) bool) {
	s.mu.Lock()
	var posts []*Post
	for _, p := range slices.Backward(s.state.posts) {
		if p.Network == "facebook" && wanted(p) && s.isListed(p) && graphSince(r, p.CreatedAt) {
			posts = append(posts, p)
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(posts, func(a, b *Post) int { return b.CreatedAt.Compare(a.CreatedAt.Truncate(time.Second)) })
	list := make([]graphPost, len(posts))
	for i, p := range posts {
		list[i] = graphPost{ID: p.ID, Entity: facebookEntity(p)}
	}
	graphList(w, r, s.networkNamed("facebook"), list)
}

func facebookEntity(p *Post) map[string]any {
	entity := map[string]any{
		"id": p.ID, "created_time": graphTime(p.CreatedAt), "from": map[string]string{
			"id": p.AccountID, "name": p.Account,
		},
		"permalink_url": p.URL,
	}
	if p.Text != "" {
		entity["message"] = p.listedText()
	}
	media := make([]map[string]any, len(p.Media))
	for i, m := range p.Media {
		kind := "photo"
		if strings.HasPrefix(m.MIMEType, "video/") {
			kind = "video"
		}
		media[i] = map[string]any{
			"media_type": kind, "type": kind, "target": map[string]string{"id": m.ID, "url": p.URL},
		}
	}
	switch {
	case p.ReplyTo != "" && len(media) > 0:
		entity["attachment"] = media[0]
	case len(media) == 1:
		entity["attachments"] = map[string]any{"data": media}
	case len(media) > 1:
		entity["attachments"] = map[string]any{"data": []map[string]any{{
			"media_type":     "album",
			"target":         map[string]string{"id": p.ID},
			"subattachments": map[string]any{"data": media},
		}}}
	case strings.Contains(p.Text, "://"):
		entity["attachments"] = map[string]any{
			"data": []map[string]any{{"media_type": "link", "target": map[string]string{"url": p.Text}}},
		}
	}
	return entity
}

// facebookDelete deletes one of the Page's own posts.
func (s graphFake) facebookDelete(w http.ResponseWriter, r *http.Request, c caller, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[node]
	if p == nil || p.Deleted || p.AccountID != c.account.ID {
		graphNotFound(w, r.Method, node)
		return
	}
	if err := s.commit(record{Kind: kindDelete, ID: p.ID}); err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"success": true})
}
