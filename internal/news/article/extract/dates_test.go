package extract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/dates"
	"dateline/internal/news/article/extract"
)

// fetchedAt is 20 March 2026, 10:00 in Hanoi.
func fetchedAt() time.Time { return time.Date(2026, 3, 20, 3, 0, 0, 0, time.UTC) }

func vietnamese(n int) string {
	return paragraphs(strings.Split(
		strings.TrimSuffix(strings.Repeat("Chuyến phà đêm đến bến cảng đã bị hủy vì sương mù dày đặc, nhà điều hành "+
			"cho biết. Xe buýt sẽ chạy thay thế trong khi chờ trời quang trở lại.|", n), "|"), "|"))
}

func hanoiPage(head, top, after string) extract.Page {
	p := page(head, "<h1>Phà đêm trở lại bến cảng</h1>"+top+`<div class="story-text">`+vietnamese(6)+"</div>"+after)
	p.URL, p.Zone, p.Now = "https://bao.example.org/tin/pha-dem.html", dates.VietnamTime(), fetchedAt()
	return p
}

// TestPublished_Reconciles reads statements that contradict each other.
func TestPublished_Reconciles(t *testing.T) {
	og := func(v string) string { return `<meta property="article:published_time" content="` + v + `">` }
	changed := func(v string) string { return `<meta property="article:modified_time" content="` + v + `">` }
	for _, c := range []struct{ name, head, top, want, updated string }{
		{
			"FutureTimeAndVisibleZone", og("2026-03-20T09:15:00Z"), `<div class="date">20/03/2026 09:15 (GMT+7)</div>`,
			"2026-03-20T02:15:00Z", "",
		},
		{
			"FutureTimeAndVisibleTime", og("2026-03-20T09:15:00Z"), `<div class="date">20/03/2026 09:15</div>`,
			"2026-03-20T02:15:00Z", "",
		},
		{"FutureTimeAlone", og("2026-03-20T09:15:00Z"), "", "2026-03-20T02:15:00Z", ""},
		{
			"PastTimeAndVisibleZone", og("2026-03-10T09:15:00Z"), `<div class="date">10/03/2026 09:15 (GMT+7)</div>`,
			"2026-03-10T02:15:00Z", "",
		},
		{
			"PastTimeAndVisibleNameOfTheZone", og("2026-03-10T09:15:00+00:00"),
			`<div class="date">Tue, 10 Mar 2026 09:15 WIB</div>`, "2026-03-10T02:15:00Z", "",
		},
		{
			"OneHourOff", og("2026-03-10T03:15:20Z"), `<div class="date">10/03/2026 09:15 (GMT+7)</div>`,
			"2026-03-10T02:15:00Z", "",
		},
		{
			"UpdateWithTheSameError", og("2026-03-20T08:15:00Z") + changed("2026-03-20T09:30:00Z"),
			`<div class="date">20/03/2026 08:15 (GMT+7)</div>`, "2026-03-20T01:15:00Z", "2026-03-20T02:30:00Z",
		},
		{
			"SameTime", og("2026-03-10T02:15:42Z"), `<div class="date">10/03/2026 09:15 (GMT+7)</div>`,
			"2026-03-10T02:15:42Z", "",
		},
		{
			"VisibleTimeWithoutZone", og("2026-03-10T02:15:42Z"), `<div class="date">10/03/2026 02:15</div>`,
			"2026-03-10T02:15:42Z", "",
		},
		{
			"TimeElementAndItsText", "", `<time datetime="2026-03-10T09:15:00Z">10/03/2026 09:15 (GMT+7)</time>`,
			"2026-03-10T02:15:00Z", "",
		},
		{
			"DateOfAnyEvent", `<meta name="date" content="2026-03-12" scheme="YYYY-MM-DD">`,
			`<ul><li class="date"><time>10/03/2026, 09:15</time></li></ul>`, "2026-03-10T02:15:00Z", "",
		},
		{
			"DublinCoreDate", `<meta name="DCTERMS.date" content="2026-02-10T11:02:44+07:00">`,
			`<span class="date">10.03.2026 09:15</span>`, "2026-03-10T02:15:00Z", "",
		},
		{"DublinCoreDateAlone", `<meta name="DC.date" content="2026-03-10T09:15:00+07:00">`, "", "2026-03-10T02:15:00Z", ""},
		{
			"DublinCoreDateIssued", `<meta name="DC.date.issued" content="2026-03-10T09:15:00+07:00">`,
			`<span class="date">12.03.2026</span>`, "2026-03-10T02:15:00Z", "",
		},
		{
			"TimeOfGeneration", `<meta name="gentime" content="Thu Mar 19 16:36:31 CET 2026">`,
			`<p>Rede, 10.03.2026 09:15</p>`, "2026-03-10T02:15:00Z", "",
		},
		{
			"FarFuture", og("2036-03-07T08:00:00Z"), `<div class="date">05/03/2026 09:15</div>`, "2026-03-05T02:15:00Z",
			"",
		},
		{
			"Clock", "",
			`<div class="top"><span class="time-now">Thứ Sáu, 20/03/2026</span></div><div class="date">05/03/2026 09:15</div>`, "2026-03-05T02:15:00Z", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, hanoiPage(c.head, c.top, ""))
			require.Equal(t, c.want, a.Published.UTC().Format(time.RFC3339))
			require.False(t, a.DateOnly)
			if c.updated == "" {
				require.True(t, a.Updated.IsZero(), a.Updated)
			} else {
				require.Equal(t, c.updated, a.Updated.UTC().Format(time.RFC3339))
			}
		})
	}
}

