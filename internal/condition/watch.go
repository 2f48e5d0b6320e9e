package condition

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/account"
	"dateline/internal/clock"
	"dateline/internal/post"
)

// Store is the database as a look needs it.
type Store interface {
	WorkspaceQueues(ctx context.Context, workspace uuid.UUID) (Posts, error)
	WorkspaceLateness(ctx context.Context, workspace uuid.UUID, back time.Duration) ([]Lateness, error)
	CountDeadLetters(ctx context.Context, workspace uuid.UUID) ([]post.DeadCount, error)
	Accounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error)
	DatabaseFullness(ctx context.Context) (Fullness, int64, error)
}

// Watch looks. The functions may be nil: of what they tell nothing is known.
type Watch struct {
	Store   Store
	Version string
	Clock   func() clock.Reading
	Armed   func() (held int64, ours bool)
	Queues  func(ctx context.Context) ([]Queue, error)
	Crawl   func(ctx context.Context) (Crawl, error)
	Redis   func(ctx context.Context) (map[string]Fullness, error)
	Disks   func() map[string]Fullness
	Log     *slog.Logger
}

// lately is how far back lateness is looked at.
const lately = 24 * time.Hour

// Look looks at everything side by side. engines is what each said: empty when it
// answers. What cannot be found out is left out: the engine that is away is among
// those.
func (w *Watch) Look(ctx context.Context, workspace uuid.UUID, engines map[string]string) Report {
	r := Report{At: time.Now(), Version: w.Version, Engines: engines}
	if w.Clock != nil {
		r.Clock = w.Clock()
	}
	if w.Armed != nil {
		if n, ours := w.Armed(); ours {
			r.Armed = &n
		}
	}
	if w.Disks != nil {
		r.Disks = w.Disks()
	}
	var all sync.WaitGroup
	ask := func(what string, look func() error) {
		all.Go(func() {
			if err := look(); err != nil {
				w.Log.WarnContext(ctx, "a look at the installation is incomplete", "part", what, "error", err)
			}
		})
	}
	ask("queues", func() error {
		p, err := w.Store.WorkspaceQueues(ctx, workspace)
		if err == nil {
			r.Posts = &p
		}
		return err
	})
	ask("lateness", func() (err error) { r.Lateness, err = w.Store.WorkspaceLateness(ctx, workspace, lately); return err })
	ask("dead letters", func() (err error) { r.Dead, err = w.dead(ctx, workspace); return err })
	ask("accounts", func() (err error) { r.Accounts, err = w.accounts(ctx, workspace); return err })
	ask("database", func() error {
		f, size, err := w.Store.DatabaseFullness(ctx)
		if err == nil {
			r.Database, r.Size = &f, size
		}
		return err
	})
	if w.Queues != nil {
		ask("temporal", func() (err error) { r.Queues, err = w.Queues(ctx); return err })
	}
	if w.Redis != nil {
		ask("redis", func() (err error) { r.Redis, err = w.Redis(ctx); return err })
	}
	if w.Crawl != nil {
		ask("crawl", func() error {
			c, err := w.Crawl(ctx)
			if err == nil {
				r.Crawl = &c
			}
			return err
		})
	}
	all.Wait()
	r.Alerts = alerts(r)
	return r
}

// dead counts dead letters by reason; those in doubt are "uncertain".
func (w *Watch) dead(ctx context.Context, workspace uuid.UUID) (map[string]int64, error) {
	counts, err := w.Store.CountDeadLetters(ctx, workspace)
	dead := map[string]int64{}
	for _, c := range counts {
		reason := c.Reason
		if c.Status == post.TargetUncertain {
			reason = string(c.Status)
		}
		dead[reason] += int64(c.Letters)
	}
	return dead, err
}

func (w *Watch) accounts(ctx context.Context, workspace uuid.UUID) (found Accounts, err error) {
	all, err := w.Store.Accounts(ctx, workspace)
	for _, a := range all {
		if a.Status == account.NeedsReconnect {
			found.NeedReconnect++
		}
		if end := a.Ends(); a.Status == account.Connected && !end.IsZero() && (found.FirstEnd == nil || end.Before(*found.FirstEnd)) {
			found.FirstEnd = &end
		}
	}
	return found, err
}
