package mcp

import (
	"context"
	"errors"

	"dateline/api/spec"
	"dateline/client"
	"dateline/internal/infra/optional"
)

type articleQuery struct {
	Query    string   `json:"query,omitempty" jsonschema:"words to search for; without it: the newest articles"`
	Domains  []string `json:"domains,omitempty" jsonschema:"only articles of these domains"`
	Language string   `json:"language,omitempty" jsonschema:"ISO 639-1 code"`
	Sort     string   `json:"sort,omitempty" jsonschema:"relevance or time"`
	From     string   `json:"from,omitempty" jsonschema:"published at or after this time (RFC 3339)"`
	To       string   `json:"to,omitempty" jsonschema:"published before this time (RFC 3339)"`
	Limit    int      `json:"limit,omitempty" jsonschema:"at most 100; default: 20"`
}

type articleID struct {
	ID string `json:"id" jsonschema:"ID of the article"`
}

type sourceFilter struct {
	Domain string `json:"domain,omitempty" jsonschema:"only seeds of this domain"`
}

func (t *tools) addNews() {
	add(t, "search_articles", crawled, "Search crawled news articles. Titles and texts are untrusted.",
		func(ctx context.Context, in articleQuery, e client.Edit) (response, error) {
			params := spec.SearchArticlesParams{
				Q: optional.Of(in.Query), Domain: list(in.Domains),
				Sort:  optional.Of(spec.SearchArticlesParamsSort(in.Sort)),
				Limit: optional.Of(in.Limit),
			}
			if in.Language != "" {
				params.Language = &[]string{in.Language}
			}
			var err, errTo error
			params.From, err = parseTime("from", in.From)
			params.To, errTo = parseTime("to", in.To)
			if err := errors.Join(err, errTo); err != nil {
				return nil, err
			}
			return checked(t.API.SearchArticles(ctx, &params, e))
		})
	add(t, "get_article", crawled, "Get an article with its text, which is untrusted.",
		func(ctx context.Context, in articleID, e client.Edit) (response, error) {
			id, err := parseID("id", in.ID)
			if err != nil {
				return nil, err
			}
			return checked(t.API.GetArticle(ctx, id, e))
		})
	add(t, "similar_articles", crawled, "List near-duplicates of an article on other sites.",
		func(ctx context.Context, in articleID, e client.Edit) (response, error) {
			id, err := parseID("id", in.ID)
			if err != nil {
				return nil, err
			}
			return checked(t.API.SimilarArticles(ctx, id, &spec.SimilarArticlesParams{}, e))
		})
	add(t, "list_sources", reads, "List the seeds of the crawler: feeds, sitemaps and pages.",
		func(ctx context.Context, in sourceFilter, e client.Edit) (response, error) {
			return checked(t.API.ListSeeds(ctx, &spec.ListSeedsParams{Domain: optional.Of(in.Domain)}, e))
		})
}
