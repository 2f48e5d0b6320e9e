package site

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
)

// Store keeps sites. What it changes, it writes into the audit log too.
type Store interface {
	CreateSite(ctx context.Context, s Site, most int, key idempotency.Key) (created Site, replayed bool, err error)
	Sites(ctx context.Context, workspace uuid.UUID) ([]Site, error)
	Site(ctx context.Context, workspace, id uuid.UUID) (Site, error)
	ChangeSite(ctx context.Context, workspace, id uuid.UUID, change func(*Site) error) (Site, error)
	RotateSiteSecret(ctx context.Context, workspace, id uuid.UUID, hash []byte) (Site, error)
	DeleteSite(ctx context.Context, workspace, id uuid.UUID) error
	Workspace(ctx context.Context, id uuid.UUID) (workspace.Workspace, error)
}

// Service is what people do with sites.
type Service struct {
	Store  Store
	Sealer *secret.Sealer
	// Changed, where it is set, is told of every change, so that this process
	// counts by it at once.
	Changed func(ctx context.Context)
}

// mostSites of one workspace: every process has all sites in memory.
const mostSites = 100

// Change is an edit: nil leaves a setting as it is.
type Change struct {
	Name          *string
	Domains       *[]string
	WindowSeconds *int
	MaxID         *int64
	RateHits      *int
	RateSeconds   *int
	Visitors      *Mode
	WeeklyUniques *bool
	PublicCounts  *bool
}

// Create makes a site. The key for servers is shown this once: a repetition of
// the request is answered without it.
func (s *Service) Create(ctx context.Context, who workspace.Principal, draft Site, key idempotency.Key) (made Site, plain secret.Text, replayed bool, err error) {
	if draft.TimeZone == "" {
		w, err := s.Store.Workspace(ctx, who.WorkspaceID)
		if err != nil {
			return Site{}, secret.Text{}, false, err
		}
		draft.TimeZone = w.TimeZone
	}
	if problems := draft.check(); len(problems) > 0 {
		return Site{}, secret.Text{}, false, apperr.InvalidFields(problems...)
	}
	draft.ID, draft.WorkspaceID = uuid.Must(uuid.NewV7()), who.WorkspaceID
	draft.WriteKey = newKey(writeKeyPrefix, 12)
	text := newKey(secretKeyPrefix, 32)
	draft.SecretHash = HashSecret(text)
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	if draft.VisitorKey, err = s.Sealer.Seal(secret.NewText(hex.EncodeToString(raw)), SealName(draft.ID)); err != nil {
		return Site{}, secret.Text{}, false, err
	}
	if made, replayed, err = s.Store.CreateSite(ctx, draft, mostSites, key); err != nil || replayed {
		return made, secret.Text{}, replayed, err
	}
	s.changed(ctx)
	return made, secret.NewText(text), false, nil
}

// SealName binds a site's visitor key to its row.
func SealName(id uuid.UUID) string { return "site/" + id.String() }

// List gives a workspace's sites, oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Site, error) {
	return s.Store.Sites(ctx, who.WorkspaceID)
}

// Get reads a site.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Site, error) {
	return s.Store.Site(ctx, who.WorkspaceID, id)
}

// Edit changes a site's settings.
func (s *Service) Edit(ctx context.Context, who workspace.Principal, id uuid.UUID, c Change) (Site, error) {
	changed, err := s.Store.ChangeSite(ctx, who.WorkspaceID, id, func(e *Site) error {
		if c.MaxID != nil && *c.MaxID < e.MaxID {
			return apperr.InvalidFields(apperr.FieldError{Field: "max_id", Code: "too_small", Message: "It can only grow: larger ids were counted already."})
		}
		set(&e.Name, c.Name)
		set(&e.Domains, c.Domains)
		set(&e.WindowSeconds, c.WindowSeconds)
		set(&e.MaxID, c.MaxID)
		set(&e.RateHits, c.RateHits)
		set(&e.RateSeconds, c.RateSeconds)
		set(&e.Visitors, c.Visitors)
		set(&e.WeeklyUniques, c.WeeklyUniques)
		set(&e.PublicCounts, c.PublicCounts)
		if problems := e.check(); len(problems) > 0 {
			return apperr.InvalidFields(problems...)
		}
		return nil
	})
	if err == nil {
		s.changed(ctx)
	}
	return changed, err
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// Rotate makes a new key for servers, shown this once. The old one ends at once.
func (s *Service) Rotate(ctx context.Context, who workspace.Principal, id uuid.UUID) (Site, secret.Text, error) {
	text := newKey(secretKeyPrefix, 32)
	changed, err := s.Store.RotateSiteSecret(ctx, who.WorkspaceID, id, HashSecret(text))
	if err != nil {
		return Site{}, secret.Text{}, err
	}
	s.changed(ctx)
	return changed, secret.NewText(text), nil
}

// Delete ends a site: nothing is counted for it any more.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	err := s.Store.DeleteSite(ctx, who.WorkspaceID, id)
	if err == nil {
		s.changed(ctx)
	}
	return err
}

func (s *Service) changed(ctx context.Context) {
	if s.Changed != nil {
		s.Changed(ctx)
	}
}
