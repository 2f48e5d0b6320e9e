package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/news/search"
	"dateline/internal/news/search/feed"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/savedsearch"
)

// SearchHandler searches articles.
type SearchHandler struct {
	Search    *savedsearch.Service
	PublicURL string // base URL of feeds
}

// RebuildHandler rebuilds the search index.
type RebuildHandler struct{ Rebuilds *indexer.Rebuilds }

// GetSearchRebuild returns the last rebuild.
func (s *RebuildHandler) GetSearchRebuild(
	ctx context.Context, _ spec.GetSearchRebuildRequestObject,
) (spec.GetSearchRebuildResponseObject, error) {
	r, err := s.Rebuilds.Get(ctx)
	return spec.GetSearchRebuild200JSONResponse(rebuildJSON(r)), err
}

// RebuildSearch starts a rebuild.
func (s *RebuildHandler) RebuildSearch(
	ctx context.Context, _ spec.RebuildSearchRequestObject,
) (spec.RebuildSearchResponseObject, error) {
	r, err := s.Rebuilds.Start(ctx)
	return spec.RebuildSearch202JSONResponse(rebuildJSON(r)), err
}

// CancelSearchRebuild cancels the rebuild in progress.
func (s *RebuildHandler) CancelSearchRebuild(
	ctx context.Context, _ spec.CancelSearchRebuildRequestObject,
) (spec.CancelSearchRebuildResponseObject, error) {
	r, err := s.Rebuilds.Cancel(ctx)
	return spec.CancelSearchRebuild200JSONResponse(rebuildJSON(r)), err
}

func rebuildJSON(r indexer.Rebuild) spec.SearchRebuild {
	out := spec.SearchRebuild{Status: spec.SearchRebuildStatus(r.Status), FinishedAt: r.FinishedAt}
	if r.Status != indexer.NotRebuilt {
		out.StartedAt, out.Progress = &r.StartedAt, progressJSON(r.Done, r.Total)
	}
	return out
}

// progressJSON returns how far a job is; total is 0 if it is not known.
func progressJSON(done, total int64) *spec.Progress {
	p := &spec.Progress{Done: done}
	if total > 0 {
		p.Total = &total
	}
	return p
}

// SearchArticles searches articles.
func (s *SearchHandler) SearchArticles(
	ctx context.Context, r spec.SearchArticlesRequestObject,
) (spec.SearchArticlesResponseObject, error) {
	p := r.Params
	q := search.Request{
		Text: optional.Value(p.Q), Mode: search.Hybrid, Sort: search.ByRelevance, Limit: optional.Value(p.Limit),
		Facets: optional.Value(p.Facets),
		Filters: search.Filters{
			Domains: optional.Value(p.Domain), Languages: optional.Value(p.Language),
			Sections: optional.Value(p.Section),
			Tags:     optional.Value(p.Tag), Authors: optional.Value(p.Author),
		},
	}
	if p.Mode != nil {
		q.Mode = search.Mode(*p.Mode)
	}
	if p.Sort != nil {
		q.Sort = search.Sort(*p.Sort)
	}
	if len(search.Parse(q.Text).Included()) == 0 {
		q.Sort = search.ByTime
	}
	if p.From != nil {
		q.Filters.From = *p.From
	}
	if p.To != nil {
		q.Filters.To = *p.To
	}
	if p.Cursor != nil {
		offset, err := strconv.Atoi(*p.Cursor)
		if err != nil || offset > search.MaxOffset {
			return nil, apperr.InvalidFields(apperr.FieldError{
				Field: "cursor", Code: "invalid", Message: "cursor must be the next_cursor of the previous page.",
			})
		}
		q.Offset = offset
	}
	q = q.WithDefaults()
	a, err := s.Search.Search(ctx, principal(ctx).WorkspaceID, q)
	if err != nil {
		return nil, err
	}
	out := spec.SearchArticles200JSONResponse{
		Hits: []spec.SearchHit{}, Total: a.Total, Estimated: a.Estimated,
		Partial: a.Partial, Relaxed: a.Relaxed, SemanticAvailable: s.Search.SemanticAvailable,
	}
	for _, h := range a.Hits {
		out.Hits = append(out.Hits, hitJSON(h))
	}
	if len(a.Corrected) > 0 {
		out.Corrected = &a.Corrected
	}
	if q.Facets {
		facets := facetsJSON(a.Facets)
		out.Facets = &facets
	}
	if next := q.Offset + q.Limit; len(a.Hits) == q.Limit && next < a.Total && next <= search.MaxOffset {
		out.NextCursor = optional.Of(strconv.Itoa(next))
	}
	return out, nil
}

func hitJSON(h search.Hit) spec.SearchHit {
	return spec.SearchHit{
		Id: h.ID, Version: h.Version, Url: h.URL, Domain: h.Domain, Title: h.Title, Lead: h.Lead,
		Authors: append([]string{}, h.Authors...), Tags: append([]string{}, h.Tags...),
		Section: h.Section, Language: h.Language, ImageUrl: h.Image, PublishedAt: h.Published.UTC(), GroupId: h.Group,
		Heading: fragmentsJSON(h.Heading), Snippet: fragmentsJSON(h.Snippet),
	}
}

func fragmentsJSON(list []search.Fragment) []spec.SearchFragment {
	out := make([]spec.SearchFragment, len(list))
	for i, f := range list {
		out[i] = spec.SearchFragment{Text: f.Text, Match: f.Match}
	}
	return out
}

func facetsJSON(list []search.Facet) []spec.SearchFacet {
	out := make([]spec.SearchFacet, len(list))
	for i, f := range list {
		out[i].Field = spec.SearchFacetField(f.Field)
		out[i].Values = make([]struct {
			Count int    `json:"count"`
			Value string `json:"value"`
		}, len(f.Values))
		for j, v := range f.Values {
			out[i].Values[j].Count, out[i].Values[j].Value = v.Count, v.Value
		}
	}
	return out
}

// GetFeed serves a saved search to feed readers.
func (s *SearchHandler) GetFeed(ctx context.Context, r spec.GetFeedRequestObject) (spec.GetFeedResponseObject, error) {
	n, hits, err := s.Search.Feed(ctx, r.Id, r.Params.Token)
	if err != nil {
		return nil, err
	}
	f := feed.Feed{Title: n.Name, Home: strings.TrimSuffix(s.PublicURL, "/") + "/", Hits: hits}
	out := feedResponse{
		contentType: "application/rss+xml; charset=utf-8",
		ifNoneMatch: optional.Value(r.Params.IfNoneMatch),
	}
	if r.Format == spec.GetFeedParamsFormatJson {
		out.contentType = "application/feed+json"
		out.body, err = f.JSON()
	} else {
		out.body, err = f.RSS()
	}
	sum := sha256.Sum256(out.body)
	out.etag = `"` + hex.EncodeToString(sum[:16]) + `"`
	return out, err
}

type feedResponse struct {
	contentType, etag, ifNoneMatch string
	body                           []byte
}

// VisitGetFeedResponse writes the feed, or 304 if the client has the current version.
func (f feedResponse) VisitGetFeedResponse(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("ETag", f.etag)
	if strings.Contains(f.ifNoneMatch, f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", f.contentType)
	_, err := w.Write(f.body)
	return err
}
