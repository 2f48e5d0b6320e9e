package delivery_test

import (
	"context"
	"errors"
	"fmt"
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

// One slot at a host suffices for a post and for a thread: each call acquires one and
// releases it.
func TestAdmission_OneSlotIsEnough(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.hosts.Options = hostguard.Options{MaxCalls: 1}
		changed := v.add(nil)
		v.store.before = func(method string) error {
			if method == "Claim" {
				changed.Revision++
			}
			return nil
		}
		if result, err := v.once(changed); err != nil || !result.Stale {
			t.Errorf("a changed post: got %+v, %v, want stale", result, err)
		}
		v.store.before = nil
		for _, p := range []*post.Post{v.add(nil), v.add(thread(3))} {
			if result, err := v.once(p); err != nil || result.Status != post.TargetPosted {
				t.Errorf("got %+v, %v, want posted", result, err)
			}
		}
	})
}

// A thread whose last segment was confirmed manually is posted without a call, and
// acquires nothing.
func TestAdmission_PublishedThreadTakesNothing(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(func(p *post.Post) {
			p.Status, p.Targets[0].Status, p.Targets[0].RemoteID = post.Publishing, post.TargetPublishing, "41"
		})
		sent := v.now
		v.store.remote = append(v.store.remote, remotePost{
			p.Targets[0].ID, post.PublishedSegment{RemoteID: "41", SentAt: &sent, PostedAt: v.now},
		})
		v.limits.acquire = refusedUntil(v.now.Add(time.Hour), network.ScopeApp)
		result, err := v.once(p)
		if err != nil || result.Status != post.TargetPosted || len(v.limits.acquired) != 0 || len(v.network.sent) != 0 {
			t.Errorf("got %+v, %v, %d tokens and %d calls, want posted without any", result, err,
				len(v.limits.acquired), len(v.network.sent))
		}
	})
}

// The ledger is read only after a refusal, and only for posts that were sent before.
func TestAdmission_ReadsTheLedgerOnlyWhenItMatters(t *testing.T) {
	for name, row := range map[string]struct {
		attempts int
		refused  bool
		fails    bool
		kind     string // empty: posted
	}{
		"FirstRefused":     {0, true, true, delivery.RetryThrottled},
		"SecondAllowed":    {1, false, true, ""},
		"SecondRefused":    {1, true, false, delivery.RetryThrottled},
		"SecondUnreadable": {1, true, true, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				p := v.add(nil)
				p.Targets[0].Attempts = row.attempts
				if row.refused {
					v.limits.acquire = refusedUntil(v.now.Add(time.Hour), network.ScopeApp)
				}
				v.store.before = func(method string) error {
					if row.fails && method == "CountUnresolvedSends" {
						return errMemory
					}
					return nil
				}
				switch row.kind {
				case "":
					if result, err := v.once(p); err != nil || result.Status != post.TargetPosted {
						t.Errorf("got %+v, %v, want posted", result, err)
					}
				case "error":
					if _, err := v.once(p); !errors.Is(err, errMemory) {
						t.Errorf("got %v, want the database's error", err)
					}
				default:
					v.wantRetry(p, row.kind, 50*time.Minute, 2*time.Hour)
				}
			})
		})
	}
}

// A wait that cannot be written to the timeline is an error, which is retried.
func TestAdmission_UnwrittenWaitIsAnError(t *testing.T) {
	for _, what := range []string{"Limit", "Host"} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.store.before = func(method string) error {
					if method == "AddEventOnce" {
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
				if _, err := v.once(v.add(nil)); !errors.Is(err, errMemory) || len(v.network.sent) != 0 {
					t.Errorf("got %v and %d calls, want the database's error", err, len(v.network.sent))
				}
			})
		})
	}
}

// Attempts that end release their tokens although their context has ended.
func TestAdmission_EndedAttemptsReturnTokens(t *testing.T) {
	t.Run("Armed", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			const n = 50
			at := v.now.Add(20 * time.Second)
			ctx, cancel := context.WithTimeout(v.t.Context(), 10*time.Second)
			defer cancel()
			publisher := v.publisher()
			var all sync.WaitGroup
			for i := range n {
				p := v.add(func(p *post.Post) { p.Content, p.ScheduledTime = fmt.Sprint(text, i), at })
				all.Go(func() {
					_, _ = publisher.Publish(ctx, delivery.Attempt{Number: 1}, delivery.TargetInput{
						PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
					})
				})
			}
			all.Wait()
			if len(v.limits.acquired) == 0 || v.limits.released != len(v.limits.acquired) || len(v.network.sent) != 0 {
				t.Errorf("got %d tokens, %d of them back, %d calls", len(v.limits.acquired), v.limits.released,
					len(v.network.sent))
			}
		})
	})
	t.Run("Upload", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			ctx, cancel := context.WithCancel(v.t.Context())
			defer cancel()
			v.network.stage = func(int) (network.Staged, error) {
				cancel()
				return network.Staged{}, &network.Error{Class: network.NotSent}
			}
			p := v.add(func(p *post.Post) { p.AttachmentIDs = []uuid.UUID{uuid.New()} })
			_, _ = v.publisher().Publish(ctx, delivery.Attempt{Number: 1}, delivery.TargetInput{
				PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
			})
			if len(v.limits.acquired) != 1 || v.limits.released != 1 {
				t.Errorf("got %d tokens, %d of them back, want 1 and 1", len(v.limits.acquired), v.limits.released)
			}
		})
	})
}

