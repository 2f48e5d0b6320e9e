// Package score measures how well articles are extracted: it compares extracted bodies and
// fields with the truth that people wrote down.
//
// The measure of bodies is that of the article extraction benchmark by Scrapinghub
// (https://github.com/scrapinghub/article-extraction-benchmark): shingles of four words,
// counted, normalised per page so that long texts weigh no more than short ones.
package score

import (
	"strings"
	"unicode"
)

// shingleWords is how many words are compared at a time.
const shingleWords = 4

// Body is how the extracted text of one page compares with the truth, as shares of one.
type Body struct {
	Hit    float64 // in both
	Extra  float64 // extracted, but not in the truth
	Missed float64 // in the truth, but not extracted
}

// CompareBody compares an extracted text with the truth.
func CompareBody(truth, got string) Body {
	want, have := shingles(truth), shingles(got)
	var b Body
	for k, n := range want {
		m := have[k]
		b.Hit += float64(min(n, m))
		b.Missed += float64(max(0, n-m))
	}
	for k, m := range have {
		b.Extra += float64(max(0, m-want[k]))
	}
	if sum := b.Hit + b.Extra + b.Missed; sum > 0 {
		b.Hit, b.Extra, b.Missed = b.Hit/sum, b.Extra/sum, b.Missed/sum
	}
	return b
}

// Precision is how much of what was extracted is right.
func (b Body) Precision() float64 { return ratio(b.Hit, b.Extra, b.Missed) }

// Recall is how much of the truth was extracted.
func (b Body) Recall() float64 { return ratio(b.Hit, b.Missed, b.Extra) }

// F1 is the harmonic mean of precision and recall of one page.
func (b Body) F1() float64 { return harmonic(b.Precision(), b.Recall()) }

func ratio(hit, wrong, other float64) float64 {
	if wrong == 0 && other == 0 {
		return 1
	}
	if hit == 0 {
		return 0
	}
	return hit / (hit + wrong)
}

func harmonic(p, r float64) float64 {
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// Total adds up pages. Its F1 is the harmonic mean of the mean precision and the mean recall;
// pages on which one of them is not defined do not count for that one.
type Total struct {
	Pages         int
	precision, nP float64
	recall, nR    float64
}

// Add counts one page.
func (t *Total) Add(b Body) {
	t.Pages++
	if b.Hit+b.Extra > 0 {
		t.precision += b.Precision()
		t.nP++
	}
	if b.Hit+b.Missed > 0 {
		t.recall += b.Recall()
		t.nR++
	}
}

// Merge adds the pages of another total.
func (t *Total) Merge(o Total) {
	t.Pages += o.Pages
	t.precision, t.nP = t.precision+o.precision, t.nP+o.nP
	t.recall, t.nR = t.recall+o.recall, t.nR+o.nR
}

// Precision is the mean precision of the pages.
func (t *Total) Precision() float64 { return mean(t.precision, t.nP) }

// Recall is the mean recall of the pages.
func (t *Total) Recall() float64 { return mean(t.recall, t.nR) }

// F1 is the figure that the benchmark publishes.
func (t *Total) F1() float64 { return harmonic(t.Precision(), t.Recall()) }

func mean(sum, n float64) float64 {
	if n == 0 {
		return 0
	}
	return sum / n
}

// Words splits a text into runs of letters, digits, marks of numbers and underscores, as \w+
// of the benchmark's evaluation does.
func Words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
}

func shingles(s string) map[string]int {
	words := Words(s)
	out := make(map[string]int, len(words))
	for i := range max(1, len(words)-shingleWords+1) {
		part := words[min(i, len(words)):min(i+shingleWords, len(words))]
		if len(part) > 0 {
			out[strings.Join(part, " ")]++
		}
	}
	return out
}
