// Package eval measures how well and how fast articles are read from sets of
// pages that people have read (package score), beside go-trafilatura in the same
// run.
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

// groundTruthFile is what makes a folder a set.
const groundTruthFile = "ground-truth.json"

// FindDatasets finds the sets of a folder: itself, or the folders in it. others are
// folders in it that are none.
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
		return nil, others, fmt.Errorf("neither %s nor a folder in it has a %s: see docs/how-to/evaluate-extraction.md", dir, groundTruthFile)
	}
	return sets, others, nil
}

func isDataset(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, groundTruthFile))
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

// Metrics is how one reader did on a set.
type Metrics struct {
	Body    score.Total
	Empty   int   // pages of which it gives no text
	Title   Ratio // that it has exactly
	Author  Ratio // all authors, and nobody else
	Date    Ratio // the day of publication
	Minute  Ratio // and its minute, where people wrote that down
	cpuTime time.Duration
}

// Ratio is how many of the pages that people wrote something down of are right.
type Ratio struct{ Right, Total int }

func (s *Ratio) add(right bool) {
	s.Total++
	if right {
		s.Right++
	}
}

func (s *Ratio) merge(o Ratio) { s.Right, s.Total = s.Right+o.Right, s.Total+o.Total }

// Value is the share; nil: nothing was written down.
func (s Ratio) Value() *float64 {
	if s.Total == 0 {
		return nil
	}
	v := float64(s.Right) / float64(s.Total)
	return &v
}

// PerSecond is how many pages were read in a second of one processor's time.
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

// Result is how both did on a set.
type Result struct {
	Dataset        string
	Own, Baseline  Metrics
	BaselineFilled int // pages that are empty for us and not for the baseline
}

// Merge adds another set.
func (r *Result) Merge(o Result) {
	r.Own.merge(o.Own)
	r.Baseline.merge(o.Baseline)
	r.BaselineFilled += o.BaselineFilled
}

// extracted is what a reader gives of a page.
type extracted struct {
	text, title string
	authors     []string
	published   time.Time
	dateOnly    bool
}

// batchSize is how many pages one reader reads before the other has its turn.
const batchSize = 20

// Evaluate measures a set. The two take turns, each from an empty heap, so that none
// pays for what the other left, and what else the machine does counts for
// neither. tell is called after each turn.
func Evaluate(ctx context.Context, dir string, tell func(pages, of int)) (Result, error) {
	r := Result{Dataset: filepath.Base(dir)}
	pages, err := score.LoadDataset(dir)
	if err != nil {
		return r, err
	}
	for part := range slices.Chunk(pages, batchSize) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		own, theirs := make([]extracted, len(part)), make([]extracted, len(part))
		r.Own.cpuTime += measureCPU(func() {
			for i, p := range part {
				own[i] = extractOwn(ctx, p)
			}
		})
		r.Baseline.cpuTime += measureCPU(func() {
			for i, p := range part {
				theirs[i] = extractBaseline(p)
			}
		})
		for i, p := range part {
			r.Own.addPage(p, own[i])
			r.Baseline.addPage(p, theirs[i])
			if own[i].text == "" && theirs[i].text != "" {
				r.BaselineFilled++
			}
		}
		tell(r.Own.Body.Pages, len(pages))
	}
	return r, nil
}

// measureCPU is the processor time of a call, of all threads.
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

// sameDay says whether a reader names the day of the publication: of the place
// where it was published, or, where it knows the time of day, of any.
func sameDay(truth time.Time, got time.Time) bool {
	if got.IsZero() {
		return false
	}
	begin := time.Date(truth.Year(), truth.Month(), truth.Day(), 0, 0, 0, 0, truth.Location())
	return got.Format(time.DateOnly) == truth.Format(time.DateOnly) || !got.Before(begin) && got.Before(begin.AddDate(0, 0, 1))
}

// parseTruthTime reads a time of the truth: RFC 3339, or a day.
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
