package fake

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// idempotencyKeyTTL is how long Mastodon stores an Idempotency-Key
// (app/services/post_status_service.rb: setex 3_600).
const idempotencyKeyTTL = time.Hour

// createStatus creates a post. As in Mastodon, the key is looked up first and
// stored last, so two concurrent calls create two posts.
func (s mastodonFake) createStatus(w http.ResponseWriter, r *http.Request, c caller) {
	received := s.now()
	form, err := readForm(w, r)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, mastodonError{"The request body cannot be parsed"})
		return
	}
	idempotencyKey := r.Header.Get("Idempotency-Key")
	if conditionsOf(r).ignoreKey {
		idempotencyKey = ""
	}
	if known, ok := s.repeated(c.account.ID, idempotencyKey); ok {
		if known.Deleted { // idempotency_duplicate no longer finds it
			writeJSON(w, http.StatusNotFound, mastodonError{statusMessage(http.StatusNotFound)})
			return
		}
		writeJSON(w, http.StatusOK, s.statusEntity(r, known, c.account))
		return
	}
	post := Post{
		Network: "mastodon", AccountID: c.account.ID, Account: c.account.Name,
		// Status#prepare_contents strips before it validates.
		Text:    strings.Trim(form.Get("status"), "\x00\t\n\v\f\r "),
		ReplyTo: form.Get("in_reply_to_id"), Language: form.Get("language"), Visibility: form.Get("visibility"),
		ReceivedAt: received, IdempotencyKey: idempotencyKey, Requests: 1, Media: []Media{},
	}
	var problem string
	if post.Options, problem = mastodonOptions(form); problem != "" {
		writeJSON(w, http.StatusUnprocessableEntity, mastodonError{problem})
		return
	}
	if post.Visibility == "" {
		post.Visibility = "public"
	}
	if status, problem := s.publish(r, &post, form["media_ids[]"]); status != http.StatusOK {
		writeJSON(w, status, mastodonError{problem})
		return
	}
	if idempotencyKey != "" {
		s.wait(r.Context(), max(s.options.CreateDelay, time.Nanosecond))
		s.mu.Lock()
		err = s.commit(record{Kind: kindKey, Key: &key{
			AccountID: c.account.ID, Key: idempotencyKey, PostID: post.ID, Expires: s.now().Add(idempotencyKeyTTL),
		}})
		s.mu.Unlock()
		if err != nil {
			writeJSON(w, http.StatusInternalServerError, mastodonError{err.Error()})
			return
		}
	}
	writeJSON(w, http.StatusOK, s.statusEntity(r, post, c.account))
}

// repeated returns the post that was created with a key.
func (s mastodonFake) repeated(accountID, idempotencyKey string) (Post, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.state.keys[accountID+"\x00"+idempotencyKey]
	p := s.state.postByID[k.PostID]
	if idempotencyKey == "" || !ok || p == nil || s.now().After(k.Expires) {
		return Post{}, false
	}
	if s.commit(record{Kind: kindRepeat, ID: p.ID}) != nil {
		return Post{}, false
	}
	return *p, true
}

// publish validates and stores a post. Only status 200 stores anything.
func (s mastodonFake) publish(r *http.Request, post *Post, mediaIDs []string) (status int, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if parent := s.state.postByID[post.ReplyTo]; post.ReplyTo != "" && (parent == nil || parent.Deleted) {
		return http.StatusNotFound, "The post you are trying to reply to does not appear to exist."
	}
	if problem := s.validate(post, mediaIDs); problem != "" {
		return http.StatusUnprocessableEntity, problem
	}
	c := conditionsOf(r)
	post.CreatedAt = s.now().Add(c.skew)
	if c.hide > 0 {
		post.HiddenUntil = s.now().Add(c.hide)
	}
	post.ID = s.state.nextID(s.now())
	post.URL = base(r) + "/@" + post.Account + "/" + post.ID
	applyRewrite(r, post)
	stored := *post
	if err := s.commit(record{Kind: kindPost, Post: &stored}); err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	return http.StatusOK, ""
}

