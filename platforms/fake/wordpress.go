package fake

import (
	"encoding/json"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

const wordpressName = "wordpress"

// wordpressNetwork fakes a site with WordPress 7.1, reached by https as far as it knows
// (https://developer.wordpress.org/rest-api/reference/). Accounts are its users, their kind
// is the role (empty: editor), and their tokens are application passwords.
func (s wordpressFake) wordpressNetwork() *fakeNetwork {
	const prefix, api = "/wordpress", "/wordpress/wp-json"
	f := &fakeNetwork{
		name: wordpressName, prefix: prefix,
		isAPI: func(path string) bool { return strings.HasPrefix(path, api+"/") || path == prefix+"/index.php" },
		token: func(r *http.Request) string {
			_, password, _ := r.BasicAuth()
			return strings.ReplaceAll(password, " ", "")
		},
		refuse: func(w http.ResponseWriter, status int, text string) {
			wordpressError(w, status, "rest_error", text, nil)
		},
		expired: func(w http.ResponseWriter) {
			wordpressError(w, http.StatusUnauthorized, "rest_not_logged_in", "You are not currently logged in.", nil)
		},
		writeThrottled: func(w http.ResponseWriter, wait time.Duration) {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
			wordpressError(w, http.StatusTooManyRequests, "too_many_requests", "Slow down.", nil)
		},
	}
	f.routes = func(mux *http.ServeMux) {
		handle := func(method, path string, next func(http.ResponseWriter, *http.Request, caller)) {
			mux.HandleFunc(method+" "+api+path, func(w http.ResponseWriter, r *http.Request) {
				s.serveUser(w, r, f, next)
			})
		}
		handle("GET", "/{$}", s.wordpressIndex)
		handle("GET", "/wp/v2/users/me", s.wordpressMe)
		handle("GET", "/wp/v2/users/me/application-passwords/introspect", s.wordpressPassword)
		handle("POST", "/wp/v2/media", s.wordpressUpload)
		handle("GET", "/wp/v2/media", s.wordpressMedia)
		handle("GET", "/wp/v2/posts", s.wordpressList)
		handle("POST", "/wp/v2/posts", s.wordpressWrite)
		handle("GET", "/wp/v2/posts/{id}", s.wordpressRead)
		handle("POST", "/wp/v2/posts/{id}", s.wordpressWrite)
		handle("DELETE", "/wp/v2/posts/{id}", s.wordpressDelete)
		handle("GET", "/wp/v2/{kind}", s.wordpressTerms)
		handle("POST", "/wp/v2/tags", s.wordpressCreateTag)
		mux.HandleFunc("GET "+prefix+"/{$}", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "<"+f.root(r)+`/wp-json/>; rel="https://api.w.org/"`)
		})
		// Plain permalinks name the route in the query.
		mux.HandleFunc(prefix+"/index.php", func(w http.ResponseWriter, r *http.Request) {
			route := r.Clone(r.Context())
			route.URL.Path = api + r.URL.Query().Get("rest_route")
			mux.ServeHTTP(w, route)
		})
		mux.HandleFunc("GET "+prefix+"/{slug}/", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusFound)
		})
	}
	return f
}

// wordpressError writes an error of the class WP_Error.
func wordpressError(w http.ResponseWriter, status int, code, text string, data map[string]any) {
	all := map[string]any{"status": status}
	for name, value := range data {
		all[name] = value
	}
	writeJSON(w, status, map[string]any{"code": code, "message": text, "data": all})
}

// wordpressFailed refuses a call whose change could not be stored.
func wordpressFailed(w http.ResponseWriter, err error) bool {
	if err != nil {
		wordpressError(w, http.StatusInternalServerError, "db_insert_error", err.Error(), nil)
	}
	return err != nil
}

// serveUser serves a call as its user. A wrong password makes it anonymous, not refused.
func (s wordpressFake) serveUser(
	w http.ResponseWriter, r *http.Request, f *fakeNetwork, next func(http.ResponseWriter, *http.Request, caller),
) {
	var c caller
	name, _, _ := r.BasicAuth()
	s.mu.Lock()
	if a := s.accountOf(r, f); a != nil && a.network() == wordpressName && a.Name == name {
		c.account = *a
	}
	s.mu.Unlock()
	if !c.isAnonymous() {
		if wait, ok := s.limiter.take(w, f, s.options.NetworkRates[f.name], c, s.now(), "calls"); !ok {
			f.refuseThrottled(w, wait)
			return
		}
	}
	next(w, r, c)
}

func (c caller) isAnonymous() bool { return c.account.ID == "" }

