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

// seed creates a seed of a workspace and returns it with its domain.
func (n *newsroom) seed(workspaceID uuid.UUID, address string, change ...func(*crawl.Seed)) (crawl.Seed, crawl.Domain) {
	n.t.Helper()
	s := crawl.Seed{
		ID: newID(), WorkspaceID: workspaceID, URL: webURL(n.t, address), Kind: crawl.Home,
		Status: crawl.Active, Priority: 50,
		MinInterval: 5 * time.Minute, MaxInterval: 20 * time.Minute, Interval: 15 * time.Minute, Rules: crawl.Rules{
			MaxDepth: 1,
		},
	}
	for _, f := range change {
		f(&s)
	}
	created, _, err := n.CreateSeeds(n.t.Context(), []crawl.Seed{s}, idempotency.Key{})
	n.must(err)
	if len(created) != 1 {
		n.t.Fatalf("got %d seeds created, want 1", len(created))
	}
	d, err := n.GetCrawlDomain(n.t.Context(), s.URL.Domain())
	n.must(err)
	return created[0], d
}

func (n *newsroom) discover(s crawl.Seed, count, rank int) []crawl.DiscoveredURL {
	out := make([]crawl.DiscoveredURL, count)
	for i := range out {
		out[i] = crawl.DiscoveredURL{
			DomainID: s.DomainID,
			URL:      webURL(n.t, fmt.Sprintf("https://%s/rank-%d/%d.html", s.URL.Domain(), rank, i)),
			Kind:     crawl.Article, Rank: rank, Depth: 1, SeedNumber: s.Number,
		}
	}
	_, err := n.AddURLs(n.t.Context(), out)
	n.must(err)
	return out
}

func (n *newsroom) lease(d crawl.Domain, limit int, change ...func(*crawl.LeaseRequest)) []crawl.URL {
	n.t.Helper()
	l := crawl.LeaseRequest{Domain: d, LeaseID: uuid.New(), Limit: limit, TTL: time.Minute, IdleDelay: time.Hour}
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
	enqueued, err := n.EnqueueDueSeeds(t.Context(), 10)
	if n.must(err); enqueued != 1 {
		t.Fatalf("got %d seeds enqueued, want 1", enqueued)
	}
	if again, err := n.EnqueueDueSeeds(t.Context(), 10); again != 0 || err != nil {
		t.Errorf("second time: got %d seeds enqueued (%v), want 0", again, err)
	}
	if due, err := n.ListDueDomains(t.Context(), 500); err != nil || len(due) != 1 || due[0] != "news.example" {
		t.Errorf("got due domains %v (%v), want news.example", due, err)
	}
	urls := n.lease(d, 10)
	if len(urls) != 1 || urls[0].URL != "https://news.example/" || urls[0].Kind != crawl.Home ||
		urls[0].SeedNumber != s.Number {
		t.Fatalf("got URLs %+v, want the seed", urls)
	}
	// The interval depends on the links found, within its bounds.
	for range 5 {
		n.must(n.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, true, "", 0))
	}
	if got, _ := n.GetSeed(t.Context(), n.workspace.ID, s.ID); got.Interval != 5*time.Minute || got.LastFound == nil ||
		time.Until(got.NextCrawl) > 5*time.Minute {
		t.Errorf("after news: got interval %s, next in %s, want 5m", got.Interval, time.Until(got.NextCrawl))
	}
	for range 9 {
		n.must(n.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, false, "", 0))
	}
	if got, _ := n.GetSeed(t.Context(), n.workspace.ID, s.ID); got.Interval != 20*time.Minute {
		t.Errorf("without news: got interval %s, want 20m", got.Interval)
	}
	n.must(n.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, false, "it is down", 0))
	if got, _ := n.GetSeed(t.Context(), n.workspace.ID, s.ID); got.Interval != 20*time.Minute ||
		got.LastError != "it is down" {
		t.Errorf("after a failure: got %+v, want the same interval and an error", got)
	}
}

func TestLeaseURLs_PausedSeeds(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 5, 3)
	_, err := n.UpdateSeed(t.Context(), n.workspace.ID, s.ID, s.Version, func(s *crawl.Seed) error {
		s.Status = crawl.Paused
		return nil
	})
	n.must(err)
	if urls := n.lease(d, 10); len(urls) != 0 {
		t.Errorf("got %d URLs of a paused seed, want 0", len(urls))
	}
	var conflict *apperr.Error
	if _, err := n.UpdateSeed(t.Context(), n.workspace.ID, s.ID, s.Version,
		func(*crawl.Seed) error { return nil }); !errors.As(err, &conflict) ||
		conflict.Kind != apperr.KindPreconditionFailed {
		t.Errorf("update of an old version: got %v, want a failed precondition", err)
	}
	elsewhere, _, _ := n.found("Other desk")
	if _, err := n.GetSeed(t.Context(), elsewhere.ID, s.ID); err == nil {
		t.Error("another workspace can read the seed")
	}
	if _, err := n.GetWorkspaceDomain(t.Context(), elsewhere.ID, d.Name); err == nil {
		t.Error("another workspace can read the domain")
	}
	n.seed(elsewhere.ID, "https://news.example/")
	if shared, err := n.IsDomainShared(t.Context(), n.workspace.ID, d.ID); !shared || err != nil {
		t.Errorf("got shared %v (%v), want true", shared, err)
	}
}
