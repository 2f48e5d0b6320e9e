package extract

import (
	"hash/fnv"
	"math"
	"slices"
	"strconv"
)

// Template is what the pages of a site have in common: texts that several pages repeat,
// and how much of the text of each kind of element belongs to articles. It corrects
// generic extraction on other pages of the site.
type Template struct {
	Pages int                    `json:"pages"`           // that it was learned from
	Texts []int64                `json:"texts,omitempty"` // hashes of repeated texts, sorted
	Kinds map[string]KindOfBlock `json:"kinds,omitempty"` // by hash of the names of an element and those around it
}

// KindOfBlock counts the characters of the blocks of a kind.
type KindOfBlock struct {
	Chars    int `json:"chars"`
	Selected int `json:"selected"` // of those, in articles
}

const (
	maxTemplateTexts = 4000
	maxTemplateKinds = 1500
	// minSharedChars is the length from which a repeated text is not part of an article.
	minSharedChars = 20
	// minFewPages is the number of pages from which a text must be on two of them. With
	// fewer, a text of any of them that the next page repeats is shared.
	minFewPages = 4
	// maxSharedPart is the part of the extracted text above which the page is one of
	// those that the template was learned from, or the same story at another address.
	maxSharedPart = 0.4
)

// NewTemplate learns the template of the site of some pages, given their titles.
func NewTemplate(docs []*Document, titles []string) *Template {
	t := &Template{Pages: len(docs), Kinds: map[string]KindOfBlock{}}
	choices := make([]choice, len(docs))
	pages := map[int64]int{}
	for k, d := range docs {
		choices[k] = d.selectByRules(titles[k])
		choices[k].classify(d, titles[k])
		seen := map[int64]bool{}
		for i := range choices[k].o.blocks {
			if h := textHash(choices[k].o.blocks[i].text); !seen[h] && choices[k].o.blocks[i].chars >= minSharedChars {
				seen[h] = true
				pages[h]++
			}
		}
	}
	least := 2
	if len(docs) < minFewPages {
		least = 1
	}
	for h, n := range pages {
		if n >= least {
			t.Texts = append(t.Texts, h)
		}
	}
	slices.Sort(t.Texts)
	t.Texts = t.Texts[:min(len(t.Texts), maxTemplateTexts)]
	for _, c := range choices {
		names := make([]string, len(c.o.spans))
		for i := range c.o.blocks {
			b := &c.o.blocks[i]
			key := c.o.kindName(b.span, names)
			k, known := t.Kinds[key]
			if !known && len(t.Kinds) >= maxTemplateKinds {
				continue
			}
			k.Chars += b.chars
			if c.isSelected[i] && pages[textHash(b.text)] < 2 {
				k.Selected += b.chars
			}
			t.Kinds[key] = k
		}
	}
	return t
}

// UseTemplate corrects the extraction of a document by the template of its site.
func (d *Document) UseTemplate(t *Template) { d.template = t }

// textHash identifies a text, ignoring case and punctuation. It fits into a number of
// JavaScript.
func textHash(s string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(fold(s)))
	return int64(h.Sum64() & (1<<52 - 1)) //nolint:gosec // 52 bits
}

// kindName is a short name of the kind of a block.
func (o *outline) kindName(span int, names []string) string {
	h := fnv.New32a()
	_, _ = h.Write(o.appendKind(nil, span, names))
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// shared marks the blocks that the template knows from other pages. It marks none if
// that would leave too little of the text.
func (t *Template) shared(o *outline, selected []int) []bool {
	out := make([]bool, len(o.blocks))
	for i := range o.blocks {
		if o.blocks[i].chars >= minSharedChars {
			_, out[i] = slices.BinarySearch(t.Texts, textHash(o.blocks[i].text))
		}
	}
	all, lost := 0, 0
	for _, i := range selected {
		all += o.blocks[i].chars
		if out[i] {
			lost += o.blocks[i].chars
		}
	}
	if float64(lost) > maxSharedPart*float64(all) {
		return make([]bool, len(o.blocks))
	}
	return out
}

const (
	// kindWeight is the weight of the kind of a block next to the block itself.
	kindWeight = 0.7
	// kindPrior is the number of characters of other pages that count as much as
	// knowing nothing.
	kindPrior = 150
)

// bias returns by how much the kind of a block raises its log odds.
func (t *Template) bias(o *outline, i int, names []string) float64 {
	k := t.Kinds[o.kindName(o.blocks[i].span, names)]
	p := (float64(k.Selected) + kindPrior/2) / (float64(k.Chars) + kindPrior)
	return kindWeight * math.Log(p/(1-p))
}
