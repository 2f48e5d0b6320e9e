package extract_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

func TestTitle(t *testing.T) {
	for _, c := range []struct{ name, head, h1, want string }{
		{
			"SiteAtTheEnd",
			`<title>The bridge opens again | The Paper</title><meta property="og:site_name" content="The Paper">`, "",
			"The bridge opens again",
		},
		{
			"SiteAndSection",
			`<title>The bridge opens again - World - The Paper</title><meta property="og:site_name" content="The Paper"><meta property="og:title" content="The bridge opens again">`, "", "The bridge opens again",
		},
		{
			"SiteAtTheFront",
			`<title>The Paper: The bridge opens again today</title><meta property="og:site_name" content="The Paper">`,
			"", "The bridge opens again today",
		},
		{
			"DashOfItsOwn", `<title>Bridge opens - mayor is glad | paper.example</title>`, "",
			"Bridge opens - mayor is glad",
		},
		{
			"HeadlineIsVisible",
			`<title>Bridge: SEO title for machines</title><meta property="og:title" content="The bridge opens again, at last">`, "The bridge opens again, at last", "The bridge opens again, at last",
		},
		{
			"TwiceEscaped",
			`<title>x</title><meta property="og:title" content="Chi&amp;#7871;n s&amp;#7921; &amp;#273;&#7849;y giá">`,
			"", "Chiến sự đẩy giá",
		},
		{
			"CutOff", `<meta property="og:title" content="The bridge in the harbour opens again before…">`,
			"The bridge in the harbour opens again before the summer",
			"The bridge in the harbour opens again before the summer",
		},
		{
			"LogoIsNoHeadline",
			`<title>The bridge opens again | The Paper</title><meta property="og:site_name" content="The Paper">`,
			"The Paper", "The bridge opens again",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h1 := ""
			if c.h1 != "" {
				h1 = "<h1>" + c.h1 + "</h1>"
			}
			a := read(t, page(c.head, h1+paragraphs(prose(4))))
			require.Equal(t, c.want, a.Title)
		})
	}
}

func ld(s string) string { return `<script type="application/ld+json">` + s + `</script>` }

func TestAuthors(t *testing.T) {
	site := `<meta property="og:site_name" content="Tuổi Trẻ Online">`
	for _, c := range []struct {
		name, head, top, end string
		want                 []string
	}{
		{
			"Persons",
			ld(
				`{"@type":"NewsArticle","headline":"x","author":[{"@type":"Person","name":"Mai Lan"},{"@type":"Person","name":"Jo Harper"}]}`), "", "",
			[]string{"Mai Lan", "Jo Harper"},
		},
		{
			"GraphByID",
			ld(
				`{"@graph":[{"@type":"Person","@id":"#p","name":"Mai Lan"},{"@type":"NewsArticle","headline":"x","author":{"@id":"#p"}}]}`), "", "",
			[]string{"Mai Lan"},
		},
		{
			"BrokenJSON", ld("{\"@type\":\"NewsArticle\",\"headline\":\"a\nb\",\"author\":[{\"name\":\"Mai Lan\"},],}"),
			"", "",
			[]string{"Mai Lan"},
		},
		{
			"PublisherWithoutOthers", site + `<meta name="author" content="TUOI TRE ONLINE">`, "", "",
			[]string{"TUOI TRE ONLINE"},
		},
		{
			"PersonBeforePublisher", site + `<meta name="author" content="TUOI TRE ONLINE">`,
			`<p class="byline">By Mai Lan</p>`, "",
			[]string{"Mai Lan"},
		},
		{
			"SiteInJSONLDSignatureBelow", `<meta property="og:site_name" content="VnExpress">` +
				ld(`{"@type":"NewsArticle","headline":"x","author":{"@type":"Organization","name":"VnExpress"}}`), "",
			`<p style="text-align: right;"><strong>Hà Thu</strong> <em>(tổng hợp)</em></p>`,
			[]string{"Hà Thu"},
		},
		{"By", "", `<p class="byline">By Mai Lan and Jo Harper</p>`, "", []string{"Mai Lan", "Jo Harper"}},
		{"Rel", "", `<a rel="author" href="/mai">Mai Lan</a>`, "", []string{"Mai Lan"}},
		{
			"Microdata", "", `<div itemprop="author" itemscope><span itemprop="name">Mai Lan</span></div>`, "",
			[]string{"Mai Lan"},
		},
		{
			"ProfileAddress", `<meta property="article:author" content="https://facebook.com/paper">`,
			`<span class="author">Mai Lan, AP Auto Writer</span>`, "",
			[]string{"Mai Lan"},
		},
		{"NotWhenItWasWritten", "", `<span class="author">2 min read</span>`, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page(c.head, "<h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+paragraphs(prose(4))+
				c.end+"</div>"))
			require.Equal(t, c.want, a.Authors)
			require.Equal(t, strings.Join(prose(4), "\n\n"), a.Text, "a signature is not text")
		})
	}
}

