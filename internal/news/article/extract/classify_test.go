package extract_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/extract"
)

// busyPage is a page with as much around its text as real pages have.
func busyPage(body string) extract.Page {
	var menu, teasers, footer strings.Builder
	for i := range 15 {
		fmt.Fprintf(&menu, `<li><a href="/s/%d">Section %d</a></li>`, i, i)
		fmt.Fprintf(&footer, `<li><a href="/f/%d">Service %d</a></li>`, i, i)
	}
	for i := range 8 {
		fmt.Fprintf(&teasers,
			`<div class="card"><h3><a href="/t/%d">Another story about the town and its %d. market</a></h3><p>By Jo Harper</p></div>`, i, i)
	}
	return page(`<title>The bridge opens - Paper</title><meta property="og:type" content="article">`,
		`<header><nav><ul>`+menu.String()+`</ul></nav></header>
<main><h1>The bridge opens</h1>`+body+`</main><div class="grid">`+teasers.String()+`</div><footer><ul>`+footer.String()+
			`</ul><p>© Paper. All rights reserved.</p></footer>`)
}

// TestBody_KnownErrors has a page for each class of errors on real pages.
func TestBody_KnownErrors(t *testing.T) {
	text := prose(6)
	first, second := paragraphs(text[:3]), paragraphs(text[3:])
	list := `<ul><li>two cups of flour, sifted twice</li><li>one cup of sugar</li><li>three eggs, beaten well</li></ul>`
	for _, c := range []struct {
		name, body string
		want, not  []string
	}{
		{
			"List", `<article>` + first + `<h2>What you need</h2>` + list + second + `</article>`,
			[]string{"three eggs, beaten well", "two cups of flour"},
			nil,
		},
		{"OverflowHidden", `<article class="overflow-hidden">` + first + `<div class="overflow-hidden">` + second +
			`</div></article>`, text[4:], nil},
		{
			"LabelHidden", `<div class="field field--name-body field--label-hidden">` + first + second + `</div>`,
			text[1:], nil,
		},
		{
			"HiddenOnSmallScreens", `<article>` + first + `<div class="hidden md:block">` + second + `</div></article>`,
			text[4:], nil,
		},
		{
			"Story", `<div class="story">` + first + `</div><div class="story">` + second + `</div>`,
			[]string{text[0], text[5]},
			nil,
		},
		{
			"TwoParts", `<div class="part">` + first +
				`</div><div class="banner"><a href="/x">Subscribe now</a></div><div class="part">` + second + `</div>`,
			[]string{text[0], text[5]},
			[]string{"Subscribe now"},
		},
		{
			"Newsletter", `<article>` + first + second +
				`<div class="box"><p>Get the best stories in your inbox.</p><p>Sign up for our newsletter</p></div></article>`, text[1:], []string{"Sign up for our newsletter"},
		},
		{
			"Consent", `<article>` + first + second +
				`</article><div class="cookie-consent"><p>We use cookies to make this page better. You can change your settings at any time.</p></div>`, text[1:], []string{"We use cookies"},
		},
		{
			"NewTab",
			`<article><p>The mayor, <a href="/m">Jo Harper<span>, opens new tab</span></a>, said on Monday that the bridge is ready and that it will open soon.</p>` + first + second + `</article>`,
			[]string{"Jo Harper, said on Monday"},
			[]string{"new tab"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := read(t, busyPage(c.body))
			for _, w := range c.want {
				require.Contains(t, a.Text, w)
			}
			for _, w := range append(c.not, "Another story about the town", "All rights reserved", "Section 3") {
				require.NotContains(t, a.Text, w)
			}
			requireSafe(t, a.HTML)
		})
	}
}

func TestSelectLikely_SelectsSimilarBlocksTogether(t *testing.T) {
	const title, card, menu = 0, 1, 5
	texts := []string{
		"Warm socks for winter", "blue and warm", "red and warm", "grey and warm", "green and warm",
		"Home", "Log in",
	}
	kinds := []int{title, card, card, card, card, menu, menu}
	for name, c := range map[string]struct {
		odds       []float64
		want       []bool
		discussion bool
	}{
		"the posts of a discussion": {
			[]float64{5, 5, -1, 5, 5, -6, -6}, []bool{true, true, true, true, true, false, false}, true,
		},
		"the names of a discussion": {
			[]float64{5, -5, 5, -5, -5, -6, -6}, []bool{true, false, false, false, false, false, false}, true,
		},
		"uncertain cards": {
			[]float64{1, -0.2, -1.6, 0.1, -1.1, -4, -4}, []bool{true, true, true, true, true, false, false}, false,
		},
		"a sure choice": {
			[]float64{5, 5, -5, 5, 5, -6, -6}, []bool{true, true, false, true, true, false, false}, false,
		},
		"too few, one excluded": {
			[]float64{1, -0.2, math.Inf(-1), 0.1, -0.7, -4, -4}, []bool{true, true, false, true, false, false, false}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, extract.SelectLikely(c.odds, texts, kinds, []int{-1, -1, -1, -1, -1, -1, -1},
				c.discussion))
		})
	}
}

func TestAuthors_OfOtherLanguages(t *testing.T) {
	for line, want := range map[string]string{
		"Von Anna Meier": "Anna Meier", "Por María Pérez": "María Pérez", "Par Jean Petit": "Jean Petit",
		"Text: Anna Meier": "Anna Meier", "Written by Jo Harper": "Jo Harper",
	} {
		a := read(t, busyPage(`<p class="info-line">`+line+`</p><article>`+paragraphs(prose(6))+`</article>`))
		require.Equal(t, []string{want}, a.Authors, line)
	}
}

func TestPublished_FromLinesOfOtherLanguages(t *testing.T) {
	for line, want := range map[string]string{
		"7. März 2026": "2026-03-07", "7 de marzo de 2026": "2026-03-07", "7 mars 2026": "2026-03-07",
		"7 марта 2026, 13:43": "2026-03-07", "2026年3月7日": "2026-03-07", "Stand: 07.03.2026": "2026-03-07",
	} {
		a := read(t, busyPage(`<p>`+line+`</p><article>`+paragraphs(prose(6))+`</article>`))
		require.Equal(t, want, a.Published.UTC().Format("2006-01-02"), line)
	}
}

func TestPublished_FromScriptsAndURLs(t *testing.T) {
	p := busyPage(`<article>` + paragraphs(prose(6)) +
		`</article><script>var x = {"published_at":"2026-03-07T06:22:28+01:00"}</script>`)
	require.Equal(t, "2026-03-07T05:22", read(t, p).Published.UTC().Format("2006-01-02T15:04"))
	p = busyPage(`<article>` + paragraphs(prose(6)) + `</article>`)
	p.URL = "https://www.paper.example/speeches/20260307_Speech.html"
	require.Equal(t, "2026-03-07", read(t, p).Published.Format("2006-01-02"))
}
