package crawler

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/net/html"

	"dateline/internal/news/article/dates"
)

// publishedScanLimit is how much of a page is looked at for its date: it stands in
// the head.
const publishedScanLimit = 256 << 10

// publishedAt is when an article came out, as its page tells machines: Open Graph
// (ogp.me, "article:published_time"), schema.org (datePublished, in JSON-LD or as
// itemprop). Zero: it does not tell with its time zone, or it came out before its
// site was watched. The parser reads dates with more care; this one is for
// measuring how fresh the crawl is, before anything is parsed.
func publishedAt(doc []byte, watched time.Time) time.Time {
	doc = doc[:min(len(doc), publishedScanLimit)]
	at := firstDate(doc)
	if at.Before(watched) {
		return time.Time{}
	}
	return at
}

func firstDate(doc []byte) time.Time {
	tokens := html.NewTokenizer(bytes.NewReader(doc))
	data := false // within a script of JSON-LD
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

// parseZonedTime reads a date that has a time of day and names its zone.
func parseZonedTime(text string) (time.Time, bool) {
	d, ok := dates.Parse(text, dates.Options{})
	return d.Time, ok && d.Clock && d.Zoned
}

// datePublished is the text that JSON-LD has under this name first.
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

// dateOf is the date that a meta or time element holds.
func dateOf(tokens *html.Tokenizer) string {
	var of, value string
	for {
		key, val, more := tokens.TagAttr()
		switch string(key) {
		case "property", "name", "itemprop":
			of = strings.ToLower(string(val))
		case "content", "datetime":
			value = string(val)
		}
		if !more {
			break
		}
	}
	switch of {
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
