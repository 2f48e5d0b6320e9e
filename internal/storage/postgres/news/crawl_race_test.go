package news_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/testing/storetest"
)

// Seeds are enqueued and created while URLs of the same domains are leased and
// recorded, in batches that mix the domains. There must be no deadlock.
func TestEnqueueDueSeeds_NoDeadlockWithCrawl(t *testing.T) {
	n := open(t)
	var domains []crawl.Domain
	for _, name := range []string{"c", "a", "d", "b"} {
		s, d := n.Seed(n.Workspace.ID, "https://"+name+".example/")
		n.Discover(s, 300, 3)
		domains = append(domains, d)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var all sync.WaitGroup
	run := func(what string, do func(ctx context.Context, i int) error) {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := do(ctx, i); err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", what, err)
					return
				}
			}
		})
	}
	for worker := range 3 {
		run("lease and record", func(ctx context.Context, i int) error {
			var fetched []crawl.FetchRecord
			for k := range 2 {
				urls, err := n.News.Frontier.LeaseURLs(ctx, crawl.LeaseRequest{
					Domain: domains[(worker+i+3*k)%4], LeaseID: uuid.New(),
					Limit: 8, TTL: time.Minute, IdleDelay: time.Hour,
				})
				if err != nil {
					return err
				}
				for _, u := range urls {
					u.State = crawl.Stored
					fetched = append(fetched, crawl.FetchRecord{URL: u, Requests: 1, Unscheduled: u.Kind.Hub()})
				}
			}
			if len(fetched) == 0 {
				return nil
			}
			_, err := n.News.Frontier.RecordFetches(ctx, fetched)
			return err
		})
	}
	for range 2 {
		run("enqueue seeds", func(ctx context.Context, _ int) error {
			enqueued, err := n.News.Domains.EnqueueDueSeeds(ctx, 100)
			if enqueued > 0 { // due again immediately
				for _, d := range domains {
					if _, err := n.News.Domains.ApplyDomainCommand(ctx, uuid.Nil, d.Name, crawl.RunNow, ""); err != nil {
						return err
					}
				}
			}
			return err
		})
	}
	run("create seeds", func(ctx context.Context, i int) error {
		var list []crawl.Seed
		for k := range 4 {
			list = append(list, crawl.Seed{
				ID: storetest.NewID(), WorkspaceID: n.Workspace.ID,
				URL: storetest.WebURL(t, "https://"+string("dbca"[(i+k)%4])+".example/"), Kind: crawl.Home,
				Status: crawl.Active, MinInterval: time.Minute, MaxInterval: time.Hour, Interval: time.Minute,
				Rules: crawl.Rules{MaxDepth: 1},
			})
		}
		_, _, err := n.News.Domains.CreateSeeds(ctx, list, idempotency.Key{})
		return err
	})
	all.Wait()
	if got := n.Count("select count(*) from urls where last_crawl is not null"); got == 0 {
		t.Error("nothing was crawled")
	}
}
