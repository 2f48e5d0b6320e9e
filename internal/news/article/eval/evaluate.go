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

// truthFile is what makes a folder a set.
const truthFile = "ground-truth.json"

// Sets finds the sets of a folder: itself, or the folders in it. others are
// folders in it that are none.
func Sets(dir string) (sets, others []string, err error) {
	if isSet(dir) {
		return []string{dir}, nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		switch path := filepath.Join(dir, e.Name()); {
		case isSet(path):
			sets = append(sets, path)
		case e.IsDir():
			others = append(others, path)
		}
	}
	if len(sets) == 0 {
		return nil, others, fmt.Errorf("neither %s nor a folder in it has a %s: see docs/how-to/evaluate-extraction.md", dir, truthFile)
	}
	return sets, others, nil
}

func isSet(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, truthFile))
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

// Reading is how one reader did on a set.
type Reading struct {
	Body   score.Total
	Empty  int   // pages of which it gives no text
	Title  Share // that it has exactly
	Author Share // all authors, and nobody else
	Date   Share // the day of publication
	Minute Share // and its minute, where people wrote that down
	took   time.Duration
}

// Share is how many of the pages that people wrote something down of are right.
type Share struct{ Right, Of int }

func (s *Share) add(right bool) {
	s.Of++
	if right {
		s.Right++
	}
}

func (s *Share) join(o Share) { s.Right, s.Of = s.Right+o.Right, s.Of+o.Of }

// Value is the share; nil: nothing was written down.
func (s Share) Value() *float64 {
	if s.Of == 0 {
		return nil
	}
	v := float64(s.Right) / float64(s.Of)
	return &v
}

// PerSecond is how many pages were read in a second of one processor's time.
func (r Reading) PerSecond() float64 {
	if r.took <= 0 {
		return 0
	}
	return float64(r.Body.Pages) / r.took.Seconds()
}

func (r *Reading) join(o Reading) {
	r.Body.Join(o.Body)
	r.Empty, r.took = r.Empty+o.Empty, r.took+o.took
	r.Title.join(o.Title)
	r.Author.join(o.Author)
	r.Date.join(o.Date)
	r.Minute.join(o.Minute)
}

// Result is how both did on a set.
type Result struct {
	Set            string
	Own, Baseline  Reading
	BaselineFilled int // pages that are empty for us and not for the baseline
}

// Join adds another set.
func (r *Result) Join(o Result) {
	r.Own.join(o.Own)
	r.Baseline.join(o.Baseline)
	r.BaselineFilled += o.BaselineFilled
}

// taken is what a reader gives of a page.
type taken struct {
	text, title string
	authors     []string
	published   time.Time
	dateOnly    bool
}

// turn is how many pages one reader reads before the other has its turn.
const turn = 20

// Set measures a set. The two take turns, each from an empty heap, so that none
// pays for what the other left, and what else the machine does counts for
// neither. tell is called after each turn.
func Set(ctx context.Context, dir string, tell func(pages, of int)) (Result, error) {
	r := Result{Set: filepath.Base(dir)}
	pages, err := score.LoadSet(dir)
	if err != nil {
		return r, err
	}
	for part := range slices.Chunk(pages, turn) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		own, theirs := make([]taken, len(part)), make([]taken, len(part))
		r.Own.took += took(func() {
			for i, p := range part {
				own[i] = read(ctx, p)
			}
		})
		r.Baseline.took += took(func() {
			for i, p := range part {
				theirs[i] = baseline(p)
			}
		})
		for i, p := range part {
			r.Own.count(p, own[i])
			r.Baseline.count(p, theirs[i])
			if own[i].text == "" && theirs[i].text != "" {
				r.BaselineFilled++
			}
		}
		tell(r.Own.Body.Pages, len(pages))
	}
	return r, nil
}

// took is the processor time of a call, of all threads.
func took(f func()) time.Duration {
	runtime.GC()
	start := processorTime()
	f()
	return processorTime() - start
}

func read(ctx context.Context, p score.Page) taken {
	a, err := extract.Extract(ctx, extract.Page{HTML: p.HTML, URL: p.URL})
	if err != nil {
		return taken{}
	}
	return taken{a.Text, a.Title, a.Authors, a.Published, a.DateOnly}
}

func baseline(p score.Page) taken {
	doc, err := html.Parse(bytes.NewReader(p.HTML))
	if err != nil {
		return taken{}
	}
	r, err := trafilatura.ExtractDocument(doc, trafilatura.Options{EnableFallback: true})
	if err != nil || r == nil {
		return taken{}
	}
	return taken{r.ContentText, r.Metadata.Title, strings.Split(r.Metadata.Author, "; "), r.Metadata.Date, true}
}

func (r *Reading) count(p score.Page, got taken) {
	r.Body.Add(score.CompareBody(p.Body, got.text))
	if got.text == "" {
		r.Empty++
	}
	if p.Title != "" {
		r.Title.add(plain(got.title) == plain(p.Title))
	}
	if len(p.Authors) > 0 {
		r.Author.add(slices.Equal(names(got.authors), names(p.Authors)))
	}
	at, clock, ok := when(p.Published)
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

// when reads a time of the truth: RFC 3339, or a day.
func when(truth string) (at time.Time, clock, ok bool) {
	if at, err := time.Parse(time.RFC3339, truth); err == nil {
		return at, true, true
	}
	at, err := time.Parse(time.DateOnly, truth)
	return at, false, err == nil
}

func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

func names(all []string) []string {
	out := make([]string, 0, len(all))
	for _, a := range all {
		if a = plain(a); a != "" {
			out = append(out, a)
		}
	}
	slices.Sort(out)
	return out
}
