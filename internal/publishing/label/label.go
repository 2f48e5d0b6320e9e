// Package label keeps the labels and campaigns by which people sort posts.
package label

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/utm"
	"dateline/internal/publishing/account"
)

// Kind says what a label is for.
type Kind string

// The kinds of labels. A post has at most one campaign.
const (
	Plain    Kind = "label"
	Campaign Kind = "campaign"
)

// Limits of labels.
const (
	MaxLabels  = 500
	MaxName    = 60
	MaxPerPost = 20
	MaxPosts   = 200 // labeled at once
)

// Label is a label or a campaign.
type Label struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Kind        Kind
	Name        string
	Color       string     // one of account.Colors
	UTM         utm.Params // of the tracked links of a campaign's posts
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Update is a change of a label; nil leaves a field as it is.
type Update struct {
	Name, Color *string
	UTM         *utm.Params
}

// Change adds labels to posts and removes others.
type Change struct {
	PostIDs     []uuid.UUID
	Add, Remove []uuid.UUID
}

// Store keeps labels.
type Store interface {
	Labels(ctx context.Context, workspace uuid.UUID) ([]Label, error)
	CreateLabel(ctx context.Context, l Label, maxLabels int) (Label, error)
	UpdateLabel(ctx context.Context, l Label) (Label, error)
	DeleteLabel(ctx context.Context, workspace, id uuid.UUID) error
	LabelPosts(ctx context.Context, workspace uuid.UUID, c Change, actor string) ([]uuid.UUID, error)
}

// Notifier notifies open streams that a post changed.
type Notifier interface {
	Changed(ctx context.Context, postID uuid.UUID)
}

// Labels manages labels.
type Labels struct {
	Store    Store
	Notifier Notifier
}

// List lists a workspace's labels by kind and name.
func (s *Labels) List(ctx context.Context, who workspace.Principal) ([]Label, error) {
	return s.Store.Labels(ctx, who.WorkspaceID)
}

// Create stores a label.
func (s *Labels) Create(ctx context.Context, who workspace.Principal, l Label) (Label, error) {
	l.ID, l.WorkspaceID, l.Name = uuid.Must(uuid.NewV7()), who.WorkspaceID, strings.TrimSpace(l.Name)
	if err := l.Validate(); err != nil {
		return Label{}, err
	}
	return s.Store.CreateLabel(ctx, l, MaxLabels)
}

// Update changes a label.
func (s *Labels) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, u Update) (Label, error) {
	all, err := s.Store.Labels(ctx, who.WorkspaceID)
	if err != nil {
		return Label{}, err
	}
	at := slices.IndexFunc(all, func(l Label) bool { return l.ID == id })
	if at < 0 {
		return Label{}, apperr.NotFound("label")
	}
	l := all[at]
	if u.Name != nil {
		l.Name = strings.TrimSpace(*u.Name)
	}
	if u.Color != nil {
		l.Color = *u.Color
	}
	if u.UTM != nil {
		l.UTM = *u.UTM
	}
	if err := l.Validate(); err != nil {
		return Label{}, err
	}
	return s.Store.UpdateLabel(ctx, l)
}

// Delete deletes a label and removes it from its posts.
func (s *Labels) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteLabel(ctx, who.WorkspaceID, id)
}

// Apply adds labels to posts and removes others, whatever the state of the posts. A
// campaign replaces another one. It returns the posts that have changed.
func (s *Labels) Apply(ctx context.Context, who workspace.Principal, c Change) ([]uuid.UUID, error) {
	if len(c.Add)+len(c.Remove) == 0 {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "add", Code: "required", Message: "Name labels to add or to remove.",
		})
	}
	if n := len(c.PostIDs); n == 0 || n > MaxPosts {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "posts", Code: "invalid", Message: fmt.Sprintf("Name 1 to %d posts.", MaxPosts),
		})
	}
	changed, err := s.Store.LabelPosts(ctx, who.WorkspaceID, c, who.Actor())
	for _, id := range changed {
		s.Notifier.Changed(ctx, id)
	}
	return changed, err
}

// Validate names everything that is wrong with a label.
func (l Label) Validate() error {
	var problems []apperr.FieldError
	add := func(field, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: "invalid", Message: message})
	}
	if l.Kind != Plain && l.Kind != Campaign {
		add("kind", `A kind is "label" or "campaign".`)
	}
	if n := len([]rune(l.Name)); n == 0 || n > MaxName {
		add("name", fmt.Sprintf("A name has 1 to %d characters.", MaxName))
	}
	if !slices.Contains(account.Colors(), l.Color) {
		add("color", fmt.Sprintf("%q is not a color; use one of %v.", l.Color, account.Colors()))
	}
	problems = append(problems, l.UTM.Check("utm")...)
	if l.Kind != Campaign && len(l.UTM) > 0 {
		problems = append(problems, apperr.Field("utm", "only_campaigns", "Only campaigns have UTM parameters."))
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}
