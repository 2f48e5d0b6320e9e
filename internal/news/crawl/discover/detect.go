package discover

import "bytes"

// Detect tells from a document, in UTF-8, what it is: Feed, Sitemap, Section for a page in
// HTML, or empty if it is none of these.
func Detect(doc []byte) Kind {
	head := bytes.TrimLeft(doc, "\uFEFF \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("{")):
		if bytes.Contains(head, []byte("jsonfeed.org/version/")) {
			return Feed
		}
		return ""
	case bytes.HasPrefix(head, []byte("http://")), bytes.HasPrefix(head, []byte("https://")):
		return Sitemap // a list of URLs
	}
	reader := newXMLReader(head)
	for range maxProlog {
		t := reader.next()
		if t.done {
			return ""
		}
		if t.start == nil {
			continue
		}
		switch t.start.name {
		case "rss", "feed", "rdf":
			return Feed
		case "urlset", "sitemapindex":
			return Sitemap
		case "html", "head", "body", "meta", "title":
			return Section
		}
		return ""
	}
	return ""
}

// maxProlog bounds the tokens before the first element.
const maxProlog = 100
