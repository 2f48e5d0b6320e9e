package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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
	missing     [][]post.Unattended // per call; the last one repeats
	asked       int
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

func (s *reconcileStub) ListMissingWorkflows(context.Context, int) ([]post.Unattended, error) {
	if len(s.missing) == 0 || s.fails == "MissingWorkflows" {
		return nil, s.fail("MissingWorkflows")
	}
	batch := s.missing[min(s.asked, len(s.missing)-1)]
	s.asked++
	return batch, nil
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
	s.signaled = append(s.signaled, id)
	return s.fail("SignalChanged")
}

func (s *reconcileStub) EnsureRunning(_ context.Context, id uuid.UUID) (bool, error) {
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

// After a long outage there are more posts than one query returns. All of them are
// started, and a post that stays missing does not keep the activity running.
func TestReconcilePosts_ReachesEveryPost(t *testing.T) {
	first, second, third := unattended(200, false), unattended(200, false), unattended(30, false)
	for name, row := range map[string]struct {
		missing    [][]post.Unattended
		want, asks int
	}{
		"SeveralBatches": {[][]post.Unattended{first, second, third}, 430, 3},
		"SomeStay": {
			[][]post.Unattended{first, slices.Concat(first[:150], second[:50]), slices.Concat(first[:150], third)},
			280,
			3,
		},
		"AllStay":  {[][]post.Unattended{first}, 200, 2},
		"OneBatch": {[][]post.Unattended{third}, 30, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &reconcileStub{missing: row.missing}
			result, err := s.run(t)
			if err != nil || result.Signaled != row.want || len(s.revived) != row.want || s.asked != row.asks {
				t.Errorf("got %+v, %v, %d started, %d queries, want %d started in %d queries", result, err,
					len(s.revived), s.asked, row.want, row.asks)
			}
			if len(s.signaled) != 0 {
				t.Errorf("got %d signals of workflows that were just started, want 0", len(s.signaled))
			}
		})
	}
}

// A running workflow is signaled about a change that it has not received, and otherwise
// not.
func TestReconcilePosts_SignalsRunningWorkflows(t *testing.T) {
	current, stale := unattended(1, false), unattended(1, true)
	s := &reconcileStub{running: true, missing: [][]post.Unattended{slices.Concat(current, stale)}}
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
		s := &reconcileStub{fails: call, reconnected: []uuid.UUID{uuid.New()}, missing: [][]post.Unattended{
			unattended(1, false),
		}}
		if result, err := s.run(t); err == nil {
			t.Errorf("%s fails: got %+v, want an error", call, result)
		}
	}
}
