package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"

	"dateline/internal/infra/blob"
)

// Preview is the result of selectors on one page.
type Preview struct {
	Page    PageRef
	Error   string          // why extraction failed
	Reason  NoArticleReason // likewise
	Variant string          // the matching variant; empty: none
	Article *article.Article
	Matches []selector.PathMatch
	// Contradictions are the blocks about which the selectors and an editor disagree. The article follows the editor.
	Contradictions []selector.Contradiction
}

// defaultPreviewPages is the number of pages in a preview without articles.
const defaultPreviewPages = 3

// Preview tries selectors on pages of a domain: those of the given articles, or the
// newest. Nothing is stored.
func (s *Service) Preview(
	ctx context.Context, who workspace.Principal, domain string, c selector.Config, articles []uuid.UUID,
) ([]Preview, error) {
	d, err := s.Store.GetWorkspaceDomain(ctx, who.WorkspaceID, domain)
	if err != nil {
		return nil, err
	}
	sel, err := selector.Compile(c)
	if err != nil {
		return nil, invalid(err)
	}
	h, err := s.Store.ExtractionHealth(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	pages, err := s.previewRefs(ctx, who, d, articles)
	if err != nil {
		return nil, err
	}
	out := make([]Preview, 0, len(pages))
	for _, raw := range pages {
		one, err := s.preview(ctx, sel, raw, h)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (s *Service) previewRefs(
	ctx context.Context, who workspace.Principal, d crawl.Domain, articles []uuid.UUID,
) ([]PageRef, error) {
	if len(articles) == 0 {
		return s.Store.RecentArticlePages(ctx, d.ID, defaultPreviewPages)
	}
	var out []PageRef
	for i, id := range articles {
		a, err := s.Store.Article(ctx, who.WorkspaceID, id)
		if err != nil {
			return nil, err
		}
		if a.DomainID != d.ID {
			return nil, apperr.InvalidFields(apperr.FieldError{
				Field: fmt.Sprintf("articles[%d]", i), Code: "other_domain",
				Message: "The article belongs to another domain.",
			})
		}
		out = append(out, PageRef{Article: a.ID, URL: a.URL, ObjectKey: a.ObjectKey, FetchedAt: a.FetchedAt})
	}
	return out, nil
}

func (s *Service) preview(ctx context.Context, sel *selector.Selector, raw PageRef, h Health) (Preview, error) {
	out := Preview{Page: raw}
	page, err := loadPage(ctx, s.Pages, raw, h)
	if errors.Is(err, blob.ErrNotFound) {
		out.Error, out.Reason = "the raw page is no longer stored", ReasonPageDeleted
		return out, nil
	}
	if err != nil {
		return out, err
	}
	doc, err := extract.Parse(ctx, page, extract.DefaultLimits())
	if err == nil {
		out.Matches = sel.Trace(doc)
		var o selector.Outcome
		out.Article, o, err = sel.Article(ctx, doc, page)
		out.Variant = o.Variant
		if out.Article != nil {
			out.Contradictions = sel.Contradictions(doc, out.Article.Title)
		}
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.Error, out.Reason = err.Error(), reasonOf(err)
	}
	return out, nil
}
