package delivery_test

import (
	"testing"

	"dateline/internal/identity/secret"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// Targets that failed because of an invalid token are sent when the account is
// reconnected, and do not loop if that did not help.
func TestReconnect_RedrivesPosts(t *testing.T) {
	b := newBench(t, fake.Options{})
	n := &signaler{bench: b, identity: "one"}
	p := b.schedule(thread(2))
	b.fault(fake.Fault{Kind: fake.TokenExpired, Nth: 2, Count: 2})
	b.publish(b.publisher(), input(p))
	returned := func(want int) {
		t.Helper()
		for range 2 {
			result, err := reconcile(t, n)
			if err != nil || result.Redriven != want {
				t.Errorf("returned %d, want %d, %v", result.Redriven, want, err)
			}
			want = 0 // once is enough
		}
	}
	connected := func(want account.Status) {
		t.Helper()
		if a, err := b.store.Publishing.Accounts.Account(t.Context(), b.account.ID); err != nil || a.Status != want {
			t.Fatalf("the account is %s, %v", a.Status, err)
		}
	}
	reconnect := func() {
		t.Helper()
		_, err := b.accounts.ConnectWithToken(t.Context(), b.who, "mastodon", b.fake.URL(), secret.NewText(b.token))
		b.must(err)
	}
	b.prove(p.ID, b.account, post.TargetFailed, 1)
	connected(account.NeedsReconnect)
	returned(0)
	reconnect()
	returned(1)
	b.publish(b.publisher(), input(p)) // refused again
	b.prove(p.ID, b.account, post.TargetFailed, 1)
	connected(account.NeedsReconnect)
	returned(0)
	reconnect()
	returned(1)
	b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 2)
	returned(0)
}

// A rejection of the token from before the reconnect does not affect the new token.
func TestReconnect_OldTokenDoesNotDisconnect(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.TokenExpired})
	publisher := b.publisher()
	publisher.Store = &troubled{Store: b.store.Delivery(), afterClaim: func() {
		_, err := b.accounts.ConnectWithToken(t.Context(), b.who, "mastodon", b.fake.URL(), secret.NewText(b.token))
		b.must(err)
	}}
	b.publish(publisher, input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 1)
	if a, err := b.store.Publishing.Accounts.Account(t.Context(), b.account.ID); err != nil || a.Status != account.Connected {
		t.Errorf("the account is %s, %v", a.Status, err)
	}
}
