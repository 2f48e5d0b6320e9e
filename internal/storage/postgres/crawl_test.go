package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
)

func webURL(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text, weburl.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// seed makes a seed of a workspace, and gives its domain.
func (n *newsroom) seed(workspaceID uuid.UUID, address string, change ...func(*crawl.Seed)) (crawl.Seed, crawl.Domain) {
	n.t.Helper()
	s := crawl.Seed{ID: newID(), WorkspaceID: workspaceID, URL: webURL(n.t, address), Kind: crawl.Home, Status: crawl.Active, Priority: 50,
		MinInterval: 5 * time.Minute, MaxInterval: 20 * time.Minute, Interval: 15 * time.Minute, Rules: crawl.Rules{MaxDepth: 1}}
	for _, f := range change {
		f(&s)
	}
	made, _, err := n.CreateSeeds(n.t.Context(), []crawl.Seed{s}, idempotency.Key{})
	n.must(err)
	if len(made) != 1 {
		n.t.Fatalf("%d seeds were made", len(made))
	}
	d, err := n.GetCrawlDomain(n.t.Context(), s.URL.Domain())
	n.must(err)
	return made[0], d
}

func (n *newsroom) discover(s crawl.Seed, count, rank int) []crawl.DiscoveredURL {
	out := make([]crawl.DiscoveredURL, count)
	for i := range out {
		out[i] = crawl.DiscoveredURL{DomainID: s.DomainID, URL: webURL(n.t, fmt.Sprintf("https://%s/rank-%d/%d.html", s.URL.Domain(), rank, i)),
			Kind: crawl.Article, Rank: rank, Depth: 1, SeedNumber: s.Number}
	}
	_, err := n.AddURLs(n.t.Context(), out)
	n.must(err)
	return out
}

func (n *newsroom) lease(d crawl.Domain, most int, change ...func(*crawl.LeaseRequest)) []crawl.URL {
	n.t.Helper()
	l := crawl.LeaseRequest{Domain: d, LeaseID: uuid.New(), Limit: most, TTL: time.Minute, IdleDelay: time.Hour}
	for _, f := range change {
		f(&l)
	}
	urls, err := n.LeaseURLs(n.t.Context(), l)
	n.must(err)
	return urls
}

func TestEnqueueDueSeeds_Interval(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	planned, err := n.EnqueueDueSeeds(t.Context(), 10)
	if n.must(err); planned != 1 {
		t.Fatalf("%d seeds were planned", planned)
	}
	if again, err := n.EnqueueDueSeeds(t.Context(), 10); again != 0 || err != nil {
		t.Errorf("%d seeds were planned again, %v", again, err)
	}
	if due, err := n.ListDueDomains(t.Context(), 500); err != nil || len(due) != 1 || due[0] != "news.example" {
		t.Errorf("due are %v, %v", due, err)
	}
	urls := n.lease(d, 10)
	if len(urls) != 1 || urls[0].URL != "https://news.example/" || urls[0].Kind != crawl.Home || urls[0].SeedNumber != s.Number {
		t.Fatalf("leased %+v", urls)
	}
	// What it brings decides when it is asked again, between its bounds.
	for range 5 {
		n.must(n.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, true, ""))
	}
	if got, _ := n.GetSeed(t.Context(), n.workspace.ID, s.ID); got.Interval != 5*time.Minute || got.LastFound == nil || time.Until(got.NextCrawl) > 5*time.Minute {
		t.Errorf("after news: every %s, next in %s", got.Interval, time.Until(got.NextCrawl))
	}
	for range 9 {
		n.must(n.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, false, ""))
	}
	if got, _ := n.GetSeed(t.Context(), n.workspace.ID, s.ID); got.Interval != 20*time.Minute {
		t.Errorf("without news: every %s", got.Interval)
	}
	n.must(n.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, false, "it is down"))
	if got, _ := n.GetSeed(t.Context(), n.workspace.ID, s.ID); got.Interval != 20*time.Minute || got.LastError != "it is down" {
		t.Errorf("after a failure: %+v", got)
	}
}

func TestLeaseURLs_PausedSeeds(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 5, 3)
	_, err := n.UpdateSeed(t.Context(), n.workspace.ID, s.ID, s.Version, func(s *crawl.Seed) error { s.Status = crawl.Paused; return nil })
	n.must(err)
	if urls := n.lease(d, 10); len(urls) != 0 {
		t.Errorf("%d URLs of a paused seed", len(urls))
	}
	var refused *apperr.Error
	if _, err := n.UpdateSeed(t.Context(), n.workspace.ID, s.ID, s.Version, func(*crawl.Seed) error { return nil }); !errors.As(err, &refused) || refused.Kind != apperr.KindPreconditionFailed {
		t.Errorf("an edit of an old version: %v", err)
	}
	elsewhere, _, _ := n.found("Other desk")
	if _, err := n.GetSeed(t.Context(), elsewhere.ID, s.ID); err == nil {
		t.Error("another workspace reads the seed")
	}
	if _, err := n.GetWorkspaceDomain(t.Context(), elsewhere.ID, d.Name); err == nil {
		t.Error("another workspace sees the domain")
	}
	n.seed(elsewhere.ID, "https://news.example/")
	if shared, err := n.IsDomainShared(t.Context(), n.workspace.ID, d.ID); !shared || err != nil {
		t.Errorf("shared: %v %v", shared, err)
	}
}
