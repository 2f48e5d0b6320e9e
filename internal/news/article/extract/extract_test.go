package extract_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// prose is a realistic text of n paragraphs.
func prose(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("The harbour master said on day %d that the bridge, which was closed in spring, would "+
			"open again before the summer. "+
			"Nobody in the town had expected that, and the market was full of talk about it.", i+1)
	}
	return out
}

func page(head, body string) extract.Page {
	return extract.Page{
		HTML: []byte(`<!doctype html><html lang="en"><head>` + head + `</head><body>` + body + `</body></html>`),
		URL:  "https://www.paper.example/world/bridge-opens.html",
	}
}

func read(t *testing.T, p extract.Page) *article.Article {
	t.Helper()
	a, err := extract.Extract(t.Context(), p)
	require.NoError(t, err)
	return a
}

func paragraphs(list []string) string { return "<p>" + strings.Join(list, "</p><p>") + "</p>" }

func TestBody(t *testing.T) {
	text := prose(6)
	around := func(body string) extract.Page {
		return page("<title>The bridge opens</title>",
			`<div class="masthead"><a href="/">Paper</a></div><nav><ul><li><a href="/a">World</a></li><li><a href="/b">Sport</a></li></ul></nav>
<div class="content"><h1>The bridge opens</h1><div class="story-text">`+body+`</div></div>
<div class="sidebar"><h3>Most read</h3><p>A long teaser of another story that has nothing to do with the bridge, but reads well.</p></div>
<footer><p>All rights reserved by the paper, which has its seat in the town, in Harbour Street 5.</p></footer>`)
	}
	half := paragraphs(text[:3]) + "%s" + paragraphs(text[3:])
	for _, c := range []struct{ name, between string }{
		{"Nothing", ""},
		{
			"RelatedBox",
			`<div class="related-box"><h4>Related</h4><ul><li><a href="/x">Why the bridge was closed in spring, and who paid for it</a></li></ul></div>`,
		},
		{
			"ShareBar",
			`<div class="share-tools"><a href="#">Facebook</a> <a href="#">Twitter</a> <span>Copy the link to this story</span></div>`,
		},
		{
			"Advertisement",
			`<div class="ad-slot"><p>Advertisement</p><p>Buy a boat now, they have never been cheaper than in this very week.</p></div>`,
		},
		{
			"Newsletter",
			`<aside class="newsletter-signup"><p>Sign up for our newsletter, which comes every morning and is free.</p></aside>`,
		},
		{
			"Caption",
			`<figure><img src="/b.jpg"><figcaption>The bridge in spring, seen from the market. Photo: Jo Harper</figcaption></figure>`,
		},
		{
			"Hidden",
			`<div style="display: none"><p>This paragraph is for machines that count, and no reader ever sees it.</p></div>`,
		},
		{"ReadMore", `<p><a href="/y">Read more: the history of the bridge</a></p>`},
		{"ReadMoreVietnamese", `<p>Xem thêm: <a href="/y">Lịch sử cây cầu cũ của thành phố</a></p>`},
		{
			"Script",
			`<script>var text = "<p>This is no paragraph, although it looks like one to the eye.</p>";</script>`,
		},
		{"DateLine", `<p>Updated 11:21 pm CST, Tuesday, November 19, 2019</p>`},
		{
			"Teasers",
			`<div class="x"><div class="t"><h4><a href="/1">The mayor resigns over the harbour</a></h4><p>He said so on Monday, in the market hall.</p></div><div class="t"><h4><a href="/2">Fishing fleet comes home early this year</a></h4><p>The catch was small, the mood was good.</p></div><div class="t"><h4><a href="/3">School opens its doors for visitors</a></h4><p>It is the first time, and the last one too.</p></div></div>`,
		},
		{"NoteOverWord", `<p>` + text[2][:20] + `</p>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "NoteOverWord" {
				a := read(t, around(strings.Replace(fmt.Sprintf(half, ""), "harbour master",
					`harbour<span class="rollover"><span>Harbour: a place for ships, with <a href="/h">more about it</a></span></span> master`, 1)))
				require.Equal(t, strings.Join(text, "\n\n"), a.Text)
				return
			}
			a := read(t, around(fmt.Sprintf(half, c.between)))
			require.Equal(t, strings.Join(text, "\n\n"), a.Text)
		})
	}
}

func TestBodyShapes(t *testing.T) {
	text := prose(5)
	all := strings.Join(text, "\n\n")
	for name, body := range map[string]string{
		"LineBreaks":   `<div class="t">` + strings.Join(text, "<br><br>") + `</div>`,
		"Divisions":    `<main><div>` + strings.Join(text, "</div><div>") + `</div></main>`,
		"NamedSidebar": `<div class="has-sidebar">` + paragraphs(text) + `</div>`,
		"MachineNames": `<div class="sc-77igqf-0 hJpRRP">` + paragraphs(text) + `</div>`,
		"Split": `<div><div class="a">` + paragraphs(text[:2]) +
			`</div><div class="ad">Ad</div><div class="a">` + paragraphs(text[2:]) + `</div></div>`,
		"Form":             `<form action="/"><div>` + paragraphs(text) + `</div></form>`,
		"Unclosed":         `<div><p>` + strings.Join(text, "<p>"),
		"Table":            `<table><tr><td>` + paragraphs(text) + `</td></tr></table>`,
		"HiddenUntilReady": `<div style="display:none" class="article-body">` + paragraphs(text) + `</div>`,
		"Paywall":          `<div class="paywall">` + paragraphs(text) + `</div>`,
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, page("<title>The bridge opens</title>", "<h1>The bridge opens</h1>"+body))
			require.Equal(t, all, a.Text)
		})
	}
}

// TestBody_DropsAuthorNamesAboveTheText drops the byline, which is recognized by the
// page's metadata if its markup does not contain it, and keeps the name where the text begins
// with it.
func TestBody_DropsAuthorNamesAboveTheText(t *testing.T) {
	text := prose(4)
	all := strings.Join(text, "\n\n")
	for name, head := range map[string]string{
		"Meta":    `<meta name="author" content="Trần Hoà và Mai Lan">`,
		"JSON-LD": `<script type="application/ld+json">{"@type": "NewsArticle", "author": [{"@type": "Person", "name": "Trần Hoà"}, {"@type": "Person", "name": "Mai Lan"}]}</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, page(head, `<article><h1>The bridge opens</h1><b class="who">Trần Hoà</b><p>MAI LAN</p>`+
				paragraphs(text)+`</article>`))
			require.Equal(t, all, a.Text)
			require.Equal(t, []string{"Trần Hoà", "Mai Lan"}, a.Authors)
			begins := "Trần Hoà has seen the bridge, and says that it is not ready."
			a = read(t, page(head, `<article><h1>The bridge opens</h1><p>`+begins+`</p>`+paragraphs(text)+`</article>`))
			require.Equal(t, begins+"\n\n"+all, a.Text)
		})
	}
}

