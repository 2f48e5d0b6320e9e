package discover

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"dateline/internal/news/article/dates"
	"dateline/internal/news/crawl/weburl"
)

const (
	maxItems = 5_000
	maxField = 64 << 10
)

// ParseFeed parses RSS, Atom, RDF (RSS 1.0) or JSON Feed, in UTF-8, from a URL.
// Items without a link are left out.
func ParseFeed(doc []byte, at weburl.URL, o Options) (FeedDoc, error) {
	if trimmed := bytes.TrimLeft(doc, "\uFEFF \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return jsonFeed(trimmed, at, o)
	}
	f := &feed{options: o, at: at, dates: o.dates(), xml: newXMLReader(doc), seen: map[weburl.URL]bool{}}
	f.read()
	if f.doc.Format == "" {
		return FeedDoc{}, ErrNotFeed
	}
	return f.doc, nil
}

// feed is the state of parsing a feed.
type feed struct {
	options   Options
	at        weburl.URL
	dates     dates.Options
	xml       *xmlReader
	doc       FeedDoc
	seen      map[weburl.URL]bool
	item      *item
	prefix    string // namespace prefix of the format's own elements
	itemEnded bool   // the item ended within one of its fields
}

// item is the entry being parsed.
type item struct {
	name                string // of the element
	base                string // xml:base
	title               string
	links               [4]string // by preference
	published, modified time.Time
}

// Link fields of an item, in order of preference.
const (
	original = iota // feedburner:origLink: the site's own URL behind a redirect
	link            // link, or Atom's rel=alternate
	guid            // permalink guid
	self            // Atom's id, RDF's about
)

func (f *feed) read() {
	for {
		t := f.xml.next()
		switch {
		case t.done:
			f.finishItem() // truncated within an item
			return
		case t.start != nil:
			f.element(t.start)
		case f.item != nil && t.end == f.item.name:
			f.finishItem()
		}
		if len(f.doc.Items) >= f.options.linkLimit(maxItems) {
			return
		}
	}
}

func (f *feed) element(e *element) {
	switch e.name {
	case "rss":
		f.format("rss", "")
	case "feed":
		f.format("atom", e.space)
	case "rdf":
		f.format("rdf", "")
	case "item", "entry":
		if f.doc.Format == "" || e.empty || e.space == "media" {
			return
		}
		f.finishItem()
		f.item = &item{name: e.full(), base: e.attr["xml:base"]}
		f.item.links[self] = e.attr["rdf:about"]
	case "image", "textinput", "source", "author", "contributor", "description", "summary", "encoded", "content", "group":
		f.skip(e)
	default:
		if f.doc.Format == "" {
			return
		}
		if f.item != nil {
			f.itemElement(e)
		} else {
			f.feedElement(e)
		}
	}
	if f.itemEnded {
		f.finishItem()
	}
}

func (f *feed) format(name, own string) {
	if f.doc.Format == "" {
		f.doc.Format, f.prefix = name, own
	}
}

// text returns the text of an element. The end of the enclosing item ends it.
func (f *feed) text(e *element) string {
	name := "channel"
	if f.item != nil {
		name = f.item.name
	}
	text, stopped := f.xml.content(e, name)
	f.itemEnded = stopped != "" && f.item != nil
	return strings.TrimSpace(text)
}

// skip skips elements whose children have the same names as fields of the item.
func (f *feed) skip(e *element) {
	if e.name == "content" && e.space == "media" {
		return // it may lack an end tag
	}
	f.text(e)
}

