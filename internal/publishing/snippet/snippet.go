// Package snippet stores texts that people use repeatedly: snippets, sets of hashtags
// and templates of posts.
package snippet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// Kind says what a snippet is for.
type Kind string

// The kinds of snippets. A template is a whole post, the others are parts of one.
const (
	Text     Kind = "text"
	Hashtags Kind = "hashtags"
	Template Kind = "template"
)

// Limits of snippets.
const (
	MaxSnippets = 500
	MaxName     = 60
	MaxText     = 10_000
	MaxTemplate = 256 << 10 // bytes
)

// Snippet is a stored text.
type Snippet struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Kind        Kind
	Name        string
	Text        string
	// Template is what a template has besides its text, as in the API: thread,
	// options, overrides, accounts and settings. nil: nothing.
	Template  json.RawMessage
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Update is a change of a snippet; nil leaves a field as it is.
type Update struct {
	Name, Text *string
	Template   json.RawMessage
}

// Store keeps snippets.
type Store interface {
	Snippets(ctx context.Context, workspace uuid.UUID) ([]Snippet, error)
	CreateSnippet(ctx context.Context, s Snippet, maxSnippets int) (Snippet, error)
	UpdateSnippet(ctx context.Context, s Snippet) (Snippet, error)
	DeleteSnippet(ctx context.Context, workspace, id uuid.UUID) error
}

// Snippets manages snippets.
type Snippets struct{ Store Store }

// List lists a workspace's snippets by kind and name.
func (s *Snippets) List(ctx context.Context, who workspace.Principal) ([]Snippet, error) {
	return s.Store.Snippets(ctx, who.WorkspaceID)
}

// Create stores a snippet.
func (s *Snippets) Create(ctx context.Context, who workspace.Principal, n Snippet) (Snippet, error) {
	n.ID, n.WorkspaceID, n.Name = uuid.Must(uuid.NewV7()), who.WorkspaceID, strings.TrimSpace(n.Name)
	if err := n.Validate(); err != nil {
		return Snippet{}, err
	}
	return s.Store.CreateSnippet(ctx, n, MaxSnippets)
}

// Update changes a snippet. Posts that it was inserted into stay as they are.
func (s *Snippets) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, u Update) (Snippet, error) {
	all, err := s.Store.Snippets(ctx, who.WorkspaceID)
	if err != nil {
		return Snippet{}, err
	}
	at := slices.IndexFunc(all, func(one Snippet) bool { return one.ID == id })
	if at < 0 {
		return Snippet{}, apperr.NotFound("snippet")
	}
	n := all[at]
	if u.Name != nil {
		n.Name = strings.TrimSpace(*u.Name)
	}
	if u.Text != nil {
		n.Text = *u.Text
	}
	if u.Template != nil {
		n.Template = u.Template
	}
	if err := n.Validate(); err != nil {
		return Snippet{}, err
	}
	return s.Store.UpdateSnippet(ctx, n)
}

// Delete deletes a snippet.
func (s *Snippets) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteSnippet(ctx, who.WorkspaceID, id)
}

// Validate names everything that is wrong with a snippet.
func (s Snippet) Validate() error {
	var problems []apperr.FieldError
	add := func(field, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: "invalid", Message: message})
	}
	if s.Kind != Text && s.Kind != Hashtags && s.Kind != Template {
		add("kind", `A kind is "text", "hashtags" or "template".`)
	}
	if n := utf8.RuneCountInString(s.Name); n == 0 || n > MaxName || !utf8.ValidString(s.Name) ||
		strings.ContainsRune(s.Name, 0) {
		add("name", fmt.Sprintf("A name has 1 to %d characters.", MaxName))
	}
	if n := utf8.RuneCountInString(s.Text); strings.TrimSpace(s.Text) == "" || n > MaxText ||
		!utf8.ValidString(s.Text) || strings.ContainsRune(s.Text, 0) {
		add("text", fmt.Sprintf("A text has 1 to %d characters.", MaxText))
	}
	switch {
	case s.Template != nil && s.Kind != Template:
		add("template", "Only a template has one. Remove it, or use the kind \"template\".")
	case len(s.Template) > MaxTemplate:
		add("template", fmt.Sprintf("A template has at most %d bytes.", MaxTemplate))
	case !utf8.Valid(s.Template) || bytes.Contains(s.Template, []byte(`\u0000`)):
		add("template", "The texts must be valid UTF-8 without NUL.")
	}
	if s.Kind == Hashtags {
		for _, word := range strings.Fields(s.Text) {
			if !strings.HasPrefix(word, "#") || len(word) == 1 {
				add("text", fmt.Sprintf("%q is not a hashtag: write each one with # before it, separated by spaces.",
					word))
				break
			}
		}
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}
