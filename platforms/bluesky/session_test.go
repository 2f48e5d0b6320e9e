package bluesky_test

import (
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"dateline/platforms/bluesky"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// A lost response is harmless for two hours. After that, and after the session has
// ended, the account has to be reconnected.
func TestRefresh(t *testing.T) {
	var ahead atomic.Int64
	server := startFake(t, fake.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	app := network.App{}

	if err := server.Inject(fake.Fault{
		Kind: fake.ActThenReset,
		Path: "/bluesky/xrpc/com.atproto.server.refreshSession",
	}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Refresh(t.Context(), app, account)
	wantClass(t, err, network.Transient, "", account.RefreshToken.Reveal(), account.Token.Reveal())
	first, err := b.Refresh(t.Context(), app, account)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Refresh(t.Context(), app, account)
	if err != nil || again.RefreshToken.Reveal() != first.RefreshToken.Reveal() {
		t.Fatalf("the same token returned another successor: %v", err)
	}

	ahead.Store(int64(3 * time.Hour))
	_, err = b.Publish(t.Context(), first, prepare(t, b, first, network.Submission{Key: rand.Text(), Text: "Too late"}))
	if e := wantClass(t, err, network.Auth, ""); e.Code != "ExpiredToken" || e.Status != 400 {
		t.Errorf("refused with %+v", e)
	}
	_, err = b.Refresh(t.Context(), app, account)
	wantClass(t, err, network.Auth, "")
	renewed, err := b.Refresh(t.Context(), app, first)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, b, renewed, network.Submission{Key: rand.Text(), Text: "Renewed"})

	for _, attempt := range []string{"first", "second"} {
		if err := b.Revoke(t.Context(), app, renewed); err != nil {
			t.Errorf("%s revocation: %v", attempt, err)
		}
	}
	_, err = b.Refresh(t.Context(), app, renewed)
	wantClass(t, err, network.Auth, "")
	// Servers do not look up access tokens: this one stays valid until it
	// expires.
	publish(t, b, renewed, network.Submission{Key: rand.Text(), Text: "Still good"})
}

func TestRefresh_Outage(t *testing.T) {
	server := startFake(t, fake.Options{})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	for _, fault := range []fake.Fault{
		{Kind: fake.Status, Status: 502},
		{Kind: fake.Status, Status: 503},
		{Kind: fake.ResetBefore},
		{Kind: fake.Malformed2xx},
	} {
		fault.Path = "/bluesky/xrpc/com.atproto.server."
		server.ClearFaults()
		if err := server.Inject(fault); err != nil {
			t.Fatal(err)
		}
		_, err := b.Refresh(t.Context(), network.App{}, account)
		if e := network.AsError(err); e == nil || e.Class != network.Transient {
			t.Errorf("%s is %v, which is not to disconnect the account", fault.Kind, e)
		}
	}
}

func TestConnectForm_RateLimit(t *testing.T) {
	server := startFake(t, fake.Options{
		NetworkRates: map[string]map[string]fake.Rate{"bluesky": {"sessions": {Requests: 1, Per: 24 * time.Hour}}},
	})
	b, account, _ := sandbox(t, server, bluesky.Options{})
	_, err := b.ConnectForm(t.Context(), account.BaseURL, form("desk.test", fake.BlueskyAppPassword, ""))
	if e := wantClass(t, err, network.Throttled, "", fake.BlueskyAppPassword); e.RetryAt.Before(time.Now()) {
		t.Errorf("retry at %v", e.RetryAt)
	}
}
