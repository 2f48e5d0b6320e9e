package counter_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

// sketches is a page of a site that counts with HyperLogLogs.
type sketches struct {
	t      *testing.T
	client redis.UniversalClient
	clock  *clock
	c      *counter.Counter
	site   counter.Site
}

func newSketches(t *testing.T, client redis.UniversalClient) *sketches {
	t.Helper()
	s := &sketches{t: t, client: client, clock: newClock(), site: newSite(t, counter.HyperLogLog)}
	s.c = counter.New(client, counter.Options{Now: s.clock.Now, Shards: 1})
	markSeeded(t, s.c)
	return s
}

func visitorHash(n int) uint64 { return uint64(n+1) * 0x9e3779b97f4a7c15 }

// views counts views of visitors in [from, to) and aggregates them.
func (s *sketches) views(from, to int) {
	s.t.Helper()
	var hits []counter.Hit
	for n := from; n < to; n++ {
		hits = append(hits, view(s.site, "a", visitorHash(n), s.clock.Now()))
	}
	count(s.t, s.c, hits...)
	aggregate(s.t, s.c)
}

func (s *sketches) uniques() counter.Uniques {
	s.t.Helper()
	return must[counter.Stats](s.t)(s.c.Stats(s.t.Context(), s.site, "a")).Uniques
}

// keys returns the suffixes of the page's keys.
func (s *sketches) keys() string {
	s.t.Helper()
	var suffixes []string
	var mu sync.Mutex
	list := func(ctx context.Context, node *redis.Client) error {
		keys, err := node.Keys(ctx, "*:a:*").Result()
		mu.Lock()
		defer mu.Unlock()
		for _, key := range keys {
			suffixes = append(suffixes, key[strings.LastIndexByte(key, ':')+1:])
		}
		return err
	}
	var err error
	switch client := s.client.(type) {
	case *redis.ClusterClient:
		err = client.ForEachMaster(s.t.Context(), list)
	case *redis.Client:
		err = list(s.t.Context(), client)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(suffixes)
	return strings.Join(suffixes, " ")
}

func (s *sketches) key(suffix string) string {
	return "{v00}" + base64.RawURLEncoding.EncodeToString(s.site.ID[:]) + ":a:" + suffix
}

func (s *sketches) want(when, keys string, want counter.Uniques) {
	s.t.Helper()
	if got := s.uniques(); got != want {
		s.t.Errorf("%s: got %+v, want %+v", when, got, want)
	}
	if got := s.keys(); got != keys {
		s.t.Errorf("%s: got keys %q, want %q", when, got, keys)
	}
	for _, d := range takeAll(s.t, s.c) {
		if n := len(d.Uniques); n > 0 {
			got := counter.Uniques{Day: d.Uniques[n-1].Uniques, Week: d.Uniques[n-1].WeekToDate, AllTime: d.AllTime}
			if got != want {
				s.t.Errorf("%s: the flush gets %+v, want %+v", when, got, want)
			}
		}
	}
	// Postgres gets the sketch that Redis would have.
	page := counter.PageID{Site: s.site.ID, Page: "a"}
	raw := must[[][]byte](s.t)(s.c.Sketches(s.t.Context(), []counter.PageID{page}))[0]
	if err := s.client.Set(s.t.Context(), "{v00}copy", raw, 0).Err(); err != nil {
		s.t.Fatal(err)
	}
	if n := must[int64](s.t)(s.client.PFCount(s.t.Context(), "{v00}copy").Result()); n != want.AllTime {
		s.t.Errorf("%s: the sketch has %d visitors, want %d", when, n, want.AllTime)
	}
}

// The visitors of a page are in its hash, which has the compact form, until they don't
// fit anymore.
func TestVisitors_AreListedInHash(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		s := newSketches(t, client)
		s.views(0, 5)
		s.want("a few", "t", counter.Uniques{Day: 5, Week: 5, AllTime: 5})
		s.clock.add(time.Hour)
		s.views(3, 6) // two of them again
		s.want("one more", "t", counter.Uniques{Day: 6, Week: 6, AllTime: 6})
		s.clock.add(24 * time.Hour)
		s.views(4, 14)
		s.want("the next day", "t", counter.Uniques{Day: 10, Week: 14, AllTime: 14})
		if e := must[string](t)(client.ObjectEncoding(t.Context(), s.key("t")).Result()); e != "listpack" {
			t.Errorf("the hash is a %s, want a listpack", e)
		}
		s.clock.add(time.Hour)
		s.views(14, 15) // the seventeenth register
		s.want("too many", "20773dH 20774dH t uH", counter.Uniques{Day: 11, Week: 15, AllTime: 15})
		s.clock.add(24 * time.Hour)
		s.views(14, 16)
		s.want("a day after", "20773dH 20774dH 20775dH t uH", counter.Uniques{Day: 2, Week: 16, AllTime: 16})
		for key, expires := range map[string]bool{"20773dH": true, "20774dH": true, "20775dH": false, "uH": false} {
			if ttl := must[time.Duration](t)(client.TTL(t.Context(), s.key(key)).Result()); (ttl > 0) != expires ||
				ttl > 9*24*time.Hour {
				t.Errorf("%s has a TTL of %s, want one: %v", key, ttl, expires)
			}
		}
		s.clock.add(6 * 24 * time.Hour)
		s.want("the next week", "20773dH 20774dH 20775dH t uH", counter.Uniques{AllTime: 16})
	})
}

