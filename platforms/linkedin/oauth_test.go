package linkedin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/linkedin"
	"dateline/platforms/network"
)

func TestAccounts_MemberAndOrganization(t *testing.T) {
	n := startFake(t, fake.Options{AutoApprove: true})
	l := n.adapter()
	app, err := l.Register(t.Context(), n.base, redirectURI)
	if err != nil {
		t.Fatal(err)
	}
	account, err := l.Exchange(t.Context(), app, n.approve(t, l.AuthorizeURL(app, "s", "c")).Get("code"), "v")
	if err != nil {
		t.Fatal(err)
	}
	// Apps outside of partner programs get 60 days and no refresh token.
	if days := time.Until(account.TokenExpiresAt).Hours() / 24; days < 59.9 || days > 60 ||
		!account.RefreshToken.Empty() || !slices.Contains(account.Scopes, "w_organization_social") {
		t.Errorf("account %+v", account)
	}
	found, err := l.Accounts(t.Context(), account)
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if m := found[0]; m.RemoteID != n.member.RemoteID || m.Kind != network.KindPerson || m.Name != "Desk" {
		t.Errorf("member %+v", m)
	}
	if o := found[1]; o.RemoteID != n.organization.RemoteID || o.Kind != network.KindOrganization ||
		o.Name != "Dateline" || o.Handle != "linkedin.com/company/dateline" {
		t.Errorf("organization %+v", o)
	}
	_, err = l.Refresh(t.Context(), app, found[0])
	if e := network.AsError(err); e == nil || e.Class != network.Auth {
		t.Errorf("renewed without a token: %v", err)
	}
	found[0].RefreshToken = secret.NewText("made-up")
	_, err = l.Refresh(t.Context(), app, found[0])
	if e := network.AsError(err); e == nil || e.Class != network.Auth || strings.Contains(e.Error(), "made-up") {
		t.Errorf("renewed with a made-up token: %v", err)
	}
	if err := n.server.Inject(fake.Fault{
		Kind: fake.Status, Status: 503,
		Path: "/linkedin/oauth/v2/accessToken",
	}); err != nil {
		t.Fatal(err)
	}
	_, err = l.Refresh(t.Context(), app, found[0])
	if e := network.AsError(err); e == nil || e.Class != network.Transient {
		t.Errorf("a network error is no disconnect: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	options := linkedin.Options{
		ClientID: "id", ClientSecret: secret.NewText("s"), Sandbox: "http://127.0.0.1:8090/linkedin",
	}
	l := linkedin.New(http.DefaultClient, options)
	app, err := l.Register(t.Context(), "", redirectURI)
	if err != nil || app.ClientID != "id" || app.BaseURL != "" {
		t.Fatalf("%+v, %v", app, err)
	}
	u, err := url.Parse(l.AuthorizeURL(app, "s t", "c"))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Host != "www.linkedin.com" {
		t.Errorf("u.Host: got %q, want %q", u.Host, "www.linkedin.com")
	}
	if u.Path != "/oauth/v2/authorization" {
		t.Errorf("u.Path: got %q, want %q", u.Path, "/oauth/v2/authorization")
	}
	if q.Get("scope") != "openid profile w_member_social" {
		t.Errorf("q.Get(\"scope\"): got %q, want %q", q.Get("scope"), "openid profile w_member_social")
	}
	if q.Get("state") != "s t" {
		t.Errorf("q.Get(\"state\"): got %q, want %q", q.Get("state"), "s t")
	}
	if q.Has("code_challenge") {
		t.Errorf("authorize at %s", u)
	}
	options.PKCE, options.Organizations = true, true
	u, err = url.Parse(linkedin.New(http.DefaultClient, options).AuthorizeURL(app, "s", "c"))
	if err != nil || u.Query().Get("code_challenge") != "c" || u.Path != "/oauth/native-pkce/authorization" ||
		!strings.Contains(u.Query().Get("scope"), "w_organization_social") {
		t.Errorf("authorize at %s, %v", u, err)
	}
	for _, bad := range []string{"https://linkedin.com", "http://127.0.0.1:8090/linkedin/", "x"} {
		if _, err := l.Limits(t.Context(), network.Account{BaseURL: bad}); network.AsError(err).Code != "bad_address" {
			t.Errorf("%q was accepted: %v", bad, err)
		}
		if _, err := l.Publish(t.Context(), network.Account{BaseURL: bad},
			network.Submission{Text: "t"}); network.AsError(err).Code != "bad_address" {
			t.Errorf("%q was accepted: %v", bad, err)
		}
	}
	if _, err := linkedin.New(http.DefaultClient, linkedin.Options{}).Register(t.Context(), "",
		redirectURI); network.AsError(err).Code != network.CodeNotConfigured {
		t.Errorf("%v", err)
	}
}

// A wrong client id or secret is the operator's fault: no account has to be reconnected.
func TestRefresh_WrongApplicationIsNoDisconnect(t *testing.T) {
	for name, row := range map[string]struct {
		fault fake.Fault
		class network.Class
		code  string
	}{
		"invalid_client, 401": {
			fake.Fault{Status: 401, Body: `{"error":"invalid_client"}`},
			network.Rejected,
			"bad_client",
		},
		"invalid_client, 400": {
			fake.Fault{
				Status: 400,
				Body:   `{"error":"invalid_client","error_description":"Client authentication failed"}`,
			},
			network.Rejected, "bad_client",
		},
		"unauthorized_client": {
			fake.Fault{Status: 400, Body: `{"error":"unauthorized_client"}`},
			network.Rejected,
			"bad_client",
		},
		"401 without a body": {fake.Fault{Status: 401, Body: " "}, network.Rejected, "bad_client"},
		"invalid_grant": {
			fake.Fault{Status: 400, Body: `{"error":"invalid_grant","error_description":"The token has expired"}`},
			network.Auth, "invalid_grant",
		},
		"invalid_grant, no reason": {
			fake.Fault{Status: 400, Body: `{"error":"invalid_grant"}`}, network.Auth, "invalid_grant",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := startFake(t, fake.Options{})
			l := n.adapter()
			row.fault.Kind, row.fault.Path = fake.Status, "/linkedin/oauth/v2/accessToken"
			if err := n.server.Inject(row.fault); err != nil {
				t.Fatal(err)
			}
			account := n.member
			account.RefreshToken = secret.NewText("refresh")
			_, err := l.Refresh(t.Context(), network.SandboxApp(n.base, redirectURI), account)
			if e := network.AsError(err); e == nil || e.Class != row.class || e.Code != row.code {
				t.Errorf("got %v, want %s (%s)", err, row.class, row.code)
			}
		})
	}
}
