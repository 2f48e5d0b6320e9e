package publishing

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/snippet"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// Snippets lists a workspace's snippets by kind and name.
func (s *SnippetStore) Snippets(ctx context.Context, workspaceID uuid.UUID) ([]snippet.Snippet, error) {
	rows, err := s.q.ListSnippets(ctx, workspaceID)
	out := make([]snippet.Snippet, len(rows))
	for i, r := range rows {
		out[i] = snippetFromRow(r)
	}
	return out, err
}

// CreateSnippet stores a snippet unless the workspace has maxSnippets.
func (s *SnippetStore) CreateSnippet(ctx context.Context, n snippet.Snippet, maxSnippets int) (snippet.Snippet, error) {
	row, err := s.q.InsertSnippet(ctx, db.InsertSnippetParams{
		ID: n.ID, WorkspaceID: n.WorkspaceID,
		Kind: string(n.Kind), Name: n.Name, Text: n.Text,
		Template: n.Template, MaxSnippets: maxSnippets,
	})
	if tx.NoRows(err) {
		return snippet.Snippet{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "too_many_snippets",
			Message: fmt.Sprintf("This workspace has reached the limit of %d snippets. Delete one first.", maxSnippets),
		}
	}
	return snippetFromRow(row), snippetNameError(err)
}

// UpdateSnippet stores a changed snippet.
func (s *SnippetStore) UpdateSnippet(ctx context.Context, n snippet.Snippet) (snippet.Snippet, error) {
	row, err := s.q.UpdateSnippet(ctx, db.UpdateSnippetParams{
		ID: n.ID, WorkspaceID: n.WorkspaceID, Name: n.Name, Text: n.Text, Template: n.Template,
	})
	return snippetFromRow(row), snippetNameError(tx.OrNotFound(err, "snippet"))
}

// DeleteSnippet deletes a snippet.
func (s *SnippetStore) DeleteSnippet(ctx context.Context, workspaceID, id uuid.UUID) error {
	n, err := s.q.DeleteSnippet(ctx, db.DeleteSnippetParams{ID: id, WorkspaceID: workspaceID})
	if err == nil && n == 0 {
		err = apperr.NotFound("snippet")
	}
	return err
}

func snippetFromRow(r db.Snippet) snippet.Snippet {
	return snippet.Snippet{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Kind: snippet.Kind(r.Kind), Name: r.Name, Text: r.Text,
		Template: r.Template, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

func snippetNameError(err error) error {
	if tx.Violates(err, "snippets_name") {
		return apperr.InvalidFields(apperr.FieldError{
			Field: "name", Code: "taken", Message: "Another one has this name.",
		})
	}
	return err
}
