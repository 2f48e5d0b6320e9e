// Package extract extracts articles from the pages of any site.
//
// A page is decoded and parsed within limits. Then its metadata is collected (Meta), its
// text is split into blocks (outline), and the element with the highest score is chosen
// as the body (chooseBody). The blocks of the body are filtered (selectBlocks) and
// rendered as text and sanitized HTML (render), and the statements about each field are
// weighed against each other (builder). docs/explanation/extraction.md describes the
// rules.
package extract

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// minArticleChars is the length below which a page has no article.
const minArticleChars = 40

// minConfidentBytes is the length of a body below which other extractions are tried too.
const minConfidentBytes = 250

// Extract extracts the article of a page.
func Extract(ctx context.Context, p Page) (*article.Article, error) {
	doc, err := Parse(ctx, p, DefaultLimits())
	if err != nil {
		return nil, err
	}
	return doc.Article(ctx, p)
}

// Selection is what the selectors of a site matched in a document. Its values are
// cleaned like all others: names are cleaned, dates are parsed, and the name of the site
// is not an author. Empty values are ignored.
type Selection struct {
	Body   []*html.Node               // elements with the text
	Drop   []*html.Node               // elements inside the body to remove
	Values map[article.Field][]string // of other fields
}

// Article extracts the article of a parsed document.
func (d *Document) Article(ctx context.Context, p Page) (*article.Article, error) {
	return d.ArticleFromSelection(ctx, p, Selection{})
}

// ArticleFromSelection extracts the article of a document, preferring the values of a
// selection. The origins of the fields show which of them were used.
func (d *Document) ArticleFromSelection(ctx context.Context, p Page, g Selection) (*article.Article, error) {
	d.static = nil
	a, err := d.article(ctx, p, g)
	if err != nil && !errors.Is(err, ErrNoArticle) || err == nil && len(a.Text) >= minConfidentBytes {
		return a, err
	}
	if static := d.withoutScripting(ctx, DefaultLimits()); static != nil {
		if b, err := static.article(ctx, p, Selection{Values: g.Values}); err == nil &&
			(a == nil || len(b.Text) > 2*len(a.Text)) {
			d.static = static
			return b, nil
		}
	}
	return a, err
}

func (d *Document) article(ctx context.Context, p Page, g Selection) (*article.Article, error) {
	r := d.read(p)
	if !r.useSelection(article.FieldTitle, g) {
		r.readTitle()
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("extract the page: %w", context.Cause(ctx))
	}
	b, ok := d.BodyOf(g.Body, g.Drop, r.a.Title)
	source := article.FromSelector
	if ok {
		b, ok = d.WithMarks(b, ok)
	}
	if !ok || len(b.Text) < minConfidentBytes {
		if c, found := d.Body(r.a.Title); found && len(c.Text) > 2*len(b.Text) {
			b, ok, source = c, true, article.FromHTML
		}
	}
	d.body, d.bySelector = b, source == article.FromSelector
	if !ok {
		return nil, ErrNoArticle
	}
	r.a.Text, r.a.HTML = b.Text, b.HTML
	r.signature, r.firstImage, r.blocks = b.Signature, b.Image, b.Blocks
	r.elements = b.Elements
	r.a.SetOrigin(article.FieldBody, source, b.Confidence)
	r.readOtherFields(g)
	r.a.IsListing = source != article.FromSelector && r.isListing(b)
	return r.a, nil
}

// isListing reports whether a page has more linked headlines than text and does not
// declare itself an article. og:type alone is weak evidence, because front pages have it
// too.
func (r *builder) isListing(b Body) bool {
	if rankOf(r.jsonLD.article) >= 3 || r.meta.first("article:published_time") != "" {
		return false
	}
	chars := b.Prose
	if strings.EqualFold(r.meta.first("og:type"), "article") {
		chars *= 3
	}
	return b.Headlines > chars
}

// builder collects the fields of an article.
type builder struct {
	a          *article.Article
	doc        *Document
	src        Page
	meta       *Meta
	jsonLD     *jsonLD
	host       string
	zone       *time.Location
	monthFirst bool
	siteNames  []string
	headlines  map[string]bool // visible headlines that contain the name of the site as a part, folded
	signature  string
	firstImage string
	blocks     []string
	anySite    bool // the name of the site counts as an author

	heading   *html.Node          // that shows the title, found on first use
	noHeading bool                // there is none
	elements  []*html.Node        // of the body
	around    map[*html.Node]bool // elements that contain the headline or the start of the body
	zoneError time.Duration       // what the zone of the metadata's dates is off by

	steps int                  // walked by isBefore
	order map[*html.Node]place // of a large page
}

