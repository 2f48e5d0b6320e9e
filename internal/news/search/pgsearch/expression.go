package pgsearch

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dateline/internal/news/search"
)

// tsquery is a part of a query as a Postgres tsquery, in three variants.
type tsquery struct {
	match string // for the index on words: phrases as word pairs, which may match a little more
	plain string // the exact query: for title_words, which has no pairs, for ranking, and to verify phrases
	count string // the same with pairs instead of phrases, for estimate
}

// expression is a compiled query.
type expression struct {
	tsquery                 // required
	exact          tsquery  // with diacritics as typed; empty: the same as above
	any            string   // all terms, for ranking
	phrase         string   // all words as one phrase; empty: a single word
	inTitles       string   // for the index on search_titles, which may match a little more
	extraWords     []string // corrections and synonyms, for highlighting
	isEmpty        bool     // no included terms
	hasPrefix      bool     // contains a prefix
	hasShortPrefix bool     // contains a prefix of one or two letters, which matches very many words

	optional []unit    // terms that relaxed variants may omit
	required []tsquery // terms that they must contain, and exclusions
	coverage []feature // of a relaxed variant: rank by the features that a hit has
}

// isRelaxed reports whether terms may be missing.
func (x expression) isRelaxed() bool { return x.coverage != nil }

// minIndexedPrefix is the length of a prefix from which the index is faster than
// scanning the newest articles.
const minIndexedPrefix = 3

// unit is a term of a query, or several terms with a synonym.
type unit struct {
	loose, strict tsquery
	hasSpellings  bool   // a word has two spellings
	required      bool   // also in relaxed queries
	word          string // of a single word
	pairs         []pair
	rarity        float64 // inverse document frequency
}

// pair are two adjacent words of the query: the last two of a unit, or the last of the
// unit before it and its first. Vietnamese words consist of several syllables.
type pair struct{ first, second string }

// join joins parts with an operator, in each variant.
func join(operator string, parts ...tsquery) tsquery {
	match, plain, count := make([]string, len(parts)), make([]string, len(parts)), make([]string, len(parts))
	for i, p := range parts {
		match[i], plain[i], count[i] = p.match, p.plain, p.count
	}
	return tsquery{strings.Join(match, operator), strings.Join(plain, operator), strings.Join(count, operator)}
}

// wrap encloses a part in parentheses.
func (w tsquery) wrap(open string) tsquery {
	return tsquery{open + w.match + ")", open + w.plain + ")", open + w.count + ")"}
}

// compile compiles a query. strict: match diacritics exactly and correct no typos.
func compile(q search.Query, strict bool, corrected map[string][]string) expression {
	var x expression
	units, also := units(q, strict, corrected)
	x.extraWords = also
	var loose, exact []tsquery
	var counted []string
	for _, u := range units {
		loose, exact, counted = append(loose, u.loose), append(exact, u.strict), append(counted, u.loose.plain)
	}
	x.isEmpty = len(units) == 0
	for _, t := range q.Included() {
		x.hasPrefix = x.hasPrefix || t.Prefix
		x.hasShortPrefix = x.hasShortPrefix || t.Prefix &&
			utf8.RuneCountInString(t.Words[len(t.Words)-1].Bare) < minIndexedPrefix
	}
	var excluded []tsquery
	for _, t := range q.Excluded() {
		excluded = append(excluded, exclude(compileTerm(t, withMarks, nil)))
	}
	x.tsquery, x.any = join(" & ", slices.Concat(loose, excluded)...), strings.Join(counted, " | ")
	// To check a phrase or an exclusion, Postgres would evaluate search_titles for each row.
	x.inTitles = strings.ReplaceAll(join(" & ", loose...).plain, " <-> ", " & ")
	if exactQuery := join(" & ", slices.Concat(exact, excluded)...); exactQuery != x.tsquery {
		x.exact = exactQuery
	}
	x.phrase = wholePhrase(q)
	if !strict {
		x.required = excluded
		for _, u := range units {
			if u.required {
				x.required = append(x.required, u.loose)
			} else {
				x.optional = append(x.optional, u)
			}
		}
	}
	return x
}

