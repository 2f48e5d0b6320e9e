package delivery_test

import (
	"testing"
	"time"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms/fake"
)

const tokenPath = "/oauth/token"

// expiringBench is a bench at a network whose tokens expire after an hour.
func expiringBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, fake.Options{AutoApprove: true, TokenTTL: time.Hour})
	b.accounts.RedirectURI = "https://dateline.example/api/v1/oauth/callback"
	b.accounts.Sandbox = b.fake.NetworkURL
	b.accounts.Timing = account.RenewTiming{PollInterval: 5 * time.Millisecond, Backoff: 20 * time.Millisecond}
	b.allow()
	return b
}

// allow connects the bench's account through the consent page.
func (b *bench) allow() {
	b.t.Helper()
	link, err := b.accounts.StartAuthorization(b.t.Context(), b.who, account.Instance{
		Network: "mastodon", Sandbox: true,
	})
	b.must(err)
	back := newsroomtest.Consent(b.t, link)
	made, err := b.accounts.CompleteAuthorization(b.t.Context(), account.Callback{
		State: back.Get("state"), Code: back.Get("code"),
	})
	b.must(err)
	b.account = made.Account
}

func (b *bench) stored() account.Account {
	b.t.Helper()
	a, err := b.store.Publishing.Accounts.Account(b.t.Context(), b.account.ID)
	b.must(err)
	return a
}

func TestToken_RenewedBeforeThePost(t *testing.T) {
	b := expiringBench(t)
	b.sql("update accounts set expires_at = now() + interval '5 minutes', created_at = now() - interval '55 minutes'")
	p := b.schedule(nil)
	_, pauses := b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 1)
	if now := b.stored(); now.TokenVersion != b.account.TokenVersion+1 || len(pauses) != 0 {
		t.Errorf("version %d, pauses %v", now.TokenVersion, pauses)
	}
	p = b.schedule(nil) // with an hour left
	if result, _ := b.publish(b.publisher(), input(p)); result.Status != post.TargetPosted {
		t.Errorf("%+v", result)
	}
	if now := b.stored(); now.TokenVersion != b.account.TokenVersion+1 {
		t.Errorf("renewed again, to version %d", now.TokenVersion)
	}
}

func TestToken_ValidOneIsUsedIfRenewalFails(t *testing.T) {
	b := expiringBench(t)
	b.sql("update accounts set expires_at = now() + interval '5 minutes', created_at = now() - interval '55 minutes'")
	b.fault(fake.Fault{Kind: fake.Status, Status: 503, Path: tokenPath, Count: -1})
	p := b.schedule(nil)
	b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 1)
	if now := b.stored(); now.Status != account.Connected {
		t.Errorf("%+v", now)
	}
}

func TestToken_PostWaitsForRenewal(t *testing.T) {
	b := expiringBench(t)
	b.sql("update accounts set expires_at = now() - interval '1 minute'")
	b.fault(fake.Fault{Kind: fake.Status, Status: 503, Path: tokenPath, Count: 14})
	p := b.schedule(nil)
	b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 1)
	if got := targetOn(b.read(p.ID), b.account); got.Attempts != 1 {
		t.Errorf("%d attempts were used up", got.Attempts)
	}
}

func TestToken_RejectedIsRenewed(t *testing.T) {
	b := expiringBench(t)
	b.fault(fake.Fault{Kind: fake.TokenExpired})
	p := b.schedule(thread(2))
	b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 2)
	if now := b.stored(); now.TokenVersion != b.account.TokenVersion+1 || now.Status != account.Connected {
		t.Errorf("%+v", now)
	}
}

// One renewal and one more attempt: then a person has to reconnect the account.
func TestToken_RejectedTwiceIsADeadLetter(t *testing.T) {
	b := expiringBench(t)
	b.fault(fake.Fault{Kind: fake.TokenExpired, Count: 2})
	p := b.schedule(nil)
	_, pauses := b.publish(b.publisher(), input(p))
	if target := b.prove(p.ID, b.account, post.TargetFailed, 0); target.ErrorClass != "auth" || len(pauses) != 1 {
		t.Errorf("%s after the pauses %v", target.ErrorClass, pauses)
	}
	if now := b.stored(); now.Status != account.NeedsReconnect || now.TokenVersion != b.account.TokenVersion+1 ||
		now.LastError == nil {
		t.Errorf("%+v", now)
	}
	b.allow()
	if result, err := reconcile(t, &signaler{bench: b, identity: "one"}); err != nil || result.Redriven != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 1)
}

func TestToken_DisconnectedAccount(t *testing.T) {
	b := expiringBench(t)
	p := b.schedule(nil)
	_, err := b.accounts.Disconnect(t.Context(), b.who, b.account.ID)
	b.must(err)
	b.publish(b.publisher(), input(p))
	if target := b.prove(p.ID, b.account, post.TargetFailed, 0); target.ErrorClass != "auth" ||
		target.ErrorCode != "disconnected" {
		t.Errorf("%+v", target)
	}
	if now := b.stored(); now.Status != account.Disconnected {
		t.Errorf("%+v", now)
	}
	n := &signaler{bench: b, identity: "one"}
	if result, err := reconcile(t, n); err != nil || result.Redriven != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	b.allow()
	if result, err := reconcile(t, n); err != nil || result.Redriven != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 1)
}
