package fake

import (
	"net/http"
	"strings"
	"time"
)

// graphGrants are the token endpoints of one of Meta's networks.
type graphGrants struct {
	network *fakeNetwork
	// wrong writes the response to an invalid code.
	wrong func(w http.ResponseWriter)
	// exchange and refresh are values of grant_type.
	exchange, refresh string
	// permissions means that the first response lists the granted scopes.
	permissions bool
}

const (
	graphShortLivedTTL = time.Hour
	graphLongLivedTTL  = 60 * 24 * time.Hour
	graphMinRefreshAge = 24 * time.Hour

	graphShort = "short-lived" // in place of an app's name: a token that can be exchanged
)

// routeGrants adds the authorize page and the three token endpoints.
// https://developers.facebook.com/docs/instagram-platform/reference/access_token
// https://developers.facebook.com/docs/threads/get-started/long-lived-tokens
func (s graphFake) routeGrants(mux *http.ServeMux, g graphGrants) {
	prefix := g.network.prefix
	mux.HandleFunc("GET "+prefix+"/oauth/authorize", s.consent(g.network, time.Hour))
	mux.HandleFunc("POST "+prefix+"/oauth/authorize", s.consent(g.network, time.Hour))
	mux.HandleFunc("POST "+prefix+"/oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		s.graphExchangeCode(w, r, g)
	})
	mux.HandleFunc("GET "+prefix+"/access_token",
		s.authenticatedFor(g.network, func(w http.ResponseWriter, r *http.Request, c caller) {
			query := r.URL.Query()
			switch {
			case query.Get("grant_type") != g.exchange:
				graphInvalid(w, "Unsupported grant type")
			case !sandboxClient("dateline-sandbox", query.Get("client_secret")):
				refuseGraph(w, http.StatusBadRequest, graphError{Message: "Error validating client secret.", Code: 1})
			case c.app != graphShort:
				refuseGraph(w, http.StatusBadRequest, graphError{
					Message: "Session key invalid. This could be because the session key has an incorrect format, or " +
						"because the user has revoked this session", Code: 452,
				})
			default:
				s.graphLongLivedToken(w, c)
			}
		}))
	mux.HandleFunc("GET "+prefix+"/refresh_access_token",
		s.authenticatedFor(g.network, func(w http.ResponseWriter, r *http.Request, c caller) {
			s.mu.Lock()
			t := *s.state.tokens[graphToken(r)]
			s.mu.Unlock()
			switch {
			case r.URL.Query().Get("grant_type") != g.refresh:
				graphInvalid(w, "Unsupported grant type")
			case c.app == graphShort, !t.Expires.IsZero() &&
				s.now().Before(t.Expires.Add(graphMinRefreshAge-graphLongLivedTTL)):
				refuseGraph(w, http.StatusBadRequest, graphError{
					Message: "The access token cannot be refreshed yet: it must be long-lived and at least " +
						"24 hours old", Code: 10,
				})
			default:
				s.graphLongLivedToken(w, c)
			}
		}))
}

// graphExchangeCode exchanges a code for a token that lasts an hour.
func (s graphFake) graphExchangeCode(w http.ResponseWriter, r *http.Request, g graphGrants) {
	form, err := readForm(w, r)
	if err != nil || form.Get("grant_type") != "authorization_code" ||
		!sandboxClient(form.Get("client_id"), form.Get("client_secret")) {
		g.wrong(w)
		return
	}
	s.mu.Lock()
	// Instagram's redirects add a fragment, which is not part of the code.
	granted, ok := s.takeCode(strings.TrimSuffix(form.Get("code"), "#_"), form.Get("client_id"),
		form.Get("redirect_uri"), "")
	s.mu.Unlock()
	if !ok {
		g.wrong(w)
		return
	}
	t, err := s.issue(token{AccountID: granted.accountID, Scopes: granted.scopes, App: graphShort}, graphShortLivedTTL,
		"")
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	body := map[string]any{"access_token": t.Value, "user_id": granted.accountID}
	if g.permissions {
		body["permissions"] = granted.scopes
	}
	writeJSON(w, http.StatusOK, body)
}

// graphLongLivedToken issues a token that lasts 60 days. The old one stays valid.
func (s graphFake) graphLongLivedToken(w http.ResponseWriter, c caller) {
	ttl := graphLongLivedTTL
	if s.options.TokenTTL > 0 {
		ttl = s.options.TokenTTL
	}
	t, err := s.issue(token{AccountID: c.account.ID, Scopes: c.scopes, App: "Dateline"}, ttl, "")
	if err != nil {
		refuseGraphStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": t.Value, "token_type": "bearer", "expires_in": int(ttl / time.Second),
	})
}
