package fake

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// grant is an authorization code that was not exchanged yet.
type grant struct {
	clientID, redirectURI, challenge string
	accountID                        string
	scopes                           []string
	expires                          time.Time
}

func (s mastodonFake) createApp(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil || form.Get("client_name") == "" || form.Get("redirect_uris") == "" {
		writeJSON(w, http.StatusUnprocessableEntity, mastodonError{
			"Validation failed: Application name can't be blank, Redirect URI must be an absolute URI.",
		})
		return
	}
	a := app{
		ClientID:     rand.Text(),
		ClientSecret: rand.Text(),
		Name:         form.Get("client_name"),
		RedirectURIs: strings.Fields(form.Get("redirect_uris")),
		Scopes:       strings.Fields(form.Get("scopes")),
	}
	if len(a.Scopes) == 0 {
		a.Scopes = []string{"read"}
	}
	s.mu.Lock()
	err = s.commit(record{Kind: kindApp, App: &a})
	s.mu.Unlock()
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, mastodonError{err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "1", "name": a.Name, "website": form.Get("website"), "redirect_uris": a.RedirectURIs,
		"redirect_uri": form.Get("redirect_uris"), "client_id": a.ClientID, "client_secret": a.ClientSecret,
		"scopes": a.Scopes,
	})
}

// readForm decodes a body in either format that Mastodon accepts.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		err := r.ParseForm()
		return r.PostForm, err
	}
	var fields map[string]any
	if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
		return nil, err
	}
	form := url.Values{}
	flatten(form, fields, "%s")
	return form, nil
}

// flatten names nested values as Rack does: poll[options][].
func flatten(form url.Values, fields map[string]any, pattern string) {
	for field, value := range fields {
		name := fmt.Sprintf(pattern, field)
		switch v := value.(type) {
		case string:
			form.Set(name, v)
		case bool, float64:
			form.Set(name, fmt.Sprint(v))
		case map[string]any:
			flatten(form, v, name+"[%s]")
		case []any:
			for _, item := range v {
				if text, ok := item.(string); ok {
					form.Add(name+"[]", text)
				}
			}
		}
	}
}

// authorization validates the parameters of the authorize page.
func (s mastodonFake) authorization(form url.Values) (a app, problem string) {
	s.mu.Lock()
	found := s.state.apps[form.Get("client_id")]
	s.mu.Unlock()
	switch {
	case found == nil:
		return app{}, "Client authentication failed due to unknown client."
	case !slices.Contains(found.RedirectURIs, form.Get("redirect_uri")):
		return app{}, "The redirect uri included is not valid."
	case form.Get("response_type") != "code":
		return app{}, "The authorization server does not support this response type."
	case form.Get("code_challenge") != "" && form.Get("code_challenge_method") != "S256":
		return app{}, "The code challenge method must be S256."
	}
	for _, scope := range strings.Fields(form.Get("scope")) {
		general, _, _ := strings.Cut(scope, ":")
		if !slices.Contains(found.Scopes, scope) && !slices.Contains(found.Scopes, general) {
			return app{}, "The requested scope is invalid, unknown, or malformed."
		}
	}
	return *found, ""
}

func (s mastodonFake) showAuthorize(w http.ResponseWriter, r *http.Request) {
	form := r.URL.Query()
	a, problem := s.authorization(form)
	if problem != "" {
		refuseConsent(w, r, problem)
		return
	}
	accounts := s.persons("mastodon")
	if s.options.AutoApprove && len(accounts) > 0 {
		form.Set("account", accounts[0].ID)
		s.redirectWithCode(w, r, form, codeTTL)
		return
	}
	s.showConsent(w, r, form, a.Name, accounts, "/oauth/authorize")
}

// codeTTL is the lifetime of Doorkeeper's codes.
const codeTTL = 10 * time.Minute

func (s mastodonFake) approve(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil {
		refuseConsent(w, r, "The form cannot be read.")
		return
	}
	if _, problem := s.authorization(form); problem != "" {
		refuseConsent(w, r, problem)
		return
	}
	s.redirectWithCode(w, r, form, codeTTL)
}

func (s *Server) redirectWithCode(w http.ResponseWriter, r *http.Request, form url.Values, codeLife time.Duration) {
	back, err := url.Parse(form.Get("redirect_uri"))
	if err != nil {
		refuseConsent(w, r, "The redirect uri included is not valid.")
		return
	}
	query := back.Query()
	if state := form.Get("state"); state != "" {
		query.Set("state", state)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if form.Get("decision") == "deny" || s.state.accounts[form.Get("account")] == nil {
		query.Set("error", "access_denied")
		query.Set("error_description", "The resource owner or authorization server denied the request.")
	} else {
		code := rand.Text()
		s.state.issued = append(s.state.issued, code)
		s.codes[code] = grant{
			clientID: form.Get("client_id"), redirectURI: form.Get("redirect_uri"),
			challenge: form.Get("code_challenge"),
			accountID: form.Get("account"), scopes: scopesOf(form), expires: s.now().Add(codeLife),
		}
		query.Set("code", code)
	}
	back.RawQuery = query.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound) //nolint:gosec // the URI that the app registered, see authorization
}

// verified verifies the S256 code challenge (RFC 7636 §4.6).
func verified(challenge, verifier string) bool {
	if challenge == "" {
		return true
	}
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:]) == challenge
}
