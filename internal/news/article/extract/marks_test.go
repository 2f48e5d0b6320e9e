package extract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// marked is a page with a box in its text that looks like the text, and a text that looks like navigation.
func marked(text []string) extract.Page {
	return page("", `<main><h1>The bridge opens</h1><article class="story">`+paragraphs(text[:3])+
		`<div class="inset"><p>`+text[3]+`</p></div>`+paragraphs(text[4:])+`</article>
		<div class="facts share"><p>`+facts+`</p></div></main>`)
}

const facts = "The bridge is 1,200 meters long, and was built in four years by the companies of the province."

func extractMarked(t *testing.T, p extract.Page, marks ...extract.Mark) (*article.Article, []extract.PageBlock) {
	t.Helper()
	p.Marks = marks
	d := parse(t, p)
	a, err := d.Article(t.Context(), p)
	require.NoError(t, err)
	return a, d.Explain(a, extract.Selection{})
}

func blockOf(t *testing.T, all []extract.PageBlock, text string) extract.PageBlock {
	t.Helper()
	for _, b := range all {
		if b.Text == text {
			return b
		}
	}
	require.Fail(t, "no block", text)
	return extract.PageBlock{}
}

// A mark of an editor has the last word, also over the block classifier, in both directions.
func TestMarks_HaveTheLastWord(t *testing.T) {
	text := prose(9)
	p := marked(text)
	a, blocks := extractMarked(t, p)
	require.Contains(t, a.Text, text[3])
	require.NotContains(t, a.Text, facts)
	inset, outside := blockOf(t, blocks, text[3]), blockOf(t, blocks, facts)
	require.True(t, inset.IsBody)
	require.Equal(t, "article.story > div.inset > p", inset.Elements[0])
	require.Equal(t, "main > article.story > div.inset", inset.Elements[1])
	require.False(t, outside.IsBody)
	require.Equal(t, extract.DropNavigation, outside.Reason)

	both := []extract.Mark{{Element: inset.Elements[1]}, {Text: extract.TextHash(strings.ToUpper(facts)), IsBody: true}}
	a, blocks = extractMarked(t, p, both...)
	require.NotContains(t, a.Text, text[3])
	require.NotContains(t, a.HTML, text[3])
	require.Contains(t, a.Text, facts)
	require.Contains(t, a.HTML, "1,200 meters")
	require.Contains(t, a.Text, text[8])
	inset, outside = blockOf(t, blocks, text[3]), blockOf(t, blocks, facts)
	require.Equal(t, extract.DropMarked, inset.Reason)
	require.True(t, inset.IsMarked && outside.IsMarked && outside.IsBody)

	// The text is marked, and with it what the element says is overridden.
	a, _ = extractMarked(t, p, append(both, extract.Mark{Text: extract.TextHash(text[3]), IsBody: true})...)
	require.Contains(t, a.Text, text[3])
	// The inner element overrides the outer one.
	a, _ = extractMarked(t, p, extract.Mark{Element: "html > body > main"}, extract.Mark{
		Element: blockOf(t, blocks, text[0]).Elements[1], IsBody: true,
	})
	require.Contains(t, a.Text, text[0])
	// Without a text there is no article.
	p.Marks = []extract.Mark{{Element: "html > body > main"}}
	_, err := parse(t, p).Article(t.Context(), p)
	require.ErrorIs(t, err, extract.ErrNoArticle)
}

// A marked text that is on the page twice is selected once.
func TestMarks_OfRepeatedTexts(t *testing.T) {
	p := marked(prose(9))
	p.HTML = []byte(strings.Replace(string(p.HTML), "</main>", `<div class="facts share"><p>`+facts+`</p></div></main>`, 1))
	mark := extract.Mark{Text: extract.TextHash(facts), IsBody: true}
	a, _ := extractMarked(t, p, mark)
	require.Equal(t, 1, strings.Count(a.Text, facts))
	p.Marks = []extract.Mark{mark}
	d := parse(t, p)
	b, ok := d.Body(a.Title)
	require.True(t, ok)
	extra, missing := d.ContradictedMarks(b)
	require.Empty(t, append(extra, missing...))
}

// Marks on another page of the site count by the kind of element, whatever its text is.
func TestMarks_OfElementsCountOnOtherPages(t *testing.T) {
	text := prose(9)
	_, blocks := extractMarked(t, marked(text))
	box := blockOf(t, blocks, text[3]).Elements[1]
	other := append(append([]string{}, text[4:]...), text[:4]...)
	a, _ := extractMarked(t, marked(other), extract.Mark{Element: box})
	require.NotContains(t, a.Text, other[3])
	require.Contains(t, a.Text, other[4])
}

// A table is marked as a whole.
func TestMarks_OfTables(t *testing.T) {
	text := prose(6)
	p := page("", `<h1>The bridge opens</h1><article>`+paragraphs(text[:3])+
		`<table><tr><th>Year</th><th>Cars a day</th></tr><tr><td>2024</td><td>about 18,000</td></tr></table>`+
		paragraphs(text[3:])+`</article>`)
	a, _ := extractMarked(t, p)
	require.Contains(t, a.Text, "2024 | about 18,000")
	a, blocks := extractMarked(t, p, extract.Mark{Text: extract.TextHash("about 18,000")})
	require.NotContains(t, a.Text, "2024")
	require.Contains(t, a.Text, text[5])
	require.Equal(t, extract.DropMarked, blockOf(t, blocks, "Year").Reason)
}

// Selectors are tested with marks: what they select is compared with what editors said.
func TestContradictedMarks(t *testing.T) {
	text := prose(9)
	p := marked(text)
	p.Marks = []extract.Mark{
		{Text: extract.TextHash(text[3])},
		{Text: extract.TextHash(facts), IsBody: true},
		{Text: extract.TextHash(text[0]), IsBody: true},
	}
	d := parse(t, p)
	var story []*html.Node
	for n := range d.Root.Descendants() {
		if n.Data == "article" {
			story = append(story, n)
		}
	}
	b, ok := d.BodyOf(story, nil, "The bridge opens")
	require.True(t, ok)
	extra, missing := d.ContradictedMarks(b)
	require.Equal(t, []string{text[3]}, extra)
	require.Equal(t, []string{facts}, missing)
}

// Why blocks are not part of the text.
func TestExplain_Reasons(t *testing.T) {
	text := prose(8)
	p := page(`<meta name="description" content="`+text[7]+`">`, `<nav><a href="/a">World</a> <a href="/b">Sports</a></nav>
		<h1>The bridge opens</h1><p class="lead">`+text[7]+`</p><article>`+paragraphs(text[:6])+
		`<figure><img src="/a.jpg"><figcaption>The bridge at night, from the south</figcaption></figure>
		<p style="display:none">Only machines read this line, which nobody sees.</p></article>
		<div class="comments"><p>I waited for this bridge for years, and will drive over it tomorrow.</p></div>`)
	_, blocks := extractMarked(t, p)
	for text, want := range map[string]extract.DropReason{
		"The bridge opens": extract.DropTitle, text[7]: extract.DropLead,
		"The bridge at night, from the south":                                  extract.DropCaption,
		"Only machines read this line, which nobody sees.":                     extract.DropHidden,
		"I waited for this bridge for years, and will drive over it tomorrow.": extract.DropComment,
		text[0]: "",
	} {
		require.Equal(t, want, blockOf(t, blocks, text).Reason, text)
	}
	require.Equal(t, extract.DropNavigation, blocks[0].Reason)
}
