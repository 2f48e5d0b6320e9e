// Package eval measures the quality and speed of article extraction on annotated
// datasets (package score), compared with go-trafilatura in the same run.
package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	trafilatura "github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// groundTruthFile marks a folder as a dataset.
const groundTruthFile = "ground-truth.json"

// FindDatasets returns the datasets in a folder: the folder itself, or its subfolders.
// others are subfolders that are not datasets.
func FindDatasets(dir string) (sets, others []string, err error) {
	if isDataset(dir) {
		return []string{dir}, nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		switch path := filepath.Join(dir, e.Name()); {
		case isDataset(path):
			sets = append(sets, path)
		case e.IsDir():
			others = append(others, path)
		}
	}
	if len(sets) == 0 {
		return nil, others, fmt.Errorf("neither %s nor its subfolders contain a %s: see docs/how-to/evaluate-extraction.md", dir, groundTruthFile)
	}
	return sets, others, nil
}

func isDataset(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, groundTruthFile))
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

// Metrics are the results of one extractor on a dataset.
type Metrics struct {
	Body    score.Total
	Empty   int   // pages without extracted text
	Title   Ratio // exact matches
	Author  Ratio // exactly the right authors
	Date    Ratio // day of publication
	Minute  Ratio // minute of publication, if annotated
	cpuTime time.Duration
}

// Ratio counts correct pages among those with an annotation.
type Ratio struct{ Right, Total int }

func (s *Ratio) add(right bool) {
	s.Total++
	if right {
		s.Right++
	}
}

func (s *Ratio) merge(o Ratio) { s.Right, s.Total = s.Right+o.Right, s.Total+o.Total }

// Value returns the ratio, or nil without annotations.
func (s Ratio) Value() *float64 {
	if s.Total == 0 {
		return nil
	}
	v := float64(s.Right) / float64(s.Total)
	return &v
}

// PerSecond is the number of pages per second of CPU time.
func (r Metrics) PerSecond() float64 {
	if r.cpuTime <= 0 {
		return 0
	}
	return float64(r.Body.Pages) / r.cpuTime.Seconds()
}

func (r *Metrics) merge(o Metrics) {
	r.Body.Merge(o.Body)
	r.Empty, r.cpuTime = r.Empty+o.Empty, r.cpuTime+o.cpuTime
	r.Title.merge(o.Title)
	r.Author.merge(o.Author)
	r.Date.merge(o.Date)
	r.Minute.merge(o.Minute)
}

// Result compares both extractors on a dataset.
type Result struct {
	Dataset        string
	Own, Baseline  Metrics
	BaselineFilled int // pages without text that the baseline extracts
}

// Merge adds another dataset.
func (r *Result) Merge(o Result) {
	r.Own.merge(o.Own)
	r.Baseline.merge(o.Baseline)
	r.BaselineFilled += o.BaselineFilled
}

// extracted is what an extractor returns for a page.
type extracted struct {
	text, title string
	authors     []string
	published   time.Time
	dateOnly    bool
}

// batchSize is the number of pages that one extractor processes before the other.
const batchSize = 20

// Evaluate measures a dataset. The extractors alternate in batches, each after a garbage
// collection, so that neither pays for the other and load on the machine affects both
// equally. progress is called after each batch.
func Evaluate(ctx context.Context, dir string, progress func(pages, total int)) (Result, error) {
	r := Result{Dataset: filepath.Base(dir)}
	pages, err := score.LoadDataset(dir)
	if err != nil {
		return r, err
	}
	for part := range slices.Chunk(pages, batchSize) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		own, base := make([]extracted, len(part)), make([]extracted, len(part))
		r.Own.cpuTime += measureCPU(func() {
			for i, p := range part {
				own[i] = extractOwn(ctx, p)
			}
		})
		r.Baseline.cpuTime += measureCPU(func() {
			for i, p := range part {
				base[i] = extractBaseline(p)
			}
		})
		for i, p := range part {
			r.Own.addPage(p, own[i])
			r.Baseline.addPage(p, base[i])
			if own[i].text == "" && base[i].text != "" {
				r.BaselineFilled++
			}
		}
		progress(r.Own.Body.Pages, len(pages))
	}
	return r, nil
}

// measureCPU returns the CPU time of a call, of all threads.
func measureCPU(f func()) time.Duration {
	runtime.GC()
	start := processCPUTime()
	f()
	return processCPUTime() - start
}

func extractOwn(ctx context.Context, p score.Page) extracted {
	a, err := extract.Extract(ctx, extract.Page{HTML: p.HTML, URL: p.URL})
	if err != nil {
		return extracted{}
	}
	return extracted{a.Text, a.Title, a.Authors, a.Published, a.DateOnly}
}

func extractBaseline(p score.Page) extracted {
	doc, err := html.Parse(bytes.NewReader(p.HTML))
	if err != nil {
		return extracted{}
	}
	r, err := trafilatura.ExtractDocument(doc, trafilatura.Options{EnableFallback: true})
	if err != nil || r == nil {
		return extracted{}
	}
	return extracted{r.ContentText, r.Metadata.Title, strings.Split(r.Metadata.Author, "; "), r.Metadata.Date, true}
}

func (r *Metrics) addPage(p score.Page, got extracted) {
	r.Body.Add(score.CompareBody(p.Body, got.text))
	if got.text == "" {
		r.Empty++
	}
	if p.Title != "" {
		r.Title.add(normalizeSpace(got.title) == normalizeSpace(p.Title))
	}
	if len(p.Authors) > 0 {
		r.Author.add(slices.Equal(normalizedNames(got.authors), normalizedNames(p.Authors)))
	}
	at, clock, ok := parseTruthTime(p.Published)
	if ok {
		r.Date.add(sameDay(at, got.published))
	}
	if clock {
		r.Minute.add(!got.dateOnly && at.Truncate(time.Minute).Equal(got.published.Truncate(time.Minute)))
	}
}

// sameDay reports whether an extracted time is on the day of publication, at the place
// of publication.
func sameDay(truth time.Time, got time.Time) bool {
	if got.IsZero() {
		return false
	}
	dayStart := time.Date(truth.Year(), truth.Month(), truth.Day(), 0, 0, 0, 0, truth.Location())
	return got.Format(time.DateOnly) == truth.Format(time.DateOnly) || !got.Before(dayStart) && got.Before(dayStart.AddDate(0, 0, 1))
}

// parseTruthTime parses an annotated time: RFC 3339, or a day.
func parseTruthTime(truth string) (at time.Time, clock, ok bool) {
	if at, err := time.Parse(time.RFC3339, truth); err == nil {
		return at, true, true
	}
	at, err := time.Parse(time.DateOnly, truth)
	return at, false, err == nil
}

func normalizeSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

func normalizedNames(all []string) []string {
	out := make([]string, 0, len(all))
	for _, a := range all {
		if a = normalizeSpace(a); a != "" {
			out = append(out, a)
		}
	}
	slices.Sort(out)
	return out
}
