package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// wantRetry runs one attempt that has to wait.
func (v *virtual) wantRetry(p *post.Post, kind string, min, max time.Duration) {
	v.t.Helper()
	result, err := v.once(p)
	var again *delivery.RetryError
	if !errors.As(err, &again) || again.Kind != kind || again.Delay < min || again.Delay > max {
		v.t.Errorf("got %+v, %v, want a retry of kind %s after %s to %s", result, err, kind, min, max)
		if again != nil {
			v.t.Errorf("got a delay of %s as %s", again.Delay, again.Kind)
		}
	}
}

// Each call takes one token of its kind, and the response updates the limits.
func TestAdmission_TakesOneTokenPerCall(t *testing.T) {
	parentID := uuid.New()
	for name, row := range map[string]struct {
		change func(p *post.Post)
		want   []network.CallKind
	}{
		"Post":   {nil, []network.CallKind{network.CallPublish}},
		"Reply":  {func(p *post.Post) { p.ThreadParentID = &parentID }, []network.CallKind{network.CallReply}},
		"Thread": {thread(3), []network.CallKind{network.CallPublish, network.CallReply, network.CallReply}},
		"Upload": {func(p *post.Post) { p.AttachmentIDs = []uuid.UUID{uuid.New()} }, []network.CallKind{
			network.CallUpload, network.CallPublish,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.store.parents = map[uuid.UUID]parent{parentID: {post.TargetPosted, "41"}}
				rates := []network.RateStatus{{Bucket: "statuses", Remaining: 3}}
				v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
					r := receipt(fmt.Sprint(n))
					r.Rates = rates
					return r, nil
				}
				v.network.stage = func(int) (network.Staged, error) {
					return network.Staged{RemoteID: "u", Ready: true, Rates: rates}, nil
				}
				v.finish(v.add(row.change))
				if !slices.Equal(v.limits.acquired, row.want) || v.limits.released != 0 {
					t.Errorf("got tokens %v and %d given back, want %v and 0", v.limits.acquired, v.limits.released,
						row.want)
				}
				var kinds []network.CallKind
				for _, o := range v.limits.observed {
					kinds = append(kinds, o.kind)
					if len(o.rates) != 1 || o.failure != nil {
						t.Errorf("the limits learned %+v, want the rates of the response", o)
					}
				}
				if !slices.Equal(kinds, row.want) {
					t.Errorf("the limits learned from %v, want %v", kinds, row.want)
				}
			})
		})
	}
}

// Tokens of calls that never left this machine are released: the network did not count
// them. All others are kept.
func TestAdmission_ReturnsTokensOfCallsNotMade(t *testing.T) {
	for name, row := range map[string]struct {
		class    network.Class
		upload   bool
		released int
		observed int
	}{
		"NotSent":         {network.NotSent, false, 1, 0},
		"Transient":       {network.Transient, false, 0, 1},
		"UploadNotSent":   {network.NotSent, true, 1, 0},
		"UploadTransient": {network.Transient, true, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				failure := &network.Error{
					Class: row.class, Code: "down", Rates: []network.RateStatus{{Bucket: "of the failure"}},
				}
				v.network.publish = func(int, network.Submission) (network.Receipt, error) {
					return network.Receipt{Rates: []network.RateStatus{{}, {}}}, failure
				}
				v.network.stage = func(int) (network.Staged, error) { return network.Staged{}, failure }
				p := v.add(nil)
				if row.upload {
					p.AttachmentIDs = []uuid.UUID{uuid.New()}
				}
				v.wantRetry(p, delivery.RetryFailed, 0, time.Minute)
				if v.limits.released != row.released || len(v.limits.observed) != row.observed {
					t.Errorf("got %d tokens back and %d responses, want %d and %d", v.limits.released,
						len(v.limits.observed), row.released, row.observed)
				}
				for _, o := range v.limits.observed {
					if o.failure != failure || len(o.rates) != 1 {
						t.Errorf("the limits learned %+v, want the failure and its rates", o)
					}
				}
			})
		})
	}
}

