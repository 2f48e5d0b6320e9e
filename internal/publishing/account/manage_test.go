package account_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"

	"dateline/internal/testing/newsroomtest"
	"dateline/platforms"
	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

func code(err error) string {
	var e *apperr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestCheck_AsksTheNetwork(t *testing.T) {
	n, a := expiring(t)
	checked := func() account.Account {
		t.Helper()
		now, err := n.Accounts.Check(t.Context(), n.Owner, a.ID)
		n.Must(err)
		return now
	}
	n.Exec("update accounts set handle = 'old', checked_at = null")
	if now := checked(); now.Handle != a.Handle || now.CheckedAt.IsZero() || now.LastError != nil {
		t.Errorf("well: %+v", now)
	}
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Status, Status: 502, Path: "/api/v1/accounts/verify_credentials"}))
	if now := checked(); now.Status != account.Connected || now.LastError == nil ||
		now.LastError.Class != network.Transient || now.CheckedAt.IsZero() {
		t.Errorf("away: %+v", now)
	}
	// The network rejects the token once: it is renewed, and the check repeated.
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Path: "/api/v1/accounts/verify_credentials"}))
	if now := checked(); now.Status != account.Connected || now.LastError != nil || now.TokenVersion != a.TokenVersion+
		1 {
		t.Errorf("renewed: %+v", now)
	}
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Path: "/api/v1/accounts/verify_credentials", Count: -1}))
	if now := checked(); now.Status != account.NeedsReconnect || now.LastError == nil ||
		now.LastError.Class != network.Auth {
		t.Errorf("refused permanently: %+v", now)
	}
	n.Fake.ClearFaults()
	if now := checked(); now.Status != account.Connected {
		t.Errorf("recovered: %+v", now)
	}
	if _, err := n.Accounts.Check(t.Context(), workspace.Principal{WorkspaceID: uuid.New()},
		a.ID); code(err) != "account_not_found" {
		t.Errorf("another workspace: %v", err)
	}
}

func TestReconnect_RequiresTheSameAccount(t *testing.T) {
	n := newsroomtest.Open(t)
	first := n.Allow("desk") // the consent page allows as the first account
	other := n.Connect("sports")
	reconnect := func(id uuid.UUID) (account.Connection, error) {
		t.Helper()
		link, err := n.Accounts.Reconnect(t.Context(), n.Owner, id)
		n.Must(err)
		back := newsroomtest.Consent(t, link)
		return n.Accounts.CompleteAuthorization(t.Context(), account.Callback{
			State: back.Get("state"), Code: back.Get("code"),
		})
	}
	before := read(n, other)
	_, err := reconnect(other.ID)
	if code(err) != "other_identity" || !strings.Contains(err.Error(), first.Handle) ||
		!strings.Contains(err.Error(), other.Handle) {
		t.Errorf("another identity: %v", err)
	}
	if now := read(n, other); now.TokenVersion != before.TokenVersion ||
		read(n, first).TokenVersion != first.TokenVersion {
		t.Errorf("the account changed: %+v", now)
	}
	n.Exec("update accounts set status = 'needs_reconnect', settings = '{\"tier\":\"premium\"}' where id = $1",
		first.ID)
	made, err := reconnect(first.ID)
	if err != nil || made.Account.ID != first.ID || made.Account.Status != account.Connected ||
		made.Account.Settings["tier"] != "premium" {
		t.Errorf("the same: %+v, %v", made, err)
	}
}

func TestDisconnect_RevokesAndDeletes(t *testing.T) {
	n, a := expiring(t)
	_, use, err := n.Accounts.Open(t.Context(), a.ID)
	n.Must(err)
	f, err := n.Accounts.Disconnect(t.Context(), n.Owner, a.ID)
	require.NoError(t, err)
	require.True(t, f.Revoked)
	require.Empty(t, f.Advice)
	require.Equal(t, account.Disconnected, f.Account.Status)
	require.Empty(t, f.Account.SealedToken)
	if accepted(n, use.Token.Reveal()) {
		t.Error("the network still accepts the token")
	}
	if events(n, a, "disconnected") != 1 {
		t.Error("the workspace got no notification")
	}
	again, err := n.Accounts.Disconnect(t.Context(), n.Owner, a.ID)
	if err != nil || again.Account.Status != account.Disconnected || events(n, a, "disconnected") != 1 {
		t.Errorf("again %+v, %v", again, err)
	}
	if _, err := n.Accounts.Check(t.Context(), n.Owner, a.ID); code(err) != "disconnected" {
		t.Errorf("checked: %v", err)
	}
}

func TestDisconnect_WithoutTheNetwork(t *testing.T) {
	n, a := expiring(t)
	resume, err := n.Fake.Refuse(time.Minute)
	n.Must(err)
	f, err := n.Accounts.Disconnect(t.Context(), n.Owner, a.ID)
	n.Must(resume())
	require.NoError(t, err)
	require.False(t, f.Revoked)
	require.Equal(t, "revoke_at_network", f.Advice.Code)
	require.Equal(t, account.Disconnected, f.Account.Status)
	require.Empty(t, read(n, a).SealedToken)
}

