package score_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/score"
)

func TestWordF1(t *testing.T) {
	for _, c := range []struct {
		name, truth, got string
		want             float64
	}{
		{"Same", "A b, c.", "a b c", 1},
		{"OtherOrder", "a b c", "c b a", 1},
		{"Half", "a b c d", "a b", 2. / 3},
		{"Repeated", "a", "a a a", 0.5},
		{"Nothing", "a b", "", 0},
		{"BothEmpty", "", "", 1},
		{"Letters", "東京都", "東京", 0.8},
		{"Composed", "Thời", "Tho\u031b\u0300i", 1},
	} {
		require.InDelta(t, c.want, score.WordF1(c.truth, c.got), 1e-9, c.name)
	}
}

func TestRougeLSum_UsesTheOrderWithinLines(t *testing.T) {
	require.InDelta(t, 1, score.RougeLSum("a b c\nd e f", "d e f\na b c"), 1e-9, "lines may move")
	require.InDelta(t, 1./3, score.RougeLSum("a b c", "c b a"), 1e-9, "words may not")
	require.InDelta(t, 0.5, score.RougeLSum("a b c d", "a x b y"), 1e-9)
	require.InDelta(t, 2./3, score.RougeLSum("a b", "a b\na b"), 1e-9, "a word counts once")
	require.Zero(t, score.RougeLSum("a b", ""))
}

func TestCompareStrings(t *testing.T) {
	s := score.CompareStrings([]string{"one two", "three"}, []string{"ad", "share"}, "one\n two and an ad")
	require.Equal(t, score.Strings{Found: 1, Missed: 1, Leaked: 1, Excluded: 1}, s)
	require.InDelta(t, 0.5, s.F1(), 1e-9)
}

func TestSameAuthors(t *testing.T) {
	require.True(t, score.SameAuthors([]string{"Mai Lan and Trần Hoà"}, []string{"Trần Hoà", "mai lan"}))
	require.True(t, score.SameAuthors([]string{"Dr. A. Lee"}, []string{"Dr A Lee"}))
	require.False(t, score.SameAuthors([]string{"Mai Lan"}, []string{"Mai Lan", "Trần Hoà"}))
}

func TestSameDay_InTheZoneOfPublication(t *testing.T) {
	at, clock, ok := score.ParseTime("2026-03-07T01:30:00+07:00")
	require.True(t, clock && ok)
	require.True(t, score.SameDay(at, time.Date(2026, 3, 6, 18, 30, 0, 0, time.UTC)))
	require.False(t, score.SameDay(at, time.Date(2026, 3, 8, 18, 30, 0, 0, time.UTC)))
}

func TestHalf_IsTheSameForAllPagesOfASite(t *testing.T) {
	halves := map[score.Half]int{}
	for _, d := range []string{
		"a.example", "b.example", "c.example", "d.example", "e.example", "f.example",
		"g.example", "h.example",
	} {
		one, two := score.GroundTruth{URL: "https://" + d + "/one"}, score.GroundTruth{
			URL: "http://www." + d + "/two?x=1",
		}
		require.Equal(t, one.Half(), two.Half(), d)
		halves[one.Half()]++
	}
	require.Len(t, halves, 2)
}

func TestLoadDataset_ReadsEveryFormat(t *testing.T) {
	pack := func(path, text string) {
		f, err := os.Create(path)
		require.NoError(t, err)
		z := gzip.NewWriter(f)
		_, err = z.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.NoError(t, f.Close())
	}
	bodies := t.TempDir()
	pack(filepath.Join(bodies, "0001.html.gz"), "<p>text</p>")
	pack(filepath.Join(bodies, "gold.json.gz"),
		`{"0001":{"url":"https://paper.example/a","type":"forum","body":"text","author":"Mai Lan","date":"2026-03-07 01:30:00+07:00"}}`)
	pages, err := score.LoadDataset(bodies)
	require.NoError(t, err)
	require.Len(t, pages, 1)
	require.Equal(t, score.GroundTruth{
		URL: "https://paper.example/a", Type: "forum", Body: "text",
		Authors: []string{"Mai Lan"}, Published: "2026-03-07T01:30:00+07:00",
	}, pages[0].GroundTruth)

	texts := t.TempDir()
	pack(filepath.Join(texts, "one.html.gz"), "<p>text</p>")
	require.NoError(t, os.WriteFile(filepath.Join(texts, "gold.json"),
		[]byte(
			`{"https://paper.example/b":{"file":"one.html.gz","with":["text"],"without":["ad"],"author":["A","B"],"title":null,"categories":[""]}}`), 0o600))
	pages, err = score.LoadDataset(texts)
	require.NoError(t, err)
	require.Len(t, pages, 1)
	require.Equal(t, score.GroundTruth{
		URL: "https://paper.example/b", With: []string{"text"}, Without: []string{"ad"},
		Authors: []string{"A", "B"}, Sections: []string{},
	}, pages[0].GroundTruth)
}
