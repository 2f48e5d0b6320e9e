package counter_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

var overheadRuns = flag.Int("overhead-bench", 0,
	"runs of counting with and without heartbeats and site totals (make bench/views)")

const (
	overheadViews    = 30_000 // per round and way
	overheadBatch    = 64
	overheadPages    = 10_000
	overheadVisitors = 200_000
)

// usage is time spent.
type usage struct{ redis, own, wall float64 } // seconds

func (u usage) cpu() float64 { return u.redis + u.own }

// overheadMethod is a way to count.
type overheadMethod struct {
	name          string
	withTotals    bool // site totals: visits and their dimensions
	withViews     bool // views have a number for their heartbeats
	site          counter.Site
	counting      []usage // per view, by round, aggregation included
	heartbeating  []usage // per heartbeat
	usedByCommand map[string]float64
}

// TestBenchOverhead counts the same views in three ways in turn: views alone, with
// site totals, and with both site totals and views that send heartbeats. It also
// measures a heartbeat. Processor time is affected less by other load than elapsed
// time.
func TestBenchOverhead(t *testing.T) {
	if *overheadRuns == 0 {
		t.Skip("make bench/views runs it")
	}
	client := enginetest.RedisClient(t, enginetest.NewDurableRedis(t, "everysec").URL)
	c := counter.New(client, counter.Options{})
	zone, err := timezone.Load("Asia/Ho_Chi_Minh")
	if err != nil {
		t.Fatal(err)
	}
	pages := make([]string, overheadPages)
	for i := range pages {
		pages[i] = uuid.NewString()
	}
	ways := []*overheadMethod{
		{name: "views"}, {name: "with site totals", withTotals: true}, {
			name: "with site totals and heartbeats", withTotals: true, withViews: true,
		},
	}
	for _, w := range ways {
		w.site = counter.Site{ID: uuid.New(), Zone: zone, Window: 30 * time.Minute, UniqueMethod: counter.HyperLogLog}
	}
	for round := range *overheadRuns + 1 { // the first one creates the keys
		for i := range ways {
			w := ways[(i+round)%len(ways)]
			counting, heartbeating := w.run(t, c, client, pages, uint64(round))
			if round > 0 {
				w.counting, w.heartbeating = append(w.counting, counting), append(w.heartbeating, heartbeating)
			}
		}
	}
	median := func(all []usage, of func(usage) float64) float64 {
		var numbers []float64
		for _, u := range all {
			numbers = append(numbers, of(u)*1e6)
		}
		slices.Sort(numbers)
		return numbers[len(numbers)/2]
	}
	cpu, wall := usage.cpu, func(u usage) float64 { return u.wall }
	for _, w := range ways {
		t.Logf("%s: Redis %.1f µs, this process %.1f µs, elapsed %.1f µs a view", w.name,
			median(w.counting, func(u usage) float64 { return u.redis }),
			median(w.counting, func(u usage) float64 { return u.own }), median(w.counting, wall))
	}
	all := ways[2]
	t.Logf("a heartbeat: Redis %.1f µs, this process %.1f µs, elapsed %.1f µs",
		median(all.heartbeating, func(u usage) float64 { return u.redis }),
		median(all.heartbeating, func(u usage) float64 { return u.own }), median(all.heartbeating, wall))
	var commands []string
	for name, used := range all.usedByCommand {
		commands = append(commands, fmt.Sprintf("%s %.2f", name, used/float64(*overheadRuns*overheadViews)))
	}
	slices.Sort(commands)
	t.Logf("of a heartbeat's time in Redis, µs by command: %s", strings.Join(commands, ", "))
	ratio := func(a, b *overheadMethod, of func(usage) float64) float64 {
		return float64(int(100*median(a.counting, of)/median(b.counting, of)+0.5)) / 100
	}
	result, err := json.Marshal(map[string]float64{
		"overhead_heartbeats_cpu":  ratio(ways[2], ways[1], cpu),
		"overhead_heartbeats_wall": ratio(ways[2], ways[1], wall),
		"overhead_totals_cpu":      ratio(ways[1], ways[0], cpu), "overhead_totals_wall": ratio(ways[1], ways[0], wall),
		"overhead_all_cpu": ratio(ways[2], ways[0], cpu), "overhead_all_wall": ratio(ways[2], ways[0], wall),
		"heartbeat_us": median(all.heartbeating, cpu),
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(result)) //nolint:forbidigo // the last line, which bench/views reads
}

// run counts the views of a round, and one heartbeat for each that sends any.
func (w *overheadMethod) run(
	t *testing.T, c *counter.Counter, client redis.UniversalClient, pages []string, round uint64,
) (counting, heartbeating usage) {
	t.Helper()
	random := rand.New(rand.NewPCG(round, 1)) //nolint:gosec // the same views in each way
	zipf := rand.NewZipf(random, 1.01, 1, overheadPages-1)
	hits := make([]counter.Hit, overheadViews)
	beats := make([]counter.Heartbeat, overheadViews)
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	for i := range hits {
		hits[i] = counter.Hit{
			Site: w.site, Page: pages[zipf.Uint64()], Kind: counter.View, Visitor: counter.Visitor{
				Hash: (1 + random.Uint64N(overheadVisitors)) * 0x9e3779b97f4a7c15,
			},
			Country: pick("VN", "US", "FR", "DE"), Device: pick("mobile", "desktop"),
			Referrer: pick("", "facebook.com", "google.com"),
			Browser:  pick("Chrome", "Safari"), OS: pick("Android", "iOS"), Channel: pick("direct", "social", "search"),
			Source: pick("direct", "facebook.com", "google.com"),
		}
		if w.withViews {
			hits[i].View = strconv.FormatUint(random.Uint64(), 36)
		}
		beats[i] = counter.Heartbeat{
			Site: w.site, Page: hits[i].Page, View: hits[i].View, Visitor: hits[i].Visitor,
			Scroll:  random.IntN(101),
			Engaged: time.Duration(random.IntN(60)) * time.Second,
		}
	}
	aggregate := func() error { return c.Aggregate(t.Context()) }
	counting = spent(t, client, func() error {
		for part := range slices.Chunk(hits, overheadBatch) {
			for i := range part {
				part[i].At = time.Now()
			}
			count := c.Count
			if !w.withTotals {
				count = c.CountWithoutVisits
			}
			if _, err := count(t.Context(), part); err != nil {
				return err
			}
		}
		return aggregate()
	})
	if !w.withViews {
		return counting, heartbeating
	}
	before := commandTimes(t, client)
	heartbeating = spent(t, client, func() error {
		for part := range slices.Chunk(beats, overheadBatch) {
			for i := range part {
				part[i].At = time.Now()
			}
			if _, err := c.Heartbeats(t.Context(), part); err != nil {
				return err
			}
		}
		return aggregate()
	})
	if round > 0 {
		if w.usedByCommand == nil {
			w.usedByCommand = map[string]float64{}
		}
		for name, used := range commandTimes(t, client) {
			w.usedByCommand[name] += used - before[name]
		}
	}
	return counting, heartbeating
}

// spent measures the time that a run takes per view.
func spent(t *testing.T, client redis.UniversalClient, run func() error) usage {
	t.Helper()
	redisBefore, ownBefore, start := redisCPU(t, client), ownCPU(), time.Now()
	if err := run(); err != nil {
		t.Fatal(err)
	}
	u := usage{wall: time.Since(start).Seconds(), own: ownCPU() - ownBefore}
	u.redis = redisCPU(t, client) - redisBefore
	return usage{u.redis / overheadViews, u.own / overheadViews, u.wall / overheadViews}
}

func ownCPU() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// redisCPU returns the processor time of Redis in seconds.
func redisCPU(t *testing.T, client redis.UniversalClient) (sum float64) {
	t.Helper()
	for name, value := range infoOf(t, client, "cpu") {
		if name == "used_cpu_user" || name == "used_cpu_sys" {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

// commandTimes returns the microseconds that Redis has spent on each command.
func commandTimes(t *testing.T, client redis.UniversalClient) map[string]float64 {
	t.Helper()
	times := map[string]float64{}
	for name, value := range infoOf(t, client, "commandstats") {
		var calls, used float64
		if _, err := fmt.Sscanf(value, "calls=%f,usec=%f", &calls, &used); err == nil {
			times[strings.TrimPrefix(name, "cmdstat_")] = used
		}
	}
	return times
}

func infoOf(t *testing.T, client redis.UniversalClient, section string) map[string]string {
	t.Helper()
	text, err := client.Info(context.Background(), section).Result()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return values
}
