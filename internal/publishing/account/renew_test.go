package account_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/account"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms/fake"
)

const tokenPath = "/oauth/token"

// expiring is a newsroom at a network whose tokens expire after an hour.
func expiring(t *testing.T) (*newsroomtest.Newsroom, account.Account) {
	t.Helper()
	n := newsroomtest.OpenWith(t, fake.Options{AutoApprove: true, TokenTTL: time.Hour})
	return n, n.Allow("desk")
}

// works reports whether the network accepts an account's token.
func works(n *newsroomtest.Newsroom, id account.Account) bool {
	n.T.Helper()
	_, use, err := n.Accounts.Open(n.T.Context(), id.ID)
	n.Must(err)
	return accepted(n, use.Token.Reveal())
}

func accepted(n *newsroomtest.Newsroom, token string) bool {
	n.T.Helper()
	r, err := http.NewRequestWithContext(n.T.Context(), http.MethodGet,
		n.Fake.URL()+"/api/v1/accounts/verify_credentials", nil)
	n.Must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	n.Must(err)
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

func read(n *newsroomtest.Newsroom, a account.Account) account.Account {
	n.T.Helper()
	now, err := n.Store.Publishing.Accounts.Account(n.T.Context(), a.ID)
	n.Must(err)
	return now
}

func events(n *newsroomtest.Newsroom, a account.Account, kind string) int {
	n.T.Helper()
	return n.Count("select count(*) from post_events where account_id = $1 and type = $2", a.ID, kind)
}

func TestRenewal_IsDueInTheSecondHalfOfTheLifetime(t *testing.T) {
	_, a := expiring(t)
	life := time.Until(a.ExpiresAt)
	if !a.IsRenewable || life < 58*time.Minute || life > time.Hour {
		t.Fatalf("renewable %v, expires in %s", a.IsRenewable, life)
	}
	if due := time.Until(a.RefreshDueAt); due < 29*time.Minute || due > 48*time.Minute+time.Second {
		t.Errorf("due in %s", due)
	}
}

// The network revokes all access when a refresh token is used twice.
func TestRenew_OneOfManyCallsTheNetwork(t *testing.T) {
	n, a := expiring(t)
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Latency, Path: tokenPath, For: 100 * time.Millisecond, Count: -1}))
	other := *n.Accounts // another worker
	var all sync.WaitGroup
	for i := range 12 {
		s := n.Accounts
		if i%2 == 0 {
			s = &other
		}
		all.Go(func() {
			if r, err := s.Renew(t.Context(), a.ID, a.TokenVersion); err != nil || r.Outcome != account.Renewed {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	all.Wait()
	now := read(n, a)
	if now.TokenVersion != a.TokenVersion+1 || now.LastRefreshAt.IsZero() || now.Status != account.Connected ||
		!works(n, a) {
		t.Errorf("after the renewal %+v", now)
	}
	// The new refresh token works for the next renewal.
	if r, err := n.Accounts.Renew(t.Context(), a.ID, now.TokenVersion); err != nil || r.Outcome != account.Renewed ||
		!works(n, a) {
		t.Errorf("the next renewal: %+v, %v", r, err)
	}
}

func TestRenew_UnavailableNetworkKeepsTheAccount(t *testing.T) {
	for name, f := range map[string]fake.Fault{
		"answers 503": {Kind: fake.Status, Status: 503, Path: tokenPath, Count: -1},
		"answers 429": {Kind: fake.Status, Status: 429, Path: tokenPath, Count: -1},
		"resets":      {Kind: fake.ResetBefore, Path: tokenPath, Count: -1},
		"knows no such app": {
			Kind: fake.Status, Status: 401, Path: tokenPath, Body: `{"error":"invalid_client"}`,
			Count: -1,
		},
		"refuses connections": {Kind: fake.Refuse, For: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			n, a := expiring(t)
			n.Exec("update accounts set refresh_due_at = now()")
			resume := func() error { return nil }
			if f.Kind == fake.Refuse {
				var err error
				resume, err = n.Fake.Refuse(time.Minute)
				n.Must(err)
			} else {
				n.Must(n.Fake.Inject(f))
			}
			for range 3 {
				n.Exec("update accounts set refresh_due_at = now()")
				r, wait, err := n.Accounts.RenewDue(t.Context(), a.ID)
				if err != nil || r.Outcome != account.Deferred || wait <= 0 {
					t.Fatalf("%+v, wait %s, %v", r, wait, err)
				}
			}
			now := read(n, a)
			require.Equal(t, account.Connected, now.Status)
			require.Equal(t, a.TokenVersion, now.TokenVersion)
			require.Equal(t, 3, now.RefreshFailures)
			require.NotNil(t, now.LastError)
			require.Equal(t, 0, events(n, a, "needs_reconnect"))
			if w := now.Warnings(time.Now()); len(w) != 1 || w[0].Code != "not_renewed" {
				t.Errorf("warnings %+v", w)
			}
			n.Must(resume())
			n.Fake.ClearFaults()
			n.Exec("update accounts set refresh_due_at = now()")
			if r, _, err := n.Accounts.RenewDue(t.Context(), a.ID); err != nil || r.Outcome != account.Renewed ||
				!works(n, a) {
				t.Errorf("%+v, %v", r, err)
			}
			if now := read(n, a); now.LastError != nil || now.RefreshFailures != 0 ||
				len(now.Warnings(time.Now())) != 0 {
				t.Errorf("afterwards %+v", now)
			}
		})
	}
}

// After a lost response, the same refresh token is tried once more.
func TestRenew_LostResponse(t *testing.T) {
	n, a := expiring(t)
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.ResetBefore, Path: tokenPath}))
	if r, err := n.Accounts.Renew(t.Context(), a.ID, a.TokenVersion); err != nil || r.Outcome != account.Renewed ||
		!works(n, a) {
		t.Errorf("request lost: %+v, %v", r, err)
	}
	a = read(n, a)
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.ActThenReset, Path: tokenPath}))
	r, err := n.Accounts.Renew(t.Context(), a.ID, a.TokenVersion)
	now := read(n, a)
	require.NoError(t, err)
	require.Equal(t, account.Refused, r.Outcome)
	require.Equal(t, account.NeedsReconnect, now.Status)
	require.NotNil(t, now.LastError)
	require.Equal(t, "invalid_grant", now.LastError.Code)
	if events(n, a, "needs_reconnect") != 1 {
		t.Error("the workspace got no notification")
	}
	if again := n.Allow("desk"); again.ID != a.ID || again.Status != account.Connected || again.LastError != nil ||
		!works(n, a) {
		t.Errorf("reconnected %+v", again)
	}
}