// TestRepeats keeps text that an author repeats and drops text that a template repeats.
func TestRepeats(t *testing.T) {
	text := prose(4)
	a := read(t, page("", `<article>`+paragraphs(text)+`<p>`+text[0]+`</p><div><blockquote>`+text[1]+
		`</blockquote></div></article>`))
	require.Equal(t, 2, strings.Count(a.Text, text[0]))
	require.Equal(t, 1, strings.Count(a.Text, text[1]))
}

// TestListing distinguishes a front page from an article with teasers below it.
func TestListing(t *testing.T) {
	var teasers strings.Builder
	for i := range 40 {
		fmt.Fprintf(&teasers,
			`<h3><a href="/story-%d">The mayor speaks for the %d. time of the bridge in the harbour</a></h3>`, i, i)
	}
	imprint := `<div class="about"><p>The paper is printed in Harbour Street 5, its editor is Mai Lan, and it has a licence of 14 April 2025.</p></div>`
	require.True(t, read(t, page("<title>The Paper</title>", "<div>"+teasers.String()+"</div>"+imprint)).IsListing)
	require.True(t, read(t, page(`<title>The Paper</title><meta property="og:type" content="article">`,
		"<div>"+teasers.String()+"</div>"+imprint)).IsListing)
	require.False(t, read(t,
		page("<title>The bridge opens</title>", paragraphs(prose(30))+"<div>"+teasers.String()+"</div>")).IsListing)
	short := paragraphs(prose(2)) + "<div>" + teasers.String() + "</div>"
	require.False(t, read(t, page(ld(`{"@type":"NewsArticle","headline":"The bridge opens"}`), short)).IsListing,
		"a short one that says what it is")
}