// Many first visitors are not listed.
func TestVisitors_MoveToHyperLogLogs(t *testing.T) {
	t.Parallel()
	s := newSketches(t, enginetest.RedisClient(t, enginetest.Redis(t)))
	s.views(0, 17)
	s.want("many", "20773dH t", counter.Uniques{Day: 17, Week: 17, AllTime: 17})
}

// A list without views for years does not belong to current days, nor to those that
// Redis still has HyperLogLogs of.
func TestVisitors_ListedLongAgo(t *testing.T) {
	t.Parallel()
	s := newSketches(t, enginetest.RedisClient(t, enginetest.Redis(t)))
	s.views(0, 3)
	s.clock.add(400 * 24 * time.Hour)
	s.views(3, 5)
	s.want("years later", "t", counter.Uniques{Day: 2, Week: 2, AllTime: 5})
	s.views(5, 20)
	s.want("many more", "21173dH t uH", counter.Uniques{Day: 17, Week: 17, AllTime: 20})
}

// The lists are of the same registers as the HyperLogLogs of Redis.
func TestVisitors_EqualHyperLogLogsOfRedis(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	for n := range 300 {
		client.FlushAll(t.Context())
		s := newSketches(t, client)
		s.views(100*n, 100*n+1+n%16)
		page := counter.PageID{Site: s.site.ID, Page: "a"}
		if keys := s.keys(); keys != "t" {
			t.Fatalf("got keys %q, want only the hash", keys)
		}
		var visitors []any
		for v := 100 * n; v < 100*n+1+n%16; v++ {
			visitors = append(visitors, binary.BigEndian.AppendUint64(nil, visitorHash(v)))
		}
		client.PFAdd(t.Context(), "want", visitors...)
		var got, want counter.Sketch
		raw := must[[][]byte](t)(s.c.Sketches(t.Context(), []counter.PageID{page}))[0]
		if err := got.Merge(raw); err != nil {
			t.Fatal(err)
		}
		if err := want.Merge(must[[]byte](t)(client.Get(t.Context(), "want").Bytes())); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("visitors %d and %d more: got %x, want %x", 100*n, n%16, got.Bytes(), want.Bytes())
		}
		s.views(100*n, 100*n+40) // adds to HyperLogLogs that were made of the list
		var both counter.Sketch
		if err := both.Merge(must[[]byte](t)(client.Get(t.Context(), s.key("20773dH")).Bytes())); err != nil {
			t.Fatal(err)
		}
		for v := 100*n + len(visitors); v < 100*n+40; v++ {
			client.PFAdd(t.Context(), "want", binary.BigEndian.AppendUint64(nil, visitorHash(v)))
		}
		want = counter.Sketch{}
		if err := want.Merge(must[[]byte](t)(client.Get(t.Context(), "want").Bytes())); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(both.Bytes(), want.Bytes()) {
			t.Fatalf("visitors %d and 40 more: got %x, want %x", 100*n, both.Bytes(), want.Bytes())
		}
	}
}

