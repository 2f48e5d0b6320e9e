package ghost_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/ghost"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func TestConnect_ChecksSiteAndKey(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	g, account, _ := sandbox(t, server)
	site := form(server, "desk")["site"].Reveal()
	if account.Name != "Sandbox News" || account.RemoteID != strings.TrimPrefix(site, "http://") ||
		account.Handle != account.RemoteID || account.AvatarURL == "" || account.Kind != network.KindPage {
		t.Errorf("got %+v, want the site", account)
	}
	for name, row := range map[string]struct {
		change             map[string]string
		class              network.Class
		field, code, words string
	}{
		"with a slash":    {change: map[string]string{"site": site + "/"}},
		"admin page":      {change: map[string]string{"site": site + "/ghost/#/dashboard"}},
		"spaces":          {change: map[string]string{"admin_key": " " + form(server, "desk")["admin_key"].Reveal() + "\n"}},
		"unknown key":     {map[string]string{"admin_key": anotherKey()}, network.Auth, "admin_key", "key_refused", "Integrations"},
		"another site's":  {map[string]string{"admin_key": form(server, "other")["admin_key"].Reveal()}, network.Auth, "admin_key", "key_refused", ""},
		"content key":     {map[string]string{"admin_key": strings.Repeat("0a", 13)}, network.Auth, "admin_key", "bad_admin_key", "Content"},
		"not hexadecimal": {map[string]string{"admin_key": "0a:" + strings.Repeat("xy", 32)}, network.Auth, "admin_key", "bad_admin_key", ""},
		"no key":          {map[string]string{"admin_key": " "}, network.Rejected, "admin_key", "missing", ""},
		"no site":         {map[string]string{"site": ""}, network.Rejected, "site", "bad_address", ""},
		"plain http":      {map[string]string{"site": "http://news.example"}, network.Rejected, "site", "bad_address", "https"},
		"with password":   {map[string]string{"site": "https://a:b@news.example"}, network.Rejected, "site", "bad_address", ""},
		"query":           {map[string]string{"site": "https://news.example/?p=1"}, network.Rejected, "site", "bad_address", ""},
		"no Ghost":        {map[string]string{"site": server.URL()}, network.Rejected, "site", "no_ghost", "/ghost/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := form(server, "desk")
			for field, value := range row.change {
				values[field] = secret.NewText(value)
			}
			found, err := g.ConnectForm(t.Context(), "", values)
			if row.code == "" {
				if err != nil || len(found) != 1 || found[0].BaseURL != account.BaseURL ||
					found[0].Token.Reveal() != account.Token.Reveal() {
					t.Errorf("got %+v, %v", found, err)
				}
				return
			}
			e := network.AsError(err)
			if e == nil || e.Class != row.class || e.Field != row.field || e.Code != row.code ||
				!strings.Contains(e.Message, row.words) {
				t.Errorf("got %+v, want %s of %s", e, row.code, row.field)
			}
		})
	}
}

// Ghost can have its admin pages at another address, to which the site redirects.
func TestConnect_FollowsTheSiteToItsAdminAddress(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	g, account, _ := sandbox(t, server)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, account.BaseURL+r.URL.Path, http.StatusMovedPermanently)
	}))
	t.Cleanup(site.Close)
	values := form(server, "desk")
	values["site"] = secret.NewText(site.URL)
	found, err := g.ConnectForm(t.Context(), "", values)
	if err != nil || len(found) != 1 || found[0].BaseURL != account.BaseURL {
		t.Errorf("got %+v, %v, want the address %s", found, err, account.BaseURL)
	}
}

// Users enter addresses, so that those of the operator's own network are refused.
func TestConnect_RefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	client, err := call.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"https://127.0.0.1", "https://10.0.0.8", "https://[::1]", "https://169.254.169.254", "https://localhost",
		"https://192.168.1.2:8080",
	} {
		_, err := ghost.New(client, ghost.Options{}).ConnectForm(t.Context(), "", map[string]secret.Text{
			"site": secret.NewText(address), "admin_key": secret.NewText(anotherKey()),
		})
		if e := network.AsError(err); e == nil || e.Class != network.NotSent || e.Field != "site" {
			t.Errorf("%s: got %v, want that nothing is sent", address, e)
		}
	}
}

// Every call has a token of its own, signed with the key (RFC 7519), for five minutes.
func TestCalls_AreSigned(t *testing.T) {
	t.Parallel()
	n := open(t)
	id, digits, _ := strings.Cut(n.account.Token.Reveal(), ":")
	token, isGhost := strings.CutPrefix(n.calls.login, "Ghost ")
	parts := strings.Split(token, ".")
	if !isGhost || len(parts) != 3 {
		t.Fatalf("got %q, want a token", n.calls.login)
	}
	var claims struct {
		Alg, Typ, Kid, Aud string
		Iat, Exp           int64
	}
	for _, part := range parts[:2] {
		raw, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || json.Unmarshal(raw, &claims) != nil {
			t.Fatalf("%q: %v", part, err)
		}
	}
	if claims.Alg != "HS256" || claims.Typ != "JWT" || claims.Kid != id || claims.Aud != "/admin/" ||
		time.Since(time.Unix(claims.Iat, 0)).Abs() > time.Minute || claims.Exp-claims.Iat != 300 {
		t.Errorf("got %+v", claims)
	}
	key, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(parts[0] + "." + parts[1]))
	if want := base64.RawURLEncoding.EncodeToString(mac.Sum(nil)); parts[2] != want {
		t.Errorf("got the signature %s, want %s", parts[2], want)
	}
}

