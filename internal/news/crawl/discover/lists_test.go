package discover

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseFeed_Formats(t *testing.T) {
	const one = "article /gia-vang-4800001.html | Giá vàng tăng | 07/03 10:00\n"
	for _, c := range []struct{ name, doc, format, want string }{
		{
			"RSS 2.0",
			`<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Báo Mẫu</title><link>https://baomau.example/</link>
			<item><title>Giá vàng tăng</title><link>https://baomau.example/gia-vang-4800001.html</link><pubDate>Sat, 07 Mar 2026 10:00:00 +0700</pubDate></item></channel></rss>`, "rss", one,
		},
		{
			"CDATA and HTML in the description",
			`<rss><channel><title><![CDATA[Báo Mẫu]]></title><item><title><![CDATA[Giá vàng tăng]]></title>
			<description><![CDATA[<a href="https://baomau.example/khac.html"><img src="a.jpg"></a></br>Mở cửa]]></description><link><![CDATA[ https://baomau.example/gia-vang-4800001.html ]]></link>
			<pubDate>Sat, 07 Mar 2026 10:00:00 +0700</pubDate></item>`, "rss", one,
		},
		{
			"HTML in the description, not escaped",
			`<rss><channel><item><description><a href="x"><title>Không</title><link>https://baomau.example/khac.html</link></br><img src=a></description>
			<title>Giá vàng tăng</title><link>/gia-vang-4800001.html</link><pubDate>7/3/2026 10:00:00 AM</pubDate></item></channel></rss>`, "rss",
			"article /gia-vang-4800001.html | Giá vàng tăng | 07/03 10:00\n",
		},
		{
			"title escaped twice",
			`<rss><channel><item><title>Gi&amp;#225; v&amp;agrave;ng &lt;b&gt;tăng&lt;/b&gt;</title><link>/gia-vang-4800001.html</link><pubDate>2026-03-07T03:00:00Z</pubDate></item></channel></rss>`, "rss", one,
		},
		{
			"tracking dropped, twice the same",
			`<rss><channel><item><title>Giá vàng tăng</title><link>/gia-vang-4800001.html?utm_source=rss</link><pubDate>Sat, 7 Mar 2026 10:00:00 GMT+7</pubDate></item>
			<item><title>Giá vàng tăng</title><link>/gia-vang-4800001.html</link></item></channel></rss>`, "rss", one,
		},
		{
			"guid with a link",
			`<rss><channel><item><title>Giá vàng tăng</title><guid>https://baomau.example/gia-vang-4800001.html</guid><dc:date>2026-03-07T10:00:00+07:00</dc:date></item></channel></rss>`, "rss", one,
		},
		{
			"guid without a link",
			`<rss><channel><item><title>Giá vàng tăng</title><guid isPermaLink="false">https://baomau.example/?p=1</guid></item></channel></rss>`, "rss", "",
		},
		{
			"the link is redirected by a counter",
			`<rss><channel><item><title>Giá vàng tăng</title><link>https://feeds.example/~r/1</link><feedburner:origLink>https://baomau.example/gia-vang-4800001.html</feedburner:origLink><pubDate>07/03/2026 10:00 GMT+7</pubDate></item></channel></rss>`, "rss", one,
		},
		{
			"a picture with a title of its own",
			`<rss><channel><image><title>Logo</title><link>https://baomau.example/logo</link></image><title>Báo Mẫu</title><link>https://baomau.example/</link><item><media:group><media:content url="a.jpg"><media:title>Ảnh</media:title></media:content></media:group><title>Giá vàng tăng</title><atom:link href="https://baomau.example/feed" rel="self"/><link>/gia-vang-4800001.html</link><pubDate>Thứ bảy, 7/3/2026, 10:00 (GMT+7)</pubDate></item>`, "rss", one,
		},
		{
			"cut off",
			`<rss><channel><item><title>Giá vàng tăng</title><link>/gia-vang-4800001.html</link><pubDate>Sat, 07 Mar 2026 10:00:00 +0700</pubDate><descr`, "rss", one,
		},
		{
			"unclosed field",
			`<rss><channel><item><link>/gia-vang-4800001.html</link><pubDate>Sat, 07 Mar 2026 10:00:00 +0700</pubDate><title>Giá vàng tăng</item><item><title>Hai</title><link>/hai-4800002.html</link></item></channel></rss>`, "rss",
			one + "article /hai-4800002.html | Hai | -\n",
		},
		{
			"control characters", "<rss><channel><item><title>Giá \x00\x0bvàng " +
				"tăng</title><link>/gia-vang-4800001.html</link><pubDate>2026-03-07 " +
				"10:00:00</pubDate></item></channel></rss>", "rss",
			"article /gia-vang-4800001.html | Giá vàng tăng | 07/03 10:00\n",
		},
		{
			"a bare &",
			`<rss><channel><item><title>Giá vàng tăng</title><link>/gia-vang-4800001.html?a=1&b=2</link><pubDate>1772852400</pubDate></item></channel></rss>`, "rss", "article /gia-vang-4800001.html?a=1&b=2 | Giá vàng tăng | 07/03 10:00\n",
		},
		{
			"Atom",
			`<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">Báo &lt;b&gt;Mẫu</title><link href="https://baomau.example/"/><link rel="self" href="https://baomau.example/atom.xml"/>
			<entry><title type="html">Giá vàng tăng</title><link rel="enclosure" href="/a.mp3"/><link rel="alternate" href="/gia-vang-4800001.html"/><id>tag:1</id><published>2026-03-07T10:00:00+07:00</published>
			<updated>2026-03-07T11:00:00+07:00</updated><author><name>A</name></author><source><title>Khác</title><id>http://x</id></source><content type="xhtml"><div><a href="/x">x</a><title>y</title></div></content></entry></feed>`, "atom", one,
		},
		{
			"Atom with prefixes",
			`<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:title>Giá vàng tăng</a:title><a:link href="gia-vang-4800001.html"/><a:updated>2026-03-07T10:00:00+07:00</a:updated></a:entry></a:feed>`, "atom", "",
		},
		{
			"RDF",
			`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><title>Báo Mẫu</title></channel>
			<item rdf:about="https://baomau.example/gia-vang-4800001.html"><title>Giá vàng tăng</title><dc:date>2026-03-07T10:00:00+07:00</dc:date></item></rdf:RDF>`, "rdf", one,
		},
		{
			"JSON Feed",
			`{"version":"https://jsonfeed.org/version/1.1","title":"Báo Mẫu","home_page_url":"https://baomau.example/","items":[
			{"id":"1","url":"https://baomau.example/gia-vang-4800001.html","title":"Giá vàng tăng","date_published":"2026-03-07T10:00:00+07:00"},{"id":2,"title":"Không có liên kết"}]}`, "json", one,
		},
		{
			"byte order mark", "\uFEFF<rss><channel><item><title>Giá vàng " +
				"tăng</title><link>/gia-vang-4800001.html</link><pubDate>Sat, 07 Mar 2026 10:00:00 " +
				"+0700</pubDate></item></channel></rss>", "rss", one,
		},
		{"empty", `<rss version="2.0"><channel></channel></rss>`, "rss", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			feed, err := ParseFeed([]byte(c.doc), mustParse(t, "https://baomau.example/rss/"), vietnam())
			if err != nil || feed.Format != c.format {
				t.Fatalf("%+v %v", feed, err)
			}
			want := c.want
			if c.name == "Atom with prefixes" {
				want = strings.Replace(one, "/gia-", "/rss/gia-", 1)
			}
			if got := show(feed.Items, ""); got != want {
				t.Errorf("items:\n%s", got)
			}
			if feed.Title != "" && feed.Title != "Báo Mẫu" {
				t.Errorf("got the feed title %q", feed.Title)
			}
		})
	}
}

