package pgsearch

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dateline/internal/news/search"
)

// tsquery is a part of a query in Postgres' words, for three uses.
type tsquery struct {
	match string // finds it by the index alone: a phrase by its words and their pairs, and a little more
	plain string // what it says: for the head, which has no pairs, for ranks, and to look whether a phrase is there
	count string // the same with pairs in place of phrases: how frequent it is, see estimate
}

// expression is a query in Postgres' words.
type expression struct {
	tsquery                 // that an article must have
	exact          tsquery  // the same as it is written; empty: the above says so already
	relaxed        tsquery  // the above with a word or two lacking; empty: all words are needed
	half           tsquery  // half of the words; empty: relaxed asks for no more than that
	terms          []string // the words of which half are asked for
	any            string   // what is counted for the rank
	phrase         string   // the words as one phrase; empty: there is one word only
	extraWords     []string // corrections and synonyms, which are marked in what is found
	isEmpty        bool     // there is nothing to look for but what must not be there
	isRelaxed      bool     // words may lack: it is the relaxed one
	rankByCoverage bool     // it asks for half of the words: hits are ranked by the words they have
	hasShortPrefix bool     // a beginning of a letter or two is among it, which very many words have
}

// minIndexedPrefix is how many letters a beginning must have for the index to be
// quicker than reading the newest texts.
const minIndexedPrefix = 3

// unit is a part of a query that stands for one thing.
type unit struct {
	loose, strict tsquery
	required      bool // also when words may lack
	weight        int  // the longer, the more it says
}

// join puts parts together in each of their uses.
func join(operator string, parts ...tsquery) tsquery {
	match, plain, count := make([]string, len(parts)), make([]string, len(parts)), make([]string, len(parts))
	for i, p := range parts {
		match[i], plain[i], count[i] = p.match, p.plain, p.count
	}
	return tsquery{strings.Join(match, operator), strings.Join(plain, operator), strings.Join(count, operator)}
}

// wrap puts a part between brackets.
func (w tsquery) wrap(open string) tsquery {
	return tsquery{open + w.match + ")", open + w.plain + ")", open + w.count + ")"}
}

// compile makes the expression. strict: every word as it is written.
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
		x.hasShortPrefix = x.hasShortPrefix || t.Prefix && utf8.RuneCountInString(t.Words[len(t.Words)-1].Bare) < minIndexedPrefix
	}
	var not []tsquery
	for _, t := range q.Excluded() {
		not = append(not, exclude(compileTerm(t, true, nil)))
	}
	x.tsquery, x.any = join(" & ", slices.Concat(loose, not)...), strings.Join(counted, " | ")
	if said := join(" & ", slices.Concat(exact, not)...); said != x.tsquery {
		x.exact = said
	}
	x.phrase = wholePhrase(q)
	if !strict {
		x.relaxed, x.half, x.terms = relaxed(units, not)
	}
	return x
}

func units(q search.Query, strict bool, corrected map[string][]string) (out []unit, also []string) {
	wanted := q.Included()
	for i := 0; i < len(wanted); {
		t := wanted[i]
		if others, n := search.SynonymsOf(wanted[i:]); n > 0 && !strict {
			var parts, said []tsquery
			for _, one := range wanted[i : i+n] {
				parts, said = append(parts, compileTerm(one, false, nil)), append(said, compileTerm(one, true, nil))
			}
			also = append(also, others...)
			ways := synonymPhrases(others)
			out = append(out, unit{loose: join(" | ", append([]tsquery{join(" & ", parts...).wrap("(")}, ways...)...).wrap("("),
				strict: join(" | ", append([]tsquery{join(" & ", said...).wrap("(")}, ways...)...).wrap("("), weight: 8})
			i += n
			continue
		}
		u := unit{loose: compileTerm(t, strict, corrected), strict: compileTerm(t, true, corrected), required: t.Quoted}
		for _, w := range t.Words {
			u.weight += len(w.Word)
			also = append(also, corrected[w.Word]...)
		}
		out = append(out, u)
		i++
	}
	return out, also
}

// compileTerm writes one term: its words behind each other.
func compileTerm(t search.Term, strict bool, corrected map[string][]string) tsquery {
	parts := make([]string, len(t.Words))
	var pairs []string
	sure := !t.Prefix && len(t.Words) > 1
	for i, w := range t.Words {
		form := w.Word
		switch {
		case t.Prefix && i == len(t.Words)-1:
			parts[i] = quote(w.Bare) + ":*"
			continue
		case strict:
			form = w.Strict()
		}
		parts[i] = quote(form)
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
	// Postgres would have to read every text that has all of the words. Of those
	// that have their pairs too there are few more than have the phrase.
	two := strings.Join(pairs, " & ")
	return tsquery{"(" + strings.Join(parts, " & ") + " & " + two + ")", all, "(" + two + ")"}
}

// exclude leaves out what has a part, and nothing that only looks like it.
func exclude(w tsquery) tsquery {
	if w.match != w.plain {
		w.match = "(" + w.plain + " & " + w.count + ")"
	}
	return w.wrap("!(")
}

func synonymPhrases(texts []string) []tsquery {
	var out []tsquery
	for _, text := range texts {
		out = append(out, compileTerm(search.Term{Words: search.Tokens(text), Quoted: true}, true, nil))
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

// The words of a long question that are asked for when no article has all: the
// longest, since they say most. With so many, two may lack; of no more than
// leastAsked, none but one.
const (
	maxRelaxedTerms = 6
	dropTwoFrom     = 5
	minRelaxedTerms = 3
)

// relaxed asks for all units but one, or two of many, and half for half of them.
// asked are the units that it chose.
func relaxed(all []unit, not []tsquery) (relaxed, half tsquery, asked []string) {
	var needed []tsquery
	var free []unit
	for _, u := range all {
		if u.required {
			needed = append(needed, u.loose)
		} else {
			free = append(free, u)
		}
	}
	if len(free) < 2 || len(free) < minRelaxedTerms && len(needed) == 0 {
		return tsquery{}, tsquery{}, nil
	}
	slices.SortStableFunc(free, func(a, b unit) int { return b.weight - a.weight })
	free = free[:min(len(free), maxRelaxedTerms)]
	some := func(n int) tsquery {
		var ways []tsquery
		for _, units := range subsets(free, n) {
			var parts []tsquery
			for _, u := range units {
				parts = append(parts, u.loose)
			}
			ways = append(ways, join(" & ", parts...).wrap("("))
		}
		return join(" & ", slices.Concat([]tsquery{join(" | ", ways...).wrap("(")}, needed, not)...)
	}
	if len(free) < dropTwoFrom {
		relaxed = some(len(free) - 1)
	} else {
		relaxed = some(len(free) - 2)
	}
	if len(free) > minRelaxedTerms {
		half = some(len(free) / 2)
		for _, u := range free {
			asked = append(asked, u.loose.plain)
		}
	}
	return relaxed, half, asked
}

// subsets lists the choices of n units, in their order.
func subsets(units []unit, n int) [][]unit {
	if n == 0 {
		return [][]unit{nil}
	}
	var out [][]unit
	for i := 0; i+n <= len(units); i++ {
		for _, rest := range subsets(units[i+1:], n-1) {
			out = append(out, append([]unit{units[i]}, rest...))
		}
	}
	return out
}
