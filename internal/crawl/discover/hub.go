package discover

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/crawl/weburl"
	"dateline/internal/crawl/when"
)

const (
	maxHubLinks = 2_000
	maxTitle    = 300
	// alike is how many articles of one shape make it likely that others of
	// that shape are articles too.
	alike = 5
	// headline is how many words a headline has at least.
	headline = 6
)

// What the title of a link was taken from: the better comes later.
const (
	noTitle = iota
	inText
	inAttribute
	inHeading
)

// Hub reads a page, in UTF-8, that was found at a URL.
func Hub(doc []byte, at weburl.URL, o Options) HubPage {
	h := &hub{options: o, at: at, base: at, domain: at.Domain(), dates: o.dates(), places: map[weburl.URL]int{}, most: o.most(maxHubLinks)}
	h.read(doc)
	h.vote()
	return h.page
}

// hub is a page while it is read.
type hub struct {
	options Options
	at      weburl.URL
	base    weburl.URL
	based   bool // <base> was seen
	domain  string
	dates   when.Reader
	page    HubPage
	places  map[weburl.URL]int // in page.Links
	ranks   []int              // of the titles of page.Links
	targets []target           // of page.Links
	most    int

	menu    int // depth of nav, header, footer
	heading int // depth of h1 to h4
	current int // place of the link that is open; -1: none
	open    bool
	text    strings.Builder
	dateAt  int // place of the last article, whose date may follow; -1: none
	dating  bool
	dateTxt strings.Builder
	dateTag atom.Atom
}