func TestParseFeed_Metadata(t *testing.T) {
	feed, err := ParseFeed([]byte(
		`<rss><channel><title>A</title><atom:link href="/rss" rel="self"/><link>https://baomau.example/kinh-doanh</link><ttl>15</ttl></channel></rss>`),
		mustParse(t, "https://baomau.example/rss/kinh-doanh.rss"), Options{})
	if err != nil || feed.Home.String() != "https://baomau.example/kinh-doanh" || feed.TTL != 15*time.Minute {
		t.Errorf("%+v %v", feed, err)
	}
}

func TestParseFeed_RejectsOtherDocuments(t *testing.T) {
	at := mustParse(t, "https://baomau.example/")
	for _, doc := range []string{
		"", "<html><body><item><link>/x</link></item></body></html>", "{}", `{"items":3}`,
		"hello", "<opml/>",
	} {
		if feed, err := ParseFeed([]byte(doc), at, Options{}); !errors.Is(err, ErrNotFeed) {
			t.Errorf("%q: %+v %v", doc, feed, err)
		}
		if sitemap, err := ParseSitemap([]byte(doc), at, Options{}); !errors.Is(err, ErrNotSitemap) {
			t.Errorf("%q: %+v %v", doc, sitemap, err)
		}
	}
}

func TestParseSitemap_Formats(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{
			"pages",
			`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://baomau.example/gia-vang-4800001.html </loc><lastmod>2026-03-07</lastmod>
			<image:image><image:loc>https://baomau.example/a.jpg</image:loc><image:title>Ảnh</image:title></image:image></url><url><loc>https://baomau.example/thoi-su</loc></url></urlset>`,
			"article /gia-vang-4800001.html |  | -\nsection /thoi-su |  | -\n",
		},
		{
			"news",
			`<urlset xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>https://baomau.example/tin</loc><n:news><n:publication><n:name>Báo Mẫu</n:name></n:publication>
			<n:publication_date>2026-03-07T10:00:00+07:00</n:publication_date><n:title>Giá &amp;amp; vàng</n:title></n:news></url></urlset>`,
			"article /tin | Giá & vàng | 07/03 10:00\n",
		},
		{
			"prefixes everywhere",
			`<s:urlset><s:url><s:loc>https://baomau.example/gia-vang-4800001.html</s:loc></s:url></s:urlset>`,
			"article /gia-vang-4800001.html |  | -\n",
		},
		{
			"other domains",
			`<urlset><url><loc>https://khac.example/gia-vang-4800001.html</loc></url><url><loc>https://thethao.baomau.example/gia-vang-4800001.html</loc></url></urlset>`,
			"article https://thethao.baomau.example/gia-vang-4800001.html |  | -\n",
		},
		{
			"not escaped",
			`<urlset><url><loc>https://baomau.example/gia-vang-4800001.html?a=1&b=2</loc></url></urlset>`,
			"article /gia-vang-4800001.html?a=1&b=2 |  | -\n",
		},
		{
			"cut off",
			`<urlset><url><loc>https://baomau.example/gia-vang-4800001.html</loc></url><url><loc>https://baomau.exa`,
			"article /gia-vang-4800001.html |  | -\n",
		},
		{
			"plain text", "https://baomau.example/gia-vang-4800001.html\r\nrubbish\x00 here\n" +
				"https://baomau.example/thoi-su\nhttps://khac.example/\n",
			"article /gia-vang-4800001.html |  | -\nsection /thoi-su |  | -\n",
		},
		{
			"a feed",
			`<rss><channel><item><title>A</title><link>https://baomau.example/gia-vang-4800001.html</link></item></channel></rss>`, "article /gia-vang-4800001.html | A | -\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseSitemap([]byte(c.doc), mustParse(t, "https://baomau.example/sitemap.xml"), vietnam())
			if got := show(s.Pages, ""); err != nil || got != c.want || s.IsNews != (c.name == "news") {
				t.Errorf("%v, pages:\n%s", err, got)
			}
		})
	}
}

