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
	UpdateSite(ctx context.Context, workspace, id uuid.UUID, change func(*Site) error) (Site, error)
	RotateSiteSecret(ctx context.Context, workspace, id uuid.UUID, hash []byte) (Site, error)
	DeleteSite(ctx context.Context, workspace, id uuid.UUID) error
	Workspace(ctx context.Context, id uuid.UUID) (workspace.Workspace, error)
}

// Service is what people do with sites.
type Service struct {
	Store  Store
	Sealer *secret.Sealer
	// OnChange, where it is set, is told of every change, so that this process
	// counts by it at once.
	OnChange func(ctx context.Context)
}

// maxSites of one workspace: every process has all sites in memory.
const maxSites = 100

// Update is an edit: nil leaves a setting as it is.
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

// Update changes a site's settings.
func (s *Service) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, c Update) (Site, error) {
	changed, err := s.Store.UpdateSite(ctx, who.WorkspaceID, id, func(e *Site) error {
		if c.MaxID != nil && *c.MaxID < e.MaxID {
			return apperr.InvalidFields(apperr.FieldError{Field: "max_id", Code: "too_small", Message: "It can only grow: larger ids were counted already."})
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

// RotateSecret makes a new key for servers, shown this once. The old one ends at once.
func (s *Service) RotateSecret(ctx context.Context, who workspace.Principal, id uuid.UUID) (Site, secret.Text, error) {
	text := newKey(secretKeyPrefix, 32)
	changed, err := s.Store.RotateSiteSecret(ctx, who.WorkspaceID, id, HashSecret(text))
	if err != nil {
		return Site{}, secret.Text{}, err
	}
	s.notifyChange(ctx)
	return changed, secret.NewText(text), nil
}

// Delete ends a site: nothing is counted for it any more.
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
