package extract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/extract"
)

func parse(t *testing.T, p extract.Page) *extract.Document {
	t.Helper()
	d, err := extract.Parse(t.Context(), p, extract.DefaultLimits())
	require.NoError(t, err)
	return d
}

// What two pages of a site repeat is no part of a third one. A page that repeats most of a
// known one is the same story at another address.
func TestTemplate_DropsWhatPagesRepeat(t *testing.T) {
	text := prose(6)
	const box = `<p>The editors of the paper choose the stories of the day, and send them to you at seven.</p>`
	first, second := page("", `<h1>The bridge opens</h1><article>`+paragraphs(text[:2])+box+`</article>`), page("",
		`<h1>The river rises</h1><article>`+paragraphs(text[2:4])+box+`</article>`)
	template := extract.NewTemplate([]*extract.Document{
		parse(t, first), parse(t, page("", `<h1>The market moves</h1><article>`+paragraphs(text[4:])+box+`</article>`)),
	})
	extractWith := func(p extract.Page) string {
		d := parse(t, p)
		d.UseTemplate(template)
		a, err := d.Article(t.Context(), p)
		require.NoError(t, err)
		return a.Text
	}
	require.Contains(t, read(t, second).Text, "The editors of the paper", "without a template")
	require.Equal(t, strings.Join(text[2:4], "\n\n"), extractWith(second))
	require.Contains(t, extractWith(first), text[0], "the same story")
}
