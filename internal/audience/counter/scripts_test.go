package counter_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

// scripts calls the scripts of one shard like a process that is behind or resends a
// call.
type scripts struct {
	t      *testing.T
	client *redis.Client
}

func newScripts(t *testing.T) scripts {
	t.Helper()
	t.Parallel()
	return scripts{t, enginetest.RedisClient(t, enginetest.Redis(t))}
}

func (s scripts) run(file, key string, args ...any) any {
	s.t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	sketches, err := os.ReadFile("sketch.lua") // in front of scripts that use it
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := redis.NewScript(string(sketches)+string(source)).Run(s.t.Context(), s.client, []string{key}, args...).Result()
	if err != nil {
		s.t.Fatalf("%s %v: %v", file, args, err)
	}
	return answer
}

func (s scripts) shard(args ...any) any {
	s.t.Helper()
	return s.run("shard.lua", "{v00}deltas", args...)
}

func (s scripts) list(name string) []string {
	s.t.Helper()
	return must[[]string](s.t)(s.client.LRange(s.t.Context(), "{v00}"+name, 0, -1).Result())
}

func (s scripts) wantList(name string, want ...string) {
	s.t.Helper()
	if got := s.list(name); !slices.Equal(got, want) {
		s.t.Errorf("%s: got %q, want %q", name, got, want)
	}
}

func (s scripts) push(name string, entries ...any) {
	s.t.Helper()
	if err := s.client.RPush(s.t.Context(), "{v00}"+name, entries...).Err(); err != nil {
		s.t.Fatal(err)
	}
}

func (s scripts) want(what string, got, want any) {
	s.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (s scripts) state(field string) string {
	s.t.Helper()
	value, err := s.client.HGet(s.t.Context(), "{v00}state", field).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		s.t.Fatal(err)
	}
	return value
}

func TestShardScript_TakesOnceFromSeededShard(t *testing.T) {
	s := newScripts(t)
	s.push("deltas", "a")
	s.want("a shard that was not seeded", s.shard("take", "b1"), -1)
	s.client.HSet(t.Context(), "{v00}state", "seeded", 1)
	s.client.HSet(t.Context(), "{v00}filtered", "page", `{"bot":1}`)
	s.want("a batch", s.shard("take", "b1"), 1)
	s.push("deltas", "b")
	s.want("the same again", s.shard("take", "b1"), 1)
	s.wantList("deltas", "b")
	s.wantList("flush:b1", "a")
	s.wantList("batches", "b1")
	s.want("take_count", s.state("take_count"), "1")
	s.want("change", s.state("change"), "1")
	s.want("filtered hits", s.shard("filtered", "page"), "[1 {} b1 {\"bot\":1}]")
	s.want("the next batch, without filtered hits", s.shard("take", "b2"), 1)
	s.want("nothing to take", s.shard("take", "b3"), 0)
	s.shard("drop", "b1")
	s.push("deltas", "c")
	s.want("a dropped batch", s.shard("take", "b1"), 0)
	s.wantList("batches", "b2")
	if n := s.client.Exists(t.Context(), "{v00}flush:b1", "{v00}filtered:b1", "{v00}skipped:b1").Val(); n != 0 {
		t.Errorf("%d keys of a dropped batch are left", n)
	}
}

// A process that read the log or the deltas before another one changed them does
// nothing.
func TestShardScript_RejectsStaleCalls(t *testing.T) {
	s := newScripts(t)
	s.push("log", "1", "x", "1", "y", "1", "z")
	s.want("the first call", s.shard("summarize", 0, 2, 10, "{v00}", "sum x"), 0)
	s.want("an outdated call", s.shard("summarize", 0, 2, 10, "{v00}", "sum x"), -1)
	s.wantList("summaries", "sum x")
	s.wantList("log", "1", "y", "1", "z")
	s.want("the next", s.shard("summarize", 1, 2, 10, "transfers", "sum y", "quarantine", "q"), 0)
	s.wantList("transfers", "sum y")
	s.wantList("quarantine", "q")
	s.wantList("log", "1", "z")

	s.push("deltas", "a", "b", "c")
	s.want("the first compaction", s.shard("compact", 0, 2, "ab"), 1)
	s.want("an outdated call", s.shard("compact", 0, 2, "ab"), -1)
	s.wantList("deltas", "ab", "c")

	s.want("a transfer", s.shard("receive", "id", "sum"), 1)
	s.wantList("summaries", "sum x", "sum")
	s.shard("receive", "id", "sum")
	s.wantList("summaries", "sum x", "sum")
}

