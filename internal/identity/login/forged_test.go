package login_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
)

// forger is a provider with configurable responses. By default they are valid, and
// every user is Ann.
type forger struct {
	url string
	key *rsa.PrivateKey

	mu       sync.Mutex
	claims   func(map[string]any)                          // changes the ID token
	sign     func(claims string) string                    // signs it
	userinfo map[string]any                                // the response of its userinfo endpoint
	callback func(url.Values)                              // changes the redirect to the callback
	discover func(http.ResponseWriter) bool                // responds instead of the provider
	metadata map[string]any                                // changes its discovery document
	token    func(http.ResponseWriter, *http.Request) bool // responds instead of the provider
	nonces   map[string]string                             // by code
}

func forge(t *testing.T) *forger {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{key: key, nonces: map[string]string{}}
	mux := http.NewServeMux()
	keys := &oidctest.Server{
		PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "1", Algorithm: "RS256"}},
	}
	mux.Handle("GET /keys", keys)
	mux.HandleFunc("GET /.well-known/openid-configuration", f.serveMetadata)
	mux.HandleFunc("GET /auth", f.serveAuth)
	mux.HandleFunc("POST /token", f.serveToken)
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, _ *http.Request) { answer(w, f.userinfo) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	keys.SetIssuer(f.url)
	f.reset()
	return f
}

// set changes the forger's responses.
func (f *forger) set(change func(*forger)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reset()
	change(f)
}

func (f *forger) reset() {
	f.claims, f.callback = func(map[string]any) {}, func(url.Values) {}
	f.sign = func(claims string) string { return oidctest.SignIDToken(f.key, "1", "RS256", claims) }
	f.discover, f.token, f.userinfo, f.metadata = nil, nil, nil, nil
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func (f *forger) serveMetadata(w http.ResponseWriter, _ *http.Request) {
	if f.discover != nil && f.discover(w) {
		return
	}
	said := map[string]any{
		"issuer": f.url, "authorization_endpoint": f.url + "/auth",
		"token_endpoint": f.url + "/token", "jwks_uri": f.url + "/keys",
		"userinfo_endpoint": f.url + "/me", "id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
	}
	for name, value := range f.metadata {
		said[name] = value
	}
	answer(w, said)
}

func (f *forger) serveAuth(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	code := fmt.Sprintf("code-%d", len(f.nonces))
	f.nonces[code] = q.Get("nonce")
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	f.callback(back)
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
}

func (f *forger) serveToken(w http.ResponseWriter, r *http.Request) {
	if f.token != nil && f.token(w, r) {
		return
	}
	claims := map[string]any{
		"iss": f.url, "sub": "ann", "aud": "dateline", "nonce": f.nonces[r.PostFormValue("code")],
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(), "email": "ann@news.example",
		"email_verified": true,
	}
	f.claims(claims)
	raw, _ := json.Marshal(claims)
	answer(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": f.sign(string(raw))})
}

func (f *forger) provider(string) *login.Provider {
	return &login.Provider{
		Issuer: f.url, ClientID: "dateline", ClientSecret: secret.NewText(clientSecret),
		Scopes: []string{"openid", "email"}, Label: "the forger",
	}
}

// unsigned is a token with the algorithm none.
func unsigned(claims string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(claims)) + "."
}

func TestOIDC_RejectsForgedResponses(t *testing.T) {
	f := forge(t)
	s := open(t, f.provider)
	s.invite("ann@news.example", "author")
	s.browser().open("/login/oidc").want(http.StatusOK, "the dashboard") // by default its responses are valid
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	s.Must(err)
	claim := func(name string, value any) func(*forger) {
		return func(f *forger) { f.claims = func(c map[string]any) { c[name] = value } }
	}
	sign := func(sign func(claims string) string) func(*forger) { return func(f *forger) { f.sign = sign } }
	for name, change := range map[string]func(*forger){
		"another nonce":    claim("nonce", "another"),
		"no nonce":         claim("nonce", ""),
		"another audience": claim("aud", "another"),
		"many audiences":   claim("aud", []string{"dateline", "another"}),
		"another party":    claim("azp", "another"),
		"another issuer":   claim("iss", "https://login.example"),
		"expired":          claim("exp", time.Now().Add(-time.Minute).Unix()),
		"no subject":       claim("sub", ""),
		"a broken subject": claim("sub", "a\x00b"),
		"a long subject":   claim("sub", strings.Repeat("a", 256)),
		"another key":      sign(func(c string) string { return oidctest.SignIDToken(other, "1", "RS256", c) }),
		"an unknown key":   sign(func(c string) string { return oidctest.SignIDToken(other, "2", "RS256", c) }),
		"no signature":     sign(unsigned),
		"a changed claim": sign(func(c string) string {
			parts := strings.Split(oidctest.SignIDToken(f.key, "1", "RS256", c), ".")
			parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(c, `"sub":"ann"`, `"sub":"bob"`, 1)))
			return strings.Join(parts, ".")
		}),
		"no ID token": sign(func(string) string { return "" }),
		"no JWT":      sign(func(string) string { return "a.b.c" }),
		"another answerer": func(f *forger) {
			f.callback = func(q url.Values) { q.Set("iss", "https://login.example") }
		},
		"no code": func(f *forger) { f.callback = func(q url.Values) { q.Del("code") } },
		"an error too": func(f *forger) {
			f.callback = func(q url.Values) { q.Set("error", "server_error\nlevel=INFO msg=planted") }
		},
		"another user's page": func(f *forger) {
			f.claims = func(c map[string]any) { delete(c, "email") }
			f.userinfo = map[string]any{"sub": "bob", "email": "ann@news.example", "email_verified": true}
		},
		"a token endpoint that redirects": func(f *forger) {
			f.token = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Query().Has("again") {
					return false
				}
				http.Redirect(w, r, f.url+"/token?again", http.StatusTemporaryRedirect)
				return true
			}
		},
		"a token endpoint that returns secrets": func(f *forger) {
			f.token = func(w http.ResponseWriter, r *http.Request) bool {
				w.WriteHeader(http.StatusBadRequest)
				answer(w, map[string]string{
					"error": "bad " + r.PostFormValue("code"), "error_description": r.PostFormValue("code_verifier"),
				})
				return true
			}
		},
	} {
		f.set(change)
		s.advance(10 * time.Second) // otherwise there are too many attempts
		b := s.browser()
		b.open("/login/oidc").want(http.StatusForbidden, "Login refused")
		if b.loggedIn() {
			t.Errorf("%s: logged in", name)
		}
	}
	if n := s.Count("select count(*) from sessions"); n != 1 {
		t.Errorf("%d sessions, want only the first", n)
	}
	for _, secret := range []string{"msg=planted\n", "bad code", "code_verifier", clientSecret} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log contains %q:\n%s", secret, s.log)
		}
	}
}