// A post that must wait records the reason and the time, and is woken when it can be
// sent earlier.
func TestAdmission_LongWaitIsExplained(t *testing.T) {
	for name, row := range map[string]struct {
		scope   network.Scope
		upload  bool
		message string
	}{
		"Account": {
			network.ScopeAccount, false,
			`The rate limit "statuses" of @desk@social.example is used up until 2000-01-01T01:00:00Z.`,
		},
		"App": {
			network.ScopeApp, false,
			`The rate limit "statuses" of Dateline at social.example is used up until 2000-01-01T01:00:00Z.`,
		},
		"Upload": {
			network.ScopeAccount, true,
			`The rate limit "statuses" of @desk@social.example is used up until 2000-01-01T01:00:00Z.`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				until := v.now.Add(time.Hour)
				v.limits.acquire = refusedUntil(until, row.scope)
				p := v.add(nil)
				if row.upload {
					p.AttachmentIDs = []uuid.UUID{uuid.New()}
				}
				for range 2 {
					v.wantRetry(p, delivery.RetryThrottled, time.Hour, time.Hour+11*time.Second)
				}
				if got := v.store.timeline(p.Targets[0].ID); !slices.Equal(got, []string{post.EventThrottled}) {
					t.Errorf("got timeline %v, want one throttled", got)
				}
				said := v.store.lastEvent(post.EventThrottled)
				if said["message"] != row.message || said["code"] != "rate_limited" || said["retry_at"] != until.UTC() {
					t.Errorf("the timeline has %v, want %s", said, row.message)
				}
				want := ratelimit.Wait{Scope: row.scope, Bucket: "statuses", Until: until}
				if len(v.limits.waiters) != 2 || v.limits.waiters[0] != want {
					t.Errorf("got waiters %+v, want %+v of each attempt", v.limits.waiters, want)
				}
				if p.Targets[0].Attempts != 0 || len(v.network.sent) != 0 {
					t.Errorf("got %d attempts and %d calls, want none", p.Targets[0].Attempts, len(v.network.sent))
				}
			})
		})
	}
}

// Up to two seconds past its time a post waits in memory, and is sent as soon as the
// bucket opens, also earlier than announced.
func TestAdmission_ShortWaitEndsEarly(t *testing.T) {
	for name, row := range map[string]struct {
		retryAt, opensAt time.Duration
		sent             time.Duration // 0: not by this attempt
	}{
		"AsAnnounced": {900 * time.Millisecond, 900 * time.Millisecond, 900 * time.Millisecond},
		"Earlier":     {time.Second, 150 * time.Millisecond, 200 * time.Millisecond},
		"AtTheEnd":    {2 * time.Second, 2 * time.Second, 2 * time.Second},
		"TooLong":     {2*time.Second + time.Millisecond, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				start := time.Now()
				v.limits.acquire = func(_ int, _ network.CallKind) ratelimit.Grant {
					if time.Since(start) < row.opensAt || row.opensAt == 0 {
						return ratelimit.Grant{RetryAt: start.Add(row.retryAt), Bucket: "statuses"}
					}
					return ratelimit.Grant{OK: true}
				}
				p := v.add(nil)
				if row.sent == 0 {
					v.wantRetry(p, delivery.RetryThrottled, 2*time.Second, 3*time.Second)
					return
				}
				result, err := v.once(p)
				if err != nil || result.Status != post.TargetPosted {
					t.Fatalf("got %+v, %v, want posted", result, err)
				}
				if got := time.Since(start); got < row.opensAt || got > row.sent+30*time.Millisecond {
					t.Errorf("sent after %s, want %s", got, row.sent)
				}
				// A refused token is requested five times a second, not in a busy loop.
				if n := len(v.limits.acquired); n > 2+int(row.sent/(200*time.Millisecond)) {
					t.Errorf("got %d requests in %s", n, row.sent)
				}
				if len(v.limits.waiters) != 0 {
					t.Errorf("got waiters %v for a wait in memory", v.limits.waiters)
				}
			})
		})
	}
}

