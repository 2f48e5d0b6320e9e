package delivery_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// A worker that is stopping when a response is lost still records that it was
// lost, and leaves the search to the next attempt.
func TestReconciler_StoppingWorkerRecordsTheLoss(t *testing.T) {
	for _, when := range []string{"Sending", "Searching"} {
		t.Run(when, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				ctx, cancel := context.WithCancel(v.t.Context())
				defer cancel()
				p := v.add(nil)
				v.network.publish = func(int, network.Submission) (network.Receipt, error) {
					if when == "Sending" {
						cancel()
					} else {
						time.AfterFunc(3*time.Second, cancel)
					}
					return network.Receipt{}, lost()
				}
				_, err := v.publisher().Publish(ctx, delivery.Attempt{Number: 1}, delivery.TargetInput{
					PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1,
				})
				if err == nil || v.since(time.Now()) > 4*time.Second {
					t.Errorf("got %v after %s, want the end of the attempt", err, v.since(time.Now()))
				}
				if got := v.store.ledger(p.Targets[0].ID); !slices.Equal(got, []string{post.CallAmbiguous}) {
					t.Errorf("got ledger %v, want ambiguous", got)
				}
				if got := v.store.timeline(p.Targets[0].ID); !slices.Equal(got,
					[]string{post.EventSending, post.EventAmbiguous}) {
					t.Errorf("got timeline %v", got)
				}
				if want := map[string]int{"Sending": 0, "Searching": 1}[when]; len(v.network.searched) != want ||
					len(v.network.sent) != 1 {
					t.Errorf("got %d searches and %d calls, want %d and 1", len(v.network.searched),
						len(v.network.sent), want)
				}
			})
		})
	}
}

// The fifth attempt that provably published nothing is the last.
func TestReconciler_AbsentLastAttemptFails(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		p.Targets[0].Attempts = 4
		v.network.publish = losing(1)
		if got := v.wantTarget(p, post.TargetFailed, post.CallReconciledAbsent); got.ErrorCode != "absent" {
			t.Errorf("got code %q, want absent", got.ErrorCode)
		}
	})
}

// A send of an earlier revision may have created the post that the network refuses as a
// duplicate; a new time does not change that.
func TestReconciler_DuplicateOfAnEarlierRevision(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
			switch n {
			case 1:
				return network.Receipt{}, lost()
			case 2:
				p.Revision++ // a new time
				return network.Receipt{}, &network.Error{Class: network.NotSent}
			}
			existing := receipt("42")
			existing.CreatedAt = v.now
			return network.Receipt{}, &network.Error{Class: network.Duplicate, Existing: &existing}
		}
		_, _ = v.once(p)
		for _, c := range v.store.calls {
			if c.State == post.CallSending {
				c.State = post.CallFailed // as if settled when an edit reads it
			}
		}
		p.Targets[0].ClaimedUntil = nil
		if got := v.finish(p); got.Status != post.TargetPosted || got.RemoteID != "42" {
			t.Errorf("got %s %q (%s), want the post of the first send", got.Status, got.RemoteID, got.ErrorCode)
		}
	})
}

// Refusing to prepare a post proves nothing about a send.
func TestReconciler_DuplicateWithoutASendFails(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		v.store.calls = append(v.store.calls, &storedCall{
			Call:  post.Call{OperationID: uuid.New(), TargetID: p.Targets[0].ID, Revision: 1, Epoch: 1, SentAt: v.now},
			State: post.CallReconciledAbsent,
		})
		v.network.limitsErr = func() error { return &network.Error{Class: network.Duplicate, Code: "duplicate"} }
		if got := v.finish(p); got.Status != post.TargetFailed || len(v.network.searched) != 0 {
			t.Errorf("got %s after %d searches, want failed", got.Status, len(v.network.searched))
		}
	})
}

// While the database fails, a refusal has no consequences.
func TestReconciler_DuplicateNeedsTheLedger(t *testing.T) {
	for _, method := range []string{"UnresolvedSince", "ClaimedRemoteIDs", "AddEvent"} {
		t.Run(method, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
					if n == 1 {
						return network.Receipt{}, lost()
					}
					v.store.before = func(called string) error {
						if called == method {
							return errMemory
						}
						return nil
					}
					existing := receipt("42")
					return network.Receipt{}, &network.Error{Class: network.Duplicate, Existing: &existing}
				}
				p := v.add(nil)
				if _, err := v.once(p); !errors.Is(err, errMemory) || p.Targets[0].Status != post.TargetPublishing {
					t.Errorf("got %v and %s, want the database's error", err, p.Targets[0].Status)
				}
			})
		})
	}
}