func TestRenew_CrashIsTakenOver(t *testing.T) {
	n, a := expiring(t)
	n.Exec("update accounts set lease_owner = gen_random_uuid(), lease_until = now() + interval '1 hour'")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := n.Accounts.Renew(ctx, a.ID, a.TokenVersion); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("did not wait for the lease: %v", err)
	}
	n.Exec("update accounts set lease_until = now() - interval '1 second'")
	if r, err := n.Accounts.Renew(t.Context(), a.ID, a.TokenVersion); err != nil || r.Outcome != account.Renewed ||
		!works(n, a) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRenew_DisconnectedInTheMeantime(t *testing.T) {
	n, a := expiring(t)
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Latency, Path: tokenPath, For: 300 * time.Millisecond}))
	renewed := make(chan account.Renewal, 1)
	go func() {
		r, err := n.Accounts.Renew(t.Context(), a.ID, a.TokenVersion)
		if err != nil {
			t.Error(err)
		}
		renewed <- r
	}()
	for n.Count("select count(*) from accounts where lease_owner is not null") == 0 {
		time.Sleep(time.Millisecond)
	}
	_, err := n.Accounts.Disconnect(t.Context(), n.Owner, a.ID)
	n.Must(err)
	if r := <-renewed; r.Outcome != account.Refused {
		t.Errorf("%+v", r)
	}
	if now := read(n, a); now.Status != account.Disconnected || len(now.SealedToken) != 0 {
		t.Errorf("%+v", now)
	}
	there, err := n.Fake.AddAccount("desk")
	n.Must(err)
	for _, token := range n.Fake.Issued() {
		if token != there.Token && accepted(n, token) {
			t.Error("a token still works")
		}
	}
}

// flaky is a database that fails when new tokens are stored.
type flaky struct {
	account.Store
	fails int
}

func (f *flaky) SaveRefreshed(ctx context.Context, a account.Account) (bool, error) {
	if f.fails > 0 {
		f.fails--
		return false, errors.New("the database does not respond")
	}
	return f.Store.SaveRefreshed(ctx, a)
}

func TestRenew_RetriesStoringTokens(t *testing.T) {
	n, a := expiring(t)
	s := *n.Accounts
	s.Store = &flaky{n.Store.Publishing.Accounts, 3}
	if r, err := s.Renew(t.Context(), a.ID, a.TokenVersion); err != nil || r.Outcome != account.Renewed ||
		!works(n, a) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestExpiringAccess_WarnsOncePerThreshold(t *testing.T) {
	n := newsroomtest.Open(t)
	a, lasting := n.Connect("desk"), n.Connect("sports")
	warn := func(left string, want int) {
		t.Helper()
		n.Exec("update accounts set expires_at = now() + $1::interval where id = $2", left, a.ID)
		for range 2 {
			_, err := n.Store.Publishing.Accounts.WarnOfExpiry(t.Context())
			n.Must(err)
		}
		if got := events(n, a, "expiring"); got != want {
			t.Errorf("%s before the expiry: got %d warnings, want %d", left, got, want)
		}
	}
	warn("15 days", 0)
	for i, left := range []string{"13 days 23 hours", "6 days 23 hours", "23 hours"} {
		// The same expiry, nearer
		n.Exec("update accounts set warned_for = now() + $1::interval where warned_for is not null", left)
		warn(left, i+1)
	}
	n.Exec("update accounts set warned_for = now() + interval '22 hours' where warned_for is not null")
	warn("22 hours", 3)
	warn("12 days", 4) // reconnected in between: a new expiry
	if events(n, lasting, "expiring") != 0 {
		t.Error("warned about access that never expires")
	}
	if w := read(n, a).Warnings(time.Now()); len(w) != 1 || w[0].Code != "expiring" {
		t.Errorf("warnings %+v", w)
	}
	// An expiry that every renewal postpones causes no warning.
	n.Exec("update accounts set renewable = true, refresh_rolls = true, refresh_expires_at = now() + interval '3 "+
		"days', warned_for = null, warned_days = null where id = $1", a.ID)
	if _, err := n.Store.Publishing.Accounts.WarnOfExpiry(t.Context()); err != nil || events(n, a, "expiring") != 4 {
		t.Errorf("got %d warnings, %v", events(n, a, "expiring"), err)
	}
}
