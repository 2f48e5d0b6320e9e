package delivery_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/internal/testing/storetest"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// Posts that are read at the same time share a statement; each caller gets its own.
func TestBatched_ReadsPostsTogether(t *testing.T) {
	t.Parallel()
	n := storetest.OpenNewsroom(t)
	second := n.Connect("second")
	plain := n.Delivery()
	batched, _, stop := delivery.Batched(plain, nil)
	defer stop()
	ids := []uuid.UUID{
		n.Create(func(d *post.NewPost) { d.AccountIDs = nil; d.Post.Status = post.Draft }).ID,
		n.Create(func(d *post.NewPost) { d.AccountIDs = append(d.AccountIDs, second.ID) }).ID,
		n.Create(func(d *post.NewPost) { d.Post.Thread = []post.Segment{{Content: "2"}} }).ID,
	}
	for range 40 {
		ids = append(ids, n.Create().ID)
	}
	var all sync.WaitGroup
	for range 3 {
		for _, id := range ids {
			all.Go(func() {
				got, err := batched.Post(t.Context(), id)
				want, problem := plain.Post(t.Context(), id)
				if err != nil || problem != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, %v, want %+v, %v", got, err, want, problem)
				}
			})
		}
		all.Go(func() {
			_, err := batched.Post(t.Context(), uuid.New())
			if e := (*apperr.Error)(nil); !errors.As(err, &e) || e.Kind != apperr.KindNotFound {
				t.Errorf("an unknown post: got %v, want not found", err)
			}
		})
	}
	all.Wait()
}

// countedAccounts counts how often each account is opened.
type countedAccounts struct {
	delivery.Accounts
	unknown uuid.UUID
	mu      sync.Mutex
	n       int
}

func (c *countedAccounts) Open(_ context.Context, id uuid.UUID) (account.Account, network.Account, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if id == c.unknown {
		return account.Account{}, network.Account{}, apperr.NotFound("account")
	}
	return account.Account{ID: id}, network.Account{ID: id.String()}, nil
}

// Posts of a stream to one account open it once. The error of an account is its own.
func TestBatched_OpensAccountsTogether(t *testing.T) {
	counted := &countedAccounts{unknown: uuid.New()}
	_, accounts, stop := delivery.Batched(nil, counted)
	defer stop()
	ids := []uuid.UUID{uuid.New(), uuid.New(), counted.unknown}
	var all sync.WaitGroup
	for range 100 {
		for _, id := range ids {
			all.Go(func() {
				stored, opened, err := accounts.Open(t.Context(), id)
				if id == counted.unknown {
					if err == nil {
						t.Error("an unknown account: got no error")
					}
					return
				}
				if err != nil || stored.ID != id || opened.ID != id.String() {
					t.Errorf("got %+v, %+v, %v, want %s", stored, opened, err, id)
				}
			})
		}
	}
	all.Wait()
	if counted.n > 30 {
		t.Errorf("300 posts opened 3 accounts %d times, want a few batches", counted.n)
	}
}

// hangingReads has a connection that hangs; the next ones work.
type hangingReads struct {
	delivery.BatchStore
	n atomic.Int32
}

func (h *hangingReads) PostsWithTargets(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]post.Post, error) {
	if h.n.Add(1) == 1 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := map[uuid.UUID]post.Post{}
	for _, id := range ids {
		out[id] = post.Post{ID: id}
	}
	return out, nil
}

// A connection that hangs, as after a failover, delays posts by seconds, not for as long
// as it hangs.
func TestBatched_AHangingReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _, stop := delivery.Batched(&hangingReads{}, nil)
		defer stop()
		began := time.Now()
		if _, err := store.Post(t.Context(), uuid.New()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that it timed out", err)
		}
		if _, err := store.Post(t.Context(), uuid.New()); err != nil {
			t.Errorf("the next one: %v", err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("they took %s", took)
		}
	})
}

// learning is a limiter that says when it learns from a response.
type learning struct {
	delivery.RateLimits
	learned chan struct{}
}

func (*learning) Acquire(context.Context, ratelimit.Caller, network.CallKind) ratelimit.Grant {
	return ratelimit.Grant{OK: true}
}

func (l *learning) Observe(
	_ context.Context, _ ratelimit.Caller, _ network.CallKind, _ []network.RateStatus, failure *network.Error,
) []uuid.UUID {
	if failure == nil {
		close(l.learned)
	}
	return nil
}

// lateRecords records outcomes after the limits have learned.
type lateRecords struct {
	delivery.Store
	*learning
	t *testing.T
}

func (s *lateRecords) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	select {
	case <-s.learned:
	case <-time.After(30 * time.Second):
		s.t.Error("the limits wait for the record")
	}
	return s.Store.RecordOutcome(ctx, o)
}

// Limits learn from a success when the response arrives, and not when its outcome is
// recorded: it must not undo a 429 that follows.
func TestLimits_LearnBeforeTheOutcomeIsRecorded(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.publisher()
	limits := &learning{learned: make(chan struct{})}
	p.Limits, p.Store = limits, &lateRecords{p.Store, limits, t}
	if result, err := b.once(p, input(b.schedule(nil))); err != nil || result.Status != post.TargetPosted {
		t.Fatalf("result %+v, error %v", result, err)
	}
}