// Today's date above the page is not the date of the article.
func TestPublished_NotTheClockOfTheSite(t *testing.T) {
	for _, clock := range []string{
		`<div class="top"><span class="time-now">Thứ Sáu, 20/03/2026</span></div>`,
		`<header><div class="date">Friday, March 20, 2026</div></header>`,
		`<div id="clock" class="date">20/03/2026 10:00:12</div>`,
		`<div class="topbar"><time datetime="2026-03-20">20/03</time></div>`,
		`<div class="bar"><span class="date">Hôm nay, 20/03/2026</span></div>`,
	} {
		for own, want := range map[string]string{
			"": "0001-01-01T00:00:00Z",
			`<div class="date">05/03/2026 09:15</div>`:      "2026-03-05T02:15:00Z",
			`<p><span>Thứ Năm, 05/03/2026 09:15</span></p>`: "2026-03-05T02:15:00Z",
		} {
			p := hanoiPage("", own, "")
			p.HTML = []byte(strings.Replace(string(p.HTML), "<body>", "<body>"+clock, 1))
			require.Equal(t, want, read(t, p).Published.UTC().Format(time.RFC3339), clock+own)
		}
	}
}

// A date above the headline counts, today's too, if it is that of the article.
func TestPublished_AboveTheHeadline(t *testing.T) {
	p := hanoiPage("", "", "")
	p.HTML = []byte(strings.Replace(string(p.HTML), "<body>",
		`<body><div class="article-header"><span class="date">20/03/2026 08:30</span></div>`, 1))
	require.Equal(t, "2026-03-20T01:30:00Z", read(t, p).Published.UTC().Format(time.RFC3339))
}

