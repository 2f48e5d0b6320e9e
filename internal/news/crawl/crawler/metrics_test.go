package crawler_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// meter adds up what it is told.
type meter struct {
	mu                 sync.Mutex
	outcomes, pages    map[string]int
	bytes              int64
	newLinks, oldLinks int
	fresh              []time.Duration
}

func (m *meter) Fetched(_ context.Context, outcome string, requests int, bytes int64, _ time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[outcome] += requests
	m.bytes += bytes
}

func (m *meter) Page(_ context.Context, kind, result string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages[kind+" "+result]++
}

func (m *meter) Links(_ context.Context, fresh, known int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.newLinks += fresh
	m.oldLinks += known
}

func (m *meter) Freshness(_ context.Context, _ string, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fresh = append(m.fresh, after)
}

// The meter is told of every request and page. How fresh an article is counts
// when it came out while its site was watched, not for the past of a new site.
func TestInstrument_CountsCrawl(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 1, Articles: 8}, limits())
	m := &meter{outcomes: map[string]int{}, pages: map[string]int{}}
	f.Crawler.Instrument(m)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.drain(0)
	asked := len(f.world.Log())
	told := 0
	for _, n := range m.outcomes {
		told += n
	}
	if told != asked || m.bytes == 0 {
		t.Errorf("told of %d requests with %d bytes, the site saw %d: %v", told, m.bytes, asked, m.outcomes)
	}
	if m.pages["article new"] != 8 || m.pages["hub new"] == 0 || m.newLinks < 8 {
		t.Errorf("pages %v, %d new links", m.pages, m.newLinks)
	}
	if len(m.fresh) != 0 {
		t.Errorf("the past of a new site is as fresh as %v", m.fresh)
	}
	site.Publish()
	f.drain(0)
	if len(m.fresh) != 1 || m.fresh[0] < 0 || m.fresh[0] > time.Minute {
		t.Errorf("a new article is stored after %v", m.fresh)
	}
	if m.pages["article new"] != 9 || m.oldLinks == 0 {
		t.Errorf("pages %v, %d links known before", m.pages, m.oldLinks)
	}
}
