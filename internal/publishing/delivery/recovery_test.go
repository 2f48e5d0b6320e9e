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
	"github.com/jackc/pgx/v5"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// signaler stands in for Temporal: a signaled post's workflow reads its row.
type signaler struct {
	bench    *bench
	identity string
	err      error
	mu       sync.Mutex
	signaled []uuid.UUID
}

func (n *signaler) SignalChanged(ctx context.Context, id uuid.UUID) error {
	if n.err != nil {
		return n.err
	}
	n.mu.Lock()
	n.signaled = append(n.signaled, id)
	n.mu.Unlock()
	_, err := n.bench.store.Publishing.Ledger.AcknowledgeRevision(ctx, id)
	return err
}

func (n *signaler) EnsureRunning(ctx context.Context, id uuid.UUID) (bool, error) {
	return true, n.SignalChanged(ctx, id)
}

func (n *signaler) StoreIdentity(context.Context) (string, error) { return n.identity, n.err }

func reconcile(t *testing.T, n *signaler) (delivery.RecoveryResult, error) {
	t.Helper()
	r := &delivery.Recovery{Store: n.bench.store.Publishing.Ledger, Signaler: n, Live: n.bench.live, Log: slog.New(n.bench.log.handler())}
	return r.Run(t.Context(), func(int) {})
}

func TestReconciler_Run(t *testing.T) {
	b := newBench(t, fake.Options{})
	n := &signaler{bench: b, identity: "one"}
	expect := func(what string, want ...uuid.UUID) delivery.RecoveryResult {
		t.Helper()
		n.signaled = nil
		result, err := reconcile(t, n)
		slices.SortFunc(n.signaled, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		if err != nil || !slices.Equal(n.signaled, want) || result.Signaled != len(want) {
			t.Fatalf("%s: signaled %v, want %v; result %+v, error %v", what, n.signaled, want, result, err)
		}
		return result
	}
	known, unknown, canceled := b.schedule(inAnHour), b.schedule(inAnHour), b.schedule(inAnHour)
	if _, err := b.store.Publishing.Posts.Cancel(t.Context(), b.guard(canceled)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Publishing.Ledger.AcknowledgeRevision(t.Context(), known.ID); err != nil {
		t.Fatal(err)
	}
	expect("just scheduled, so its request is about to signal")
	b.age(t, 10*time.Second)
	expect("not signaled", unknown.ID)
	expect("all signaled")

	n.identity = "two"
	if result := expect("a new store at Temporal", known.ID, unknown.ID); result.Lost != 2 {
		t.Errorf("forgotten %d", result.Lost)
	}
	expect("all signaled again")

	overdue := b.schedule(func(p *post.Post) { p.ScheduledTime = time.Now().Add(-time.Minute).UTC() })
	if _, err := b.store.Publishing.Ledger.AcknowledgeRevision(t.Context(), overdue.ID); err != nil {
		t.Fatal(err)
	}
	expect("signaled without an effect", overdue.ID)

	n.err = errors.New("Temporal is down")
	if _, err := reconcile(t, n); err == nil {
		t.Error("got no error although Temporal is down")
	}
}

// age backdates every change.
func (b *bench) age(t *testing.T, by time.Duration) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), b.url)
	b.must(err)
	defer func() { _ = db.Close(context.Background()) }()
	_, err = db.Exec(t.Context(), "update scheduled_posts set updated_at = updated_at - $1::interval", by)
	b.must(err)
}
