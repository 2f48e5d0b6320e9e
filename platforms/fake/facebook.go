package fake

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

const facebookPrefix = "/facebook"

func (s graphFake) facebookNetwork() *fakeNetwork {
	var f *fakeNetwork
	f = newGraphNetwork("facebook", facebookPrefix, "/dialog/oauth", func(mux *http.ServeMux) {
		mux.HandleFunc(facebookPrefix+"/{version}/{rest...}", s.routeFacebook(f))
		mux.HandleFunc("POST "+facebookPrefix+"/video-upload/{upload}/{video}",
			s.graphAuthenticated(f, "pages_manage_posts", s.facebookReelUpload))
		mux.HandleFunc("GET "+facebookPrefix+"/{page}/posts/{post}", s.facebookPage)
		mux.HandleFunc("GET "+facebookPrefix+"/{page}/videos/{post}", s.facebookPage)
	})
	version := regexp.MustCompile(`^` + facebookPrefix + `/(video-upload/)?v[0-9]+\.[0-9]/`)
	f.isAPI = func(path string) bool { return version.MatchString(path) && !strings.HasSuffix(path, "/dialog/oauth") }
	return f
}

// routeFacebook returns the handler of a node or edge; the path begins with the
// version.
func (s graphFake) routeFacebook(f *fakeNetwork) http.HandlerFunc {
	version := regexp.MustCompile(`^v[0-9]+\.[0-9]$`)
	dialog := s.consent(f, 10*time.Minute)
	return func(w http.ResponseWriter, r *http.Request) {
		if !version.MatchString(r.PathValue("version")) {
			http.NotFound(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 64<<20)
		node, edge, _ := strings.Cut(r.PathValue("rest"), "/")
		call := func(scope string, next func(http.ResponseWriter, *http.Request, caller), buckets ...string) {
			s.graphAuthenticated(f, scope, next, buckets...)(w, r)
		}
		get, post := r.Method == http.MethodGet, r.Method == http.MethodPost
		switch {
		case node == "dialog" && edge == "oauth":
			dialog(w, r)
		case node == "oauth" && edge == "access_token":
			s.facebookToken(w, r)
		case get && node == "me" && edge == "permissions":
			call("pages_show_list", s.facebookPermissions)
		case get && node == "me" && edge == "accounts":
			call("pages_show_list", s.facebookAccounts)
		case get && node == "me" && edge == "":
			call("pages_show_list", s.facebookMe)
		case post && edge == "photos":
			call("pages_manage_posts", s.facebookOwn(node, s.facebookPhoto), "photos")
		case post && edge == "feed":
			call("pages_manage_posts", s.facebookOwn(node, s.facebookFeed), "feed")
		case post && edge == "videos":
			call("pages_manage_posts", s.facebookOwn(node, s.facebookVideo), "videos")
		case post && (edge == "video_reels" || edge == "video_stories"):
			call("pages_manage_posts", s.facebookOwn(node, s.facebookReel(edge)), "videos")
		case post && edge == "photo_stories":
			call("pages_manage_posts", s.facebookOwn(node, s.facebookPhotoStory), "feed")
		case get && edge == "stories":
			call("pages_read_engagement", s.facebookOwn(node, s.facebookStories))
		case get && edge == "published_posts":
			call("pages_read_engagement", s.facebookOwn(node, s.facebookPosts))
		case post && edge == "comments":
			call("pages_manage_engagement", s.facebookNode(node, s.facebookComment), "comments")
		case get && edge == "comments":
			call("pages_read_engagement", s.facebookNode(node, s.facebookComments))
		case get && edge == "insights":
			call("pages_read_engagement",
				s.facebookNode(node, s.graphInsights("facebook", "read_insights", facebookInsights(false))))
		case get && edge == "video_insights":
			call("pages_read_engagement",
				s.facebookNode(node, s.graphInsights("facebook", "read_insights", facebookInsights(true))))
		case get && node == "":
			call("pages_read_engagement", s.facebookObjects)
		case get && edge == "":
			call("pages_read_engagement", s.facebookNode(node, s.facebookObject))
		case r.Method == http.MethodDelete && edge == "":
			call("pages_manage_posts", s.facebookNode(node, s.facebookDelete))
		default:
			refuseGraph(w, http.StatusBadRequest, graphError{
				Message: "(#3) Application does not have the capability to make this API call.", Code: 3,
			})
		}
	}
}

// facebookOwn serves an edge of a Page to that Page only.
func (s graphFake) facebookOwn(
	node string, next func(http.ResponseWriter, *http.Request, caller),
) func(http.ResponseWriter, *http.Request, caller) {
	return func(w http.ResponseWriter, r *http.Request, c caller) {
		if node != c.account.ID || c.account.Kind != "page" {
			refuseGraph(w, http.StatusForbidden, graphError{
				Message: "(#200) Permissions error: the token is of no Page, or of another", Code: 200,
			})
			return
		}
		next(w, r, c)
	}
}

func (s graphFake) facebookNode(
	node string, next func(http.ResponseWriter, *http.Request, caller, string),
) func(http.ResponseWriter, *http.Request, caller) {
	return func(w http.ResponseWriter, r *http.Request, c caller) { next(w, r, c, node) }
}

// facebookToken exchanges a code for a short-lived token, and that for a
// long-lived one.
// https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived
func (s graphFake) facebookToken(w http.ResponseWriter, r *http.Request) {
	if !sandboxClient(r.FormValue("client_id"), r.FormValue("client_secret")) {
		refuseGraph(w, http.StatusBadRequest, graphError{Message: "Error validating client secret.", Code: 1})
		return
	}
	t, ttl := token{App: "Dateline"}, time.Hour
	s.mu.Lock()
	if r.FormValue("grant_type") == "fb_exchange_token" {
		ttl = 60 * 24 * time.Hour
		if old := s.state.tokens[r.FormValue("fb_exchange_token")]; old != nil {
			t.AccountID, t.Scopes = old.AccountID, old.Scopes
		}
	} else if g, ok := s.takeCode(r.FormValue("code"), r.FormValue("client_id"), r.FormValue("redirect_uri"), ""); ok {
		t.AccountID, t.Scopes = g.accountID, g.scopes
	}
	s.mu.Unlock()
	if t.AccountID == "" {
		refuseGraph(w, http.StatusBadRequest, graphError{Message: "Invalid verification code format.", Code: 100})
		return
	}
	if s.options.TokenTTL > 0 {
		ttl = min(ttl, s.options.TokenTTL)
	}
	t, err := s.issue(t, ttl, "")
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": t.Value, "token_type": "bearer", "expires_in": int(ttl / time.Second),
	})
}

