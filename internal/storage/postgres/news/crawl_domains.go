package news

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// GetWorkspaceDomain returns a domain on which the workspace has a seed.
func (s *DomainStore) GetWorkspaceDomain(
	ctx context.Context, workspaceID uuid.UUID, domain string,
) (crawl.Domain, error) {
	row, err := s.q.GetWorkspaceDomain(ctx, db.GetWorkspaceDomainParams{WorkspaceID: workspaceID, Domain: domain})
	return domainFromRow(row), tx.OrNotFound(err, "domain")
}

// ListWorkspaceDomains lists the domains on which the workspace has seeds, by
// name.
func (s *DomainStore) ListWorkspaceDomains(
	ctx context.Context, workspaceID uuid.UUID, after string, limit int,
) ([]crawl.Domain, error) {
	rows, err := s.q.ListWorkspaceDomains(ctx, db.ListWorkspaceDomainsParams{
		WorkspaceID: workspaceID, After: after, PageSize: limit,
	})
	out := make([]crawl.Domain, len(rows))
	for i, row := range rows {
		out[i] = domainFromRow(row)
	}
	return out, err
}

// GetCrawlDomain returns a domain of any workspace.
func (s *DomainStore) GetCrawlDomain(ctx context.Context, domain string) (crawl.Domain, error) {
	row, err := s.q.GetCrawlDomain(ctx, domain)
	return domainFromRow(row), tx.OrNotFound(err, "domain")
}

// CountURLsByState counts a domain's URLs by their state.
func (s *DomainStore) CountURLsByState(ctx context.Context, domain int) ([]crawl.StateCount, error) {
	rows, err := s.q.CountURLsByState(ctx, domain)
	out := make([]crawl.StateCount, len(rows))
	for i, r := range rows {
		out[i] = crawl.StateCount{State: crawl.State(r.State), URLs: r.Urls, Due: r.Due, Leased: r.Leased}
	}
	return out, err
}

// CountURLsByStatus counts a domain's URLs by the status of their last
// response.
func (s *DomainStore) CountURLsByStatus(ctx context.Context, domain int) ([]crawl.StatusCount, error) {
	rows, err := s.q.CountURLsByStatus(ctx, domain)
	out := make([]crawl.StatusCount, len(rows))
	for i, r := range rows {
		out[i] = crawl.StatusCount{Status: r.LastStatus, URLs: r.Urls}
	}
	return out, err
}

// WeeklyStats returns figures of a domain's articles of the last week.
func (s *DomainStore) WeeklyStats(ctx context.Context, domain int) (crawl.WeeklyStats, error) {
	r, err := s.q.GetWeeklyStats(ctx, domain)
	return crawl.WeeklyStats{
		Articles: r.Articles, Duplicates: r.Duplicates, Measured: r.Measured, Late: r.Late,
		P50: time.Duration(r.P50 * float64(time.Second)), P95: time.Duration(r.P95 * float64(time.Second)),
	}, err
}

// ListFetchErrors lists the last failed fetches of a domain.
func (s *DomainStore) ListFetchErrors(ctx context.Context, domain int, limit int) ([]crawl.FetchError, error) {
	rows, err := s.q.ListFetchErrors(ctx, db.ListFetchErrorsParams{DomainID: domain, Batch: limit})
	out := make([]crawl.FetchError, len(rows))
	for i, r := range rows {
		out[i] = crawl.FetchError{
			URL: r.Url, State: crawl.State(r.State), Status: r.LastStatus, Reason: r.LastError, At: r.LastCrawl,
		}
	}
	return out, err
}

// ListPagesWithoutArticle lists the newest pages of a domain that contain no article.
func (s *DomainStore) ListPagesWithoutArticle(
	ctx context.Context, domain int, limit int,
) ([]crawl.PageWithoutArticle, error) {
	rows, err := s.q.ListPagesWithoutArticle(ctx, db.ListPagesWithoutArticleParams{
		DomainID: domain, Batch: limit,
	})
	out := make([]crawl.PageWithoutArticle, len(rows))
	for i, r := range rows {
		out[i] = crawl.PageWithoutArticle{URL: r.Url, At: r.FetchedAt, Reason: r.Reason, Detail: r.Detail}
	}
	return out, err
}

// IsDomainShared reports whether another workspace has seeds on a domain.
func (s *DomainStore) IsDomainShared(ctx context.Context, workspaceID uuid.UUID, domain int) (bool, error) {
	return s.q.IsDomainShared(ctx, db.IsDomainSharedParams{DomainID: domain, WorkspaceID: workspaceID})
}

// ApplyDomainCommand pauses, resumes, runs or empties the crawl of a domain.
// The workspace is uuid.Nil for an operator's signal.
func (s *DomainStore) ApplyDomainCommand(
	ctx context.Context, workspaceID uuid.UUID, domain string, command crawl.Command, reason string,
) (deleted int64, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		d, err := q.GetCrawlDomain(ctx, domain)
		if err != nil {
			return tx.OrNotFound(err, "domain")
		}
		action := map[crawl.Command]audit.Action{
			crawl.Pause: audit.DomainPaused, crawl.Resume: audit.DomainResumed,
			crawl.RunNow: audit.DomainCrawlStarted, crawl.Empty: audit.FrontierCleared,
		}[command]
		switch command {
		case crawl.Pause:
			_, err = q.PauseCrawl(ctx, db.PauseCrawlParams{Domain: domain, Reason: reason})
		case crawl.Resume:
			_, err = q.ResumeCrawl(ctx, domain)
		case crawl.RunNow:
			_, err = q.RunSeedsNow(ctx, d.ID)
		case crawl.Empty:
			if err := q.IncrementEpoch(ctx, d.ID); err != nil {
				return err
			}
			deleted, err = q.EmptyFrontier(ctx, d.ID)
		default:
			return &apperr.Error{
				Kind: apperr.KindInvalid, Code: "invalid_request",
				Message: "Unknown command. Use pause, resume, run_now or empty.",
			}
		}
		if err != nil || workspaceID == uuid.Nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, action, "domain", crawl.DomainUUID(domain),
			map[string]any{"domain": domain})
	})
	return deleted, err
}

