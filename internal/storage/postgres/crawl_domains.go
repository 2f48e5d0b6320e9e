package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"

	"dateline/internal/storage/postgres/db"
)

// GetWorkspaceDomain reads a domain on which the workspace has a seed.
func (s *Store) GetWorkspaceDomain(ctx context.Context, workspaceID uuid.UUID, domain string) (crawl.Domain, error) {
	row, err := s.q.DomainOfWorkspace(ctx, db.DomainOfWorkspaceParams{WorkspaceID: workspaceID, Domain: domain})
	return domainFromRow(row), orMissing(err, "domain")
}

// ListWorkspaceDomains lists the domains on which the workspace has seeds, by name.
func (s *Store) ListWorkspaceDomains(ctx context.Context, workspaceID uuid.UUID, after string, limit int) ([]crawl.Domain, error) {
	rows, err := s.q.DomainsOfWorkspace(ctx, db.DomainsOfWorkspaceParams{WorkspaceID: workspaceID, After: after, PageSize: int32(limit)}) //nolint:gosec // the API caps it
	out := make([]crawl.Domain, len(rows))
	for i, row := range rows {
		out[i] = domainFromRow(row)
	}
	return out, err
}

// GetCrawlDomain reads a domain, whosever it is.
func (s *Store) GetCrawlDomain(ctx context.Context, domain string) (crawl.Domain, error) {
	row, err := s.q.GetCrawlDomain(ctx, domain)
	return domainFromRow(row), orMissing(err, "domain")
}

// CountURLsByState counts what a domain's frontier holds.
func (s *Store) CountURLsByState(ctx context.Context, domain int32) ([]crawl.StateCount, error) {
	rows, err := s.q.FrontierCounts(ctx, domain)
	out := make([]crawl.StateCount, len(rows))
	for i, r := range rows {
		out[i] = crawl.StateCount{State: crawl.State(r.State), URLs: r.Urls, Due: r.Due, Leased: r.Leased}
	}
	return out, err
}

// CountURLsByStatus counts a domain's URLs by the status of their last answer.
func (s *Store) CountURLsByStatus(ctx context.Context, domain int32) ([]crawl.StatusCount, error) {
	rows, err := s.q.AnswersOfDomain(ctx, domain)
	out := make([]crawl.StatusCount, len(rows))
	for i, r := range rows {
		out[i] = crawl.StatusCount{Status: int(r.LastStatus), URLs: r.Urls}
	}
	return out, err
}

// WeeklyStats says what a domain brought in the last week, and how soon it was found.
func (s *Store) WeeklyStats(ctx context.Context, domain int32) (crawl.WeeklyStats, error) {
	r, err := s.q.NewsOfDomain(ctx, domain)
	return crawl.WeeklyStats{Articles: r.Articles, Duplicates: r.Duplicates, Measured: r.Timed, Late: r.Late,
		P50: time.Duration(r.P50 * float64(time.Second)), P95: time.Duration(r.P95 * float64(time.Second))}, err
}

// ListFetchErrors lists the last fetches of a domain that came to nothing, and why.
func (s *Store) ListFetchErrors(ctx context.Context, domain int32, most int) ([]crawl.FetchError, error) {
	rows, err := s.q.ProblemsOfDomain(ctx, db.ProblemsOfDomainParams{DomainID: domain, Batch: int32(most)}) //nolint:gosec // tens
	out := make([]crawl.FetchError, len(rows))
	for i, r := range rows {
		out[i] = crawl.FetchError{URL: r.Url, State: crawl.State(r.State), Status: int(r.LastStatus), Reason: r.Problem, At: r.LastCrawl}
	}
	return out, err
}

// IsDomainShared says whether another workspace has seeds on a domain.
func (s *Store) IsDomainShared(ctx context.Context, workspaceID uuid.UUID, domain int32) (bool, error) {
	return s.q.OthersOnDomain(ctx, db.OthersOnDomainParams{DomainID: domain, WorkspaceID: workspaceID})
}

// ApplyDomainCommand pauses, resumes, runs or empties the crawl of a domain. A
// workspace of uuid.Nil is an operator's signal.
func (s *Store) ApplyDomainCommand(ctx context.Context, workspaceID uuid.UUID, domain string, what crawl.Command, why string) (forgotten int64, err error) {
	err = s.inTx(ctx, func(q *db.Queries) error {
		d, err := q.GetCrawlDomain(ctx, domain)
		if err != nil {
			return orMissing(err, "domain")
		}
		action := map[crawl.Command]audit.Action{crawl.Pause: audit.DomainPaused, crawl.Resume: audit.DomainResumed, crawl.RunNow: audit.DomainRun, crawl.Empty: audit.DomainEmptied}[what]
		switch what {
		case crawl.Pause:
			_, err = q.PauseCrawl(ctx, db.PauseCrawlParams{Domain: domain, Why: why})
		case crawl.Resume:
			_, err = q.ResumeCrawl(ctx, domain)
		case crawl.RunNow:
			_, err = q.RunSeedsNow(ctx, d.ID)
		case crawl.Empty:
			if err := q.NewEpoch(ctx, d.ID); err != nil {
				return err
			}
			forgotten, err = q.EmptyFrontier(ctx, d.ID)
		default:
			return &apperr.Error{Kind: apperr.KindInvalid, Code: "invalid_request", Message: "There is nothing of that name to do with a domain."}
		}
		if err != nil || workspaceID == uuid.Nil {
			return err
		}
		return record(ctx, q, workspaceID, action, "domain", crawl.DomainUUID(domain), map[string]any{"domain": domain})
	})
	return forgotten, err
}

