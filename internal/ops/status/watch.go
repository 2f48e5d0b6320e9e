package status

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/dbclock"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// Store is the database as a look needs it.
type Store interface {
	WorkspaceQueues(ctx context.Context, workspace uuid.UUID) (Posts, error)
	WorkspaceLateness(ctx context.Context, workspace uuid.UUID, back time.Duration) ([]Lateness, error)
	CountDeadLetters(ctx context.Context, workspace uuid.UUID) ([]post.DeadLetterCount, error)
	Accounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error)
	DatabaseFullness(ctx context.Context) (Fullness, int64, error)
}

// Watch looks. The functions may be nil: of what they tell nothing is known.
type Watch struct {
	Store   Store
	Version string
	Clock   func() dbclock.Reading
	Armed   func() (held int64, ours bool)
	Queues  func(ctx context.Context) ([]Queue, error)
	Crawl   func(ctx context.Context) (Crawl, error)
	Readers func(ctx context.Context) (Readers, error)
	Redis   func(ctx context.Context) (map[string]Fullness, error)
	Disks   func() map[string]Fullness
	Log     *slog.Logger
}

// lately is how far back lateness is looked at.
const lately = 24 * time.Hour

// Look looks at everything side by side, within the time of ctx. engines asks what
// each says: nothing when it answers. What cannot be found out is left out: the
// engine that is away is among those.
func (w *Watch) Look(ctx context.Context, workspace uuid.UUID, engines func(context.Context) map[string]string) Report {
	r := Report{At: time.Now(), Version: w.Version}
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
	all.Go(func() { r.Engines = engines(ctx) })
	ask("queues", func() error {
		p, err := w.Store.WorkspaceQueues(ctx, workspace)
		return keep(&r.Posts, &p, err)
	})
	ask("lateness", func() error {
		l, err := w.Store.WorkspaceLateness(ctx, workspace, lately)
		return keep(&r.Lateness, l, err)
	})
	ask("dead letters", func() error {
		counts, err := w.Store.CountDeadLetters(ctx, workspace)
		return keep(&r.Dead, dead(counts), err)
	})
	ask("accounts", func() error {
		found, err := w.Store.Accounts(ctx, workspace)
		return keep(&r.Accounts, troubled(found), err)
	})
	ask("database", func() error {
		f, size, err := w.Store.DatabaseFullness(ctx)
		r.Size = size
		return keep(&r.Database, &f, err)
	})
	if w.Queues != nil {
		ask("temporal", func() error {
			q, err := w.Queues(ctx)
			return keep(&r.Queues, q, err)
		})
	}
	if w.Redis != nil {
		ask("redis", func() error {
			f, err := w.Redis(ctx)
			return keep(&r.Redis, f, err)
		})
	}
	if w.Crawl != nil {
		ask("crawl", func() error {
			c, err := w.Crawl(ctx)
			return keep(&r.Crawl, &c, err)
		})
	}
	if w.Readers != nil {
		ask("readers", func() error {
			found, err := w.Readers(ctx)
			return keep(&r.Readers, &found, err)
		})
	}
	all.Wait()
	r.Alerts = alerts(r)
	return r
}

// keep takes what was found, unless it was not found out.
func keep[T any](into *T, found T, err error) error {
	if err == nil {
		*into = found
	}
	return err
}

// dead counts dead letters by reason; those in doubt are "uncertain".
func dead(counts []post.DeadLetterCount) map[string]int64 {
	all := map[string]int64{}
	for _, c := range counts {
		reason := c.Reason
		if c.Status == post.TargetUncertain {
			reason = string(c.Status)
		}
		all[reason] += int64(c.Count)
	}
	return all
}

// troubled counts the accounts that need a person, now or soon.
func troubled(all []account.Account) (found Accounts) {
	for _, a := range all {
		if a.Status == account.NeedsReconnect {
			found.NeedReconnect++
		}
		if end := a.AccessEndsAt(); a.Status == account.Connected && !end.IsZero() && (found.FirstEnd == nil || end.Before(*found.FirstEnd)) {
			found.FirstEnd = &end
		}
	}
	return found
}
