package pgsearch

import (
	"fmt"
	"strconv"
)

// weights are those of the labels D, C, B and A: body, authors and section, lead and tags, title.
const weights = "'{0.03,0.2,0.4,1.0}'"

// rankingSQL returns the SQL that ranks the best hits by their whole text and appends
// the others. Exact matches come before matches that differ in diacritics. Recent
// articles gain up to a third. The weight of no word is set, so that Postgres loads the
// words once, and not for each expression; "offset 0" keeps the subquery separate.
func (l searcher) rankingSQL(s *statement, x expression) string {
	var rank string
	freshness := 0.33
	if x.isRelaxed() {
		rank = fmt.Sprintf("%v * c.title_rank + %v * ", 1-bodyShare, bodyShare) + coverageSQL(s, x.coverage, "c.words",
			func(f feature) string { return f.words })
		freshness = 0.1 // questions are rarely about the newest article
	} else {
		rank = "ts_rank(" + weights + ", c.words, " + s.arg(x.any) + "::text::tsquery, 1) + ts_rank_cd(" + weights +
			", c.words, " + s.arg(x.plain) + "::text::tsquery, 1)"
		if x.phrase != "" {
			phrase := s.arg(x.phrase) + "::text::tsquery"
			rank += " + ts_rank_cd(" + weights + ", c.words, " + phrase + ", 1) + case when c.title_words @@ " +
				phrase + " then 0.5 else 0 end"
		}
	}
	exact := "c.exact"
	if x.exact.plain != "" {
		exact = "(c.words @@ " + s.arg(x.exact.plain) + "::text::tsquery)"
	}
	fresh := fmt.Sprintf("(1 + %v / (1 + greatest(extract(epoch from %s::timestamptz - c.published_at), 0) / "+
		"604800))::float8", freshness, s.arg(l.r.Now))
	rest := max(l.r.Offset+l.r.Limit-rerankLimit, 0)
	if l.isFused {
		rest = max(l.r.Offset+l.r.Limit, maxNearest)
	}
	const best = "from hits h order by h.exact desc, h.title_rank desc, h.published_at desc, h.id"
	return "select c.id, c.published_at, " + exact + " as exact, ((" + rank + ") * " + fresh +
		")::float8 as score from (select b.*, d.title_words, setweight(d.words, 'D', '{}') as words from (select " +
		"h.tid, h.id, h.published_at, h.exact, h.title_rank " + best + " limit " + strconv.Itoa(rerankLimit) + `) b
			join search_documents d on d.ctid = b.tid offset 0) c
		union all
		select r.id, r.published_at, false as exact, r.title_rank * 0.0001 - 1 as score from (select h.* ` + best +
		" offset " + strconv.Itoa(rerankLimit) + " limit " + strconv.Itoa(rest) + ") r"
}
