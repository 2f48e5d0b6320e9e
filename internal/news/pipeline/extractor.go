package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/crawl/weburl"
)

// Pages are the stored pages.
type Pages interface {
	Get(ctx context.Context, key, hash string) ([]byte, error)
}

// Fallback reads the article of a page that no rule could read. It may spend
// money. A page that it cannot help with gives extract.ErrNoArticle.
type Fallback interface {
	ExtractArticle(ctx context.Context, doc *extract.Document, p extract.Page) (*article.Article, error)
}

// Extractor reads one page. It keeps in memory how far the selectors of each site
// can be trusted, which decides how often they are compared.
type Extractor struct {
	Pages    Pages
	Sites    *SiteCache
	Fallback Fallback // nil: there is none

	trust trust
}

// What a page needs to be stored as an article.
const (
	minWords            = 30
	minConfidence       = 0.55 // below that share of the chosen element, a body is a guess
	minWordsWithoutDate = 120
)

// Extract reads a page. An error means that it cannot be read now: the object
// store or the database is away, or ctx is over. What is wrong with the page
// itself is told by Read.Problem.
func (r *Extractor) Extract(ctx context.Context, p Page, rules weburl.Rules) (out Extraction, err error) {
	out = Extraction{Page: p, CanonicalID: p.URLID, Canonical: p.URL}
	raw, err := r.Pages.Get(ctx, p.ObjectKey, strings.TrimSuffix(path.Base(p.ObjectKey), ".zst"))
	if err != nil {
		return out, err
	}
	site, sel, err := r.Sites.Get(ctx, p.DomainID)
	if err != nil {
		return out, err
	}
	page := extract.Page{HTML: raw, URL: p.FinalURL, ContentType: p.ContentType, Zone: loadZone(site.Zone), Now: p.FetchedAt}
	a, outcome, err := r.extractSafely(ctx, sel, page, r.trust.shouldVerify(p.DomainID, site.Version, p.URLID))
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	out.SelectorVersion = site.Version
	out.Outcome = outcome
	switch {
	case errors.Is(err, extract.ErrNoArticle):
		out.Reason = err.Error()
		return out, nil
	case err != nil:
		out.Reason, out.Failed = err.Error(), true
		return out, nil //nolint:nilerr // told as what is wrong with the page
	}
	if why := notArticleReason(a); why != "" {
		out.Reason = why
		return out, nil
	}
	sanitize(a)
	out.Article = a
	out.ContentHash = change.ArticleDigest(a.Title, a.Text).String()
	out.SimHash = int64(change.SimHashOf(a.Text)) //nolint:gosec // bits, whatever the sign
	out.setCanonical(rules)
	return out, nil
}

// extractSafely reads a page and survives what a hostile one does to the parser.
func (r *Extractor) extractSafely(ctx context.Context, sel *selector.Selector, p extract.Page, check bool) (a *article.Article, o selector.Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			a, err = nil, fmt.Errorf("the page broke the reader: %v at %s", v, firstFrames(debug.Stack()))
		}
	}()
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, extractTimeout, extract.ErrTooSlow)
	defer cancel()
	doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
	if err != nil {
		return nil, o, err
	}
	if sel == nil {
		a, err = doc.Article(ctx, p)
	} else if a, o, err = sel.Article(ctx, doc, p); err == nil && check {
		o = selector.VerifyBody(doc, a, o)
	}
	if errors.Is(err, extract.ErrNoArticle) && r.Fallback != nil {
		a, err = r.Fallback.ExtractArticle(whole, doc, p) // which takes its own time
	}
	return a, o, err
}

// extractTimeout is how long reading one page may take, above the parser's own limit.
const extractTimeout = 20 * time.Second

func firstFrames(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, l := range lines {
		if strings.Contains(l, "/article/") || strings.Contains(l, "x/net/html") {
			return strings.TrimSpace(lines[min(i+1, len(lines)-1)])
		}
	}
	return "an unknown place"
}

