package fake

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"
)

// xTokenTTL is what X says of its access tokens.
const xTokenTTL = 2 * time.Hour

// How X words refusals; it has no invalid_grant.
const (
	xBadCode   = "Value passed for the authorization code was invalid."
	xBadToken  = "Value passed for the token was invalid."
	xBadClient = "Missing valid authorization header"
)

// xClient answers 401 to whoever is not the sandbox's application, which is a
// confidential client.
func xClient(w http.ResponseWriter, r *http.Request) bool {
	id, clientSecret, ok := r.BasicAuth()
	if !ok || !sandboxClient(id, clientSecret) {
		writeJSON(w, http.StatusUnauthorized, oauthErrorBody{"unauthorized_client", xBadClient})
		return false
	}
	return true
}

// xToken returns a pair for a code, or for a refresh token that is then used up.
// https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token
func (s *Server) xToken(w http.ResponseWriter, r *http.Request) {
	if !xClient(w, r) {
		return
	}
	form, err := readForm(w, r)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, oauthErrorBody{"invalid_request", "The body cannot be read."})
		return
	}
	client, _, _ := r.BasicAuth()
	var made token
	family := rand.Text()
	s.mu.Lock()
	switch form.Get("grant_type") {
	case "authorization_code":
		g, ok := s.takeCode(form.Get("code"), client, form.Get("redirect_uri"), form.Get("code_verifier"))
		if !ok || g.challenge == "" {
			err = oauthError{"invalid_request", xBadCode}
			break
		}
		made = token{AccountID: g.accountID, Scopes: g.scopes, App: "Dateline"}
	case "refresh_token":
		old := s.state.refreshes[form.Get("refresh_token")]
		if old == nil || old.Refresh.Used || s.state.accounts[old.AccountID].network() != "x" {
			err = oauthError{"invalid_request", xBadToken}
			break
		}
		made, family = token{AccountID: old.AccountID, Scopes: old.Scopes, App: old.App}, old.Refresh.Family
		err = s.commit(record{Kind: kindUse, ID: old.Refresh.Value})
	default:
		err = oauthError{"unsupported_grant_type", "Value passed for the grant type was invalid."}
	}
	s.mu.Unlock()
	if err == nil {
		if !slices.Contains(made.Scopes, "offline.access") {
			family = ""
		}
		made, err = s.issue(made, s.xLife(), family)
	}
	if err != nil {
		writeOAuthError(w, err)
		return
	}
	answer := map[string]any{
		"token_type": "bearer", "expires_in": int(s.xLife() / time.Second), "access_token": made.Value, "scope": strings.Join(made.Scopes, " "),
	}
	if made.Refresh != nil {
		answer["refresh_token"] = made.Refresh.Value
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *Server) xLife() time.Duration {
	if s.options.TokenTTL > 0 {
		return s.options.TokenTTL
	}
	return xTokenTTL
}

// oauthError is an error of RFC 6749, which a response of status 400 tells.
type oauthError struct{ code, description string }

func (r oauthError) Error() string { return r.code + ": " + r.description }

func writeOAuthError(w http.ResponseWriter, err error) {
	if r, ok := err.(oauthError); ok { //nolint:errorlint // made above, never wrapped
		writeJSON(w, http.StatusBadRequest, oauthErrorBody{r.code, r.description})
		return
	}
	writeJSON(w, http.StatusInternalServerError, oauthErrorBody{"server_error", err.Error()})
}

func (s *Server) xRevoke(w http.ResponseWriter, r *http.Request) {
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