func TestRender_IsSafe(t *testing.T) {
	a := read(t, page("", `<article><p onclick="x()">`+prose(1)[0]+
		` <a href="javascript:alert(1)">one</a> <a href="/two?a=1&amp;b=2" onmouseover="x()">two</a></p>
<h2 style="color:red">A heading</h2>`+paragraphs(prose(3))+
		`<img src="/i.jpg" onerror="x()" alt='"><script>alert(1)</script>'><img src="data:image/png;base64,AAAA">
<iframe src="https://evil.example"></iframe><object data="x"></object><svg onload="x()"><a xlink:href="javascript:x">s</a></svg><script>x()</script><style>p{}</style>
<math><mtext><script>x()</script></mtext></math><p>a &lt;script&gt;alert(2)&lt;/script&gt; that is written out, as text in a sentence</p></article>`))
	low := strings.ToLower(a.HTML)
	for _, bad := range []string{
		"<script", "javascript:", "onclick", "onerror=", "onmouseover", "onload", "<iframe",
		"<object", "<svg", "<style", "style=", "data:", "<math",
	} {
		if bad == "onerror=" || bad == "data:" {
			require.NotContains(t, low, " "+bad)
			continue
		}
		require.NotContains(t, low, bad, a.HTML)
	}
	require.Contains(t, a.HTML, `<a href="https://www.paper.example/two?a=1&amp;b=2" rel="nofollow noopener">two</a>`)
	require.Contains(t, a.HTML, `<img src="https://www.paper.example/i.jpg"`)
	require.Contains(t, a.HTML, "<h2>A heading</h2>")
	require.Contains(t, a.HTML, "&lt;script&gt;alert(2)")
}

func TestErrors_StateTheReason(t *testing.T) {
	_, err := extract.Extract(t.Context(), page("", "<p>Hello.</p>"))
	require.ErrorIs(t, err, extract.ErrNoArticle)
	_, err = extract.Extract(t.Context(), extract.Page{})
	require.ErrorIs(t, err, extract.ErrNoArticle)
	_, err = extract.Extract(t.Context(), extract.Page{HTML: make([]byte, 9<<20)})
	require.ErrorIs(t, err, extract.ErrTooLarge)
	_, err = extract.Extract(t.Context(), page("", strings.Repeat("<div>", 5000)))
	require.ErrorIs(t, err, extract.ErrTooDeep)
	_, err = extract.Extract(t.Context(), page("", strings.Repeat("<i></i>", 500_000)))
	require.ErrorIs(t, err, extract.ErrTooManyNodes)
	_, err = extract.Extract(t.Context(), extract.Page{
		HTML: []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), ContentType: "image/jpeg",
	})
	require.ErrorIs(t, err, extract.ErrNotHTML)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = extract.Extract(ctx, page("", paragraphs(prose(5))))
	require.ErrorIs(t, err, context.Canceled)
	lim := extract.DefaultLimits()
	lim.Timeout = 200 * time.Millisecond // the parser compares each attribute with all previous ones
	_, err = extract.Parse(t.Context(), page("", distinct("<body a%d=1>", 300_000)), lim)
	require.ErrorIs(t, err, extract.ErrTooSlow)
}