// A clock that is behind makes every token too old, which the message says.
func TestCalls_WithAWrongClock(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{Clock: func() time.Time { return time.Now().Add(6 * time.Minute) }})
	g := ghost.New(platformtest.Client(t), ghost.Options{Sandbox: server.NetworkURL("ghost")})
	_, err := g.ConnectForm(t.Context(), "", form(server, "desk"))
	if e := network.AsError(err); e == nil || e.Class != network.Auth || e.Code != "clock_behind" {
		t.Errorf("got %v, want clock_behind", e)
	}
}

// Classes of the answers that were seen on Ghost 6.65.
func TestRefusals(t *testing.T) {
	t.Parallel()
	refused := func(kind, code string) string {
		return fmt.Sprintf(`{"errors":[{"message":"Said so.","context":"It did.","type":%q,"code":%q}]}`, kind, code)
	}
	for name, row := range map[string]struct {
		status  int
		body    string
		create  network.Class // of the draft; empty: it is looked for
		publish network.Class
		upload  network.Class
	}{
		"unknown key":     {401, refused("UnauthorizedError", "UNKNOWN_ADMIN_API_KEY"), network.Auth, network.Auth, network.Auth},
		"bad token":       {400, refused("BadRequestError", "INVALID_JWT"), network.Auth, network.Auth, network.Auth},
		"no header":       {403, refused("NoPermissionError", ""), network.Auth, network.Auth, network.Auth},
		"firewall":        {403, "<html>Forbidden</html>", network.Rejected, network.Rejected, network.Rejected},
		"validation":      {422, refused("ValidationError", ""), network.Rejected, network.Rejected, network.Rejected},
		"bad request":     {400, refused("BadRequestError", ""), network.Rejected, network.Rejected, network.Rejected},
		"throttled":       {429, refused("TooManyRequestsError", ""), network.Throttled, network.Throttled, network.Throttled},
		"too large":       {413, "<html>413</html>", network.Rejected, network.Rejected, network.Rejected},
		"type":            {415, refused("UnsupportedMediaTypeError", ""), network.Rejected, network.Rejected, network.Rejected},
		"slug exists":     {500, refused("InternalServerError", "UNEXPECTED_ERROR"), "", network.Ambiguous, network.Transient},
		"bad gateway":     {502, "<html>502</html>", "", network.Ambiguous, network.Transient},
		"maintenance":     {503, refused("MaintenanceError", ""), "", network.Ambiguous, network.Transient},
		"empty success":   {200, "", "", network.Ambiguous, network.Transient},
		"page of success": {200, "<html>Welcome</html>", "", network.Ambiguous, network.Transient},
		"no posts":        {200, `{"posts":[]}`, "", network.Ambiguous, network.Transient},
		"still a draft":   {200, `{"posts":[{"id":"5","status":"draft","slug":"x"}]}`, "", network.Ambiguous, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method != http.MethodGet:
					w.WriteHeader(row.status)
					_, _ = io.WriteString(w, row.body)
				case strings.HasSuffix(r.URL.Path, "/posts/5/"):
					_, _ = io.WriteString(w, `{"posts":[{"id":"5","status":"draft","updated_at":"m"}]}`)
				default:
					w.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(w, refused("NotFoundError", ""))
				}
			}))
			t.Cleanup(server.Close)
			g := ghost.New(platformtest.Client(t), ghost.Options{Finish: finish})
			account := network.Account{BaseURL: server.URL, Token: secret.NewText(anotherKey())}
			class := func(err error) network.Class {
				if err == nil {
					return ""
				}
				e := network.AsError(err)
				if e.Message == "" || strings.Contains(e.Error(), "1f1f") {
					t.Errorf("got %+v", e)
				}
				return e.Class
			}
			_, err := g.Publish(t.Context(), account, network.Submission{
				Key: "k", Text: "Tin", Handle: `{"slug":"s","id":"5","updated":"m"}`,
			})
			if got := class(err); got != row.publish {
				t.Errorf("Publish: got %s (%v), want %s", got, err, row.publish)
			}
			_, err = g.Stage(t.Context(), account, platformtest.NewImage(t, "image/png"))
			if got := class(err); got != row.upload {
				t.Errorf("Stage: got %s (%v), want %s", got, err, row.upload)
			}
			first, err := g.Prepare(t.Context(), account, network.Submission{Key: "k", Text: "Tin"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = g.Prepare(t.Context(), account, network.Submission{Key: "k", Text: "Tin", Handle: first.Handle})
			if got := class(err); got != row.create {
				t.Errorf("Prepare: got %s (%v), want %q", got, err, row.create)
			}
		})
	}
}