func TestEdit_ChangesSettingsSeparately(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	text := func(s string) *string { return &s }
	no := false
	got, err := n.Accounts.Edit(t.Context(), n.Owner, a.ID, account.Edit{
		Default: &no, Settings: map[string]*string{"tier": text("premium"), "region": text("vn")},
	})
	if err != nil || got.IsDefault || got.Settings["tier"] != "premium" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = n.Accounts.Edit(t.Context(), n.Owner, a.ID, account.Edit{Settings: map[string]*string{"tier": nil}})
	if _, there := got.Settings["tier"]; err != nil || there || got.Settings["region"] != "vn" || got.IsDefault {
		t.Errorf("%+v, %v", got, err)
	}
	if _, use, err := n.Accounts.Open(t.Context(), a.ID); err != nil || use.Settings["region"] != "vn" {
		t.Errorf("adapters get %v, %v", use.Settings, err)
	}
	_, err = n.Accounts.Edit(t.Context(), n.Owner, a.ID, account.Edit{Settings: map[string]*string{"Tier!": text("x")}})
	if p := connectError(t, err); p.Field != "settings" {
		t.Errorf("%+v", p)
	}
}

// withPages is a network where a login may post as three pages.
type withPages struct {
	*mastodon.Mastodon
	tokens map[string]secret.Text // by name; filled in before the login
}

func (p withPages) Accounts(_ context.Context, a network.Account) ([]network.Account, error) {
	var all []network.Account
	for _, name := range []string{"desk", "sports", "weather"} {
		one := a
		one.RemoteID, one.Handle, one.Name, one.Kind, one.Token = name, "@"+name, name, network.KindPage, p.tokens[name]
		all = append(all, one)
	}
	return all, nil
}

type registry struct {
	platforms.Registry
	network withPages
}

func (r registry) Get(string) (network.Network, bool)         { return r.network, true }
func (r registry) Connector(string) (network.Connector, bool) { return r.network, true }

func TestConnect_SeveralAccountsNeedAChoice(t *testing.T) {
	n := newsroomtest.Open(t)
	_, err := n.Fake.AddAccount("desk")
	n.Must(err)
	adapter, _ := n.Networks.Get("mastodon")
	tokens := map[string]secret.Text{
		"desk": secret.NewText("token-1"), "sports": secret.NewText("token-2"), "weather": secret.NewText("token-3"),
	}
	n.Accounts.Connectors = registry{n.Networks, withPages{adapter.(*mastodon.Mastodon), tokens}}
	begin := func() account.Choice {
		t.Helper()
		link, err := n.Accounts.StartAuthorization(t.Context(), n.Owner, account.Instance{
			Network: "mastodon", Sandbox: true,
		})
		n.Must(err)
		back := newsroomtest.Consent(t, link)
		made, err := n.Accounts.CompleteAuthorization(t.Context(), account.Callback{
			State: back.Get("state"), Code: back.Get("code"),
		})
		n.Must(err)
		if made.Choice == nil || len(made.Choice.Accounts) != 3 ||
			n.Count("select count(*) from accounts where name <> 'x'") > 2 {
			t.Fatalf("%+v", made)
		}
		return *made.Choice
	}
	c := begin()
	if rows := n.Count("select count(*) from account_choices where encode(accounts, 'escape') like '%token-2%' or "+
		"encode(key, 'escape') = $1", c.Key); rows != 0 {
		t.Error("the choice shows secrets")
	}
	if seen, err := n.Accounts.Choice(t.Context(), n.Owner, c.ID); err != nil || len(seen.Accounts) != 3 ||
		seen.Key != "" {
		t.Errorf("%+v, %v", seen, err)
	}
	stranger := workspace.Principal{WorkspaceID: uuid.New(), UserID: n.Owner.UserID}
	if _, err := n.Accounts.Choice(t.Context(), stranger, c.ID); code(err) != "choice_not_found" {
		t.Errorf("another workspace reads: %v", err)
	}
	if _, err := n.Accounts.Choose(t.Context(), stranger, c.ID, []string{"desk"}); code(err) != "choice_not_found" {
		t.Errorf("another workspace chooses: %v", err)
	}
	if _, err := n.Accounts.ChooseWithKey(t.Context(), c.ID, "guess",
		[]string{"desk"}); code(err) != "choice_not_found" {
		t.Errorf("a wrong key: %v", err)
	}
	_, err = n.Accounts.Choose(t.Context(), n.Owner, c.ID, []string{"desk", "nobody"})
	if p := connectError(t, err); p.Field != "remote_ids" || n.Count("select count(*) from accounts") != 0 {
		t.Errorf("an unknown account: %+v", p)
	}
	made, err := n.Accounts.Choose(t.Context(), n.Owner, c.ID, []string{"desk", "weather"})
	require.NoError(t, err)
	require.Len(t, made, 2)
	require.Equal(t, "@weather", made[1].Handle)
	require.Equal(t, network.KindPage, made[1].Kind)
	require.True(t, made[0].IsDefault)
	require.False(t, made[1].IsDefault)
	if _, use, err := n.Accounts.Open(t.Context(), made[1].ID); err != nil || use.Token.Reveal() != "token-3" {
		t.Errorf("the token of another page, %v", err)
	}
	if _, err := n.Accounts.Choose(t.Context(), n.Owner, c.ID, []string{"sports"}); code(err) != "choice_not_found" {
		t.Errorf("a second time: %v", err)
	}
	c = begin()
	n.Exec("update account_choices set expires_at = now() - interval '1 second'")
	if _, err := n.Accounts.ChooseWithKey(t.Context(), c.ID, c.Key,
		[]string{"sports"}); code(err) != "choice_not_found" {
		t.Errorf("too late: %v", err)
	}
	c = begin()
	if made, err := n.Accounts.ChooseWithKey(t.Context(), c.ID, c.Key, []string{"sports"}); err != nil ||
		len(made) != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	if n.Count("select count(*) from account_choices") != 0 {
		t.Error("a completed choice is still stored")
	}
}

