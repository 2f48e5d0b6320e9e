package counter_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

// Processes of two releases count at the same time during an upgrade, and a release may
// be started again after its successor. So they must recognize each other's hits, visits
// and views: what they store must not change without a release that reads both.
func TestCount_StoresTheLayoutOfReleases(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	clock := newClock()
	c := counter.New(client, counter.Options{Now: clock.Now})
	site := newSite(t, counter.HyperLogLog)
	site.ID = uuid.UUID{1}
	load := view(site, "a", 1, clock.Now())
	load.View = "v"
	click := view(site, "a", 1, clock.Now())
	click.Kind = counter.Click
	count(t, c, load, click)
	clock.add(20 * time.Minute)
	count(t, c, view(site, "b", 1, clock.Now())) // the second page load of the visit
	clock.add(15 * time.Minute)
	count(t, c, view(site, "a", 1, clock.Now())) // counts again, but is no funnel step; another visit
	if n := must[int](t)(c.Heartbeats(t.Context(), []counter.Heartbeat{{
		Site: site, Page: "a", View: "v", Visitor: load.Visitor, Engaged: time.Minute, Scroll: 50, At: clock.Now(),
	}})); n != 1 {
		t.Errorf("%d heartbeats have a known view, want 1", n)
	}
	stored := map[string]bool{}
	for it := client.Scan(t.Context(), 0, "*", 100).Iterator(); it.Next(t.Context()); {
		key := it.Val()
		isEpoch := strings.HasPrefix(key, "{v00}d") && !strings.HasSuffix(key, "n")
		if !isEpoch && !strings.Contains(key, ";w") {
			continue
		}
		for field, value := range must[map[string]string](t)(client.HGetAll(t.Context(), key).Result()) {
			if field == "" { // marks the hash of an epoch
				continue
			}
			if isEpoch {
				// Releases choose how many octal digits of the visitor name a field.
				field = field[:5]
				entries := slices.Sorted(slices.Values(chunks(value, 5)))
				value = strings.Join(entries, " ")
			}
			stored[fmt.Sprintf("%s %x %x", key, field, value)] = true
		}
	}
	want := []string{
		"{v00}AQAAAAAAAAAAAAAAAAAAAA;w1994228 a77975c32f749ed2 0000480835",
		"{v00}d3600:498557:1 3331303136 0485b6c2cc20118d0fd8cc20118d0fd96f205d12cb68e020d8246d456f20d8246d45cc",
	}
	if got := slices.Sorted(maps.Keys(stored)); !slices.Equal(got, want) {
		t.Errorf("stored hits, visits and views:\ngot  %q\nwant %q", got, want)
	}
}

// chunks cuts a string into parts of n bytes.
func chunks(s string, n int) (parts []string) {
	for ; len(s) > n; s = s[n:] {
		parts = append(parts, s[:n])
	}
	return append(parts, s)
}