// Vietnamese papers name themselves as the author of every article.
func TestAuthors_NotTheVietnamesePaper(t *testing.T) {
	p := page(`<meta property="og:site_name" content="Tuổi Trẻ Online"><meta name="author" content="TUOI TRE ONLINE">`,
		"<h1>The bridge opens</h1>"+paragraphs(prose(4)))
	p.HTML = bytes.Replace(p.HTML, []byte(`lang="en"`), []byte(`lang="vi"`), 1)
	require.Empty(t, read(t, p).Authors)
}

// The first post of a thread decides, not the replies.
func TestAuthors_OfThreads(t *testing.T) {
	var posts strings.Builder
	for i, name := range []string{"Mai Lan", "Jo Harper", "Ada Perry", "Eve Stone", "Sam Brook", "Kim West"} {
		fmt.Fprintf(&posts, `<div><span class="author">%s » Tue</span><p>%s</p></div>`, name, prose(6)[i])
	}
	require.Equal(t, []string{"Mai Lan"}, read(t, page("", "<h1>The bridge opens</h1>"+posts.String())).Authors)
}

// Some forums show their text only without JavaScript.
func TestBody_InsideNoscript(t *testing.T) {
	a := read(t, page("", `<div id="app"></div><noscript><h1>The bridge opens</h1><div class="post">`+
		paragraphs(prose(6))+`</div></noscript>`))
	require.Equal(t, strings.Join(prose(6), "\n\n"), a.Text)
	require.Equal(t, "The bridge opens", a.Title)
}

// An article that was moved to another system keeps the date in its URL.
func TestPublished_URLBeforeLaterMove(t *testing.T) {
	p := page(ld(`{"@type":"NewsArticle","headline":"x","datePublished":"2026-03-07T08:01:53Z"}`),
		"<h1>The bridge opens</h1>"+paragraphs(prose(4)))
	p.URL = "https://www.paper.example/2019/05/04/the-bridge-opens"
	require.Equal(t, "2019-05-04", read(t, p).Published.Format("2006-01-02"))
	p.URL = "https://www.paper.example/2026/03/06/the-bridge-opens"
	require.Equal(t, "2026-03-07", read(t, p).Published.Format("2006-01-02"), "an update on the next day")
}