func (f *feed) itemElement(e *element) {
	it := f.item
	switch e.name {
	case "title":
		if e.space == f.prefix || e.space == "" || e.space == "dc" && it.title == "" || e.space == "atom" {
			it.title = stripTags(f.text(e))
		}
	case "link":
		if href := e.attr["href"]; href != "" {
			if rel := e.attr["rel"]; (rel == "" || rel == "alternate") && it.links[link] == "" {
				it.links[link] = href
			}
		} else if it.links[link] == "" {
			it.links[link] = f.text(e)
		}
	case "origlink":
		it.links[original] = f.text(e)
	case "guid":
		if permanent := e.attr["ispermalink"]; !strings.EqualFold(permanent, "false") {
			it.links[guid] = f.text(e)
		}
	case "id":
		it.links[self] = f.text(e)
	case "pubdate", "published", "issued", "created":
		it.published = f.dates.Time(f.text(e))
	case "date":
		if t := f.dates.Time(f.text(e)); it.published.IsZero() {
			it.published = t
		}
	case "updated", "modified":
		it.modified = f.dates.Time(f.text(e))
	}
}

func (f *feed) feedElement(e *element) {
	switch e.name {
	case "title":
		if f.doc.Title == "" {
			f.doc.Title = stripTags(f.text(e))
		}
	case "link":
		href, rel := e.attr["href"], e.attr["rel"]
		if href == "" && e.space == f.prefix {
			href = f.text(e)
		}
		if u, err := f.at.Resolve(href, f.options.Rules); err == nil && f.doc.Home.IsZero() && href != "" && (rel == "" || rel == "alternate") {
			f.doc.Home = u
		}
	case "ttl":
		// Minutes (RSS 2.0, "ttl").
		if minutes, err := strconv.Atoi(f.text(e)); err == nil && minutes > 0 && minutes <= 7*24*60 {
			f.doc.TTL = time.Duration(minutes) * time.Minute
		}
	}
}

// finishItem adds the current item.
func (f *feed) finishItem() {
	it := f.item
	f.item, f.itemEnded = nil, false
	if it == nil {
		return
	}
	from := f.at
	if it.base != "" {
		if u, err := from.Resolve(it.base, weburl.Rules{DropNothing: true}); err == nil {
			from = u
		}
	}
	for preference, href := range it.links {
		href = strings.TrimSpace(href)
		// An ID without a scheme is not a URL.
		if href == "" || preference >= guid && !strings.HasPrefix(href, "http") {
			continue
		}
		u, err := from.Resolve(href, f.options.Rules)
		if err != nil {
			continue
		}
		f.add(u, it.title, it.published, it.modified)
		return
	}
}

func (f *feed) add(u weburl.URL, title string, published, modified time.Time) {
	if f.seen[u] {
		return
	}
	f.seen[u] = true
	if published.IsZero() {
		published = modified
	}
	if published.IsZero() {
		published = DateInURL(u, f.options.Zone)
	}
	// Entries of a feed are articles regardless of their URL.
	_, score := Classify(u)
	f.doc.Items = append(f.doc.Items, Link{URL: u, Kind: Article, Title: title, Published: published, Modified: modified, Score: score})
}

// jsonFeed parses JSON Feed (jsonfeed.org/version/1.1).
func jsonFeed(doc []byte, at weburl.URL, o Options) (FeedDoc, error) {
	var in struct {
		Version string
		Title   string
		Home    string `json:"home_page_url"`
		Items   []struct {
			ID        any
			URL       string
			External  string `json:"external_url"`
			Title     string
			Published string `json:"date_published"`
			Modified  string `json:"date_modified"`
		}
	}
	if err := json.Unmarshal(doc, &in); err != nil || !strings.Contains(in.Version, "jsonfeed.org") && in.Items == nil {
		return FeedDoc{}, ErrNotFeed
	}
	f := &feed{options: o, at: at, dates: o.dates(), seen: map[weburl.URL]bool{}, doc: FeedDoc{Format: "json", Title: cleanText(in.Title)}}
	if u, err := at.Resolve(in.Home, o.Rules); err == nil && in.Home != "" {
		f.doc.Home = u
	}
	for _, entry := range in.Items[:min(len(in.Items), o.linkLimit(maxItems))] {
		id, _ := entry.ID.(string)
		f.item = &item{title: stripTags(entry.Title), published: f.dates.Time(entry.Published), modified: f.dates.Time(entry.Modified)}
		f.item.links[link] = cmp.Or(entry.URL, entry.External)
		f.item.links[self] = id
		f.finishItem()
	}
	return f.doc, nil
}
