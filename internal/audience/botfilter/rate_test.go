package botfilter_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/botfilter"
	"dateline/internal/testing/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// Of a hundred concurrent hits the limit's number is allowed, and at most one more per
// process. Hits of other sources and kinds do not count.
func TestRateLimiter_Allow(t *testing.T) {
	for _, n := range []int{1, 2} {
		t.Run(fmt.Sprint(n, " processes"), func(t *testing.T) { rate(t, n) })
	}
}

func rate(t *testing.T, n int) {
	url := enginetest.Redis(t)
	var processes []*botfilter.RateLimiter
	for range n {
		processes = append(processes, botfilter.NewRateLimiter(t.Context(), enginetest.RedisClient(t, url)))
	}
	limit := botfilter.Limit{Max: 5, Window: time.Hour}
	site := uuid.New()
	sources := []botfilter.Source{
		{Site: site, Visitor: 1, Kind: 'v'},
		{Site: site, Visitor: 2, Kind: 'v'},
		{Site: site, Visitor: 1, Kind: 'c'},
		{Site: uuid.New(), Visitor: 1, Kind: 'v'},
	}
	allowed := make([]atomic.Int64, len(sources))
	var wait sync.WaitGroup
	for i := range 100 {
		for j, s := range sources {
			wait.Go(func() {
				ok, err := processes[i%n].Allow(context.WithoutCancel(t.Context()), s, limit)
				if err != nil {
					t.Error(err)
				}
				if ok {
					allowed[j].Add(1)
				}
			})
		}
	}
	wait.Wait()
	for i := range allowed {
		if got := allowed[i].Load(); got < 5 || got > int64(5+n) {
			t.Errorf("%d hits of source %d are allowed", got, i)
		}
	}
	client := enginetest.RedisClient(t, url)
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != len(sources) {
		t.Fatalf("%q, %v", keys, err)
	}
	for _, key := range keys {
		if ttl, err := client.PTTL(t.Context(), key).Result(); err != nil || ttl <= 0 || ttl > time.Hour {
			t.Errorf("%s ends in %s, %v", key, ttl, err)
		}
	}
	// In the next window they are allowed again.
	short := botfilter.Source{Site: site, Visitor: 9}
	limit.Window = time.Millisecond
	for range 20 {
		time.Sleep(2 * time.Millisecond)
		if ok, err := processes[0].Allow(t.Context(), short, limit); !ok || err != nil {
			t.Errorf("allowed is %v, %v", ok, err)
		}
	}
}

// In a cluster visitors are spread over the nodes, and the limit applies to each, also
// across processes.
func TestRateLimiter_Cluster(t *testing.T) {
	client := enginetest.RedisCluster(t)
	processes := []*botfilter.RateLimiter{
		botfilter.NewRateLimiter(t.Context(), client), botfilter.NewRateLimiter(t.Context(), client),
	}
	limit := botfilter.Limit{Max: 5, Window: time.Hour}
	site := uuid.New()
	const visitors = 100
	allowed := make([]atomic.Int64, visitors)
	var wait sync.WaitGroup
	for i := range 20 {
		for visitor := range visitors {
			wait.Go(func() {
				ok, err := processes[i%2].Allow(context.WithoutCancel(t.Context()),
					botfilter.Source{Site: site, Visitor: uint64(visitor), Kind: 'v'}, limit)
				if err != nil {
					t.Error(err)
				}
				if ok {
					allowed[visitor].Add(1)
				}
			})
		}
	}
	wait.Wait()
	for visitor := range allowed {
		if got := allowed[visitor].Load(); got < 5 || got > 7 {
			t.Errorf("%d hits of visitor %d are allowed, want 5, and one more for each process at most", got, visitor)
		}
	}
	var nodes, keys atomic.Int64
	err := client.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		n, err := node.DBSize(ctx).Result()
		if n > 0 {
			nodes.Add(1)
		}
		keys.Add(n)
		return err
	})
	if err != nil || nodes.Load() != 3 || keys.Load() != visitors {
		t.Errorf("%d keys on %d nodes, %v; want %d on 3", keys.Load(), nodes.Load(), err, visitors)
	}
}

func TestRateLimiter_RedisUnavailable(t *testing.T) {
	url, stop := enginetest.StoppableRedis(t)
	r := botfilter.NewRateLimiter(t.Context(), enginetest.RedisClient(t, url))
	stop()
	limit := botfilter.Limit{Max: 5, Window: time.Hour}
	if ok, err := r.Allow(t.Context(), botfilter.Source{Visitor: 1}, limit); !ok || err != nil {
		t.Errorf("the first is allowed: %v, %v", ok, err)
	}
	if ok, err := r.Allow(t.Context(), botfilter.Source{Visitor: 1}, limit); ok || err == nil {
		t.Errorf("allowed is %v without an error", ok)
	}
}
