package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/message"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// virtual is one account at a scripted network, in memory and in virtual time: the
// intervals are those of production, and waiting takes no real time.
type virtual struct {
	t       *testing.T
	store   *memoryStore
	network *scripted
	limits  *grants
	hosts   *hostguard.Bulkhead
	waker   delivery.Waker
	log     *journal
	account network.Account
	id      uuid.UUID // of the account
	now     time.Time // when the test started
	pauses  []*delivery.RetryError
	errs    []error // of all attempts
	clock   delivery.Clock
	timing  delivery.Timing
	deps    delivery.Deps
}

// inVirtualTime runs a test in virtual time.
func inVirtualTime(t *testing.T, test func(v *virtual)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &virtual{
			t: t, store: &memoryStore{},
			network: &scripted{limits: network.Limits{AllowedBy: "social.example", MaxCharacters: 500}},
			limits:  &grants{},
			hosts:   &hostguard.Bulkhead{}, log: &journal{}, id: uuid.New(), now: time.Now(),
		}
		v.account = network.Account{
			ID: v.id.String(), BaseURL: "https://social.example", RemoteID: "7",
			Handle: "@desk@social.example", Token: secret.NewText("token"),
		}
		test(v)
		synctest.Wait()
	})
}

func (v *virtual) publisher() *delivery.Publisher {
	v.deps = delivery.Deps{
		Store: v.store, Accounts: v, Networks: v, Live: &bus{}, Log: slog.New(v.log.handler()),
		Timing: v.timing,
		Clock:  v.clock, Limits: v.limits, Waker: v.waker, Hosts: v.hosts,
	}
	return delivery.New(v.deps)
}

func (v *virtual) Open(context.Context, uuid.UUID) (account.Account, network.Account, error) {
	return account.Account{ID: v.id, Status: account.Connected}, v.account, nil
}

func (v *virtual) Renew(context.Context, uuid.UUID, int64) (account.Renewal, error) {
	return account.Renewal{}, errors.New("this token is never renewed")
}

func (v *virtual) Refused(context.Context, uuid.UUID, int64, *network.Error) (bool, error) {
	return true, nil
}

func (v *virtual) Get(string) (network.Network, bool) { return v.network, true }

// add schedules a post that is due immediately.
func (v *virtual) add(change func(p *post.Post)) *post.Post {
	p := &post.Post{ID: uuid.New(), Content: text, ScheduledTime: time.Now(), Status: post.Scheduled, Revision: 1}
	p.Targets = []post.Target{
		{
			ID: uuid.New(), PostID: p.ID, AccountID: v.id, Network: "mastodon", Handle: v.account.Handle,
			Status: post.TargetScheduled,
		},
	}
	if change != nil {
		change(p)
	}
	v.store.add(p)
	return p
}

// once runs one attempt.
func (v *virtual) once(p *post.Post) (delivery.TargetResult, error) {
	return v.publisher().Publish(v.t.Context(), delivery.Attempt{Number: 1}, delivery.TargetInput{
		PostID: p.ID, TargetID: p.Targets[0].ID, Revision: p.Revision,
	})
}

// finish runs attempts like the workflow until the target has an outcome.
func (v *virtual) finish(p *post.Post) post.Target {
	v.t.Helper()
	for range 50 {
		result, err := v.once(p)
		if err == nil && !result.Stale && !result.Status.IsOpen() {
			_, target := v.store.target(p.Targets[0].ID)
			if target.Status != result.Status {
				v.t.Errorf("the result has %q, the database %q", result.Status, target.Status)
			}
			return *target
		}
		v.errs = append(v.errs, err)
		pause := time.Second
		if again := (*delivery.RetryError)(nil); errors.As(err, &again) {
			v.pauses = append(v.pauses, again)
			pause = max(again.Delay, time.Millisecond)
		}
		time.Sleep(pause)
	}
	v.t.Fatalf("no outcome after 50 attempts: %v", v.store.timeline(p.Targets[0].ID))
	return post.Target{}
}

// since returns the virtual time since the start of the test.
func (v *virtual) since(at time.Time) time.Duration { return at.Sub(v.now) }

// wantSent checks the times of publishing calls, relative to the start of the test.
func (v *virtual) wantSent(at ...time.Duration) {
	v.t.Helper()
	var got []time.Duration
	for _, s := range v.network.sent {
		got = append(got, v.since(s.at))
	}
	equal := len(got) == len(at)
	for i := 0; equal && i < len(at); i++ {
		equal = (got[i] - at[i]).Abs() <= 20*time.Millisecond
	}
	if !equal {
		v.t.Errorf("got calls at %v, want %v", got, at)
	}
}

// wantSearched checks the times of searches, relative to the first call.
func (v *virtual) wantSearched(at ...time.Duration) {
	v.t.Helper()
	var got []time.Duration
	for _, s := range v.network.searched {
		got = append(got, v.since(s.at))
	}
	equal := len(got) == len(at)
	for i := 0; equal && i < len(at); i++ {
		equal = (got[i] - at[i]).Abs() <= 20*time.Millisecond
	}
	if !equal {
		v.t.Errorf("got searches at %v, want %v", got, at)
	}
}