// During a long announced wait, a burst requests tokens less often.
func TestAdmission_AsksLessOftenDuringALongWait(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.timing.MaxLimitWait = time.Minute
		start := time.Now()
		v.limits.acquire = refusedUntil(start.Add(40*time.Second), network.ScopeApp)
		v.finish(v.add(nil))
		first, second := v.limits.at[0].Sub(start), v.limits.at[1].Sub(start)
		if first != 0 || second != 5*time.Second {
			t.Errorf("requested after %s and %s, want immediately and after an eighth of the wait", first, second)
		}
		v.wantSent(40 * time.Second)
	})
}

// An attempt that ends while it waits in memory sends nothing.
func TestAdmission_EndedAttemptSendsNothing(t *testing.T) {
	for _, what := range []string{"Token", "Slot", "Upload"} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				ctx, cancel := context.WithTimeout(v.t.Context(), time.Second)
				defer cancel()
				p := v.add(nil)
				if what == "Slot" {
					v.hosts.Options = hostguard.Options{MaxCalls: 1, Slow: time.Second + 500*time.Millisecond}
					v.hosts.Acquire("mastodon https://social.example", time.Now(), false)
				} else {
					v.limits.acquire = refusedUntil(v.now.Add(1500*time.Millisecond), network.ScopeApp)
				}
				if what == "Upload" {
					p.AttachmentIDs = []uuid.UUID{uuid.New()}
				}
				_, err := v.publisher().Publish(ctx, delivery.Attempt{Number: 1}, delivery.TargetInput{
					PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
				})
				if err == nil || len(v.network.sent)+v.network.staged != 0 {
					t.Errorf("got error %v and %d calls, want an error and none", err,
						len(v.network.sent)+v.network.staged)
				}
			})
		})
	}
}

// While a send of a post is unresolved, no limit and no circuit breaker may delay the
// next one: the network remembers the key for a limited time.
func TestAdmission_UnresolvedSendIsNotDelayed(t *testing.T) {
	for _, what := range []string{"Limit", "Host"} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.network.limits.IdempotencyWindow = 3600
				v.hosts.Options = hostguard.Options{Failures: 1, Pause: time.Hour, MaxPause: time.Hour}
				v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
					if what == "Limit" {
						v.hosts = &hostguard.Bulkhead{}
						v.limits.acquire = refusedUntil(v.now.Add(time.Hour), network.ScopeApp)
					}
					if n == 1 {
						return network.Receipt{}, lost() // also opens the circuit
					}
					return receipt("2"), nil
				}
				if what == "Limit" {
					v.hosts.Options = hostguard.Options{}
				}
				p := v.add(nil)
				v.wantTarget(p, post.TargetPosted, post.CallReconciledAbsent, post.CallAccepted)
				v.wantSent(0, 20*time.Second)
				if got := v.store.timeline(p.Targets[0].ID); slices.Contains(got, post.EventNetworkWait) ||
					slices.Contains(got, post.EventThrottled) {
					t.Errorf("got timeline %v, want no wait", got)
				}
				// Another post waits for both.
				other := v.add(func(p *post.Post) { p.Content = text + ", later" })
				kind := map[string]string{"Limit": delivery.RetryThrottled, "Host": delivery.RetryHostDown}[what]
				if what == "Host" {
					v.hosts.Acquire("mastodon https://social.example", time.Now(), true) // a probe that hangs
					return
				}
				v.wantRetry(other, kind, 50*time.Minute, 2*time.Hour)
			})
		})
	}
}

