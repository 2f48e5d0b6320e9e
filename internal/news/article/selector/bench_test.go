package selector_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/eval"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
	"dateline/internal/news/article/selector"
)

// pageSet returns the pages of ARTICLES_DIR/en, or of the invented site if that is not
// set.
func pageSet(b *testing.B) (set string, pages []extract.Page) {
	b.Helper()
	if dir := os.Getenv("ARTICLES_DIR"); dir != "" {
		list, err := score.LoadDataset(filepath.Join(dir, "en"))
		require.NoError(b, err)
		for _, p := range list {
			pages = append(pages, extract.Page{HTML: p.HTML, URL: p.URL})
		}
		return "en", pages
	}
	s := newSite()
	for range 60 {
		pages = append(pages, s.next().page)
	}
	return "invented", pages
}

// BenchmarkExtract prints how many pages one core reads per second: without knowing the
// site, and with selectors, each compared with go-trafilatura with its fallback in the
// same run. The three alternate every few pages; each begins with an empty heap, so
// that none pays for the garbage of another. The last line is one JSON object.
func BenchmarkExtract(b *testing.B) {
	set, pages := pageSet(b)
	var known []*selector.Selector
	var usable []extract.Page
	for _, p := range pages {
		c, err := selector.Propose(b.Context(), p)
		if err != nil {
			continue
		}
		s, err := selector.Compile(c)
		require.NoError(b, err)
		known, usable = append(known, s), append(usable, p)
	}
	require.Greater(b, 10*len(usable), 8*len(pages), "selectors are found for most pages")
	baseline, err := eval.StartBaseline(context.WithoutCancel(b.Context())) // it ends in Close
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, baseline.Close()) })
	var base, generic, learned time.Duration
	n := 0
	for b.Loop() {
		part := usable[n%len(usable) : min(n%len(usable)+turn, len(usable))]
		first := n % len(usable)
		n += len(part)
		_, spent, err := baseline.Extract(asked(part))
		require.NoError(b, err)
		base += spent
		generic += eval.MeasureCPU(func() {
			for _, p := range part {
				_, err := extract.Extract(b.Context(), p)
				require.NoError(b, err)
			}
		})
		learned += eval.MeasureCPU(func() {
			for i, p := range part {
				_, _, err := known[first+i].Extract(b.Context(), p)
				require.NoError(b, err)
			}
		})
	}
	perSecond := func(d time.Duration) float64 { return float64(n) / d.Seconds() }
	b.ReportMetric(perSecond(generic), "generic-pages/s")
	b.ReportMetric(perSecond(learned), "learned-pages/s")
	b.ReportMetric(perSecond(base), "trafilatura-pages/s")
	b.ReportMetric(base.Seconds()/generic.Seconds(), "generic-ratio")
	b.ReportMetric(base.Seconds()/learned.Seconds(), "learned-ratio")
	line, err := json.Marshal(map[string]any{
		"set": set, "pages": n, "baseline": "go-trafilatura with fallback",
		"baseline_pages_per_s": round(perSecond(base)),
		"pages_per_s":          round(perSecond(generic)), "ratio": round(base.Seconds() / generic.Seconds()),
		"learned_pages_per_s": round(perSecond(learned)), "learned_ratio": round(base.Seconds() / learned.Seconds()),
	})
	require.NoError(b, err)
	b.Cleanup(func() { fmt.Fprintln(os.Stderr, string(line)) })
}

// turn is the number of pages that one of the three reads in a row.
const turn = 20

func asked(pages []extract.Page) []score.Page {
	out := make([]score.Page, len(pages))
	for i, p := range pages {
		out[i].HTML, out[i].URL = p.HTML, p.URL
	}
	return out
}

func round(f float64) float64 { return float64(int(f*100+0.5)) / 100 }
