package api

import (
	"context"
	"net/url"
	"strconv"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/news/article"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/pipeline"
)

// GetExtraction gets the settings and health of a domain's extraction.
func (s *ArticleHandler) GetExtraction(
	ctx context.Context, r spec.GetExtractionRequestObject,
) (spec.GetExtractionResponseObject, error) {
	out, err := s.extractionOf(ctx, r.Domain)
	return spec.GetExtraction200JSONResponse(out), err
}

// UpdateExtraction updates the extraction settings of a domain.
func (s *ArticleHandler) UpdateExtraction(
	ctx context.Context, r spec.UpdateExtractionRequestObject,
) (spec.UpdateExtractionResponseObject, error) {
	h, err := s.Articles.UpdateSettings(ctx, principal(ctx), r.Domain, r.Body.TimeZone, r.Body.LearningEnabled)
	return spec.UpdateExtraction200JSONResponse(extractionJSON(r.Domain, h)), err
}

func (s *ArticleHandler) extractionOf(ctx context.Context, domain string) (spec.Extraction, error) {
	h, err := s.Articles.Health(ctx, principal(ctx), domain)
	return extractionJSON(domain, h), err
}

// ListExtractedPages lists how the newest pages of a domain are extracted.
func (s *ArticleHandler) ListExtractedPages(
	ctx context.Context, r spec.ListExtractedPagesRequestObject,
) (spec.ListExtractedPagesResponseObject, error) {
	all, err := s.Articles.Review(ctx, principal(ctx), r.Domain)
	if err != nil {
		return nil, err
	}
	out := spec.ListExtractedPages200JSONResponse{Pages: make([]spec.ExtractedPage, len(all))}
	for i, p := range all {
		out.Pages[i] = extractedPage(p)
	}
	return out, nil
}

// GetExtractedPage explains which blocks of a page are the text of its article.
func (s *ArticleHandler) GetExtractedPage(
	ctx context.Context, r spec.GetExtractedPageRequestObject,
) (spec.GetExtractedPageResponseObject, error) {
	p, err := s.Articles.ReviewPage(ctx, principal(ctx), r.Domain, r.Id)
	if err != nil {
		return nil, err
	}
	out, blocks := extractedPage(p), make([]spec.PageBlock, len(p.Blocks))
	for i, b := range p.Blocks {
		blocks[i] = spec.PageBlock{Text: b.Text, Elements: b.Elements, InText: b.IsBody, IsMarked: b.IsMarked}
		if b.Elements == nil {
			blocks[i].Elements = []string{}
		}
		if b.Reason != "" {
			reason := spec.PageBlockReason(b.Reason)
			blocks[i].Reason = &reason
		}
	}
	out.Blocks = &blocks
	return spec.GetExtractedPage200JSONResponse(out), nil
}

func extractedPage(p pipeline.PageReview) spec.ExtractedPage {
	out := spec.ExtractedPage{
		ArticleId: p.Page.Article, Url: p.Page.URL, Title: p.Page.Title, FetchedAt: p.Page.FetchedAt.UTC(),
		Error: optional.Of(p.Error), ErrorReason: noArticleReason(p.Reason), Dropped: map[string]int{},
	}
	for _, b := range p.Blocks {
		if b.IsBody {
			out.BlocksInText++
		} else {
			out.Dropped[string(b.Reason)]++
		}
	}
	return out
}

// AddExtractionMark marks a text or element as part of the text of articles or not.
func (s *ArticleHandler) AddExtractionMark(
	ctx context.Context, r spec.AddExtractionMarkRequestObject,
) (spec.AddExtractionMarkResponseObject, error) {
	h, err := s.Articles.AddMark(ctx, principal(ctx), r.Domain, pipeline.MarkDraft{
		Text: optional.Value(r.Body.Text), Element: optional.Value(r.Body.Element), IsBody: r.Body.IsBody,
	})
	return spec.AddExtractionMark200JSONResponse(extractionJSON(r.Domain, h)), err
}

// DeleteExtractionMark deletes a mark.
func (s *ArticleHandler) DeleteExtractionMark(
	ctx context.Context, r spec.DeleteExtractionMarkRequestObject,
) (spec.DeleteExtractionMarkResponseObject, error) {
	h, err := s.Articles.DeleteMark(ctx, principal(ctx), r.Domain, r.Mark)
	return spec.DeleteExtractionMark200JSONResponse(extractionJSON(r.Domain, h)), err
}