// If the ledger cannot be read, the post is delayed: it may have been sent.
func TestAdmission_UnreadableLedgerDelays(t *testing.T) {
	for _, what := range []string{"Limit", "Host"} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				p := v.add(nil)
				p.Targets[0].Attempts = 1
				v.store.before = func(method string) error {
					if method == "CountUnresolvedSends" {
						return errMemory
					}
					return nil
				}
				if what == "Limit" {
					v.limits.acquire = refusedUntil(v.now.Add(time.Hour), network.ScopeApp)
				} else {
					v.hosts.Options = hostguard.Options{MaxCalls: 1}
					v.hosts.Acquire("mastodon https://social.example", time.Now(), false)
				}
				_, err := v.once(p)
				if !errors.Is(err, errMemory) || len(v.network.sent) != 0 {
					t.Errorf("got error %v and %d calls, want the database's and none", err, len(v.network.sent))
				}
			})
		})
	}
}

// A post that waits for a network's host says why, and holds no token.
func TestAdmission_HostDownIsExplained(t *testing.T) {
	const host = "mastodon https://social.example"
	for name, row := range map[string]struct {
		prepare func(v *virtual)
		code    hostguard.Reason
		message string
	}{
		"Failing": {
			func(v *virtual) {
				v.hosts.Options = hostguard.Options{Failures: 1, Pause: time.Hour, MaxPause: time.Hour}
				slot, _, _ := v.hosts.Acquire(host, time.Now(), true)
				slot.Release(hostguard.Failed)
			}, hostguard.CircuitOpen,
			"The network has failed many times in a row. The post waits until it responds again.",
		},
		"Slow": {func(v *virtual) {
			v.hosts.Options = hostguard.Options{MaxCalls: 1, Slow: time.Hour}
			v.hosts.Acquire(host, time.Now(), true)
		}, hostguard.Saturated, "The network responds so slowly that no more calls are made for now. The post waits."},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				row.prepare(v)
				p := v.add(nil)
				for range 2 {
					v.wantRetry(p, delivery.RetryHostDown, time.Hour, time.Hour+11*time.Second)
				}
				said := v.store.lastEvent(post.EventNetworkWait)
				if said["code"] != row.code || said["message"] != row.message ||
					said["retry_at"] != v.now.Add(time.Hour).UTC() {
					t.Errorf("the timeline has %v, want %s", said, row.message)
				}
				if got := v.store.timeline(p.Targets[0].ID); !slices.Equal(got, []string{post.EventNetworkWait}) {
					t.Errorf("got timeline %v, want one wait for the network", got)
				}
				if len(v.limits.acquired) != v.limits.released || len(v.network.sent) != 0 {
					t.Errorf("got %d tokens, %d of them given back, and %d calls", len(v.limits.acquired),
						v.limits.released, len(v.network.sent))
				}
			})
		})
	}
}

// A host that is available a moment later is waited for in memory.
func TestAdmission_ShortHostWaitStaysInMemory(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.hosts.Options = hostguard.Options{Failures: 1, Pause: time.Second}
		slot, _, _ := v.hosts.Acquire("mastodon https://social.example", time.Now(), true)
		slot.Release(hostguard.Failed)
		result, err := v.once(v.add(nil))
		if err != nil || result.Status != post.TargetPosted {
			t.Errorf("got %+v, %v, want posted", result, err)
		}
		v.wantSent(time.Second)
	})
}

// Only a network that does not respond or reports an internal error opens the circuit.
func TestAdmission_OnlyBrokenHostsAreSpared(t *testing.T) {
	for name, row := range map[string]struct {
		failure *network.Error
		spared  bool
	}{
		"Success":          {nil, false},
		"ServerError":      {&network.Error{Class: network.Transient, Status: 500}, true},
		"BadGateway":       {&network.Error{Class: network.Transient, Status: 502}, true},
		"Throttled":        {&network.Error{Class: network.Throttled, Status: 429}, false},
		"RequestTimeout":   {&network.Error{Class: network.Transient, Status: 499}, false},
		"ConnectionFailed": {&network.Error{Class: network.NotSent, Code: "connection_failed"}, true},
		"Timeout":          {&network.Error{Class: network.NotSent, Code: "timeout"}, true},
		"Unreadable":       {&network.Error{Class: network.NotSent, Code: "attachment_unreadable"}, false},
		"Canceled": {
			&network.Error{Class: network.NotSent, Code: "connection_failed", Err: context.Canceled},
			false,
		},
		"SomethingElse": {&network.Error{Class: network.NotSent, Code: "strange"}, false},
		"UnreadableWith500": {
			&network.Error{Class: network.Transient, Code: "attachment_unreadable", Status: 500},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.hosts.Options = hostguard.Options{Failures: 1, Pause: time.Hour, MaxPause: time.Hour}
				v.network.publish = func(int, network.Submission) (network.Receipt, error) {
					if row.failure != nil {
						return network.Receipt{}, row.failure
					}
					return receipt("1"), nil
				}
				_, _ = v.once(v.add(nil))
				slot, _, reason := v.hosts.Acquire("mastodon https://social.example", time.Now(), true)
				if (slot == nil) != row.spared {
					t.Errorf("got slot %v (%s), want spared %t", slot, reason, row.spared)
				}
			})
		})
	}
}

