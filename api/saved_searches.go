package api

import (
	"context"
	"strconv"
	"strings"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/news/search"
	"dateline/internal/news/search/savedsearch"
)

// ListSavedSearches lists the saved searches of the workspace.
func (s *SearchHandler) ListSavedSearches(
	ctx context.Context, _ spec.ListSavedSearchesRequestObject,
) (spec.ListSavedSearchesResponseObject, error) {
	list, err := s.Search.List(ctx, principal(ctx))
	out := spec.ListSavedSearches200JSONResponse{SavedSearches: []spec.SavedSearch{}}
	for _, n := range list {
		out.SavedSearches = append(out.SavedSearches, savedJSON(n))
	}
	return out, err
}

// CreateSavedSearch creates a saved search.
func (s *SearchHandler) CreateSavedSearch(
	ctx context.Context, r spec.CreateSavedSearchRequestObject,
) (spec.CreateSavedSearchResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "saved search", r.Body)
	if err != nil {
		return nil, err
	}
	b := r.Body
	n, replayed, err := s.Search.Create(ctx, principal(ctx), savedsearch.Search{
		Name: b.Name, Query: optional.Value(b.Query),
		Mode: search.Mode(optional.Value(b.Mode)), Alert: optional.Value(b.Alert),
		Filters: search.Filters{
			Domains: optional.Value(b.Domains), Languages: optional.Value(b.Languages),
			Sections: optional.Value(b.Sections),
			Tags:     optional.Value(b.Tags), Authors: optional.Value(b.Authors),
		},
	}, key)
	location, tag := "/api/v1/saved-searches/"+n.ID.String(), savedTag(n)
	return spec.CreateSavedSearch201JSONResponse{
		Body: savedJSON(n),
		Headers: spec.CreateSavedSearch201ResponseHeaders{
			Location: &location, ETag: &tag,
			IdempotentReplayed: ifReplayed(replayed),
		},
	}, err
}

// GetSavedSearch gets a saved search.
func (s *SearchHandler) GetSavedSearch(
	ctx context.Context, r spec.GetSavedSearchRequestObject,
) (spec.GetSavedSearchResponseObject, error) {
	n, err := s.Search.Get(ctx, principal(ctx), r.Id)
	tag := savedTag(n)
	return spec.GetSavedSearch200JSONResponse{
		Body:    savedJSON(n),
		Headers: spec.GetSavedSearch200ResponseHeaders{ETag: &tag},
	}, err
}

// UpdateSavedSearch updates a saved search.
func (s *SearchHandler) UpdateSavedSearch(
	ctx context.Context, r spec.UpdateSavedSearchRequestObject,
) (spec.UpdateSavedSearchResponseObject, error) {
	version, err := versionOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	b := r.Body
	n, err := s.Search.Update(ctx, principal(ctx), r.Id, version, func(n *savedsearch.Search) {
		change(&n.Name, b.Name)
		change(&n.Query, b.Query)
		change(&n.Mode, (*search.Mode)(b.Mode))
		change(&n.Alert, b.Alert)
		change(&n.Filters.Domains, b.Domains)
		change(&n.Filters.Languages, b.Languages)
		change(&n.Filters.Sections, b.Sections)
		change(&n.Filters.Tags, b.Tags)
		change(&n.Filters.Authors, b.Authors)
	})
	tag := savedTag(n)
	return spec.UpdateSavedSearch200JSONResponse{
		Body:    savedJSON(n),
		Headers: spec.UpdateSavedSearch200ResponseHeaders{ETag: &tag},
	}, err
}

func change[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// DeleteSavedSearch deletes a saved search.
func (s *SearchHandler) DeleteSavedSearch(
	ctx context.Context, r spec.DeleteSavedSearchRequestObject,
) (spec.DeleteSavedSearchResponseObject, error) {
	return spec.DeleteSavedSearch204Response{}, s.Search.Delete(ctx, principal(ctx), r.Id)
}

// ListSavedSearchMatches lists the articles for which a search alerted.
func (s *SearchHandler) ListSavedSearchMatches(
	ctx context.Context, r spec.ListSavedSearchMatchesRequestObject,
) (spec.ListSavedSearchMatchesResponseObject, error) {
	limit := limitOf(r.Params.Limit)
	all, err := s.Search.Matches(ctx, principal(ctx), r.Id, optional.Value(r.Params.Cursor), limit+1)
	if err != nil {
		return nil, err
	}
	out := spec.ListSavedSearchMatches200JSONResponse{Matches: []spec.SavedSearchMatch{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = &all[limit-1].ArticleID
	}
	for _, m := range all {
		out.Matches = append(out.Matches, spec.SavedSearchMatch{
			ArticleId: m.ArticleID, Title: m.Title, Url: m.URL, Domain: m.Domain, AlertedAt: m.AlertedAt,
		})
	}
	return out, nil
}

// CreateFeed creates the feed URLs of a saved search.
func (s *SearchHandler) CreateFeed(
	ctx context.Context, r spec.CreateFeedRequestObject,
) (spec.CreateFeedResponseObject, error) {
	token, err := s.Search.CreateFeed(ctx, principal(ctx), r.Id)
	base := strings.TrimSuffix(s.PublicURL, "/") + "/api/v1/feeds/" + r.Id.String() + "/"
	return spec.CreateFeed201JSONResponse{
		Rss:      base + "rss?token=" + token.Reveal(),
		JsonFeed: base + "json?token=" + token.Reveal(),
	}, err
}

// DeleteFeed revokes the feed URLs of a saved search.
func (s *SearchHandler) DeleteFeed(
	ctx context.Context, r spec.DeleteFeedRequestObject,
) (spec.DeleteFeedResponseObject, error) {
	return spec.DeleteFeed204Response{}, s.Search.DeleteFeed(ctx, principal(ctx), r.Id)
}

func savedTag(n savedsearch.Search) string { return `"` + strconv.FormatInt(n.Version, 10) + `"` }

func savedJSON(n savedsearch.Search) spec.SavedSearch {
	list := func(values []string) []string { return append([]string{}, values...) }
	return spec.SavedSearch{
		Id: n.ID, Name: n.Name, Query: n.Query, Mode: spec.SearchMode(n.Mode),
		Domains: list(n.Filters.Domains), Languages: list(n.Filters.Languages), Sections: list(n.Filters.Sections),
		Tags:    list(n.Filters.Tags),
		Authors: list(n.Filters.Authors), Alert: n.Alert, Feed: n.FeedHash != nil, AlertCount: n.AlertCount,
		LastAlertedAt: n.LastAlertedAt, Version: n.Version, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt,
	}
}
