package news_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
)

func TestLeaseURLs_RankOrder(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.Discover(s, 20, 6)
	n.Discover(s, 20, 3)
	n.Discover(s, 20, crawl.MinRefreshRank)
	_, err := n.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	n.Must(err)
	urls := n.lease(d, 16)
	ranks := map[int]int{}
	for _, u := range urls {
		ranks[u.Rank]++
	}
	if len(urls) != 16 || urls[0].Kind != crawl.Home {
		t.Errorf("got %d URLs, the first of kind %s, want 16 and home", len(urls), urls[0].Kind)
	}
	if got, want := [3]int{ranks[0], ranks[3], ranks[crawl.MinRefreshRank]}, [3]int{1, 11, 4}; got != want {
		t.Errorf("got %v URLs of ranks 0, 3 and %d, want %v", got, crawl.MinRefreshRank, want)
	}
	// Every URL is leased exactly once.
	for i := 0; ; i++ {
		more := n.lease(d, 16)
		if len(more) == 0 {
			break
		}
		urls = append(urls, more...)
	}
	seen := map[uuid.UUID]bool{}
	for _, u := range urls {
		if seen[u.ID] {
			t.Errorf("%s was leased twice", u.URL)
		}
		seen[u.ID] = true
	}
	if len(seen) != 61 {
		t.Errorf("got %d URLs leased, want 61", len(seen))
	}
}

func TestLeaseURLs_Expiry(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.Discover(s, 1, 3)
	first := n.lease(d, 1)
	n.Exec("update urls set due_at = now() where lease is not null")
	second := n.lease(d, 1)
	if len(first) != 1 || len(second) != 1 || first[0].ID != second[0].ID || first[0].Lease == second[0].Lease {
		t.Fatalf("got %+v, then %+v, want the same URL with another lease", first, second)
	}
	record := func(u crawl.URL) bool {
		t.Helper()
		u.State, u.RawHash = crawl.Stored, "aa"
		f := crawl.FetchRecord{
			URL: u, DueIn: time.Hour, Requests: 1, IsFirstVersion: true,
			ObjectKey: crawl.ObjectKey(d.Name, u.ID, "aa"),
			Version: &crawl.PageVersion{
				DomainID: d.ID, URLID: u.ID, FetchedAt: time.Now().UTC(), Status: 200,
				Kind: crawl.Article, RawHash: "aa", FinalURL: u.URL,
			},
		}
		recorded, err := n.News.Frontier.RecordFetches(t.Context(), []crawl.FetchRecord{f})
		n.Must(err)
		return recorded[0]
	}
	if record(first[0]) {
		t.Error("a fetch with an expired lease was recorded")
	}
	if !record(second[0]) {
		t.Error("a fetch with a valid lease was not recorded")
	}
	if record(second[0]) {
		t.Error("a fetch was recorded twice")
	}
	pages, err := n.News.Domains.LeaseCrawledPages(t.Context(), 10, time.Minute)
	if n.Must(err); len(pages) != 1 || pages[0].URL != second[0].URL || !pages[0].IsFirstVersion ||
		pages[0].ObjectKey == "" {
		t.Fatalf("got queued pages %+v, want the recorded one", pages)
	}
	// Delivery is at least once: pages that are not deleted are leased again.
	if none, err := n.News.Domains.LeaseCrawledPages(t.Context(), 10, time.Minute); len(none) != 0 || err != nil {
		t.Errorf("leased page: got %+v (%v), want none", none, err)
	}
	n.Exec("update crawled_pages set leased_until = now()")
	again, err := n.News.Domains.LeaseCrawledPages(t.Context(), 10, time.Minute)
	if n.Must(err); len(again) != 1 || again[0].Attempts != 2 {
		t.Fatalf("after the lease expired: got %+v, want the page with 2 attempts", again)
	}
	n.Must(n.News.Domains.DeleteCrawledPages(t.Context(), []int64{again[0].ID}))
	if got := n.Count("select count(*) from crawled_pages"); got != 0 {
		t.Errorf("got %d queued pages, want 0", got)
	}
}

