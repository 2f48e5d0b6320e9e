package pgsearch

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

// maxShownChars limits the part of a body that snippets are taken from.
const maxShownChars = 20_000

// load reads the documents of a page of hits, in the order of the ranking.
func (l searcher) load(ctx context.Context, page []ranked, m search.Highlighter) ([]search.Hit, error) {
	hits := make([]search.Hit, 0, len(page))
	if len(page) == 0 {
		return hits, nil
	}
	ids := make([]uuid.UUID, len(page))
	for i, p := range page {
		ids[i] = p.id
	}
	// The subquery hides the number of ids from the planner, which otherwise plans the
	// query again each time.
	rows, err := l.tx.Query(ctx,
		`select d.id, d.version, d.published_at, d.domain, d.language, d.section, d.tags, d.authors,
			t.url, t.title, t.lead, left(t.body, $2), t.image_url, t.group_id
		from search_documents d join search_texts t using (id) where d.id = any((select $1::uuid[])::uuid[])`, ids,
		maxShownChars)
	if err != nil {
		return nil, err
	}
	found := make(map[uuid.UUID]search.Document, len(page))
	var d search.Document
	_, err = pgx.ForEachRow(rows, []any{
		&d.ID, &d.Version, &d.Published, &d.Domain, &d.Language, &d.Section, &d.Tags,
		&d.Authors,
		&d.URL, &d.Title, &d.Lead, &d.Body, &d.Image, &d.Group,
	}, func() error {
		d.Published = d.Published.UTC()
		found[d.ID] = d
		d.Tags, d.Authors = nil, nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range page {
		if d, ok := found[p.id]; ok { // it may have been deleted
			hits = append(hits, search.Hit{
				Document: d, Score: p.score, Heading: m.Highlight(d.Title), Snippet: m.Snippet(d.Lead, d.Body),
			})
		}
	}
	return hits, nil
}

// facetsSQL returns the SQL that counts the values of each field, as JSON.
func facetsSQL(wanted bool) string {
	if !wanted {
		return ", null::text"
	}
	var parts []string
	for field, from := range map[string]string{
		search.FieldDomain:   "select domain as value from hits",
		search.FieldLanguage: "select language as value from hits",
		search.FieldSection:  "select section as value from hits",
		search.FieldTag:      "select unnest(tags) as value from hits",
		search.FieldAuthor:   "select unnest(authors) as value from hits",
	} {
		parts = append(parts, "'"+field+"', (select coalesce(json_agg(json_build_object('Value', c.value, 'Count', "+
			"c.n) order by c.n desc, c.value), '[]') from ("+
			"select v.value, count(*)::int as n from ("+from+") v where v.value <> '' group by v.value order by n "+
			"desc, v.value limit 20) c)")
	}
	return ", json_build_object(" + strings.Join(parts, ", ") + ")::text"
}

func parseFacets(raw []byte) ([]search.Facet, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var values map[string][]search.FacetValue
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	var out []search.Facet
	for _, field := range []string{
		search.FieldDomain, search.FieldLanguage, search.FieldSection, search.FieldTag,
		search.FieldAuthor,
	} {
		out = append(out, search.Facet{Field: field, Values: values[field]})
	}
	return out, nil
}
