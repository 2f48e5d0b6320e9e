package media

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"

	"dateline/internal/infra/blob"
)

// Filter selects files of a workspace, newest first. Zero values select all.
type Filter struct {
	WorkspaceID uuid.UUID
	Kind        Kind
	Search      string // words of the file name or alt text, with or without diacritics
	BeforeTime  *time.Time
	BeforeID    *uuid.UUID
	Limit       int
}

// Edit changes the name and alt text of a file; nil keeps a field.
type Edit struct {
	FileName *string
	AltText  *string

	Actor  string // in timelines
	Author bool   // the actor's edits need approval if the workspace requires it
}

// Get returns a file's item.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Item, error) {
	return s.Store.MediaItem(ctx, who.WorkspaceID, id)
}

// List lists files.
func (s *Service) List(ctx context.Context, f Filter) ([]Item, error) {
	if strings.ContainsRune(f.Search, 0) || len(f.Search) > maxFileName ||
		f.Search != strings.ToValidUTF8(f.Search, "") {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "q", Code: "invalid", Message: "Search for words, of at most 200 bytes.",
		})
	}
	return s.Store.ListMedia(ctx, f)
}

// Edit changes a file's name and alt text. Pending posts use the new alt text; posts
// lists those that are scheduled.
func (s *Service) Edit(
	ctx context.Context, who workspace.Principal, id uuid.UUID, e Edit,
) (item Item, posts []uuid.UUID, err error) {
	if e.AltText != nil {
		if problem := checkAltText(*e.AltText); problem != nil {
			return Item{}, nil, apperr.InvalidFields(*problem)
		}
	}
	if e.FileName != nil {
		name := cleanName(*e.FileName)
		if name == "" {
			return Item{}, nil, apperr.InvalidFields(apperr.FieldError{
				Field: "file_name", Code: "invalid", Message: "Invalid file name.",
			})
		}
		e.FileName = &name
	}
	e.Actor, e.Author = who.Actor(), !who.Role.AtLeast(workspace.Editor)
	return s.Store.EditMedia(ctx, who.WorkspaceID, id, e)
}

// Delete removes a file from the library, unless a pending post uses it. Sweep deletes
// its bytes when nothing refers to them anymore.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteMedia(ctx, who.WorkspaceID, id)
}

// InUse returns the error for deleting a file that a pending post uses.
func InUse(by uuid.UUID) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "media_in_use",
		Message: "The file cannot be deleted: " + by.String() + " uses it, which is not published yet, or may be " +
			"sent again. Cancel or discard that first, or take the file out of it.",
	}
}

// Open opens a stored file for reading at any offset. The caller closes it.
func (s *Service) Open(ctx context.Context, item Item) (io.ReadSeekCloser, error) {
	// A streaming response commits to status 200 with its first byte.
	if _, err := s.Objects.Size(ctx, item.ObjectKey); err != nil {
		return nil, fmt.Errorf("the file %s cannot be read: %w", item.ID, err)
	}
	return blob.NewReader(ctx, s.Objects, item.ObjectKey, item.Bytes), nil
}

// Fold normalizes text for search: it removes case and diacritics, so that "bai bien"
// finds "Bãi biển".
func Fold(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == 'đ' || r == 'Đ': // has no decomposition
			return 'd'
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

// Patterns returns one SQL LIKE pattern for each word of a search.
func Patterns(search string) []string {
	escape := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	patterns := []string{}
	for _, word := range strings.Fields(Fold(search)) {
		patterns = append(patterns, "%"+escape.Replace(word)+"%")
	}
	return patterns
}