// TestHostile reads pages that provoke long processing. Each is nearly as large as the
// limit allows; a test that hangs fails by the test's timeout.
func TestHostile(t *testing.T) {
	const n = 300_000
	for name, body := range map[string]string{
		"Titles":     strings.Repeat("<title", n),
		"Scripts":    strings.Repeat("<script><!--<script>", n/4),
		"Formatting": distinct("<p><b c=%d>", n),
		"Tables":     "<table>" + strings.Repeat("<tr><td><a href=x>some words, and more.</a></td>", n/10) + "</table>",
		"Items":      strings.Repeat(strings.Repeat("<b itemprop=author>", 400)+strings.Repeat("</b>", 400), 200),
		"Classes":    `<p class="` + strings.Repeat("related-story ", n) + `">x`,
		"Entities":   strings.Repeat("&amp;amp;amp;", n),
		"JSON":       `<script type="application/ld+json">` + strings.Repeat(`[{"@graph":`, 5000) + `</script>`,
		"Headings":   strings.Repeat("<h1>The bridge opens again, at last.</h1>", n/10),
		"Times":      strings.Repeat("<time>1 1 1 1 1 1 1 1 1 1 1</time>", n/10),
		"Bare":       strings.Repeat("<", n),
		"Comments":   strings.Repeat("<!--", n),
		"Svg":        strings.Repeat("<svg><title>", n/10),
		"NoEnd":      "<p>" + strings.Repeat("word, ", n),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := extract.Extract(t.Context(), page("", body))
			require.True(t, err != nil || a.Text != "")
		})
	}
}

func distinct(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestEncodings(t *testing.T) {
	body := `<p>` + strings.Repeat("Thời tiết hôm nay rất đẹp, người dân đổ ra đường đi chơi. ", 8) + `</p>`
	filler := "<!-- " + strings.Repeat("x", 2000) + " -->"
	a := read(t, extract.Page{HTML: []byte(filler + body)})
	require.Contains(t, a.Text, "Thời tiết hôm nay", "no header, no meta, nothing but ASCII in the first kilobyte")
	require.Equal(t, "vi", a.Language)

	latin := strings.Repeat("Caf\xe9 cr\xe8me, d\xe9j\xe0 vu, says the man at the bar in the market. ", 8)
	a = read(t, extract.Page{HTML: []byte("<p>" + latin + "</p>"), ContentType: "text/html; charset=iso-8859-1"})
	require.Contains(t, a.Text, "Café crème, déjà vu")

	broken := "<p>" + strings.Repeat("Thời tiết hôm nay rất đẹp, người dân đổ ra đường. ", 8) + "\xff</p>"
	a = read(t, extract.Page{HTML: []byte(broken)})
	require.Contains(t, a.Text, "người dân đổ ra đường", "one invalid byte does not change the encoding")
}

// FuzzExtract checks that the result is an article with a text or an error with a
// reason, and safe HTML.
func FuzzExtract(f *testing.F) {
	f.Add("<title>a | b</title><article><h1>a</h1><p>" + prose(2)[0] + "</p></article>")
	f.Add(`<script type="application/ld+json">{"@type":"NewsArticle","author":[{"name":"x"}]}</script><p>` +
		prose(1)[0])
	f.Add(`<svg><style><img src=x onerror=alert(1)></style></svg><p>` + prose(1)[0])
	f.Add("<table><td><p>" + prose(1)[0] + "<table><a href=' javascript:x'>")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := extract.Extract(t.Context(), extract.Page{
			HTML: []byte(s), URL: "https://paper.example/a", Now: time.Unix(1772843936, 0),
		})
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotEmpty(t, a.Text)
		again, err := extract.Extract(t.Context(), extract.Page{
			HTML: []byte(s), URL: "https://paper.example/a", Now: time.Unix(1772843936, 0),
		})
		require.NoError(t, err)
		require.Equal(t, a, again)
		requireSafe(t, a.HTML)
	})
}
