package graphtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// RedirectURI is the redirect URI of the test application.
const RedirectURI = "http://127.0.0.1:9/callback"

// Connection is an account named desk at a fake network.
type Connection struct {
	Server  *fake.Server
	Client  *http.Client
	Sandbox string
	Account network.Account
}

// Connect starts a fake network and connects an account with the adapter that
// adapt returns.
func Connect[A network.Connector](
	t *testing.T, name string, options fake.Options, adapt func(client *http.Client, sandbox string) A,
) (Connection, A) {
	t.Helper()
	server := platformtest.StartFake(t, options)
	created := platformtest.AddAccount(t, server, fake.Account{Network: name, Name: "desk"})
	c := Connection{Server: server, Client: platformtest.Client(t), Sandbox: server.URL() + "/" + name}
	adapter := adapt(c.Client, c.Sandbox)
	found, err := adapter.Accounts(t.Context(), network.Account{
		BaseURL: c.Sandbox, Token: secret.NewText(created.Token),
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	c.Account = found[0]
	if c.Account.Handle != "@desk" || c.Account.RemoteID != created.ID || c.Account.Name != "Desk" {
		t.Errorf("identified as %+v", c.Account)
	}
	return c, adapter
}

// Approve visits the authorize page, which the fake approves by itself, and
// returns the query of the callback.
func (c Connection) Approve(t *testing.T, authorizeURL string) url.Values {
	t.Helper()
	page := *c.Client
	page.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, authorizeURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := page.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	back, err := res.Location()
	if err != nil {
		t.Fatalf("%s: %v", res.Status, err)
	}
	return back.Query()
}

// Refresher is the part of an adapter that TestRefresh uses.
type Refresher interface {
	network.Connector
	network.Refresher
}

// TestRefresh checks that a token can be refreshed when it is a day old, and that
// a failed request does not disconnect the account. scope is one that is granted.
func TestRefresh[A Refresher](t *testing.T, name, scope string, adapt func(client *http.Client, sandbox string) A) {
	t.Helper()
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	c, login := Connect(t, name, fake.Options{AutoApprove: true, Clock: clock}, adapt)
	app, err := login.Register(t.Context(), c.Sandbox, RedirectURI)
	if err != nil {
		t.Fatal(err)
	}
	account, err := login.Exchange(t.Context(), app, c.Approve(t, login.AuthorizeURL(app, "s", "")).Get("code"), "")
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(account.TokenExpiresAt); left < 59*24*time.Hour || account.RefreshToken.Empty() ||
		!account.RefreshTokenExpiresAt.Equal(account.TokenExpiresAt) || !slices.Contains(account.Scopes, scope) {
		t.Errorf("%+v", account)
	}
	account.RemoteID = c.Account.RemoteID
	young, err := login.Refresh(t.Context(), app, account)
	if err != nil || young.Token.Reveal() != account.Token.Reveal() {
		t.Errorf("a token of the same day was refreshed: %v", err)
	}
	const month = 30 * 24 * time.Hour
	ahead.Store(int64(month))
	account.TokenExpiresAt = account.TokenExpiresAt.Add(-month) // the token's age
	Inject(t, c.Server, fake.Fault{Kind: fake.ResetBefore, Path: "/" + name + "/refresh_access_token", Count: -1})
	_, err = login.Refresh(t.Context(), app, account)
	_ = WantClass(t, err, network.Transient, "")
	c.Server.ClearFaults()
	renewed, err := login.Refresh(t.Context(), app, account)
	if err != nil || renewed.Token.Reveal() == account.Token.Reveal() ||
		time.Until(renewed.TokenExpiresAt) < 59*24*time.Hour || renewed.RemoteID != c.Account.RemoteID {
		t.Fatalf("%+v, %v", renewed, err)
	}
	ahead.Store(int64(4 * month))
	_, err = login.Refresh(t.Context(), app, account)
	if e := WantClass(t, err, network.Auth, "190/463"); strings.Contains(e.Error(), account.Token.Reveal()) {
		t.Error("error contains the token")
	}
}
