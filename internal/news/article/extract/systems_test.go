package extract_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Publishing systems state the fields of an article outside of its text: in its own footer, as Pelican does, and in a
// sidebar, as Material for MkDocs does.
func TestFields_OutsideTheText(t *testing.T) {
	text := paragraphs(prose(6))
	const by, first, second = `<address class="author">By <a class="fn" href="/author/lan.html">Mai Lan</a> <a class="fn" href="/author/jo.html">Jo Harper</a></address>`,
		`<abbr class="published" title="2026-03-05T09:15:00+07:00">Thu 05 March 2026</abbr>`,
		`<abbr class="modified" title="2026-03-06T10:20:00+07:00">Updated: Fri 06 March 2026</abbr>`
	one, two := `<time datetime="2026-03-05 09:15:00+07:00" class="item">March 5, 2026</time>`,
		`<time datetime="2026-03-06 10:20:00+07:00" class="item">March 6, 2026</time>`
	sidebar := func(of string) string {
		return `<div class="sidebar"><nav class="md-nav"><a href="../">Back to index</a><div class="post__authors"><p><span><strong>Mai Lan</strong><br>Reporter</span></p><p><span><strong>Jo Harper</strong><br>Reporter</span></p></div>` + of + `</nav></div>`
	}
	for name, body := range map[string]string{
		"Pelican": `<article><header><h1>The bridge</h1></header><div class="entry-content"><footer class="post-info">` + first + second + by + `</footer>` + text + `</div></article>`,
		"a footer below the text": `<article><h1>The bridge</h1>` + text + `<footer>` + first + second + by +
			`</footer></article>`,
		"a footer with class names": `<main><article class="post"><h1>The bridge</h1>` + text +
			`<footer class="entry-footer"><p>` + first + `</p><p>` + second + `</p>` + by +
			`</footer></article></main>`,
		"Material for MkDocs": sidebar(`<ul><li><svg></svg>`+one+`</li><li>`+two+`</li></ul>`) +
			`<article><h1>The bridge</h1>` + text + `</article>`,
		"two dates in a sidebar": sidebar(`<p>`+one+` `+two+`</p>`) + `<main><h1>The bridge</h1>` + text +
			`</main>`,
		"two dates at the headline": `<article><h1>The bridge</h1>` + by + `<div>` + one + `</div><div>` + two +
			`</div>` + text + `</article>`,
		"labels in headings": `<article><h1>The bridge</h1>` + by + text +
			`</article><div><h4>Published</h4><h5 class="sr-only">Publish date</h5> ` + one +
			`</div><div><h4>Reviewed</h4> ` + two + `</div>`,
		"labels in headings, German": `<article><h1>The bridge</h1>` + by + text +
			`</article><div><h6>Veröffentlicht</h6>` + one + `</div><div><h6>Zuletzt geändert</h6>` + two + `</div>`,
	} {
		t.Run(name, func(t *testing.T) {
			p := page(`<title>The bridge - Paper</title>`, body)
			p.Now = fetchedAt()
			a := read(t, p)
			require.Equal(t, []string{"Mai Lan", "Jo Harper"}, a.Authors)
			require.Equal(t, "2026-03-05T02:15:00Z", a.Published.UTC().Format(time.RFC3339))
			require.Equal(t, "2026-03-06T03:20:00Z", a.Updated.UTC().Format(time.RFC3339))
		})
	}
}

// Other dates and names around an article are not its own.
func TestFields_OutsideTheTextOfOthers(t *testing.T) {
	text := paragraphs(prose(6))
	day := func(n int) string {
		return fmt.Sprintf(`<time datetime="2026-03-%02dT08:00:00Z">%d March</time>`, n, n)
	}
	for name, body := range map[string]string{
		"a range":             `<p>` + day(5) + ` – ` + day(7) + `</p>` + text,
		"words between dates": `<p>` + day(5) + ` to ` + day(7) + `</p>` + text,
		"three dates":         `<ul><li>` + day(5) + `</li><li>` + day(6) + `</li><li>` + day(7) + `</li></ul>` + text,
		"an earlier date":     `<p>` + day(5) + ` ` + day(4) + `</p>` + text,
		"names of teasers": `<p>` + day(5) + `</p>` + text +
			`<aside class="sidebar"><div><h3><a href="/b">Another story about the harbor</a></h3><p class="author">Jo Harper</p></div></aside>`,
		"a footer of another": `<p>` + day(5) + `</p>` + text +
			`</article><article><h2><a href="/c">Another story</a></h2><footer><p class="author">Jo Harper</p>` +
			day(9) + `</footer>`,
	} {
		t.Run(name, func(t *testing.T) {
			p := page(`<title>The bridge - Paper</title>`, `<article><h1>The bridge</h1>`+body+`</article>`)
			p.Now = fetchedAt()
			a := read(t, p)
			require.Empty(t, a.Authors)
			require.Equal(t, "2026-03-05", a.Published.UTC().Format(time.DateOnly))
			require.True(t, a.Updated.IsZero(), a.Updated)
		})
	}
}

