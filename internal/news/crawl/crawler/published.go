package crawler

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/net/html"

	"dateline/internal/news/article/dates"
)

// publishedScanLimit is how much of a page is scanned for its date, which is in
// the head.
const publishedScanLimit = 256 << 10

// publishedAt is when an article was published, from its machine-readable
// metadata: Open Graph (ogp.me, "article:published_time") or schema.org
// (datePublished, in JSON-LD or as itemprop). It is zero if the page names no
// time with a time zone, or was published before its domain was added. It only
// measures the freshness of the crawl; extraction parses dates more carefully.
func publishedAt(doc []byte, since time.Time) time.Time {
	doc = doc[:min(len(doc), publishedScanLimit)]
	at := firstDate(doc)
	if at.Before(since.Truncate(time.Second)) { // pages state no fractions
		return time.Time{}
	}
	return at
}

func firstDate(doc []byte) time.Time {
	tokens := html.NewTokenizer(bytes.NewReader(doc))
	data := false // in a JSON-LD script
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return time.Time{}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			switch string(name) {
			case "meta", "time":
				if at, ok := parseZonedTime(dateOf(tokens)); ok {
					return at
				}
			case "script":
				data = strings.EqualFold(attribute(tokens, "type"), "application/ld+json")
			}
		case html.EndTagToken:
			data = false
		case html.TextToken:
			if !data {
				continue
			}
			if at, ok := parseZonedTime(datePublished(tokens.Raw())); ok {
				return at
			}
		}
	}
}

// parseZonedTime parses a date that has a time of day and a time zone.
func parseZonedTime(text string) (time.Time, bool) {
	d, ok := dates.Parse(text, dates.Options{})
	return d.Time, ok && d.HasTime && d.HasZone
}

// datePublished is the first datePublished value of a JSON-LD document.
func datePublished(data []byte) string {
	_, rest, ok := bytes.Cut(data, []byte(`"datePublished"`))
	if !ok {
		return ""
	}
	rest = bytes.TrimLeft(rest, " \t\r\n:")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	value, _, _ := bytes.Cut(rest[1:], []byte(`"`))
	return string(value)
}

// dateOf is the publication date in a meta or time element.
func dateOf(tokens *html.Tokenizer) string {
	var property, value string
	for {
		key, val, more := tokens.TagAttr()
		switch string(key) {
		case "property", "name", "itemprop":
			property = strings.ToLower(string(val))
		case "content", "datetime":
			value = string(val)
		}
		if !more {
			break
		}
	}
	switch property {
	case "article:published_time", "og:article:published_time", "datepublished", "pubdate":
		return value
	default:
		return ""
	}
}

func attribute(tokens *html.Tokenizer, wanted string) string {
	for {
		key, val, more := tokens.TagAttr()
		if string(key) == wanted {
			return string(val)
		}
		if !more {
			return ""
		}
	}
}