// validate returns the problem with the message of config/locales/en.yml, or "".
func (s mastodonFake) validate(post *Post, mediaIDs []string) string {
	if len(mediaIDs) > maxMedia {
		return fmt.Sprintf("Cannot attach more than %d files", maxMedia)
	}
	for _, id := range mediaIDs {
		m := s.staged(id, post.AccountID)
		if m == nil {
			return fmt.Sprintf("Media %s not found or already attached to another post", id)
		}
		if len(mediaIDs) > 1 && !strings.HasPrefix(m.MIMEType, "image/") {
			return "Cannot attach a video to a post that already contains images"
		}
		if m.Failed || s.now().Before(m.ReadyAt) { // MediaAttachment#not_processed? is also true for failed ones
			return "Cannot attach files that have not finished processing. Try again in a moment!"
		}
		post.Media = append(post.Media, *m)
	}
	if post.Text == "" && len(mediaIDs) == 0 {
		return "Validation failed: Text can't be blank"
	}
	if s.renderer.count(post.Text) > s.options.MaxCharacters {
		return fmt.Sprintf("Validation failed: Text character limit of %d exceeded", s.options.MaxCharacters)
	}
	return ""
}

func (s mastodonFake) readStatus(w http.ResponseWriter, r *http.Request, _ caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[r.PathValue("id")]
	if p == nil || p.Deleted {
		writeJSON(w, http.StatusNotFound, mastodonError{statusMessage(http.StatusNotFound)})
		return
	}
	writeJSON(w, http.StatusOK, s.mastodonCounted(r, p))
}

func (s mastodonFake) deleteStatus(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[r.PathValue("id")]
	if p == nil || p.Deleted || p.AccountID != c.account.ID {
		writeJSON(w, http.StatusNotFound, mastodonError{statusMessage(http.StatusNotFound)})
		return
	}
	if err := s.commit(record{Kind: kindDelete, ID: p.ID}); err != nil {
		writeJSON(w, http.StatusInternalServerError, mastodonError{err.Error()})
		return
	}
	entity := s.statusEntity(r, *p, c.account)
	entity["text"] = p.Text
	writeJSON(w, http.StatusOK, entity)
}

// listStatuses lists statuses, newest first, page by page.
func (s mastodonFake) listStatuses(w http.ResponseWriter, r *http.Request, _ caller) {
	query := r.URL.Query()
	limit := 20
	if _, err := fmt.Sscan(query.Get("limit"), &limit); err != nil || limit < 1 {
		limit = 20
	}
	limit = min(limit, 40)
	since, maxID := query.Get("since_id"), query.Get("max_id")
	if conditionsOf(r).ignoreSince {
		since = ""
	}
	now := s.now()
	list := []map[string]any{}
	var first, last string
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Backward(s.state.byAccount[r.PathValue("id")]) {
		if len(list) == limit {
			break
		}
		if p.Deleted || now.Before(p.HiddenUntil) || maxID != "" && !isLessID(p.ID, maxID) || since != "" &&
			!isLessID(since, p.ID) {
			continue
		}
		if query.Get("exclude_replies") == "true" && p.ReplyTo != "" || query.Get("only_media") == "true" &&
			len(p.Media) == 0 {
			continue
		}
		if first == "" {
			first = p.ID
		}
		last = p.ID
		list = append(list, s.statusEntity(r, *p, *s.state.accounts[p.AccountID]))
	}
	if len(list) > 0 {
		w.Header().Set("Link", link(r, "max_id", last, "next")+", "+link(r, "min_id", first, "prev"))
	}
	writeJSON(w, http.StatusOK, list)
}

func link(r *http.Request, parameter, id, rel string) string {
	query := url.Values{"limit": r.URL.Query()["limit"], parameter: {id}}
	return fmt.Sprintf(`<%s%s?%s>; rel=%q`, base(r), r.URL.Path, query.Encode(), rel)
}

// isLessID compares numbers of any length without leading zeros.
func isLessID(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

func (s mastodonFake) statusEntity(r *http.Request, p Post, account Account) map[string]any {
	media := make([]map[string]any, len(p.Media))
	for i, m := range p.Media {
		media[i] = mediaEntity(r, m, true)
	}
	var replyTo, language any
	if p.ReplyTo != "" {
		replyTo = p.ReplyTo
	}
	if p.Language != "" {
		language = p.Language
	}
	return map[string]any{
		"id": p.ID, "created_at": p.CreatedAt.Format("2006-01-02T15:04:05.000Z"), "in_reply_to_id": replyTo,
		"sensitive": p.Options["sensitive"] == true, "spoiler_text": spoilerOf(p), "visibility": p.Visibility,
		"language": language,
		"uri":      base(r) + "/users/" + p.Account + "/statuses/" + p.ID, "url": p.URL,
		"content": s.renderer.render(p.listedText()),
		"reblog":  nil, "account": accountEntity(r, account), "media_attachments": media,
		"mentions": []any{}, "tags": []any{}, "emojis": []any{}, "card": nil, "poll": pollEntity(p),
		"replies_count": 0, "reblogs_count": 0, "favourites_count": 0,
	}
}