// ListSelectors lists the versions of a domain's selectors.
func (s *ArticleHandler) ListSelectors(
	ctx context.Context, r spec.ListSelectorsRequestObject,
) (spec.ListSelectorsResponseObject, error) {
	limit := limitOf(r.Params.Limit)
	all, err := s.Articles.Versions(ctx, principal(ctx), r.Domain, optional.Value(r.Params.Cursor), limit+1)
	if err != nil {
		return nil, err
	}
	out := spec.ListSelectors200JSONResponse{Selectors: []spec.Selectors{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = &all[limit-1].Version
	}
	for _, v := range all {
		out.Selectors = append(out.Selectors, selectorsJSON(r.Domain, v))
	}
	return out, nil
}

// GetSelectors gets a version of a domain's selectors.
func (s *ArticleHandler) GetSelectors(
	ctx context.Context, r spec.GetSelectorsRequestObject,
) (spec.GetSelectorsResponseObject, error) {
	v, err := s.Articles.Version(ctx, principal(ctx), r.Domain, r.Version)
	return spec.GetSelectors200JSONResponse(selectorsJSON(r.Domain, v)), err
}

// AddSelectors adds a version of selectors written by a member.
func (s *ArticleHandler) AddSelectors(
	ctx context.Context, r spec.AddSelectorsRequestObject,
) (spec.AddSelectorsResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "selectors of "+r.Domain, r.Body)
	if err != nil {
		return nil, err
	}
	v, replayed, err := s.Articles.AddSelectors(ctx, principal(ctx), r.Domain,
		pipeline.SelectorDraft{
			Config: configOf(r.Body.Config), Note: optional.Value(r.Body.Note),
			Activate: optional.Value(r.Body.Activate),
		}, key)
	if err != nil {
		return nil, err
	}
	location := "/api/v1/domains/" + url.PathEscape(r.Domain) + "/selectors/" + strconv.Itoa(v.Version)
	return spec.AddSelectors201JSONResponse{
			Body: selectorsJSON(r.Domain, v),
			Headers: spec.AddSelectors201ResponseHeaders{
				Location: &location, IdempotentReplayed: ifReplayed(replayed),
			},
		},
		nil
}

// ActivateSelectors activates a version.
func (s *ArticleHandler) ActivateSelectors(
	ctx context.Context, r spec.ActivateSelectorsRequestObject,
) (spec.ActivateSelectorsResponseObject, error) {
	v, err := s.Articles.Activate(ctx, principal(ctx), r.Domain, r.Version)
	return spec.ActivateSelectors200JSONResponse(selectorsJSON(r.Domain, v)), err
}

// RollBackSelectors rolls back to the previous version.
func (s *ArticleHandler) RollBackSelectors(
	ctx context.Context, r spec.RollBackSelectorsRequestObject,
) (spec.RollBackSelectorsResponseObject, error) {
	if _, err := s.Articles.RollBack(ctx, principal(ctx), r.Domain); err != nil {
		return nil, err
	}
	out, err := s.extractionOf(ctx, r.Domain)
	return spec.RollBackSelectors200JSONResponse(out), err
}

// LearnSelectors requests that selectors are relearned.
func (s *ArticleHandler) LearnSelectors(
	ctx context.Context, r spec.LearnSelectorsRequestObject,
) (spec.LearnSelectorsResponseObject, error) {
	if err := s.Articles.Relearn(ctx, principal(ctx), r.Domain); err != nil {
		return nil, err
	}
	out, err := s.extractionOf(ctx, r.Domain)
	return spec.LearnSelectors202JSONResponse(out), err
}

// PreviewSelectors previews what selectors match on pages.
func (s *ArticleHandler) PreviewSelectors(
	ctx context.Context, r spec.PreviewSelectorsRequestObject,
) (spec.PreviewSelectorsResponseObject, error) {
	all, err := s.Articles.Preview(ctx, principal(ctx), r.Domain, configOf(r.Body.Config),
		optional.Value(r.Body.Articles))
	if err != nil {
		return nil, err
	}
	out := spec.PreviewSelectors200JSONResponse{Pages: []spec.SelectorPreviewPage{}}
	for _, p := range all {
		out.Pages = append(out.Pages, previewJSON(p))
	}
	return out, nil
}

