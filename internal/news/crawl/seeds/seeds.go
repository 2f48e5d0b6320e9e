// Package seeds holds the rules for what a workspace may do with the crawl: its
// seeds, and the domains on which it has some.
//
// Seeds belong to a workspace. Domains, pages and the politeness towards a site
// belong to all: a site is asked for a page once, however many want it. So a
// workspace sees the domains on which it has a seed, and steers those that no
// other workspace crawls; of a shared one it pauses its own seeds.
package seeds

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl"
)

// Store keeps seeds and domains.
type Store interface {
	CreateSeeds(ctx context.Context, seeds []crawl.Seed, key idempotency.Key) (created []crawl.Seed, replayed bool, err error)
	GetSeed(ctx context.Context, workspace, id uuid.UUID) (crawl.Seed, error)
	ListSeeds(ctx context.Context, workspace uuid.UUID, domain string, after uuid.UUID, limit int) ([]crawl.Seed, error)
	UpdateSeed(ctx context.Context, workspace, id uuid.UUID, ifVersion int64, change func(*crawl.Seed) error) (crawl.Seed, error)
	DeleteSeed(ctx context.Context, workspace, id uuid.UUID) error
	GetWorkspaceDomain(ctx context.Context, workspace uuid.UUID, domain string) (crawl.Domain, error)
	ListWorkspaceDomains(ctx context.Context, workspace uuid.UUID, after string, limit int) ([]crawl.Domain, error)
	CountURLsByState(ctx context.Context, domain int32) ([]crawl.StateCount, error)
	CountURLsByStatus(ctx context.Context, domain int32) ([]crawl.StatusCount, error)
	WeeklyStats(ctx context.Context, domain int32) (crawl.WeeklyStats, error)
	ListFetchErrors(ctx context.Context, domain int32, most int) ([]crawl.FetchError, error)
	IsDomainShared(ctx context.Context, workspace uuid.UUID, domain int32) (bool, error)
	ApplyDomainCommand(ctx context.Context, workspace uuid.UUID, domain string, what crawl.Command, why string) (forgotten int64, err error)
	SetDomainRendering(ctx context.Context, workspace uuid.UUID, domain string, render bool) error
	CreateCrawlExport(ctx context.Context, workspace, id uuid.UUID, domain string) error
	HasCrawlExport(ctx context.Context, workspace, id uuid.UUID, domain string) (bool, error)
}

// Workflows tells Temporal what was done with a domain.
type Workflows interface {
	SignalCrawl(ctx context.Context, domain string, what crawl.Command) error
	StartExport(ctx context.Context, domain, export, key string, from, to time.Time) error
}

// Service is what members do with the crawl.
type Service struct {
	Store      Store
	Workflows  Workflows
	Guard      *ssrf.Guard
	Objects    Objects
	Policy     crawl.RevisitPolicy
	HasBrowser bool // there is one that pages may be rendered in
	Log        *slog.Logger
}

// Draft is a seed as somebody gives it. Nil: the default.
type Draft struct {
	URL                      string
	Kind                     crawl.Kind // empty: home for the front page, else section
	Title                    string
	Paused                   bool
	Priority                 *int
	MinInterval, MaxInterval *time.Duration
	Allow, Deny              []string
	MaxDepth                 *int
	DailyBudget              *int
}

// defaultPriority is in the middle.
const defaultPriority = 50

// Create makes a seed, which is due at once.
func (s *Service) Create(ctx context.Context, who workspace.Principal, d Draft, key idempotency.Key) (crawl.Seed, bool, error) {
	n, problems := s.newSeed(who, d)
	if len(problems) > 0 {
		return crawl.Seed{}, false, apperr.InvalidFields(problems...)
	}
	made, replayed, err := s.Store.CreateSeeds(ctx, []crawl.Seed{n}, key)
	if err != nil {
		return crawl.Seed{}, false, err
	}
	if len(made) == 0 {
		return crawl.Seed{}, false, &apperr.Error{Kind: apperr.KindConflict, Code: "seed_exists", Message: fmt.Sprintf("This workspace has the seed %s already. Change that one.", n.URL)}
	}
	s.triggerCrawl(ctx, n.URL.Domain())
	return made[0], replayed, nil
}

// triggerCrawl has a domain looked at now rather than within the minute.
func (s *Service) triggerCrawl(ctx context.Context, domain string) {
	if err := s.Workflows.SignalCrawl(context.WithoutCancel(ctx), domain, crawl.RunNow); err != nil {
		s.Log.WarnContext(ctx, "Temporal was not told; the schedule finds the seed", "domain", domain, "error", err)
	}
}

// Get reads a seed.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (crawl.Seed, error) {
	return s.Store.GetSeed(ctx, who.WorkspaceID, id)
}

// List lists seeds, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal, domain string, after uuid.UUID, limit int) ([]crawl.Seed, error) {
	return s.Store.ListSeeds(ctx, who.WorkspaceID, domain, after, limit)
}

