package extract

import (
	"hash/fnv"
	"slices"
)

// Template is the texts that the pages of a site have in common, such as newsletter boxes,
// biographies and legal notices. Extraction drops them from other pages of the site.
type Template struct {
	Pages int     `json:"pages"`           // that it was learned from
	Texts []int64 `json:"texts,omitempty"` // hashes of the texts, sorted
}

const (
	maxTemplateTexts = 4000
	// minSharedChars is the length from which a repeated text is not part of an article.
	minSharedChars = 20
	// maxSharedPart is the part of the extracted text above which the page is one of
	// those that the template was learned from, or the same story at another address.
	maxSharedPart = 0.4
)

// NewTemplate learns the template of the site of some pages.
func NewTemplate(docs []*Document) *Template {
	t := &Template{Pages: len(docs)}
	pages := map[int64]int{}
	for _, d := range docs {
		seen := map[int64]bool{}
		o := newOutline(d.Root, d.Meta)
		for i := range o.blocks {
			if b := &o.blocks[i]; b.chars >= minSharedChars {
				seen[textHash(b.text)] = true
			}
		}
		for h := range seen {
			pages[h]++
		}
	}
	for h, n := range pages {
		if n > 1 {
			t.Texts = append(t.Texts, h)
		}
	}
	slices.Sort(t.Texts)
	t.Texts = t.Texts[:min(len(t.Texts), maxTemplateTexts)]
	return t
}

// has reports whether other pages of the site have a block too.
func (t *Template) has(b *block) bool {
	if t == nil || b.chars < minSharedChars {
		return false
	}
	_, ok := slices.BinarySearch(t.Texts, textHash(b.text))
	return ok
}

// UseTemplate drops what the template of its site contains from the text of a document.
func (d *Document) UseTemplate(t *Template) { d.template = t }

// textHash identifies a text, ignoring case and punctuation. It fits into a number of
// JavaScript.
func textHash(s string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(fold(s)))
	return int64(h.Sum64() & (1<<52 - 1)) //nolint:gosec // 52 bits
}

// dropShared drops the selected blocks that the template knows from other pages, unless
// that would leave too little of the text.
func (c *choice) dropShared(t *Template) {
	if t == nil {
		return
	}
	all, lost := 0, 0
	rest := make([]int, 0, len(c.selected))
	for left := c.selected; len(left) > 0; {
		n := 1 // blocks to keep or drop together
		for unit := c.o.blocks[left[0]].unit; unit != noUnit && n < len(left) && c.o.blocks[left[n]].unit == unit; {
			n++
		}
		chars, shared := 0, 0
		for _, i := range left[:n] {
			b := &c.o.blocks[i]
			chars += b.chars
			if t.has(b) {
				shared += b.chars
			}
		}
		all += chars
		if 2*shared > chars {
			lost += chars
		} else {
			rest = append(rest, left[:n]...)
		}
		left = left[n:]
	}
	if float64(lost) <= maxSharedPart*float64(all) {
		c.selected = rest
	}
}
