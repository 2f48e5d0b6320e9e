package discover

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
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
	space     string // namespace of the format's own elements
	itemEnded bool   // the item ended within one of its fields
}

// item is the entry being parsed.
type item struct {
	name                string // of the element
	title               string
	links               []itemLink
	published, modified time.Time
}

// itemLink may be the address of an item's page.
type itemLink struct {
	cost int // the lowest is taken
	href string
	base weburl.URL
}

// Link fields of an item, in order of preference.
const (
	original  = iota // feedburner:origLink: the site's own URL behind a redirect
	link             // link of the format
	alternate        // Atom's rel=alternate in another format
	guid             // permalink guid
	notPage          // any of these that is no page that people read
	self      = 10   // Atom's id, RDF's about
)

const maxItemLinks = 30

// addLink adds a link with its media type, which may be empty.
func (f *feed) addLink(field int, href, mediaType string, base weburl.URL) {
	it := f.item
	href = strings.TrimSpace(href)
	// An ID without a scheme is not a URL.
	isID := field == guid || field == self
	if href == "" || len(it.links) >= maxItemLinks || isID && !strings.HasPrefix(strings.ToLower(href), "http") {
		return
	}
	mediaType = strings.ToLower(mediaType)
	cost := 2 * field
	switch {
	case strings.Contains(mediaType, "html"):
	case mediaType != "" || isFileExtension(fileExtension(href)):
		cost += 2 * notPage
	default:
		cost++
	}
	it.links = append(it.links, itemLink{cost, href, base})
}

// fileExtension returns the extension of the file that a reference names.
func fileExtension(href string) string {
	name := href[strings.LastIndexByte(href, '/')+1:]
	if end := strings.IndexAny(name, "?#"); end >= 0 {
		name = name[:end]
	}
	return strings.ToLower(path.Ext(name))
}

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
		f.format("rss", e.space)
	case "feed":
		f.format("atom", e.space)
	case "rdf":
		f.format("rdf", e.space)
	case "item", "entry":
		if f.doc.Format == "" || e.empty || e.isForeign || !f.isKnown(e) {
			return
		}
		f.finishItem()
		f.item = &item{name: e.full()}
		f.addLink(self, e.attr["rdf:about"], "", f.xml.base(f.at))
	case "image", "textinput", "source", "author", "contributor", "description", "summary", "encoded", "content",
		"group":
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

func (f *feed) format(name, space string) {
	if f.doc.Format == "" {
		f.doc.Format, f.space = name, space
	}
}

// isOwn reports whether an element belongs to the format of the feed.
func (f *feed) isOwn(e *element) bool {
	switch e.space {
	case "", f.space, "purl.org/rss/1.0", "my.netscape.com/rdf/simple/0.9", "channel.netscape.com/rdf/simple/0.9",
		"backend.userland.com/rss2", "blogs.law.harvard.edu/tech/rss":
		return true
	}
	return false
}

func isAtom(e *element) bool { return e.space == atomSpace || e.space == oldAtomSpace }

// isKnown reports whether an element belongs to the format of the feed, or to Atom, whose
// elements other formats borrow.
func (f *feed) isKnown(e *element) bool { return f.isOwn(e) || isAtom(e) }

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
	if !f.isKnown(e) && (e.name == "content" || e.name == "image") {
		return // it may lack an end tag
	}
	f.text(e)
}

// linkElement returns the target of a link element that leads to a page; empty: none.
// Links of other vocabularies, such as itunes:link, have meanings of their own.
func (f *feed) linkElement(e *element) string {
	switch {
	case !f.isKnown(e):
		return ""
	case e.attr["href"] != "":
		if e.isAlternate() {
			return e.attr["href"]
		}
	case f.isOwn(e):
		// Its text is read in any case.
		if text := f.text(e); e.isAlternate() {
			return text
		}
	}
	return ""
}

func (f *feed) itemElement(e *element) {
	it := f.item
	if e.isForeign {
		return
	}
	base := f.xml.base(f.at)
	switch e.name {
	case "title":
		if f.isOwn(e) || it.title == "" && (isAtom(e) || e.space == dublinCoreSpace) {
			it.title = stripTags(f.text(e))
		}
	case "link":
		field := link
		if !f.isOwn(e) {
			field = alternate
		}
		f.addLink(field, f.linkElement(e), e.attr["type"], base)
	case "origlink":
		f.addLink(original, f.text(e), "", base)
	case "guid":
		if f.isOwn(e) && !strings.EqualFold(strings.TrimSpace(e.attr["ispermalink"]), "false") {
			f.addLink(guid, f.text(e), "", base)
		}
	case "id":
		if f.isKnown(e) {
			f.addLink(self, f.text(e), "", base)
		}
	case "pubdate", "published", "issued", "created":
		it.published = f.dates.Time(f.text(e))
	case "date":
		if t := f.dates.Time(f.text(e)); it.published.IsZero() {
			it.published = t
		}
	case "updated", "modified":
		it.modified = f.dates.Time(f.text(e))
	default:
		if !f.isKnown(e) && !e.empty && e.name != "thumbnail" {
			f.xml.markForeign()
		}
	}
}

func (f *feed) feedElement(e *element) {
	switch e.name {
	case "title":
		if f.doc.Title == "" {
			f.doc.Title = stripTags(f.text(e))
		}
	case "link":
		base := f.xml.base(f.at)
		href := f.linkElement(e)
		if u, err := base.Resolve(href, f.options.Rules); err == nil && f.doc.Home.IsZero() && href != "" {
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
	slices.SortStableFunc(it.links, func(a, b itemLink) int { return a.cost - b.cost })
	for _, l := range it.links {
		u, err := l.base.Resolve(l.href, f.options.Rules)
		if err != nil || u == f.at {
			continue // such as nostr: and mailto:
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
	f.doc.Items = append(f.doc.Items, Link{
		URL: u, Kind: Article, Title: title, Published: published, Modified: modified, Score: score,
	})
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
	f := &feed{options: o, at: at, dates: o.dates(), seen: map[weburl.URL]bool{}, doc: FeedDoc{
		Format: "json", Title: cleanText(in.Title),
	}}
	if u, err := at.Resolve(in.Home, o.Rules); err == nil && in.Home != "" {
		f.doc.Home = u
	}
	for _, entry := range in.Items[:min(len(in.Items), o.linkLimit(maxItems))] {
		id, _ := entry.ID.(string)
		f.item = &item{
			title: stripTags(entry.Title), published: f.dates.Time(entry.Published),
			modified: f.dates.Time(entry.Modified),
		}
		f.addLink(link, entry.URL, "", at)
		f.addLink(alternate, entry.External, "", at)
		f.addLink(self, id, "", at)
		f.finishItem()
	}
	return f.doc, nil
}