// Patch is an edit of a seed: nil leaves a field as it is.
type Patch struct {
	Kind                     *crawl.Kind
	Title                    *string
	Status                   *crawl.SeedStatus
	Priority                 *int
	MinInterval, MaxInterval *time.Duration
	Allow, Deny              *[]string
	MaxDepth                 *int
	DailyBudget              *int
}

// Update changes a seed, which is then due at once.
func (s *Service) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, ifVersion int64, c Patch) (crawl.Seed, error) {
	return s.Store.UpdateSeed(ctx, who.WorkspaceID, id, ifVersion, func(n *crawl.Seed) error {
		setIfGiven(&n.Kind, c.Kind)
		setIfGiven(&n.Title, c.Title)
		setIfGiven(&n.Status, c.Status)
		setIfGiven(&n.Priority, c.Priority)
		setIfGiven(&n.MinInterval, c.MinInterval)
		setIfGiven(&n.MaxInterval, c.MaxInterval)
		setIfGiven(&n.Rules.Allow, c.Allow)
		setIfGiven(&n.Rules.Deny, c.Deny)
		setIfGiven(&n.Rules.MaxDepth, c.MaxDepth)
		setIfGiven(&n.Rules.DailyBudget, c.DailyBudget)
		if problems := validate(*n); len(problems) > 0 {
			return apperr.InvalidFields(problems...)
		}
		return nil
	})
}

func setIfGiven[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// Delete forgets a seed.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteSeed(ctx, who.WorkspaceID, id)
}

// ListDomains lists the domains on which the workspace has seeds, by name.
func (s *Service) ListDomains(ctx context.Context, who workspace.Principal, after string, limit int) ([]crawl.Domain, error) {
	return s.Store.ListWorkspaceDomains(ctx, who.WorkspaceID, after, limit)
}

// Domain is a domain with what is known of its URLs.
type Domain struct {
	crawl.Domain
	States       []crawl.StateCount
	Statuses     []crawl.StatusCount
	Weekly       crawl.WeeklyStats
	RecentErrors []crawl.FetchError // the last ones
}

// recentErrorLimit is how many are shown with a domain.
const recentErrorLimit = 20

// GetDomain reads a domain with its queues, its figures and its last problems.
func (s *Service) GetDomain(ctx context.Context, who workspace.Principal, name string) (d Domain, err error) {
	if d.Domain, err = s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, name); err != nil {
		return d, err
	}
	if d.States, err = s.Store.CountURLsByState(ctx, d.ID); err != nil {
		return d, err
	}
	if d.Statuses, err = s.Store.CountURLsByStatus(ctx, d.ID); err != nil {
		return d, err
	}
	if d.Weekly, err = s.Store.WeeklyStats(ctx, d.ID); err != nil {
		return d, err
	}
	d.RecentErrors, err = s.Store.ListFetchErrors(ctx, d.ID, recentErrorLimit)
	return d, err
}

// ApplyCommand pauses, resumes, runs or empties the crawl of a domain. The database
// is told first, and decides; a workflow that runs is told so that it minds at
// once.
func (s *Service) ApplyCommand(ctx context.Context, who workspace.Principal, name string, what crawl.Command) (forgotten int64, err error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, name)
	if err != nil {
		return 0, err
	}
	if what == crawl.Pause || what == crawl.Empty {
		if err := s.requireSoleOwner(ctx, who, d, "Pause or delete your own seeds on it."); err != nil {
			return 0, err
		}
	}
	if forgotten, err = s.Store.ApplyDomainCommand(ctx, who.WorkspaceID, name, what, "by a member"); err != nil {
		return 0, err
	}
	if err := s.Workflows.SignalCrawl(context.WithoutCancel(ctx), name, what); err != nil {
		s.Log.WarnContext(ctx, "Temporal was not told; the crawl reads the row within seconds", "domain", name, "error", err)
	}
	return forgotten, nil
}

// requireSoleOwner refuses what would change the crawl for other workspaces.
func (s *Service) requireSoleOwner(ctx context.Context, who workspace.Principal, d crawl.Domain, instead string) error {
	shared, err := s.Store.IsDomainShared(ctx, who.WorkspaceID, d.ID)
	if err == nil && shared {
		err = &apperr.Error{Kind: apperr.KindConflict, Code: "shared_domain", Message: "Other workspaces crawl this domain too. " + instead}
	}
	return err
}

// SetRendering says whether the pages of a domain are shown by a browser before they
// are stored.
func (s *Service) SetRendering(ctx context.Context, who workspace.Principal, name string, render bool) error {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, name)
	if err != nil {
		return err
	}
	if render && !s.HasBrowser {
		return &apperr.Error{Kind: apperr.KindConflict, Code: "no_browser", Message: "There is no browser to render pages in: set DATELINE_CRAWL_BROWSER."}
	}
	if err := s.requireSoleOwner(ctx, who, d, "Ask them first."); err != nil {
		return err
	}
	return s.Store.SetDomainRendering(ctx, who.WorkspaceID, name, render)
}
