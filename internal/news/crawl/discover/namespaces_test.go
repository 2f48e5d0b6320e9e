package discover

import (
	"strings"
	"testing"
)

// feedPage returns the paths of the items of a feed at /blog/feed.xml.
func feedPages(t *testing.T, doc string) string {
	t.Helper()
	feed, err := ParseFeed([]byte(doc), mustParse(t, "https://example.org/blog/feed.xml"), vietnam())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, item := range feed.Items {
		all = append(all, strings.TrimPrefix(item.URL.String(), "https://example.org"))
	}
	return strings.Join(all, " ")
}

// Bases of the elements around a link add up (XML Base, section 4.2).
func TestParseFeed_Bases(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"feed and entry": {
			`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/tin/"><entry xml:base="2026/03/"><link href="gia-vang"/></entry></feed>`, "/tin/2026/03/gia-vang",
		},
		"feed": {
			`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.org/tin/x?y=1"><entry><link href="gia-vang"/></entry></feed>`, "/tin/gia-vang",
		},
		"link": {
			`<feed xmlns="http://www.w3.org/2005/Atom"><entry><link xml:base="../kinh-te/" href="gia-vang"/></entry></feed>`, "/kinh-te/gia-vang",
		},
		"three levels": {
			`<feed xml:base="/tin/"><entry xml:base="2026/"><link xml:base="03/" href="gia-vang"/></entry></feed>`,
			"/tin/2026/03/gia-vang",
		},
		"rss": {
			`<rss xml:base="/tin/"><channel><item><link>gia-vang</link></item></channel></rss>`,
			"/tin/gia-vang",
		},
		"channel and item": {
			`<rss><channel xml:base="/tin/"><item xml:base="2026/"><link>gia-vang</link></item></channel></rss>`,
			"/tin/2026/gia-vang",
		},
		"link of RSS": {
			`<rss><channel><item><link xml:base="/tin/2026/">gia-vang</link></item></channel></rss>`,
			"/tin/2026/gia-vang",
		},
		"rdf": {
			`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xml:base="/tin/"><item><link>gia-vang</link></item></rdf:RDF>`, "/tin/gia-vang",
		},
		"absolute inside": {
			`<feed xml:base="/tin/"><entry xml:base="https://example.org/khac/"><link href="gia-vang"/></entry></feed>`,
			"/khac/gia-vang",
		},
		"of a sibling": {
			`<feed><entry xml:base="/a/"><link href="mot"/></entry><entry><title xml:base="/b/">x</title><link href="hai"/></entry></feed>`, "/a/mot /blog/hai",
		},
		"after an open tag": {
			`<rss><channel><item xml:base="/a/"><category>x<link>mot</link></item><item><link>hai</link></item></channel></rss>`, "/a/mot /blog/hai",
		},
		"empty or invalid": {
			`<feed xml:base=""><entry xml:base="http://["><link href="gia-vang"/></entry></feed>`,
			"/blog/gia-vang",
		},
		"path of the root": {
			`<feed xml:base="/tin/"><entry xml:base="2026/"><link href="/gia-vang"/></entry></feed>`,
			"/gia-vang",
		},
	} {
		if got := feedPages(t, c.doc); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// The link of an item is the page that people read.
func TestParseFeed_ItemLinks(t *testing.T) {
	const atom, rss = `<feed xmlns="http://www.w3.org/2005/Atom"><entry>`,
		`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><item>`
	for name, c := range map[string]struct{ doc, want string }{
		"nostr first": {
			atom +
				`<link rel="alternate" href="nostr:naddr1qq"/><link rel="alternate" type="text/html" href="/tin"/></entry>`, "/tin",
		},
		"PDF first": {
			atom +
				`<link rel="alternate" type="application/pdf" href="/tin.pdf"/><link rel="alternate" type="text/html" href="/tin"/></entry>`, "/tin",
		},
		"PDF without a type": {atom + `<link href="/tin.pdf?v=1"/><link href="/tin"/></entry>`, "/tin"},
		"JSON first": {
			atom +
				`<link rel="alternate" type="application/json" href="/wp-json/1"/><link rel="alternate" href="/tin"/></entry>`, "/tin",
		},
		"ActivityPub first": {
			atom +
				`<link rel="alternate" type="application/activity+json" href="/users/1/statuses/2"/><link rel="alternate" type="text/html" href="/@a/2"/></entry>`, "/@a/2",
		},
		"Markdown first": {
			atom +
				`<link rel="alternate" type="text/markdown" href="/tin.md"/><link rel="alternate" type="application/xhtml+xml" href="/tin"/></entry>`, "/tin",
		},
		"typed after untyped": {
			atom + `<link href="/raw/1"/><link rel="alternate" type="text/html; charset=utf-8" href="/tin"/></entry>`,
			"/tin",
		},
		"only a PDF": {
			atom + `<link rel="alternate" type="application/pdf" href="/bao-cao.pdf"/></entry>`,
			"/bao-cao.pdf",
		},
		"enclosure with text": {
			rss + `<link rel="enclosure">https://example.org/a.mp3</link><link>https://example.org/tin</link></item>`,
			"/tin",
		},
		"mp3 and permalink": {
			rss +
				`<link>https://example.org/a.mp3</link><guid isPermaLink="true">https://example.org/tap-1</guid></item>`, "/tap-1",
		},
		"atom:link self first": {
			rss +
				`<atom:link rel="self" href="https://example.org/blog/feed.xml"/><link>https://example.org/tin</link></item>`, "/tin",
		},
		"atom:link with text": {
			rss +
				`<atom:link rel="self">https://example.org/blog/feed.xml</atom:link><link>https://example.org/tin</link></item>`, "/tin",
		},
		"atom:link without rel": {
			rss + `<atom:link href="https://example.org/blog/khac"/><link>https://example.org/tin</link></item>`,
			"/tin",
		},
		"only atom:link": {
			rss + `<atom:link rel="alternate" type="text/html" href="https://example.org/tin"/></item>`, "/tin",
		},
		"itunes:link first": {
			rss + `<itunes:link>https://example.org/podcast</itunes:link><link>https://example.org/tin</link></item>`,
			"/tin",
		},
		"itunes:link rel": {
			rss +
				`<itunes:link rel="image" href="https://example.org/a.jpg">x</itunes:link><link>https://example.org/tin</link></item>`, "/tin",
		},
		"undeclared prefix": {
			`<rss><channel><item><g:link>https://shop.example/1</g:link><link>https://example.org/tin</link></item>`,
			"/tin",
		},
		"link inside of another": {
			rss +
				`<x:related xmlns:x="urn:x"><title>No</title><link>https://example.org/khac</link></x:related><link>https://example.org/tin</link></item>`, "/tin",
		},
		"media without an end": {
			`<rss xmlns:media="http://search.yahoo.com/mrss/"><channel><item><media:content url="a.jpg"><link>https://example.org/tin</link></item>`, "/tin",
		},
		"itunes:image open": {
			rss + `<itunes:image href="https://example.org/a.jpg"><link>https://example.org/tin</link></item>`, "/tin",
		},
		"rel in capitals": {atom + `<link rel="Alternate" href="/tin"/></entry>`, "/tin"},
		"rel as URI": {
			atom +
				`<link rel="http://www.iana.org/assignments/relation/alternate" href="/tin"/><link rel="http://www.iana.org/assignments/relation/self" href="/api/1"/></entry>`, "/tin",
		},
		"rel of other kinds": {
			atom +
				`<link rel="replies" href="/r"/><link rel="edit" href="/e"/><link rel="via" href="/v"/><link rel="related" href="/l"/><link rel="hub" href="/h"/><link rel="alternate" href="/tin"/></entry>`, "/tin",
		},
		"permalink only": {rss + `<guid>https://example.org/tin</guid></item>`, "/tin"},
		"no permalink":   {rss + `<guid isPermaLink="False">https://example.org/tin</guid></item>`, ""},
		"foreign guid": {
			rss +
				`<podcast:guid xmlns:podcast="https://podcastindex.org/namespace/1.0">https://example.org/x</podcast:guid><guid>https://example.org/tin</guid></item>`, "/tin",
		},
		"origLink": {
			rss +
				`<link>https://feeds.example/~r/1</link><feedburner:origLink xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0">https://example.org/tin</feedburner:origLink></item>`, "/tin",
		},
		"origLink of pheedo": {
			rss +
				`<pheedo:origLink>https://example.org/tin</pheedo:origLink><link>https://www.pheedo.example/click</link></item>`, "/tin",
		},
		"default namespace": {
			`<rss xmlns="http://backend.userland.com/rss2"><channel><item><link>/tin</link></item>`, "/tin",
		},
		"Atom under a prefix": {
			`<ns0:feed xmlns:ns0="http://www.w3.org/2005/Atom"><ns0:entry><ns0:link rel="alternate" href="/tin"/></ns0:entry></ns0:feed>`, "/tin",
		},
		"Atom 0.3": {
			`<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><link rel="service.edit" href="/e"/><link rel="alternate" type="text/html" href="/tin"/></entry></feed>`, "/tin",
		},
		"namespace on the link": {
			`<rss><channel><item><link xmlns="http://www.w3.org/2005/Atom" rel="self" href="/blog/feed.xml"/><link>/tin</link></item>`, "/tin",
		},
	} {
		if got := feedPages(t, c.doc); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Elements of a sitemap are known by their namespace, whatever its prefix.
func TestParseSitemap_Namespaces(t *testing.T) {
	const page = `<loc>https://example.org/tin-2026-03-05-gia-vang</loc>`
	const own = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	for name, c := range map[string]struct {
		doc    string
		title  string
		isNews bool
	}{
		"images under another prefix": {
			doc: `<urlset ` + own + ` xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><url>` + page +
				`<i:image><i:loc>https://example.org/a.jpg</i:loc><i:title>Ảnh</i:title></i:image></url></urlset>`,
		},
		"images before the page": {
			doc: `<urlset ` + own +
				` xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><url><i:image><i:loc>https://example.org/a.jpg</i:loc></i:image>` + page + `</url></urlset>`,
		},
		"videos under another prefix": {
			doc: `<urlset ` + own + ` xmlns:v="http://www.google.com/schemas/sitemap-video/1.1"><url>` + page +
				`<v:video><v:title>Phim</v:title><v:content_loc>https://example.org/a.mp4</v:content_loc><v:publication_date>2026-03-01</v:publication_date></v:video></url></urlset>`,
		},
		"image namespace as default": {
			doc: `<urlset ` + own + `><url>` + page +
				`<image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>https://example.org/a.jpg</loc></image></url></urlset>`,
		},
		"image without own children": {
			doc: `<urlset ` + own + ` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url>` + page +
				`<image:image><loc>https://example.org/a.jpg</loc></image:image></url></urlset>`,
		},
		"no namespace": {
			doc: `<urlset><url>` + page +
				`<image:image><image:loc>https://example.org/a.jpg</image:loc></image:image></url></urlset>`,
		},
		"undeclared prefix": {
			doc: `<urlset ` + own + `><url>` + page +
				`<pic:image><pic:loc>https://example.org/a.jpg</pic:loc></pic:image></url></urlset>`,
		},
		"own elements under a prefix": {
			doc: `<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns="http://www.google.com/schemas/sitemap-image/1.1"><sm:url><sm:loc>https://example.org/tin-2026-03-05-gia-vang</sm:loc><image><loc>https://example.org/a.jpg</loc></image></sm:url></sm:urlset>`,
		},
		"namespace of Google": {
			doc: `<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url>` + page + `</url></urlset>`,
		},
		"namespace with https": {
			doc: `<urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9"><url xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + page + `</url></urlset>`,
		},
		"news under another prefix": {`<urlset ` + own +
			` xmlns:tin="http://www.google.com/schemas/sitemap-news/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><url>` + page +
			`<tin:news><tin:publication_date>2026-03-05</tin:publication_date><tin:title>Giá vàng</tin:title></tin:news><i:image><i:loc>https://example.org/a.jpg</i:loc><i:title>Ảnh</i:title></i:image></url></urlset>`, "Giá vàng", true},
		"news as default": {
			`<urlset ` + own + `><url>` + page +
				`<news xmlns="http://www.google.com/schemas/sitemap-news/0.9"><publication_date>2026-03-05</publication_date><title>Giá vàng</title></news></url></urlset>`, "Giá vàng", true,
		},
		"open tags": {
			doc: `<urlset><url>` + page + `<lastmod>2026-03-05</url><url><loc>https://khac.example/</url></urlset>`,
		},
	} {
		s, err := ParseSitemap([]byte(c.doc), mustParse(t, "https://example.org/sitemap.xml"), vietnam())
		if err != nil || len(s.Pages) != 1 || s.Pages[0].URL.Path() != "/tin-2026-03-05-gia-vang" ||
			s.Pages[0].Title != c.title || s.IsNews != c.isNews {
			t.Errorf("%s: got %+v %v, want the page with the title %q", name, s, err, c.title)
		}
	}
}
