package counter_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// monday is a Monday at noon in Hanoi, in UTC.
func monday() time.Time { return time.Date(2026, 11, 16, 5, 0, 0, 0, time.UTC) }

func newClock() *clock { return &clock{now: monday()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

func (c *clock) add(d time.Duration) { c.set(c.Now().Add(d)) }

func hanoi(t testing.TB) *time.Location {
	t.Helper()
	zone, err := timezone.Load("Asia/Ho_Chi_Minh")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func newSite(t testing.TB, w counter.UniqueMethod) counter.Site {
	t.Helper()
	return counter.Site{
		ID: uuid.New(), Workspace: uuid.New(), Zone: hanoi(t), Window: 30 * time.Minute,
		UniqueMethod: w, MaxID: 1 << 20,
	}
}

// skipSlow skips a test with -short that takes seconds.
func skipSlow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds; run without -short")
	}
}

// engines runs a test on Redis and a cluster.
func engines(t *testing.T, test func(t *testing.T, client redis.UniversalClient)) {
	t.Run("Redis", func(t *testing.T) { test(t, enginetest.RedisClient(t, enginetest.Redis(t))) })
	t.Run("Cluster", func(t *testing.T) { test(t, enginetest.RedisCluster(t)) })
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func count(t testing.TB, c *counter.Counter, hits ...counter.Hit) []counter.Outcome {
	t.Helper()
	return must[[]counter.Outcome](t)(c.Count(context.Background(), hits))
}

// filteredOf reads the filtered hits that have not been flushed.
func filteredOf(t testing.TB, c *counter.Counter, site counter.Site, page string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	must[counter.PendingFiltered](t)(c.PendingFiltered(t.Context(), counter.PageID{Site: site.ID, Page: page})).
		AddTo(counts, nil)
	return counts
}

func aggregate(t testing.TB, c *counter.Counter) {
	t.Helper()
	if err := c.Aggregate(context.Background()); err != nil {
		t.Fatal(err)
	}
}
