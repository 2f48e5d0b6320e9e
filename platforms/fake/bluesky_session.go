package fake

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// The lifetimes of sessions (pds/src/account-manager/helpers/auth.ts). A used
// refresh token stays valid for a while, and returns the same successor.
const (
	blueskyAccessTTL   = 2 * time.Hour
	blueskyRefreshTTL  = 90 * 24 * time.Hour
	blueskyReuseWindow = 2 * time.Hour
)

// The scopes of sessions: full access, and access with an app password.
const (
	blueskyFull = "com.atproto.access"
	blueskyApp  = "com.atproto.appPass"
)

// successor is the replacement of a used refresh token.
type successor struct {
	Refresh string    `json:"refresh"`
	Until   time.Time `json:"until"` // it is returned again until then
}

func (s blueskyFake) blueskyLogin(w http.ResponseWriter, r *http.Request) {
	var in struct{ Identifier, Password string }
	if !readXRPC(w, r, &in) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.blueskyAccount(in.Identifier)
	if a != nil {
		f := s.networkNamed(blueskyName)
		if wait, ok := s.limiter.take(w, f, s.options.NetworkRates[blueskyName], caller{account: *a}, s.now(),
			"sessions"); !ok {
			f.refuseThrottled(w, wait)
			return
		}
	}
	if a == nil || in.Password != BlueskyAppPassword && in.Password != BlueskyPassword {
		xrpcError(w, http.StatusUnauthorized, "AuthenticationRequired", "Invalid identifier or password")
		return
	}
	scope := blueskyApp
	if in.Password == BlueskyPassword {
		scope = blueskyFull
	}
	s.blueskyGrant(w, r, *a, scope, s.blueskyJWT("com.atproto.refresh", *a, blueskyRefreshTTL))
}

// blueskyGrant creates or refreshes a session. The caller must hold s.mu.
func (s blueskyFake) blueskyGrant(w http.ResponseWriter, r *http.Request, a Account, scope, renew string) {
	ttl := blueskyAccessTTL
	if s.options.TokenTTL > 0 {
		ttl = s.options.TokenTTL
	}
	t := token{
		Value: s.blueskyJWT(scope, a, ttl), AccountID: a.ID, Scopes: []string{scope}, Expires: s.now().Add(ttl),
		Refresh: &refresh{Value: renew, Family: rand.Text()},
	}
	if before := s.state.refreshes[renew]; before != nil {
		t.Refresh.Used = before.Refresh.Used
	}
	if err := s.commit(record{Kind: kindToken, Token: &t}); err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"did": blueskyDID(a), "handle": blueskyHandle(a), "accessJwt": t.Value, "refreshJwt": renew, "active": true,
		"didDoc": map[string]any{
			"id": blueskyDID(a), "alsoKnownAs": []string{"at://" + blueskyHandle(a)},
			"service": []map[string]string{
				{"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": base(r)},
			},
		},
	})
}

// blueskyJWT returns a token in the format of RFC 7519 that only this server
// accepts.
func (s blueskyFake) blueskyJWT(scope string, a Account, ttl time.Duration) string {
	part := func(value map[string]any) string {
		text, _ := json.Marshal(value) // cannot fail: texts and numbers
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(map[string]any{"typ": "at+jwt", "alg": "HS256"}) + "." + part(map[string]any{
		"scope": scope, "sub": blueskyDID(a), "iat": s.now().Unix(), "exp": s.now().Add(ttl).Unix(), "jti": rand.Text(),
	}) + "." + base64.RawURLEncoding.EncodeToString([]byte(rand.Text()))
}

// blueskyRenewal returns the refresh token of a call, or refuses. The caller must
// hold s.mu.
func (s blueskyFake) blueskyRenewal(w http.ResponseWriter, r *http.Request) *token {
	value := bearer(r)
	t := s.state.refreshes[value]
	switch {
	case value == "":
		xrpcError(w, http.StatusUnauthorized, "AuthMissing", "Authentication Required")
	case s.state.tokens[value] != nil:
		xrpcError(w, http.StatusBadRequest, "InvalidToken", "Invalid token type")
	case t == nil || s.state.accounts[t.AccountID].network() != blueskyName:
		xrpcError(w, http.StatusBadRequest, "InvalidToken", "Token could not be verified")
	default:
		return t
	}
	return nil
}

func (s blueskyFake) blueskyRefresh(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.blueskyRenewal(w, r)
	if t == nil {
		return
	}
	a, old := *s.state.accounts[t.AccountID], t.Refresh.Value
	var next successor
	if t.Refresh.Used {
		if _, known := s.object(blueskyName, "session", "bluesky/session/"+old, &next); !known ||
			!s.now().Before(next.Until) {
			xrpcError(w, http.StatusBadRequest, "ExpiredToken", "Token has been revoked")
			return
		}
	} else {
		next = successor{
			Refresh: s.blueskyJWT("com.atproto.refresh", a, blueskyRefreshTTL),
			Until:   s.now().Add(blueskyReuseWindow),
		}
		err := s.putObject(Object{
			ID: "bluesky/session/" + old, Network: blueskyName, Kind: "session", AccountID: a.ID,
			CreatedAt: s.now(),
		}, next)
		if err == nil {
			err = s.commit(record{Kind: kindUse, ID: old})
		}
		if err != nil {
			xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
			return
		}
	}
	s.blueskyGrant(w, r, a, t.Scopes[0], next.Refresh)
}

// blueskyLogout revokes a refresh token. Issued access tokens stay valid until
// they expire, because they are not looked up.
func (s blueskyFake) blueskyLogout(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.blueskyRenewal(w, r)
	if t == nil {
		return
	}
	if err := s.commit(record{Kind: kindUse, ID: t.Refresh.Value}); err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s blueskyFake) blueskySession(w http.ResponseWriter, _ *http.Request, c caller) {
	writeJSON(w, http.StatusOK, map[string]any{
		"did": blueskyDID(c.account), "handle": blueskyHandle(c.account), "active": true,
	})
}