func (s graphFake) facebookPermissions(w http.ResponseWriter, _ *http.Request, c caller) {
	list := []map[string]string{{"permission": "public_profile", "status": "granted"}}
	for _, scope := range c.scopes {
		list = append(list, map[string]string{"permission": scope, "status": "granted"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": list})
}

// facebookAccounts lists the Pages of a user, each with a token that does not
// expire.
func (s graphFake) facebookAccounts(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	pages := s.owned(c.account.ID)
	s.mu.Unlock()
	list := make([]graphPost, len(pages))
	for i, p := range pages {
		t, err := s.issue(token{AccountID: p.ID, Scopes: c.scopes, App: c.app}, 0, "")
		if err != nil {
			refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
			return
		}
		list[i] = graphPost{ID: p.ID, Entity: map[string]any{
			"id": p.ID, "name": displayName(p), "username": strings.ToLower(p.Name), "access_token": t.Value,
			"picture": map[string]any{"data": map[string]any{"url": avatarOf(r, p)}}, "category": "Media/news company",
			"tasks": []string{"ANALYZE", "ADVERTISE", "MODERATE", "CREATE_CONTENT", "MANAGE"},
		}}
	}
	graphList(w, r, s.networkNamed("facebook"), list)
}

// facebookMe returns the account that a token belongs to.
func (s graphFake) facebookMe(w http.ResponseWriter, r *http.Request, c caller) {
	writeJSON(w, http.StatusOK,
		graphFields(r, map[string]any{
			"id": c.account.ID, "name": displayName(c.account),
			"username": strings.ToLower(c.account.Name),
			"picture":  map[string]any{"data": map[string]any{"url": avatarOf(r, c.account)}},
		}))
}

// facebookPage redirects a permalink to the timeline.
func (s graphFake) facebookPage(w http.ResponseWriter, r *http.Request) {
	page, post := r.PathValue("page"), r.PathValue("post")
	s.mu.Lock()
	var found *Post
	for _, id := range []string{page + "_" + post, post, post + "_" + r.URL.Query().Get("comment_id")} {
		if p := s.state.postByID[id]; p != nil && p.Network == "facebook" {
			found = p
		}
	}
	s.mu.Unlock()
	if found == nil {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, "/#p"+found.ID, http.StatusFound) //nolint:gosec // an id that the sandbox made
}
