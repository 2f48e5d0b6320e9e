package eval_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/eval"
	"dateline/internal/news/article/score"
)

// TestSets_StayAboveTheirThresholds measures the sets of ARTICLES_DIR. They belong to
// their publishers and are not part of the project. The thresholds are slightly below
// the figures of docs/performance-news.md.
func TestSets_StayAboveTheirThresholds(t *testing.T) {
	dir := os.Getenv("ARTICLES_DIR")
	if dir == "" {
		t.Skip("ARTICLES_DIR is not set")
	}
	for _, c := range []struct {
		set                         string
		half                        score.Half
		words, texts, authors, date float64
	}{
		{"en", "", 0.976, 0, 0, 0},
		{"dev/sites", score.Inspect, 0.942, 0, 0.81, 0.99},
		{"dev/sites", score.HeldOut, 0.97, 0, 0.84, 0.99},
		{"dev/wcxb", score.Inspect, 0.91, 0, 0.79, 0.85},
		{"dev/wcxb", score.HeldOut, 0.888, 0, 0.80, 0.85},
		{"dev/snippets", score.Inspect, 0, 0.937, 0.70, 0.92},
		{"dev/snippets", score.HeldOut, 0, 0.926, 0.59, 0.875},
	} {
		t.Run(c.set+" "+string(c.half), func(t *testing.T) {
			path := filepath.Join(dir, c.set)
			if !score.IsDataset(path) {
				t.Skip("this set does not exist")
			}
			r, err := eval.Evaluate(t.Context(), path, eval.Options{Half: c.half, NoLearned: true}, func(int, int) {})
			require.NoError(t, err)
			own := r.All().Own
			if c.words > 0 {
				require.Greater(t, *own.Words.Value(), c.words, "word F1")
			}
			if c.texts > 0 {
				require.Greater(t, own.Strings.F1(), c.texts, "strings")
			}
			if c.authors > 0 {
				require.Greater(t, *own.Author.Value(), c.authors, "authors")
				require.Greater(t, *own.Date.Value(), c.date, "date")
			}
		})
	}
}

// go-trafilatura runs in a process of its own and answers batch by batch.
func TestBaseline_ExtractsPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds go-trafilatura")
	}
	b, err := eval.StartBaseline(t.Context())
	require.NoError(t, err)
	sentence := "The bridge across the river opens on Monday after two years of work. "
	for _, title := range []string{"The bridge opens", "The bridge is open"} {
		page := score.Page{
			GroundTruth: score.GroundTruth{URL: "https://example.com/bridge"},
			HTML: []byte("<title>" + title + "</title><article><h1>" + title + "</h1><p>" + strings.Repeat(sentence,
				5) + "</p><p>" + strings.Repeat(sentence, 5) + "</p></article>"),
		}
		got, spent, err := b.Extract([]score.Page{page, {HTML: []byte("<p>")}})
		require.NoError(t, err)
		require.Positive(t, spent)
		require.Len(t, got, 2)
		require.Equal(t, title, got[0].Title)
		require.Contains(t, got[0].Text, strings.TrimSpace(sentence))
		require.Empty(t, got[1].Text)
	}
	require.NoError(t, b.Close())
	_, _, err = b.Extract([]score.Page{{}})
	require.ErrorContains(t, err, "go-trafilatura")
}

func TestReport_ShowsPageTruthAndOutput(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, eval.WriteReport(&b,
		[]eval.Page{{
			Dataset: "set", Key: "one", Truth: score.GroundTruth{
				Title: "The <bridge>", Body: "One line here that is long\nAnother line that is missing",
			},
			HTML: []byte("<p>One line here that is long</p><p>menu entry</p>"), Own: eval.Extracted{
				Text: "One line here that is long\n\nSomething else that is wrong",
			},
		}}))
	for _, want := range []string{
		"The &lt;bridge&gt;", `<p class="no">menu entry</p>`,
		`<p class="no">Another line that is missing</p>`, `<p class="no">Something else that is wrong</p>`,
		"<p>One line here that is long</p>",
	} {
		require.Contains(t, b.String(), want)
	}
}
