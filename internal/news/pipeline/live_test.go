package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A live blog grows without new versions, keeps entries that its page no longer shows, and
// search finds its summary and its entries.
func TestRun_StoresTheEntriesOfALiveBlog(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 1)
	at := "https://paper.example/live/storm.html"
	summary, entries := strings.Join(p.paragraphs(2), "</p><p>"), map[int]string{}
	live := func(hours ...int) string {
		body := "<article><p>" + summary + "</p></article><div class='entries'>"
		for _, h := range hours {
			if entries[h] == "" {
				entries[h] = p.sentence()
			}
			body += fmt.Sprintf("<div class='entry' id='at-%d'><time datetime='2026-03-07T%02d:00:00Z'>%d:00</time>"+
				"<h3>News of %d o'clock</h3><p>%s</p></div>", h, h, h, h, entries[h])
		}
		return `<html lang="en"><head><title>The storm: live</title></head><body><h1>The storm: live</h1>` + body +
			"</div></body></html>"
	}
	d.hand(at, live(12, 11, 10))
	require.Equal(t, 1, d.read().Articles)
	titles := func() (out []string) {
		for _, e := range d.articles("paper.example")[0].Live {
			require.NotEmpty(t, e.Text)
			out = append(out, e.Title)
		}
		return out
	}
	hour := func(h int) string { return fmt.Sprintf("News of %d o'clock", h) }
	require.Equal(t, []string{hour(12), hour(11), hour(10)}, titles())
	a := d.articles("paper.example")[0]
	require.NotContains(t, a.Text, "o'clock")
	require.Equal(t, 12, a.Live[0].Time.Hour())

	d.hand(at, live(14, 13, 12))
	d.read()
	require.Equal(t, []string{hour(14), hour(13), hour(12), hour(11), hour(10)}, titles())
	require.EqualValues(t, 1, d.articles("paper.example")[0].Version, "entries are no versions")
	require.Equal(t, 2, d.count("select count(*) from article_changes where article_id = $1", a.ID))
	docs, err := d.News.Searches.SearchDocuments(t.Context(), []uuid.UUID{a.ID})
	require.NoError(t, err)
	for _, text := range slices.Concat([]string{a.Text}, titles()) {
		require.Contains(t, docs[0].Body, text)
	}

	d.hand(at, live(14, 13, 12))
	d.read()
	require.Equal(t, 2, d.count("select count(*) from article_changes where article_id = $1", a.ID), "nothing is new")
}
