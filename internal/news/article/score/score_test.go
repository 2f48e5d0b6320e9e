package score_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/score"
)

// TestCompareBody covers cases with figures from the benchmark's own evaluation.
func TestCompareBody(t *testing.T) {
	for _, c := range []struct {
		name, truth, got  string
		precision, recall float64
	}{
		{"Same", "a b c d e", "a b c d e", 1, 1},
		{"SignsDoNotCount", "a, b. c! d? e", "a b c d e", 1, 1},
		{"Missed", "a b c d e f", "a b c d e", 1, 2. / 3},
		{"Excess", "a b c d e", "a b c d e f g", 0.5, 1},
		{"Nothing", "a b c d e", "", 0, 0},
		{"BothEmpty", "", "", 1, 1},
		{"Short", "a b", "a b", 1, 1},
		{"Other", "a b c d", "w x y z", 0, 0},
		{"CaseCounts", "A b c d", "a b c d", 0, 0},
		{"Repeated", "a b c d a b c d", "a b c d", 1, 1. / 5},
	} {
		b := score.CompareBody(c.truth, c.got)
		require.InDelta(t, c.precision, b.Precision(), 1e-9, c.name)
		require.InDelta(t, c.recall, b.Recall(), 1e-9, c.name)
	}
}

func TestTotal(t *testing.T) {
	var all score.Total
	require.Zero(t, all.F1())
	all.Add(score.CompareBody("a b c d e", "a b c d e"))
	all.Add(score.CompareBody("a b c d e", "")) // counts for recall only
	require.InDelta(t, 1, all.Precision(), 1e-9)
	require.InDelta(t, 0.5, all.Recall(), 1e-9)
	require.InDelta(t, 2./3, all.F1(), 1e-9)
	require.Equal(t, 2, all.Pages)
}

func TestLoadSet(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "html"), 0o755))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte("<p>text</p>"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "html", "one.html.gz"), b.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ground-truth.json"),
		[]byte(`{"one":{"url":"https://paper.example/","articleBody":"text","title":"A title"}}`), 0o600))
	pages, err := score.LoadDataset(dir)
	require.NoError(t, err)
	require.Len(t, pages, 1)
	require.Equal(t, "<p>text</p>", string(pages[0].HTML))
	require.Equal(t, "A title", pages[0].Title)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "ground-truth.json"), []byte(`{"two":{}}`), 0o600))
	_, err = score.LoadDataset(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = score.LoadDataset(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