// canPublish is false for contributors and anonymous calls.
func (c caller) canPublish() bool { return !c.isAnonymous() && c.account.Kind != "contributor" }

// forbid refuses a call that the user may not make: 401 to anonymous ones, 403 to others.
func (c caller) forbid(w http.ResponseWriter, code string) {
	status := http.StatusForbidden
	if c.isAnonymous() {
		status = http.StatusUnauthorized
	}
	wordpressError(w, status, code, "Sorry, you are not allowed to do that.", nil)
}

func (s wordpressFake) wordpressIndex(w http.ResponseWriter, r *http.Request, _ caller) {
	root := s.networkNamed(wordpressName).root(r)
	writeJSON(w, http.StatusOK, map[string]any{
		"name": "Sandbox News", "url": root, "home": root, "namespaces": []string{"oembed/1.0", "wp/v2"},
		"authentication": map[string]any{"application-passwords": map[string]any{
			"endpoints": map[string]string{"authorization": root + "/wp-admin/authorize-application.php"},
		}},
	})
}

func (s wordpressFake) wordpressMe(w http.ResponseWriter, r *http.Request, c caller) {
	if c.isAnonymous() {
		c.forbid(w, "rest_not_logged_in")
		return
	}
	id, _ := strconv.ParseUint(c.account.ID, 10, 64)
	writeJSON(w, http.StatusOK, map[string]any{
		"id": id, "name": strings.ToUpper(c.account.Name), "username": c.account.Name,
		"avatar_urls": map[string]string{"96": avatarOf(r, c.account)}, "capabilities": map[string]bool{
			"edit_posts": true, "publish_posts": c.canPublish(), "upload_files": c.canPublish(),
			"edit_published_posts": c.canPublish(),
		},
	})
}

func (s wordpressFake) wordpressPassword(w http.ResponseWriter, _ *http.Request, c caller) {
	if c.isAnonymous() {
		c.forbid(w, "rest_not_logged_in")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"uuid": "5f2c7a86-3f0a-4c3e-9d7e-0d3c2b1a0f9e", "name": "Dateline"})
}

// wordpressTerm is a category or a tag.
type wordpressTerm struct {
	ID   int64  `json:"id"`
	Name string `json:"name"` // with entities, as WordPress stores it
	Slug string `json:"slug"`
}

// wordpressTermsOf returns the categories, which are fixed, or the tags. The caller must hold
// s.mu.
func (s wordpressFake) wordpressTermsOf(kind string) []wordpressTerm {
	if kind == "categories" {
		return []wordpressTerm{
			{1, "Uncategorized", "uncategorized"},
			{2, "Thời sự", "thoi-su"},
			{3, "Kinh tế &amp; Thị trường", "kinh-te"},
		}
	}
	var list []wordpressTerm
	s.object(wordpressName, "tags", "wordpress/tags", &list)
	return list
}

// wordpressTerms searches without case and accents, as the collation of the database does,
// which does not compose characters.
func (s wordpressFake) wordpressTerms(w http.ResponseWriter, r *http.Request, _ caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, search := []wordpressTerm{}, r.URL.Query().Get("search")
	for _, t := range s.wordpressTermsOf(r.PathValue("kind")) {
		if norm.NFC.IsNormalString(search) &&
			strings.Contains(wordpressSlug(html.UnescapeString(t.Name)), wordpressSlug(search)) {
			found = append(found, t)
		}
	}
	writeJSON(w, http.StatusOK, found)
}

// wordpressCreateTag compares names of another case or other accents as different, unless
// only the first letters of words differ.
func (s wordpressFake) wordpressCreateTag(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct {
		Name string `json:"name"`
	}
	if c.isAnonymous() || json.NewDecoder(r.Body).Decode(&in) != nil {
		c.forbid(w, "rest_cannot_create")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.wordpressTermsOf("tags")
	name := strings.ReplaceAll(in.Name, "&", "&amp;")
	for _, t := range list {
		if strings.EqualFold(t.Name, name) && strings.ToUpper(name) != name {
			wordpressError(w, http.StatusBadRequest, "term_exists",
				"A term with the name provided already exists with this parent.", map[string]any{"term_id": t.ID})
			return
		}
	}
	made := wordpressTerm{int64(100 + len(list)), name, wordpressSlug(in.Name)}
	if wordpressFailed(w, s.putObject(Object{
		ID: "wordpress/tags", Network: wordpressName, Kind: "tags", AccountID: c.account.ID, CreatedAt: s.now(),
	}, append(list, made))) {
		return
	}
	writeJSON(w, http.StatusCreated, made)
}
