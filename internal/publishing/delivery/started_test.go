package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/testing/e2etest"
)

// startedPosts is a database that records which posts have a workflow.
type startedPosts struct {
	mu         sync.Mutex
	statements int
	known      map[uuid.UUID]bool
	broken     uuid.UUID // the post whose record fails
}

func (s *startedPosts) AcknowledgeFirst(_ context.Context, posts []uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements++
	for _, id := range posts {
		if id == s.broken {
			return errors.New("the database does not respond")
		}
	}
	for _, id := range posts {
		s.known[id] = true
	}
	return nil
}

func (s *startedPosts) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known)
}

// The starts of a bulk request share few statements, and one that cannot be recorded
// neither delays nor fails the others: the reconciler finds its post.
func TestStarted_Acknowledge(t *testing.T) {
	const n = 100
	logged := &e2etest.Buffer{}
	store := &startedPosts{known: map[uuid.UUID]bool{}, broken: uuid.New()}
	s := delivery.NewStarted(t.Context(), &delivery.Planner{}, store, slog.New(slog.NewTextHandler(logged, nil)))
	for range n {
		s.Acknowledge(t.Context(), uuid.New())
	}
	e2etest.Eventually(t, 10*time.Second, "all starts to be recorded", func() bool { return store.count() == n })
	if store.statements > n/10 {
		t.Errorf("%d statements for %d posts", store.statements, n)
	}
	s.Acknowledge(t.Context(), store.broken)
	s.Acknowledge(t.Context(), uuid.New())
	e2etest.Eventually(t, 10*time.Second, "the failure to be logged", func() bool {
		return strings.Contains(logged.String(), store.broken.String())
	})
	e2etest.Eventually(t, 10*time.Second, "the other start to be recorded", func() bool { return store.count() == n+1 })
}
