package discover

import (
	"strings"
	"sync"
	"time"

	"dateline/internal/news/crawl/weburl"
)

// Memo remembers where the links of one site lead: its pages have the same menus
// and much the same news. It is safe for concurrent use and bounded. What is read
// with one memo must have the same Rules and Zone.
type Memo struct {
	mu    sync.Mutex
	known map[reference]target
}

// reference is a link as a page writes it, one that does not depend on where on
// its site the page is.
type reference struct{ origin, href string }

// target is where a link leads, as far as its URL tells.
type target struct {
	err       error
	url       weburl.URL
	domain    string
	kind      Kind
	score     int
	published time.Time
	hasNumber bool   // see numbered
	shape     string // of articles and what may be some
}

// Bounds of a memo.
const (
	maxReferences = 20_000
	maxReference  = 512
)

// NewMemo makes a memo.
func NewMemo() *Memo { return &Memo{known: map[reference]target{}} }

// target resolves a link of the page.
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
	// What is remembered must not hold on to the page that it was read from.
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
	t.kind, t.score = Classify(t.url)
	t.published = DateInURL(t.url, h.options.Zone)
	if t.hasNumber = hasArticleNumber(t.url); t.hasNumber || t.kind == Article {
		t.shape = Shape(t.url)
	}
	return t
}
