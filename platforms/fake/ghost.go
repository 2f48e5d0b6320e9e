package fake

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/article"
)

const ghostName = "ghost"

// ghostNetwork fakes sites with Ghost 6.65, each in a folder (https://docs.ghost.org/admin-api).
// Accounts are the sites, with one integration each.
func (s ghostFake) ghostNetwork() *fakeNetwork {
	const prefix, api = "/ghost", "/ghost/{site}/ghost/api/admin"
	f := &fakeNetwork{
		name: ghostName, prefix: prefix, putPublishes: true, token: ghostToken,
		isAPI: func(path string) bool { return strings.Contains(path, "/ghost/api/admin/") },
		refuse: func(w http.ResponseWriter, status int, text string) {
			kind := map[int]string{
				400: "BadRequestError", 403: "HostLimitError", 404: "NotFoundError", 422: "ValidationError",
			}[status]
			ghostError(w, status, cmp.Or(kind, "InternalServerError"), "", cmp.Or(text, http.StatusText(status)))
		},
		expired: func(w http.ResponseWriter) {
			ghostError(w, http.StatusUnauthorized, "UnauthorizedError", "UNKNOWN_ADMIN_API_KEY", "Unknown key")
		},
		writeThrottled: func(w http.ResponseWriter, wait time.Duration) {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
			ghostError(w, http.StatusTooManyRequests, "TooManyRequestsError", "", "Slow down.")
		},
	}
	f.routes = func(mux *http.ServeMux) {
		handle := func(method, path string, next func(http.ResponseWriter, *http.Request, caller)) {
			mux.HandleFunc(method+" "+api+path, func(w http.ResponseWriter, r *http.Request) {
				s.serveKey(w, r, f, next)
			})
		}
		handle("GET", "/posts/{$}", s.ghostRead)
		handle("POST", "/posts/{$}", s.ghostWrite)
		handle("GET", "/posts/slug/{slug}/{$}", s.ghostRead)
		handle("GET", "/posts/{id}/{$}", s.ghostRead)
		handle("PUT", "/posts/{id}/{$}", s.ghostWrite)
		handle("DELETE", "/posts/{id}/{$}", s.ghostDelete)
		handle("POST", "/images/upload/{$}", s.ghostUpload)
		handle("GET", "/tags/{$}", s.ghostTags)
		handle("POST", "/tags/{$}", s.ghostTags)
		handle("GET", "/users/{$}", func(w http.ResponseWriter, _ *http.Request, _ caller) {
			writeJSON(w, http.StatusOK, map[string]any{"users": ghostUsers()})
		})
		mux.HandleFunc("GET "+api+"/site/{$}", func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			a := s.state.accountByName(ghostName, r.PathValue("site"))
			s.mu.Unlock()
			if a == nil {
				http.NotFound(w, r)
				return
			}
			writeJSON(w, http.StatusOK, map[string]any{"site": map[string]string{
				"title": "Sandbox News", "url": s.ghostSite(r) + "/", "version": "6.65", "icon": avatarOf(r, *a),
			}})
		})
		mux.HandleFunc("GET "+prefix+"/{site}/{slug}/{$}", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusFound)
		})
	}
	return f
}

func (s ghostFake) ghostSite(r *http.Request) string {
	return s.networkNamed(ghostName).root(r) + "/" + r.PathValue("site")
}

// ghostError writes an error of the library @tryghost/errors.
func ghostError(w http.ResponseWriter, status int, kind, code, text string) {
	e := map[string]any{"message": text, "context": nil, "type": kind, "code": nil}
	if code != "" {
		e["code"] = code
	}
	writeJSON(w, status, map[string]any{"errors": []any{e}})
}

// GhostKey returns the Admin API key of a token, whose id contains the token.
func GhostKey(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString([]byte(token)) + ":" + hex.EncodeToString(sum[:])
}

// ghostClaims are the checked parts of a token (JWT).
type ghostClaims struct {
	Kid string `json:"kid"`
	Aud string `json:"aud"`
	Iat int64  `json:"iat"`
}

// parseGhostToken returns the claims of a request; ok is false if they are not signed.
func parseGhostToken(r *http.Request) (c ghostClaims, token string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "Ghost "), ".")
	if len(parts) != 3 {
		return c, "", false
	}
	for _, part := range parts[:2] {
		raw, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || json.Unmarshal(raw, &c) != nil {
			return c, "", false
		}
	}
	raw, err := hex.DecodeString(c.Kid)
	_, digits, _ := strings.Cut(GhostKey(string(raw)), ":")
	key, _ := hex.DecodeString(digits)
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(parts[0] + "." + parts[1]))
	return c, string(raw), err == nil && parts[2] == base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ghostToken returns the token of the account whose key signed a request.
func ghostToken(r *http.Request) string {
	if _, token, ok := parseGhostToken(r); ok {
		return token
	}
	return ""
}

