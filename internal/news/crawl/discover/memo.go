package discover

import (
	"strings"
	"sync"
	"time"

	"dateline/internal/news/crawl/weburl"
)

// Memo caches the targets of a site's links: its pages share menus and many
// teasers. It is bounded and safe for concurrent use. All pages parsed with one
// memo must have the same Rules and Zone.
type Memo struct {
	mu    sync.Mutex
	known map[reference]target
}

// reference is a link as written on a page, if its target does not depend on
// the page's path.
type reference struct{ origin, href string }

// target is the resolved target of a link, with what its URL shows.
type target struct {
	err       error
	url       weburl.URL
	domain    string
	kind      Kind
	score     int
	published time.Time
	hasNumber bool   // see hasArticleNumber
	shape     string // only of possible articles
	family    string // see family
	isOpen    bool   // the URL does not name what it leads to
}

// Limits of a memo.
const (
	maxReferences = 20_000
	maxReference  = 512
)

// NewMemo creates a memo.
func NewMemo() *Memo { return &Memo{known: map[reference]target{}} }

// target resolves a link of the page through the memo.
func (h *hub) target(href string) target {
	memo := h.options.Memo
	if memo == nil || len(href) > maxReference || href[0] != '/' && !strings.Contains(href, "://") {
		return h.resolve(href)
	}
	key := reference{h.origin, href}
	memo.mu.Lock()
	found, known := memo.known[key]
	memo.mu.Unlock()
	if known {
		return found
	}
	found = h.resolve(href)
	memo.mu.Lock()
	defer memo.mu.Unlock()
	if len(memo.known) >= maxReferences {
		clear(memo.known)
	}
	// The key must not hold on to the memory of the page.
	key.href = strings.Clone(href)
	memo.known[key] = found
	return found
}

func (h *hub) resolve(href string) (t target) {
	if t.url, t.err = h.base.Resolve(href, h.options.Rules); t.err != nil {
		return t
	}
	if t.domain = t.url.Domain(); t.domain != h.domain {
		return t
	}
	var isCertain bool
	t.kind, t.score, isCertain = classify(t.url)
	t.isOpen = !isCertain
	t.published = DateInURL(t.url, h.options.Zone)
	t.hasNumber = hasArticleNumber(t.url)
	if t.isOpen {
		t.family = family(t.url, t.hasNumber)
	}
	if t.hasNumber || t.kind == Article {
		t.shape = Shape(t.url)
	}
	return t
}