// After the search its claim is no longer renewed: the next send of the same attempt
// needs a new one.
func TestReconciler_StopsRenewingAfterTheSearch(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.network.publish = losing(1)
		v.network.limitsErr = func() error {
			if len(v.network.searched) == 4 {
				time.Sleep(12 * time.Second)
			}
			return nil
		}
		p := v.add(nil)
		v.wantTarget(p, post.TargetPosted, post.CallReconciledAbsent, post.CallAccepted)
		v.wantSent(0, 93*time.Second)
		if len(v.errs) != 0 {
			t.Errorf("got errors %v, want one attempt", v.errs)
		}
	})
}

// A network with idempotency keys gets the same request again as soon as it has
// settled, but never before the first search.
func TestReconciler_KeyedSendFollowsTheNextSearch(t *testing.T) {
	t.Run("LateLoss", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.network.limits.IdempotencyWindow = 3600
			v.network.publish = func(n int, _ network.Submission) (network.Receipt, error) {
				if n == 1 {
					time.Sleep(30 * time.Second)
					return network.Receipt{}, lost()
				}
				return receipt("2"), nil
			}
			v.finish(v.add(nil))
			v.wantSearched(31 * time.Second)
			v.wantSent(0, 31*time.Second)
		})
	})
	t.Run("SecondSearch", func(t *testing.T) {
		inVirtualTime(t, func(v *virtual) {
			v.timing.Looks = []time.Duration{time.Second, time.Minute}
			v.network.limits.IdempotencyWindow = 3600
			v.network.publish = losing(1)
			v.finish(v.add(nil))
			v.wantSearched(time.Second, 20*time.Second)
			v.wantSent(0, 20*time.Second)
		})
	})
}

// A call of a dead worker is compared with similar calls like any other.
func TestReconciler_InterruptedCallHasTwins(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		v.network.publish = func(int, network.Submission) (network.Receipt, error) {
			v.twin(func(*storedCall) {})(p)
			panic("the worker dies")
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = v.once(p)
		}()
		v.network.search = func(int, network.Window) (network.Finding, error) {
			return network.Finding{Found: true, Receipt: receipt("42")}, nil
		}
		if got := v.finish(p); got.Status != post.TargetPosted {
			t.Errorf("got %s, want posted", got.Status)
		}
		if got := v.network.searched[0].window.Pending; got != 2 {
			t.Errorf("got %d pending calls, want both", got)
		}
		// The claim of the dead worker expired after 15 s.
		if at := v.since(v.network.searched[0].at); at < 16*time.Second || at > 20*time.Second {
			t.Errorf("searched after %s, want shortly after the claim ended", at)
		}
		if got := v.store.lastEvent(post.EventAmbiguous); got["code"] != "interrupted" {
			t.Errorf("the timeline has %v, want interrupted", got)
		}
	})
}

// Our posts that are older than a day plus the clocks' offset cannot be the lost one.
func TestReconciler_KnowsRecentPosts(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		const bound = 24*time.Hour + 2*time.Minute
		for id, age := range map[string]time.Duration{"recent": bound - time.Second, "old": bound + time.Second} {
			v.store.remote = append(v.store.remote, remotePost{
				uuid.New(), post.PublishedSegment{RemoteID: id, PostedAt: v.now.Add(-age)},
			})
		}
		v.network.publish = losing(1)
		v.finish(v.add(nil))
		if known := v.network.searched[0].window.Known; !known["recent"] || known["old"] {
			t.Errorf("got known ids %v, want the recent one", known)
		}
	})
}

// One of two twins differs in something that a listing does not show: neither is
// assigned.
func TestReconciler_OneDifferentTwinIsEnough(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		v.network.publish = func(_ int, _ network.Submission) (network.Receipt, error) {
			v.twin(func(c *storedCall) { c.Fingerprint = []byte("other") })(p)
			own := *v.store.calls[0]
			own.OperationID, own.TargetID, own.State = uuid.New(), uuid.New(), post.CallAmbiguous
			v.store.calls = append(v.store.calls, &own)
			return network.Receipt{}, lost()
		}
		v.finish(p)
		if w := v.network.searched[0].window; !w.Unassignable || w.Pending != 3 {
			t.Errorf("got %+v, want three that cannot be assigned", w)
		}
	})
}

