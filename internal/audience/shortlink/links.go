// Package shortlink keeps short links: addresses of our own that lead somewhere
// else, so that the way there can be counted.
//
// A link leads where its row says and nowhere else: nothing of a request comes
// into an answer. Links of posts are made with the post's text (post.Links);
// others by hand.
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
)

// Path is where short links are served.
const Path = "/l/"

// Link is a short link.
type Link struct {
	Code        string
	WorkspaceID uuid.UUID
	UserID      *uuid.UUID // who made it
	PostID      *uuid.UUID // the post that it is counted for; nil: none
	AccountID   *uuid.UUID // the account that the post goes to; nil: made by hand
	Network     string
	URL         string
	Title       string
	CreatedAt   time.Time
	DisabledAt  *time.Time // it leads nowhere any more
	Clicks      int64      // up to the last flush
}

// Filter chooses links of one workspace, the newest first.
type Filter struct {
	WorkspaceID uuid.UUID
	PostID      *uuid.UUID
	BeforeCode  string // the cursor: continue behind this link
	Limit       int
}

// Store keeps links.
type Store interface {
	CreateLink(ctx context.Context, n Link, resource uuid.UUID, key idempotency.Key) (l Link, replayed, taken bool, err error)
	LinkInWorkspace(ctx context.Context, workspace uuid.UUID, code string) (Link, error)
	Links(ctx context.Context, f Filter) ([]Link, error)
	SetLinkDisabled(ctx context.Context, workspace uuid.UUID, code string, disabled bool) (Link, error)
	// CheckLinkPost returns a not-found error unless the post belongs to the workspace.
	CheckLinkPost(ctx context.Context, workspace, post uuid.UUID) error
}

// Service makes links and looks after them.
type Service struct {
	Store   Store
	BaseURL string // what short links begin with, as https://go.example.org/l/
}

// Draft is a link as a person asks for it.
type Draft struct {
	URL, Title string
	PostID     *uuid.UUID
}

// ShortURL is the address of a link that people are given.
func (s *Service) ShortURL(l Link) string { return s.BaseURL + l.Code }

// maxTitleLength is the longest title, in characters.
const maxTitleLength = 200

// Create makes a link.
func (s *Service) Create(ctx context.Context, who workspace.Principal, n Draft, key idempotency.Key) (l Link, replayed bool, err error) {
	if err := s.check(ctx, who, n); err != nil {
		return Link{}, false, err
	}
	for {
		id, err := uuid.NewRandomFromReader(rand.Reader)
		if err != nil {
			return Link{}, false, err
		}
		l, replayed, taken, err := s.Store.CreateLink(ctx, Link{Code: CodeForID(id), WorkspaceID: who.WorkspaceID, UserID: &who.UserID, PostID: n.PostID,
			URL: n.URL, Title: n.Title}, id, key)
		if err != nil || !taken {
			return l, replayed, err
		}
	}
}

// CodeForID is the code of a link that was made by hand, under a random id.
func CodeForID(id uuid.UUID) string {
	sum := sha256.Sum256(id[:])
	return linkcode.Encode([16]byte(sum[:16]))
}

func (s *Service) check(ctx context.Context, who workspace.Principal, n Draft) error {
	var problems []apperr.FieldError
	switch {
	case !linkcode.IsValidTarget(n.URL):
		problems = append(problems, apperr.FieldError{Field: "url", Code: "invalid", Message: "Write an address that begins with http:// or https:// and holds no user name or space, of at most 2048 bytes."})
	case strings.HasPrefix(n.URL, s.BaseURL):
		problems = append(problems, apperr.FieldError{Field: "url", Code: "circular", Message: "This is a short link already."})
	}
	if utf8.RuneCountInString(n.Title) > maxTitleLength || !utf8.ValidString(n.Title) || strings.ContainsRune(n.Title, 0) {
		problems = append(problems, apperr.FieldError{Field: "title", Code: "invalid", Message: "Write a title of at most 200 characters."})
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	if n.PostID == nil {
		return nil
	}
	return s.Store.CheckLinkPost(ctx, who.WorkspaceID, *n.PostID)
}

// Get reads a link.
func (s *Service) Get(ctx context.Context, who workspace.Principal, code string) (Link, error) {
	if !linkcode.IsValid(code) {
		return Link{}, apperr.NotFound("link")
	}
	return s.Store.LinkInWorkspace(ctx, who.WorkspaceID, code)
}

// List lists links, the newest first.
func (s *Service) List(ctx context.Context, f Filter) ([]Link, error) {
	if f.BeforeCode != "" && !linkcode.IsValid(f.BeforeCode) {
		return nil, apperr.InvalidFields(apperr.FieldError{Field: "cursor", Code: "invalid", Message: "Take next_cursor of the page before."})
	}
	return s.Store.Links(ctx, f)
}

// SetDisabled makes a link lead nowhere, or lead on again.
func (s *Service) SetDisabled(ctx context.Context, who workspace.Principal, code string, disabled bool) (Link, error) {
	if !linkcode.IsValid(code) {
		return Link{}, apperr.NotFound("link")
	}
	return s.Store.SetLinkDisabled(ctx, who.WorkspaceID, code, disabled)
}
