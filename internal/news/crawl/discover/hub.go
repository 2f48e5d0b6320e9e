package discover

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article/dates"
	"dateline/internal/news/crawl/weburl"
)

const (
	maxHubLinks = 2_000
	maxTitle    = 300
	// minSimilarArticles is how many articles of one shape make other links of
	// that shape articles, too.
	minSimilarArticles = 5
	// minHeadlineWords is the minimum number of words of a headline.
	minHeadlineWords = 6
)

// Sources of a link's title, from worst to best.
const (
	noTitle = iota
	inText
	inAttribute
	inHeading
)

// ParseHub parses a page, in UTF-8, from a URL.
func ParseHub(doc []byte, at weburl.URL, o Options) HubPage {
	h := &hub{
		options: o, at: at, base: at, origin: at.Origin(), domain: at.Domain(), dates: o.dates(),
		indexes: map[string]int{}, limit: o.linkLimit(maxHubLinks),
	}
	h.read(doc)
	h.reclassify()
	h.page.Title, h.page.Text = h.prose.title.String(), h.prose.body.String()
	return h.page
}

// hub is the state of parsing a page.
type hub struct {
	options      Options
	at           weburl.URL
	base         weburl.URL
	origin       string // of base
	hasBase      bool   // a <base> element was seen
	domain       string
	dates        dates.Options
	page         HubPage
	indexes      map[string]int // index in page.Links by URL
	titleSources []int          // sources of the titles of page.Links
	targets      []target       // of page.Links
	inMenu       []bool         // whether page.Links are in a menu
	limit        int

	menuDepth    int // depth of nav, header, footer
	headingDepth int // depth of h1 to h4
	current      int // index of the open link; -1: none
	inLink       bool
	text         strings.Builder
	dateIndex    int // index of the last article, whose date may follow; -1: none
	inDate       bool
	dateText     strings.Builder
	dateTag      atom.Atom
	prose        prose
}

