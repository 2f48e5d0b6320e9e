package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Term is a part of a query.
type Term struct {
	Words    []Token // more than one: adjacent, in this order
	Prefix   bool    // the last word is a prefix
	Excluded bool    // matching articles are excluded
	Quoted   bool
	// StopWord reports that the word is too frequent to be significant.
	StopWord bool
}

// Query is a parsed query: words, "phrases", prefixes (wor*) and excluded terms (-word).
type Query struct {
	Text  string
	Terms []Term
}

// maxTerms limits the terms of a query; further ones are ignored.
const maxTerms = 24

// Parse parses a query. Every text is valid.
func Parse(text string) Query {
	q := Query{Text: text}
	if utf8.RuneCountInString(text) > MaxQueryLength {
		text = string([]rune(text)[:MaxQueryLength])
		q.Text = text
	}
	for rest := text; rest != "" && len(q.Terms) < maxTerms; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		var t Term
		var chunk string
		if after, found := strings.CutPrefix(rest, "-"); found {
			if r, _ := utf8.DecodeRuneInString(after); isWord(r) || isQuote(r) {
				t.Excluded, rest = true, after
			}
		}
		from := len(text) - len(rest)
		if r, size := utf8.DecodeRuneInString(rest); isQuote(r) {
			t.Quoted = true
			from += size
			chunk, rest = splitAt(rest[size:], isQuote)
			_, size = utf8.DecodeRuneInString(rest)
			rest = rest[size:]
		} else {
			chunk, rest = splitAt(rest, func(r rune) bool { return unicode.IsSpace(r) || isQuote(r) })
			t.Prefix = strings.HasSuffix(chunk, "*")
		}
		if t.Words = Tokens(chunk); len(t.Words) == 0 {
			continue
		}
		last := t.Words[len(t.Words)-1]
		t.Prefix = t.Prefix && len(last.Bare) > 1 && !t.Quoted // a single letter matches too many words
		t.StopWord = !t.Quoted && !t.Excluded && !t.Prefix && len(t.Words) == 1 &&
			isStopWord(strings.ToLower(chunk[last.Start:last.End]))
		for i := range t.Words {
			t.Words[i].Start, t.Words[i].End = t.Words[i].Start+from, t.Words[i].End+from
		}
		q.Terms = append(q.Terms, t)
	}
	q.markQuestionPhrases()
	q.keepStopWordsIfAlone()
	return q
}

// markQuestionPhrases makes words of question phrases insignificant. Alone, most of them
// are significant: bao is also a bag, a newspaper and a storm.
func (q *Query) markQuestionPhrases() {
	for i := range q.Terms {
		for _, phrase := range questionPhrases() {
			if q.hasWordsAt(i, phrase) {
				for j := range phrase {
					q.Terms[i+j].StopWord = true
				}
			}
		}
	}
}

func (q *Query) hasWordsAt(i int, words []string) bool {
	if i+len(words) > len(q.Terms) {
		return false
	}
	for j, w := range words {
		t := q.Terms[i+j]
		if t.Quoted || t.Excluded || t.Prefix || len(t.Words) != 1 ||
			strings.ToLower(q.Text[t.Words[0].Start:t.Words[0].End]) != w {
			return false
		}
	}
	return true
}

func questionPhrases() [][]string {
	return [][]string{
		{"how", "much"},
		{"how", "many"},
		{"how", "long"},
		{"how", "often"},
		{"bao", "nhiêu"},
		{"bao", "giờ"},
		{"bao", "lâu"},
		{"vì", "sao"},
		{"tại", "sao"},
		{"làm", "sao"},
		{"làm", "thế", "nào"},
		{"như", "thế", "nào"},
		{"khi", "nào"},
		{"ở", "đâu"},
		{"là", "gì"},
		{"là", "ai"},
		{"hay", "không"},
		{"được", "không"},
		{"có", "phải"},
		{"bao", "nhieu"},
		{"vi", "sao"},
		{"tai", "sao"},
		{"the", "nao"},
		{"khi", "nao"},
	}
}

// keepStopWordsIfAlone makes stop words significant if there is nothing else to search
// for.
func (q *Query) keepStopWordsIfAlone() {
	for _, t := range q.Terms {
		if !t.Excluded && !t.StopWord {
			return
		}
	}
	for i := range q.Terms {
		q.Terms[i].StopWord = false
	}
}

func isQuote(r rune) bool { return strings.ContainsRune(`"“”„«»`, r) }

func splitAt(text string, stop func(rune) bool) (before, from string) {
	if i := strings.IndexFunc(text, stop); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// Included returns the terms that an article should contain.
func (q Query) Included() []Term {
	return q.filter(func(t Term) bool { return !t.Excluded && !t.StopWord })
}

// Excluded returns the terms that an article must not contain.
func (q Query) Excluded() []Term { return q.filter(func(t Term) bool { return t.Excluded }) }

func (q Query) filter(is func(Term) bool) (out []Term) {
	for _, t := range q.Terms {
		if is(t) {
			out = append(out, t)
		}
	}
	return out
}

// AsTyped returns the query for the typed spelling of Vietnamese syllables only.
func (q Query) AsTyped() Query {
	q.Terms = slices.Clone(q.Terms)
	for i, t := range q.Terms {
		q.Terms[i].Words = slices.Clone(t.Words)
		for j := range t.Words {
			q.Terms[i].Words[j].Variant = ""
		}
	}
	return q
}

// IsPlain reports whether the query has no operators.
func (q Query) IsPlain() bool {
	for _, t := range q.Terms {
		if t.Excluded || t.Quoted || t.Prefix {
			return false
		}
	}
	return true
}

// HasPrefixTerm reports whether the query has a prefix.
func (q Query) HasPrefixTerm() bool {
	return slices.ContainsFunc(q.Terms, func(t Term) bool { return t.Prefix })
}

// SemanticRatio returns the weight of meaning against keywords in a hybrid search.
// Operators and short queries ask for exact words; questions ask for meaning.
func (q Query) SemanticRatio() float64 {
	words := len(q.Included())
	switch {
	case !q.IsPlain() || words == 0:
		return 0
	case strings.ContainsAny(q.Text, "?") || len(q.Terms) >= 8:
		return 0.7
	case words <= 2:
		return 0.2
	case words <= 4:
		return 0.4
	}
	return 0.5
}

// isStopWord reports whether a word occurs in nearly every text. Vietnamese stop words
// need their diacritics: without them, many are other words.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "is", "are", "was", "were", "be", "been",
		"by", "with", "from", "as", "that", "this", "these", "those", "it", "its", "what", "how", "who", "why", "when",
		"where", "which", "do", "does", "did", "has", "have", "had", "will", "can", "could", "should", "would", "not",
		"you", "he", "she", "we", "they", "his", "her", "their", "our", "your", "my", "if", "but", "because", "than",
		"then", "there", "so", "about", "into", "và", "là", "của", "với", "được", "các", "những", "một", "trong", "khi",
		"để", "đã", "sẽ", "này", "thì", "mà", "bị", "ở", "tại", "như", "thế", "nào", "gì", "sao",
		"mấy", "vì", "nếu", "hoặc", "cũng", "rất", "đang", "rằng", "nhưng", "bởi", "nên":
		return true
	}
	return false
}