// A page without a date of its own has none: that of its discovery counts.
func TestPublished_NotThatOfSomethingElse(t *testing.T) {
	for name, after := range map[string]string{
		"Teaser":          `<div><h3>Tin khác</h3><ul><li><a href="/tin/b.html">Giá vàng tăng</a> <span class="time">2 giờ trước</span></li></ul></div>`,
		"TeaserWithTime":  `<div class="box"><div><h3><a href="/tin/b.html">Giá vàng tăng mạnh nhất từ đầu năm</a></h3><time datetime="2026-03-19T08:00:00+07:00">19/03</time></div></div>`,
		"TeasersAsLines":  `<p><a href="/tin/b.html">Giá vàng tăng mạnh</a> (19/03/2026)</p><p><a href="/tin/c.html">Giá dầu giảm sâu</a> (18/03/2026)</p>`,
		"Comments":        `<ol class="comment-list"><li><b>Lan</b> <time datetime="2026-03-19T08:00:00+07:00">19/03/2026 08:00</time><p>Hay quá!</p></li></ol>`,
		"UnnamedComments": `<div><div><b>Lan</b> <span class="time">19/03/2026 08:00</span><p>Hay quá!</p></div><div><b>Minh</b> <span class="time">19/03/2026 09:00</span><p>Đúng vậy!</p></div></div>`,
		"CommentItem":     `<div itemprop="comment" itemscope itemtype="https://schema.org/Comment" class="comment"><time itemprop="datePublished" datetime="2026-03-19T08:00:00+07:00">19/03</time><p>Hay quá!</p></div>`,
		"License":         `<p>Giấy phép số 12/GP-BTTTT ngày 01/02/2020</p>`,
		"LicenseInFooter": `<footer><div>Giấy phép hoạt động báo chí số 12/GP-BTTTT<br>cấp ngày 01/02/2020</div></footer>`,
		"Copyright":       `<div>Copyright 2020, established 1 February 2019</div>`,
		"All":             `<ul><li><a href="/b">Giá vàng</a> <span class="date">2 giờ trước</span></li></ul><div class="comments"><span class="date">1 giờ trước</span></div><p>Giấy phép số 12/GP-BTTTT ngày 01/02/2020</p>`,
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, hanoiPage("", "", after))
			require.True(t, a.Published.IsZero(), a.Published)
			a = read(t, hanoiPage("", `<p class="date">05/03/2026 09:15</p>`, after))
			require.Equal(t, "2026-03-05T02:15:00Z", a.Published.UTC().Format(time.RFC3339))
		})
	}
}

// The words of the text decide the order of day and month, not the declared language.
func TestPublished_OrderOfDayAndMonth(t *testing.T) {
	for _, c := range []struct{ name, url, lang, text, date, want string }{
		{"VietnameseText", "https://bao.example.vn/a", "en-US", vietnamese(6), "01/03/2026 09:15", "2026-03-01"},
		{"VietnameseTextOnCom", "https://bao.example.com/a", "en-US", vietnamese(6), "01/03/2026 09:15", "2026-03-01"},
		{"EnglishText", "https://paper.example.com/a", "en-US", paragraphs(prose(6)), "01/03/2026 09:15", "2026-01-03"},
		{
			"EnglishTextInVietnam", "https://paper.example.vn/a", "en-US", paragraphs(prose(6)), "01/03/2026 09:15",
			"2026-03-01",
		},
		{
			"GermanText", "https://zeitung.example.com/a", "en-US",
			strings.Repeat("<p>Die alte Brücke wird im Frühjahr wieder für den Verkehr geöffnet, sagte die "+
				"Bürgermeisterin am Donnerstag im Rathaus der Stadt.</p>", 5), "01/03/2026 09:15", "2026-03-01",
		},
		{
			"FutureYields", "https://paper.example.com/a", "en-US", paragraphs(prose(6)), "05/03/2026 09:15",
			"2026-03-05",
		},
		{
			"Weekday", "https://paper.example.com/a", "en-US", paragraphs(prose(6)), "Sunday, 01/03/2026 09:15",
			"2026-03-01",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := page("", `<h1>The bridge opens</h1><div class="date">`+c.date+`</div><div class="story-text">`+c.text+
				"</div>")
			p.HTML = []byte(strings.Replace(string(p.HTML), `lang="en"`, `lang="`+c.lang+`"`, 1))
			p.URL, p.Now = c.url, fetchedAt()
			require.Equal(t, c.want, read(t, p).Published.Format(time.DateOnly))
		})
	}
}