func (h *hub) read(doc []byte) {
	h.current, h.dateAt = -1, -1
	z := html.NewTokenizer(bytes.NewReader(doc))
	z.SetMaxBuf(1 << 20)
	for {
		switch z.Next() {
		case html.ErrorToken:
			h.endLink()
			return
		case html.TextToken:
			if h.open && h.text.Len() < 4*maxTitle {
				h.text.Write(z.Text())
			}
			if h.dating && h.dateTxt.Len() < maxTitle {
				h.dateTxt.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := atom.Lookup(name)
			switch {
			case tag == 0:
			case h.reads(tag):
				h.start(tag, attributes(z, more))
			default:
				h.start(tag, nil)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			h.end(atom.Lookup(name))
		}
	}
}

// attributes are those of a tag that matter, and not too many.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	all := map[string]string{}
	for range 64 {
		if !more {
			break
		}
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, twice := all[string(key)]; !twice && len(value) <= 16<<10 {
			all[string(key)] = string(value)
		}
	}
	return all
}

// reads says whether the attributes of a tag matter. To read them all is most of
// the work.
func (h *hub) reads(tag atom.Atom) bool {
	switch tag {
	case atom.Base, atom.Link, atom.Meta, atom.A:
		return true
	case atom.Img:
		return h.open && h.text.Len() == 0
	case atom.Time, atom.Span, atom.Div, atom.P, atom.Em, atom.Small:
		return h.dateAt >= 0 && h.page.Links[h.dateAt].Published.IsZero()
	}
	return false
}

func (h *hub) start(tag atom.Atom, attr map[string]string) {
	switch tag {
	case atom.Base:
		// Only the first counts (HTML Standard §4.2.3).
		if u, err := h.at.Resolve(attr["href"], weburl.Rules{DropNothing: true}); err == nil && !h.based && attr["href"] != "" {
			h.base, h.based = u, true
		}
	case atom.Link:
		h.link(attr)
	case atom.Meta:
		if name := strings.ToLower(attr["name"]); name == "robots" {
			content := strings.ToLower(attr["content"])
			h.page.NoFollow = h.page.NoFollow || strings.Contains(content, "nofollow") || strings.Contains(content, "none")
			h.page.NoIndex = h.page.NoIndex || strings.Contains(content, "noindex") || strings.Contains(content, "none")
		}
	case atom.Nav, atom.Header, atom.Footer:
		h.menu++
	case atom.H1, atom.H2, atom.H3, atom.H4:
		h.heading++
	case atom.A:
		h.endLink()
		h.anchor(attr)
	case atom.Img:
		if h.open && h.text.Len() == 0 {
			h.text.WriteString(attr["alt"])
		}
	case atom.Time:
		if attr == nil {
			return
		}
		if t := h.dates.Time(attr["datetime"]); !t.IsZero() {
			h.date(t)
			return
		}
		h.beginDate(tag)
	case atom.Span, atom.Div, atom.P, atom.Em, atom.Small:
		if class := strings.ToLower(attr["class"]); strings.Contains(class, "time") || strings.Contains(class, "date") {
			h.beginDate(tag)
		}
	}
}

func (h *hub) end(tag atom.Atom) {
	switch tag {
	case atom.A:
		h.endLink()
	case atom.Nav, atom.Header, atom.Footer:
		h.menu = max(h.menu-1, 0)
	case atom.H1, atom.H2, atom.H3, atom.H4:
		h.heading = max(h.heading-1, 0)
	}
	if h.dating && tag == h.dateTag {
		h.dating = false
		h.date(h.dates.Time(h.dateTxt.String()))
	}
}

// link reads a link element of the head.
func (h *hub) link(attr map[string]string) {
	rel := strings.Fields(strings.ToLower(attr["rel"]))
	href := strings.TrimSpace(attr["href"])
	if href == "" {
		return
	}
	switch {
	case slices.Contains(rel, "canonical"):
		if u, err := h.base.Resolve(href, h.options.Rules); err == nil && h.page.Canonical.IsZero() {
			h.page.Canonical = u
		}
	case slices.Contains(rel, "alternate"):
		switch kind, _, _ := strings.Cut(strings.ToLower(attr["type"]), ";"); strings.TrimSpace(kind) {
		case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml":
			h.add(href, Feed, attr["title"])
		}
	case slices.Contains(rel, "sitemap"):
		h.add(href, Sitemap, attr["title"])
	}
}

func (h *hub) add(href string, kind Kind, title string) {
	u, err := h.base.Resolve(href, h.options.Rules)
	if err != nil || len(h.page.Links) >= h.most {
		return
	}
	if _, known := h.places[u]; !known {
		h.places[u] = len(h.page.Links)
		h.page.Links = append(h.page.Links, Link{URL: u, Kind: kind, Title: clean(title)})
		h.ranks, h.targets = append(h.ranks, inAttribute), append(h.targets, target{url: u})
	}
}

// anchor begins a link in the page.
func (h *hub) anchor(attr map[string]string) {
	href := strings.TrimSpace(attr["href"])
	if href == "" || href[0] == '#' {
		return
	}
	for rel := range strings.FieldsSeq(strings.ToLower(attr["rel"])) {
		if rel == "nofollow" || rel == "sponsored" {
			return
		}
	}
	to := h.target(href)
	u := to.url
	if to.err != nil || to.domain != h.domain || u == h.at || u == h.page.Canonical {
		return
	}
	place, known := h.places[u]
	if !known {
		if len(h.page.Links) >= h.most {
			return
		}
		place = len(h.page.Links)
		h.places[u] = place
		h.page.Links = append(h.page.Links, Link{URL: u, Kind: to.kind, Score: to.score, Published: to.published})
		h.ranks, h.targets = append(h.ranks, noTitle), append(h.targets, to)
	}
	link := &h.page.Links[place]
	if h.heading > 0 && h.menu == 0 {
		link.Score++
	}
	if title := clean(attr["title"]); title != "" && h.ranks[place] < inAttribute {
		link.Title, h.ranks[place] = title, inAttribute
	}
	h.current, h.open = place, true
	h.text.Reset()
	if h.menu == 0 && (link.Kind == Article || link.Score > 0) {
		h.dateAt = place
	}
}

// endLink looks at what the link says.
func (h *hub) endLink() {
	if !h.open {
		return
	}
	h.open = false
	link := &h.page.Links[h.current]
	text := clean(h.text.String())
	rank := inText
	if h.heading > 0 {
		rank = inHeading
	}
	if text != "" && (rank > h.ranks[h.current] || rank == h.ranks[h.current] && rank == inText && len(text) > len(link.Title)) {
		link.Title, h.ranks[h.current] = text, rank
	}
	// A headline has words. A link that says so may be an article although its
	// URL says little.
	if h.menu == 0 && link.Kind == Other && link.Score > 0 && len(strings.Fields(text)) >= 6 && link.Score+2 >= sure {
		link.Kind, link.Score = Article, link.Score+2
	}
}
