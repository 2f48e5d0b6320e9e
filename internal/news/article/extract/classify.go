package extract

import (
	"cmp"
	"math"
	"slices"
	"strings"
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

const (
	// minSureF1 is the expected F1 below which similar blocks are selected together.
	minSureF1 = 0.85
	// minSimilarBlocks is the number of similar blocks from which that is done.
	minSimilarBlocks = 4
	// minRepeatedBytes is the length above which a paragraph, list or table that repeats is selected once: pages
	// contain an article again for other screens, and posts for readers without scripts.
	minRepeatedBytes = 60
)

// SelectLikely selects the blocks of the article by their log odds, so that the expected
// F1 of the words is highest. In a discussion, and on a page with an uncertain result, such
// as a list of products, blocks of the same kind are selected together: the names above all
// posts or none, all prices or none.
//
// The blocks of a unit, that is a table or list, are selected together in any case. Repeated long texts and units are
// selected once.
func SelectLikely(logOdds []float64, texts []string, kinds, units []int, isDiscussion bool) []bool {
	chosen, f1 := selectLikely(logOdds, texts, units)
	if isDiscussion || f1 < minSureF1 {
		chosen, _ = selectLikely(averageByKind(logOdds, texts, kinds), texts, units)
	}
	return chosen
}

// averageByKind replaces the log odds of blocks of the same kind by their average, weighted
// by words. Blocks that are excluded stay excluded.
func averageByKind(logOdds []float64, texts []string, kinds []int) []float64 {
	type sums struct {
		odds, words float64
		blocks      int
	}
	all := map[int]sums{}
	for i, k := range kinds {
		if !math.IsInf(logOdds[i], -1) {
			s, n := all[k], float64(weightOf(texts[i]))
			all[k] = sums{s.odds + n*logOdds[i], s.words + n, s.blocks + 1}
		}
	}
	out := slices.Clone(logOdds)
	for i, k := range kinds {
		if s := all[k]; s.blocks >= minSimilarBlocks && !math.IsInf(logOdds[i], -1) {
			out[i] = s.odds / s.words
		}
	}
	return out
}

// selectLikely returns the blocks with the highest expected F1, and that F1.
func selectLikely(logOdds []float64, texts []string, units []int) (chosen []bool, f1 float64) {
	type item struct {
		first, end int // blocks
		p, n       float64
	}
	items := make([]item, 0, len(texts))
	seen := make(map[string]bool, len(texts)/4)
	expected := 0.0
	for i := 0; i < len(texts); {
		x := item{first: i, end: i + 1}
		for units[i] != noUnit && x.end < len(texts) && units[x.end] == units[i] {
			x.end++
		}
		odds := 0.0
		for k := x.first; k < x.end; k++ {
			if n := float64(weightOf(texts[k])); !math.IsInf(logOdds[k], -1) {
				odds += n * logOdds[k]
				x.n += n
			}
		}
		i = x.end
		t := strings.Join(texts[x.first:x.end], "\n")
		if x.n == 0 {
			continue
		}
		if len(t) > minRepeatedBytes {
			if seen[t] {
				continue
			}
			seen[t] = true
		}
		x.p = 1 / (1 + math.Exp(-odds/x.n))
		items = append(items, x)
		expected += x.p * x.n
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
	chosen = make([]bool, len(texts))
	for _, x := range items[:best] {
		for k := x.first; k < x.end; k++ {
			chosen[k] = !math.IsInf(logOdds[k], -1)
		}
	}
	return chosen, top
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

// leadBias is by how much the log odds of a standfirst are lower that the rules leave out:
// it is a field of its own, which only some annotated bodies contain.
const leadBias = 0.5

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
	n := len(c.o.blocks)
	odds, texts, kinds, units := make([]float64, n), make([]string, n), make([]int, n), make([]int, n)
	excluded := c.excluded(d, title)
	var f features
	for i := range c.o.blocks {
		texts[i], kinds[i], units[i] = c.o.blocks[i].text, w.kindOf[i].first, c.o.blocks[i].unit
		if excluded[i] {
			odds[i] = math.Inf(-1)
			continue
		}
		w.block(i, &f)
		odds[i] = blockClassifier.logOdds(&f)
		if !c.isSelected[i] && c.o.blocks[i].hints&hintLead != 0 {
			odds[i] -= leadBias
		}
	}
	chosen := SelectLikely(odds, texts, kinds, units, c.o.isDiscussion)
	c.o.keepEnclosed(chosen, title)
	selected := c.selected[:0:0]
	for i, ok := range chosen {
		if ok {
			selected = append(selected, i)
		}
	}
	if n := len(selected); n > 1 && c.o.isLoneHeading(selected[n-1]) && c.o.blocks[selected[n-2]].isProse() {
		chosen[selected[n-1]] = false // of what follows the text
		selected = selected[:n-1]
	}
	c.selected, c.isSelected = selected, chosen
	c.at = c.o.commonSpan(c.at, selected)
}

// isLoneHeading reports whether a block is a heading that is selected by itself.
func (o *outline) isLoneHeading(i int) bool {
	return isHeading(o.blocks[i].tag) && o.blocks[i].unit == noUnit
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
