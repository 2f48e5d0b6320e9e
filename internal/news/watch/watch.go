// Package watch watches regions of pages and raises an event when their text changes.
//
// A check fetches the page under the rules of the crawler: robots.txt, its delays and the
// SSRF guard. The text of the region is compared line by line with the last one; the new
// text, the change and its event are stored in one transaction, so that a change is
// reported once.
package watch

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
)

// Problem is why the last check failed.
type Problem string

// The problems. Those of a fetch are its outcome, such as timeout.
const (
	NoMatch    Problem = "no_match"   // the selector matches nothing
	Empty      Problem = "empty"      // the region has no text
	TooLong    Problem = "too_long"   // the region has too much text
	NotHTML    Problem = "not_html"   // the page is no HTML document
	Disallowed Problem = "disallowed" // by robots.txt
)

// Watch is a watched region of a page.
type Watch struct {
	ID              uuid.UUID
	WorkspaceID     uuid.UUID
	UserID          uuid.UUID
	Name            string
	URL             string
	Selector        string // CSS; empty: the whole page
	IntervalMinutes int
	IsPaused        bool
	Version         int64
	CreatedAt       time.Time
	UpdatedAt       time.Time

	Lines       []string // of the region; nil: not read yet
	CheckedAt   *time.Time
	ChangedAt   *time.Time
	Problem     Problem // empty: the last check worked
	Failures    int     // in a row
	DueAt       time.Time
	ChangeCount int

	ETag         string
	LastModified string
}

// Change is a change of a region.
type Change struct {
	ID      uuid.UUID
	FoundAt time.Time
	Added   []string // lines
	Removed []string
}

// Limits of watches.
const (
	MaxWatches     = 100 // of a workspace
	MinInterval    = 5   // minutes
	MaxInterval    = 7 * 24 * 60
	maxName        = 200
	maxURL         = 2000
	maxSelector    = 500
	maxLines       = 2000 // of a region
	maxLineLength  = 1000 // characters
	maxRegionBytes = 200_000
	// MaxChanges is the number of changes that are stored for each watch.
	MaxChanges = 100
)

// Store stores watches for members.
type Store interface {
	CreateWatch(ctx context.Context, w Watch, limit int, key idempotency.Key) (created Watch, replayed bool, err error)
	Watches(ctx context.Context, workspace uuid.UUID) ([]Watch, error)
	Watch(ctx context.Context, workspace, id uuid.UUID) (Watch, error)
	// UpdateWatch stores a changed watch. restart forgets the text of the region.
	UpdateWatch(ctx context.Context, w Watch, ifVersion int64, restart bool) (Watch, error)
	DeleteWatch(ctx context.Context, workspace, id uuid.UUID) error
	CheckWatchNow(ctx context.Context, workspace, id uuid.UUID) (Watch, error)
	WatchChanges(ctx context.Context, workspace, id, before uuid.UUID, limit int) ([]Change, error)
}

// AddressChecker refuses addresses of private networks: ssrf.Guard.
type AddressChecker interface {
	CheckHost(host string) error
	Trusts(hostPort string) bool
}

// Service manages watches for the members of a workspace.
type Service struct {
	Store Store
	Guard AddressChecker
}

// List lists the watches of a workspace, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Watch, error) {
	return s.Store.Watches(ctx, who.WorkspaceID)
}

// Get returns a watch.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Watch, error) {
	return s.Store.Watch(ctx, who.WorkspaceID, id)
}

// Create stores a watch. Its first check reads the text that later ones are compared with.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, w Watch, key idempotency.Key,
) (Watch, bool, error) {
	w.ID, w.WorkspaceID, w.UserID = uuid.Must(uuid.NewV7()), who.WorkspaceID, who.UserID
	if err := s.check(&w); err != nil {
		return Watch{}, false, err
	}
	return s.Store.CreateWatch(ctx, w, MaxWatches, key)
}

// Update changes a watch. The text of another page or region is read again.
func (s *Service) Update(
	ctx context.Context, who workspace.Principal, id uuid.UUID, ifVersion int64, change func(*Watch),
) (Watch, error) {
	was, err := s.Store.Watch(ctx, who.WorkspaceID, id)
	if err != nil {
		return Watch{}, err
	}
	if ifVersion != 0 && ifVersion != was.Version {
		return Watch{}, VersionMismatch()
	}
	w := was
	change(&w)
	if err := s.check(&w); err != nil {
		return Watch{}, err
	}
	return s.Store.UpdateWatch(ctx, w, was.Version, w.URL != was.URL || w.Selector != was.Selector)
}

// VersionMismatch refuses a change of a watch that was changed in the meantime.
func VersionMismatch() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindPreconditionFailed, Code: "version_mismatch",
		Message: "The watch was changed in the meantime. Load it again.",
	}
}

// Delete deletes a watch and its changes.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteWatch(ctx, who.WorkspaceID, id)
}

// CheckNow makes the next check due.
func (s *Service) CheckNow(ctx context.Context, who workspace.Principal, id uuid.UUID) (Watch, error) {
	return s.Store.CheckWatchNow(ctx, who.WorkspaceID, id)
}

// Changes lists the changes of a watch, the newest first.
func (s *Service) Changes(
	ctx context.Context, who workspace.Principal, id, before uuid.UUID, limit int,
) ([]Change, error) {
	if _, err := s.Store.Watch(ctx, who.WorkspaceID, id); err != nil {
		return nil, err
	}
	if before == uuid.Nil {
		before = uuid.Max
	}
	return s.Store.WatchChanges(ctx, who.WorkspaceID, id, before, limit)
}
