package crawler_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// recorder sums up the reported metrics.
type recorder struct {
	mu                 sync.Mutex
	outcomes, pages    map[string]int
	bytes              int64
	newLinks, oldLinks int
	delays             []time.Duration
}

func (m *recorder) Fetched(_ context.Context, outcome string, requests int, bytes int64, _ time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[outcome] += requests
	m.bytes += bytes
}

func (m *recorder) Page(_ context.Context, kind, result string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages[kind+" "+result]++
}

func (m *recorder) Links(_ context.Context, delays, known int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.newLinks += delays
	m.oldLinks += known
}

func (m *recorder) Freshness(_ context.Context, _ string, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.delays = append(m.delays, after)
}

// Every request and page is reported. Freshness is only measured for articles
// published after their domain was added.
func TestInstrument_CountsCrawl(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 8}, limits())
	m := &recorder{outcomes: map[string]int{}, pages: map[string]int{}}
	f.Crawler.Instrument(m)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	want := len(f.world.Log())
	got := 0
	for _, n := range m.outcomes {
		got += n
	}
	if got != want || m.bytes == 0 {
		t.Errorf("got %d requests with %d bytes, want %d requests: %v", got, m.bytes, want, m.outcomes)
	}
	if m.pages["article new"] != 8 || m.pages["hub new"] == 0 || m.newLinks < 8 {
		t.Errorf("got pages %v and %d new links", m.pages, m.newLinks)
	}
	if len(m.delays) != 0 {
		t.Errorf("old articles: got freshness %v, want none", m.delays)
	}
	site.Publish()
	f.crawl(0)
	if len(m.delays) != 1 || m.delays[0] < 0 || m.delays[0] > time.Minute {
		t.Errorf("new article: got freshness %v, want one within a minute", m.delays)
	}
	if m.pages["article new"] != 9 || m.oldLinks == 0 {
		t.Errorf("got pages %v and %d known links", m.pages, m.oldLinks)
	}
}