// Earlier versions had no lists: what they stored is read, and continued.
func TestVisitors_OfEarlierVersions(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	for name, fields := range map[string][]any{
		"counted": {"v", 3, "D", 20772, fmt.Sprint(20772 * 4), 3}, "seeded": {"v", 3, "s", 1},
	} {
		client.FlushAll(t.Context())
		s := newSketches(t, client)
		s.site.ID = uuid.UUID{1}
		page := "{v00}AQAAAAAAAAAAAAAAAAAAAA:a:"
		client.HSet(t.Context(), page+"t", fields...)
		for n := range 3 {
			visitor := binary.BigEndian.AppendUint64(nil, visitorHash(n))
			if name == "seeded" {
				client.PFAdd(t.Context(), page+"uH", visitor)
			} else {
				client.PFAdd(t.Context(), page+"20772dH", visitor)
			}
		}
		if got := s.uniques(); got.AllTime != 3 {
			t.Errorf("%s: got %+v, want 3 of all time", name, got)
		}
		s.views(2, 6)
		if got := s.uniques(); got.Day != 4 || got.AllTime != 6 {
			t.Errorf("%s: got %+v, want 4 today and 6 of all time", name, got)
		}
	}
}

// After a loss of Redis, lists and HyperLogLogs of Postgres and of the time since are
// joined.
func TestSeed_JoinsListsAndHyperLogLogs(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	for _, row := range []struct {
		before, since int // visitors, of which 2 are the same
		keys          string
	}{
		{3, 0, "t"},
		{3, 4, "t"},
		{10, 9, "20773dH t uH"},
		{40, 4, "20773dH t uH"},
		{4, 40, "20773dH t uH"},
		{40, 0, "t uH"},
		{40, 60, "20773dH t uH"},
	} {
		client.FlushAll(t.Context())
		s := newSketches(t, client)
		s.views(0, row.before)
		page := counter.PageID{Site: s.site.ID, Page: "a"}
		sketch := must[[][]byte](t)(s.c.Sketches(t.Context(), []counter.PageID{page}))[0]
		client.FlushAll(t.Context())
		s.clock.add(2 * time.Hour)
		all := row.before
		if row.since > 0 {
			s.views(row.before-2, row.before-2+row.since)
			all += row.since - 2
		}
		if err := s.c.Seed(context.Background(), []counter.PageTotals{{
			PageID: page, UniqueMethod: counter.HyperLogLog, Views: int64(row.before), Sketch: sketch,
		}}); err != nil {
			t.Fatal(err)
		}
		markSeeded(t, s.c)
		name := fmt.Sprintf("%d visitors before, %d since", row.before, row.since)
		if got := s.keys(); got != row.keys {
			t.Errorf("%s: got keys %q, want %q", name, got, row.keys)
		}
		if got := s.uniques(); off(got.AllTime, int64(all)) > 0.05 || got.Day != int64(row.since) {
			t.Errorf("%s: got %+v, want %d today and %d of all time", name, got, row.since, all)
		}
		s.clock.add(time.Hour)
		s.views(200, 205)
		if got := s.uniques(); off(got.AllTime, int64(all+5)) > 0.05 || off(got.Day, int64(row.since+5)) > 0.05 {
			t.Errorf("%s, and 5 more: got %+v, want %d and %d", name, got, row.since+5, all+5)
		}
	}
}
