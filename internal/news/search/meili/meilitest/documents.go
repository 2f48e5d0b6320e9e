package meilitest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// checkSettings refuses settings that the real one does not have
// (meilisearch-types/src/settings.rs, milli/src/vector/settings.rs).
func checkSettings(settings map[string]any) *problem {
	known := func(where map[string]any, keys ...string) bool {
		for key := range where {
			if !slices.Contains(keys, key) {
				return false
			}
		}
		return true
	}
	if !known(settings, "displayedAttributes", "searchableAttributes", "filterableAttributes", "sortableAttributes",
		"rankingRules", "stopWords", "nonSeparatorTokens", "separatorTokens", "dictionary",
		"synonyms", "distinctAttribute", "proximityPrecision", "typoTolerance", "faceting", "pagination", "embedders",
		"searchCutoffMs", "localizedAttributes", "facetSearch", "prefixSearch", "chat") {
		return &problem{http.StatusBadRequest, "bad_request"}
	}
	for setting, keys := range map[string][]string{
		"typoTolerance": {
			"enabled", "minWordSizeForTypos", "disableOnWords", "disableOnAttributes", "disableOnNumbers",
		},
		"faceting": {"maxValuesPerFacet", "sortFacetValuesBy"}, "pagination": {"maxTotalHits"},
	} {
		if inner, ok := settings[setting].(map[string]any); ok && !known(inner, keys...) {
			return &problem{http.StatusBadRequest, "bad_request"}
		}
	}
	embedders, _ := settings["embedders"].(map[string]any)
	for _, one := range embedders {
		e, _ := one.(map[string]any)
		if e["source"] == "userProvided" && (!known(e, "source", "dimensions", "distribution", "binaryQuantized") ||
			e["dimensions"] == nil) {
			return &problem{http.StatusBadRequest, "invalid_settings_embedders"}
		}
	}
	return nil
}

// set changes settings. An embedder that gets vectors from outside needs those of
// all documents that are there, of the right length (extract/vectors/mod.rs,
// SettingsChangeEmbeddingExtractor).
func (s *Server) set(uid string, settings map[string]any) (code string) {
	x := s.open(uid)
	if embedders, ok := settings["embedders"].(map[string]any); ok {
		for name, one := range embedders {
			for _, d := range x.docs {
				if code := missing(name, one, d); code != "" {
					return code
				}
			}
		}
		for name, one := range embedders {
			x.embedders[name] = one
		}
	}
	for key, value := range settings {
		if key != "embedders" {
			x.settings[key] = value
		}
	}
	return ""
}

// missing returns which vectors a document lacks.
func missing(name string, embedder any, d map[string]any) (code string) {
	e, _ := embedder.(map[string]any)
	if e["source"] != "userProvided" {
		return ""
	}
	vectors, _ := d["_vectors"].(map[string]any)
	vector, said := vectors[name]
	if !said {
		return "vector_embedding_error"
	}
	if numbers, ok := vector.([]any); ok && float64(len(numbers)) != e["dimensions"] {
		return "invalid_vector_dimensions"
	}
	return ""
}

// add stores documents: all of a task or, where one is wrong, none.
func (x *index) add(list []any) (code string) {
	for _, one := range list {
		d, _ := one.(map[string]any)
		id, _ := d["id"].(string)
		if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,511}$`).MatchString(id) {
			return "invalid_document_id"
		}
		for name, embedder := range x.embedders {
			if code := missing(name, embedder, d); code != "" {
				return code
			}
		}
	}
	for _, one := range list {
		x.docs[one.(map[string]any)["id"].(string)] = one.(map[string]any)
	}
	return ""
}

func (x *index) can(setting, attribute string) bool {
	list, _ := x.settings[setting].([]any)
	return slices.Contains(list, any(attribute))
}

// filters reports whether all attributes of filters are filterable.
func (x *index) filters(filter any) bool {
	list, ok := filter.([]any)
	if text, is := filter.(string); is {
		list, ok = []any{text}, true
	}
	if filter != nil && !ok {
		return false
	}
	for _, one := range list {
		attribute, _, _ := strings.Cut(one.(string), " ")
		if !x.can("filterableAttributes", attribute) {
			return false
		}
	}
	return true
}

func (x *index) fetch(object map[string]any) (int, any, *problem) {
	filter, _ := object["filter"].(string)
	if !x.filters(object["filter"]) {
		return 0, nil, &problem{http.StatusBadRequest, "invalid_document_filter"}
	}
	results := []any{}
	for id, d := range x.docs {
		if strings.HasPrefix(filter, "id IN [") && strings.Contains(filter, `"`+id+`"`) {
			results = append(results, map[string]any{"id": id, "version": d["version"]})
		}
	}
	return http.StatusOK, map[string]any{
		"results": results, "offset": 0, "limit": object["limit"],
		"total": len(results),
	}, nil
}

// search refuses searches that the index's settings do not allow.
func (s *Server) search(x *index, object map[string]any) (int, any, *problem) {
	s.searches = append(s.searches, object)
	if s.busy {
		return 0, nil, &problem{http.StatusServiceUnavailable, "too_many_search_requests"}
	}
	if !x.filters(object["filter"]) {
		return 0, nil, &problem{http.StatusBadRequest, "invalid_search_filter"}
	}
	sorts, _ := object["sort"].([]any)
	for _, one := range sorts {
		if attribute, _, _ := strings.Cut(one.(string), ":"); !x.can("sortableAttributes", attribute) {
			return 0, nil, &problem{http.StatusBadRequest, "invalid_search_sort"}
		}
	}
	facets, _ := object["facets"].([]any)
	counts := map[string]any{}
	for _, one := range facets {
		if !x.can("filterableAttributes", one.(string)) {
			return 0, nil, &problem{http.StatusBadRequest, "invalid_search_facets"}
		}
		counts[one.(string)] = map[string]any{}
	}
	if code := x.hybrid(object); code != "" {
		return 0, nil, &problem{http.StatusBadRequest, code}
	}
	answer := map[string]any{"hits": []any{}, "estimatedTotalHits": 0, "query": object["q"]}
	if s.Found != nil {
		answer = s.Found(object)
	}
	if facets != nil && answer["facetDistribution"] == nil {
		answer["facetDistribution"] = counts
	}
	return http.StatusOK, answer, nil
}

// multi executes several searches, or refuses all of them.
func (s *Server) multi(object map[string]any) (int, any, *problem) {
	queries, _ := object["queries"].([]any)
	results := []any{}
	for _, one := range queries {
		query, _ := one.(map[string]any)
		uid, _ := query["indexUid"].(string)
		x := s.indexes[uid]
		if x == nil {
			return 0, nil, &problem{http.StatusBadRequest, "index_not_found"}
		}
		_, answer, p := s.search(x, query)
		if p != nil {
			return 0, nil, p
		}
		results = append(results, answer)
	}
	return http.StatusOK, map[string]any{"results": results}, nil
}

func (x *index) hybrid(object map[string]any) (code string) {
	hybrid, is := object["hybrid"].(map[string]any)
	vector, has := object["vector"].([]any)
	switch {
	case has && !is:
		return "missing_search_hybrid"
	case !is:
		return ""
	}
	name, _ := hybrid["embedder"].(string)
	e, _ := x.embedders[name].(map[string]any)
	switch {
	case e == nil:
		return "invalid_search_embedder"
	case has && e["dimensions"] != nil && float64(len(vector)) != e["dimensions"]:
		return "invalid_vector_dimensions"
	case !has && e["source"] == "userProvided":
		return "vector_embedding_error"
	}
	return ""
}