// scripted is a network with scripted responses.
type scripted struct {
	limits    network.Limits
	limitsErr func() error
	publish   func(n int, s network.Submission) (network.Receipt, error) // n counts from 1
	search    func(n int, w network.Window) (network.Finding, error)
	stage     func(n int) (network.Staged, error)

	mu       sync.Mutex
	sent     []sentCall
	searched []searchCall
	staged   int
}

type sentCall struct {
	at time.Time
	network.Submission
}

type searchCall struct {
	at time.Time
	network.Submission
	window network.Window
}

func (n *scripted) Name() string { return "mastodon" }

func (n *scripted) Limits(context.Context, network.Account) (network.Limits, error) {
	if n.limitsErr != nil {
		return n.limits, n.limitsErr()
	}
	return n.limits, nil
}

func (n *scripted) Count(text string, _ network.Limits) int { return len(text) }

func (n *scripted) Check(network.Content, network.Limits) []network.Violation { return nil }

func (n *scripted) Stage(context.Context, network.Account, network.Media) (network.Staged, error) {
	n.mu.Lock()
	n.staged++
	count := n.staged
	n.mu.Unlock()
	if n.stage != nil {
		return n.stage(count)
	}
	return network.Staged{RemoteID: fmt.Sprint("upload ", count), Ready: true}, nil
}

func (n *scripted) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	return staged, nil
}

func (n *scripted) Publish(_ context.Context, _ network.Account, s network.Submission) (network.Receipt, error) {
	n.mu.Lock()
	n.sent = append(n.sent, sentCall{time.Now(), s})
	count := len(n.sent)
	n.mu.Unlock()
	if n.publish != nil {
		return n.publish(count, s)
	}
	return receipt(fmt.Sprint(count)), nil
}

func (n *scripted) Reconcile(
	_ context.Context, _ network.Account, s network.Submission, w network.Window,
) (network.Finding, error) {
	n.mu.Lock()
	n.searched = append(n.searched, searchCall{time.Now(), s, w})
	count := len(n.searched)
	n.mu.Unlock()
	if n.search != nil {
		return n.search(count, w)
	}
	return network.Finding{Conclusive: true, Evidence: message.One("none", "Nothing is listed.")}, nil
}

func (n *scripted) Delete(context.Context, network.Account, string) error { return nil }

func receipt(id string) network.Receipt {
	return network.Receipt{RemoteID: id, URL: "https://social.example/@desk/" + id}
}

// lost is the error of a call whose response was lost.
func lost() error {
	return &network.Error{Class: network.Ambiguous, Code: "timeout", Message: "The network did not respond in time."}
}

// losing makes a network lose the responses of its first n calls.
func losing(n int) func(int, network.Submission) (network.Receipt, error) {
	return func(call int, _ network.Submission) (network.Receipt, error) {
		if call <= n {
			return network.Receipt{}, lost()
		}
		return receipt(fmt.Sprint(call)), nil
	}
}

// grants are scripted rate limits.
type grants struct {
	acquire func(n int, kind network.CallKind) ratelimit.Grant // nil: every call is allowed
	wake    []uuid.UUID

	mu       sync.Mutex
	acquired []network.CallKind
	at       []time.Time
	released int
	observed []observation
	waiters  []ratelimit.Wait
}

type observation struct {
	kind    network.CallKind
	rates   []network.RateStatus
	failure *network.Error
}

func (g *grants) Acquire(_ context.Context, _ ratelimit.Caller, kind network.CallKind) ratelimit.Grant {
	g.mu.Lock()
	g.acquired, g.at = append(g.acquired, kind), append(g.at, time.Now())
	n := len(g.acquired)
	g.mu.Unlock()
	if g.acquire != nil {
		return g.acquire(n, kind)
	}
	return ratelimit.Grant{OK: true}
}

func (g *grants) Release(ctx context.Context, _ ratelimit.Token) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() == nil {
		g.released++
	}
}

func (g *grants) Observe(
	_ context.Context, _ ratelimit.Caller, kind network.CallKind, rates []network.RateStatus, failure *network.Error,
) []uuid.UUID {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.observed = append(g.observed, observation{kind, rates, failure})
	return g.wake
}

func (g *grants) AddWaiter(_ context.Context, _ ratelimit.Caller, _ network.CallKind, w ratelimit.Wait, _ uuid.UUID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiters = append(g.waiters, w)
}

// refusedUntil refuses every call until a time.
func refusedUntil(at time.Time, scope network.Scope) func(int, network.CallKind) ratelimit.Grant {
	return func(int, network.CallKind) ratelimit.Grant {
		if time.Now().Before(at) {
			return ratelimit.Grant{RetryAt: at, Bucket: "statuses", Scope: scope}
		}
		return ratelimit.Grant{OK: true}
	}
}
