package fake

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"
)

// xTokenTTL is the documented lifetime of access tokens.
const xTokenTTL = 2 * time.Hour

// X's error messages; it has no invalid_grant.
const (
	xBadCode   = "Value passed for the authorization code was invalid."
	xBadToken  = "Value passed for the token was invalid."
	xBadClient = "Missing valid authorization header"
)

// xClient responds 401 unless the client is the sandbox's application, which is a
// confidential client.
func xClient(w http.ResponseWriter, r *http.Request) bool {
	id, clientSecret, ok := r.BasicAuth()
	if !ok || !sandboxClient(id, clientSecret) {
		writeJSON(w, http.StatusUnauthorized, oauthErrorBody{"unauthorized_client", xBadClient})
		return false
	}
	return true
}

// xToken issues a pair of tokens for a code, or for a refresh token, which is
// then used up.
// https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token
func (s xFake) xToken(w http.ResponseWriter, r *http.Request) {
	if !xClient(w, r) {
		return
	}
	form, err := readForm(w, r)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, oauthErrorBody{"invalid_request", "The body cannot be read."})
		return
	}
	client, _, _ := r.BasicAuth()
	var created token
	family := rand.Text()
	s.mu.Lock()
	switch form.Get("grant_type") {
	case "authorization_code":
		g, ok := s.takeCode(form.Get("code"), client, form.Get("redirect_uri"), form.Get("code_verifier"))
		if !ok || g.challenge == "" {
			err = oauthError{"invalid_request", xBadCode}
			break
		}
		created = token{AccountID: g.accountID, Scopes: g.scopes, App: "Dateline"}
	case "refresh_token":
		old := s.state.refreshes[form.Get("refresh_token")]
		if old == nil || old.Refresh.Used || s.state.accounts[old.AccountID].network() != "x" {
			err = oauthError{"invalid_request", xBadToken}
			break
		}
		created, family = token{AccountID: old.AccountID, Scopes: old.Scopes, App: old.App}, old.Refresh.Family
		err = s.commit(record{Kind: kindUse, ID: old.Refresh.Value})
	default:
		err = oauthError{"unsupported_grant_type", "Value passed for the grant type was invalid."}
	}
	s.mu.Unlock()
	if err == nil {
		if !slices.Contains(created.Scopes, "offline.access") {
			family = ""
		}
		created, err = s.issue(created, s.xLife(), family)
	}
	if err != nil {
		writeOAuthError(w, err)
		return
	}
	body := map[string]any{
		"token_type": "bearer", "expires_in": int(s.xLife() / time.Second), "access_token": created.Value,
		"scope": strings.Join(created.Scopes, " "),
	}
	if created.Refresh != nil {
		body["refresh_token"] = created.Refresh.Value
	}
	writeJSON(w, http.StatusOK, body)
}

func (s xFake) xLife() time.Duration {
	if s.options.TokenTTL > 0 {
		return s.options.TokenTTL
	}
	return xTokenTTL
}

// oauthError is an error of RFC 6749, which is returned with status 400.
type oauthError struct{ code, description string }

func (r oauthError) Error() string { return r.code + ": " + r.description }

func writeOAuthError(w http.ResponseWriter, err error) {
	if r, ok := err.(oauthError); ok { //nolint:errorlint // made above, never wrapped
		writeJSON(w, http.StatusBadRequest, oauthErrorBody{r.code, r.description})
		return
	}
	writeJSON(w, http.StatusInternalServerError, oauthErrorBody{"server_error", err.Error()})
}

func (s xFake) xRevoke(w http.ResponseWriter, r *http.Request) {
	if !xClient(w, r) {
		return
	}
	form, err := readForm(w, r)
	if err == nil {
		err = s.revoke(form.Get("token"))
	}
	if err != nil {
		writeOAuthError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"revoked": true})
}
