package postgres_test

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
			ok, wait, err := n.AcquireSlot(context.Background(), "d:news.example", me, 2*time.Second)
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
		t.Fatalf("%d went through", taken)
	}
	// Only its holder can open it early.
	n.must(n.ReleaseSlot(t.Context(), "d:news.example", uuid.New(), 0))
	if ok, _, err := n.AcquireSlot(t.Context(), "d:news.example", uuid.New(), time.Second); ok || err != nil {
		t.Errorf("a stranger opened it: %v %v", ok, err)
	}
	n.must(n.ReleaseSlot(t.Context(), "d:news.example", holder, 0))
	if ok, _, err := n.AcquireSlot(t.Context(), "d:news.example", uuid.New(), time.Second); !ok || err != nil {
		t.Errorf("it stays closed: %v %v", ok, err)
	}
	// Addresses give turns.
	var last time.Duration
	for i := range 4 {
		wait, ok, err := n.ReserveSlot(t.Context(), "i:x", time.Second, 10*time.Second)
		if n.must(err); !ok || i > 0 && wait-last < 900*time.Millisecond {
			t.Errorf("turn %d comes in %s after %s", i, wait, last)
		}
		last = wait
	}
	if _, ok, err := n.ReserveSlot(t.Context(), "i:x", time.Second, time.Second); ok || err != nil {
		t.Errorf("a turn that is far away was given: %v", err)
	}
}

func TestApplyDomainCommand_PauseAndEmpty(t *testing.T) {
	n := open(t)
	s, d := n.seed(n.workspace.ID, "https://news.example/")
	n.discover(s, 5, 3)
	_, err := n.EnqueueDueSeeds(t.Context(), 10)
	n.must(err)
	control := func(what crawl.Command) int64 {
		t.Helper()
		forgotten, err := n.ApplyDomainCommand(t.Context(), n.workspace.ID, d.Name, what, "a test")
		n.must(err)
		return forgotten
	}
	running, drains, err := n.LeaseDomain(t.Context(), d.Name, time.Minute)
	if n.must(err); !drains {
		t.Fatal("it is not drained")
	}
	control(crawl.Pause)
	if goOn, err := n.RenewDomainLease(t.Context(), running, time.Minute); goOn || err != nil {
		t.Errorf("a drain goes on: %v", err)
	}
	if urls := n.lease(d, 10); len(urls) != 0 {
		t.Errorf("%d URLs of a paused domain", len(urls))
	}
	if _, drains, _ := n.LeaseDomain(t.Context(), d.Name, time.Minute); drains {
		t.Error("a paused domain is drained")
	}
	_, err = n.ReleaseDomain(t.Context(), d.ID)
	n.must(err)
	if due, err := n.ListDueDomains(t.Context(), 10); len(due) != 0 || err != nil {
		t.Errorf("due are %v %v", due, err)
	}
	control(crawl.Resume)
	if due, err := n.ListDueDomains(t.Context(), 10); len(due) != 1 || err != nil {
		t.Errorf("due are %v %v", due, err)
	}
	if forgotten := control(crawl.Empty); forgotten != 6 {
		t.Errorf("%d URLs were forgotten", forgotten)
	}
	if goOn, err := n.RenewDomainLease(t.Context(), running, time.Minute); goOn || err != nil {
		t.Errorf("a drain of an emptied frontier goes on: %v", err)
	}
	control(crawl.RunNow)
	if planned, err := n.EnqueueDueSeeds(t.Context(), 10); planned != 1 || err != nil {
		t.Errorf("%d seeds planned, %v", planned, err)
	}
	d, err = n.GetCrawlDomain(t.Context(), d.Name)
	n.must(err)
	if urls := n.lease(d, 10); len(urls) != 1 || urls[0].Kind != crawl.Home {
		t.Errorf("leased %+v", urls)
	}
	if _, err := n.ApplyDomainCommand(t.Context(), n.workspace.ID, "nobody.example", crawl.Pause, ""); err == nil {
		t.Error("an unknown domain was paused")
	}
	if got := n.count("select count(*) from audit_log where action like 'domain.%'"); got != 4 {
		t.Errorf("%d entries in the audit log", got)
	}
}
