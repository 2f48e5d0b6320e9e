package pgsearch

import (
	"fmt"
	"strings"
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

func cover(s *statement, asked []string) coverage {
	var c coverage
	var ranks, rarities []string
	for i, unit := range asked {
		q := s.put(unit) + "::text::tsquery"
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