func TestPublished(t *testing.T) {
	for _, c := range []struct{ name, head, top, want, updated string }{
		{
			"JSONLD",
			ld(
				`{"@type":"NewsArticle","headline":"x","datePublished":"2026-03-07T08:01:53+07:00","dateModified":"2026-03-07T09:00:00+07:00"}`), "", "2026-03-07T01:01:53Z", "2026-03-07T02:00:00Z",
		},
		{
			"OpenGraph", `<meta property="article:published_time" content="2026-03-07T08:01:53&#x2B;07:00">`, "",
			"2026-03-07T01:01:53Z", "",
		},
		{
			"DayThenMinute", `<meta name="date" content="2026-03-07">`, `<time>7 March 2026, 08:01 UTC</time>`,
			"2026-03-07T08:01:00Z", "",
		},
		{
			"MidnightThenMinute", ld(`{"@type":"NewsArticle","headline":"x","datePublished":"2026-03-07T00:00:00Z"}`),
			`<span class="date">7 March 2026, 08:01 UTC</span>`, "2026-03-07T08:01:00Z", "",
		},
		{
			"VietnameseLine", "", `<span class="date">Thứ bảy, 7/3/2026, 10:00 (GMT+7)</span>`, "2026-03-07T03:00:00Z",
			"",
		},
		{"OneHourAgo", "", `<span class="time">1 giờ trước</span>`, "2026-03-07T08:30:00Z", ""},
		{"PlainLine", "", `<p>Monday, November 18th, 2019 at 1:05 p.m. EST</p>`, "2019-11-18T18:05:00Z", ""},
		{
			"UpdateIsNotPublication", "",
			`<time datetime="2026-03-07T09:00:00Z">Updated 7 March</time><time datetime="2026-03-07T08:00:00Z">7 March</time>`, "2026-03-07T08:00:00Z", "2026-03-07T09:00:00Z",
		},
		{
			"UpdateIsLabeledBefore", "",
			`<p>Last updated: <time datetime="2026-03-07T05:00:00Z">7 March</time></p><p>Published: <time datetime="2026-03-07T04:00:00Z">7 March</time></p>`, "2026-03-07T04:00:00Z", "2026-03-07T05:00:00Z",
		},
		{
			"UpdateIsNamed", "",
			`<span class="dateline updated">7 March 2026, 05:00 UTC</span><span class="dateline">7 March 2026, 04:00 UTC</span>`, "2026-03-07T04:00:00Z", "2026-03-07T05:00:00Z",
		},
		{
			"OnlyAChangeInMetadata", `<meta property="article:modified_time" content="2026-03-07T05:00:00Z">`, "",
			"2026-03-07T05:00:00Z", "2026-03-07T05:00:00Z",
		},
		{
			"OnlyAnUpdate", "", `<time class="updated" datetime="2026-03-07T05:00:00Z">7 March</time>`,
			"2026-03-07T05:00:00Z", "",
		},
		{
			"UpdatedBeforePublished",
			ld(
				`{"@type":"NewsArticle","headline":"x","datePublished":"2026-03-07T08:01:53Z","dateModified":"2026-03-01T09:00:00Z"}`), "", "2026-03-07T08:01:53Z", "",
		},
		{
			"FutureIsWrong", `<meta name="pubdate" content="2036-03-07T08:00:00Z">`,
			`<time datetime="2026-03-07T04:00:00Z">7 March</time>`, "2026-03-07T04:00:00Z", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := page(c.head, "<h1>The bridge opens</h1>"+c.top+paragraphs(prose(4)))
			p.Now = time.Date(2026, 3, 7, 9, 30, 0, 0, time.UTC)
			a := read(t, p)
			require.Equal(t, c.want, a.Published.UTC().Format(time.RFC3339))
			require.False(t, a.DateOnly)
			if c.updated != "" {
				require.Equal(t, c.updated, a.Updated.UTC().Format(time.RFC3339))
			} else {
				require.True(t, a.Updated.IsZero())
			}
		})
	}
}

// The weakest statements are only used where a page has no others.
func TestPublished_DayOnThePage(t *testing.T) {
	for _, c := range []struct{ name, top, want string }{
		{
			"InnerElementsOfALine",
			`<div class="dateline-line"><a href="/h">Health</a><span class="dateline">7 March 2026</span><span class="dateline updated">Updated: 9 March 2026</span></div>`, "2026-03-07",
		},
		{"Bars", `<table><tr><td>07 | 03 | 2026</td></tr></table>`, "2026-03-07"},
		{
			"InASentence",
			`<p>The council decided on 7 March 2026 that the old bridge, which is a hundred years old, is closed for all heavy traffic and for everybody else too.</p>`, "2026-03-07",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page("", "<h1>The bridge opens</h1>"+c.top+paragraphs(prose(4))))
			require.Equal(t, c.want, a.Published.Format(time.DateOnly))
			require.True(t, a.DateOnly)
			require.Less(t, a.Origins[article.FieldPublished].Confidence, 0.8)
		})
	}
}

