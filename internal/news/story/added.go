package story

import (
	"strings"
	"unicode/utf8"
)

const (
	maxAdded        = 2   // sentences of an article
	maxAddedRunes   = 220 // of a sentence
	minAddedWords   = 6
	minAddedNovelty = .5 // share of words that no earlier article has
)

// FillAdded finds the sentences of each entry that add something to the earlier ones: most
// of their words are new. Entries are in the order of the timeline. Copies add nothing.
func FillAdded(entries []Entry) {
	known := map[Term]bool{}
	for i := range entries {
		e := &entries[i]
		if e.IsCopy {
			continue
		}
		type rated struct {
			text    string
			novelty float64
		}
		var best []rated
		fresh := map[Term]bool{}
		for _, s := range sentences(e.Body) {
			words, added := 0, 0
			eachWord(s, func(word string, _ bool) {
				if utf8.RuneCountInString(word) < 2 {
					return
				}
				t := termOf(word)
				words++
				if !known[t] {
					added++
				}
				fresh[t] = true
			})
			if i == 0 || words < minAddedWords {
				continue
			}
			novelty := float64(added) / float64(words)
			if novelty < minAddedNovelty {
				continue
			}
			best = append(best, rated{s, novelty})
		}
		for len(best) > maxAdded {
			lowest := 0
			for k := range best {
				if best[k].novelty < best[lowest].novelty {
					lowest = k
				}
			}
			best = append(best[:lowest], best[lowest+1:]...)
		}
		for _, b := range best {
			e.Added = append(e.Added, shorten(b.text))
		}
		for t := range fresh {
			known[t] = true
		}
	}
}

// sentences splits a text at the ends of sentences and paragraphs.
func sentences(text string) (out []string) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		start := 0
		for i := 0; i+1 < len(paragraph); i++ {
			if strings.IndexByte(".!?", paragraph[i]) >= 0 && paragraph[i+1] == ' ' {
				out = append(out, strings.TrimSpace(paragraph[start:i+1]))
				start = i + 1
			}
		}
		if rest := strings.TrimSpace(paragraph[start:]); rest != "" {
			out = append(out, rest)
		}
	}
	return out
}

func shorten(text string) string {
	runes := []rune(text)
	if len(runes) <= maxAddedRunes {
		return text
	}
	return string(runes[:maxAddedRunes-1]) + "…"
}
