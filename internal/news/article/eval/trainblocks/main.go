// Command trainblocks trains the block classifier of package extract by gradient boosting
// on the inspected half of annotated datasets (and all of en, on which the rules were
// written), and validates it on sites that it was not trained on.
//
//	go run ./internal/news/article/eval/trainblocks -data DIR -out internal/news/article/extract/blockmodel.go
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dateline/internal/news/article/eval"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// trainingPage is a page with its labeled blocks.
type trainingPage struct {
	set     string
	fold    int
	truth   score.GroundTruth
	page    *extract.TrainingPage
	samples []sample  // without features, in the order of the blocks; weight 0: unknown
	odds    []float64 // of a model that was trained on other sites
}

func main() {
	log.SetFlags(0)
	data := flag.String("data", "", "folder with datasets")
	out := flag.String("out", "", "Go file to write; empty: only validate")
	folds := flag.Int("folds", 4, "groups of sites; each is judged by models that were trained on the others")
	s := settings{seed: 1}
	flag.IntVar(&s.trees, "trees", 200, "number of trees")
	flag.IntVar(&s.leaves, "leaves", 16, "leaves of a tree")
	flag.Float64Var(&s.rate, "rate", 0.05, "learning rate")
	flag.Float64Var(&s.minWeight, "min-weight", 0.4, "minimum weight of a leaf")
	flag.Float64Var(&s.rows, "rows", 0.5, "share of the blocks that one tree uses")
	flag.Float64Var(&s.columns, "columns", 0.25, "share of the features that one tree uses")
	flag.Float64Var(&s.lambda, "lambda", 0.1, "shrinks the values of small leaves")
	flag.Parse()
	pages, err := load(context.Background(), *data)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%d pages", len(pages))
	if *folds > 0 {
		judge(pages, *folds, s)
		validate(pages)
	}
	if *out != "" {
		if err := write(*out, train(samplesOf(pages, -1, 1), s)); err != nil {
			log.Fatal(err)
		}
	}
}

// judge computes the results of models that were trained on other sites.
func judge(pages []trainingPage, folds int, s settings) {
	for fold := range folds {
		m := train(samplesOf(pages, fold, folds), s)
		for i := range pages {
			p := &pages[i]
			if p.fold%folds != fold {
				continue
			}
			p.odds = make([]float64, len(p.page.Blocks))
			for k, b := range p.page.Blocks {
				p.odds[k] = m.logOdds(b.Features)
				if b.Excluded {
					p.odds[k] = math.Inf(-1)
				}
			}
		}
	}
}

// load loads the inspected half of all datasets and labels their blocks.
func load(ctx context.Context, dir string) ([]trainingPage, error) {
	sets, _, err := eval.FindDatasets(dir)
	if err != nil {
		return nil, err
	}
	var out []trainingPage
	for _, set := range sets {
		pages, err := score.LoadDataset(set)
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			if p.Half() != score.Inspect && filepath.Base(set) != "en" { // the rules were written on all pages of en
				continue
			}
			page, err := extract.LoadTrainingPage(ctx, extract.Page{HTML: p.HTML, URL: p.URL})
			if err != nil {
				continue
			}
			sum := sha256.Sum256([]byte(p.Domain()))
			t := trainingPage{
				set: set[strings.LastIndexByte(set, '/')+1:], fold: int(sum[1]), truth: p.GroundTruth,
				page: page,
			}
			t.label()
			out = append(out, t)
		}
	}
	return out, nil
}

// samplesOf returns the samples of the pages outside a fold.
func samplesOf(pages []trainingPage, fold, folds int) []sample {
	var out []sample
	for i := range pages {
		p := &pages[i]
		if fold >= 0 && p.fold%folds == fold {
			continue
		}
		for k, x := range p.samples {
			if x.weight > 0 {
				x.features = p.page.Blocks[k].Features
				out = append(out, x)
			}
		}
	}
	return out
}

// totals are sums over pages.
type totals struct {
	rules, model, best   float64 // F1 of the words
	rulesText, modelText score.Strings
	n                    int
}

// minClassifiedBlocks is the number of blocks of a page below which the rules decide.
const minClassifiedBlocks = 30

// validate prints the scores of pages of sites that the models were not trained on.
func validate(pages []trainingPage) {
	groups := map[string]*totals{}
	for i := range pages {
		p := &pages[i]
		odds := p.odds
		best, rules, texts := make([]bool, len(odds)), make([]bool, len(odds)), make([]string, len(odds))
		kinds, units := make([]int, len(odds)), make([]int, len(odds))
		for k, b := range p.page.Blocks {
			best[k], rules[k], texts[k], kinds[k], units[k] = p.samples[k].label > 0, b.Selected, b.Text, b.Kind, b.Unit
		}
		chosen := rules
		if len(odds) >= minClassifiedBlocks {
			chosen = extract.SelectLikely(odds, texts, kinds, units, p.page.IsDiscussion)
		}
		for _, key := range []string{p.set + " " + p.truth.Type, p.set + " total"} {
			g := groups[key]
			if g == nil {
				g = &totals{}
				groups[key] = g
			}
			g.n++
			if p.truth.Body != "" {
				g.rules += score.WordF1(p.truth.Body, join(texts, rules))
				g.best += score.WordF1(p.truth.Body, join(texts, best))
				g.model += score.WordF1(p.truth.Body, join(texts, chosen))
			}
			g.rulesText.Add(score.CompareStrings(p.truth.With, p.truth.Without, join(texts, rules)))
			g.modelText.Add(score.CompareStrings(p.truth.With, p.truth.Without, join(texts, chosen)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		n := float64(g.n)
		log.Printf("%-24s %4d pages  word F1: rules %.4f, model %.4f, labels %.4f  strings: rules %.4f, model %.4f",
			key, g.n, g.rules/n, g.model/n, g.best/n, g.rulesText.F1(), g.modelText.F1())
	}
}

func join(texts []string, in []bool) string {
	var b strings.Builder
	for i, t := range texts {
		if in[i] {
			b.WriteString(t)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// write writes the model as a Go table.
func write(path string, m *model) error {
	f, err := os.Create(path) //nolint:gosec // the path is an argument of the command
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	_, _ = fmt.Fprint(w, "// Code generated by eval/trainblocks. DO NOT EDIT.\n\npackage extract\n")
	writeModel(w, m)
	if err := w.Flush(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// writeModel writes the nodes of all trees: feature (-1: leaf), threshold or value, and
// the distance to the right child; the left child is next.
func writeModel(w io.Writer, m *model) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("\n// blockClassifier gives the log odds that a block belongs to the article.\nvar blockClassifier = "+
		"blockModel{bias: %.4f, nodes: []blockNode{", m.bias)
	var starts []int
	at := 0
	for _, t := range m.trees {
		starts = append(starts, at)
		var emit func(i int) []string
		emit = func(i int) []string {
			n := t[i]
			if n.feature < 0 {
				return []string{fmt.Sprintf("{-1, %.4g, 0}", n.value)}
			}
			left, right := emit(n.left), emit(n.right)
			out := append([]string{fmt.Sprintf("{%d, %.6g, %d}", n.feature, n.threshold, len(left)+1)}, left...)
			return append(out, right...)
		}
		nodes := emit(0)
		at += len(nodes)
		line("\t%s,", strings.Join(nodes, ", "))
	}
	line("}, trees: []int16{")
	for part := range slices.Chunk(starts, 20) {
		line("\t%s,", strings.Trim(strings.ReplaceAll(fmt.Sprint(part), " ", ", "), "[]"))
	}
	line("}}")
}