// Without a zone of the domain, the page's words for its zone count, then its language.
func TestPublished_ZoneByEvidence(t *testing.T) {
	for _, c := range []struct{ name, url, head, top, text, want string }{
		{
			"OtherVisibleDate", "https://paper.example.com/a", `<meta name="date" content="2026-03-10 09:15">`,
			`<div class="date">10/03/2026 09:15 (GMT+9)</div>`, paragraphs(prose(6)), "2026-03-10T00:15:00Z",
		},
		{
			"Update", "https://paper.example.com/a", "",
			`<div class="date">10/03/2026 09:15</div><div class="date">Updated 11/03/2026 10:15 (UTC+3)</div>`,
			paragraphs(prose(6)), "2026-03-10T06:15:00Z",
		},
		{
			"Words", "https://bao.example.com/a", "", `<div class="date">10/03/2026 09:15</div>`, vietnamese(6),
			"2026-03-10T02:15:00Z",
		},
		{
			"Country", "https://paper.example.vn/a", "", `<div class="date">10/03/2026 09:15</div>`,
			paragraphs(prose(6)),
			"2026-03-10T02:15:00Z",
		},
		{
			"None", "https://paper.example.com/a", "", `<div class="date">10 March 2026 09:15</div>`,
			paragraphs(prose(6)),
			"2026-03-10T09:15:00Z",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := page(c.head, `<h1>The bridge opens</h1>`+c.top+`<div class="story-text">`+c.text+"</div>")
			p.HTML = []byte(strings.Replace(string(p.HTML), `lang="en"`, `lang="en-GB"`, 1))
			p.URL, p.Now = c.url, fetchedAt()
			require.Equal(t, c.want, read(t, p).Published.UTC().Format(time.RFC3339))
		})
	}
}