// Any response closes the circuit; outcomes without a response do not change it.
func TestAdmission_ResponseClosesTheCircuit(t *testing.T) {
	for name, row := range map[string]struct {
		failure *network.Error
		closes  bool
	}{
		"Success":   {nil, true},
		"Rejected":  {&network.Error{Class: network.Rejected, Status: 422}, true},
		"NoStatus":  {&network.Error{Class: network.Rejected, Code: "unsupported"}, false},
		"OurOwn":    {&network.Error{Class: network.NotSent, Code: "attachment_unreadable", Status: 200}, false},
		"Throttled": {&network.Error{Class: network.Throttled, Status: 429}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				const host = "mastodon https://social.example"
				v.hosts.Options = hostguard.Options{Failures: 2, Pause: time.Hour}
				fail := func() {
					slot, _, _ := v.hosts.Acquire(host, time.Now(), true)
					slot.Release(hostguard.Failed)
				}
				fail()
				v.network.publish = func(int, network.Submission) (network.Receipt, error) {
					if row.failure != nil {
						return network.Receipt{}, row.failure
					}
					return receipt("1"), nil
				}
				_, _ = v.once(v.add(nil))
				fail()
				slot, _, _ := v.hosts.Acquire(host, time.Now(), true)
				if (slot != nil) != row.closes {
					t.Errorf("got slot %v, want closed %t", slot, row.closes)
				}
			})
		})
	}
}

// Successful preparation does not count for the circuit, because all of it may have
// been cached. A failure of the host counts.
func TestAdmission_PreparingShowsFailures(t *testing.T) {
	for name, row := range map[string]struct {
		failure *network.Error
		want    bool // the next failure opens the circuit
	}{
		"Success":     {nil, true},
		"Rejected":    {&network.Error{Class: network.Rejected, Status: 422}, true},
		"ServerError": {&network.Error{Class: network.Transient, Status: 503}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				const host = "mastodon https://social.example"
				v.hosts.Options = hostguard.Options{Failures: 2, Pause: time.Hour}
				fail := func() {
					slot, _, _ := v.hosts.Acquire(host, time.Now(), true)
					slot.Release(hostguard.Failed)
				}
				if name != "ServerError" {
					fail()
				}
				v.network.limitsErr = func() error {
					if row.failure != nil {
						return row.failure
					}
					return nil
				}
				p := v.add(func(p *post.Post) { p.ScheduledTime = v.now.Add(time.Hour) })
				ctx, cancel := context.WithTimeout(v.t.Context(), time.Minute)
				defer cancel()
				_, _ = v.publisher().Publish(ctx, delivery.Attempt{Number: 1}, delivery.TargetInput{
					PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
				})
				fail()
				slot, _, _ := v.hosts.Acquire(host, time.Now(), true)
				if (slot == nil) != row.want {
					t.Errorf("got slot %v, want the circuit open: %t", slot, row.want)
				}
			})
		})
	}
}

// wakeups records woken posts; the first call fails.
type wakeups struct {
	mu    sync.Mutex
	woken []uuid.UUID
}

