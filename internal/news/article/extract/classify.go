package extract

import (
	"cmp"
	"math"
	"slices"
)

// blockNode is a node of a decision tree of the block classifier.
type blockNode struct {
	feature int16   // -1: a leaf
	value   float32 // threshold, or value of a leaf
	right   int16   // distance to the child for values above the threshold
}

// blockModel is a sum of decision trees.
type blockModel struct {
	bias  float32
	nodes []blockNode
	trees []int16 // their first nodes
}

// SelectLikely selects the blocks of the article by their log odds, so that the expected
// F1 of the words is highest. Repeated long texts are selected once.
func SelectLikely(logOdds []float64, texts []string) []bool {
	type item struct {
		block int
		p, n  float64
	}
	items := make([]item, 0, len(texts))
	seen := make(map[string]bool, len(texts))
	expected := 0.0
	for i, t := range texts {
		if len(t) > 60 {
			if seen[t] {
				continue
			}
			seen[t] = true
		}
		p, n := 1/(1+math.Exp(-logOdds[i])), float64(weightOf(t))
		items = append(items, item{i, p, n})
		expected += p * n
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(b.p, a.p) })
	best, top := 0, 0.0
	hit, size := 0.0, 0.0
	for k, x := range items {
		hit += x.p * x.n
		size += x.n
		if f := 2 * hit / (size + expected); f > top {
			best, top = k+1, f
		}
	}
	out := make([]bool, len(texts))
	for _, x := range items[:best] {
		out[x.block] = true
	}
	return out
}

// weightOf is the number of words of a text; an ideograph counts as half a word.
func weightOf(s string) int {
	n := countWords(s)
	ideographs := 0
	for _, r := range s {
		if r >= 0x2E80 && isIdeographic(r) {
			ideographs++
		}
	}
	return n + ideographs/2
}

// ruleBias is how much more likely the blocks are that the hand-written rules select,
// and less likely the others, on a page that declares itself an article. It was chosen on
// sites that the classifier was not trained on.
const ruleBias = 0.5

// minClassifiedBlocks is the number of blocks of a page below which the rules decide:
// such a page has little around its text.
const minClassifiedBlocks = 30

// classify selects the blocks of the article with the block classifier. The choice of
// the rules is one of its features.
func (c *choice) classify(d *Document, title string) {
	if c.at < 0 || len(c.o.blocks) < minClassifiedBlocks {
		return
	}
	w := c.o.newFeatureBuilder(d, title, c.at, c.isSelected)
	bias := 0.0
	if d.declaresArticle() {
		bias = ruleBias
	}
	odds, texts := make([]float64, len(c.o.blocks)), make([]string, len(c.o.blocks))
	for i := range c.o.blocks {
		f := w.block(i)
		odds[i] = blockClassifier.logOdds(&f)
		if c.isSelected[i] {
			odds[i] += bias
		} else {
			odds[i] -= bias
		}
		texts[i] = c.o.blocks[i].text
	}
	chosen := SelectLikely(odds, texts)
	selected := c.selected[:0:0]
	for i, ok := range chosen {
		if ok {
			selected = append(selected, i)
		}
	}
	c.selected, c.isSelected = selected, chosen
	c.at = c.o.commonSpan(c.at, selected)
}

// declaresArticle reports whether the metadata of a page say that it is an article.
func (d *Document) declaresArticle() bool {
	return rankOf(d.loadJSONLD().article) >= 3 || d.Meta.first("article:published_time") != ""
}

// logOdds returns the log odds of a block with the given features.
func (m *blockModel) logOdds(f *features) float64 {
	sum := m.bias
	for _, start := range m.trees {
		at := int(start)
		for {
			n := &m.nodes[at]
			if n.feature < 0 {
				sum += n.value
				break
			}
			if f[n.feature] <= n.value {
				at++
			} else {
				at += int(n.right)
			}
		}
	}
	return float64(sum)
}

// commonSpan returns the smallest element that contains an element and all blocks.
func (o *outline) commonSpan(at int, blocks []int) int {
	if len(blocks) == 0 {
		return at
	}
	first, last := blocks[0], blocks[len(blocks)-1]
	for o.spans[at].parent >= 0 && (o.spans[at].first > first || o.spans[at].end <= last) {
		at = o.spans[at].parent
	}
	return at
}
