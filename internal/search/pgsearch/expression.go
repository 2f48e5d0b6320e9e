package pgsearch

import (
	"slices"
	"strings"

	"dateline/internal/search"
)

// expression is a query in Postgres' words.
type expression struct {
	match   string   // that an article must have
	exact   string   // the same as it is written; empty: match says so already
	any     string   // what is counted for the rank
	phrase  string   // the words as one phrase; empty: there is one word only
	also    []string // corrections and synonyms, which are marked in what is found
	relaxed string   // match with a word or two lacking; empty: all words are needed
	empty   bool     // there is nothing to look for but what must not be there
}

// unit is a part of a query that stands for one thing.
type unit struct {
	loose, strict string
	needed        bool // also when words may lack
	weight        int  // the longer, the more it says
}

// write makes the expression. strict: every word as it is written.
func write(q search.Query, strict bool, corrected map[string][]string) expression {
	var x expression
	units, also := units(q, strict, corrected)
	x.also = also
	var loose, exact []string
	for _, u := range units {
		loose, exact = append(loose, u.loose), append(exact, u.strict)
	}
	x.empty = len(units) == 0
	var not []string
	for _, t := range q.Unwanted() {
		not = append(not, "!("+words(t, true, nil)+")")
	}
	x.match, x.any = strings.Join(slices.Concat(loose, not), " & "), strings.Join(loose, " | ")
	if written := strings.Join(slices.Concat(exact, not), " & "); written != x.match {
		x.exact = written
	}
	x.phrase = phrase(q)
	if !strict {
		x.relaxed = relaxed(units, not)
	}
	return x
}

func units(q search.Query, strict bool, corrected map[string][]string) (out []unit, also []string) {
	wanted := q.Wanted()
	for i := 0; i < len(wanted); {
		t := wanted[i]
		if n, others := synonyms(wanted[i:]); n > 0 && !strict {
			var parts, written []string
			for _, one := range wanted[i : i+n] {
				parts, written = append(parts, words(one, false, nil)), append(written, words(one, true, nil))
			}
			also = append(also, others...)
			out = append(out, unit{loose: "(" + strings.Join(append([]string{"(" + strings.Join(parts, " & ") + ")"}, phrases(others)...), " | ") + ")",
				strict: "(" + strings.Join(append([]string{"(" + strings.Join(written, " & ") + ")"}, phrases(others)...), " | ") + ")", weight: 8})
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
func words(t search.Term, strict bool, corrected map[string][]string) string {
	parts := make([]string, len(t.Words))
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
		if others := corrected[w.Word]; len(others) > 0 && !t.Quoted {
			for _, o := range others {
				parts[i] += " | " + quote(o)
			}
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return "(" + strings.Join(parts, " <-> ") + ")"
}

// synonyms finds a group of which the next n terms are a member, the longest
// first, and gives its other members.
func synonyms(terms []search.Term) (n int, others []string) {
	var line []string
	for _, t := range terms {
		if t.Quoted || t.Prefix {
			break
		}
		for _, w := range t.Words {
			line = append(line, w.Marked)
		}
	}
	for _, group := range search.Synonyms() {
		for _, member := range group {
			tokens := search.Tokens(member)
			if len(tokens) <= n || len(tokens) > len(line) {
				continue
			}
			same := true
			for i, token := range tokens {
				same = same && (line[i] == token.Marked || token.HasMarks() && len(tokens) > 2 && line[i] == token.Bare)
			}
			if same {
				n = len(tokens)
				others = slices.DeleteFunc(slices.Clone(group), func(o string) bool { return o == member })
			}
		}
	}
	// In terms again: one may hold several words.
	left := n
	for i, t := range terms {
		if left <= 0 {
			return i, others
		}
		left -= len(t.Words)
	}
	return len(terms), others
}

func phrases(texts []string) []string {
	var out []string
	for _, text := range texts {
		var parts []string
		for _, w := range search.Tokens(text) {
			parts = append(parts, quote(w.Strict()))
		}
		out = append(out, "("+strings.Join(parts, " <-> ")+")")
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
// longest, since they say most. With so many, two may lack.
const (
	mostAsked = 8
	lackTwo   = 5
)

// relaxed asks for all units but one, or two of many.
func relaxed(all []unit, not []string) string {
	var needed []string
	var free []unit
	for _, u := range all {
		if u.needed {
			needed = append(needed, u.loose)
		} else {
			free = append(free, u)
		}
	}
	if len(free) < 2 || len(free) < 3 && len(needed) == 0 {
		return ""
	}
	slices.SortStableFunc(free, func(a, b unit) int { return b.weight - a.weight })
	free = free[:min(len(free), mostAsked)]
	var ways []string
	for i := range free {
		if len(free) < lackTwo {
			ways = append(ways, without(free, i, i))
			continue
		}
		for j := i + 1; j < len(free); j++ {
			ways = append(ways, without(free, i, j))
		}
	}
	return strings.Join(slices.Concat([]string{"(" + strings.Join(ways, " | ") + ")"}, needed, not), " & ")
}

func without(units []unit, i, j int) string {
	var parts []string
	for k, u := range units {
		if k != i && k != j {
			parts = append(parts, u.loose)
		}
	}
	return "(" + strings.Join(parts, " & ") + ")"
}