func (w *wakeups) Wake(ctx context.Context, id uuid.UUID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken = append(w.woken, id)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(w.woken) == 1 {
		return errors.New("Temporal does not respond")
	}
	return nil
}

// A response that shows that a bucket is open wakes all posts that wait for it, also
// after one of them could not be woken.
func TestAdmission_WakesWaitingPosts(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		w := &wakeups{}
		v.waker = w
		v.limits.wake = []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
		v.finish(v.add(nil))
		synctest.Wait()
		if !slices.Equal(w.woken, v.limits.wake) {
			t.Errorf("woken %v, want %v", w.woken, v.limits.wake)
		}
		if n := strings.Count(v.log.text(), "waking a post failed"); n != 1 {
			t.Errorf("the log has it %d times, want once: %s", n, v.log.text())
		}
	})
}

// Without limits, hosts and a waker, everything is sent immediately.
func TestAdmission_IsOptional(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.limits.wake = []uuid.UUID{uuid.New()}
		p := v.add(func(p *post.Post) { p.AttachmentIDs = []uuid.UUID{uuid.New()} })
		v.publisher()
		deps := v.deps
		deps.Waker = nil
		if result, err := delivery.New(deps).Publish(v.t.Context(), delivery.Attempt{Number: 1},
			delivery.TargetInput{PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1}); err != nil ||
			result.Status != post.TargetPosted {
			t.Errorf("without a waker: got %+v, %v, want posted", result, err)
		}
		deps.Limits, deps.Hosts = nil, nil
		// Not sent after all, and refused by the network.
		changed, throttled := v.add(nil), v.add(nil)
		v.store.before = func(method string) error {
			if method == "Claim" {
				changed.Revision++
			}
			return nil
		}
		if result, err := delivery.New(deps).Publish(v.t.Context(), delivery.Attempt{Number: 1},
			delivery.TargetInput{PostID: changed.ID, TargetID: changed.Targets[0].ID, Revision: 1}); err != nil ||
			!result.Stale {
			t.Errorf("a changed post: got %+v, %v, want stale", result, err)
		}
		v.store.before = nil
		v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
			if n == 2 {
				return network.Receipt{}, &network.Error{Class: network.Throttled, RetryAt: time.Now().Add(time.Hour)}
			}
			return receipt(fmt.Sprint(n)), nil
		}
		if _, err := delivery.New(deps).Publish(v.t.Context(), delivery.Attempt{Number: 1},
			delivery.TargetInput{PostID: throttled.ID, TargetID: throttled.Targets[0].ID, Revision: 1}); err == nil {
			t.Error("the network's refusal is no error")
		}
		fails := true
		v.network.stage = func(int) (network.Staged, error) {
			if fails {
				fails = false
				return network.Staged{}, &network.Error{Class: network.NotSent}
			}
			return network.Staged{RemoteID: "u", Ready: true}, nil
		}
		for i, change := range []func(p *post.Post){
			nil, thread(2),
			func(p *post.Post) { p.AttachmentIDs = []uuid.UUID{uuid.New()} },
		} {
			p := v.add(change)
			var result delivery.TargetResult
			for range 3 {
				result, _ = delivery.New(deps).Publish(v.t.Context(), delivery.Attempt{Number: 1}, delivery.TargetInput{
					PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
				})
			}
			if result.Status != post.TargetPosted {
				t.Errorf("post %d: got %+v, want posted", i, result)
			}
		}
	})
}

// calls records the metrics of calls.
type calls struct {
	mu   sync.Mutex
	made []string
}

func (*calls) Outcome(context.Context, string, string)     {}
func (*calls) Late(context.Context, string, time.Duration) {}
func (c *calls) Called(_ context.Context, network, kind, result string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, fmt.Sprintf("%s %s %s %s", network, kind, result, took))
}

