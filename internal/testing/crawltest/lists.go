package crawltest

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"
)

// feedSize is the number of items in a feed and in a news sitemap.
const feedSize = 30

func (s *Site) rss() []byte { return s.RSS(s.latest("", 0, feedSize)) }

// RSS returns a feed with some articles.
func (s *Site) RSS(articles []Article) []byte {
	var b strings.Builder
	fmt.Fprintf(&b,
		`<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>%s</title><link>%s</link><ttl>15</ttl>`,
		s.host, s.Home())
	if hub := s.Hub(); hub != "" {
		fmt.Fprintf(&b, `<atom:link rel="hub" href="%s"/><atom:link rel="self" href="%s"/>`, hub, s.FeedURL())
	}
	for _, a := range articles {
		fmt.Fprintf(&b,
			`<item><title>%s</title><description><![CDATA[<a href="%s"><img src="/i/%d.jpg"></a></br>%s]]></description>`+
				`<pubDate>%s</pubDate><link>%s?utm_source=rss</link><guid>%s</guid></item>`,
			html.EscapeString(a.Title), a.URL, a.Number, firstWords(a.Body, 25), a.PublishedAt.Format(time.RFC1123Z),
			a.URL, a.URL)
	}
	b.WriteString(`</channel></rss>`)
	return []byte(b.String())
}

func (s *Site) serveSitemap(out http.ResponseWriter, r *http.Request) {
	const head = `<?xml version="1.0" encoding="UTF-8"?>`
	const xmlns = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	var b strings.Builder
	switch r.URL.Path {
	case "/sitemap.xml":
		fmt.Fprintf(&b,
			`%s<sitemapindex %s><sitemap><loc>%s</loc></sitemap><sitemap><loc>%s</loc></sitemap></sitemapindex>`,
			head, xmlns, s.URL("/sitemap-news.xml"), s.URL("/sitemap-articles-1.xml.gz"))
	case "/sitemap-news.xml":
		fmt.Fprintf(&b, `%s<urlset %s xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">`, head, xmlns)
		for _, a := range s.latest("", 0, feedSize) {
			fmt.Fprintf(&b,
				`<url><loc>%s</loc><news:news><news:publication><news:name>%s</news:name><news:language>vi</news:language></news:publication>`+
					`<news:publication_date>%s</news:publication_date><news:title>%s</news:title></news:news></url>`,
				a.URL, s.host, a.PublishedAt.Format(time.RFC3339), html.EscapeString(a.Title))
		}
		b.WriteString(`</urlset>`)
	case "/sitemap-articles-1.xml.gz":
		fmt.Fprintf(&b, `%s<urlset %s>`, head, xmlns)
		for _, a := range s.Articles() {
			fmt.Fprintf(&b, `<url><loc>%s</loc><lastmod>%s</lastmod></url>`, a.URL, a.PublishedAt.Format(time.RFC3339))
		}
		b.WriteString(`</urlset>`)
		// The file itself is compressed, independent of the content encoding.
		out.Header().Set("Content-Type", "application/x-gzip")
		_, _ = out.Write(s.world.zipped([]byte(b.String())))
		return
	default:
		http.NotFound(out, r)
		return
	}
	s.write(out, r, "application/xml", []byte(b.String()))
}
