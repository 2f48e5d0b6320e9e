package selector

import "dateline/internal/news/article/extract"

// Contradiction is a block about which selectors and an editor disagree.
type Contradiction struct {
	Text   string
	IsBody bool // as the editor marked it
}

// Contradictions compares what selectors select on a page with what editors marked there: the marks are tests of the
// selectors. The article follows the marks in any case.
func (s *Selector) Contradictions(doc *extract.Document, title string) (out []Contradiction) {
	in := newPage(doc.Root)
	for i := range s.variants {
		v := &s.variants[i]
		body := firstMatch(in, v.body)
		if len(body) == 0 {
			continue
		}
		given := v.selection(in, body)
		b, ok := doc.BodyOf(given.Body, given.Drop, title)
		if !ok {
			return nil // the body is extracted generically
		}
		extra, missing := doc.ContradictedMarks(b)
		for _, text := range extra {
			out = append(out, Contradiction{Text: shorten(text)})
		}
		for _, text := range missing {
			out = append(out, Contradiction{Text: shorten(text), IsBody: true})
		}
		return out
	}
	return nil
}
