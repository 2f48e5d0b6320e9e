// Package review lets members comment on posts, and lets people without an account
// approve an exact version of a post by a link.
package review

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// Limits.
const (
	MaxDays     = 60
	DefaultDays = 7
	MaxName     = 80
	MaxComment  = 2000
)

// State is the state of a link.
type State string

// The states of a link. Only an open one shows the post.
const (
	Open     State = "open"
	Approved State = "approved"
	Rejected State = "rejected"
	Revoked  State = "revoked"
	Expired  State = "expired"
	Outdated State = "outdated" // the post has changed, or is no longer pending
)

// Link lets its holder approve or reject one version of a post.
type Link struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	PostID      uuid.UUID
	PostVersion int64
	Name        string // of the reviewer
	State       State
	Comment     string // of the reviewer
	CreatedBy   *uuid.UUID
	CreatedAt   time.Time
	ExpiresAt   time.Time
	DecidedAt   *time.Time
}

// Comment is a member's note on a post, which is not published.
type Comment struct {
	ID        uuid.UUID
	PostID    uuid.UUID
	UserID    uuid.UUID
	UserName  string
	Text      string
	Mentions  []uuid.UUID
	CreatedAt time.Time
}

// Person is a member who can be mentioned.
type Person struct {
	ID   uuid.UUID
	Name string
}

// Store keeps links and comments.
type Store interface {
	CreateReviewLink(ctx context.Context, l Link, hash []byte) (Link, error)
	ReviewLinks(ctx context.Context, workspace, post uuid.UUID) ([]Link, error)
	ReviewLink(ctx context.Context, hash []byte) (Link, error)
	RevokeReviewLink(ctx context.Context, workspace, id uuid.UUID) error
	Comments(ctx context.Context, workspace, post uuid.UUID) ([]Comment, []Person, error)
	AddComment(ctx context.Context, workspace uuid.UUID, c Comment, actor string) (Comment, error)
	DeleteComment(ctx context.Context, workspace, id, user uuid.UUID) error
}

// Decider decides on posts that are pending approval.
type Decider interface {
	Approve(ctx context.Context, g post.Guard) (post.Post, error)
	Reject(ctx context.Context, g post.Guard, note string) (post.Post, error)
}

// Notifier notifies open streams that a post changed.
type Notifier interface {
	Changed(ctx context.Context, postID uuid.UUID)
}

// Reviews manages links and comments.
type Reviews struct {
	Store    Store
	Decider  Decider
	Notifier Notifier
}

// CreateLink creates a link to the current version of a post that is pending approval.
// Its secret is shown this once.
func (s *Reviews) CreateLink(
	ctx context.Context, who workspace.Principal, postID uuid.UUID, name string, days int,
) (Link, secret.Text, error) {
	name = strings.TrimSpace(name)
	var problems []apperr.FieldError
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName || !utf8.ValidString(name) {
		problems = append(problems, apperr.FieldError{
			Field: "name", Code: "invalid", Message: fmt.Sprintf("Name the reviewer with 1 to %d characters.", MaxName),
		})
	}
	if days < 1 || days > MaxDays {
		problems = append(problems, apperr.FieldError{
			Field: "expires_in_days", Code: "invalid", Message: fmt.Sprintf("A link is valid for 1 to %d days.",
				MaxDays),
		})
	}
	if len(problems) > 0 {
		return Link{}, secret.Text{}, apperr.InvalidFields(problems...)
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	plain := base64.RawURLEncoding.EncodeToString(raw)
	l, err := s.Store.CreateReviewLink(ctx, Link{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID,
		PostID: postID, Name: name, CreatedBy: &who.UserID,
		ExpiresAt: time.Now().Add(time.Duration(days) * 24 * time.Hour),
	}, hashOf(plain))
	return l, secret.NewText(plain), err
}

// Links lists the links to a post, newest first.
func (s *Reviews) Links(ctx context.Context, who workspace.Principal, postID uuid.UUID) ([]Link, error) {
	return s.Store.ReviewLinks(ctx, who.WorkspaceID, postID)
}

// Revoke ends a link.
func (s *Reviews) Revoke(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.RevokeReviewLink(ctx, who.WorkspaceID, id)
}

// Link returns the link with a secret.
func (s *Reviews) Link(ctx context.Context, plain string) (Link, error) {
	return s.Store.ReviewLink(ctx, hashOf(plain))
}

// Decide approves or rejects the version of the post that the link shows.
func (s *Reviews) Decide(ctx context.Context, plain string, approve bool, comment string) (Link, post.Post, error) {
	l, err := s.Link(ctx, plain)
	if err != nil {
		return l, post.Post{}, err
	}
	if l.State != Open {
		return l, post.Post{}, Closed(l.State)
	}
	comment = strings.TrimSpace(comment)
	if utf8.RuneCountInString(comment) > MaxComment {
		return l, post.Post{}, apperr.InvalidFields(apperr.FieldError{
			Field: "comment", Code: "too_long", Message: fmt.Sprintf("A comment has at most %d characters.",
				MaxComment),
		})
	}
	if !approve && comment == "" {
		return l, post.Post{}, apperr.InvalidFields(apperr.FieldError{
			Field: "comment", Code: "required", Message: "Say what should be changed.",
		})
	}
	g := post.Guard{
		WorkspaceID: l.WorkspaceID, PostID: l.PostID, IfVersion: l.PostVersion,
		Actor:  "review:" + l.ID.String(),
		Review: &post.Review{LinkID: l.ID, Name: l.Name, Comment: comment},
	}
	var p post.Post
	if approve {
		p, err = s.Decider.Approve(ctx, g)
	} else {
		p, err = s.Decider.Reject(ctx, g, comment)
	}
	return l, p, err
}

// Closed refuses a link that does not show the post any more.
func Closed(state State) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "link_" + string(state),
		Message: fmt.Sprintf("The link is %s. Ask for a new one.", state),
	}
}

// Comments lists the comments on a post, oldest first, and who can be mentioned.
func (s *Reviews) Comments(
	ctx context.Context, who workspace.Principal, postID uuid.UUID,
) ([]Comment, []Person, error) {
	return s.Store.Comments(ctx, who.WorkspaceID, postID)
}

// Comment adds a comment.
func (s *Reviews) Comment(
	ctx context.Context, who workspace.Principal, postID uuid.UUID, text string, mentions []uuid.UUID,
) (Comment, error) {
	text = strings.TrimSpace(text)
	if n := utf8.RuneCountInString(text); n == 0 || n > MaxComment || !utf8.ValidString(text) ||
		strings.ContainsRune(text, 0) {
		return Comment{}, apperr.InvalidFields(apperr.FieldError{
			Field: "text", Code: "invalid", Message: fmt.Sprintf("A comment has 1 to %d characters.", MaxComment),
		})
	}
	slices.SortFunc(mentions, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	c, err := s.Store.AddComment(ctx, who.WorkspaceID,
		Comment{
			ID: uuid.Must(uuid.NewV7()), PostID: postID, UserID: who.UserID, Text: text,
			Mentions: slices.Compact(mentions),
		}, who.Actor())
	if err == nil {
		s.Notifier.Changed(ctx, postID)
	}
	return c, err
}

// DeleteComment deletes a comment of one's own.
func (s *Reviews) DeleteComment(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteComment(ctx, who.WorkspaceID, id, who.UserID)
}

func hashOf(plain string) []byte {
	sum := sha256.Sum256([]byte(plain))
	return sum[:]
}
