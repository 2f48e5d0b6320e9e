package story

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Term is a hashed word. Words are runs of letters and digits in Unicode normalization
// form C and lower case, with their diacritics.
type Term int64

// Document is the text of an article as far as it may be used.
type Document struct {
	Title string
	Lead  string
	Body  string
}

const (
	titleWeight   = 4   // of a word in the title, compared with the body
	capitalWeight = 1.5 // of a word with a capital letter inside a sentence: mostly names
	maxTerms      = 100 // of a document
	maxCentroid   = 200 // terms of a story
	maxHeavy      = 20  // terms by which candidates are found
	maxWordBytes  = 40  // longer runs are no words
	maxBodyBytes  = 20_000
)

// Counts are the weighted occurrences of the terms of a document.
type Counts map[Term]float64

// Count counts the terms of a document.
func Count(d Document) Counts {
	out := Counts{}
	add := func(text string, weight float64) {
		eachWord(text, func(word string, isName bool) {
			w := weight
			if isName {
				w *= capitalWeight
			}
			out[termOf(word)] += w
		})
	}
	add(d.Title, titleWeight)
	if !strings.Contains(d.Body, d.Lead) {
		add(d.Lead, 1)
	}
	add(truncate(d.Body, maxBodyBytes), 1)
	return out
}

// truncate limits a text to the last space before a number of bytes.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[:limit]
	if i := strings.LastIndexByte(text, ' '); i > 0 {
		text = text[:i]
	}
	return text
}

func termOf(word string) Term {
	h := fnv.New64a()
	_, _ = h.Write([]byte(word))
	return Term(h.Sum64()) //nolint:gosec // only the bits matter
}

// eachWord calls f for each word of a text. isName reports a capital letter that does not
// start a sentence.
func eachWord(text string, f func(word string, isName bool)) {
	text = norm.NFC.String(text)
	start, isFirst := -1, true
	flush := func(end int) {
		if start < 0 {
			return
		}
		word := text[start:end]
		start = -1
		first := []rune(word)[0]
		name := unicode.IsUpper(first) && !isFirst
		isFirst = false
		if len(word) <= maxWordBytes {
			f(strings.ToLower(word), name)
		}
	}
	for i, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if (r == '.' || r == ',') && start >= 0 && isDigitAt(text, i-1) && isDigitAt(text, i+1) {
			continue // 5,000 and 3.5 are one number
		}
		flush(i)
		switch r {
		case '.', '!', '?', ':', '\n', '"', '“', '‘':
			isFirst = true
		}
	}
	flush(len(text))
}

func isDigitAt(text string, i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }

// Vector is a set of terms with weights, sorted by term.
type Vector struct {
	Terms   []Term
	Weights []float32
}

// Vectorize weights counted terms by their rarity (TF-IDF) and keeps the heaviest. The
// length of the result is 1, or 0 without terms.
func Vectorize(c Counts, f *Frequencies) Vector {
	all := make([]weighted, 0, len(c))
	for t, n := range c {
		if w := (1 + math.Log(n)) * f.rarity(t); n > 0 && w > 0 {
			all = append(all, weighted{t, w})
		}
	}
	return vectorOf(all, maxTerms).scaled(1)
}

type weighted struct {
	term   Term
	weight float64
}

// vectorOf returns the heaviest terms.
func vectorOf(all []weighted, limit int) Vector {
	if len(all) > limit {
		slices.SortFunc(all, byWeight)
		all = all[:limit]
	}
	slices.SortFunc(all, func(a, b weighted) int { return compare(a.term, b.term) })
	v := Vector{Terms: make([]Term, len(all)), Weights: make([]float32, len(all))}
	for i, w := range all {
		v.Terms[i], v.Weights[i] = w.term, float32(w.weight)
	}
	return v
}

// byWeight orders the heaviest first; ties are broken, so that results are reproducible.
func byWeight(a, b weighted) int {
	switch {
	case a.weight > b.weight:
		return -1
	case a.weight < b.weight:
		return 1
	}
	return compare(a.term, b.term)
}

func compare(a, b Term) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Heavy returns the heaviest terms.
func (v Vector) Heavy() []Term {
	all := make([]weighted, len(v.Terms))
	for i, t := range v.Terms {
		all[i] = weighted{t, float64(v.Weights[i])}
	}
	slices.SortFunc(all, byWeight)
	out := make([]Term, 0, maxHeavy)
	for _, w := range all[:min(len(all), maxHeavy)] {
		out = append(out, w.term)
	}
	return out
}

func (v Vector) length() float64 {
	var sum float64
	for _, w := range v.Weights {
		sum += float64(w) * float64(w)
	}
	return math.Sqrt(sum)
}

// scaled returns the vector with a length, unless its length is 0.
func (v Vector) scaled(length float64) Vector {
	is := v.length()
	if is == 0 {
		return v
	}
	out := Vector{Terms: v.Terms, Weights: make([]float32, len(v.Weights))}
	for i, w := range v.Weights {
		out.Weights[i] = float32(float64(w) * length / is)
	}
	return out
}

// plus returns the sum of v and factor times other.
func (v Vector) plus(other Vector, factor float64) Vector {
	out := make([]weighted, 0, len(v.Terms)+len(other.Terms))
	i, j := 0, 0
	for i < len(v.Terms) || j < len(other.Terms) {
		switch {
		case j == len(other.Terms) || i < len(v.Terms) && v.Terms[i] < other.Terms[j]:
			out = append(out, weighted{v.Terms[i], float64(v.Weights[i])})
			i++
		case i == len(v.Terms) || other.Terms[j] < v.Terms[i]:
			if factor > 0 { // otherwise it was truncated from v
				out = append(out, weighted{other.Terms[j], factor * float64(other.Weights[j])})
			}
			j++
		default:
			if w := float64(v.Weights[i]) + factor*float64(other.Weights[j]); w > 0 {
				out = append(out, weighted{v.Terms[i], w})
			}
			i++
			j++
		}
	}
	return vectorOf(out, maxCentroid)
}

// Similarity is the cosine of the angle between two vectors, 0 to 1.
func Similarity(a, b Vector) float64 {
	var sum float64
	for i, j := 0, 0; i < len(a.Terms) && j < len(b.Terms); {
		switch {
		case a.Terms[i] < b.Terms[j]:
			i++
		case a.Terms[i] > b.Terms[j]:
			j++
		default:
			sum += float64(a.Weights[i]) * float64(b.Weights[j])
			i++
			j++
		}
	}
	if sum == 0 {
		return 0
	}
	return sum / (a.length() * b.length())
}
