package fake

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// supportedTypes is a subset of the types that a real instance accepts.
func supportedTypes() []string {
	return []string{
		"image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/webm", "audio/mpeg",
		"audio/ogg",
	}
}

const (
	imageLimit = 16 << 20
	videoLimit = 99 << 20
	maxMedia   = 4
	altLimit   = 1500
)

func (s mastodonFake) mastodonNetwork() *fakeNetwork {
	return &fakeNetwork{
		name:  "mastodon",
		isAPI: func(path string) bool { return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/oauth/") },
		token: bearer,
		refuse: func(w http.ResponseWriter, status int, text string) {
			if text == "" {
				text = statusMessage(status)
			}
			writeJSON(w, status, mastodonError{text})
		},
		expired:          func(w http.ResponseWriter) { writeJSON(w, http.StatusUnauthorized, mastodonError{expired}) },
		writeRateHeaders: writeRate,
		requestID:        "X-Request-Id",
		routes:           func(*http.ServeMux) { s.routeMastodon() },
	}
}

func (s mastodonFake) routeMastodon() {
	s.routeNodeInfo()
	s.mux.HandleFunc("POST /api/v1/apps", s.createApp)
	s.mux.HandleFunc("GET /oauth/authorize", s.showAuthorize)
	s.mux.HandleFunc("POST /oauth/authorize", s.approve)
	s.mux.HandleFunc("POST /oauth/token", s.createToken)
	s.mux.HandleFunc("POST /oauth/revoke", s.revokeToken)
	s.mux.HandleFunc("GET /api/v1/instance", s.showInstance1)
	s.mux.HandleFunc("GET /api/v2/instance", s.showInstance2)
	s.mux.HandleFunc("GET /api/v1/accounts/verify_credentials", s.authenticated("read:accounts", s.verifyCredentials))
	s.mux.HandleFunc("GET /api/v1/accounts/search", s.authenticated("read:accounts", s.searchMastodon))
	s.mux.HandleFunc("GET /__avatar/{id}", s.showAvatar)
	s.mux.HandleFunc("GET /api/v1/accounts/{id}/statuses", s.authenticated("read:statuses", s.listStatuses))
	s.mux.HandleFunc("POST /api/v1/media", s.authenticated("write:media", s.createMedia, "media"))
	s.mux.HandleFunc("POST /api/v2/media", s.authenticated("write:media", s.createMedia, "media"))
	s.mux.HandleFunc("GET /api/v1/media/{id}", s.authenticated("write:media", s.readMedia))
	s.mux.HandleFunc("POST /api/v1/statuses", s.authenticated("write:statuses", s.createStatus, "statuses"))
	s.mux.HandleFunc("GET /api/v1/statuses", s.authenticated("read:statuses", s.mastodonIndex))
	s.mux.HandleFunc("GET /api/v1/statuses/{id}", s.authenticated("read:statuses", s.readStatus))
	s.mux.HandleFunc("DELETE /api/v1/statuses/{id}", s.authenticated("write:statuses", s.deleteStatus, "deletes"))
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, mastodonError{statusMessage(http.StatusNotFound)})
	})
}

// mastodonError is Mastodon's error entity.
type mastodonError struct {
	Error string `json:"error"`
}

// statusMessage returns Mastodon's message for a status
// (app/controllers/api/base_controller.rb and the throttled responder of
// config/initializers/rack_attack.rb).
func statusMessage(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "The access token is invalid"
	case http.StatusForbidden:
		return "This action is not allowed"
	case http.StatusNotFound:
		return "Record not found"
	case http.StatusUnprocessableEntity:
		return "Validation failed: Text can't be blank"
	case http.StatusTooManyRequests:
		return "Too many requests"
	case http.StatusServiceUnavailable:
		return "There was a temporary problem serving your request, please try again"
	default:
		return http.StatusText(status)
	}
}

// expired is Doorkeeper's message for an expired token.
const expired = "The access token expired"

// caller is the account and app of an authenticated call.
type caller struct {
	account Account
	app     string
	scopes  []string
	denied  []string // scopes that the token lacks, see MissingScope
}

// authenticated checks token, scope and rate limits before a handler acts.
func (s mastodonFake) authenticated(
	scope string, next func(http.ResponseWriter, *http.Request, caller), buckets ...string,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, ok := s.callerOf(w, r, s.networkNamed("mastodon"))
		if !ok {
			return
		}
		if !s.limiter.allow(w, c, s.now(), append(buckets, "api", bucketApp)...) {
			writeJSON(w, http.StatusTooManyRequests, mastodonError{statusMessage(http.StatusTooManyRequests)})
			return
		}
		if !c.allowed(scope) {
			writeJSON(w, http.StatusForbidden, mastodonError{"This action is outside the authorized scopes"})
			return
		}
		next(w, r, c)
	}
}

func bearer(r *http.Request) string {
	value, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return value
}

func requestID() string { return strings.ToLower(rand.Text()) }

func (s mastodonFake) verifyCredentials(w http.ResponseWriter, r *http.Request, c caller) {
	writeJSON(w, http.StatusOK, accountEntity(r, c.account))
}

func accountEntity(r *http.Request, a Account) map[string]any {
	return map[string]any{
		"id": a.ID, "username": a.Name, "acct": a.Name, "display_name": strings.ToUpper(a.Name[:1]) + a.Name[1:],
		"locked": false, "bot": false, "created_at": a.CreatedAt, "note": "", "url": base(r) + "/@" + a.Name,
		"avatar_static": avatarOf(r, a),
	}
}

func base(r *http.Request) string { return "http://" + r.Host }

func (s mastodonFake) configuration() map[string]any {
	return map[string]any{
		"statuses": map[string]any{
			"max_characters": s.options.MaxCharacters, "max_media_attachments": maxMedia,
			"characters_reserved_per_url": 23,
		},
		"media_attachments": map[string]any{
			"supported_mime_types": supportedTypes(), "description_limit": altLimit,
			"image_size_limit": imageLimit, "image_matrix_limit": 33177600,
			"video_size_limit": videoLimit, "video_frame_rate_limit": 120, "video_matrix_limit": 8294400,
		},
	}
}

func (s mastodonFake) showInstance2(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"domain": r.Host, "title": "Sandbox", "version": "4.6.0", "languages": []string{"en"},
		"configuration": s.configuration(),
	})
}

func (s mastodonFake) showInstance1(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"uri": r.Host, "title": "Sandbox", "version": "4.6.0", "languages": []string{"en"},
		"configuration": s.configuration(),
	})
}
