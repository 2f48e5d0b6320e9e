package news_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
)

func TestRequestSlot_IsExclusive(t *testing.T) {
	n := open(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	var holder uuid.UUID
	taken := 0
	for range 20 {
		all.Go(func() {
			me := uuid.New()
			ok, wait, err := n.News.Frontier.AcquireSlot(context.Background(), "d:news.example", me, 2*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || !ok && (wait <= 0 || wait > 2*time.Second) {
				t.Errorf("%v: wait %s", err, wait)
			}
			if ok {
				taken++
				holder = me
			}
		})
	}
	all.Wait()
	if taken != 1 {
		t.Fatalf("got %d holders, want 1", taken)
	}
	// Only the holder can release the slot.
	n.Must(n.News.Frontier.ReleaseSlot(t.Context(), "d:news.example", uuid.New(), 0))
	if ok, _, err := n.News.Frontier.AcquireSlot(t.Context(), "d:news.example", uuid.New(), time.Second); ok || err != nil {
		t.Errorf("released by another holder: acquired %v, %v", ok, err)
	}
	n.Must(n.News.Frontier.ReleaseSlot(t.Context(), "d:news.example", holder, 0))
	if ok, _, err := n.News.Frontier.AcquireSlot(t.Context(), "d:news.example", uuid.New(), time.Second); !ok || err != nil {
		t.Errorf("after release: acquired %v, %v", ok, err)
	}
	// IP addresses have a rate limit.
	var last time.Duration
	for i := range 4 {
		wait, ok, err := n.News.Frontier.ReserveSlot(t.Context(), "i:x", time.Second, 10*time.Second)
		if n.Must(err); !ok || i > 0 && wait-last < 900*time.Millisecond {
			t.Errorf("reservation %d: got a wait of %s after %s, want a second between them", i, wait, last)
		}
		last = wait
	}
	if _, ok, err := n.News.Frontier.ReserveSlot(t.Context(), "i:x", time.Second, time.Second); ok || err != nil {
		t.Errorf("reserved a time beyond maxWait: %v", err)
	}
}

func TestApplyDomainCommand_PauseAndEmpty(t *testing.T) {
	n := open(t)
	s, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.Discover(s, 5, 3)
	_, err := n.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	n.Must(err)
	apply := func(command crawl.Command) int64 {
		t.Helper()
		deleted, err := n.News.Domains.ApplyDomainCommand(t.Context(), n.Workspace.ID, d.Name, command, "a test")
		n.Must(err)
		return deleted
	}
	running, leased, err := n.News.Domains.LeaseDomain(t.Context(), d.Name, time.Minute)
	if n.Must(err); !leased {
		t.Fatal("the domain could not be leased")
	}
	apply(crawl.Pause)
	if active, err := n.News.Domains.RenewDomainLease(t.Context(), running, time.Minute); active || err != nil {
		t.Errorf("the lease of a paused domain is still active: %v", err)
	}
	if urls := n.lease(d, 10); len(urls) != 0 {
		t.Errorf("got %d URLs of a paused domain, want 0", len(urls))
	}
	if _, leased, _ := n.News.Domains.LeaseDomain(t.Context(), d.Name, time.Minute); leased {
		t.Error("a paused domain could be leased")
	}
	_, err = n.News.Domains.ReleaseDomain(t.Context(), d.ID)
	n.Must(err)
	if due, err := n.News.Domains.ListDueDomains(t.Context(), 10); len(due) != 0 || err != nil {
		t.Errorf("paused: got due domains %v (%v), want none", due, err)
	}
	apply(crawl.Resume)
	if due, err := n.News.Domains.ListDueDomains(t.Context(), 10); len(due) != 1 || err != nil {
		t.Errorf("resumed: got due domains %v (%v), want 1", due, err)
	}
	if deleted := apply(crawl.Empty); deleted != 6 {
		t.Errorf("got %d URLs deleted, want 6", deleted)
	}
	if active, err := n.News.Domains.RenewDomainLease(t.Context(), running, time.Minute); active || err != nil {
		t.Errorf("the lease of an emptied domain is still active: %v", err)
	}
	apply(crawl.RunNow)
	if enqueued, err := n.News.Domains.EnqueueDueSeeds(t.Context(), 10); enqueued != 1 || err != nil {
		t.Errorf("got %d seeds enqueued (%v), want 1", enqueued, err)
	}
	d, err = n.News.Domains.GetCrawlDomain(t.Context(), d.Name)
	n.Must(err)
	if urls := n.lease(d, 10); len(urls) != 1 || urls[0].Kind != crawl.Home {
		t.Errorf("got URLs %+v, want the home page", urls)
	}
	if _, err := n.News.Domains.ApplyDomainCommand(t.Context(), n.Workspace.ID, "nobody.example", crawl.Pause, ""); err == nil {
		t.Error("an unknown domain was paused")
	}
	if got := n.Count("select count(*) from audit_log where action like 'domain.%'"); got != 4 {
		t.Errorf("got %d entries in the audit log, want 4", got)
	}
}