// A twin whose response is also lost does not prevent assigning a post.
func TestReconciler_AmbiguousTwinIsNoObstacle(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		v.network.publish = func(int, network.Submission) (network.Receipt, error) {
			v.twin(func(*storedCall) {})(p)
			return network.Receipt{}, lost()
		}
		v.network.search = func(int, network.Window) (network.Finding, error) {
			return network.Finding{Found: true, Receipt: receipt("42")}, nil
		}
		if got := v.finish(p); got.RemoteID != "42" || len(v.network.searched) != 1 {
			t.Errorf("got %q after %d searches, want 42 after the first", got.RemoteID, len(v.network.searched))
		}
	})
}

// An attempt waits for another one's claim in the same process for two leases, then its
// caller waits.
func TestPublish_WaitsForAnotherClaim(t *testing.T) {
	for name, row := range map[string]struct {
		held  time.Duration
		waits bool
	}{"Ends": {28 * time.Second, false}, "Held": {34 * time.Second, true}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(v *virtual) {
				p := v.add(nil)
				until := v.now.Add(row.held)
				p.Status, p.Targets[0].Status, p.Targets[0].Fence, p.Targets[0].ClaimedUntil = post.Publishing,
					post.TargetPublishing, 1, &until
				v.store.calls = append(v.store.calls, &storedCall{
					Call: post.Call{
						OperationID: uuid.New(), TargetID: p.Targets[0].ID, Revision: 1, Epoch: 1, Fence: 1,
						SentAt: v.now,
					}, State: post.CallSending,
				})
				v.network.search = func(int, network.Window) (network.Finding, error) {
					return network.Finding{Found: true, Receipt: receipt("42")}, nil
				}
				if row.waits {
					v.wantRetry(p, delivery.RetryWaiting, time.Second, 10*time.Second)
					if got := v.since(time.Now()); got != 30*time.Second {
						t.Errorf("waited %s, want 30s", got)
					}
					return
				}
				if result, err := v.once(p); err != nil || result.Status != post.TargetPosted {
					t.Errorf("got %+v, %v, want posted", result, err)
				}
				v.wantSearched(31 * time.Second) // 30 s and the first search
			})
		})
	}
}

// wrongClock is a database clock with an offset to the host's until it is corrected.
type wrongClock struct {
	at  time.Time
	off time.Duration
}

func (c wrongClock) Now() time.Time {
	if time.Now().Before(c.at) {
		return time.Now()
	}
	return time.Now().Add(c.off)
}

func (c wrongClock) FromHost(t time.Time) time.Time { return t }

// When a clock is corrected, the time of a waiting post moves.
func TestPublish_FollowsACorrectedClock(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		v.clock = wrongClock{v.now.Add(3 * time.Second), -10 * time.Second}
		v.finish(v.add(func(p *post.Post) { p.ScheduledTime = v.now.Add(20 * time.Second) }))
		v.wantSent(30 * time.Second)
	})
}

func TestPublish_SendsHeartbeatsWhileItWaits(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(func(p *post.Post) { p.ScheduledTime = v.now.Add(time.Minute) })
		beats := 0
		attempt := delivery.Attempt{Number: 1, Heartbeat: func() { beats++ }}
		if _, err := v.publisher().Publish(v.t.Context(), attempt,
			delivery.TargetInput{PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 1}); err != nil {
			t.Fatal(err)
		}
		if beats < 25 || beats > 31 {
			t.Errorf("got %d heartbeats in a minute, want one every 2 s", beats)
		}
	})
}

// While another call on the account may explain the listed posts, searches are repeated
// soon after the planned ones, then less and less often.
func TestReconciler_DisturbedSearchesAreRepeatedSoon(t *testing.T) {
	inVirtualTime(t, func(v *virtual) {
		p := v.add(nil)
		v.network.publish = func(int, network.Submission) (network.Receipt, error) {
			v.twin(func(c *storedCall) { c.State = post.CallSending })(p)
			return network.Receipt{}, lost()
		}
		v.network.search = func(int, network.Window) (network.Finding, error) {
			return network.Finding{Conclusive: true}, nil
		}
		v.finish(p)
		planned, searched := 4, v.network.searched
		for i, mean := range []time.Duration{
			5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second,
			time.Minute, time.Minute,
		} {
			if len(searched) <= planned+i {
				t.Fatalf("got %d searches, want more than %d", len(searched), planned+i)
			}
			if wait := searched[planned+i].at.Sub(searched[planned+i-1].at); wait < mean/2 || wait >= mean*3/2 {
				t.Errorf("got %s before the disturbed search %d, want %s, more or less by half", wait, i+1, mean)
			}
		}
	})
}