func TestOIDC_RequiresAVerifiedEmail(t *testing.T) {
	f := forge(t)
	s := open(t, f.provider)
	s.invite("ann@news.example", "author")
	for name, change := range map[string]func(map[string]any){
		"not verified":        func(c map[string]any) { c["email_verified"] = false },
		"says nothing":        func(c map[string]any) { delete(c, "email_verified") },
		"says it in words":    func(c map[string]any) { c["email_verified"] = "yes" },
		"says it in a number": func(c map[string]any) { c["email_verified"] = 1 },
		// The ID token says verified, the userinfo endpoint says which address
		"another's word": func(c map[string]any) { delete(c, "email") },
	} {
		f.set(func(f *forger) {
			f.claims = change
			f.userinfo = map[string]any{"sub": "ann", "email": "ann@news.example"}
		})
		b := s.browser()
		b.open("/login/oidc").want(http.StatusForbidden, "not verified")
		if b.loggedIn() {
			t.Errorf("%s: logged in", name)
		}
	}
	// In the format of AWS Cognito
	f.set(func(f *forger) { f.claims = func(c map[string]any) { c["email_verified"] = "true" } })
	s.browser().open("/login/oidc").want(http.StatusOK, "the dashboard")
}

// The issuer has to be identical to what the provider says (OpenID Connect Discovery 1.0,
// 4.3): waiting does not help, so the page does not say so, and the check names it.
func TestOIDC_NamesTheIssuerToSet(t *testing.T) {
	f := forge(t)
	for _, suffix := range []string{
		"/", "//", "/.well-known/openid-configuration",
		"/.well-known/openid-configuration/",
	} {
		var provider *login.Provider
		s := open(t, func(redirect string) *login.Provider {
			provider = f.provider(redirect)
			provider.Issuer += suffix
			return provider
		})
		var issuer *login.IssuerError
		if err := provider.Check(t.Context()); !errors.As(err, &issuer) || issuer.Announced != f.url {
			t.Errorf("%s: got %v, want the issuer %s", suffix, err, f.url)
		}
		p := s.browser().open("/login/oidc")
		p.want(http.StatusServiceUnavailable, "dateline doctor")
		if strings.Contains(p.body, "Try again") {
			t.Errorf("%s: the page promises that waiting helps", suffix)
		}
	}
	// The provider's own issuer may end with a slash.
	f.set(func(f *forger) { f.metadata = map[string]any{"issuer": f.url + "/"} })
	provider := f.provider("")
	provider.Issuer += "/"
	if err := provider.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOIDC_RetriesAnUnavailableProvider(t *testing.T) {
	f := forge(t)
	s := open(t, f.provider)
	s.invite("ann@news.example", "author")
	for name, discover := range map[string]func(w http.ResponseWriter) bool{
		"broken": func(w http.ResponseWriter) bool {
			http.Error(w, strings.Repeat("x", 1000), http.StatusBadGateway)
			return true
		},
		"redirects": func(w http.ResponseWriter) bool {
			w.Header().Set("Location", f.url+"/elsewhere")
			w.WriteHeader(http.StatusFound)
			return true
		},
		"endless": func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			for range 3 << 10 {
				_, _ = w.Write([]byte(strings.Repeat(" ", 1<<10)))
			}
			return false
		},
	} {
		f.set(func(f *forger) { f.discover = discover })
		b := s.browser()
		b.open("/login").want(http.StatusOK, "Log in with the forger")
		b.open("/login/oidc").want(http.StatusServiceUnavailable, "not possible right now")
		if b.cookie("dateline-login") != "" {
			t.Errorf("%s: an attempt was started", name)
		}
	}
	if strings.Contains(s.log.String(), strings.Repeat("x", 500)) {
		t.Error("the log contains the complete response")
	}
	f.set(func(*forger) {})
	s.browser().open("/login/oidc").want(http.StatusOK, "the dashboard")
}

