package pgsearch

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dateline/internal/news/search"
)

// written is a part of a query in Postgres' words, for three uses.
type written struct {
	match string // finds it by the index alone: a phrase by its words and their pairs, and a little more
	plain string // what it says: for the head, which has no pairs, for ranks, and to look whether a phrase is there
	count string // the same with pairs in place of phrases: how frequent it is, see estimate
}

// expression is a query in Postgres' words.
type expression struct {
	written          // that an article must have
	exact   written  // the same as it is written; empty: the above says so already
	relaxed written  // the above with a word or two lacking; empty: all words are needed
	half    written  // half of the words; empty: relaxed asks for no more than that
	asked   []string // the words of which half are asked for
	any     string   // what is counted for the rank
	phrase  string   // the words as one phrase; empty: there is one word only
	also    []string // corrections and synonyms, which are marked in what is found
	empty   bool     // there is nothing to look for but what must not be there
	lacks   bool     // words may lack: it is the relaxed one
	covers  bool     // it asks for half of the words: hits are ranked by the words they have
	short   bool     // a beginning of a letter or two is among it, which very many words have
}

// shortPrefix is how many letters a beginning must have for the index to be
// quicker than reading the newest texts.
const shortPrefix = 3

// unit is a part of a query that stands for one thing.
type unit struct {
	loose, strict written
	needed        bool // also when words may lack
	weight        int  // the longer, the more it says
}

// join puts parts together in each of their uses.
func join(operator string, parts ...written) written {
	match, plain, count := make([]string, len(parts)), make([]string, len(parts)), make([]string, len(parts))
	for i, p := range parts {
		match[i], plain[i], count[i] = p.match, p.plain, p.count
	}
	return written{strings.Join(match, operator), strings.Join(plain, operator), strings.Join(count, operator)}
}

// wrap puts a part between brackets.
func (w written) wrap(open string) written {
	return written{open + w.match + ")", open + w.plain + ")", open + w.count + ")"}
}

// write makes the expression. strict: every word as it is written.
func write(q search.Query, strict bool, corrected map[string][]string) expression {
	var x expression
	units, also := units(q, strict, corrected)
	x.also = also
	var loose, exact []written
	var counted []string
	for _, u := range units {
		loose, exact, counted = append(loose, u.loose), append(exact, u.strict), append(counted, u.loose.plain)
	}
	x.empty = len(units) == 0
	for _, t := range q.Wanted() {
		x.short = x.short || t.Prefix && utf8.RuneCountInString(t.Words[len(t.Words)-1].Bare) < shortPrefix
	}
	var not []written
	for _, t := range q.Unwanted() {
		not = append(not, unwanted(words(t, true, nil)))
	}
	x.written, x.any = join(" & ", slices.Concat(loose, not)...), strings.Join(counted, " | ")
	if said := join(" & ", slices.Concat(exact, not)...); said != x.written {
		x.exact = said
	}
	x.phrase = phrase(q)
	if !strict {
		x.relaxed, x.half, x.asked = relaxed(units, not)
	}
	return x
}

func units(q search.Query, strict bool, corrected map[string][]string) (out []unit, also []string) {
	wanted := q.Wanted()
	for i := 0; i < len(wanted); {
		t := wanted[i]
		if others, n := search.SynonymsOf(wanted[i:]); n > 0 && !strict {
			var parts, said []written
			for _, one := range wanted[i : i+n] {
				parts, said = append(parts, words(one, false, nil)), append(said, words(one, true, nil))
			}
			also = append(also, others...)
			ways := phrases(others)
			out = append(out, unit{loose: join(" | ", append([]written{join(" & ", parts...).wrap("(")}, ways...)...).wrap("("),
				strict: join(" | ", append([]written{join(" & ", said...).wrap("(")}, ways...)...).wrap("("), weight: 8})
			i += n
			continue
		}
		u := unit{loose: words(t, strict, corrected), strict: words(t, true, corrected), needed: t.Quoted}
		for _, w := range t.Words {
			u.weight += len(w.Word)
			also = append(also, corrected[w.Word]...)
		}
		out = append(out, u)
		i++
	}
	return out, also
}

// words writes one term: its words behind each other.
func words(t search.Term, strict bool, corrected map[string][]string) written {
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
			pairs = append(pairs, quote(pair(t.Words[i-1].Word, w.Word)))
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
		return written{all, all, all}
	}
	// Postgres would have to read every text that has all of the words. Of those
	// that have their pairs too there are few more than have the phrase.
	two := strings.Join(pairs, " & ")
	return written{"(" + strings.Join(parts, " & ") + " & " + two + ")", all, "(" + two + ")"}
}

// unwanted leaves out what has a part, and nothing that only looks like it.
func unwanted(w written) written {
	if w.match != w.plain {
		w.match = "(" + w.plain + " & " + w.count + ")"
	}
	return w.wrap("!(")
}

func phrases(texts []string) []written {
	var out []written
	for _, text := range texts {
		out = append(out, words(search.Term{Words: search.Tokens(text), Quoted: true}, true, nil))
	}
	return out
}

func phrase(q search.Query) string {
	var parts []string
	for _, t := range q.Terms {
		if t.Not || t.Prefix {
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
	mostAsked  = 6
	lackTwo    = 5
	leastAsked = 3
)

// relaxed asks for all units but one, or two of many, and half for half of them.
// asked are the units that it chose.
func relaxed(all []unit, not []written) (relaxed, half written, asked []string) {
	var needed []written
	var free []unit
	for _, u := range all {
		if u.needed {
			needed = append(needed, u.loose)
		} else {
			free = append(free, u)
		}
	}
	if len(free) < 2 || len(free) < leastAsked && len(needed) == 0 {
		return written{}, written{}, nil
	}
	slices.SortStableFunc(free, func(a, b unit) int { return b.weight - a.weight })
	free = free[:min(len(free), mostAsked)]
	some := func(n int) written {
		var ways []written
		for _, units := range subsets(free, n) {
			var parts []written
			for _, u := range units {
				parts = append(parts, u.loose)
			}
			ways = append(ways, join(" & ", parts...).wrap("("))
		}
		return join(" & ", slices.Concat([]written{join(" | ", ways...).wrap("(")}, needed, not)...)
	}
	if len(free) < lackTwo {
		relaxed = some(len(free) - 1)
	} else {
		relaxed = some(len(free) - 2)
	}
	if len(free) > leastAsked {
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