// Of the statements of an element about one day the most exact one counts.
func TestPublished_ExactTimeOfAnElement(t *testing.T) {
	for name, top := range map[string]string{
		"Abbreviation":  `<abbr class="published" title="2026-11-05T06:50:00+07:00">Published: Thu 05 November 2026</abbr>`,
		"TextOfTime":    `<time datetime="2026-11-05">5/11/2026 06:50</time>`,
		"MidnightInUTC": `<time datetime="2026-11-05T00:00:00Z">05/11/2026 06:50 (GMT+7)</time>`,
		"Title":         `<span title="2026-11-05 06:50:00 +0700 +07">November 5, 2026</span>`,
		"RelativeTime":  `<relative-time datetime="2026-11-04T23:50:00Z">Nov 5, 2026</relative-time>`,
		"InALine":       `<div class="meta"><b>Maren Oakley</b> <time datetime="2026-11-05T06:50:00+07:00">5 November 2026</time></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, wrapper := range []string{"", "page-wrap no-sidebar", "has-related with-ads"} {
				p := hanoiPage("", top, "")
				p.HTML = []byte(strings.Replace(string(p.HTML), "<body>", `<body><div class="`+wrapper+`">`, 1))
				p.Now = time.Time{}
				a := read(t, p)
				require.False(t, a.DateOnly)
				require.Equal(t, "2026-11-04T23:50:00Z", a.Published.UTC().Format(time.RFC3339))
			}
		})
	}
}

// An update that only readers see counts as one, and not as the publication.
func TestUpdated_Visible(t *testing.T) {
	const published, updated = "2026-03-05T02:15:00Z", "2026-03-06T03:20:00Z"
	own := `<time datetime="2026-03-05T09:15:00+07:00">5/3/2026</time>`
	for name, c := range map[string]struct{ top, after string }{
		"VietnameseLine": {own + `<p>Cập nhật lúc 10:20, 06/03/2026</p>`, ""},
		"OneLine":        {`<div class="date">05/03/2026 09:15 | Cập nhật: 06/03/2026 10:20</div>`, ""},
		"OneLineReversed": {
			`<div class="date">Updated: 6 March 2026, 10:20. Published: 5 March 2026, 09:15</div>`,
			"",
		},
		"LastModifiedOn": {own, `<p>Last modified on March 6, 2026 at 10:20</p>`},
		"LabelApart":     {own, `<div><b>Last updated:</b> <i>6 March 2026, 10:20</i></div>`},
		"Microdata": {
			own, `<p>Edited <time itemprop="dateModified" datetime="2026-03-06T10:20:00+07:00">6 March</time></p>`,
		},
		"Pelican": {
			`<abbr class="published" title="2026-03-05T09:15:00+07:00">Thu 05 March 2026</abbr><abbr class="modified" title="2026-03-06T10:20:00+07:00">Updated: Fri 06 March 2026</abbr>`, "",
		},
		"WordPress": {
			`<time class="entry-date published" datetime="2026-03-05T09:15:00+07:00">5 Th3, 2026</time><time class="updated" datetime="2026-03-06T10:20:00+07:00">6 Th3, 2026</time>`, "",
		},
		"WordPressReverse": {
			`<time class="updated" datetime="2026-03-06T10:20:00+07:00">6 Th3, 2026</time><time class="entry-date published" datetime="2026-03-05T09:15:00+07:00">5 Th3, 2026</time>`, "",
		},
		"HugoStack": {
			own, `<section class="article-lastmod"><span>Last updated on Mar 06, 2026 10:20 +07</span></section>`,
		},
		"VitePress": {
			own,
			`<p class="VPLastUpdated">Last updated: <time datetime="2026-03-06T10:20:00+07:00">3/6/26, 10:20 AM</time></p>`,
		},
		"German": {own + `<p>Zuletzt aktualisiert am 6. März 2026, 10:20 Uhr</p>`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, hanoiPage("", c.top, c.after))
			require.Equal(t, published, a.Published.UTC().Format(time.RFC3339))
			require.Equal(t, updated, a.Updated.UTC().Format(time.RFC3339))
		})
	}
}

// Metadata in UTC has the day that readers see: in the zone of the country, else the one that the page shows.
func TestPublished_DayThatReadersSee(t *testing.T) {
	og := func(v string) string { return `<meta property="article:published_time" content="` + v + `">` }
	for name, c := range map[string]struct{ url, head, top, day string }{
		"Country":         {"https://giornale.example.it/a", og("2026-03-05T23:15:00Z"), "", "2026-03-06"},
		"SummerTime":      {"https://giornale.example.it/a", og("2026-07-05T22:15:00Z"), "", "2026-07-06"},
		"CountryOfItsOwn": {"https://giornale.example.it/a", og("2026-03-05T23:15:00-05:00"), "", "2026-03-05"},
		"ShownDay":        {"https://paper.example.com/a", og("2026-03-06T02:54:29Z"), `<p class="date">5 March 2026</p>`, "2026-03-05"},
		"ShownDayEast":    {"https://paper.example.com/a", og("2026-03-04T23:54:29Z"), `<p class="date">5 March 2026</p>`, "2026-03-05"},
		"ShownTime":       {"https://paper.example.com/a", "", `<time datetime="2026-03-06T02:54:29Z">March 5, 2026 10:54 PM</time>`, "2026-03-05"},
		"ShownDayOfUTC":   {"https://giornale.example.it/a", og("2026-03-05T23:15:00Z"), `<p class="date">5 March 2026</p>`, "2026-03-05"},
		"Nothing":         {"https://paper.example.com/a", og("2026-03-06T02:54:29Z"), "", "2026-03-06"},
		"AnotherDayAtAll": {"https://paper.example.com/a", og("2026-03-06T02:54:29Z"), `<p class="date">9 March 2026</p>`, "2026-03-06"},
		"LocalTimeNamedUTC": {
			"https://paper.example.au/a", og("2026-03-04T21:25:06+00:00") +
				`<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2026-03-05T08:25:06Z"}</script>`,
			"", "2026-03-05",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := page(c.head, `<h1>The bridge opens</h1>`+c.top+`<div class="story-text">`+paragraphs(prose(6))+"</div>")
			p.HTML = []byte(strings.Replace(string(p.HTML), `lang="en"`, `lang="en-GB"`, 1))
			p.URL = c.url
			a := read(t, p)
			require.Equal(t, c.day, a.Published.Format(time.DateOnly))
			if name == "LocalTimeNamedUTC" {
				require.Equal(t, "2026-03-04T21:25:06Z", a.Published.UTC().Format(time.RFC3339))
			}
		})
	}
}