// dateReader reads the times of an article.
type dateReader struct{ *builder }

// authorReader reads the authors of an article.
type authorReader struct{ *builder }

func (d *Document) read(p Page) *builder {
	r := &builder{a: &article.Article{}, doc: d, src: p, meta: d.Meta, jsonLD: d.loadJSONLD()}
	r.host = firstOf(d.URL.Hostname(), hostOf(d.Meta.links["canonical"]))
	lang := languageTag(d.Meta.lang)
	if r.zone = p.Zone; r.zone == nil {
		r.zone = guessZone(r.host, lang)
	}
	low := strings.ToLower(d.Meta.lang)
	r.monthFirst = low == "en-us" || low == "en_us" || lang == "en" && len(low) == 2 &&
		(strings.HasSuffix(r.host, ".com") || strings.HasSuffix(r.host, ".us") || strings.HasSuffix(r.host, ".org"))
	r.collectSiteNames()
	return r
}

func (r *builder) readOtherFields(g Selection) {
	for _, f := range []struct {
		field article.Field
		read  func()
	}{
		{article.FieldAuthors, authorReader{r}.readAuthors},
		{article.FieldLead, r.readLead},
		{article.FieldImage, r.readImage},
		{article.FieldSection, r.readSection},
		{article.FieldTags, r.readTags},
	} {
		if !r.useSelection(f.field, g) {
			f.read()
		}
	}
	dateReader{r}.readTimes(g)
	r.readLive()
	r.readLanguage()
	r.readCanonical()
	r.readAccess()
	r.readReservations()
}

// useSelection sets a field from the selection, if it has a usable value.
func (r *builder) useSelection(f article.Field, g Selection) bool {
	values := g.Values[f]
	if len(values) == 0 {
		return false
	}
	first := clean(values[0])
	ok := first != ""
	switch f {
	case article.FieldTitle:
		r.a.Title = r.stripSite(first)
	case article.FieldAuthors:
		ok = authorReader{r}.setAuthors(article.FromSelector, selectedConfidence, values...)
	case article.FieldLead:
		r.a.Lead = r.stripLead(first)
	case article.FieldImage:
		r.a.Image = r.absolute(values[0])
		ok = r.a.Image != ""
	case article.FieldSection:
		r.a.Section = first
	case article.FieldTags:
		ok = r.setTags(article.FromSelector, selectedConfidence, values...)
	default:
		return false
	}
	if ok {
		r.a.SetOrigin(f, article.FromSelector, selectedConfidence)
	}
	return ok
}

// selectedConfidence is the confidence of selected values.
const selectedConfidence = 0.97

// isInJunk reports whether an element is inside navigation, a sidebar or a list of other
// articles.
func (r *builder) isInJunk(n *html.Node) bool {
	for i := 0; n != nil && i < 12; i, n = i+1, n.Parent {
		if n.Type == html.ElementNode && n.Data != "body" && n.Data != "html" && n.Data != "article" &&
			n.Data != "main" {
			if r.doc.hasHint(n, hintJunk|hintComment) {
				return true
			}
		}
	}
	return false
}

// hasHint reports whether an element has a hint. Those that contain the article have none.
func (d *Document) hasHint(n *html.Node, h hint) bool {
	return d.names.hints(n)&h != 0 && !d.loadOutline().wrappers[n]
}

// loadOutline returns the outline of the page with its hints.
func (d *Document) loadOutline() *outline {
	if d.outline == nil {
		d.outline = newOutline(d.Root, d.Meta)
		ld := d.loadJSONLD()
		d.outline.isArticle = rankOf(ld.article) >= 4 || ld.hasType("BlogPosting")
		d.outline.isDiscussion = ld.hasType("DiscussionForumPosting") || ld.hasType("QAPage") ||
			ld.hasType("Question") && !ld.hasType("FAQPage")
		d.outline.resolveHints()
	}
	return d.outline
}

func (d *Document) loadJSONLD() *jsonLD {
	if d.jsonLD == nil {
		d.jsonLD = parseJSONLD(d.Meta.scripts)
	}
	return d.jsonLD
}

// DateOptions returns the options for parsing the dates of a page.
func (d *Document) DateOptions(p Page) dates.Options { return d.read(p).dateOptions() }
