package pgsearch

import (
	"fmt"
	"strconv"
	"strings"

	"dateline/internal/news/search"
)

// bodyShare is what a word counts that only the body of an article has.
const bodyShare = 0.4

// coverage ranks the hits of a query of which half of the words are asked for:
// each word counts as much as it is rare among the hits (inverse document
// frequency), and less in the body than in the title, lead and tags. So those
// with the telling half come first.
type coverage struct {
	columns string // what each hit has of each word
	rank    string // of a hit h, by the rarities r
	rarity  string // of the words, as a row
}

func newCoverage(s *statement, asked []string) coverage {
	var c coverage
	var ranks, rarities []string
	for i, unit := range asked {
		q := s.arg(unit) + "::text::tsquery"
		c.columns += fmt.Sprintf(", case when d.head @@ %s then 1 when d.words @@ %[1]s then %v else 0 end as has%d", q, bodyShare, i)
		rarities = append(rarities, fmt.Sprintf("ln(1 + count(*)::float8 / (1 + count(*) filter (where has%d > 0))) as rare%[1]d", i))
		ranks = append(ranks, fmt.Sprintf("h.has%d * r.rare%[1]d", i))
	}
	c.rank, c.rarity = "("+strings.Join(ranks, " + ")+")::real", "select "+strings.Join(rarities, ", ")+" from looked"
	return c
}

// hits ranks the rows of sql, which has the columns.
func (c coverage) hits(sql string) string {
	return "with looked as materialized (" + sql + ") select h.id, h.published_at, h.exact, " + c.rank +
		" as head, h.domain, h.language, h.section, h.tags, h.authors from looked h, (" + c.rarity + ") r"
}

// Weights of D, C, B and A: the body, who wrote it, the lead, the title.
const weights = "'{0.03,0.2,0.4,1.0}'"

// rankingSQL ranks the best of all hits by their whole text, and puts the rest
// behind them. What has the words as they are written stands before what has
// them without their diacritics. What is fresh gains up to a third.
func rankingSQL(s *statement, r search.Request, x expression) string {
	rank := "ts_rank(" + weights + ", d.words, " + s.arg(x.any) + "::text::tsquery, 1)"
	if !x.isRelaxed {
		// How close all words are. Of the many ways in which some may lack, that
		// would take longer than everything else.
		rank += " + ts_rank_cd(" + weights + ", d.words, " + s.arg(x.plain) + "::text::tsquery, 1)"
	}
	if x.phrase != "" {
		phrase := s.arg(x.phrase) + "::text::tsquery"
		rank += " + ts_rank_cd(" + weights + ", d.words, " + phrase + ", 1) + case when d.head @@ " + phrase + " then 0.5 else 0 end"
	}
	if x.rankByCoverage {
		rank += " + c.head"
	}
	exact := "c.exact"
	if x.exact.plain != "" {
		exact = "(" + s.matchSQL("words", x.exact.plain) + ")"
	}
	fresh := "(1 + 0.33 / (1 + greatest(extract(epoch from " + s.arg(r.Now) + "::timestamptz - c.published_at), 0) / 604800))::float8"
	const best = "from hits h order by h.exact desc, h.head desc, h.published_at desc, h.id"
	return "select c.id, c.published_at, " + exact + " as exact, ((" + rank + ") * " + fresh + ")::float8 as score from (select h.id, h.published_at, h.exact, h.head " + best + " limit " + strconv.Itoa(rerankLimit) + `) c
		join search_documents d on d.id = c.id
		union all
		select r.id, r.published_at, false as exact, r.head * 0.0001 - 1 as score from (select h.* ` + best + " offset " + strconv.Itoa(rerankLimit) + " limit " + strconv.Itoa(search.MaxOffset+search.MaxLimit) + ") r"
}