// The heading that shows the title tells what is above the article, whatever its level.
func TestPublished_NextToTheHeadline(t *testing.T) {
	const own = `<p class="date">5 March 2026</p>`
	for name, body := range map[string]string{
		"h1 of the section": `<div><h1>World</h1><p class="date">1 March 2026</p></div><div><h2>The bridge opens</h2>` + own,
		"h1 of the paper":   `<div><h1>The Paper</h1><span class="date">Fri, 20 March 2026</span></div><div><h2>The bridge opens</h2>` + own,
		"a link to the page": `<h1>The bridge opens</h1><a href="/world/bridge-opens.html"><span class="date">5 March 2026</span></a>` +
			`<p>Readers met from 1 March 2026.</p><div>`,
		"a teaser before the text": `<div><h1>The bridge opens</h1><ul><li>By <a href="/x/1">Fatima Hussein, The Harbor Press</a></li><li>` +
			`<span class="published">5 March 2026</span></li></ul>`,
		"Dublin Core of an update": `<meta name="DC.date" content="2026-03-09"><div><h1>The bridge opens</h1><p><b>Erschienen am:</b></p><h2>05.03.2026</h2>`,
	} {
		t.Run(name, func(t *testing.T) {
			p := page(`<meta property="og:title" content="The bridge opens"><title>The bridge opens</title>`, body+`<div class="story-text">`+paragraphs(prose(6))+"</div></div>")
			a := read(t, p)
			require.Equal(t, "The bridge opens", a.Title)
			require.Equal(t, "2026-03-05", a.Published.Format(time.DateOnly))
		})
	}
}

// A label in an element of its own, or after the date, tells updates from publications.
func TestPublished_LabelsApart(t *testing.T) {
	one, two := `<time datetime="2026-03-05">5 March 2026</time>`, `<time datetime="2026-03-09">9 March 2026</time>`
	for name, top := range map[string]string{
		"definitions": `<dl><dt>Updated</dt><dd>` + two + `</dd><dt>Published</dt><dd>` + one + `</dd></dl>`,
		"divisions": `<div><div>Updated:</div><div><span>` + two + `</span></div><div>Original:</div><div><span>` + one +
			`</span></div></div>`,
		"Korean":         `<p><span>최종수정 2026.03.09. 오전 10:20</span> <span>입력 2026.03.05. 오전 9:15</span></p>`,
		"one line":       `<p class="date">입력 2026.03.05 09:15 수정 2026.03.09 10:20</p>`,
		"within a word":  `<p class="date">最終更新日：2026年3月9日</p><p class="date">公開日：2026年3月5日</p>`,
		"without spaces": `<p class="date">2026年3月9日更新</p><p class="date">2026年3月5日公開</p>`,
		"after the date": `<p class="date">2026年3月9日 更新</p><p class="date">2026年3月5日</p>`,
		"a headline about an update": `<h1>The city has updated its plan for the old bridge</h1><p class="date">5 March 2026</p>` +
			`<p class="date">Last updated 9 March 2026</p>`,
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, page("", `<article><h1>The bridge opens</h1>`+top+paragraphs(prose(6))+"</article>"))
			require.Equal(t, "2026-03-05", a.Published.Format(time.DateOnly))
			require.Equal(t, "2026-03-09", a.Updated.Format(time.DateOnly))
		})
	}
}

// What several sources state outweighs one, and the page's own element the metadata of its template.
func TestPublished_Weighs(t *testing.T) {
	ld := func(day string) string {
		return `<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"` + day + `"}</script>`
	}
	for name, c := range map[string]struct{ head, top string }{
		"microdata of the live blog": {
			ld("2026-03-09T08:00:00Z"), `<div itemprop="datePublished" content="2026-03-05T08:00:00Z">5 March</div>`,
		},
		"an update only in the metadata": {
			`<meta property="article:modified_time" content="2026-03-09T08:00:00Z">`, `<p>Bridgetown, 5 March 2026</p>`,
		},
		"a sidebar": {"", `<p>Bridgetown, 5 March 2026</p><aside class="sidebar"><time datetime="2026-03-09">9 March</time></aside>`},
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, page(c.head, `<article><h1>The bridge opens</h1>`+c.top+paragraphs(prose(6))+"</article>"))
			require.Equal(t, "2026-03-05", a.Published.Format(time.DateOnly))
		})
	}
}

