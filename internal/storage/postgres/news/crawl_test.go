package news_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl"
)

func (n *newsroom) lease(d crawl.Domain, limit int, change ...func(*crawl.LeaseRequest)) []crawl.URL {
	n.T.Helper()
	l := crawl.LeaseRequest{Domain: d, LeaseID: uuid.New(), Limit: limit, TTL: time.Minute, IdleDelay: time.Hour}
	for _, f := range change {
		f(&l)
	}
	urls, err := n.News.Frontier.LeaseURLs(n.T.Context(), l)
	n.Must(err)
	return urls
}

func TestEnqueueDueSeeds_Interval(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/")
	enqueued, err := n.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	if n.Must(err); enqueued != 1 {
		t.Fatalf("got %d seeds enqueued, want 1", enqueued)
	}
	if again, err := n.News.Domains.EnqueueDueSeeds(t.Context(), 10); again != 0 || err != nil {
		t.Errorf("second time: got %d seeds enqueued (%v), want 0", again, err)
	}
	if due, err := n.News.Domains.ListDueDomains(t.Context(), 500); err != nil || len(due) != 1 || due[0] != "news.example" {
		t.Errorf("got due domains %v (%v), want news.example", due, err)
	}
	urls := n.lease(d, 10)
	if len(urls) != 1 || urls[0].URL != "https://news.example/" || urls[0].Kind != crawl.Home ||
		urls[0].SeedNumber != s.Number {
		t.Fatalf("got URLs %+v, want the seed", urls)
	}
	// The interval depends on the links found, within its bounds.
	for range 5 {
		n.Must(n.News.Domains.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, true, "", 0))
	}
	if got, _ := n.News.Domains.GetSeed(t.Context(), n.Workspace.ID, s.ID); got.Interval != 5*time.Minute || got.LastFound == nil ||
		time.Until(got.NextCrawl) > 5*time.Minute {
		t.Errorf("after news: got interval %s, next in %s, want 5m", got.Interval, time.Until(got.NextCrawl))
	}
	for range 9 {
		n.Must(n.News.Domains.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, false, "", 0))
	}
	if got, _ := n.News.Domains.GetSeed(t.Context(), n.Workspace.ID, s.ID); got.Interval != 20*time.Minute {
		t.Errorf("without news: got interval %s, want 20m", got.Interval)
	}
	n.Must(n.News.Domains.RecordSeedCrawl(t.Context(), d.ID, urls[0].ID, false, "it is down", 0))
	if got, _ := n.News.Domains.GetSeed(t.Context(), n.Workspace.ID, s.ID); got.Interval != 20*time.Minute ||
		got.LastError != "it is down" {
		t.Errorf("after a failure: got %+v, want the same interval and an error", got)
	}
}

func TestLeaseURLs_PausedSeeds(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.Discover(s, 5, 3)
	_, err := n.News.Domains.UpdateSeed(t.Context(), n.Workspace.ID, s.ID, s.Version, func(s *crawl.Seed) error {
		s.Status = crawl.Paused
		return nil
	})
	n.Must(err)
	if urls := n.lease(d, 10); len(urls) != 0 {
		t.Errorf("got %d URLs of a paused seed, want 0", len(urls))
	}
	var conflict *apperr.Error
	if _, err := n.News.Domains.UpdateSeed(t.Context(), n.Workspace.ID, s.ID, s.Version,
		func(*crawl.Seed) error { return nil }); !errors.As(err, &conflict) ||
		conflict.Kind != apperr.KindPreconditionFailed {
		t.Errorf("update of an old version: got %v, want a failed precondition", err)
	}
	elsewhere, _, _ := n.Found("Other desk")
	if _, err := n.News.Domains.GetSeed(t.Context(), elsewhere.ID, s.ID); err == nil {
		t.Error("another workspace can read the seed")
	}
	if _, err := n.News.Domains.GetWorkspaceDomain(t.Context(), elsewhere.ID, d.Name); err == nil {
		t.Error("another workspace can read the domain")
	}
	n.Seed(elsewhere.ID, "https://news.example/")
	if shared, err := n.News.Domains.IsDomainShared(t.Context(), n.Workspace.ID, d.ID); !shared || err != nil {
		t.Errorf("got shared %v (%v), want true", shared, err)
	}
}