func TestConnectForm_ConnectsTheAccount(t *testing.T) {
	n := newsroomtest.Open(t)
	there, err := n.Fake.AddAccount("desk")
	n.Must(err)
	at := account.Instance{Network: "mastodon", Sandbox: true}
	made, err := n.Accounts.ConnectForm(t.Context(), n.Owner, at, map[string]secret.Text{
		"access_token": secret.NewText(there.Token),
	})
	if err != nil || made.Choice != nil || made.Account.RemoteID != there.ID || !n.Accounts.IsSandbox(made.Account) {
		t.Errorf("%+v, %v", made, err)
	}
	_, err = n.Accounts.ConnectForm(t.Context(), n.Owner, at, map[string]secret.Text{
		"access_token": secret.NewText("wrong-horse"),
	})
	if p := connectError(t, err); p.Code != "auth" || strings.Contains(err.Error(), "wrong-horse") {
		t.Errorf("%+v, %v", p, err)
	}
	n.Accounts.Sandbox = nil
	_, err = n.Accounts.ConnectForm(t.Context(), n.Owner, at, map[string]secret.Text{
		"access_token": secret.NewText(there.Token),
	})
	if p := connectError(t, err); p.Field != "sandbox" {
		t.Errorf("%+v", p)
	}
}

// Every network can report the state of an account, however it was connected.
func TestCheck_WorksForEveryNetwork(t *testing.T) {
	n := newsroomtest.Open(t)
	asked := map[string]bool{}
	for _, a := range n.Everywhere() {
		n.Exec("update accounts set checked_at = null, name = 'before' where id = $1", a.ID)
		now, err := n.Accounts.Check(t.Context(), n.Owner, a.ID)
		require.NoError(t, err, "%s: %+v, %v", a.Network, now, err)
		require.Equal(t, account.Connected, now.Status, "%s: %+v, %v", a.Network, now, err)
		require.False(t, now.CheckedAt.IsZero(), "%s: %+v, %v", a.Network, now, err)
		require.Nil(t, now.LastError, "%s: %+v, %v", a.Network, now, err)
		require.NotEqual(t, "before", now.Name, "%s: %+v, %v", a.Network, now, err)
		require.Equal(t, a.Handle, now.Handle, "%s: %+v, %v", a.Network, now, err)
		n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Network: a.Network, Count: -1}))
		if now, err := n.Accounts.Check(t.Context(), n.Owner, a.ID); err != nil || now.LastError == nil ||
			!a.IsRenewable && now.Status != account.NeedsReconnect {
			t.Errorf("%s, refused: %+v, %v", a.Network, now, err)
		}
		n.Fake.ClearFaults()
		asked[a.Network] = true
	}
	if len(asked) != len(n.Networks.Names()) {
		t.Errorf("asked %v", asked)
	}
}

// Networks with instances report the account's own instance; otherwise the network's
// public address.
func TestNetworks_OfferInstances(t *testing.T) {
	n := newsroomtest.Open(t)
	offers, err := n.Accounts.Networks(t.Context())
	n.Must(err)
	for _, o := range offers {
		if want := o.Name == "mastodon" || o.Name == "bluesky"; o.Instances != want {
			t.Errorf("%s: instances %v", o.Name, o.Instances)
		}
	}
	_, err = n.Fake.Add(fake.Account{Network: "bluesky", Name: "desk"})
	n.Must(err)
	made, err := n.Accounts.ConnectForm(t.Context(), n.Owner, account.Instance{
		Network: "bluesky", BaseURL: n.Fake.NetworkURL("bluesky"),
	},
		map[string]secret.Text{
			"handle": secret.NewText("desk.test"), "app_password": secret.NewText(fake.BlueskyAppPassword),
		})
	if err != nil || made.Account.BaseURL != n.Fake.NetworkURL("bluesky") {
		t.Errorf("%+v, %v", made.Account, err)
	}
}