// Dates of other articles, in a sidebar or after the text, neither replace nor correct that of the article.
func TestPublished_NotCorrectedByOthers(t *testing.T) {
	og := func(v string) string { return `<meta property="article:published_time" content="` + v + `">` }
	ld := func(s string) string {
		return `<script type="application/ld+json">{"@type":"NewsArticle",` + s + `}</script>`
	}
	side := func(s string) string { return `<aside class="sidebar"><span class="date">` + s + `</span></aside>` }
	next := func(day string) string {
		return `<article><h1>Another story</h1><time datetime="` + day + `">1 March</time>` + paragraphs(prose(3)) + `</article>`
	}
	for name, c := range map[string]struct{ url, head, top, after, want string }{
		"zone in a sidebar": {"", og("2026-03-10T09:15:00Z"), "", side("10/03/2026 12:15 (GMT+7)"), "2026-03-10 16:15 +0700"},
		"time in a sidebar": {"", ld(`"datePublished":"2026-03-10"`), "", side("10 March 2026 12:25"), "2026-03-10 00:00 +0000"},
		"day in a sidebar":  {"", og("2026-03-06T02:54:29Z"), "", side("5 March 2026"), "2026-03-06 02:54 +0000"},
		"entry of a live blog": {
			"", og("2026-03-10T09:00:00Z"), `<div class="date">10/03/2026 16:00 (GMT+7)</div>` +
				`<p><span class="time">10/03/2026 16:30 (GMT+7)</span></p>`, "", "2026-03-10 16:00 +0700",
		},
		"created before seven": {
			"https://bao.example.vn/a", ld(`"datePublished":"2026-03-10T07:00:00+07:00","dateCreated":"2026-03-10T05:31:00+07:00"`),
			"", "", "2026-03-10 07:00 +0700",
		},
		"next article": {
			"", "", `<time datetime="2026-03-05T09:15:00Z">5 March</time>`, next("2026-03-01T08:00:00Z"), "2026-03-05 09:15 +0000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := page(c.head, "<article><h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+paragraphs(prose(6))+
				"</div></article>"+c.after)
			p.HTML = []byte(strings.Replace(string(p.HTML), `lang="en"`, `lang="en-GB"`, 1))
			p.URL, p.Now = "https://paper.example.com/a", fetchedAt()
			if c.url != "" {
				p.URL = c.url
			}
			require.Equal(t, c.want, read(t, p).Published.Format("2006-01-02 15:04 -0700"))
		})
	}
}

// An event to come and the number of a telephone are not the publication.
func TestPublished_NeitherFutureNorTelephone(t *testing.T) {
	for _, c := range []struct{ path, after string }{
		{"/events/2026/12/24/market", ""},
		{"/events/2026-12-24-market", ""},
		{"/a", "<p>Hotline</p><p>0912345678</p>"},
	} {
		p := page("", "<h1>The bridge opens</h1>"+paragraphs(prose(6))+c.after)
		p.URL, p.Now = "https://paper.example.com"+c.path, fetchedAt()
		a := read(t, p)
		require.True(t, a.Published.IsZero(), a.Published)
	}
}

// A number in a line may also be a day.
func TestPublished_DayInDigits(t *testing.T) {
	a := read(t, page("", "<h1>The bridge opens</h1><p>20260305</p>"+paragraphs(prose(6))))
	require.Equal(t, "2026-03-05", a.Published.Format(time.DateOnly))
}

// Of two sources of metadata only one may name its local time UTC.
func TestUpdated_ByASourceWithTheRightZone(t *testing.T) {
	a := read(t, hanoiPage(`<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2026-03-10T09:15:00Z"}</script>`+
		`<meta property="article:published_time" content="2026-03-10T02:15:00Z">`+
		`<meta property="article:modified_time" content="2026-03-10T03:15:00Z">`,
		`<div class="date">10/03/2026 09:15 (GMT+7)</div>`, ""))
	require.Equal(t, "2026-03-10T02:15:00Z", a.Published.UTC().Format(time.RFC3339))
	require.Equal(t, "2026-03-10T03:15:00Z", a.Updated.UTC().Format(time.RFC3339))
}
