package fake

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// xEpoch is the first millisecond of X's ids (https://docs.x.com/fundamentals/x-ids).
const xEpoch = 1288834974657

const (
	xMaxWeight        = 280
	xMaxWeightPremium = 25_000
	xDuplicateWindow  = 24 * time.Hour
)

// xNewPost is the body of POST /2/tweets, with the supported fields.
type xNewPost struct {
	xOptions
	Text  string `json:"text"`
	Media *struct {
		IDs []string `json:"media_ids"`
	} `json:"media"`
	Reply *struct {
		To string `json:"in_reply_to_tweet_id"`
	} `json:"reply"`
}

// xCreate creates a post. https://docs.x.com/x-api/posts/create-post
func (s xFake) xCreate(w http.ResponseWriter, r *http.Request, c caller) {
	received := s.now()
	var in xNewPost
	if !readJSON(w, r, &in) {
		return
	}
	post := Post{
		Network: "x", AccountID: c.account.ID, Account: c.account.Name, Text: in.Text, Visibility: "public",
		ReceivedAt: received,
	}
	if in.Reply != nil {
		post.ReplyTo = in.Reply.To
	}
	var ids []string
	if in.Media != nil {
		ids = in.Media.IDs
	}
	var problem string
	if post.Options, problem = in.received(len(ids)); problem != "" {
		invalidRequest(w, problem, nil)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.xValidate(w, &post, ids, c.account) {
		return
	}
	post.CreatedAt = s.now().Add(conditionsOf(r).skew)
	post.ID = s.xID(post.CreatedAt)
	origin := s.networkNamed("x").root(r)
	post.URL = origin + "/" + post.Account + "/status/" + post.ID
	if err := s.storePost(r, &post); err != nil {
		writeProblem(w, http.StatusInternalServerError, xProblem{Detail: err.Error()})
		return
	}
	shown, _ := xShown(post, origin)
	writeJSON(w, http.StatusCreated, map[string]any{"data": map[string]any{
		"id": post.ID, "text": shown, "edit_history_tweet_ids": []string{post.ID},
	}})
}

// xID returns an id for a time. The caller must hold s.mu.
func (s xFake) xID(at time.Time) string {
	for id := uint64(max(at.UnixMilli()-xEpoch, 0)) << 22; ; id++ {
		text := strconv.FormatUint(id, 10)
		if s.state.postByID[text] == nil {
			return text
		}
	}
}

// xValidate validates a post and writes a refusal. The caller must hold s.mu.
func (s xFake) xValidate(w http.ResponseWriter, post *Post, ids []string, account Account) bool {
	forbid := func(detail string) bool {
		writeProblem(w, http.StatusForbidden, xProblem{Detail: detail})
		return false
	}
	limit := xMaxWeight
	if account.Kind == "premium" {
		limit = xMaxWeightPremium
	}
	parent := s.state.postByID[post.ReplyTo]
	switch {
	case strings.TrimSpace(post.Text) == "" && len(ids) == 0:
		invalidRequest(w, "text or media is required", nil)
		return false
	case !s.xAttach(post, ids):
		invalidRequest(w, "Your media IDs are invalid.", map[string][]string{"media.media_ids": ids})
		return false
	case !utf8.ValidString(post.Text), strings.ContainsAny(post.Text, "\uFEFF\uFFFE\uFFFF"):
		invalidRequest(w, "The text contains invalid characters.", nil)
		return false
	case xWeight(post.Text) > limit:
		return forbid("Your Tweet text is too long. For more information on how Twitter determines text length see " +
			"https://github.com/twitter/twitter-text.")
	case len(regexp.MustCompile(`(?i)(?:^|\s)\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?:\s|$|[[:punct:]])`).
		FindAllString(post.Text, -1)) > 1:
		return forbid("Posts may hold one cashtag.")
	case post.ReplyTo != "" && (parent == nil || parent.Deleted):
		return forbid("You attempted to reply to a Tweet that is deleted or not visible to you.")
	case s.xDuplicate(post):
		return forbid("You are not allowed to create a Tweet with duplicate content.")
	}
	return true
}

// xAttach returns the uploads of a post, and reports whether they can be
// combined. The caller must hold s.mu.
func (s xFake) xAttach(post *Post, ids []string) bool {
	for _, id := range ids {
		m := s.staged(id, post.AccountID)
		if m == nil || m.Failed || s.now().Before(m.ReadyAt) {
			return false
		}
		alone := m.MIMEType == "image/gif" || strings.HasPrefix(m.MIMEType, "video/")
		if alone && len(ids) > 1 {
			return false
		}
		post.Media = append(post.Media, *m)
	}
	return len(ids) <= 4
}

// xDuplicate reports whether the account posted the same text without attachment
// within a day. The caller must hold s.mu.
func (s xFake) xDuplicate(post *Post) bool {
	return len(post.Media) == 0 && slices.ContainsFunc(s.state.byAccount[post.AccountID], func(p *Post) bool {
		return !p.Deleted && len(p.Media) == 0 && p.ReplyTo == post.ReplyTo &&
			strings.TrimSpace(p.Text) == strings.TrimSpace(post.Text) &&
			s.now().Sub(p.ReceivedAt) < xDuplicateWindow
	})
}

// xDelete removes a post. https://docs.x.com/x-api/posts/delete-post
func (s xFake) xDelete(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[r.PathValue("id")]
	switch {
	case p == nil || p.Deleted || p.Network != "x":
		xNotFound(w, "tweet", r.PathValue("id"))
		return
	case p.AccountID != c.account.ID:
		writeProblem(w, http.StatusForbidden, xProblem{Detail: "You are not authorized to delete this Tweet."})
		return
	}
	if err := s.commit(record{Kind: kindDelete, ID: p.ID}); err != nil {
		writeProblem(w, http.StatusInternalServerError, xProblem{Detail: err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": map[string]bool{"deleted": true}})
}

// xList lists an account's posts, newest first, page by page.
// https://docs.x.com/x-api/posts/timelines/introduction
func (s xFake) xList(w http.ResponseWriter, r *http.Request, _ caller) {
	query := r.URL.Query()
	limit := 10
	if text := query.Get("max_results"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 5 || limit > 100 {
			invalidRequest(w, "The `max_results` query parameter value ["+text+"] is not between 5 and 100",
				map[string][]string{"max_results": {text}})
			return
		}
	}
	since, after := query.Get("since_id"), strings.TrimPrefix(query.Get("pagination_token"), "7140dibdnow")
	if conditionsOf(r).ignoreSince {
		since = ""
	}
	fields := strings.Split(query.Get("tweet.fields"), ",")
	list, next := []map[string]any{}, ""
	s.mu.Lock()
	defer s.mu.Unlock()
	skipping := after != ""
	for _, p := range slices.Backward(s.state.byAccount[r.PathValue("id")]) {
		if skipping {
			skipping = p.ID != after
			continue
		}
		if !s.isListed(p) || since != "" && !isLessID(since, p.ID) {
			continue
		}
		if len(list) == limit {
			next = "7140dibdnow" + list[limit-1]["id"].(string)
			break
		}
		list = append(list, xEntity(*p, s.networkNamed("x").root(r), fields))
	}
	meta := map[string]any{"result_count": len(list)}
	if next != "" {
		meta["next_token"] = next
	}
	body := map[string]any{"meta": meta}
	if len(list) > 0 {
		meta["newest_id"], meta["oldest_id"] = list[0]["id"], list[len(list)-1]["id"]
		body["data"] = list
	}
	writeJSON(w, http.StatusOK, body)
}