// SetDomainRendering sets whether the pages of a domain are rendered in a
// browser.
func (s *DomainStore) SetDomainRendering(ctx context.Context, workspaceID uuid.UUID, domain string, render bool) error {
	return s.inTx(ctx, func(q *queries) error {
		if _, err := q.SetRendering(ctx, db.SetRenderingParams{Domain: domain, Render: render}); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.DomainChanged, "domain", crawl.DomainUUID(domain),
			map[string]any{"domain": domain, "render": render})
	})
}

// ListDueDomains lists domains that are due, as many as can be crawled in
// addition to those that are being crawled; limit is the maximum of both.
func (s *DomainStore) ListDueDomains(ctx context.Context, limit int) ([]string, error) {
	running, err := s.q.CountLeasedDomains(ctx)
	if err != nil || int(running) >= limit {
		return nil, err
	}
	return s.q.ListDueDomains(ctx, limit-int(running))
}

// LeaseDomain leases a domain to a worker for ttl. leased is false if the
// domain is paused or unknown.
func (s *DomainStore) LeaseDomain(
	ctx context.Context, domain string, ttl time.Duration,
) (d crawl.Domain, leased bool, err error) {
	row, err := s.q.LeaseDomain(ctx, db.LeaseDomainParams{Domain: domain, Seconds: ttl.Seconds()})
	if tx.NoRows(err) {
		return d, false, nil
	}
	return domainFromRow(row), err == nil, err
}

// RenewDomainLease extends the lease of a domain. active is false if the domain
// was paused or emptied.
func (s *DomainStore) RenewDomainLease(
	ctx context.Context, d crawl.Domain, ttl time.Duration,
) (active bool, err error) {
	row, err := s.q.RenewDomainLease(ctx, db.RenewDomainLeaseParams{ID: d.ID, Seconds: ttl.Seconds()})
	return row.PausedAt == nil && row.Epoch == d.Epoch, err
}

// ReleaseDomain ends the lease of a domain and returns when its next URL is
// due; nil: never.
func (s *DomainStore) ReleaseDomain(ctx context.Context, domain int) (*time.Time, error) {
	return s.q.ReleaseDomain(ctx, domain)
}

// NextDueIn is the time until the domain's first URL is due.
func (s *FrontierStore) NextDueIn(ctx context.Context, domain int) (wait time.Duration, never bool, err error) {
	left, err := s.q.GetNextDueIn(ctx, domain)
	return time.Duration(left * float64(time.Second)), left < 0, err
}

// SetCrawlDelay stores the Crawl-delay of a domain's robots.txt.
func (s *DomainStore) SetCrawlDelay(ctx context.Context, domain int, delay time.Duration) error {
	return s.q.SetCrawlDelay(ctx, db.SetCrawlDelayParams{
		ID: domain, CrawlDelayMs: int(min(delay, 24*time.Hour).Milliseconds()),
	})
}

// BlockDomain sends no requests to a domain for a while.
func (s *DomainStore) BlockDomain(ctx context.Context, domain int, wait time.Duration) error {
	return s.q.BlockDomain(ctx, db.BlockDomainParams{ID: domain, Seconds: wait.Seconds()})
}

func domainFromRow(r db.CrawlDomain) crawl.Domain {
	d := crawl.Domain{
		ID: r.ID, Name: r.Domain, Render: r.Render, PausedAt: r.PausedAt, PauseReason: r.PauseReason,
		Epoch: r.Epoch, Score: float64(r.Score),
		ResponseTime: time.Duration(float64(r.ResponseMs) * float64(time.Millisecond)),
		CrawlDelay:   time.Duration(r.CrawlDelayMs) * time.Millisecond,
		NotBefore:    r.NotBefore, NextDue: r.NextDue, LastCrawl: r.LastCrawl, LeasedUntil: r.LeasedUntil,
		BudgetUsed: r.BudgetUsed,
		Fetched:    r.Fetched, Stored: r.Stored, Unchanged: r.Unchanged, Failed: r.Failed, Timeouts: r.Timeouts,
		Excluded: r.Excluded, Bytes: r.Bytes, CreatedAt: r.CreatedAt,
	}
	var rules weburl.Rules
	if json.Unmarshal(r.Rules, &rules) == nil {
		d.Rules = rules
	}
	return d
}

// CreateCrawlExport records that a workspace requested an export of a domain's
// pages.
func (s *DomainStore) CreateCrawlExport(ctx context.Context, workspaceID, id uuid.UUID, domain string) error {
	return s.q.InsertCrawlExport(ctx, db.InsertCrawlExportParams{ID: id, WorkspaceID: workspaceID, Domain: domain})
}

// HasCrawlExport reports whether a workspace requested that export.
func (s *DomainStore) HasCrawlExport(ctx context.Context, workspaceID, id uuid.UUID, domain string) (bool, error) {
	return s.q.HasCrawlExport(ctx, db.HasCrawlExportParams{ID: id, WorkspaceID: workspaceID, Domain: domain})
}
