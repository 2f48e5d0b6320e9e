package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
)

// troubled is a store whose calls can be made to fail.
type troubled struct {
	delivery.Store
	mu          sync.Mutex
	finishFails int    // number of Finish calls that fail before they reach the database
	afterPost   func() // runs once, when the post is read
	beforeClaim func() // runs once
	afterClaim  func() // runs once, after a claim
	deafRenew   bool   // renewals fail, as on a worker that cannot reach the database
}

var errDatabase = errors.New("the database does not respond")

func (s *troubled) MediaByID(
	ctx context.Context, workspace uuid.UUID, ids []uuid.UUID,
) (map[uuid.UUID]media.Item, error) {
	s.run(&s.afterPost)
	return s.Store.MediaByID(ctx, workspace, ids)
}

func (s *troubled) Claim(ctx context.Context, c post.Call, lease time.Duration) (post.Call, bool, error) {
	s.run(&s.beforeClaim)
	claimed, ok, err := s.Store.Claim(ctx, c, lease)
	if ok {
		s.run(&s.afterClaim)
	}
	return claimed, ok, err
}

func (s *troubled) run(hook *func()) {
	s.mu.Lock()
	f := *hook
	*hook = nil
	s.mu.Unlock()
	if f != nil {
		f()
	}
}

func (s *troubled) RenewClaim(ctx context.Context, target uuid.UUID, fence int64, lease time.Duration) (bool, error) {
	s.mu.Lock()
	deaf := s.deafRenew
	s.mu.Unlock()
	if deaf {
		return false, errDatabase
	}
	return s.Store.RenewClaim(ctx, target, fence, lease)
}

func (s *troubled) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	s.mu.Lock()
	fail := s.finishFails > 0
	s.finishFails--
	s.mu.Unlock()
	if fail {
		return post.Post{}, false, errDatabase
	}
	return s.Store.RecordOutcome(ctx, o)
}

// bus counts notifications.
type bus struct {
	mu sync.Mutex
	n  int
}

func (b *bus) Changed(context.Context, uuid.UUID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
}

// journal collects the log.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) handler() slog.Handler { return slog.NewJSONHandler(j, nil) }

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}
