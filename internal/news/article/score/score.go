// Package score measures extraction quality: it compares extracted bodies and fields
// with a ground truth.
//
// Bodies are compared as in the article extraction benchmark by Scrapinghub
// (https://github.com/scrapinghub/article-extraction-benchmark): by counted shingles of
// four words, normalized per page so that all pages have the same weight.
package score

import (
	"strings"
	"unicode"
)

// shingleWords is the length of a shingle.
const shingleWords = 4

// Body compares the extracted text of a page with the ground truth, as shares of 1.
type Body struct {
	Hit    float64 // in both
	Extra  float64 // only in the extracted text
	Missed float64 // only in the ground truth
}

// CompareBody compares an extracted text with the ground truth.
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

// Precision is the correct share of the extracted text.
func (b Body) Precision() float64 { return ratio(b.Hit, b.Extra, b.Missed) }

// Recall is the extracted share of the ground truth.
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

// Total aggregates pages. Its F1 is the harmonic mean of mean precision and mean recall;
// pages for which one of them is undefined are excluded from its mean.
type Total struct {
	Pages         int
	precision, nP float64
	recall, nR    float64
}

// Add adds a page.
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

// F1 is the score that the benchmark publishes.
func (t *Total) F1() float64 { return harmonic(t.Precision(), t.Recall()) }

func mean(sum, n float64) float64 {
	if n == 0 {
		return 0
	}
	return sum / n
}

// Words splits a text into runs of letters, numbers and underscores, like \w+ in the
// benchmark.
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
