package pgsearch

import (
	"fmt"
	"strconv"
	"strings"

	"dateline/internal/news/search"
)

// bodyShare is the weight of a word that occurs only in the body.
const bodyShare = 0.4

// coverage ranks the hits of a relaxed query that requires only half of the words.
// Each word is weighted by its inverse document frequency among the hits, and less
// in the body than in the title, lead and tags.
type coverage struct {
	columns string // weight of each word in each hit
	rank    string // of a hit h, using the rarities r
	rarity  string // inverse document frequencies, as one row
}

func newCoverage(s *statement, asked []string) coverage {
	var c coverage
	var ranks, rarities []string
	for i, unit := range asked {
		q := s.arg(unit) + "::text::tsquery"
		c.columns += fmt.Sprintf(", case when d.title_words @@ %s then 1 when d.words @@ %[1]s then %v else 0 end as has%d", q, bodyShare, i)
		rarities = append(rarities, fmt.Sprintf("ln(1 + count(*)::float8 / (1 + count(*) filter (where has%d > 0))) as rare%[1]d", i))
		ranks = append(ranks, fmt.Sprintf("h.has%d * r.rare%[1]d", i))
	}
	c.rank, c.rarity = "("+strings.Join(ranks, " + ")+")::real", "select "+strings.Join(rarities, ", ")+" from covered"
	return c
}

// hits wraps sql, which selects the columns, and replaces the rank by the coverage.
func (c coverage) hits(sql string) string {
	return "with covered as materialized (" + sql + ") select h.id, h.published_at, h.exact, " + c.rank +
		" as title_rank, h.domain, h.language, h.section, h.tags, h.authors from covered h, (" + c.rarity + ") r"
}

// weights are those of the labels D, C, B and A: body, authors and section, lead and tags, title.
const weights = "'{0.03,0.2,0.4,1.0}'"

// rankingSQL returns the SQL that ranks the best hits by their whole text and appends
// the others. Exact matches come before matches that differ in diacritics. Recent
// articles gain up to a third.
func rankingSQL(s *statement, r search.Request, x expression) string {
	rank := "ts_rank(" + weights + ", d.words, " + s.arg(x.any) + "::text::tsquery, 1)"
	if !x.isRelaxed {
		// The proximity of the words. It would be too slow for relaxed queries, which
		// have many alternatives.
		rank += " + ts_rank_cd(" + weights + ", d.words, " + s.arg(x.plain) + "::text::tsquery, 1)"
	}
	if x.phrase != "" {
		phrase := s.arg(x.phrase) + "::text::tsquery"
		rank += " + ts_rank_cd(" + weights + ", d.words, " + phrase + ", 1) + case when d.title_words @@ " + phrase + " then 0.5 else 0 end"
	}
	if x.rankByCoverage {
		rank += " + c.title_rank"
	}
	exact := "c.exact"
	if x.exact.plain != "" {
		exact = "(" + s.matchSQL("words", x.exact.plain) + ")"
	}
	fresh := "(1 + 0.33 / (1 + greatest(extract(epoch from " + s.arg(r.Now) + "::timestamptz - c.published_at), 0) / 604800))::float8"
	const best = "from hits h order by h.exact desc, h.title_rank desc, h.published_at desc, h.id"
	return "select c.id, c.published_at, " + exact + " as exact, ((" + rank + ") * " + fresh + ")::float8 as score from (select h.id, h.published_at, h.exact, h.title_rank " + best + " limit " + strconv.Itoa(rerankLimit) + `) c
		join search_documents d on d.id = c.id
		union all
		select r.id, r.published_at, false as exact, r.title_rank * 0.0001 - 1 as score from (select h.* ` + best + " offset " + strconv.Itoa(rerankLimit) + " limit " + strconv.Itoa(search.MaxOffset+search.MaxLimit) + ") r"
}
