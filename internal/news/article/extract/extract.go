// Package extract reads articles from the pages of any site.
//
// A page is decoded, parsed within limits and read three times over: for what it says of
// itself (Meta), for its blocks of text (outline), and for the element that gains most by
// being taken for the article (choose). What is kept of that element is decided block by
// block (keep), written as text and as sanitised HTML (render), and the statements about each
// field are weighed against each other (reading). docs/explanation/extraction.md tells the rules.
package extract

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// minArticleChars is how many letters make an article. A page with less is one of another kind.
const minArticleChars = 40

// minConfidentBytes is how many bytes a text has at least that is taken without a second look.
const minConfidentBytes = 250

// Extract reads the article of a page.
func Extract(ctx context.Context, p Page) (*article.Article, error) {
	doc, err := Parse(ctx, p, DefaultLimits())
	if err != nil {
		return nil, err
	}
	return doc.Article(ctx, p)
}

// Selection is what a site's configuration selected in a document. Its values go through the same
// rules as those of the page's own statements: a name is cleaned, a date is parsed, the site's
// name is no author. What comes out empty is read as if it had not been given.
type Selection struct {
	Body   []*html.Node               // elements that hold the text
	Drop   []*html.Node               // elements inside of them that do not belong to it
	Values map[article.Field][]string // of other fields
}

// Article reads the article of a document that was parsed.
func (d *Document) Article(ctx context.Context, p Page) (*article.Article, error) {
	return d.ArticleFromSelection(ctx, p, Selection{})
}

// ArticleFromSelection reads the article of a document with the help of what is known of its site. The
// origins of the fields tell which of the given values were used.
func (d *Document) ArticleFromSelection(ctx context.Context, p Page, g Selection) (*article.Article, error) {
	r := d.read(p)
	if !r.useSelection(article.FieldTitle, g) {
		r.readTitle()
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read the page: %w", context.Cause(ctx))
	}
	b, ok := d.BodyOf(g.Body, g.Drop, r.a.Title)
	source := article.FromSelector
	if !ok || len(b.Text) < minConfidentBytes {
		if c, found := d.Body(r.a.Title); found && len(c.Text) > 2*len(b.Text) {
			b, ok, source = c, true, article.FromHTML
		}
	}
	if !ok {
		return nil, ErrNoArticle
	}
	r.a.Text, r.a.HTML = b.Text, b.HTML
	r.signature, r.firstImage, r.blocks = b.Signature, b.Image, b.Blocks
	r.a.SetOrigin(article.FieldBody, source, b.Confidence)
	r.readOtherFields(g)
	r.a.IsListing = source != article.FromSelector && r.isListing(b)
	return r.a, nil
}

// isListing says whether a page has more headlines of others than text of its own and does not
// say that it is an article. An og:type alone is a weak word: front pages have it too.
func (r *builder) isListing(b Body) bool {
	if rankOf(r.jsonLD.article) >= 3 || r.meta.first("article:published_time") != "" {
		return false
	}
	chars := utf8.RuneCountInString(b.Text)
	if strings.EqualFold(r.meta.first("og:type"), "article") {
		chars *= 3
	}
	return b.Headlines > chars
}

// builder is an article in the making.
type builder struct {
	a          *article.Article
	doc        *Document
	src        Page
	meta       *Meta
	jsonLD     *jsonLD
	zone       *time.Location
	monthFirst bool
	siteNames  []string
	signature  string
	firstImage string
	blocks     []string
}

func (d *Document) read(p Page) *builder {
	r := &builder{a: &article.Article{}, doc: d, src: p, meta: d.Meta, jsonLD: d.loadJSONLD()}
	host := firstOf(d.URL.Hostname(), hostOf(d.Meta.links["canonical"]))
	lang := languageTag(d.Meta.lang)
	if r.zone = p.Zone; r.zone == nil {
		r.zone = guessZone(host, lang)
	}
	low := strings.ToLower(d.Meta.lang)
	r.monthFirst = low == "en-us" || low == "en_us" || lang == "en" && len(low) == 2 && (strings.HasSuffix(host, ".com") || strings.HasSuffix(host, ".us") || strings.HasSuffix(host, ".org"))
	r.collectSiteNames()
	return r
}

func (r *builder) readOtherFields(g Selection) {
	for _, f := range []struct {
		field article.Field
		read  func()
	}{
		{article.FieldAuthors, r.readAuthors}, {article.FieldLead, r.readLead}, {article.FieldImage, r.readImage},
		{article.FieldSection, r.readSection}, {article.FieldTags, r.readTags},
	} {
		if !r.useSelection(f.field, g) {
			f.read()
		}
	}
	r.readTimes(g)
	r.readLanguage()
	r.readCanonical()
}

// useSelection takes a field from what was selected, where that is of use.
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
		ok = r.setAuthors(article.FromSelector, selectedConfidence, values...)
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

// selectedConfidence is how sure a value is that a validated configuration selected.
const selectedConfidence = 0.97

// isInJunk says whether an element stands in navigation, a sidebar, a list of other stories.
func (r *builder) isInJunk(n *html.Node) bool {
	for i := 0; n != nil && i < 12; i, n = i+1, n.Parent {
		if n.Type == html.ElementNode && n.Data != "body" && n.Data != "html" && n.Data != "article" && n.Data != "main" {
			if r.doc.hintCache.hints(n)&(hintJunk|hintComment) != 0 {
				return true
			}
		}
	}
	return false
}

func (d *Document) loadJSONLD() *jsonLD {
	if d.jsonLD == nil {
		d.jsonLD = parseJSONLD(d.Meta.scripts)
	}
	return d.jsonLD
}

// DateOptions say how the dates of a page are read: in the zone of its site.
func (d *Document) DateOptions(p Page) dates.Options { return d.read(p).dateOptions() }
