package fake

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const zaloName = "zalo"

// zaloNetwork fakes Zalo's API for Official Accounts as its clients describe it. Accounts are
// Official Accounts; their kind is the plan: "basic" includes no articles by API.
func (s zaloFake) zaloNetwork() *fakeNetwork {
	const prefix = "/zalo"
	f := &fakeNetwork{
		name: zaloName, prefix: prefix,
		isAPI: func(path string) bool {
			return path != prefix+"/v4/oa/permission" && !strings.HasPrefix(path, prefix+"/d/")
		},
		token: func(r *http.Request) string { return r.Header.Get("access_token") },
		refuse: func(w http.ResponseWriter, status int, text string) {
			if status == http.StatusUnauthorized {
				zaloError(w, -216, "Access token is invalid")
				return
			}
			writeJSON(w, status, map[string]any{"error": -status, "message": text + http.StatusText(status)})
		},
		expired:        func(w http.ResponseWriter) { zaloError(w, -216, "Access token has expired") },
		writeThrottled: func(w http.ResponseWriter, _ time.Duration) { zaloError(w, -32, "Too many requests") },
		writeRateHeaders: func(h http.Header, rate Rate, left int, _ time.Time) {
			h.Set("X-RateLimit-Limit", strconv.Itoa(rate.Requests))
			h.Set("X-RateLimit-Remain", strconv.Itoa(left))
		},
	}
	f.routes = func(mux *http.ServeMux) {
		handle := func(route string, next func(http.ResponseWriter, *http.Request, caller)) {
			method, path, _ := strings.Cut(route, " ")
			mux.HandleFunc(method+" "+prefix+path, s.authenticatedFor(f, next, "calls"))
		}
		handle("GET /v2.0/oa/getoa", s.zaloAccount)
		handle("POST /v3.0/oa/quota/message", s.zaloQuota)
		handle("POST /v2.0/oa/message", s.zaloBroadcast)
		handle("POST /v2.0/article/create", s.zaloWrite)
		handle("POST /v2.0/article/update", s.zaloWrite)
		handle("POST /v2.0/article/verify", s.zaloVerify)
		handle("POST /v2.0/article/remove", s.zaloRemove)
		handle("GET /v2.0/article/getdetail", s.zaloDetail)
		handle("GET /v2.0/article/getslice", s.zaloSlice)
		mux.HandleFunc("POST "+prefix+"/v4/oa/access_token", s.zaloToken)
		allow := s.consent(f, 10*time.Minute)
		permission := func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			zaloConsent(query)
			r.URL.RawQuery = query.Encode()
			if _, err := readForm(w, r); err == nil { // which is read once
				zaloConsent(r.PostForm)
			}
			allow(w, r)
		}
		mux.HandleFunc("GET "+prefix+"/v4/oa/permission", permission)
		mux.HandleFunc("POST "+prefix+"/v4/oa/permission", permission)
		mux.HandleFunc("GET "+prefix+"/d/{id}", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusFound)
		})
	}
	return f
}

// zaloConsent adds what consent reads under the names of OAuth.
func zaloConsent(form url.Values) {
	if form.Has("app_id") {
		form.Set("client_id", form.Get("app_id"))
		form.Set("response_type", "code")
		form.Set("code_challenge_method", "S256")
		form.Set("scope", zaloName)
	}
}

// zaloError writes a refusal, which has the status 200.
func zaloError(w http.ResponseWriter, code int, text string) {
	writeJSON(w, http.StatusOK, map[string]any{"error": code, "message": text})
}

func zaloData(w http.ResponseWriter, data any) {
	writeJSON(w, http.StatusOK, map[string]any{"error": 0, "message": "Success", "data": data})
}

