package api

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/snippet"
)

// SnippetHandler serves snippets.
type SnippetHandler struct{ Snippets Snippets }

// Snippets manages snippets, sets of hashtags and templates.
type Snippets interface {
	List(ctx context.Context, who workspace.Principal) ([]snippet.Snippet, error)
	Create(ctx context.Context, who workspace.Principal, n snippet.Snippet) (snippet.Snippet, error)
	Update(ctx context.Context, who workspace.Principal, id uuid.UUID, u snippet.Update) (snippet.Snippet, error)
	Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error
}

// ListSnippets lists snippets.
func (s *SnippetHandler) ListSnippets(
	ctx context.Context, _ spec.ListSnippetsRequestObject,
) (spec.ListSnippetsResponseObject, error) {
	all, err := s.Snippets.List(ctx, principal(ctx))
	out := spec.ListSnippets200JSONResponse{Snippets: []spec.Snippet{}}
	for _, one := range all {
		out.Snippets = append(out.Snippets, snippetJSON(one))
	}
	return out, err
}

// CreateSnippet creates a snippet.
func (s *SnippetHandler) CreateSnippet(
	ctx context.Context, r spec.CreateSnippetRequestObject,
) (spec.CreateSnippetResponseObject, error) {
	b := r.Body
	template, err := storedTemplate(b.Template)
	if err != nil {
		return nil, err
	}
	one, err := s.Snippets.Create(ctx, principal(ctx), snippet.Snippet{
		Kind: snippet.Kind(or(b.Kind, spec.SnippetKind(snippet.Text))), Name: b.Name, Text: b.Text, Template: template,
	})
	return spec.CreateSnippet201JSONResponse(snippetJSON(one)), err
}

// UpdateSnippet updates a snippet.
func (s *SnippetHandler) UpdateSnippet(
	ctx context.Context, r spec.UpdateSnippetRequestObject,
) (spec.UpdateSnippetResponseObject, error) {
	template, err := storedTemplate(r.Body.Template)
	if err != nil {
		return nil, err
	}
	one, err := s.Snippets.Update(ctx, principal(ctx), r.Id, snippet.Update{
		Name: r.Body.Name, Text: r.Body.Text, Template: template,
	})
	return spec.UpdateSnippet200JSONResponse(snippetJSON(one)), err
}

// DeleteSnippet deletes a snippet.
func (s *SnippetHandler) DeleteSnippet(
	ctx context.Context, r spec.DeleteSnippetRequestObject,
) (spec.DeleteSnippetResponseObject, error) {
	return spec.DeleteSnippet204Response{}, s.Snippets.Delete(ctx, principal(ctx), r.Id)
}

// storedTemplate returns the stored form of a template; nil: there is none.
func storedTemplate(t *spec.PostTemplate) (json.RawMessage, error) {
	if t == nil {
		return nil, nil
	}
	return json.Marshal(t)
}

func snippetJSON(s snippet.Snippet) spec.Snippet {
	out := spec.Snippet{
		Id: s.ID, Kind: spec.SnippetKind(s.Kind), Name: s.Name, Text: s.Text, CreatedAt: s.CreatedAt,
		UpdatedAt: s.UpdatedAt,
	}
	if s.Template != nil {
		out.Template = &spec.PostTemplate{}
		_ = json.Unmarshal(s.Template, out.Template) // storedTemplate wrote it
	}
	return out
}
