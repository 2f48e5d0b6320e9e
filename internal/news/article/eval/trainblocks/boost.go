package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// sample is a block with its label.
type sample struct {
	features []float32
	label    float64
	weight   float64
}

// node is a node of a tree: an inner node, or a leaf with a value.
type node struct {
	feature     int // -1: leaf
	threshold   float32
	left, right int
	value       float64
}

// model is a sum of trees, which gives the log odds of a block.
type model struct {
	bias  float64
	trees [][]node
}

func (m *model) logOdds(f []float32) float64 {
	sum := m.bias
	for _, t := range m.trees {
		i := 0
		for t[i].feature >= 0 {
			if f[t[i].feature] <= t[i].threshold {
				i = t[i].left
			} else {
				i = t[i].right
			}
		}
		sum += t[i].value
	}
	return sum
}

// settings of the training.
type settings struct {
	trees, leaves int
	rate          float64
	minWeight     float64 // of a leaf
	lambda        float64 // shrinks the values of small leaves
	rows, columns float64 // shares used by one tree
	seed          uint64
}

const maxBins = 48

// train fits trees by gradient boosting with logistic loss.
func train(all []sample, s settings) *model {
	random := rand.New(rand.NewPCG(s.seed, 7)) //nolint:gosec // reproducible on purpose
	n, width := len(all), len(all[0].features)
	edges, bins := quantize(all, width)
	positive, total := 0.0, 0.0
	for _, x := range all {
		positive += x.label * x.weight
		total += x.weight
	}
	m := &model{bias: math.Log(positive / (total - positive))}
	sum := make([]float64, n)
	for i := range sum {
		sum[i] = m.bias
	}
	gradient, hessian := make([]float64, n), make([]float64, n)
	for range s.trees {
		for i, x := range all {
			p := 1 / (1 + math.Exp(-sum[i]))
			gradient[i] = (x.label - p) * x.weight
			hessian[i] = p * (1 - p) * x.weight
		}
		var rows []int32
		for i := range n {
			if random.Float64() < s.rows {
				rows = append(rows, int32(i)) //nolint:gosec // far below the limit
			}
		}
		var columns []int
		for c := range width {
			if random.Float64() < s.columns && len(edges[c]) > 0 {
				columns = append(columns, c)
			}
		}
		t := growTree(bins, edges, rows, columns, gradient, hessian, s)
		m.trees = append(m.trees, t)
		for i := range n {
			k := 0
			for t[k].feature >= 0 {
				if all[i].features[t[k].feature] <= t[k].threshold {
					k = t[k].left
				} else {
					k = t[k].right
				}
			}
			sum[i] += t[k].value
		}
	}
	return m
}

// quantize replaces values by bins of about the same size.
func quantize(all []sample, width int) (edges [][]float32, bins [][]uint8) {
	edges, bins = make([][]float32, width), make([][]uint8, width)
	values := make([]float32, 0, len(all))
	for c := range width {
		values = values[:0]
		for i := 0; i < len(all); i += 1 + len(all)/20000 {
			values = append(values, all[i].features[c])
		}
		slices.Sort(values)
		var e []float32
		for k := 1; k < maxBins; k++ {
			v := values[k*(len(values)-1)/maxBins]
			if (len(e) == 0 || v > e[len(e)-1]) && v < values[len(values)-1] {
				e = append(e, v)
			}
		}
		edges[c] = e
		bins[c] = make([]uint8, len(all))
		for i := range all {
			at, _ := slices.BinarySearch(e, all[i].features[c])
			bins[c][i] = uint8(at) //nolint:gosec // at most maxBins
		}
	}
	return edges, bins
}

// leaf is a leaf that may be split.
type leaf struct {
	node    int
	rows    []int32
	g, h    float64
	gain    float64
	feature int
	bin     int
	gLeft   float64
	hLeft   float64
}

// growTree splits the leaf with the highest gain until the tree has enough leaves.
func growTree(
	bins [][]uint8, edges [][]float32, rows []int32, columns []int, gradient, hessian []float64, s settings,
) []node {
	root := leaf{rows: rows}
	for _, i := range rows {
		root.g += gradient[i]
		root.h += hessian[i]
	}
	tree := []node{{feature: -1}}
	bestSplit(&root, bins, edges, columns, gradient, hessian, s)
	leaves := []leaf{root}
	for len(leaves) < s.leaves {
		at := 0
		for i := range leaves {
			if leaves[i].gain > leaves[at].gain {
				at = i
			}
		}
		l := leaves[at]
		if l.gain <= 1e-6 {
			break
		}
		left, right := leaf{node: len(tree), g: l.gLeft, h: l.hLeft}, leaf{
			node: len(tree) + 1, g: l.g - l.gLeft, h: l.h - l.hLeft,
		}
		for _, i := range l.rows {
			if int(bins[l.feature][i]) <= l.bin {
				left.rows = append(left.rows, i)
			} else {
				right.rows = append(right.rows, i)
			}
		}
		tree[l.node] = node{feature: l.feature, threshold: edges[l.feature][l.bin], left: left.node, right: right.node}
		tree = append(tree, node{feature: -1}, node{feature: -1})
		bestSplit(&left, bins, edges, columns, gradient, hessian, s)
		bestSplit(&right, bins, edges, columns, gradient, hessian, s)
		leaves[at] = left
		leaves = append(leaves, right)
	}
	for _, l := range leaves {
		tree[l.node].value = s.rate * l.g / (l.h + s.lambda)
	}
	return tree
}

func bestSplit(l *leaf, bins [][]uint8, edges [][]float32, columns []int, gradient, hessian []float64, s settings) {
	parent := l.g * l.g / (l.h + s.lambda)
	var g, h [maxBins + 1]float64
	for _, c := range columns {
		clear(g[:])
		clear(h[:])
		b := bins[c]
		for _, i := range l.rows {
			g[b[i]] += gradient[i]
			h[b[i]] += hessian[i]
		}
		gl, hl := 0.0, 0.0
		for k := range edges[c] {
			gl += g[k]
			hl += h[k]
			if hl < s.minWeight || l.h-hl < s.minWeight {
				continue
			}
			gr, hr := l.g-gl, l.h-hl
			if gain := gl*gl/(hl+s.lambda) + gr*gr/(hr+s.lambda) - parent; gain > l.gain {
				l.gain, l.feature, l.bin, l.gLeft, l.hLeft = gain, c, k, gl, hl
			}
		}
	}
}
