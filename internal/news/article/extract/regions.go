package extract

import (
	"golang.org/x/net/html/atom"
)

// regionFeatureCount is the number of features of regions.
const regionFeatureCount = 8

// regions says where blocks are, seen from the main paragraphs of a page: those of the
// kind that has most prose. What follows another byline or date, or is in another element
// than they are or in a preview of something, is often not of the article.
type regions struct {
	main      *kindSums // nil: the page has no prose
	container int       // the smallest element with all main paragraphs
	previews  []int     // by element: the number of previews like it, if it is in one
	marks     []int     // running number of bylines and dates
}

const (
	minPreviews      = 3 // of the same kind
	maxPreviewBlocks = 8
)

func (w *featureBuilder) findRegions() regions {
	o := w.o
	r := regions{container: -1, marks: make([]int, len(o.blocks)+1)}
	for i := range o.blocks {
		b := &o.blocks[i]
		r.marks[i+1] = r.marks[i]
		if b.chars < 120 && (b.hints&(hintByline|hintDate) != 0 || b.digits > 0 && isDateLine(b.text) ||
			nameAfterBy(b.text) != "") {
			r.marks[i+1]++
		}
		if k := w.kindOf[i]; b.hints&hintsNotText == 0 && k.prose > 0 && (r.main == nil || k.prose > r.main.prose) {
			r.main = k
		}
	}
	if r.main != nil {
		r.container = o.commonSpan(o.blocks[r.main.first].span, []int{r.main.first, r.main.last})
	}
	r.previews = w.findPreviews()
	return r
}

// findPreviews finds elements of the same kind with few blocks each, of whose text at least
// a third is linked: teasers, products, people.
func (w *featureBuilder) findPreviews() []int {
	o := w.o
	numbers := make(map[kind]int, 16)
	previews := make([]int, len(o.spans))
	kinds := make([]kind, len(o.spans))
	for i := range o.spans {
		s := &o.spans[i]
		switch s.node.DataAtom {
		case atom.Div, atom.Li, atom.Article, atom.Section, atom.A, atom.Figure:
		default:
			continue
		}
		in := w.sums[s.end].minus(&w.sums[s.first])
		if in.blocks == 0 || in.blocks > maxPreviewBlocks || in.links == 0 || 3*in.links < in.chars {
			continue
		}
		kinds[i] = o.kindOf(i, &w.names)
		numbers[kinds[i]]++
	}
	for i := range o.spans {
		if n := numbers[kinds[i]]; n >= minPreviews && kinds[i] != (kind{}) {
			previews[i] = n
		} else if up := o.spans[i].parent; up >= 0 {
			previews[i] = previews[up]
		}
	}
	return previews
}

// regionFeatures computes the features of a block's region.
func (w *featureBuilder) regionFeatures(i int) (out [regionFeatureCount]float32) {
	r, o := &w.regions, w.o
	at := o.blocks[i].span
	out[0] = w.logOf(r.previews[at])
	if r.main == nil {
		return out
	}
	first, last := r.main.first, r.main.last
	out[1] = flag(w.kindOf[i] == r.main)
	switch {
	case i < first:
		out[2] = w.signedLog(i - first)
	case i > last:
		out[2] = w.signedLog(i - last)
	}
	const maxSteps = 8
	up, down := 0, 0
	for ; up < maxSteps && o.spans[at].parent >= 0 && (o.spans[at].first > first || o.spans[at].end <= last); up++ {
		at = o.spans[at].parent
	}
	for in := r.container; in >= 0 && in != at && down < maxSteps; down++ {
		in = o.spans[in].parent
	}
	out[3], out[4] = float32(up), float32(down)
	out[5] = flag(o.spans[o.blocks[i].span].parent == r.container || o.blocks[i].span == r.container)
	if i > first {
		out[6] = w.logOf(r.marks[i+1] - r.marks[first])
	} else {
		out[6] = -w.logOf(r.marks[first] - r.marks[i])
	}
	out[7] = share(r.main.prose, w.sums[len(w.sums)-1].prose+1)
	return out
}
