package seeds

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl"
)

// DomainStore reads and controls the domains of a workspace.
type DomainStore interface {
	GetWorkspaceDomain(ctx context.Context, workspace uuid.UUID, domain string) (crawl.Domain, error)
	ListWorkspaceDomains(ctx context.Context, workspace uuid.UUID, after string, limit int) ([]crawl.Domain, error)
	IsDomainShared(ctx context.Context, workspace uuid.UUID, domain int) (bool, error)
	ApplyDomainCommand(ctx context.Context, workspace uuid.UUID, domain string, command crawl.Command,
		reason string) (deleted int64, err error)
	SetDomainRendering(ctx context.Context, workspace uuid.UUID, domain string, render bool) error
}

// DomainStats reads the statistics of a domain.
type DomainStats interface {
	CountURLsByState(ctx context.Context, domain int) ([]crawl.StateCount, error)
	CountURLsByStatus(ctx context.Context, domain int) ([]crawl.StatusCount, error)
	WeeklyStats(ctx context.Context, domain int) (crawl.WeeklyStats, error)
	ListFetchErrors(ctx context.Context, domain int, limit int) ([]crawl.FetchError, error)
	ListPagesWithoutArticle(ctx context.Context, domain int, limit int) ([]crawl.PageWithoutArticle, error)
	PushedFeeds(ctx context.Context, domain int, limit int) ([]crawl.PushedFeed, error)
}

// Domain is a domain with its statistics.
type Domain struct {
	crawl.Domain
	States       []crawl.StateCount
	Statuses     []crawl.StatusCount
	Weekly       crawl.WeeklyStats
	RecentErrors []crawl.FetchError
	NoArticle    []crawl.PageWithoutArticle // the newest
	Hubs         []crawl.PushedFeed         // subscriptions
}

// recentErrorLimit is how many errors, and pages without an article, are returned with a
// domain.
const recentErrorLimit = 20

// hubLimit is how many subscriptions to hubs are returned with a domain.
const hubLimit = 100

// ListDomains lists the domains on which the workspace has seeds, by name.
func (s *Service) ListDomains(
	ctx context.Context, who workspace.Principal, after string, limit int,
) ([]crawl.Domain, error) {
	return s.Domains.ListWorkspaceDomains(ctx, who.WorkspaceID, after, limit)
}

// GetDomain returns a domain with its statistics and recent errors.
func (s *Service) GetDomain(ctx context.Context, who workspace.Principal, name string) (d Domain, err error) {
	if d.Domain, err = s.Domains.GetWorkspaceDomain(ctx, who.WorkspaceID, name); err != nil {
		return d, err
	}
	if d.States, err = s.Stats.CountURLsByState(ctx, d.ID); err != nil {
		return d, err
	}
	if d.Statuses, err = s.Stats.CountURLsByStatus(ctx, d.ID); err != nil {
		return d, err
	}
	if d.Weekly, err = s.Stats.WeeklyStats(ctx, d.ID); err != nil {
		return d, err
	}
	if d.RecentErrors, err = s.Stats.ListFetchErrors(ctx, d.ID, recentErrorLimit); err != nil {
		return d, err
	}
	if d.Hubs, err = s.Stats.PushedFeeds(ctx, d.ID, hubLimit); err != nil {
		return d, err
	}
	d.NoArticle, err = s.Stats.ListPagesWithoutArticle(ctx, d.ID, recentErrorLimit)
	return d, err
}

// ApplyCommand pauses, resumes, runs or empties the crawl of a domain. The database
// is updated first and decides; the signal only makes a running workflow react at
// once.
func (s *Service) ApplyCommand(
	ctx context.Context, who workspace.Principal, name string, command crawl.Command,
) (deleted int64, err error) {
	d, err := s.Domains.GetWorkspaceDomain(ctx, who.WorkspaceID, name)
	if err != nil {
		return 0, err
	}
	if command == crawl.Pause || command == crawl.Empty {
		if err := s.requireSoleOwner(ctx, who, d, "Pause or delete your own seeds on it instead."); err != nil {
			return 0, err
		}
	}
	if deleted, err = s.Domains.ApplyDomainCommand(ctx, who.WorkspaceID, name, command, "by a member"); err != nil {
		return 0, err
	}
	if err := s.Workflows.SignalCrawl(context.WithoutCancel(ctx), name, command); err != nil {
		s.Log.WarnContext(ctx, "Temporal could not be notified; a running crawl will notice the change within seconds",
			"domain", name, "error", err)
	}
	return deleted, nil
}

// requireSoleOwner rejects changes that would affect other workspaces.
func (s *Service) requireSoleOwner(ctx context.Context, who workspace.Principal, d crawl.Domain, advice string) error {
	shared, err := s.Domains.IsDomainShared(ctx, who.WorkspaceID, d.ID)
	if err == nil && shared {
		err = &apperr.Error{
			Kind: apperr.KindConflict, Code: "shared_domain",
			Message: "Other workspaces also crawl this domain. " + advice,
		}
	}
	return err
}

// SetRendering sets whether the pages of a domain are rendered in a browser before
// they are stored.
func (s *Service) SetRendering(ctx context.Context, who workspace.Principal, name string, render bool) error {
	d, err := s.Domains.GetWorkspaceDomain(ctx, who.WorkspaceID, name)
	if err != nil {
		return err
	}
	if render && !s.HasBrowser {
		return &apperr.Error{
			Kind: apperr.KindConflict, Code: "no_browser",
			Message: "No browser is configured to render pages. Set DATELINE_CRAWL_BROWSER_URL.",
		}
	}
	if err := s.requireSoleOwner(ctx, who, d, "Ask them first."); err != nil {
		return err
	}
	return s.Domains.SetDomainRendering(ctx, who.WorkspaceID, name, render)
}