// serveKey serves a call with a valid token of the site's key.
func (s ghostFake) serveKey(
	w http.ResponseWriter, r *http.Request, f *fakeNetwork, next func(http.ResponseWriter, *http.Request, caller),
) {
	const maxAge = 5 * time.Minute
	claims, _, signed := parseGhostToken(r)
	var c caller
	s.mu.Lock()
	if a := s.accountOf(r, f); a != nil && a.network() == ghostName && a.Name == r.PathValue("site") {
		c.account = *a
	}
	s.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") == "":
		ghostError(w, http.StatusForbidden, "NoPermissionError", "", "Authorization failed")
	case claims.Kid == "":
		ghostError(w, http.StatusBadRequest, "BadRequestError", "INVALID_JWT", "Invalid token")
	case signed && s.now().Sub(time.Unix(claims.Iat, 0)) > maxAge:
		ghostError(w, http.StatusUnauthorized, "UnauthorizedError", "INVALID_JWT", "Invalid token: maxAge exceeded")
	case !signed || claims.Aud != "/admin/":
		ghostError(w, http.StatusUnauthorized, "UnauthorizedError", "INVALID_JWT", "Invalid token: invalid signature")
	case c.account.ID == "":
		f.expired(w)
	default:
		if wait, ok := s.limiter.take(w, f, s.options.NetworkRates[f.name], c, s.now(), "calls"); !ok {
			f.refuseThrottled(w, wait)
			return
		}
		next(w, r, c)
	}
}

// ghostRef is a tag or an author.
type ghostRef struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Slug  string `json:"slug,omitempty"`
	Email string `json:"email,omitempty"`
}

func ghostUsers() []ghostRef {
	return []ghostRef{
		{ID: "1", Name: "Ban biên tập", Slug: "desk", Email: "desk@paper.example"},
		{ID: "2", Name: "Lê Mai", Slug: "le-mai", Email: "mai@paper.example"},
	}
}

// ghostSiteTags returns the tags of a site. The caller must hold s.mu.
func (s ghostFake) ghostSiteTags(c caller) (list []ghostRef) {
	s.object(ghostName, tagsKind, "ghost/tags/"+c.account.ID, &list)
	return list
}

const tagsKind = "tags"

// ghostPut stores tags or a post of a site. The caller must hold s.mu.
func (s ghostFake) ghostPut(c caller, id, kind string, data any) error {
	return s.putObject(Object{
		ID: id, Network: ghostName, Kind: kind, AccountID: c.account.ID, CreatedAt: s.now(),
	}, data)
}

func (s ghostFake) ghostPutTags(c caller, list []ghostRef) error {
	return s.ghostPut(c, "ghost/tags/"+c.account.ID, tagsKind, list)
}

func ghostAddTag(list []ghostRef, name string) []ghostRef {
	wanted := cmp.Or(article.Words(name), "tag")
	slug := wanted
	for n := 2; slices.ContainsFunc(list, func(t ghostRef) bool { return t.Slug == slug }); n++ {
		slug = fmt.Sprintf("%s-%d", wanted, n)
	}
	return append(list, ghostRef{ID: ghostID(uint64(100 + len(list))), Name: name, Slug: slug})
}

// ghostID formats a number as an ObjectID.
func ghostID(n uint64) string { return fmt.Sprintf("%024x", n) }

// ghostCollates is how the site's database compares names: without case and accents.
func ghostCollates(a, b string) bool {
	return strings.EqualFold(a, b) || article.Words(a) != "" && article.Words(a) == article.Words(b)
}

// ghostTags lists tags by a filter, or creates one: an existing name makes another tag.
func (s ghostFake) ghostTags(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.ghostSiteTags(c)
	if r.Method == http.MethodPost {
		var in struct{ Tags []ghostRef }
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Tags) != 1 || in.Tags[0].Name == "" {
			ghostError(w, http.StatusUnprocessableEntity, "ValidationError", "", "Name is required")
			return
		}
		list = ghostAddTag(list, in.Tags[0].Name)
		if ghostFailed(w, s.ghostPutTags(c, list)) {
			return
		}
		writeJSON(w, http.StatusCreated, map[string]any{tagsKind: list[len(list)-1:]})
		return
	}
	const term = `(name|slug):'((?:\\['"]|[^'"])+?)'`
	filter := r.URL.Query().Get("filter")
	if !regexp.MustCompile(`^` + term + `(,` + term + `)*$`).MatchString(filter) {
		ghostError(w, http.StatusBadRequest, "BadRequestError", "", "Error parsing filter")
		return
	}
	found := []ghostRef{}
	for _, term := range regexp.MustCompile(term).FindAllStringSubmatch(filter, -1) {
		value := strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(term[2])
		for _, t := range list {
			isMatch := term[1] == "slug" && t.Slug == value || term[1] == "name" && ghostCollates(t.Name, value)
			if isMatch && !slices.Contains(found, t) {
				found = append(found, t)
			}
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{tagsKind: found})
}

// ghostFailed refuses a call whose change could not be stored.
func ghostFailed(w http.ResponseWriter, err error) bool {
	if err != nil {
		ghostError(w, http.StatusInternalServerError, "InternalServerError", "UNEXPECTED_ERROR", err.Error())
	}
	return err != nil
}
