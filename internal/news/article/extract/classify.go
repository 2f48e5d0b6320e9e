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

const (
	// minSureF1 is the expected F1 below which similar blocks are selected together.
	minSureF1 = 0.85
	// minSimilarBlocks is the number of similar blocks from which that is done.
	minSimilarBlocks = 4
)

// SelectLikely selects the blocks of the article by their log odds, so that the expected
// F1 of the words is highest. On a page with an uncertain result, such as a list of
// products, blocks of the same kind are selected together: all prices or none. Repeated
// long texts are selected once.
func SelectLikely(logOdds []float64, texts []string, kinds []int) []bool {
	chosen, f1 := selectLikely(logOdds, texts)
	if f1 < minSureF1 {
		chosen, _ = selectLikely(averageByKind(logOdds, texts, kinds), texts)
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
func selectLikely(logOdds []float64, texts []string) (chosen []bool, f1 float64) {
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
	chosen = make([]bool, len(texts))
	for _, x := range items[:best] {
		chosen[x.block] = true
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
	odds, texts, kinds := make([]float64, len(c.o.blocks)), make([]string, len(c.o.blocks)), make([]int, len(c.o.blocks))
	chrome := c.o.chrome()
	for i := range c.o.blocks {
		texts[i], kinds[i] = c.o.blocks[i].text, w.kindOf[i].first
		if chrome[i] {
			odds[i] = math.Inf(-1)
			continue
		}
		f := w.block(i)
		odds[i] = blockClassifier.logOdds(&f)
		if !c.isSelected[i] && c.o.blocks[i].hints&hintLead != 0 {
			odds[i] -= leadBias
		}
	}
	chosen := SelectLikely(odds, texts, kinds)
	selected := c.selected[:0:0]
	for i, ok := range chosen {
		if ok {
			selected = append(selected, i)
		}
	}
	c.selected, c.isSelected = selected, chosen
	c.at = c.o.commonSpan(c.at, selected)
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
