package score

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// WordF1 is the harmonic mean of precision and recall of the words of a text, ignoring
// their order and case. A language without spaces has one word per letter.
func WordF1(truth, got string) float64 {
	want, have := countedWords(truth)
	counts, n := countedWords(got)
	if have == 0 && n == 0 {
		return 1
	}
	hit := 0
	for w, k := range counts {
		hit += min(k, want[w])
	}
	if hit == 0 {
		return 0
	}
	return harmonic(float64(hit)/float64(n), float64(hit)/float64(have))
}

func countedWords(s string) (map[string]int, int) {
	words := foldedWords(s)
	out := make(map[string]int, len(words))
	for _, w := range words {
		out[w]++
	}
	return out, len(words)
}

// foldedWords returns the words of a text in lower case, in composed form.
func foldedWords(s string) []string {
	var out []string
	for _, w := range Words(strings.ToLower(norm.NFC.String(s))) {
		from := 0
		for i, r := range w {
			if isIdeograph(r) {
				if from < i {
					out = append(out, w[from:i])
				}
				out = append(out, string(r))
				from = i + len(string(r))
			}
		}
		if from < len(w) {
			out = append(out, w[from:])
		}
	}
	return out
}

func isIdeograph(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// maxRougeCells limits the cost of a comparison; longer texts are cut off.
const maxRougeCells = 60_000_000

// RougeLSum is the F1 of ROUGE-LSum: for each line of the ground truth, the words that
// belong to a longest common subsequence with any line of the text.
func RougeLSum(truth, got string) float64 {
	want, have := lines(truth), lines(got)
	n, m := count(want), count(have)
	if n == 0 || m == 0 {
		if n == m {
			return 1
		}
		return 0
	}
	if n*m > maxRougeCells {
		return WordF1(truth, got)
	}
	left := map[int]int{} // words of the text that are not matched yet
	for _, line := range have {
		for _, w := range line {
			left[w]++
		}
	}
	var table []int32
	hit := 0
	for _, line := range want {
		inAny := make([]bool, len(line))
		for _, other := range have {
			table = markCommon(line, other, inAny, table)
		}
		for i, w := range line {
			if inAny[i] && left[w] > 0 {
				left[w]--
				hit++
			}
		}
	}
	if hit == 0 {
		return 0
	}
	return harmonic(float64(hit)/float64(m), float64(hit)/float64(n))
}

// lines returns the words of each line as numbers.
func lines(s string) [][]int {
	var out [][]int
	for line := range strings.SplitSeq(s, "\n") {
		words := foldedWords(line)
		if len(words) == 0 {
			continue
		}
		ids := make([]int, len(words))
		for i, w := range words {
			ids[i] = hashOf(w)
		}
		out = append(out, ids)
	}
	return out
}

// hashOf is FNV-1a.
func hashOf(w string) int {
	h := uint64(14695981039346656037)
	for i := range len(w) {
		h = (h ^ uint64(w[i])) * 1099511628211
	}
	return int(h >> 1) //nolint:gosec // only equality matters
}

func count(lines [][]int) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// markCommon marks the words of a line that belong to a longest common subsequence.
func markCommon(a, b []int, in []bool, table []int32) []int32 {
	w := len(b) + 1
	if need := (len(a) + 1) * w; cap(table) < need {
		table = make([]int32, need)
	} else {
		table = table[:need]
	}
	clear(table[:w])
	shared := false
	for i := range a {
		row, above := table[(i+1)*w:(i+2)*w], table[i*w:(i+1)*w]
		row[0] = 0
		for k := range b {
			if a[i] == b[k] {
				row[k+1] = above[k] + 1
				shared = true
			} else {
				row[k+1] = max(above[k+1], row[k])
			}
		}
	}
	if !shared {
		return table
	}
	for i, k := len(a), len(b); i > 0 && k > 0; {
		switch {
		case a[i-1] == b[k-1]:
			in[i-1] = true
			i, k = i-1, k-1
		case table[(i-1)*w+k] >= table[i*w+k-1]:
			i--
		default:
			k--
		}
	}
	return table
}

// Strings counts the strings that a text must and must not contain.
type Strings struct {
	Found, Missed    int // of those that it must contain
	Leaked, Excluded int // of those that it must not contain
}

// CompareStrings looks for strings in a text. White space does not count.
func CompareStrings(with, without []string, text string) Strings {
	text = normalize(text)
	var s Strings
	for _, w := range with {
		if strings.Contains(text, normalize(w)) {
			s.Found++
		} else {
			s.Missed++
		}
	}
	for _, w := range without {
		if strings.Contains(text, normalize(w)) {
			s.Leaked++
		} else {
			s.Excluded++
		}
	}
	return s
}

// Add adds the counts of another page.
func (s *Strings) Add(o Strings) {
	s.Found, s.Missed, s.Leaked, s.Excluded = s.Found+o.Found, s.Missed+o.Missed, s.Leaked+o.Leaked, s.Excluded+
		o.Excluded
}

// F1 is the harmonic mean of precision and recall of all strings.
func (s Strings) F1() float64 {
	if s.Found == 0 {
		return 0
	}
	return 2 * float64(s.Found) / float64(2*s.Found+s.Missed+s.Leaked)
}

// normalize composes letters and collapses white space.
func normalize(s string) string { return strings.Join(strings.Fields(norm.NFC.String(s)), " ") }

// SameTitle reports whether two titles are equal, ignoring case and punctuation.
func SameTitle(a, b string) bool { return fold(a) == fold(b) }

// fold returns the letters and digits of a text in lower case.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFC.String(s))
}

// SameAuthors reports whether two lists contain the same names, ignoring order, case and
// punctuation. A list may be written as one string.
func SameAuthors(truth, got []string) bool {
	if fold(strings.Join(truth, "")) == fold(strings.Join(got, "")) {
		return true
	}
	return slices.Equal(names(truth), names(got))
}

func names(all []string) []string {
	var out []string
	for _, s := range all {
		s = strings.NewReplacer(";", ",", " and ", ",", " und ", ",", " & ", ",", "|", ",").Replace(s)
		for n := range strings.SplitSeq(s, ",") {
			if n = fold(n); n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out
}

// SameDay reports whether an extracted time is on the day of publication, at the place
// of publication.
func SameDay(truth, got time.Time) bool {
	if got.IsZero() {
		return false
	}
	dayStart := time.Date(truth.Year(), truth.Month(), truth.Day(), 0, 0, 0, 0, truth.Location())
	return got.Format(time.DateOnly) == truth.Format(time.DateOnly) || !got.Before(dayStart) &&
		got.Before(dayStart.AddDate(0, 0, 1))
}

// ParseTime parses an annotated time: RFC 3339, or a day.
func ParseTime(truth string) (at time.Time, clock, ok bool) {
	if at, err := time.Parse(time.RFC3339, truth); err == nil {
		return at, true, true
	}
	at, err := time.Parse(time.DateOnly, truth)
	return at, false, err == nil
}