// TestPublished_HasTheDayOfItsZone keeps the day that readers of the page see.
func TestPublished_HasTheDayOfItsZone(t *testing.T) {
	for _, c := range []struct{ name, head, url, want string }{
		{
			"StatedOffset", ld(`{"@type":"NewsArticle","headline":"x","datePublished":"2026-03-07T06:01:53+11:00"}`),
			"https://paper.example.com/a.html", "2026-03-07",
		},
		{"ZoneOfTheSite", `<meta name="date" content="2026-03-07">`, "https://shimbun.example.jp/a.html", "2026-03-07"},
		{
			"YearFirst", `<meta name="citation_publication_date" content="2023 Jan 7">`,
			"https://paper.example.com/a.html", "2023-01-07",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := page(c.head, paragraphs(prose(4)))
			p.URL = c.url
			if got := read(t, p).Published.Format(time.DateOnly); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestZone reads a time without a zone in the site's zone.
func TestZone(t *testing.T) {
	p := page(`<meta property="article:published_time" content="2026-03-07 08:01:53">`, paragraphs(prose(4)))
	require.Equal(t, "2026-03-07T08:01:53Z", read(t, p).Published.UTC().Format(time.RFC3339))
	p.URL = "https://bao.example.vn/a.html"
	require.Equal(t, "2026-03-07T01:01:53Z", read(t, p).Published.UTC().Format(time.RFC3339), "a Vietnamese site")
	p.Zone = time.FixedZone("", -5*3600)
	require.Equal(t, "2026-03-07T13:01:53Z", read(t, p).Published.UTC().Format(time.RFC3339), "the site's own setting")
	p = page(`<meta name="date" content="2026-03-07">`, paragraphs(prose(4)))
	require.True(t, read(t, p).DateOnly)
}

func TestOtherFields(t *testing.T) {
	p := page(
		`<title>Cây cầu mở lại</title><meta property="og:site_name" content="Báo Bến Cảng"><link rel="canonical" href="/kinh-te/cay-cau.html#top">
<meta property="og:description" content="(Bến Cảng) - Cây cầu cũ của thành phố mở lại trước mùa hè, chợ vui. - Báo Bến Cảng"><meta property="og:image" content="/anh/cau.jpg">
<meta property="article:tag" content="cầu, chợ;Chợ ,bến cảng mới">`+
			ld(
				`{"@type":"BreadcrumbList","itemListElement":[[{"@type":"ListItem","name":"Trang chủ"}],[{"@type":"ListItem","item":{"name":"Kinh t&#7871;"}}]]}`),
		`<h1>Cây cầu mở lại</h1><p>`+strings.Repeat("Cây cầu cũ của thành phố đã mở lại, người dân rất vui mừng. ", 6)+
			`</p>`)
	p.URL = "https://bencang.example.vn/kinh-te/cay-cau.html?utm_source=x"
	a := read(t, p)
	require.Equal(t, "https://bencang.example.vn/kinh-te/cay-cau.html", a.Canonical)
	require.Equal(t, "Cây cầu cũ của thành phố mở lại trước mùa hè, chợ vui.", a.Lead)
	require.Equal(t, "https://bencang.example.vn/anh/cau.jpg", a.Image)
	require.Equal(t, "Kinh tế", a.Section)
	require.Equal(t, []string{"cầu", "chợ", "bến cảng mới"}, a.Tags)
	require.Equal(t, "vi", a.Language, "whatever the template says")
	require.Equal(t, "Báo Bến Cảng", a.Site)
	require.Equal(t, article.FromText, a.Origins[article.FieldLanguage].Source)
	require.Equal(t, article.FromJSONLD, a.Origins[article.FieldSection].Source)
	for f, o := range a.Origins {
		require.True(t, a.Has(f), f)
		require.NotEmpty(t, o.Source, f)
		require.True(t, o.Confidence > 0 && o.Confidence <= 1, "%s %v", f, o)
	}
}

func TestRun_IgnoresCanonicalURLsOfOtherSites(t *testing.T) {
	for ref, want := range map[string]string{
		"https://elsewhere.example/x": "https://www.paper.example/world/bridge-opens.html",
		"https://www.paper.example/":  "https://www.paper.example/world/bridge-opens.html",
		"https://m.paper.example/b":   "https://m.paper.example/b",
		"https://paper.example/b":     "https://paper.example/b",
		"javascript:x":                "https://www.paper.example/world/bridge-opens.html",
	} {
		a := read(t, page(fmt.Sprintf(`<link rel="canonical" href="%s">`, ref), paragraphs(prose(4))))
		require.Equal(t, want, a.Canonical, ref)
	}
}

// A standfirst that is a heading inside the text, or that stands before the element that is marked as the text, is the
// lead. Elsewhere it is a part of the text.
func TestBody_StandfirstIsTheLead(t *testing.T) {
	lead := "The bridge, which was closed in spring, opens again before the summer, says the mayor of the town."
	text := paragraphs(prose(6))
	for name, c := range map[string]struct {
		body   string
		inText bool
	}{
		"a heading inside the text": {`<article><h2 class="sapo">` + lead + `</h2>` + text + `</article>`, false},
		"before the article": {
			`<p class="description">` + lead + `</p><article class="fck_detail">` + text + `</article>`, false,
		},
		"in a header before it": {
			`<header><div class="standfirst"><p>` + lead + `</p></div></header><article><div>` + text +
				`</div></article>`, false,
		},
		"before the articleBody": {
			`<article><p class="dek">` + lead + `</p><div itemprop="articleBody">` + text + `</div></article>`, false,
		},
		"inside the articleBody": {
			`<article itemprop="articleBody"><p class="lead">` + lead + `</p>` + text + `</article>`, true,
		},
		"in a header of the article": {
			`<article><header><p class="intro">` + lead + `</p></header><div class="text">` + text + `</div></article>`,
			true,
		},
		"before an unmarked text": {
			`<div class="excerpt"><p>` + lead + `</p></div><div class="text">` + text + `</div>`, true,
		},
	} {
		for size, build := range map[string]func(string) extract.Page{"small page": sitePage, "busy page": busyPage} {
			t.Run(name+", "+size, func(t *testing.T) {
				p := build(c.body)
				p.HTML = bytes.Replace(p.HTML, []byte("<title>"),
					[]byte(`<meta name="description" content="`+lead+`"><title>`), 1)
				a := read(t, p)
				require.Equal(t, lead, a.Lead)
				want := strings.Join(prose(6), "\n\n")
				if c.inText {
					want = lead + "\n\n" + want
				}
				require.Equal(t, want, a.Text)
			})
		}
	}
}

func FuzzMeta(f *testing.F) {
	f.Add(`{"@type":"NewsArticle","headline":"x","author":{"@id":"#p"},"datePublished":"2026-03-07"}`,
		"Mai Lan, Jo Harper", "Thứ bảy, 7/3/2026, 10:00")
	f.Add(`{"@graph":[{"@type":["Article"],"image":[{"url":"x"}]},]}`, "By &amp;amp;lt;", "1 giờ trước")
	f.Fuzz(func(t *testing.T, script, author, date string) {
		p := page(ld(script)+`<title>`+author+`</title>`, `<h1>`+author+`</h1><b class="author">`+author+`</b><time>`+
			date+`</time>`+paragraphs(prose(2)))
		p.Now = time.Unix(1772843936, 0)
		a, err := extract.Extract(t.Context(), p)
		if err == nil {
			require.LessOrEqual(t, len(a.Authors), 12)
			requireSafe(t, a.HTML)
		}
	})
}

// A category that the page links is the section where nothing else states one.
func TestSection_OfACategoryLink(t *testing.T) {
	nav := `<nav><a href="/category/sport">Sport</a></nav>`
	a := read(t, page("", nav+`<h1>The bridge opens</h1>`+paragraphs(prose(4))+
		`<p>Filed under <a rel="category tag" href="/c/7">Harbour</a></p>`))
	require.Equal(t, "Harbour", a.Section)
	require.Less(t, a.Origins[article.FieldSection].Confidence, 0.5)
	require.Empty(t, read(t, page("", nav+`<h1>The bridge opens</h1>`+paragraphs(prose(4)))).Section)
}
