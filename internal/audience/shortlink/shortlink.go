// Package shortlink manages short links and redirects their readers, counting
// clicks on the way.
//
// A link redirects only to the URL in its row; nothing in a request influences
// the target. Links of posts are created with the post's text (post.Links),
// others by users.
package shortlink

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/linkcode"
	"dateline/internal/infra/utm"
)

// Path is the path prefix of short links.
const Path = "/l/"

// Link is a short link.
type Link struct {
	Code        string
	WorkspaceID uuid.UUID
	UserID      *uuid.UUID // who created it
	PostID      *uuid.UUID // the post that its clicks are counted for, if any
	AccountID   *uuid.UUID // the account that the post is published to; nil: created by a user
	Network     string
	URL         string
	UTM         utm.Params // added to URL when a reader follows the link; only LinkByCode sets it
	Title       string
	CreatedAt   time.Time
	DisabledAt  *time.Time
	Clicks      int64 // as of the last flush
}

// Filter selects links of a workspace, newest first.
type Filter struct {
	WorkspaceID uuid.UUID
	PostID      *uuid.UUID
	BeforeCode  string // cursor: continue after this link
	Limit       int
}

// Store persists links.
type Store interface {
	CreateLink(ctx context.Context, n Link, resource uuid.UUID, key idempotency.Key) (l Link, replayed, taken bool,
		err error)
	LinkInWorkspace(ctx context.Context, workspace uuid.UUID, code string) (Link, error)
	Links(ctx context.Context, f Filter) ([]Link, error)
	SetLinkDisabled(ctx context.Context, workspace uuid.UUID, code string, disabled bool) (Link, error)
	// CheckLinkPost returns a not-found error unless the post belongs to the workspace.
	CheckLinkPost(ctx context.Context, workspace, post uuid.UUID) error
}

// Service manages the links of workspaces.
type Service struct {
	Store   Store
	BaseURL string // such as https://go.example.org/l/
}

// Draft is a link to create.
type Draft struct {
	URL, Title string
	PostID     *uuid.UUID
}

// ShortURL returns the public URL of a link.
func (s *Service) ShortURL(l Link) string { return s.BaseURL + l.Code }

// maxTitleLength is the maximum length of a title in characters.
const maxTitleLength = 200

// Create creates a link.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, n Draft, key idempotency.Key,
) (l Link, replayed bool, err error) {
	if err := s.check(ctx, who, n); err != nil {
		return Link{}, false, err
	}
	for {
		id, err := uuid.NewRandomFromReader(rand.Reader)
		if err != nil {
			return Link{}, false, err
		}
		l, replayed, taken, err := s.Store.CreateLink(ctx, Link{
			Code: CodeForID(id), WorkspaceID: who.WorkspaceID,
			UserID: &who.UserID, PostID: n.PostID,
			URL: n.URL, Title: n.Title,
		}, id, key)
		if err != nil || !taken {
			return l, replayed, err
		}
	}
}

// CodeForID returns the code of a link created by a user, derived from its
// random id.
func CodeForID(id uuid.UUID) string {
	sum := sha256.Sum256(id[:])
	return linkcode.Encode([16]byte(sum[:16]))
}

func (s *Service) check(ctx context.Context, who workspace.Principal, n Draft) error {
	var problems []apperr.FieldError
	switch {
	case !linkcode.IsValidTarget(n.URL):
		problems = append(problems, apperr.FieldError{
			Field: "url", Code: "invalid",
			Message: "Enter a URL that starts with http:// or https://, without a user name or spaces, of at most " +
				"2048 bytes.",
		})
	case strings.HasPrefix(n.URL, s.BaseURL):
		problems = append(problems, apperr.FieldError{
			Field: "url", Code: "circular", Message: "Must not be a short link.",
		})
	}
	if utf8.RuneCountInString(n.Title) > maxTitleLength || !utf8.ValidString(n.Title) ||
		strings.ContainsRune(n.Title, 0) {
		problems = append(problems, apperr.FieldError{
			Field: "title", Code: "invalid", Message: "Must have at most 200 characters.",
		})
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	if n.PostID == nil {
		return nil
	}
	return s.Store.CheckLinkPost(ctx, who.WorkspaceID, *n.PostID)
}

// Get returns a link.
func (s *Service) Get(ctx context.Context, who workspace.Principal, code string) (Link, error) {
	if !linkcode.IsValid(code) {
		return Link{}, apperr.NotFound("link")
	}
	return s.Store.LinkInWorkspace(ctx, who.WorkspaceID, code)
}

// List lists links, newest first.
func (s *Service) List(ctx context.Context, f Filter) ([]Link, error) {
	if f.BeforeCode != "" && !linkcode.IsValid(f.BeforeCode) {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "cursor", Code: "invalid", Message: "Must be the next_cursor of a previous page.",
		})
	}
	return s.Store.Links(ctx, f)
}

// SetDisabled disables or enables a link.
func (s *Service) SetDisabled(ctx context.Context, who workspace.Principal, code string, disabled bool) (Link, error) {
	if !linkcode.IsValid(code) {
		return Link{}, apperr.NotFound("link")
	}
	return s.Store.SetLinkDisabled(ctx, who.WorkspaceID, code, disabled)
}
