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
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/crawl/weburl"
)

// Pages reads raw pages from object storage.
type Pages interface {
	Get(ctx context.Context, key, hash string) ([]byte, error)
}

// Fallback extracts the article of a page on which extraction found none. It may cost
// money. It returns extract.ErrNoArticle if it cannot help.
type Fallback interface {
	ExtractArticle(ctx context.Context, doc *extract.Document, p extract.Page) (*article.Article, error)
}

// Extractor extracts the article of one page. It remembers how reliable the selectors of
// each site are, which determines how often they are verified.
type Extractor struct {
	Pages    Pages
	Sites    *SiteCache
	Fallback Fallback // optional

	trust trust
}

// Extract processes a page. It returns an error if a dependency (object storage,
// database) fails or ctx ends. Errors of the page itself are in Extraction.Reason and Detail.
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
	page := extract.Page{
		HTML: raw, URL: p.FinalURL, ContentType: p.ContentType, Header: p.Header,
		Zone: loadZone(site.Zone), Now: p.FetchedAt, Marks: site.Marks,
	}
	a, outcome, err := r.extractSafely(ctx, sel, page, r.trust.shouldVerify(p.DomainID, site.Version, p.URLID))
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	out.SelectorVersion = site.Version
	out.Outcome = outcome
	if err != nil {
		out.Reason, out.Detail, out.Failed = reasonOf(err), err.Error(), !errors.Is(err, extract.ErrNoArticle)
		return out, nil //nolint:nilerr // recorded as an error of the page
	}
	dropUncertainDate(a)
	if out.Reason, out.Detail = notArticleReason(a); out.Reason != "" {
		return out, nil
	}
	sanitize(a)
	out.Article = a
	out.ContentHash = change.ArticleDigest(a.Title, a.Text).String()
	out.SimHash = int64(change.SimHashOf(a.Text)) //nolint:gosec // only the bits matter
	out.setCanonical(rules)
	return out, nil
}

// extractSafely extracts a page and recovers from panics caused by hostile HTML.
func (r *Extractor) extractSafely(
	ctx context.Context, sel *selector.Selector, p extract.Page, check bool,
) (a *article.Article, o selector.Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			a, err = nil, fmt.Errorf("extraction panicked: %v at %s", v, firstFrames(debug.Stack()))
		}
	}()
	outer := ctx
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
		a, err = r.Fallback.ExtractArticle(outer, doc, p) // has its own timeout
	}
	return a, o, err
}

// extractTimeout limits the extraction of a page, in addition to the limit of the
// parser.
const extractTimeout = 20 * time.Second

func firstFrames(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, l := range lines {
		if strings.Contains(l, "/article/") || strings.Contains(l, "x/net/html") {
			return strings.TrimSpace(lines[min(i+1, len(lines)-1)])
		}
	}
	return "unknown location"
}

// countWords counts words. Chinese, Japanese and Thai are written without spaces: two
// letters count as a word.
func countWords(text string) int {
	unspaced := 0
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer) {
			unspaced++
		}
	}
	return len(strings.Fields(text)) + unspaced/2
}

// setCanonical sets the canonical URL if it is on the same registered domain. Other
// sites are the source of a reprint, or a mistake; the article then keeps the URL of its
// page.
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

// Limits of stored fields. Real articles stay below them.
const (
	maxTitle  = 1000
	maxLead   = 5000
	maxName   = 200
	maxNames  = 50
	maxTags   = 100
	maxURL    = 2048
	maxText   = 2 << 20
	maxLive   = 2 << 20 // bytes of the entries of a live blog
	maxMarkup = 8 << 20
)

// sanitize removes what the database cannot store and truncates long fields.
func sanitize(a *article.Article) {
	a.Title, a.Lead = truncate(a.Title, maxTitle), truncate(a.Lead, maxLead)
	a.Section, a.Site, a.Language = truncate(a.Section, maxName), truncate(a.Site, maxName), truncate(a.Language, 16)
	a.Authors, a.Tags = truncateAll(a.Authors, maxNames), truncateAll(a.Tags, maxTags)
	if a.Image = truncate(a.Image, maxURL+1); len(a.Image) > maxURL {
		a.Image = "" // a truncated URL is useless
	}
	if a.Reservations.TDMPolicy = truncate(a.Reservations.TDMPolicy, maxURL+1); len(a.Reservations.TDMPolicy) > maxURL {
		a.Reservations.TDMPolicy = ""
	}
	a.Text = truncate(a.Text, maxText)
	if a.HTML = truncate(a.HTML, maxMarkup+1); len(a.HTML) > maxMarkup {
		a.HTML = ""
	}
	a.Live = truncateLive(a.Live)
	a.Published, a.Updated = a.Published.UTC().Truncate(time.Microsecond), a.Updated.UTC().Truncate(time.Microsecond)
}

// truncateLive keeps the newest entries of a live blog.
func truncateLive(all []article.LiveEntry) []article.LiveEntry {
	size := 0
	for i := range all {
		e := &all[i]
		e.Key, e.Title = truncate(e.Key, maxName), truncate(e.Title, maxTitle)
		e.Text, e.HTML = truncate(e.Text, maxText), truncate(e.HTML, maxMarkup)
		e.Time = e.Time.UTC().Truncate(time.Microsecond)
		if size += len(e.Title) + len(e.Text) + len(e.HTML); size > maxLive {
			return all[:i]
		}
	}
	return all
}

func truncate(s string, maxBytes int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) <= maxBytes {
		return s
	}
	for maxBytes > 0 && !utf8.RuneStart(s[maxBytes]) {
		maxBytes--
	}
	return s[:maxBytes]
}

func truncateAll(all []string, limit int) []string {
	out := make([]string, 0, min(len(all), limit))
	for _, s := range all {
		if s = truncate(s, maxName); s != "" && len(out) < limit {
			out = append(out, s)
		}
	}
	return out
}

// loadZone returns nil if the site has no time zone setting; its country decides then.
func loadZone(name string) *time.Location {
	if name == "" {
		return nil
	}
	zone, err := timezone.Load(name)
	if err != nil {
		return nil
	}
	return zone
}

// isSampled selects a fixed fifth of all pages.
func isSampled(page uuid.UUID) bool { return page[15]%5 == 0 }

// probationPages is the number of pages for which every result of new selectors is
// verified against generic extraction. After that, one in five is verified.
const probationPages = 20

// trust remembers how reliable the selectors of each site are. Selectors that match the
// wrong element still return text, so only a comparison with generic extraction reveals
// them, which doubles the cost. Unknown sites are always verified.
type trust struct {
	mu    sync.Mutex
	sites map[int]siteTrust
}

type siteTrust struct {
	version    int
	pages      int
	isDoubtful bool // the last verification failed
}

func (t *trust) shouldVerify(domain int, version int, page uuid.UUID) bool {
	if version == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.sites[domain]
	if !ok || known.version != version || known.pages <= probationPages {
		return true
	}
	return known.isDoubtful || isSampled(page)
}

// record updates the state of a site after a page was saved.
func (t *trust) record(domain int, k SaveResult, bodyFound bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sites == nil || len(t.sites) >= maxCompiledSites {
		t.sites = map[int]siteTrust{}
	}
	t.sites[domain] = siteTrust{version: k.Version, pages: k.Pages, isDoubtful: !bodyFound}
}
