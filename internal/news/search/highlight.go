package search

import (
	"strings"
	"unicode/utf8"
)

// Highlighter marks the matches of a query in texts.
type Highlighter struct {
	words    map[string]struct{}
	prefixes []string
}

// NewHighlighter returns a highlighter for the words of a query and extra words such as
// synonyms.
func NewHighlighter(q Query, extra ...string) Highlighter {
	m := Highlighter{words: map[string]struct{}{}}
	for _, t := range q.Included() {
		for i, w := range t.Words {
			if t.Prefix && i == len(t.Words)-1 {
				m.prefixes = append(m.prefixes, w.Bare)
			} else {
				m.words[w.Word] = struct{}{}
			}
		}
	}
	for _, text := range extra {
		for _, w := range Tokens(text) {
			m.words[w.Word] = struct{}{}
		}
	}
	return m
}

func (m Highlighter) isMatch(t Token) bool {
	if _, ok := m.words[t.Word]; ok {
		return true
	}
	for _, p := range m.prefixes {
		if strings.HasPrefix(t.Bare, p) {
			return true
		}
	}
	return false
}

// Highlight returns a whole text with its matches.
func (m Highlighter) Highlight(text string) []Fragment {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return m.split(text, Tokens(text))
}

// snippetWords is the length of a snippet in words.
const snippetWords = 40

// Snippet returns the window with the most distinct matches from the first text with the
// most matches, or the start of the first text that is not empty.
func (m Highlighter) Snippet(texts ...string) []Fragment {
	var best []Token
	var of string
	maxMatches := 0
	for _, text := range texts {
		text = strings.ToValidUTF8(text, "\uFFFD")
		tokens := Tokens(text)
		from, n := m.densestWindow(tokens)
		if (of == "" && len(tokens) > 0) || n > maxMatches {
			of, best, maxMatches = text, tokens[from:min(from+snippetWords, len(tokens))], n
		}
		if len(best) > 0 && len(m.prefixes) == 0 && maxMatches == len(m.words) {
			break // no text has more
		}
	}
	if len(best) == 0 {
		return nil
	}
	start, end := best[0].Start, best[len(best)-1].End
	lead, tail := "", ""
	if strings.TrimSpace(of[:start]) != "" && start > 0 {
		lead = "… "
	}
	if rest := strings.TrimSpace(of[end:]); utf8.RuneCountInString(rest) > 1 {
		tail = " …"
	} else {
		end = len(of)
	}
	part := of[start:end]
	out := m.split(part, Tokens(part))
	if lead != "" {
		out = append([]Fragment{{Text: lead}}, out...)
	}
	if tail != "" {
		out = append(out, Fragment{Text: tail})
	}
	return out
}

// densestWindow returns the start of the window with the most distinct matches, and
// their number.
func (m Highlighter) densestWindow(tokens []Token) (from, matches int) {
	in := map[string]int{}
	for i, t := range tokens {
		if m.isMatch(t) {
			in[t.Word]++
		}
		if out := i - snippetWords; out >= 0 && m.isMatch(tokens[out]) {
			if in[tokens[out].Word]--; in[tokens[out].Word] == 0 {
				delete(in, tokens[out].Word)
			}
		}
		if len(in) > matches {
			// Include some context before the first match.
			matches, from = len(in), max(i-snippetWords/2, 0)
		}
	}
	return from, matches
}

func (m Highlighter) split(text string, tokens []Token) (out []Fragment) {
	at := 0
	for _, t := range tokens {
		if !m.isMatch(t) {
			continue
		}
		// Merge matches separated by a space: Vietnamese words consist of several syllables.
		if n := len(out); n > 0 && out[n-1].Match && text[at:t.Start] == " " {
			out[n-1].Text += text[at:t.End]
			at = t.End
			continue
		}
		if t.Start > at {
			out = append(out, Fragment{Text: text[at:t.Start]})
		}
		out = append(out, Fragment{Text: text[t.Start:t.End], Match: true})
		at = t.End
	}
	if at < len(text) {
		out = append(out, Fragment{Text: text[at:]})
	}
	return out
}
