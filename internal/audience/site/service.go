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

// Store persists sites and writes changes to the audit log.
type Store interface {
	CreateSite(ctx context.Context, s Site, limit int, key idempotency.Key) (created Site, replayed bool, err error)
	Sites(ctx context.Context, workspace uuid.UUID) ([]Site, error)
	Site(ctx context.Context, workspace, id uuid.UUID) (Site, error)
	UpdateSite(ctx context.Context, workspace, id uuid.UUID, change func(*Site) error) (Site, error)
	RotateSiteSecret(ctx context.Context, workspace, id uuid.UUID, hash []byte) (Site, error)
	DeleteSite(ctx context.Context, workspace, id uuid.UUID) error
	Workspace(ctx context.Context, id uuid.UUID) (workspace.Workspace, error)
}

// Service manages the sites of workspaces.
type Service struct {
	Store  Store
	Sealer *secret.Sealer
	// OnChange, if set, is called after every change, so that this process applies
	// it immediately.
	OnChange func(ctx context.Context)
}

// maxSites is the maximum number of sites per workspace: every process has all
// sites in memory.
const maxSites = 100

// Update is a change of settings; nil leaves a setting unchanged.
type Update struct {
	Name          *string
	Domains       *[]string
	WindowSeconds *int
	MaxID         *int64
	RateHits      *int
	RateSeconds   *int
	Visitors      *VisitorMode
	WeeklyUniques *bool
	PublicCounts  *bool
	Events        *[]Event
	Goals         *[]Goal
}

// Create creates a site. The secret key is only returned this once: a replayed
// request returns none.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, draft Site, key idempotency.Key,
) (made Site, plain secret.Text, replayed bool, err error) {
	if draft.TimeZone == "" {
		w, err := s.Store.Workspace(ctx, who.WorkspaceID)
		if err != nil {
			return Site{}, secret.Text{}, false, err
		}
		draft.TimeZone = w.TimeZone
	}
	if problems := draft.validate(); len(problems) > 0 {
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
	if made, replayed, err = s.Store.CreateSite(ctx, draft, maxSites, key); err != nil || replayed {
		return made, secret.Text{}, replayed, err
	}
	s.notifyChange(ctx)
	return made, secret.NewText(text), false, nil
}

// SealName returns the associated data that binds a site's visitor key to its row.
func SealName(id uuid.UUID) string { return "site/" + id.String() }

// List lists a workspace's sites, oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Site, error) {
	return s.Store.Sites(ctx, who.WorkspaceID)
}

// Get returns a site.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Site, error) {
	return s.Store.Site(ctx, who.WorkspaceID, id)
}

// Update changes a site's settings.
func (s *Service) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, c Update) (Site, error) {
	changed, err := s.Store.UpdateSite(ctx, who.WorkspaceID, id, func(e *Site) error {
		if c.MaxID != nil && *c.MaxID < e.MaxID {
			return apperr.InvalidFields(apperr.FieldError{
				Field: "max_id", Code: "too_small", Message: "Must not decrease: larger ids may have been counted.",
			})
		}
		setIfGiven(&e.Name, c.Name)
		setIfGiven(&e.Domains, c.Domains)
		setIfGiven(&e.WindowSeconds, c.WindowSeconds)
		setIfGiven(&e.MaxID, c.MaxID)
		setIfGiven(&e.RateHits, c.RateHits)
		setIfGiven(&e.RateSeconds, c.RateSeconds)
		setIfGiven(&e.Visitors, c.Visitors)
		setIfGiven(&e.WeeklyUniques, c.WeeklyUniques)
		setIfGiven(&e.PublicCounts, c.PublicCounts)
		setIfGiven(&e.Events, c.Events)
		setIfGiven(&e.Goals, c.Goals)
		if problems := e.validate(); len(problems) > 0 {
			return apperr.InvalidFields(problems...)
		}
		return nil
	})
	if err == nil {
		s.notifyChange(ctx)
	}
	return changed, err
}

func setIfGiven[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// RotateSecret generates a new secret key, which is only returned this once.
// The old one becomes invalid immediately.
func (s *Service) RotateSecret(ctx context.Context, who workspace.Principal, id uuid.UUID) (Site, secret.Text, error) {
	text := newKey(secretKeyPrefix, 32)
	changed, err := s.Store.RotateSiteSecret(ctx, who.WorkspaceID, id, HashSecret(text))
	if err != nil {
		return Site{}, secret.Text{}, err
	}
	s.notifyChange(ctx)
	return changed, secret.NewText(text), nil
}

// Delete deletes a site; its hits are not counted anymore.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	err := s.Store.DeleteSite(ctx, who.WorkspaceID, id)
	if err == nil {
		s.notifyChange(ctx)
	}
	return err
}

func (s *Service) notifyChange(ctx context.Context) {
	if s.OnChange != nil {
		s.OnChange(ctx)
	}
}