// notArticleReason says why a page is taken for something else than an article.
func notArticleReason(a *article.Article) string {
	words := len(strings.Fields(a.Text))
	_, said := a.Origins[article.FieldPublished]
	sure := a.Origins[article.FieldBody].Confidence
	switch {
	case a.IsListing:
		return "the page is a list of other articles"
	case a.Title == "":
		return "the page has no headline"
	case words < minWords:
		return fmt.Sprintf("the page has %d words of text", words)
	case !said && sure < minConfidence && words < minWordsWithoutDate:
		return "the page has little text, no date, and more beside the text than in it"
	}
	return ""
}

// setCanonical finds the canonical URL. That of another site is a reprint's source, or
// a mistake: the article is kept where it was found.
func (r *Extraction) setCanonical(rules weburl.Rules) {
	if r.Article.Canonical == "" {
		return
	}
	u, err := weburl.Parse(r.Article.Canonical, rules)
	if err != nil || u.Path() == "/" || u.Domain() != r.Page.Domain {
		return
	}
	r.CanonicalID, r.Canonical = crawl.URLID(u), u.String()
}

// Bounds of what is stored. Nothing that a reader would call an article reaches
// them.
const (
	maxTitle  = 1000
	maxLead   = 5000
	maxName   = 200
	maxNames  = 50
	maxTags   = 100
	maxURL    = 2048
	maxText   = 2 << 20
	maxMarkup = 8 << 20
)

// sanitize takes out what the database refuses, and bounds what a hostile page says.
func sanitize(a *article.Article) {
	a.Title, a.Lead = text(a.Title, maxTitle), text(a.Lead, maxLead)
	a.Section, a.Site, a.Language = text(a.Section, maxName), text(a.Site, maxName), text(a.Language, 16)
	a.Authors, a.Tags = texts(a.Authors, maxNames), texts(a.Tags, maxTags)
	if a.Image = text(a.Image, maxURL+1); len(a.Image) > maxURL {
		a.Image = "" // half an address leads nowhere
	}
	a.Text = text(a.Text, maxText)
	if a.HTML = text(a.HTML, maxMarkup+1); len(a.HTML) > maxMarkup {
		a.HTML = ""
	}
	a.Published, a.Updated = a.Published.UTC().Truncate(time.Microsecond), a.Updated.UTC().Truncate(time.Microsecond)
}

func text(s string, most int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

func texts(all []string, most int) []string {
	out := make([]string, 0, min(len(all), most))
	for _, s := range all {
		if s = text(s, maxName); s != "" && len(out) < most {
			out = append(out, s)
		}
	}
	return out
}

// loadZone is nil where the site says nothing: then its country decides.
func loadZone(name string) *time.Location {
	if name == "" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

// isSampled chooses one page in five, always the same ones.
func isSampled(page uuid.UUID) bool { return page[15]%5 == 0 }

// probationPages is for how many pages every reading by new selectors is compared
// with the generic one. After that it is one page in five.
const probationPages = 20

// trust remembers how far the selectors of each site can be trusted. Selectors
// that select something else do not come out empty: only comparing tells, and
// comparing costs as much as reading. A process that knows nothing of a site
// compares.
type trust struct {
	mu    sync.Mutex
	sites map[int32]siteTrust
}

type siteTrust struct {
	version    int
	pages      int
	isDoubtful bool // the last comparison went against the selectors
}

func (t *trust) shouldVerify(domain int32, version int, page uuid.UUID) bool {
	if version == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.sites[domain]
	return !ok || known.version != version || known.pages <= probationPages || known.isDoubtful || isSampled(page)
}

// record takes what the database says of a site after a page was read.
func (t *trust) record(domain int32, k SaveResult, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sites == nil || len(t.sites) >= maxCompiledSites {
		t.sites = map[int32]siteTrust{}
	}
	t.sites[domain] = siteTrust{version: k.Version, pages: k.Pages, isDoubtful: !found}
}