func TestShardScript_ReturnsSketches(t *testing.T) {
	s := newScripts(t)
	s.client.PFAdd(t.Context(), "{v00}site:a:uH", "one", "two")
	s.client.PFAdd(t.Context(), "{v00}site:a:7dH", "three")
	got, ok := s.shard("sketch", "{v00}site:a", 7, "{v00}site:none", 7).([]any)
	if !ok || len(got) != 2 || got[1] != "" {
		t.Fatalf("got %q, want a sketch and nothing", got)
	}
	if err := s.client.Set(t.Context(), "copy", got[0], 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.want("the visitors of the sketch", s.client.PFCount(t.Context(), "copy").Val(), 3)
	s.want("its key", s.client.Exists(t.Context(), "{v00}sketch").Val(), 0)
}

func TestShardScript_QuarantinesOnce(t *testing.T) {
	s := newScripts(t)
	s.push("summaries", "bad", "good")
	s.want("a record", s.shard("quarantine", "summaries", "", 10, "bad", "id", "record"), "[1 0]")
	s.want("the same by another process", s.shard("quarantine", "summaries", "", 10, "bad", "id2", "record2"), "[0 0]")
	s.wantList("summaries", "good")
	s.wantList("quarantine", "record")
	// A process that read the list earlier must not apply the next entry instead.
	s.want("change", s.state("change"), "1")
	s.push("deltas", "bad", "good")
	s.shard("quarantine", "deltas", "", 10, "bad", "id", "record3")
	s.want("change", s.state("change"), "2")
	s.push("transfers", "bad")
	s.shard("quarantine", "transfers", "", 10, "bad", "id", "record4")
	s.want("change, which nothing of away depends on", s.state("change"), "2")
	if n := s.client.Exists(t.Context(), "{v00}skipped:").Val(); n != 0 {
		t.Error("an entry without a batch was recorded as skipped by one")
	}
	s.push("flush:b1", "bad")
	s.shard("quarantine", "flush:b1", "b1", 10, "bad", "id5", "record5")
	s.want("left out", s.client.SMembers(t.Context(), "{v00}skipped:b1").Val(), "[id5]")
	s.want("bounded", s.shard("summarize", 0, 0, 3, "quarantine", "record6"), 2)
	s.wantList("quarantine", "record4", "record5", "record6")

	s.want("a replay", s.shard("replay", "record4", "summaries", "x", "y"), 1)
	s.want("the same again", s.shard("replay", "record4", "summaries", "x", "y"), 0)
	s.wantList("summaries", "good", "x", "y")
	s.want("discarding", s.shard("replay", "record5"), 1)
	s.wantList("quarantine", "record6")
}

// aggregateCall returns the arguments of aggregate.lua for one page.
type aggregateCall struct {
	change         int
	now            int64
	page           string
	uniqueCounting string
	days           []any
	fields         []any // alternating names and counts
	minute         []any // minute, second, views
	filter         []any // reason, count
	sketch         []any // day, visitors
}

func (s scripts) site() string {
	id := uuid.New()
	return "{v00}" + base64.RawURLEncoding.EncodeToString(id[:])
}

func (s scripts) aggregate(site string, c aggregateCall) any {
	s.t.Helper()
	// The even elements are names, the odd ones numbers, or the other way around.
	every := func(all []any, from int) (some []any) {
		for i := from; i < len(all); i += 2 {
			some = append(some, all[i])
		}
		return some
	}
	var numbers []byte
	for _, n := range slices.Concat(
		[]any{len(c.days), len(c.sketch) / 2, len(c.fields) / 2, len(c.minute) / 3, len(c.filter) / 2},
		c.days, every(c.sketch, 0), every(c.fields, 1), c.minute, every(c.filter, 1)) {
		n, err := strconv.ParseUint(fmt.Sprint(n), 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		numbers = binary.BigEndian.AppendUint64(numbers, n)
	}
	args := []any{
		c.change, c.now, 600, 4, 2, 2, site, c.now / 900 / 4 * 4, 0, 1, site + ":" + c.page, c.uniqueCounting, numbers,
	}
	for _, visitors := range every(c.sketch, 1) {
		args = append(args, visitors, "") // too many for a list
	}
	args = append(append(args, every(c.fields, 0)...), every(c.filter, 0)...)
	s.client.LPush(s.t.Context(), "{v00}sums", "sum")
	return s.run("aggregate.lua", "{v00}sums", args...)
}

func (s scripts) totals(site, page string) map[string]string {
	s.t.Helper()
	return s.client.HGetAll(s.t.Context(), site+":"+page+":t").Val()
}

func TestAggregateScript_RejectsStaleCalls(t *testing.T) {
	s, site := newScripts(t), "{v00}aaaaaaaaaaaaaaaaaaaaaa"
	c := aggregateCall{now: 1_795_000_000, page: "p", uniqueCounting: "S", days: []any{20775}, fields: []any{"v1", 5}}
	s.want("the first", s.aggregate(site, c), 1)
	s.want("an outdated call", s.aggregate(site, c), -1)
	s.wantList("deltas", "sum")
	s.want("the count", s.totals(site, "p")["v1"], "5")
	s.want("filtered hits", s.client.Exists(t.Context(), "{v00}filtered").Val(), 0)
}

// The latest day never moves back. Expired days and hours are deleted when a day
// begins.
func TestAggregateScript_DropsExpiredFields(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	const day = 20_775
	now := int64(day)*86400 + 3600
	hour := func(ago int64) string { return strconv.FormatInt((now/900-4*ago)*4, 10) }
	dayOf := func(ago int) string { return strconv.Itoa((day - ago) * 4) }
	s.aggregate(site, aggregateCall{
		now: now, page: "p", uniqueCounting: "S", days: []any{day - 1}, fields: []any{
			hour(47), 1, hour(48), 1, hour(49), 1, dayOf(35), 1, dayOf(36), 1, "aVN", 1,
		},
	})
	if got := s.totals(site, "p"); got["D"] != strconv.Itoa(day-1) || len(got) != 7 {
		t.Errorf("fields after the first call: got %v, want 7 with the latest day", got)
	}
	s.aggregate(site, aggregateCall{
		change: 1, now: now, page: "p", uniqueCounting: "S", days: []any{day - 2}, fields: []any{dayOf(2), 1},
	})
	s.want("the newest day, after an older one", s.totals(site, "p")["D"], day-1)
	s.aggregate(site, aggregateCall{
		change: 2, now: now, page: "p", uniqueCounting: "S", days: []any{day}, fields: []any{dayOf(0), 1},
	})
	got := s.totals(site, "p")
	for field, want := range map[string]bool{
		hour(47): true, hour(48): true, hour(49): false, dayOf(35): true,
		dayOf(36): false, "aVN": true, dayOf(0): true,
	} {
		if _, ok := got[field]; ok != want {
			t.Errorf("field %s exists: got %v, want %v (%v)", field, ok, want, got)
		}
	}
	// The same day again deletes nothing.
	s.client.HSet(t.Context(), site+":p:t", hour(60), 1)
	s.aggregate(site, aggregateCall{
		change: 3, now: now, page: "p", uniqueCounting: "S", days: []any{day}, fields: []any{dayOf(0), 1},
	})
	if _, ok := s.totals(site, "p")[hour(60)]; !ok {
		t.Error("a call for the same day deleted expired fields")
	}
}

// A day's HyperLogLog is merged into the all-time one when the next day begins, or
// immediately if it is late.
func TestAggregateScript_MergesDailyHyperLogLogs(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	visitor := func(n int) string { return fmt.Sprintf("%08d", n) }
	all := func() int64 { return s.client.PFCount(t.Context(), site+":p:uH").Val() }
	aggregate := func(change, day int, visitors ...int) {
		t.Helper()
		text := ""
		for _, v := range visitors {
			text += visitor(v)
		}
		s.aggregate(site, aggregateCall{
			change: change, now: 1_795_000_000, page: "p", uniqueCounting: "H",
			days: []any{day}, sketch: []any{day, text}, fields: []any{fmt.Sprint(day * 4), len(visitors)},
		})
	}
	aggregate(0, 20775, 1, 2)
	s.want("during the day", all(), 0)
	aggregate(1, 20776, 3)
	s.want("when the next begins", all(), 2)
	aggregate(2, 20774, 4)
	s.want("of a past day", all(), 3)
	many := make([]int, 1200) // more than unpack accepts at once
	for i := range many {
		many[i] = 100 + i
	}
	aggregate(3, 20776, many...)
	if n := s.client.PFCount(t.Context(), site+":p:20776dH").Val(); n < 1150 || n > 1250 {
		t.Errorf("the day has %d visitors, want about 1201", n)
	}
	for _, day := range []int{20774, 20775} {
		if ttl := s.client.TTL(t.Context(), fmt.Sprintf("%s:p:%ddH", site, day)).Val(); ttl <= 0 {
			t.Errorf("the sketch of day %d has no TTL", day)
		}
	}
	if ttl := s.client.TTL(t.Context(), site+":p:20776dH").Val(); ttl > 0 {
		t.Errorf("the current day expires in %s", ttl)
	}
}

// After a week without aggregation, a page has more minutes than a Lua function can
// return.
func TestAggregateScript_AppliesManyMinutes(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	const minutes = 7 * 24 * 60
	now := int64(1_795_000_000)
	c := aggregateCall{now: now, page: "p", uniqueCounting: "S", days: []any{20775}, fields: []any{"aVN", minutes}}
	for ago := minutes - 1; ago >= 0; ago-- {
		second := now - 60*int64(ago)
		c.minute = append(c.minute, second/60, second, 1)
	}
	s.want("deltas", s.aggregate(site, c), 1)
	s.want("views of a country", s.totals(site, "p")["aVN"], minutes)
	s.want("views of the last hour", s.client.ZScore(t.Context(), site+";hour", "p").Val(), 60)
}

// Referrers and reasons are limited, here to two.
func TestAggregateScript_BoundsReferrersAndReasons(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	c := aggregateCall{
		now: 1_795_000_000, page: "p", uniqueCounting: "S", days: []any{20775},
		fields: []any{"ra", 5, "rb", 4, "rc", 3, "rd", 3}, filter: []any{"bot", 1, "rate", 2},
	}
	s.aggregate(site, c)
	s.want("four referrers", len(s.totals(site, "p")), 4+2) // D and R
	c.change, c.fields, c.filter = 1, []any{"ra", 1, "re", 9, "rother", 2}, []any{"bot", 1, "third", 4, "fourth", 1}
	s.aggregate(site, c)
	got := s.totals(site, "p")
	for field, want := range map[string]string{
		"re": "9", "ra": "6", "rother": "12", "R": "2", "rb": "", "rc": "",
		"rd": "",
	} {
		if got[field] != want {
			t.Errorf("%s: got %q, want %q", field, got[field], want)
		}
	}
	reasons := s.client.HGet(t.Context(), "{v00}filtered", site+":p").Val()
	for _, one := range []string{`"bot":2`, `"rate":2`, `"other":5`} {
		if !strings.Contains(reasons, one) {
			t.Errorf("filtered: got %s, want %s in it", reasons, one)
		}
	}
	if strings.Contains(reasons, "third") {
		t.Errorf("filtered: got %s, want two reasons and others", reasons)
	}
	// Temporarily there may be more referrers than the limit.
	s.aggregate(site, aggregateCall{
		change: 2, now: 1_795_000_000, page: "p", uniqueCounting: "S", days: []any{20775},
		fields: []any{"rf", 1},
	})
	s.want("a third referrer", s.totals(site, "p")["rf"], "1")
}

// Rankings only count views within their windows.
func TestAggregateScript_RanksWithinWindows(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	const now = int64(1_795_000_000)
	score := func(ranking, page string) float64 {
		return s.client.ZScore(t.Context(), site+";"+ranking, page).Val()
	}
	aggregate := func(change int, page string, ago, views int64) {
		t.Helper()
		at := now - ago
		s.aggregate(site, aggregateCall{
			change: change, now: now, page: page, uniqueCounting: "S",
			days:   []any{at / 86400},
			fields: []any{strconv.FormatInt(at/900/4*4*4, 10), views}, minute: []any{at / 60, at, views},
		})
	}
	aggregate(0, "fresh", 0, 10)
	aggregate(1, "half an hour", 1800, 10)
	aggregate(2, "two hours", 7200, 10)
	aggregate(3, "two days", 2*86400, 10)
	s.want("the last hour", []float64{
		score("hour", "fresh"), score("hour", "half an hour"),
		score("hour", "two hours"),
	}, "[10 10 0]")
	s.want("the last day", []float64{score("day", "fresh"), score("day", "two hours"), score("day", "two days")},
		"[10 10 0]")
	s.want("a minute", s.client.HGetAll(t.Context(), fmt.Sprintf("%s;m%d", site, now/60)).Val(), "map[fresh:10]")
	s.want("a minute long ago", s.client.Exists(t.Context(), fmt.Sprintf("%s;m%d", site, (now-7200)/60)).Val(), 0)
	if a, b := score("now", "fresh"), score("now", "half an hour"); a != 10 || b <= 0 || b >= 2 {
		t.Errorf("now: %v for new views and %v for those of half an hour ago, want 10 and 10/8", a, b)
	}
	if score("rise", "fresh") <= 0 || score("rise", "two hours") != 0 {
		t.Error("the ranking of rising pages lacks the newest views")
	}
	for ranking, page := range map[string]string{"hour": "two hours", "day": "two days"} {
		if _, err := s.client.ZScore(t.Context(), site+";"+ranking, page).Result(); !errors.Is(err, redis.Nil) {
			t.Errorf("the ranking of the %s has %q (%v)", ranking, page, err)
		}
	}
	aggregate(4, "fresh", 0, 5)
	s.want("again", []float64{score("hour", "fresh"), score("day", "fresh"), score("now", "fresh")}, "[15 15 15]")
	// A ranking is limited to four pages, temporarily to a quarter more.
	for i, want := range []int64{5, 4, 5, 4} {
		aggregate(5+i, fmt.Sprint("more ", i), 0, int64(20+i))
		s.want("pages of the ranking", s.client.ZCard(t.Context(), site+";now").Val(), want)
	}
	if score("now", "more 3") == 0 || score("now", "two days") != 0 {
		t.Error("the ranking dropped the first instead of the last")
	}
	// Filtered hits do not affect rankings.
	other := s.site()
	s.aggregate(other, aggregateCall{change: 9, now: now, page: "p", uniqueCounting: "", filter: []any{"bot", 1}})
	if n := s.client.Exists(t.Context(), other+";now", other+";day", other+":p:t").Val(); n != 0 {
		t.Error("filtered hits added a page to the rankings")
	}
}

// A page that is not in the ranking of the day may have views of its last 24 hours.
func TestAggregateScript_RanksReturningPages(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	const now = int64(1_795_000_000)
	hourOf := func(ago int64) string { return strconv.FormatInt((now/900/4*4-4*ago)*4, 10) }
	for i, c := range []struct {
		name   string
		stored []any
		want   float64
	}{
		{"new", []any{"v", 2}, 2},
		{"new, with views that are not aggregated yet", []any{"v", 5}, 2},
		{"today", []any{"D", now / 86400, hourOf(1), 10}, 12},
		{"yesterday", []any{"D", now/86400 - 1, hourOf(23), 10, hourOf(24), 100}, 12},
		{"the day before", []any{"D", now/86400 - 2, hourOf(24), 100}, 2},
		{"seeded", []any{"s", 1, "v", 12, hourOf(3), 10}, 12},
	} {
		s.client.HSet(t.Context(), site+":"+c.name+":t", c.stored...)
		s.aggregate(site, aggregateCall{
			change: i, now: now, page: c.name, uniqueCounting: "S", days: []any{now / 86400},
			fields: []any{hourOf(0), 2}, minute: []any{now / 60, now, 2},
		})
		s.want("a page with views of "+c.name, s.client.ZScore(t.Context(), site+";day", c.name).Val(), c.want)
	}
}

// A page is rising from three recent views on, and the last hour includes minutes that
// have not been swept yet.
func TestAggregateScript_WindowBoundaries(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	const now = int64(1_795_000_000)
	aggregate := func(change int, page string, at, views int64) {
		t.Helper()
		s.aggregate(site, aggregateCall{
			change: change, now: now, page: page, uniqueCounting: "S", days: []any{at / 86400},
			fields: []any{"83100", views}, minute: []any{at / 60, at, views},
		})
	}
	has := func(ranking, page string) bool {
		return s.client.ZScore(t.Context(), site+";"+ranking, page).Err() == nil
	}
	aggregate(0, "two", now, 2)
	aggregate(1, "three", now, 3)
	s.want("rising", []bool{has("rise", "two"), has("rise", "three")}, "[false true]")
	aggregate(2, "59 minutes", now-59*60, 1)
	aggregate(3, "60 minutes", now-60*60, 1)
	s.want("of the last 60 minutes", []bool{has("hour", "59 minutes"), has("hour", "60 minutes")}, "[true false]")
	s.client.HSet(t.Context(), site+";meta", "m", now/60-30) // earlier minutes are swept
	aggregate(4, "30 minutes", now-30*60, 1)
	aggregate(5, "31 minutes", now-31*60, 1)
	s.want("since the last sweep", []bool{has("hour", "30 minutes"), has("hour", "31 minutes")}, "[true false]")
	s.client.HSet(t.Context(), site+";meta", "m", now/60-90) // the sweep is behind
	aggregate(6, "an hour", now-60*60, 1)
	s.want("before a late sweep", has("hour", "an hour"), false)
}

// Weights grow with time. The reference time moves before they overflow, and the
// order stays the same.
func TestAggregateScript_MovesReferenceTime(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	const now = int64(1_795_000_000)
	aggregate := func(change int, at int64, page string, views int64) {
		t.Helper()
		s.aggregate(site, aggregateCall{
			change: change, now: at, page: page, uniqueCounting: "S", days: []any{at / 86400},
			fields: []any{fmt.Sprint(change), views}, minute: []any{at / 60, at, views},
		})
	}
	meta := func() map[string]string { return s.client.HGetAll(t.Context(), site+";meta").Val() }
	aggregate(0, now, "a", 100)
	s.want("the landmark", meta()["f"], now)
	aggregate(1, now+199*600, "b", 1)
	s.want("the landmark, before it is time", meta()["f"], now)
	rise := s.client.ZScore(t.Context(), site+";rise", "a").Val()
	later := now + 201*600
	aggregate(2, later, "c", 1)
	if scaled := s.client.ZScore(t.Context(), site+";rise", "a").Val(); rise <= 0 || scaled <= 0 ||
		scaled > rise*1e-50 {
		t.Errorf("a rising page has %v after %v, want it scaled like those of the current views", scaled, rise)
	}
	s.want("the landmark, later", meta()["f"], later)
	b, c := s.client.ZScore(t.Context(), site+";now", "b").Val(), s.client.ZScore(t.Context(), site+";now", "c").Val()
	if c != 1 || b < 0.2 || b > 0.3 {
		t.Errorf("scores %v and %v, want a quarter and 1", b, c)
	}
}

func TestAggregateScript_RecountsReturningPage(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	const now = int64(1_795_000_000)
	hours := now / 900 / 4 * 4
	s.client.HSet(t.Context(), site+":p:t", strconv.FormatInt((hours-4*23)*4, 10), 7,
		strconv.FormatInt((hours-4*24)*4, 10), 50)
	s.aggregate(site, aggregateCall{
		now: now, page: "p", uniqueCounting: "S", days: []any{now / 86400},
		fields: []any{strconv.FormatInt(hours*4, 10), 3}, minute: []any{now / 60, now, 3},
	})
	s.want("its last 24 hours", s.client.ZScore(t.Context(), site+";day", "p").Val(), 10)
	// A page without hours is removed from the ranking.
	s.aggregate(site, aggregateCall{
		change: 1, now: now, page: "q", uniqueCounting: "S", days: []any{now / 86400},
		fields: []any{"x", 3}, minute: []any{now / 60, now, 3},
	})
	if _, err := s.client.ZScore(t.Context(), site+";day", "q").Result(); !errors.Is(err, redis.Nil) {
		t.Errorf("a page without hours is in the ranking of the day (%v)", err)
	}
}

// Large numbers are exact: Redis formats Lua numbers with at most 17 digits.
func TestAggregateScript_AddsLargeNumbers(t *testing.T) {
	s := newScripts(t)
	site := s.site()
	for change := range 2 {
		s.aggregate(site, aggregateCall{
			change: change, now: 1_795_000_000, page: "p", uniqueCounting: "S",
			days: []any{20775}, fields: []any{"83100", 4_000_000_000}, minute: []any{
				29916666, 1_795_000_000, 4_000_000_000,
			},
		})
	}
	s.want("the total", s.totals(site, "p")["83100"], 8_000_000_000)
	s.want("the minute", s.client.HGet(t.Context(), site+";m29916666", "p").Val(), 8_000_000_000)
}

// Concurrent replays of a record by two processes happen once.
func TestReplay_HappensOnce(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	c := counter.New(client, counter.Options{Shards: 1, Now: func() time.Time { return time.Unix(1_795_000_000, 0) }})
	markSeeded(t, c)
	site := newSite(t, counter.Set)
	count(t, c, view(site, "a", 1, time.Unix(1_795_000_000, 0)))
	entry := must[string](t)(client.LIndex(t.Context(), "{v00}log", 1).Result())
	if err := client.LSet(t.Context(), "{v00}log", 1, entry[1:]).Err(); err != nil {
		t.Fatal(err)
	}
	aggregate(t, c)
	records := must[[]counter.QuarantinedRecord](t)(c.Quarantine(t.Context(), 0))
	if n := must[int64](t)(c.QuarantineSize(t.Context())); n != 1 || len(records) != 1 {
		t.Fatalf("got %d records, want 1", n)
	}
	for i, want := range []bool{true, false} {
		if got := must[bool](t)(c.Replay(t.Context(), records[0])); got != want {
			t.Errorf("replay %d: got %v, want %v", i, got, want)
		}
	}
	aggregate(t, c)
	series := must[[]counter.Bucket](t)(c.Series(t.Context(), site, "a", counter.View, counter.ByHour, 1))
	if series[0].Count != 1 {
		t.Errorf("the hour has %d views, want 1", series[0].Count)
	}
}