func previewJSON(p pipeline.Preview) spec.SelectorPreviewPage {
	out := spec.SelectorPreviewPage{
		ArticleId: p.Page.Article, Url: p.Page.URL, Error: optional.Of(p.Error),
		ErrorReason: noArticleReason(p.Reason), Variant: optional.Of(p.Variant), Paths: []spec.PathMatches{},
	}
	for _, t := range p.Matches {
		values := t.Values
		if values == nil {
			values = []string{}
		}
		out.Paths = append(out.Paths, spec.PathMatches{
			Variant: t.Variant, Field: t.Field, Path: t.Path, Matches: t.Matches, Values: values,
		})
	}
	if len(p.Contradictions) > 0 {
		all := make([]spec.MarkContradiction, len(p.Contradictions))
		for i, c := range p.Contradictions {
			all[i] = spec.MarkContradiction{Text: c.Text, IsBody: c.IsBody}
		}
		out.Contradictions = &all
	}
	if a := p.Article; a != nil {
		origins := originsJSON(a.Origins)
		out.Title, out.Lead, out.Text, out.Section, out.Origins = optional.Of(a.Title), optional.Of(a.Lead),
			optional.Of(a.Text),
			optional.Of(a.Section), &origins
		if len(a.Authors) > 0 {
			out.Authors = &a.Authors
		}
		if !a.Published.IsZero() {
			out.PublishedAt = &a.Published
		}
	}
	return out
}

func configOf(c spec.SelectorConfig) (out selector.Config) {
	for _, v := range c.Variants {
		n := selector.Variant{
			Name: v.Name, Body: v.Body, GenericBody: optional.Value(v.GenericBody), Drop: optional.Value(v.Drop),
		}
		for f, paths := range optional.Value(v.Fields) {
			if n.Fields == nil {
				n.Fields = map[article.Field][]string{}
			}
			n.Fields[article.Field(f)] = paths
		}
		out.Variants = append(out.Variants, n)
	}
	return out
}

func selectorsJSON(domain string, v pipeline.Selectors) spec.Selectors {
	out := spec.Selectors{
		Domain: domain, Version: v.Version, CreatedBy: spec.SelectorsCreatedBy(v.CreatedBy),
		Actor: optional.Of(v.Actor), State: spec.SelectorsState(v.State), Reason: noteJSON(v.Reason),
		EndReason: optionalNote(v.EndReason), Scores: shares(v.Scores), Pages: v.Pages, CreatedAt: v.CreatedAt.UTC(),
		ActivatedAt: optional.UTC(v.ActivatedAt), EndedAt: optional.UTC(v.EndedAt),
		Config: spec.SelectorConfig{Variants: []spec.SelectorVariant{}},
	}
	for _, c := range v.Config.Variants {
		n := spec.SelectorVariant{Name: c.Name, Body: c.Body, GenericBody: optional.Of(c.GenericBody)}
		if len(c.Drop) > 0 {
			n.Drop = &c.Drop
		}
		if len(c.Fields) > 0 {
			fields := map[string]spec.XPaths{}
			for f, paths := range c.Fields {
				fields[string(f)] = paths
			}
			n.Fields = &fields
		}
		out.Config.Variants = append(out.Config.Variants, n)
	}
	return out
}

func noArticleReason(reason pipeline.NoArticleReason) *spec.NoArticleReason {
	if reason == "" {
		return nil
	}
	out := spec.NoArticleReason(reason)
	return &out
}

func extractionJSON(domain string, h pipeline.Health) spec.Extraction {
	out := spec.Extraction{
		Domain: domain, TimeZone: h.Zone, LearningEnabled: h.LearningEnabled,
		SelectorVersion: h.Monitor.Version, PreviousVersion: optional.Of(h.Monitor.Previous),
		Health: shares(h.Monitor.Health()), Pages: h.Pages, Articles: h.Articles, NonArticles: h.NonArticles,
		Failed: h.Failed, LastError: optional.Of(h.LastError), LastErrorReason: noArticleReason(h.LastErrorReason),
		LastErrorAt: optional.UTC(h.LastErrorAt), NoArticleReasons: map[string]int64{},
		Marks: make([]spec.ExtractionMark, len(h.Marks)),
	}
	for i, m := range h.Marks {
		out.Marks[i] = spec.ExtractionMark{
			Id: m.ID(), IsBody: m.IsBody, Text: optional.Of(m.Sample), Element: optional.Of(m.Element), Actor: m.Actor,
			CreatedAt: m.CreatedAt,
		}
	}
	for reason, n := range h.NoArticleReasons {
		out.NoArticleReasons[string(reason)] = n
	}
	if h.RequestedAction != selector.ActionNone {
		action := spec.ExtractionRequestedAction(h.RequestedAction)
		out.RequestedAction, out.ActionReason = &action, optionalNote(h.ActionReason)
	}
	return out
}

func shares(m map[article.Field]float64) map[string]float32 {
	out := make(map[string]float32, len(m))
	for f, share := range m {
		out[string(f)] = float32(share)
	}
	return out
}