// Links next to a date that lead to the author, or share the page, make it no date of another article.
func TestPublished_NextToLinksAboutTheArticle(t *testing.T) {
	const date = `<time datetime="2026-03-05">March 5, 2026</time>`
	for name, meta := range map[string]string{
		"Squarespace":          `<div class="Blog-meta"><a href="/blog?author=57b50f88" class="Blog-meta-item Blog-meta-item--author">Kristen</a>` + date + `</div>`,
		"a query of WordPress": `<p><a href="/?author=3">Mai Lan, a reporter at the harbor</a> ` + date + `</p>`,
		"a named author":       `<div class="row"><div class="author"><div><a href="/21209254">Mai Lan of the Harbor Desk</a></div></div><div class="date">Mar. 5, 2026</div></div>`,
		"a share link": `<div class="bottom">` + date +
			`<p><a href="https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Fwww.paper.example%2Fworld%2Fbridge-opens.html">Share on Facebook with friends</a></p></div>`,
		"a label": `<footer><ul><li><span>Published: </span>` + date +
			`</li><li><span>Updated: </span><time datetime="2026-03-06">6 March 2026</time></li><li><a href="/rss.xml">Our feed</a></li></ul></footer>`,
		"a label, Vietnamese": `<footer><p><b>Ngày đăng:</b> ` + date +
			`</p><p><a href="/rss.xml">RSS</a></p></footer>`,
		"a script": `<div class="bottom">` + date + `<a href="javascript:void(0)">Print this page</a></div>`,
	} {
		for place, body := range map[string]string{
			"below": paragraphs(prose(6)) + meta,
			"above": meta + paragraphs(prose(6)),
		} {
			t.Run(name+" "+place, func(t *testing.T) {
				p := page(`<title>The bridge - Paper</title>`, `<article><h1>The bridge</h1>`+body+`</article>`)
				p.Now = fetchedAt()
				require.Equal(t, "2026-03-05", read(t, p).Published.Format(time.DateOnly))
			})
		}
	}
}

// A theme may make the name of the site a headline, too: Hugo's skeleton does, and Pelican's default theme.
func TestTitle_NextToAHeadlineOfTheSite(t *testing.T) {
	for head, want := range map[string]string{
		"The moss that counts the rain | Sông Lặng": "The moss that counts the rain",
		"Chợ nổi vắng dần | Sông Lặng":              "Chợ nổi vắng dần",
		"Costs - Sông Lặng":                         "Costs",
		"Mill – Sông Lặng":                          "Mill",
	} {
		p := page(`<title>`+head+`</title>`, `<header><h1>Sông Lặng</h1></header><main><h1>`+want+`</h1>`+
			paragraphs(prose(6))+`</main>`)
		p.URL = "http://127.0.0.1:8080/posts/one/"
		require.Equal(t, want, read(t, p).Title)
	}
}

// The label of a category counts in a sidebar, where links without one are those of the site.
func TestSection_LabeledInASidebar(t *testing.T) {
	site := `<div class="sidebar"><nav><ul><li><a href="/category/science/">Science</a></li><li><a href="/category/travel/">Travel</a></li></ul></nav></div>`
	for label, want := range map[string]string{
		"in ": "Travel", "<b>Category:</b> ": "Travel", "Chuyên mục: ": "Travel",
		"": "",
	} {
		own := `<div class="sidebar"><nav><ul><li><span>` + label +
			`<a href="/category/travel/">Travel</a></span></li></ul></nav></div>`
		p := page(`<title>The bridge - Paper</title>`, site+own+`<article><h1>The bridge</h1>`+paragraphs(prose(6))+
			`</article>`)
		require.Equal(t, want, read(t, p).Section, label)
	}
}
