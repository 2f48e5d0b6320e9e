package fake

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type oauthErrorBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// Doorkeeper's error messages (config/locales/doorkeeper.en.yml).
const (
	unsupportedGrant = "The authorization grant type is not supported by the authorization server."
	invalidClient    = "Client authentication failed due to unknown client, no client authentication included, or " +
		"unsupported authentication method."
	invalidGrant = "The provided authorization grant is invalid, expired, revoked, does not match the redirection " +
		"URI used in the authorization request, or was issued to another client."
)

// createToken exchanges a code, and with Options.TokenTTL also a refresh token.
func (s mastodonFake) createToken(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	kind := form.Get("grant_type")
	if err != nil || kind != "authorization_code" && (kind != "refresh_token" || s.options.TokenTTL == 0) {
		writeJSON(w, http.StatusBadRequest, oauthErrorBody{"unsupported_grant_type", unsupportedGrant})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.state.apps[form.Get("client_id")]
	if a == nil || subtle.ConstantTimeCompare([]byte(a.ClientSecret), []byte(form.Get("client_secret"))) != 1 {
		writeJSON(w, http.StatusUnauthorized, oauthErrorBody{"invalid_client", invalidClient})
		return
	}
	exchange := s.exchangeCode
	if kind == "refresh_token" {
		exchange = s.exchangeRefresh
	}
	t, err := exchange(form, a)
	if err == nil && t != nil {
		err = s.commit(record{Kind: kindToken, Token: t})
	}
	switch {
	case err != nil:
		writeJSON(w, http.StatusInternalServerError, mastodonError{err.Error()})
	case t == nil:
		writeJSON(w, http.StatusBadRequest, oauthErrorBody{"invalid_grant", invalidGrant})
	default:
		body := map[string]any{
			"access_token": t.Value, "token_type": "Bearer", "scope": strings.Join(t.Scopes, " "),
			"created_at": s.now().Unix(),
		}
		if t.Refresh != nil {
			body["refresh_token"], body["expires_in"] = t.Refresh.Value, int(s.options.TokenTTL/time.Second)
		}
		writeJSON(w, http.StatusOK, body)
	}
}

// exchangeCode returns no token for an invalid code. The caller must hold s.mu.
func (s mastodonFake) exchangeCode(form url.Values, a *app) (*token, error) {
	g, ok := s.takeCode(form.Get("code"), a.ClientID, form.Get("redirect_uri"), form.Get("code_verifier"))
	if !ok {
		return nil, nil
	}
	return s.newToken(token{AccountID: g.accountID, Scopes: g.scopes, App: a.Name}, a.ClientID, rand.Text()), nil
}

// exchangeRefresh returns the successor of an unused refresh token, and revokes
// the whole family of a used one (RFC 9700, 4.14.2: either the client or an
// attacker has a stolen one). The caller must hold s.mu.
func (s mastodonFake) exchangeRefresh(form url.Values, a *app) (*token, error) {
	old := s.state.refreshes[form.Get("refresh_token")]
	switch {
	case old == nil || old.Refresh.ClientID != a.ClientID:
		return nil, nil
	case old.Refresh.Used:
		return nil, s.commit(record{Kind: kindRevoke, ID: old.Refresh.Family})
	}
	if err := s.commit(record{Kind: kindUse, ID: old.Refresh.Value}); err != nil {
		return nil, err
	}
	return s.newToken(token{AccountID: old.AccountID, Scopes: old.Scopes, App: old.App}, a.ClientID,
		old.Refresh.Family), nil
}

func (s mastodonFake) newToken(t token, clientID, family string) *token {
	t.Value = rand.Text()
	if s.options.TokenTTL > 0 {
		t.Expires = s.now().Add(s.options.TokenTTL)
		t.Refresh = &refresh{Value: rand.Text(), Family: family, ClientID: clientID}
	}
	return &t
}

// revokeToken revokes a token. Revoking an unknown token is not an error (RFC
// 7009, 2.2).
func (s mastodonFake) revokeToken(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	s.mu.Lock()
	a := s.state.apps[form.Get("client_id")]
	s.mu.Unlock()
	if err != nil || a == nil ||
		subtle.ConstantTimeCompare([]byte(a.ClientSecret), []byte(form.Get("client_secret"))) != 1 {
		writeJSON(w, http.StatusForbidden, oauthErrorBody{
			"unauthorized_client", "You are not authorized to revoke this token",
		})
		return
	}
	if err := s.revoke(form.Get("token")); err != nil {
		writeJSON(w, http.StatusInternalServerError, mastodonError{err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{})
}
