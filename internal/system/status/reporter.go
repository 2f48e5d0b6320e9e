package status

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/dbclock"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// Store reads the database for a report.
type Store interface {
	WorkspaceBacklog(ctx context.Context, workspace uuid.UUID) (Posts, error)
	WorkspaceLateness(ctx context.Context, workspace uuid.UUID, window time.Duration) ([]Lateness, error)
	CountDeadLetters(ctx context.Context, workspace uuid.UUID) ([]post.DeadLetterCount, error)
	Accounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error)
	DatabaseUsage(ctx context.Context) (Usage, int64, error)
}

// Reporter creates reports. Its functions can be nil; their part of the report is then
// missing.
type Reporter struct {
	Store   Store
	Version string
	Clock   func() dbclock.Reading
	Armed   func() (posts int64, ok bool) // ok is false if the worker is another process
	Queues  func(ctx context.Context) ([]Queue, error)
	Crawl   func(ctx context.Context) (Crawl, error)
	Readers func(ctx context.Context) (Readers, error)
	Redis   func(ctx context.Context) (map[string]Usage, error)
	Disks   func() map[string]Usage
	Log     *slog.Logger
}

// latenessWindow is the period of the lateness statistics.
const latenessWindow = 24 * time.Hour

// Report queries everything concurrently until ctx ends. engines returns the error of
// each engine, which is empty if it is healthy. Data that cannot be queried is missing
// from the report.
func (r *Reporter) Report(
	ctx context.Context, workspace uuid.UUID, engines func(context.Context) map[string]string,
) Report {
	report := Report{At: time.Now(), Version: r.Version, Zones: timezone.Current()}
	if r.Clock != nil {
		report.Clock = r.Clock()
	}
	if r.Armed != nil {
		if n, ok := r.Armed(); ok {
			report.Armed = &n
		}
	}
	if r.Disks != nil {
		report.Disks = r.Disks()
	}
	var all sync.WaitGroup
	query := func(part string, read func() error) {
		all.Go(func() {
			if err := read(); err != nil {
				r.Log.WarnContext(ctx, "status report is incomplete", "part", part, "error", err)
			}
		})
	}
	all.Go(func() { report.Engines = engines(ctx) })
	query("queues", func() error {
		p, err := r.Store.WorkspaceBacklog(ctx, workspace)
		return set(&report.Posts, &p, err)
	})
	query("lateness", func() error {
		l, err := r.Store.WorkspaceLateness(ctx, workspace, latenessWindow)
		return set(&report.Lateness, l, err)
	})
	query("dead letters", func() error {
		counts, err := r.Store.CountDeadLetters(ctx, workspace)
		return set(&report.DeadLetters, deadLettersByReason(counts), err)
	})
	query("accounts", func() error {
		found, err := r.Store.Accounts(ctx, workspace)
		return set(&report.Accounts, needingAttention(found), err)
	})
	query("database", func() error {
		f, size, err := r.Store.DatabaseUsage(ctx)
		report.Size = size
		return set(&report.Database, &f, err)
	})
	if r.Queues != nil {
		query("temporal", func() error {
			q, err := r.Queues(ctx)
			return set(&report.Queues, q, err)
		})
	}
	if r.Redis != nil {
		query("redis", func() error {
			f, err := r.Redis(ctx)
			return set(&report.Redis, f, err)
		})
	}
	if r.Crawl != nil {
		query("crawl", func() error {
			c, err := r.Crawl(ctx)
			return set(&report.Crawl, &c, err)
		})
	}
	if r.Readers != nil {
		query("readers", func() error {
			found, err := r.Readers(ctx)
			return set(&report.Readers, &found, err)
		})
	}
	all.Wait()
	report.Alerts = alerts(report)
	return report
}

// set assigns a query result unless the query failed.
func set[T any](into *T, found T, err error) error {
	if err == nil {
		*into = found
	}
	return err
}

// deadLettersByReason counts dead letters by reason; those with an uncertain outcome
// are counted as "uncertain".
func deadLettersByReason(counts []post.DeadLetterCount) map[string]int64 {
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

// needingAttention counts the accounts that must be reconnected, now or soon.
func needingAttention(all []account.Account) (found Accounts) {
	for _, a := range all {
		if a.Status == account.NeedsReconnect {
			found.NeedsReconnect++
		}
		if end := a.AccessEndsAt(); a.Status == account.Connected && !end.IsZero() &&
			(found.FirstExpiry == nil || end.Before(*found.FirstExpiry)) {
			found.FirstExpiry = &end
		}
	}
	return found
}
