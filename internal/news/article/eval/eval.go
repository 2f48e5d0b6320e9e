// Package eval measures the quality and speed of article extraction on annotated
// datasets (package score), compared with go-trafilatura in the same run.
package eval

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// FindDatasets returns the datasets in a folder: the folder itself, or those up to two
// levels below it. others are folders that contain none.
func FindDatasets(dir string) (sets, others []string, err error) {
	if score.IsDataset(dir) {
		return []string{dir}, nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			continue
		}
		if score.IsDataset(path) {
			sets = append(sets, path)
			continue
		}
		inner, _ := filepath.Glob(filepath.Join(path, "*"))
		before := len(sets)
		for _, p := range inner {
			if score.IsDataset(p) {
				sets = append(sets, p)
			}
		}
		if len(sets) == before {
			others = append(others, path)
		}
	}
	if len(sets) == 0 {
		return nil, others, fmt.Errorf("neither %s nor its subfolders contain a dataset: see "+
			"docs/how-to/evaluate-extraction.md", dir)
	}
	return sets, others, nil
}

// Options select what is measured.
type Options struct {
	Half      score.Half // empty: both
	Type      string     // of pages; empty: all
	Baseline  *Baseline  // nil: skip go-trafilatura, which takes most of the time
	NoLearned bool       // skip learned selectors
	Worst     int        // number of the worst pages to return
	Examples  int        // number of pages with their texts to return, the worst first
}

// Page is the result of one page of the inspected half.
type Page struct {
	Dataset, Key, URL, Type string
	F1, BaselineF1          float64
	Truth                   score.GroundTruth
	HTML                    []byte
	Own, Baseline           Extracted
}

// Result compares the extractors on a dataset.
type Result struct {
	Dataset string
	Groups  []Group // all pages, then each half and type
	Worst   []Page  // of the inspected half, the worst first
}

// Merge adds another dataset.
func (r *Result) Merge(o Result, keep int) {
	for _, g := range o.Groups {
		r.group(g.Half, g.Type).merge(g)
	}
	r.Worst = append(r.Worst, o.Worst...)
	r.sortWorst(keep)
}

// All returns the totals of all pages.
func (r *Result) All() *Group { return r.group("", "") }

// group returns the group of a half and type of pages.
func (r *Result) group(h score.Half, kind string) *Group {
	for i := range r.Groups {
		if r.Groups[i].Half == h && r.Groups[i].Type == kind {
			return &r.Groups[i]
		}
	}
	r.Groups = append(r.Groups, Group{Half: h, Type: kind, OwnSites: Sites{}, BaselineSites: Sites{}})
	return &r.Groups[len(r.Groups)-1]
}

func (r *Result) sortWorst(keep int) {
	slices.SortStableFunc(r.Worst, func(a, b Page) int { return cmp.Compare(a.F1, b.F1) })
	r.Worst = r.Worst[:min(len(r.Worst), keep)]
}

// Extracted is what an extractor returns for a page.
type Extracted struct {
	Text, Title, Section, Image string
	Authors                     []string
	Published                   time.Time
	DateOnly                    bool
}

// batchSize is the number of pages that one extractor processes before the other.
const batchSize = 20

// Evaluate measures a dataset. The extractors alternate in batches, each after a garbage
// collection, so that neither pays for the other and load on the machine affects both
// equally. progress is called after each batch.
func Evaluate(ctx context.Context, dir string, o Options, progress func(pages, total int)) (Result, error) {
	r := Result{Dataset: filepath.Base(dir)}
	pages, err := score.LoadDataset(dir)
	if err != nil {
		return r, err
	}
	pages = slices.DeleteFunc(pages, func(p score.Page) bool {
		return o.Half != "" && p.Half() != o.Half || o.Type != "" && p.Type != o.Type
	})
	r.All()
	done := 0
	for part := range slices.Chunk(pages, batchSize) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		own, base := make([]Extracted, len(part)), make([]Extracted, len(part))
		spent := MeasureCPU(func() {
			for i, p := range part {
				own[i] = extractOwn(ctx, p)
			}
		})
		var baseSpent time.Duration
		if o.Baseline != nil {
			if base, baseSpent, err = o.Baseline.Extract(part); err != nil {
				return r, err
			}
		}
		all := r.All()
		all.Own.cpuTime, all.Baseline.cpuTime = all.Own.cpuTime+spent, all.Baseline.cpuTime+baseSpent
		for i, p := range part {
			r.add(p, own[i], base[i], o)
		}
		done += len(part)
		progress(done, len(pages))
	}
	if !o.NoLearned {
		r.measureLearned(ctx, pages)
	}
	r.sortWorst(max(o.Worst, o.Examples))
	return r, nil
}

// add adds a page to its groups.
func (r *Result) add(p score.Page, own, base Extracted, o Options) {
	mine, theirs := compare(p, own), Metrics{}
	if o.Baseline != nil {
		theirs = compare(p, base)
	}
	for _, g := range r.groupsOf(p) {
		r.Groups[g].Own.merge(mine)
		r.Groups[g].Baseline.merge(theirs)
		r.Groups[g].OwnSites.add(p, mine)
		if o.Baseline != nil {
			r.Groups[g].BaselineSites.add(p, theirs)
		}
	}
	if p.Half() == score.Inspect && (o.Worst > 0 || o.Examples > 0) {
		r.Worst = append(r.Worst, Page{
			Dataset: r.Dataset, Key: p.Key, URL: p.URL, Type: p.Type, F1: mine.quality(),
			BaselineF1: theirs.quality(),
			Truth:      p.GroundTruth, HTML: p.HTML, Own: own, Baseline: base,
		})
	}
}

// groupsOf returns the indexes of the groups of a page.
func (r *Result) groupsOf(p score.Page) []int {
	out := []int{0}
	for _, kind := range slices.Compact([]string{"", p.Type}) {
		r.group(p.Half(), kind)
		out = append(out, slices.IndexFunc(r.Groups, func(g Group) bool {
			return g.Half == p.Half() && g.Type == kind
		}))
	}
	return out
}

// MeasureCPU returns the CPU time of a call, of all threads, after a garbage collection.
func MeasureCPU(f func()) time.Duration {
	runtime.GC()
	start := processCPUTime()
	f()
	return processCPUTime() - start
}

func extractOwn(ctx context.Context, p score.Page) Extracted {
	a, err := extract.Extract(ctx, extract.Page{HTML: p.HTML, URL: p.URL})
	if err != nil {
		return Extracted{}
	}
	return extractedOf(a)
}

// extractedOf returns what is compared of an article. Annotated bodies of live blogs contain
// their entries.
func extractedOf(a *article.Article) Extracted {
	return Extracted{
		article.FullText(a.Text, a.Live), a.Title, a.Section, a.Image, a.Authors, a.Published, a.DateOnly,
	}
}