func TestAdmission_WakesASinglePost(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		w := &wakeups{}
		v.waker = w
		v.limits.wake = []uuid.UUID{uuid.New()}
		v.finish(v.add(nil))
		synctest.Wait()
		if len(w.woken) != 1 {
			t.Errorf("woken %v, want %v", w.woken, v.limits.wake)
		}
	})
}

// Only waits of more than two seconds are announced to other processes.
func TestAdmission_RegistersLongWaits(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		1500 * time.Millisecond: 0, 2 * time.Second: 0,
		2*time.Second + time.Millisecond: 1, 3 * time.Second: 1,
	} {
		t.Run(wait.String(), func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.timing.MaxLimitWait = time.Second
				v.limits.acquire = refusedUntil(v.now.Add(wait), network.ScopeApp)
				v.wantRetry(v.add(nil), delivery.RetryThrottled, wait, wait+time.Second)
				if len(v.limits.waiters) != want {
					t.Errorf("got waiters %v, want %d", v.limits.waiters, want)
				}
			})
		})
	}
	t.Run("RefusedByTheNetwork", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.network.publish = func(int, network.Submission) (network.Receipt, error) {
				return network.Receipt{}, &network.Error{
					Class: network.Throttled, Scope: network.ScopeAccount, RetryAt: time.Now().Add(time.Hour),
				}
			}
			v.wantRetry(v.add(nil), delivery.RetryThrottled, 50*time.Minute, 2*time.Hour)
			if len(v.limits.waiters) != 1 || v.limits.waiters[0].Scope != network.ScopeAccount {
				t.Errorf("got waiters %v, want one of the account", v.limits.waiters)
			}
		})
	})
}

// A late post waits in memory as long as a post on time; a post of a burst waits until
// shortly after its time.
func TestAdmission_WaitsRelativeToTheLaterTime(t *testing.T) {
	late := func(p *post.Post) { p.ScheduledTime = time.Now().Add(-time.Minute) }
	t.Run("LateToken", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.limits.acquire = refusedUntil(v.now.Add(time.Second), network.ScopeApp)
			if result, err := v.once(v.add(late)); err != nil || result.Status != post.TargetPosted {
				t.Errorf("got %+v, %v, want posted", result, err)
			}
		})
	})
	t.Run("LateSlot", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.hosts.Options = hostguard.Options{Failures: 1, Pause: time.Second}
			slot, _, _ := v.hosts.Acquire("mastodon https://social.example", time.Now(), true)
			slot.Release(hostguard.Failed)
			if result, err := v.once(v.add(late)); err != nil || result.Status != post.TargetPosted {
				t.Errorf("got %+v, %v, want posted", result, err)
			}
		})
	})
	t.Run("EarlySlot", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.hosts.Options = hostguard.Options{Failures: 1, Pause: 6 * time.Second}
			time.AfterFunc(5*time.Second, func() {
				slot, _, _ := v.hosts.Acquire("mastodon https://social.example", time.Now(), true)
				slot.Release(hostguard.Failed)
			})
			result, err := v.once(v.add(func(p *post.Post) { p.ScheduledTime = v.now.Add(10 * time.Second) }))
			if err != nil || result.Status != post.TargetPosted {
				t.Errorf("got %+v, %v, want posted", result, err)
			}
			v.wantSent(11 * time.Second)
		})
	})
	t.Run("EarlyToken", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			const n = 51
			publisher := v.publisher()
			v.limits.acquire = func(int, network.CallKind) ratelimit.Grant {
				if v.since(time.Now()) < 10*time.Second {
					return ratelimit.Grant{RetryAt: v.now.Add(10 * time.Second)}
				}
				return ratelimit.Grant{OK: true}
			}
			var all sync.WaitGroup
			for i := range n {
				p := v.add(func(p *post.Post) {
					p.Content, p.ScheduledTime = fmt.Sprint(text, i), v.now.Add(20*time.Second)
				})
				all.Go(func() {
					result, err := publisher.Publish(v.t.Context(), delivery.Attempt{Number: 1}, delivery.TargetInput{
						PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
					})
					if err != nil || result.Status != post.TargetPosted {
						t.Errorf("got %+v, %v, want posted", result, err)
					}
				})
			}
			all.Wait()
		})
	})
}