func TestAdmission_CountsCalls(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
			time.Sleep(2 * time.Second)
			if n == 1 {
				return network.Receipt{}, &network.Error{Class: network.Rejected}
			}
			return receipt("2"), nil
		}
		v.network.stage = func(int) (network.Staged, error) {
			time.Sleep(3 * time.Second)
			return network.Staged{RemoteID: "u", Ready: true}, nil
		}
		v.publisher()
		metrics := &calls{}
		v.deps.Metrics = metrics
		for _, p := range []*post.Post{
			v.add(nil),
			v.add(func(p *post.Post) { p.AttachmentIDs = []uuid.UUID{uuid.New()} }),
		} {
			_, _ = delivery.New(v.deps).Publish(v.t.Context(), delivery.Attempt{Number: 1}, delivery.TargetInput{
				PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
			})
		}
		want := []string{"mastodon publish rejected 2s", "mastodon upload ok 3s", "mastodon publish ok 2s"}
		if !slices.Equal(metrics.made, want) {
			t.Errorf("got %q, want %q", metrics.made, want)
		}
	})
}

// A burst gets its tokens while it is armed, and its slots shortly before its time.
// Each post acquires one of each, and unused ones are released.
func TestAdmission_BurstAcquiresTokensEarly(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		const n = 60
		at := v.now.Add(20 * time.Second)
		publisher := v.publisher()
		var all sync.WaitGroup
		var posts []*post.Post
		for i := range n {
			posts = append(posts, v.add(func(p *post.Post) { p.Content, p.ScheduledTime = fmt.Sprint(text, i), at }))
		}
		// The last one is canceled while it waits.
		canceled := posts[n-1]

		time.AfterFunc(19600*time.Millisecond, func() {
			v.store.mu.Lock()
			defer v.store.mu.Unlock()
			canceled.Revision++
		})
		for _, p := range posts {
			all.Go(func() {
				result, err := publisher.Publish(v.t.Context(), delivery.Attempt{Number: 1}, delivery.TargetInput{
					PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
				})
				if err != nil || (result.Status != post.TargetPosted) != (p == canceled) ||
					result.Stale != (p == canceled) {
					t.Errorf("got %+v, %v", result, err)
				}
			})
		}
		all.Wait()
		early := 0
		for _, acquired := range v.limits.at {
			if v.since(acquired) < time.Second {
				early++
			}
		}
		if len(v.limits.at) != n || early != n-49 || v.limits.released != 1 {
			t.Errorf("got %d tokens, %d of them early, %d given back; want %d, %d, 1", len(v.limits.at), early,
				v.limits.released, n, n-49)
		}
		for _, s := range v.network.sent {
			if v.since(s.at) < 20*time.Second || v.since(s.at) > 20100*time.Millisecond {
				t.Errorf("sent at %s, want 20s", v.since(s.at))
			}
		}
	})
}

// A post of a burst that gets a token but no host slot releases the token.
func TestAdmission_TokenWithoutSlotIsReleased(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		const n = 50
		at := v.now.Add(20 * time.Second)
		v.hosts.Options = hostguard.Options{Failures: 1, Pause: time.Hour, MaxPause: time.Hour}
		publisher := v.publisher()
		var all sync.WaitGroup
		time.AfterFunc(10*time.Second, func() {
			slot, _, _ := v.hosts.Acquire("mastodon https://social.example", time.Now(), true)
			slot.Release(hostguard.Failed)
		})
		for i := range n {
			p := v.add(func(p *post.Post) { p.Content, p.ScheduledTime = fmt.Sprint(text, i), at })
			all.Go(func() {
				_, err := publisher.Publish(v.t.Context(), delivery.Attempt{Number: 1}, delivery.TargetInput{
					PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
				})
				var again *delivery.RetryError
				if !errors.As(err, &again) || again.Kind != delivery.RetryHostDown {
					t.Errorf("got %v, want host_down", err)
				}
			})
		}
		all.Wait()
		if len(v.limits.acquired) != v.limits.released || v.limits.released == 0 {
			t.Errorf("got %d tokens, %d of them given back", len(v.limits.acquired), v.limits.released)
		}
	})
}