func TestParseSitemap_Index(t *testing.T) {
	doc := `<sitemapindex><sitemap><loc>https://baomau.example/sitemap-2026-02.xml</loc><lastmod>2026-02-28</lastmod></sitemap>
		<sitemap><loc>/sitemap-2026-03.xml.gz</loc><lastmod>2026-03-07T10:00:00+07:00</lastmod></sitemap>
		<sitemap><loc>https://baomau.example/news-sitemap.xml</loc></sitemap><sitemap><loc>https://baomau.example/sitemap-tags.xml</loc></sitemap></sitemapindex>`
	s, err := ParseSitemap([]byte(doc), mustParse(t, "https://baomau.example/sitemap.xml"), vietnam())
	if err != nil || len(s.Pages) != 0 {
		t.Fatalf("%+v %v", s, err)
	}
	var got []string
	for _, one := range s.Sitemaps {
		got = append(got, fmt.Sprintf("%s %d", one.URL.Path(), one.Score))
	}
	if want := "/sitemap-2026-03.xml.gz 0, /sitemap-2026-02.xml 0, /news-sitemap.xml 2, " +
		"/sitemap-tags.xml -1"; strings.Join(got, ", ") != want {
		t.Error(got)
	}
}

func TestParseSitemap_LinkLimit(t *testing.T) {
	doc := "<urlset>" + strings.Repeat("<url><loc>https://baomau.example/</loc></url>", 10)
	for i := range 100 {
		doc += "<url><loc>/" + fmt.Sprint(i) + "</loc></url>"
	}
	s, err := ParseSitemap([]byte(doc), mustParse(t, "https://baomau.example/"), Options{MaxLinks: 20})
	if err != nil || len(s.Pages) != 20 {
		t.Errorf("%d pages, %v", len(s.Pages), err)
	}
}

