// Package seeds lets the members of a workspace manage their crawl: its seeds, the
// domains on which it has seeds, and exports of stored pages.
//
// Seeds belong to a workspace. Domains, pages and politeness limits are shared: a
// page is fetched once, no matter how many workspaces crawl it. A workspace sees
// the domains on which it has a seed. It controls a domain only if no other
// workspace has seeds on it; otherwise it can pause its own seeds.
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

// Store stores seeds.
type Store interface {
	CreateSeeds(ctx context.Context, seeds []crawl.Seed, key idempotency.Key) (created []crawl.Seed, replayed bool,
		err error)
	GetSeed(ctx context.Context, workspace, id uuid.UUID) (crawl.Seed, error)
	ListSeeds(ctx context.Context, workspace uuid.UUID, domain string, after uuid.UUID, limit int) ([]crawl.Seed, error)
	UpdateSeed(ctx context.Context, workspace, id uuid.UUID, ifVersion int64,
		change func(*crawl.Seed) error) (crawl.Seed, error)
	DeleteSeed(ctx context.Context, workspace, id uuid.UUID) error
}

// Workflows notifies Temporal.
type Workflows interface {
	SignalCrawl(ctx context.Context, domain string, command crawl.Command) error
	StartExport(ctx context.Context, domain, export, key string, from, to time.Time) error
}

// Service manages the crawl of workspaces.
type Service struct {
	Seeds      Store
	Domains    DomainStore
	Stats      DomainStats
	Exports    ExportStore
	Workflows  Workflows
	Guard      *ssrf.Guard
	Objects    Objects
	Policy     crawl.RevisitPolicy
	HasBrowser bool // pages can be rendered
	Log        *slog.Logger
}

// Draft is a seed to be created. Nil fields get their default.
type Draft struct {
	URL         string
	Kind        crawl.Kind // empty: guessed, and detected at the first fetch
	Title       string
	Paused      bool
	Priority    *int
	MinInterval *time.Duration
	MaxInterval *time.Duration
	Allow, Deny []string
	MaxDepth    *int
	DailyBudget *int
}

const defaultPriority = 50

// Create creates a seed and starts its crawl.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, d Draft, key idempotency.Key,
) (crawl.Seed, bool, error) {
	n, problems := s.newSeed(who, d)
	if len(problems) > 0 {
		return crawl.Seed{}, false, apperr.InvalidFields(problems...)
	}
	created, replayed, err := s.Seeds.CreateSeeds(ctx, []crawl.Seed{n}, key)
	if err != nil {
		return crawl.Seed{}, false, err
	}
	if len(created) == 0 {
		return crawl.Seed{}, false, &apperr.Error{
			Kind: apperr.KindConflict, Code: "seed_exists",
			Message: fmt.Sprintf("This workspace already has the seed %s. Update that seed instead.", n.URL),
		}
	}
	s.triggerCrawl(ctx, n.URL.Domain())
	return created[0], replayed, nil
}

// triggerCrawl starts the crawl of a domain without waiting for the schedule.
func (s *Service) triggerCrawl(ctx context.Context, domain string) {
	if err := s.Workflows.SignalCrawl(context.WithoutCancel(ctx), domain, crawl.RunNow); err != nil {
		s.Log.WarnContext(ctx, "Temporal could not be notified; the schedule will find the seed", "domain", domain,
			"error", err)
	}
}

// Get returns a seed.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (crawl.Seed, error) {
	return s.Seeds.GetSeed(ctx, who.WorkspaceID, id)
}

// List lists seeds, oldest first. domain may be empty.
func (s *Service) List(
	ctx context.Context, who workspace.Principal, domain string, after uuid.UUID, limit int,
) ([]crawl.Seed, error) {
	return s.Seeds.ListSeeds(ctx, who.WorkspaceID, domain, after, limit)
}

// Patch is an update of a seed. Nil fields do not change.
type Patch struct {
	Kind        *crawl.Kind
	Title       *string
	Status      *crawl.SeedStatus
	Priority    *int
	MinInterval *time.Duration
	MaxInterval *time.Duration
	Allow, Deny *[]string
	MaxDepth    *int
	DailyBudget *int
}

// Update updates a seed, which is then due at once.
func (s *Service) Update(
	ctx context.Context, who workspace.Principal, id uuid.UUID, ifVersion int64, p Patch,
) (crawl.Seed, error) {
	return s.Seeds.UpdateSeed(ctx, who.WorkspaceID, id, ifVersion, func(n *crawl.Seed) error {
		setIfGiven(&n.Kind, p.Kind)
		setIfGiven(&n.Title, p.Title)
		setIfGiven(&n.Status, p.Status)
		setIfGiven(&n.Priority, p.Priority)
		setIfGiven(&n.MinInterval, p.MinInterval)
		setIfGiven(&n.MaxInterval, p.MaxInterval)
		setIfGiven(&n.Rules.Allow, p.Allow)
		setIfGiven(&n.Rules.Deny, p.Deny)
		setIfGiven(&n.Rules.MaxDepth, p.MaxDepth)
		setIfGiven(&n.Rules.DailyBudget, p.DailyBudget)
		if problems := validate(*n); len(problems) > 0 {
			return apperr.InvalidFields(problems...)
		}
		return nil
	})
}

func setIfGiven[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Delete deletes a seed.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Seeds.DeleteSeed(ctx, who.WorkspaceID, id)
}
