package fake

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/platforms/network"
)

// consent serves the page on which a person allows access at a network whose
// applications are set up by hand: any redirect address on this machine is good
// for network.SandboxApp. It answers GET, which shows the page, and POST, which
// is the person's answer. codeLife is how long the code is good.
func (s *Server) consent(f *face, codeLife time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form := r.URL.Query()
		if r.Method == http.MethodPost {
			answered, err := readForm(w, r)
			if err != nil {
				http.Error(w, "The form cannot be read.", http.StatusBadRequest)
				return
			}
			form = answered
		}
		if problem := sandboxRequest(form); problem != "" {
			http.Error(w, problem, http.StatusBadRequest)
			return
		}
		accounts := s.people(f.network)
		if r.Method == http.MethodPost || s.options.AutoApprove && len(accounts) > 0 {
			if r.Method != http.MethodPost {
				form.Set("account", accounts[0].ID)
			}
			s.redirectWithCode(w, r, form, codeLife)
			return
		}
		s.showConsent(w, form, "Dateline", accounts, r.URL.Path)
	}
}

// sandboxRequest gives what is wrong with the parameters of a consent page.
func sandboxRequest(form url.Values) string {
	redirect, err := url.Parse(form.Get("redirect_uri"))
	switch {
	case form.Get("client_id") != network.SandboxApp("", "").ClientID:
		return "There is no application of this client_id in the sandbox."
	case err != nil || redirect.Host == "" || redirect.Scheme != "https" && redirect.Scheme != "http":
		return "The redirect_uri is no address."
	case form.Get("response_type") != "code":
		return "The response_type must be code."
	case form.Get("code_challenge") != "" && form.Get("code_challenge_method") != "S256":
		return "The code challenge method must be S256."
	}
	return ""
}

// people lists the accounts of a network that can log in: those that nobody owns.
func (s *Server) people(network string) []Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	var accounts []Account
	for _, a := range s.state.accountOrder {
		if a.network() == network && a.OwnerID == "" {
			accounts = append(accounts, *a)
		}
	}
	return accounts
}

// owned lists what an account may post as besides itself: its pages,
// organisations, channels. The caller holds s.mu.
func (s *Server) owned(owner string) []Account {
	var accounts []Account
	for _, a := range s.state.accountOrder {
		if a.OwnerID == owner {
			accounts = append(accounts, *a)
		}
	}
	return accounts
}

func (s *Server) showConsent(w http.ResponseWriter, form url.Values, app string, accounts []Account, action string) {
	// Browsers hold the redirect that follows the form to form-action as well.
	back, _ := url.Parse(form.Get("redirect_uri"))
	nonce := rand.Text()
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' "+back.Scheme+"://"+back.Host)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = s.pages.ExecuteTemplate(w, "authorize", map[string]any{
		"App": app, "Scopes": scopesOf(form), "Accounts": accounts, "Form": form, "Nonce": nonce, "Action": action,
	})
}

// scopesOf reads a list that networks write with spaces or commas between.
func scopesOf(form url.Values) []string {
	return strings.FieldsFunc(form.Get("scope"), func(r rune) bool { return r == ' ' || r == ',' })
}

// takeCode gives what a code was made for, once. The caller holds s.mu.
func (s *Server) takeCode(code, clientID, redirectURI, verifier string) (grant, bool) {
	g, ok := s.codes[code]
	delete(s.codes, code) // a code works once, whatever comes of it
	return g, ok && g.clientID == clientID && g.redirectURI == redirectURI && !s.now().After(g.expires) && verified(g.challenge, verifier)
}

// sandboxClient says whether a request knows the sandbox's application.
func sandboxClient(id, clientSecret string) bool {
	app := network.SandboxApp("", "")
	return id == app.ClientID && clientSecret == app.ClientSecret.Reveal()
}

// issue keeps a token, made anew, of an account. life 0 is for ever; with a
// refreshFamily it comes with a refresh token of it.
func (s *Server) issue(t token, life time.Duration, refreshFamily string) (token, error) {
	t.Value = rand.Text()
	if life > 0 {
		t.Expires = s.now().Add(life)
	}
	if refreshFamily != "" {
		t.Refresh = &refresh{Value: rand.Text(), Family: refreshFamily, ClientID: network.SandboxApp("", "").ClientID}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := t
	return t, s.commit(record{Kind: kindToken, Token: &stored})
}

// revoke ends a token, and all that came of the same authorization.
func (s *Server) revoke(value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.state.tokens[value]
	if t == nil {
		t = s.state.refreshes[value]
	}
	switch {
	case t == nil:
		return nil
	case t.Refresh != nil:
		return s.commit(record{Kind: kindRevoke, ID: t.Refresh.Family})
	default:
		return s.commit(record{Kind: kindEnd, ID: value})
	}
}

// allowed says whether a caller has a scope.
func (c caller) allowed(scope string) bool {
	general, _, _ := strings.Cut(scope, ":")
	return slices.Contains(c.scopes, scope) || slices.Contains(c.scopes, general) || slices.Contains(c.scopes, "*")
}
