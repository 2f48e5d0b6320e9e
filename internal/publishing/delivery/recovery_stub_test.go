package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
)

// reconcileStub is a scripted database and Temporal.
type reconcileStub struct {
	fails       string
	missing     []post.Unattended
	asked       int
	mu          sync.Mutex // of what follows: workflows start at the same time
	late        []uuid.UUID
	reconnected []uuid.UUID
	taken       uuid.UUID // another worker redrives this one
	running     bool      // workflows that are running already
	revived     []uuid.UUID
	signaled    []uuid.UUID
	changed     []uuid.UUID
}

var errStub = errors.New("scripted failure")

func (s *reconcileStub) fail(call string) error {
	if s.fails == call {
		return errStub
	}
	return nil
}

func (s *reconcileStub) DetectNewTemporalStore(context.Context, string) (int64, error) {
	return 0, s.fail("SeenTemporalStore")
}

// ListMissingWorkflows lists also posts whose workflows were started a moment ago.
func (s *reconcileStub) ListMissingWorkflows(
	_ context.Context, after post.Unattended, limit int,
) ([]post.Unattended, error) {
	s.asked++
	rest := s.missing[1+slices.Index(s.missing, after):]
	return rest[:min(limit, len(rest))], s.fail("MissingWorkflows")
}

func (s *reconcileStub) ListReconnected(context.Context, int) ([]uuid.UUID, error) {
	return s.reconnected, s.fail("Reconnected")
}

func (s *reconcileStub) RedriveReconnected(_ context.Context, id uuid.UUID) (post.Post, error) {
	if id == s.taken {
		return post.Post{}, &apperr.Error{Kind: apperr.KindConflict, Code: "not_failed"}
	}
	return post.Post{}, s.fail("Return")
}

func (s *reconcileStub) MarkLate(context.Context, time.Duration, int) ([]uuid.UUID, error) {
	return s.late, s.fail("MarkLatePosts")
}

func (s *reconcileStub) DeleteExpiredIdempotencyKeys(context.Context) error {
	return s.fail("DropOldIdempotencyKeys")
}

func (s *reconcileStub) SignalChanged(_ context.Context, id uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signaled = append(s.signaled, id)
	return s.fail("SignalChanged")
}

func (s *reconcileStub) EnsureRunning(_ context.Context, id uuid.UUID) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revived = append(s.revived, id)
	return !s.running, s.fail("EnsureRunning")
}

func (s *reconcileStub) StoreIdentity(context.Context) (string, error) {
	return "one", s.fail("StoreIdentity")
}

func (s *reconcileStub) Changed(_ context.Context, id uuid.UUID) { s.changed = append(s.changed, id) }

func (s *reconcileStub) run(t *testing.T) (delivery.RecoveryResult, error) {
	t.Helper()
	r := &delivery.Recovery{Store: s, Signaler: s, Live: s, Log: slog.New(slog.DiscardHandler)}
	return r.Run(t.Context(), func(int) {})
}

func unattended(n int, isStale bool) []post.Unattended {
	out := make([]post.Unattended, n)
	for i := range out {
		out[i] = post.Unattended{PostID: uuid.New(), IsStale: isStale}
	}
	return out
}

// After a long outage there are more posts than one query returns. Each is started once,
// although a workflow takes a while to report that it runs.
func TestReconcilePosts_ReachesEveryPost(t *testing.T) {
	for n, asks := range map[int]int{0: 1, 30: 1, 200: 2, 430: 3} {
		s := &reconcileStub{missing: unattended(n, false)}
		result, err := s.run(t)
		if err != nil || result.Signaled != n || len(s.revived) != n || s.asked != asks {
			t.Errorf("got %+v, %v, %d started, %d queries, want %d started in %d queries", result, err,
				len(s.revived), s.asked, n, asks)
		}
		slices.SortFunc(s.revived, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		if len(slices.Compact(s.revived)) != n {
			t.Errorf("%d posts: some are started twice", n)
		}
		if len(s.signaled) != 0 {
			t.Errorf("got %d signals of workflows that were just started, want 0", len(s.signaled))
		}
	}
}

// A running workflow is signaled about a change that it has not received, and otherwise
// not.
func TestReconcilePosts_SignalsRunningWorkflows(t *testing.T) {
	current, stale := unattended(1, false), unattended(1, true)
	s := &reconcileStub{running: true, missing: slices.Concat(current, stale)}
	if _, err := s.run(t); err != nil || !slices.Equal(s.signaled, []uuid.UUID{stale[0].PostID}) {
		t.Errorf("signaled %v, %v, want %v", s.signaled, err, stale[0].PostID)
	}
}

func TestReconcilePosts_RedrivesReconnectedAccounts(t *testing.T) {
	s := &reconcileStub{reconnected: []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}, late: []uuid.UUID{uuid.New()}}
	s.taken = s.reconnected[1]
	result, err := s.run(t)
	want := []uuid.UUID{s.reconnected[0], s.reconnected[2]}
	if err != nil || result.Redriven != 2 || !slices.Equal(s.signaled, want) {
		t.Errorf("got %+v, %v, signaled %v, want %v", result, err, s.signaled, want)
	}
	if want := append(want, s.late...); !slices.Equal(s.changed, want) || result.Late != 1 {
		t.Errorf("dashboards were notified of %v, %d late, want %v, 1 late", s.changed, result.Late, want)
	}
}

// A run with failures returns an error, so that it is retried and alerted.
func TestReconcilePosts_ReportsFailures(t *testing.T) {
	for _, call := range []string{
		"StoreIdentity", "SeenTemporalStore", "Reconnected", "Return", "SignalChanged",
		"MarkLatePosts", "MissingWorkflows", "EnsureRunning", "DropOldIdempotencyKeys",
	} {
		s := &reconcileStub{fails: call, reconnected: []uuid.UUID{uuid.New()}, missing: unattended(1, false)}
		if result, err := s.run(t); err == nil {
			t.Errorf("%s fails: got %+v, want an error", call, result)
		}
	}
}
