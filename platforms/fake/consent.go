package fake

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/internal/infra/webpage"
	"dateline/platforms/network"
)

// consent serves the authorize page of networks whose applications are registered
// by hand. Any redirect address on this machine is valid for network.SandboxApp.
// GET shows the page, POST submits the user's decision. codeTTL is how long the
// code is valid.
func (s *Server) consent(f *fakeNetwork, codeLife time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form := r.URL.Query()
		if r.Method == http.MethodPost {
			submitted, err := readForm(w, r)
			if err != nil {
				refuseConsent(w, r, "The form cannot be read.")
				return
			}
			form = submitted
		}
		if problem := sandboxRequest(form); problem != "" {
			refuseConsent(w, r, problem)
			return
		}
		accounts := s.persons(f.name)
		if r.Method == http.MethodPost || s.options.AutoApprove && len(accounts) > 0 {
			if r.Method != http.MethodPost {
				form.Set("account", accounts[0].ID)
			}
			s.redirectWithCode(w, r, form, codeLife)
			return
		}
		s.showConsent(w, r, form, "Dateline", accounts, r.URL.Path)
	}
}

// sandboxRequest returns what is wrong with the parameters of an authorize page.
func sandboxRequest(form url.Values) string {
	redirect, err := url.Parse(form.Get("redirect_uri"))
	switch {
	case form.Get("client_id") != network.SandboxApp("", "").ClientID:
		return "The sandbox has no application with this client_id."
	case err != nil || redirect.Host == "" || redirect.Scheme != "https" && redirect.Scheme != "http":
		return "The redirect_uri is not a valid address."
	case form.Get("response_type") != "code":
		return "The response_type must be code."
	case form.Get("code_challenge") != "" && form.Get("code_challenge_method") != "S256":
		return "The code challenge method must be S256."
	}
	return ""
}

// persons lists the personal accounts of a network, which can log in.
func (s *Server) persons(network string) []Account {
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

// owned lists the pages, organizations or channels that an account can post as.
// The caller must hold s.mu.
func (s *Server) owned(owner string) []Account {
	var accounts []Account
	for _, a := range s.state.accountOrder {
		if a.OwnerID == owner {
			accounts = append(accounts, *a)
		}
	}
	return accounts
}

func (s *Server) showConsent(
	w http.ResponseWriter, r *http.Request, form url.Values, app string, accounts []Account, action string,
) {
	look := webpage.PreferencesOf(r)
	say := func(en, vi string, args ...any) string { return look.Translate(webpage.Text{EN: en, VI: vi}, args...) }
	page := webpage.Page{
		Title: say("Allow %s to use a sandbox account?", "Cho phép %s dùng một tài khoản của mạng thử nghiệm?", app),
	}
	if len(accounts) == 0 {
		page.Texts = []string{
			say("The sandbox has no accounts yet. Add one first.",
				"Mạng thử nghiệm chưa có tài khoản nào: hãy thêm tài khoản trước."),
		}
	}
	var err error
	page.Body, err = look.Body(authorizeHTML, map[string]any{
		"Scopes": scopesOf(form), "Accounts": accounts, "Form": form, "Action": action,
		"ScopesLabel": say("Requested permissions:", "Ứng dụng yêu cầu các quyền:"),
		"As":          say("As", "Với tài khoản"), "Allow": say("Allow", "Cho phép"), "Deny": say("Deny", "Từ chối"),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// Browsers apply form-action also to the redirect that follows the form.
	back, _ := url.Parse(form.Get("redirect_uri"))
	showPage(w, look, http.StatusOK, "'self' "+back.Scheme+"://"+back.Host, page)
}

// refuseConsent shows why access cannot be granted.
func refuseConsent(w http.ResponseWriter, r *http.Request, problem string) {
	look := webpage.PreferencesOf(r)
	showPage(w, look, http.StatusBadRequest, "'none'", webpage.Page{
		Title: look.Translate(webpage.Text{
			EN: "This request cannot be approved",
			VI: "Không thể cho phép yêu cầu này",
		}), Error: problem,
	})
}

func showPage(w http.ResponseWriter, look webpage.Preferences, status int, formAction string, page webpage.Page) {
	page.Brand = "Dateline Sandbox"
	text, err := look.HTML(page)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src "+webpage.StyleSource()+
		"; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action "+formAction)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client may have disconnected
}

// scopesOf parses a list of scopes, which networks separate with spaces or
// commas.
func scopesOf(form url.Values) []string {
	return strings.FieldsFunc(form.Get("scope"), func(r rune) bool { return r == ' ' || r == ',' })
}

// takeCode returns what a code was issued for, once. The caller must hold s.mu.
func (s *Server) takeCode(code, clientID, redirectURI, verifier string) (grant, bool) {
	g, ok := s.codes[code]
	delete(s.codes, code) // a code works once, whatever the result
	return g, ok && g.clientID == clientID && g.redirectURI == redirectURI && !s.now().After(g.expires) &&
		verified(g.challenge, verifier)
}

// sandboxClient reports whether a request has the credentials of the sandbox's
// application.
func sandboxClient(id, clientSecret string) bool {
	app := network.SandboxApp("", "")
	return id == app.ClientID && clientSecret == app.ClientSecret.Reveal()
}

// issue stores a token with a new value. lifetime 0: no expiry. With a
// refreshFamily it also gets a refresh token.
func (s *Server) issue(t token, ttl time.Duration, refreshFamily string) (token, error) {
	t.Value = rand.Text()
	if ttl > 0 {
		t.Expires = s.now().Add(ttl)
	}
	if refreshFamily != "" {
		t.Refresh = &refresh{Value: rand.Text(), Family: refreshFamily, ClientID: network.SandboxApp("", "").ClientID}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := t
	return t, s.commit(record{Kind: kindToken, Token: &stored})
}

// revoke revokes a token and all others of the same authorization.
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

// allowed reports whether a caller has a scope.
func (c caller) allowed(scope string) bool {
	general, _, _ := strings.Cut(scope, ":")
	if slices.Contains(c.denied, scope) {
		return false
	}
	return slices.Contains(c.scopes, scope) || slices.Contains(c.scopes, general) || slices.Contains(c.scopes, "*")
}
