package selector

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// candidate is a path that may select a field, and its cost: lower is simpler and more
// robust.
type candidate struct {
	path string
	cost int
}

// pathsTo returns paths to an element that are robust against small template changes: no
// exact classes, positions or generated names.
func pathsTo(n *html.Node) []candidate {
	own := steps(n)
	var out []candidate
	for i, s := range own {
		out = append(out, candidate{"//" + s.path, s.cost*4 + i})
	}
	up := 0
	tail := n.Data
	for p := n.Parent; p != nil && p.Type == html.ElementNode && up < 5; p = p.Parent {
		up++
		around := steps(p)
		for i, s := range around {
			if i > 3 {
				break
			}
			if s.path == p.Data && !isLandmark(p) {
				continue
			}
			out = append(out, candidate{"//" + s.path + "/" + tail, s.cost*4 + 6 + 3*up + i})
			for _, o := range own {
				if o.cost < 3 {
					out = append(out, candidate{"//" + s.path + "//" + o.path, s.cost*4 + o.cost*4 + 4 + 3*up + i})
				}
			}
		}
		if len(around) > 0 && around[0].cost < 3 && up > 2 {
			break
		}
		tail = p.Data + "/" + tail
	}
	return out
}

// steps returns the ways to identify an element by itself, the best first.
func steps(n *html.Node) []candidate {
	var out []candidate
	add := func(cond string, cost int) { out = append(out, candidate{n.Data + "[" + cond + "]", cost}) }
	for _, a := range n.Attr {
		v := strings.TrimSpace(a.Val)
		if strings.ContainsAny(v, `"'`) || v == "" || len(v) > 120 {
			continue
		}
		switch a.Key {
		case "itemprop":
			for t := range strings.FieldsSeq(v) {
				add(tokenPredicate("itemprop", t), 0)
			}
		case "data-role", "role", "rel":
			add("@"+a.Key+"='"+v+"'", 1)
		case "id":
			if isStableName(v) {
				add("@id='"+v+"'", 1)
			}
		case "class":
			names := 0
			for t := range strings.FieldsSeq(v) {
				if isStableName(t) && names < 6 {
					names++
					add(tokenPredicate("class", t), 1)
				}
			}
		}
	}
	if isLandmark(n) {
		out = append(out, candidate{n.Data, 3})
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return a.cost - b.cost })
	return out
}

func isLandmark(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.Article, atom.Main, atom.Time:
		return true
	}
	return false
}

// tokenPredicate returns the predicate that an attribute contains a name in its list of
// names.
func tokenPredicate(attr, name string) string {
	return "contains(concat(' ',normalize-space(@" + attr + "),' '),' " + name + " ')"
}

// isStableName distinguishes names that people chose from generated ones, such as
// "post-115809", "hJpRRP" and "css-1x2y3z".
func isStableName(name string) bool {
	if len(name) < 3 || len(name) > 60 || strings.ContainsAny(name, "[]:!@#%()*&") {
		return false
	}
	if isGenerated(name) {
		return false
	}
	digits, upper, lower, turns, vowels := 0, 0, 0, 0, 0
	prev := rune(0)
	for _, c := range name {
		switch {
		case unicode.IsDigit(c):
			digits++
		case unicode.IsUpper(c):
			upper++
		case unicode.IsLower(c):
			lower++
		case c != '-' && c != '_':
			return false
		}
		if unicode.IsLower(prev) && unicode.IsUpper(c) {
			turns++
		}
		if strings.ContainsRune("aeiouyAEIOUY", c) {
			vowels++
		}
		prev = c
	}
	if digits > 2 || vowels == 0 || digits > 0 && turns > 0 {
		return false
	}
	return turns <= 1 || upper*3 < lower || strings.Contains(name, "-")
}

// isGenerated recognizes names that build tools make: a prefix of the tool and a hash
// ("dcr-1hnmz6y", "sc-jbiisr-0", "css-x1y2z3"), or a word and a hash ("content__17Yit",
// "Article_body__aB3xZ", "title-module_x9Kd2").
func isGenerated(name string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' })
	if len(parts) == 0 {
		return true
	}
	switch strings.ToLower(parts[0]) {
	case "css", "sc", "dcr", "jsx", "jss", "svelte", "emotion", "chakra", "astro", "ngcontent", "nghost", "makestyles",
		"framer", "e":
		return true
	}
	for i, p := range parts {
		if looksHashed(p) || i > 0 && i == len(parts)-1 && strings.Contains(name, "__") && isMixedCase(p) {
			return true
		}
	}
	return false
}

// looksHashed reports whether a word has digits between or before letters, as in 1hnmz6y,
// or at least five letters without a vowel.
func looksHashed(w string) bool {
	if len(w) < 4 {
		return false
	}
	changes, letters, vowels := 0, 0, 0
	wasDigit := false
	for i, c := range w {
		isDigit := unicode.IsDigit(c)
		if i > 0 && isDigit != wasDigit {
			changes++
		}
		wasDigit = isDigit
		if unicode.IsLetter(c) {
			letters++
		}
		if strings.ContainsRune("aeiouyAEIOUY", c) {
			vowels++
		}
	}
	startsWithDigit := w[0] >= '0' && w[0] <= '9'
	return changes > 1 || changes == 1 && startsWithDigit && letters > 1 || letters >= 6 && vowels == 0
}

// isMixedCase reports whether capitals follow lower case more than in camelCase.
func isMixedCase(w string) bool {
	if len(w) > 8 || len(w) < 4 {
		return false
	}
	turns, upper := 0, 0
	for i := 1; i < len(w); i++ {
		if unicode.IsUpper(rune(w[i])) {
			upper++
			if unicode.IsLower(rune(w[i-1])) {
				turns++
			}
		}
	}
	return turns > 1 || upper > 1
}