func (h *hub) read(doc []byte) {
	h.current, h.dateIndex = -1, -1
	z := newTokenizer(doc, minSkippedScript)
	for {
		switch z.Next() {
		case html.ErrorToken:
			h.endLink()
			return
		case html.TextToken:
			if h.inLink || h.inDate || h.prose.isCapturing() {
				h.write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := atom.Lookup(name)
			if h.options.Prose {
				h.prose.start(tag)
			}
			switch {
			case tag == 0:
			case h.needsAttributes(tag):
				h.start(tag, readAttrs(z.Tokenizer, more))
			default:
				h.start(tag, attrs{})
			}
			z.skipRawText(tag)
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if h.options.Prose {
				h.prose.end(tag)
			}
			h.end(tag)
		}
	}
}

// write appends text to every open field. A token returns its text only once.
func (h *hub) write(text []byte) {
	if h.inLink && h.text.Len() < 4*maxTitle {
		h.text.Write(text)
	}
	if h.inDate && h.dateText.Len() < maxTitle {
		h.dateText.Write(text)
	}
	if h.prose.isCapturing() {
		h.prose.into.Write(text)
	}
}

// attrs are the attributes that matter for a hub. The first of a name counts
// (HTML Standard §13.2.5.33).
type attrs struct {
	href, title, rel, class, datetime, name, content, kind, alt attr
}

type attr struct {
	value string
	given bool
}

// hasRelation reports whether a link has a rel value.
func (a *attrs) hasRelation(as string) bool {
	return slices.Contains(strings.Fields(strings.ToLower(a.rel.value)), as)
}

func readAttrs(z *html.Tokenizer, more bool) (a attrs) {
	for n := 0; more && n < maxAttributes; n++ {
		var key, value []byte
		key, value, more = z.TagAttr()
		if to := a.field(key); to != nil && !to.given && len(value) <= maxAttribute {
			to.value, to.given = string(value), true
		}
	}
	return a
}

func (a *attrs) field(key []byte) *attr {
	switch string(key) {
	case "href":
		return &a.href
	case "title":
		return &a.title
	case "rel":
		return &a.rel
	case "class":
		return &a.class
	case "datetime":
		return &a.datetime
	case "name":
		return &a.name
	case "content":
		return &a.content
	case "type":
		return &a.kind
	case "alt":
		return &a.alt
	}
	return nil
}

// needsAttributes reports whether the attributes of a tag matter. Reading all
// of them would take most of the time.
func (h *hub) needsAttributes(tag atom.Atom) bool {
	switch tag {
	case atom.Base, atom.Link, atom.Meta, atom.A:
		return true
	case atom.Img:
		return h.inLink && h.text.Len() == 0
	case atom.Time, atom.Span, atom.Div, atom.P, atom.Em, atom.Small:
		return h.needsDate()
	}
	return false
}

// needsDate reports whether the last article has no date yet.
func (h *hub) needsDate() bool {
	return h.dateIndex >= 0 && h.page.Links[h.dateIndex].Published.IsZero()
}

func (h *hub) start(tag atom.Atom, a attrs) {
	switch tag {
	case atom.Base:
		// Only the first element counts (HTML Standard §4.2.3).
		if u, err := h.at.Resolve(a.href.value, weburl.Rules{DropNothing: true}); err == nil && !h.hasBase &&
			a.href.value != "" {
			h.base, h.origin, h.hasBase = u, u.Origin(), true
		}
	case atom.Link:
		h.linkElement(a)
	case atom.Meta:
		if name := strings.ToLower(a.name.value); name == "robots" {
			content := strings.ToLower(a.content.value)
			h.page.NoFollow = h.page.NoFollow || strings.Contains(content, "nofollow") ||
				strings.Contains(content, "none")
			h.page.NoIndex = h.page.NoIndex || strings.Contains(content, "noindex") || strings.Contains(content, "none")
		}
	case atom.Nav, atom.Header, atom.Footer:
		h.menuDepth++
	case atom.H1, atom.H2, atom.H3, atom.H4:
		h.headingDepth++
	case atom.A:
		h.endLink()
		h.anchor(a)
	case atom.Img:
		if h.inLink && h.text.Len() == 0 {
			h.text.WriteString(a.alt.value)
		}
	case atom.Time:
		if !h.needsDate() {
			return
		}
		if t := h.dates.Time(a.datetime.value); !t.IsZero() {
			h.setDate(t)
			return
		}
		h.beginDate(tag)
	case atom.Span, atom.Div, atom.P, atom.Em, atom.Small:
		if class := strings.ToLower(a.class.value); strings.Contains(class, "time") || strings.Contains(class, "date") {
			h.beginDate(tag)
		}
	}
}

func (h *hub) end(tag atom.Atom) {
	switch tag {
	case atom.A:
		h.endLink()
	case atom.Nav, atom.Header, atom.Footer:
		h.menuDepth = max(h.menuDepth-1, 0)
	case atom.H1, atom.H2, atom.H3, atom.H4:
		h.headingDepth = max(h.headingDepth-1, 0)
	}
	if h.inDate && tag == h.dateTag {
		h.inDate = false
		h.setDate(h.dates.Time(h.dateText.String()))
	}
}

// linkElement handles a link element of the head.
func (h *hub) linkElement(a attrs) {
	rel := strings.Fields(strings.ToLower(a.rel.value))
	href := strings.TrimSpace(a.href.value)
	if href == "" {
		return
	}
	switch {
	case slices.Contains(rel, "canonical"):
		if u, err := h.base.Resolve(href, h.options.Rules); err == nil && h.page.Canonical.IsZero() {
			h.page.Canonical = u
		}
	case slices.Contains(rel, "alternate"):
		switch kind, _, _ := strings.Cut(strings.ToLower(a.kind.value), ";"); strings.TrimSpace(kind) {
		case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml":
			h.add(href, Feed, a.title.value)
		}
	case slices.Contains(rel, "sitemap"):
		h.add(href, Sitemap, a.title.value)
	}
}

func (h *hub) add(href string, kind Kind, title string) {
	u, err := h.base.Resolve(href, h.options.Rules)
	if err != nil || len(h.page.Links) >= h.limit {
		return
	}
	if _, known := h.indexes[u.String()]; !known {
		h.indexes[u.String()] = len(h.page.Links)
		h.page.Links = append(h.page.Links, Link{URL: u, Kind: kind, Title: cleanText(title)})
		h.titleSources, h.targets = append(h.titleSources, inAttribute), append(h.targets, target{url: u})
		h.inMenu = append(h.inMenu, true)
	}
}

// anchor starts a link in the page.
func (h *hub) anchor(a attrs) {
	href := strings.TrimSpace(a.href.value)
	if href == "" || href[0] == '#' {
		return
	}
	for rel := range strings.FieldsSeq(strings.ToLower(a.rel.value)) {
		if rel == "nofollow" || rel == "sponsored" {
			return
		}
	}
	to := h.target(href)
	u := to.url
	if to.err != nil || to.domain != h.domain || u == h.at || u == h.page.Canonical {
		return
	}
	index, known := h.indexes[u.String()]
	if !known {
		if len(h.page.Links) >= h.limit {
			return
		}
		index = len(h.page.Links)
		h.indexes[u.String()] = index
		h.page.Links = append(h.page.Links, Link{URL: u, Kind: to.kind, Score: to.score, Published: to.published})
		h.titleSources, h.targets = append(h.titleSources, noTitle), append(h.targets, to)
		h.inMenu = append(h.inMenu, false)
	}
	link := &h.page.Links[index]
	// The headline of a teaser may be in its header element.
	if h.menuDepth > 0 && h.headingDepth == 0 {
		h.inMenu[index] = true
	}
	if h.headingDepth > 0 && h.menuDepth == 0 {
		link.Score++
	}
	if title := cleanText(a.title.value); title != "" && h.titleSources[index] < inAttribute {
		link.Title, h.titleSources[index] = title, inAttribute
	}
	h.current, h.inLink = index, true
	h.text.Reset()
	if h.menuDepth == 0 && (link.Kind == Article || link.Score > 0) {
		h.dateIndex = index
	}
}

// endLink evaluates the text of the link.
func (h *hub) endLink() {
	if !h.inLink {
		return
	}
	h.inLink = false
	link := &h.page.Links[h.current]
	text := cleanText(h.text.String())
	rank := inText
	if h.headingDepth > 0 {
		rank = inHeading
	}
	if text != "" && (rank > h.titleSources[h.current] || rank == h.titleSources[h.current] && rank == inText &&
		len(text) > len(link.Title)) {
		link.Title, h.titleSources[h.current] = text, rank
	}
	// A link with the text of a headline may be an article even if its URL
	// shows little.
	if h.menuDepth == 0 && link.Kind == Other && link.Score > 0 && len(strings.Fields(text)) >= 6 &&
		link.Score+2 >= articleScoreThreshold {
		link.Kind, link.Score = Article, link.Score+2
	}
}