// A provider that announces the iss parameter must send it (RFC 9207, 2.4).
func TestOIDC_RequiresThePromisedIssuer(t *testing.T) {
	f := forge(t)
	s := open(t, f.provider)
	s.invite("ann@news.example", "author")
	f.set(func(f *forger) { f.metadata = map[string]any{"authorization_response_iss_parameter_supported": true} })
	s.browser().open("/login/oidc").want(http.StatusForbidden, "Login refused")
	f.set(func(f *forger) { f.callback = func(q url.Values) { q.Set("iss", f.url) } })
	s.browser().open("/login/oidc").want(http.StatusOK, "the dashboard")
}

func TestOIDC_ClientAuthenticationMethods(t *testing.T) {
	for name, c := range map[string]struct {
		methods []string
		header  bool
	}{
		"nothing said": {nil, true}, "both": {[]string{"client_secret_post", "client_secret_basic"}, true},
		"post": {[]string{"client_secret_post"}, false},
	} {
		f := forge(t)
		var id, password, form string
		var header bool
		s := open(t, f.provider)
		s.invite("ann@news.example", "author")
		f.set(func(f *forger) {
			if c.methods != nil {
				f.metadata = map[string]any{"token_endpoint_auth_methods_supported": c.methods}
			}
			f.token = func(_ http.ResponseWriter, r *http.Request) bool {
				id, password, header = r.BasicAuth()
				form = r.PostFormValue("client_secret")
				return false
			}
		})
		s.browser().open("/login/oidc").want(http.StatusOK, "the dashboard")
		if header != c.header || (header && (id != "dateline" || password != url.QueryEscape(clientSecret))) ||
			(!header && form != clientSecret) {
			t.Errorf("%s: header %v %q %q, form %q", name, header, id, password, form)
		}
	}
}