func TestParseOPML_Outlines(t *testing.T) {
	list, err := ParseOPML([]byte(`<?xml version="1.0"?><opml version="2.0"><head><title>Báo</title></head><body>
		<outline text="Kinh tế" title=""><outline text="Báo Mẫu" type="rss" xmlUrl="https://baomau.example/rss" htmlUrl="https://baomau.example/"/>
		<outline text="Sâu"><outline title="Hai &amp; ba" xmlUrl=" https://hai.example/rss "></outline></outline></outline>
		<outline text="Ngoài" xmlUrl="https://ngoai.example/rss"/><outline text="Lặp" xmlUrl="https://baomau.example/rss"/></body></opml>`))
	want := []Outline{
		{"Báo Mẫu", "https://baomau.example/rss", "https://baomau.example/", []string{"Kinh tế"}},
		{"Hai & ba", "https://hai.example/rss", "", []string{"Kinh tế", "Sâu"}},
		{"Ngoài", "https://ngoai.example/rss", "", nil},
	}
	if err != nil || !slices.EqualFunc(list, want, func(a, b Outline) bool {
		return a.Title == b.Title && a.Feed == b.Feed && a.Home == b.Home && slices.Equal(a.Folder, b.Folder)
	}) {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := ParseOPML([]byte("<rss/>")); !errors.Is(err, ErrNotOPML) {
		t.Error(err)
	}
}

func FuzzLists(f *testing.F) {
	f.Add(
		`<rss><channel><item><title>a</title><link>/b</link><pubDate>Sat, 07 Mar 2026 10:00:00 +0700</pubDate></item></channel></rss>`)
	f.Add(`<feed><entry xml:base="//["><link href="x"/></entry><urlset><url><loc>/a</loc></url></urlset></feed>`)
	f.Add(`<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><url><loc>http://</loc>`)
	f.Add(`<opml><outline xmlUrl="a"><outline></outline></outline></outline>`)
	f.Add(`{"version":"https://jsonfeed.org/version/1","items":[{"id":{}, "url":"//"}]}`)
	f.Add("https://baomau.example/a\nhttps://baomau.example/b")
	at := mustParse(f, "https://baomau.example/rss")
	f.Fuzz(func(t *testing.T, doc string) {
		feed, err := ParseFeed([]byte(doc), at, vietnam())
		if err == nil && feed.Format == "" {
			t.Error("a feed without a format")
		}
		sitemap, _ := ParseSitemap([]byte(doc), at, vietnam())
		for _, link := range slices.Concat(feed.Items, sitemap.Pages, sitemap.Sitemaps) {
			if link.URL.IsZero() || link.Kind == "" {
				t.Errorf("%+v", link)
			}
		}
		list, _ := ParseOPML([]byte(doc))
		for _, one := range list {
			if one.Feed == "" {
				t.Errorf("%+v", one)
			}
		}
	})
}