// SetDomainRendering says whether the pages of a domain are shown by a browser.
func (s *Store) SetDomainRendering(ctx context.Context, workspaceID uuid.UUID, domain string, render bool) error {
	return s.inTx(ctx, func(q *db.Queries) error {
		if _, err := q.SetRendering(ctx, db.SetRenderingParams{Domain: domain, Render: render}); err != nil {
			return err
		}
		return record(ctx, q, workspaceID, audit.DomainEdited, "domain", crawl.DomainUUID(domain), map[string]any{"domain": domain, "render": render})
	})
}

// ListDueDomains lists domains that wait for a drain; all together drains at most
// most of them at once.
func (s *Store) ListDueDomains(ctx context.Context, most int) ([]string, error) {
	running, err := s.q.Draining(ctx)
	if err != nil || int(running) >= most {
		return nil, err
	}
	return s.q.DueDomains(ctx, int32(most)-int32(running)) //nolint:gosec // hundreds
}

// LeaseDomain notes that a domain is drained for ttl. drains is false for a
// domain that is paused or unknown.
func (s *Store) LeaseDomain(ctx context.Context, domain string, ttl time.Duration) (d crawl.Domain, drains bool, err error) {
	row, err := s.q.BeginDrain(ctx, db.BeginDrainParams{Domain: domain, Seconds: ttl.Seconds()})
	if noRows(err) {
		return d, false, nil
	}
	return domainFromRow(row), err == nil, err
}

// RenewDomainLease says that a domain is still drained, and whether it should be.
func (s *Store) RenewDomainLease(ctx context.Context, d crawl.Domain, ttl time.Duration) (goOn bool, err error) {
	row, err := s.q.RenewDrain(ctx, db.RenewDrainParams{ID: d.ID, Seconds: ttl.Seconds()})
	return row.PausedAt == nil && row.Epoch == d.Epoch, err
}

// ReleaseDomain notes that a domain is not drained any more, and gives the time when
// its next URL is due; nil: never.
func (s *Store) ReleaseDomain(ctx context.Context, domain int32) (*time.Time, error) {
	return s.q.EndDrain(ctx, domain)
}

// NextDueIn is how long it is until the first of a domain's URLs is due; never: none
// ever is.
func (s *Store) NextDueIn(ctx context.Context, domain int32) (wait time.Duration, never bool, err error) {
	left, err := s.q.DueIn(ctx, domain)
	return time.Duration(left * float64(time.Second)), left < 0, err
}

// SetCrawlDelay notes what a domain's robots.txt asks for.
func (s *Store) SetCrawlDelay(ctx context.Context, domain int32, delay time.Duration) error {
	return s.q.SetDelay(ctx, db.SetDelayParams{ID: domain, DelayMs: int32(min(delay, 24*time.Hour).Milliseconds())}) //nolint:gosec // a day
}

// BlockDomain leaves a domain alone for a time that it asked for.
func (s *Store) BlockDomain(ctx context.Context, domain int32, wait time.Duration) error {
	return s.q.BlockDomain(ctx, db.BlockDomainParams{ID: domain, Seconds: wait.Seconds()})
}

func domainFromRow(r db.CrawlDomain) crawl.Domain {
	d := crawl.Domain{ID: r.ID, Name: r.Domain, Render: r.Render, PausedAt: r.PausedAt, PauseReason: r.PausedWhy, Epoch: r.Epoch, Score: float64(r.Score),
		ResponseTime: time.Duration(float64(r.ResponseMs) * float64(time.Millisecond)), CrawlDelay: time.Duration(r.DelayMs) * time.Millisecond,
		NotBefore: r.NotBefore, NextDue: r.NextDue, LastCrawl: r.LastCrawl, LeasedUntil: r.DrainingUntil, BudgetUsed: int(r.BudgetUsed),
		Fetched: r.Fetched, Stored: r.Stored, Unchanged: r.Unchanged, Failed: r.Failed, Timeouts: r.Timeouts, Excluded: r.Refused, Bytes: r.Bytes, CreatedAt: r.CreatedAt}
	var rules weburl.Rules
	if json.Unmarshal(r.Rules, &rules) == nil {
		d.Rules = rules
	}
	return d
}

// CreateCrawlExport notes that a workspace has asked for an export of a domain's pages.
func (s *Store) CreateCrawlExport(ctx context.Context, workspaceID, id uuid.UUID, domain string) error {
	return s.q.InsertCrawlExport(ctx, db.InsertCrawlExportParams{ID: id, WorkspaceID: workspaceID, Domain: domain})
}

// HasCrawlExport says whether a workspace has asked for that export.
func (s *Store) HasCrawlExport(ctx context.Context, workspaceID, id uuid.UUID, domain string) (bool, error) {
	return s.q.HasCrawlExport(ctx, db.HasCrawlExportParams{ID: id, WorkspaceID: workspaceID, Domain: domain})
}