func TestLeaseURLs_DailyBudgets(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/", func(s *crawl.Seed) { s.Rules.DailyBudget = 3 })
	other, _ := n.Seed(n.Workspace.ID, "https://news.example/the-thao", func(s *crawl.Seed) { s.Kind = crawl.Section })
	n.Discover(s, 10, 3)
	n.Discover(other, 10, 5)
	n.Must(n.leaseDomain(d))
	urls := n.lease(d, 100, func(l *crawl.LeaseRequest) { l.DailyBudget = 7 })
	by := map[int]int{}
	for _, u := range urls {
		by[u.SeedNumber]++
	}
	if by[s.Number] != 3 || by[other.Number] != 4 {
		t.Errorf("got leases by seed %v, want 3 and 4", by)
	}
	if more := n.lease(d, 100, func(l *crawl.LeaseRequest) { l.DailyBudget = 7 }); len(more) != 0 {
		t.Errorf("got %d URLs beyond the budget, want 0", len(more))
	}
	// Hubs do not count, and the budget is renewed the next day.
	_, err := n.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	n.Must(err)
	if hubs := n.lease(d, 100, func(l *crawl.LeaseRequest) { l.DailyBudget = 7 }); len(hubs) != 2 {
		t.Errorf("got %d hubs, want 2", len(hubs))
	}
	n.Exec("update urls set due_at = due_at - interval '1 day' where lease is null; update seeds set budget_day = " +
		"budget_day - 1; update crawl_domains set budget_day = budget_day - 1")
	n.Must(n.leaseDomain(d))
	if next := n.lease(d, 100, func(l *crawl.LeaseRequest) { l.DailyBudget = 7 }); len(next) != 7 {
		t.Errorf("next day: got %d URLs, want 7", len(next))
	}
}

func (n *newsroom) leaseDomain(d crawl.Domain) error {
	_, leased, err := n.News.Domains.LeaseDomain(n.T.Context(), d.Name, time.Minute)
	if err == nil && !leased {
		err = errors.New("the domain could not be leased")
	}
	return err
}

// If more domains are due than can be crawled, overdue ones come first, then
// those with frequent news, then fast ones.
func TestListDueDomains_Order(t *testing.T) {
	n := open(t)
	for _, name := range []string{"waiting", "newsy", "plain", "slow"} {
		n.Seed(n.Workspace.ID, "https://"+name+".example/")
	}
	n.Exec(`update crawl_domains set next_due = now() - interval '1 minute', score = 0.2, response_ms = 100`)
	n.Exec(`update crawl_domains set next_due = now() - interval '1 hour' where domain = 'waiting.example'`)
	n.Exec(`update crawl_domains set score = 0.9 where domain = 'newsy.example'`)
	n.Exec(`update crawl_domains set response_ms = 20000 where domain = 'slow.example'`)
	due, err := n.News.Domains.ListDueDomains(t.Context(), 100)
	n.Must(err)
	if got := strings.Join(due, " "); got != "waiting.example newsy.example plain.example slow.example" {
		t.Errorf("got order %s", got)
	}
	if first, err := n.News.Domains.ListDueDomains(t.Context(), 2); err != nil || !slices.Equal(first, due[:2]) {
		t.Errorf("limit 2: got %v (%v), want %v", first, err, due[:2])
	}
}

// The fetches of two holders of a URL may be recorded in one batch: only the
// one with the valid lease counts.
func TestRecordFetches_OnlyLeaseHolder(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.Discover(s, 1, 3)
	late := n.lease(d, 1)
	n.Exec("update urls set due_at = now() where lease is not null")
	holder := n.lease(d, 1)
	var both []crawl.FetchRecord
	for _, u := range []crawl.URL{late[0], holder[0]} {
		u.State, u.RawHash = crawl.Stored, "aa"
		both = append(both, crawl.FetchRecord{
			URL: u, DueIn: time.Hour, Requests: 1, IsFirstVersion: true,
			ObjectKey: crawl.ObjectKey(d.Name, u.ID, "aa"),
			Version: &crawl.PageVersion{
				DomainID: d.ID, URLID: u.ID, FetchedAt: time.Now().UTC(), Status: 200,
				Kind: crawl.Article, RawHash: "aa", FinalURL: u.URL,
			},
		})
	}
	recorded, err := n.News.Frontier.RecordFetches(t.Context(), both)
	n.Must(err)
	if recorded[0] || !recorded[1] {
		t.Errorf("got recorded %v, want [false true]", recorded)
	}
	if versions := n.Count("select count(*) from page_versions"); versions != 1 {
		t.Errorf("got %d versions, want 1", versions)
	}
}