// zaloToken issues a pair of tokens for a code, or for a refresh token, which is then used up.
func (s zaloFake) zaloToken(w http.ResponseWriter, r *http.Request) {
	refuse := func(code int, text string) {
		writeJSON(w, http.StatusOK, map[string]any{
			"error": code, "error_name": text, "error_description": text, "error_reason": text,
		})
	}
	form, err := readForm(w, r)
	if err != nil || !sandboxClient(form.Get("app_id"), r.Header.Get("secret_key")) {
		refuse(-14004, "Invalid secret key")
		return
	}
	var made token
	family := rand.Text()
	s.mu.Lock()
	if form.Get("grant_type") == "refresh_token" {
		old := s.state.refreshes[form.Get("refresh_token")]
		if old == nil || old.Refresh.Used || s.state.accounts[old.AccountID].network() != zaloName {
			s.mu.Unlock()
			refuse(-14014, "Invalid refresh token")
			return
		}
		made, family = token{AccountID: old.AccountID, Scopes: old.Scopes, App: old.App}, old.Refresh.Family
		err = s.commit(record{Kind: kindUse, ID: old.Refresh.Value})
	} else {
		// The redirect address is not sent again.
		code := form.Get("code")
		g, ok := s.takeCode(code, form.Get("app_id"), s.codes[code].redirectURI, form.Get("code_verifier"))
		if !ok || g.challenge == "" {
			s.mu.Unlock()
			refuse(-14019, "Invalid authorization code")
			return
		}
		made = token{AccountID: g.accountID, Scopes: g.scopes, App: "Dateline"}
	}
	s.mu.Unlock()
	life := 25 * time.Hour
	if s.options.TokenTTL > 0 {
		life = s.options.TokenTTL
	}
	if err == nil {
		made, err = s.issue(made, life, family)
	}
	if err != nil {
		refuse(-100, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{
		"access_token": made.Value, "refresh_token": made.Refresh.Value,
		"expires_in": strconv.Itoa(int(life / time.Second)),
	})
}

func (s zaloFake) zaloAccount(w http.ResponseWriter, r *http.Request, c caller) {
	plan := "Nâng cao"
	if c.account.Kind == "basic" {
		plan = "Cơ bản"
	}
	zaloData(w, map[string]any{
		"oaid": c.account.ID, "name": strings.ToUpper(c.account.Name), "avatar": avatarOf(r, c.account),
		"oa_alias": c.account.Name, "is_verified": true, "num_follower": 1204, "package_name": plan,
	})
}

// zaloBroadcasts is how many broadcasts an account may send.
const zaloBroadcasts = 40

// zaloSent returns the articles that were sent to followers. The caller must hold s.mu.
func (s zaloFake) zaloSent(c caller) (sent []string) {
	s.object(zaloName, "broadcasts", "zalo/broadcasts/"+c.account.ID, &sent)
	return sent
}

func (s zaloFake) zaloQuota(w http.ResponseWriter, _ *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	zaloData(w, []any{map[string]any{
		"product_type": "promotion", "quota_type": "sub_quota", "total": zaloBroadcasts,
		"remain": zaloBroadcasts - len(s.zaloSent(c)), "valid_through": "31/12/2026",
	}})
}

// zaloBroadcast sends a published article to all followers, as often as it is called.
func (s zaloFake) zaloBroadcast(w http.ResponseWriter, r *http.Request, c caller) {
	raw, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // what is cut off names no article
	element := regexp.MustCompile(`"attachment_id":"(\w+)","media_type":"article"`).FindSubmatch(raw)
	if element == nil || !json.Valid(raw) {
		zaloError(w, -201, "elements value is invalid")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, sent := string(element[1]), s.zaloSent(c)
	there := s.state.postByID[id]
	switch {
	case there == nil || there.Deleted || there.AccountID != c.account.ID:
		zaloError(w, -201, "attachment_id value is invalid")
		return
	case len(sent) >= zaloBroadcasts:
		zaloError(w, -211, "Out of quota")
		return
	}
	if zaloFailed(w, s.zaloPut(c, "zalo/broadcasts/"+c.account.ID, "broadcasts", append(sent, id))) {
		return
	}
	times, _ := there.Options["broadcasts"].(int)
	there.Options = withOption(there.Options, "broadcasts", times+1)
	zaloData(w, map[string]string{"message_id": rand.Text()})
}