func units(q search.Query, strict bool, corrected map[string][]string) (out []unit, also []string) {
	wanted := q.Included()
	for i := 0; i < len(wanted); {
		t := wanted[i]
		if others, n := search.SynonymsOf(wanted[i:]); n > 0 && !strict {
			var parts, exactParts []tsquery
			for _, one := range wanted[i : i+n] {
				parts, exactParts = append(parts, compileTerm(one, withoutMarks, nil)), append(exactParts,
					compileTerm(one, asTyped, nil))
			}
			also = append(also, others...)
			ways := synonymPhrases(others)
			out = append(out, unit{
				loose: join(" | ", append([]tsquery{join(" & ", parts...).wrap("(")}, ways...)...).
					wrap("("),
				strict: join(" | ", append([]tsquery{join(" & ", exactParts...).wrap("(")}, ways...)...).wrap("("),
			})
			i += n
			continue
		}
		compared := withoutMarks
		if strict {
			compared = withMarks
		}
		u := unit{
			loose: compileTerm(t, compared, corrected), strict: compileTerm(t, asTyped, corrected),
			required: t.Quoted,
		}
		u.hasSpellings = slices.ContainsFunc(t.Words, func(w search.Token) bool {
			return w.Variant != "" && w.HasMarks()
		})
		if len(t.Words) == 1 {
			u.word = t.Words[0].Word
		}
		for j, w := range t.Words {
			also = append(also, corrected[w.Word]...)
			if j > 0 {
				u.pairs = append(u.pairs, pair{t.Words[j-1].Word, w.Word})
			}
		}
		if i > 0 && !t.Prefix && !wanted[i-1].Prefix {
			before := wanted[i-1].Words[len(wanted[i-1].Words)-1]
			if t.Words[0].Start-before.End <= 1 { // no stop word between them
				u.pairs = append(u.pairs, pair{before.Word, t.Words[0].Word})
			}
		}
		out = append(out, u)
		i++
	}
	return out, also
}

// comparison is how the words of a query are compared with those of a text.
type comparison int

const (
	withoutMarks comparison = iota
	withMarks               // in either spelling of a Vietnamese syllable
	asTyped                 // to rank the typed spelling first
)

// compileTerm compiles one term as a phrase of its words.
func compileTerm(t search.Term, compared comparison, corrected map[string][]string) tsquery {
	parts := make([]string, len(t.Words))
	var pairs []string
	sure := !t.Prefix && len(t.Words) > 1
	for i, w := range t.Words {
		form := w.Word
		switch {
		case t.Prefix && i == len(t.Words)-1:
			parts[i] = quote(w.Bare) + ":*"
			continue
		case compared == asTyped && w.Variant != "":
			form = w.Marked
		case compared != withoutMarks:
			form = w.Strict()
		}
		parts[i] = quote(form)
		if compared == withMarks && w.HasMarks() && w.Variant != "" {
			parts[i] = "(" + parts[i] + " | " + quote(w.Variant) + ")"
		}
		if i > 0 {
			pairs = append(pairs, quote(pairName(t.Words[i-1].Word, w.Word)))
		}
		if others := corrected[w.Word]; len(others) > 0 && !t.Quoted {
			sure = false
			for _, o := range others {
				parts[i] += " | " + quote(o)
			}
			parts[i] = "(" + parts[i] + ")"
		}
	}
	all := "(" + strings.Join(parts, " <-> ") + ")"
	if !sure {
		return tsquery{all, all, all}
	}
	// A phrase alone makes Postgres read every text that contains all words. Few
	// texts contain all word pairs but not the phrase.
	two := strings.Join(pairs, " & ")
	return tsquery{"(" + strings.Join(parts, " & ") + " & " + two + ")", all, "(" + two + ")"}
}

// exclude negates a part. It excludes only texts that really contain the phrase.
func exclude(w tsquery) tsquery {
	if w.match != w.plain {
		w.match = "(" + w.plain + " & " + w.count + ")"
	}
	return w.wrap("!(")
}

func synonymPhrases(texts []string) []tsquery {
	var out []tsquery
	for _, text := range texts {
		out = append(out, compileTerm(search.Term{Words: search.Tokens(text), Quoted: true}, withMarks, nil))
	}
	return out
}

func wholePhrase(q search.Query) string {
	var parts []string
	for _, t := range q.Terms {
		if t.Excluded || t.Prefix {
			continue
		}
		for _, w := range t.Words {
			parts = append(parts, quote(w.Word))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, " <-> ")
}

// atLeast returns the expression that need of the units match. It is nested, because
// Postgres evaluates it for each article of the rarest words: all combinations of three of
// six words would take it twice as long.
func atLeast(need int, units []unit) tsquery {
	if need == 1 || need == len(units) {
		parts := make([]tsquery, len(units))
		for i, u := range units {
			parts[i] = u.loose
		}
		operator := " & "
		if need == 1 {
			operator = " | "
		}
		return join(operator, parts...).wrap("(")
	}
	with := join(" & ", units[0].loose, atLeast(need-1, units[1:])).wrap("(")
	return join(" | ", with, atLeast(need, units[1:])).wrap("(")
}
