package flush_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

var (
	sustainedFor = flag.Duration("sustained-bench", 0,
		"how long to count with heartbeats, aggregation and flushes (make bench/views-sustained)")
	sustainedShare = flag.Float64("sustained-share", 0.7, "share of the peak rate at which the paced run counts")
)

const (
	sustainedCallers  = 64
	sustainedPages    = 100_000
	sustainedVisitors = 1_000_000
	peakFor           = 10 * time.Second
)

// TestBenchSustained counts views of Zipf-distributed pages for minutes, each with
// a heartbeat, while they are aggregated every second and flushed to Postgres every
// minute. It counts at a share of the peak first, then as fast as it can. Every view
// must be in Postgres in the end.
func TestBenchSustained(t *testing.T) {
	if *sustainedFor == 0 {
		t.Skip("make bench/views-sustained runs it")
	}
	r := open(t, enginetest.NewDurableRedis(t, "everysec").URL)
	r.counter = counter.New(r.redis, counter.Options{})
	r.Counter = r.counter
	r.flush() // a new installation is seeded
	s := &sustained{fixture: r, batcher: counter.NewBatcher(r.counter), pages: make([]string, sustainedPages)}
	defer s.batcher.Close()
	for i := range s.pages {
		s.pages[i] = uuid.Must(uuid.NewV7()).String()
	}
	ctx, cancel := context.WithCancel(t.Context())
	var aggregating sync.WaitGroup
	aggregating.Go(func() { r.counter.Run(ctx, func(err error) { t.Error(err) }) })

	peak, peakCPU := s.count(peakFor, 0, false)
	t.Logf("peak: %.0f views per second without heartbeats and flushes; %s", peak, peakCPU)
	stop := s.flushEveryMinute()
	paced, pacedCPU := s.count(*sustainedFor, *sustainedShare*peak, true)
	pendingPaced := s.maxPending.Swap(0)
	t.Logf("paced: %.0f views per second with everything on; at most %d entries were pending; %s", paced,
		pendingPaced, pacedCPU)
	fastest, fastestCPU := s.count(*sustainedFor, 0, true)
	pendingFastest := s.maxPending.Load()
	t.Logf("fastest: %.0f views per second with everything on; at most %d entries were pending; %s", fastest,
		pendingFastest, fastestCPU)
	stop()
	cancel()
	aggregating.Wait()
	r.must(r.counter.Aggregate(t.Context()))
	r.flush()
	if got, want := r.number("select sum(views)::bigint from view_pages"), s.counted.Load(); got != want {
		t.Errorf("got %d views in Postgres, want the %d that were counted", got, want)
	}
	result, err := json.Marshal(map[string]any{
		"peak_per_s": int(peak), "paced_per_s": int(paced),
		"paced_of_wanted": round(paced / (*sustainedShare * peak)),
		"sustained_per_s": int(fastest), "sustained_of_peak": round(fastest / peak), "views": s.counted.Load(),
		"max_flush_s": round(time.Duration(s.maxFlush.Load()).Seconds()), "max_pending_paced": pendingPaced,
		"max_pending": pendingFastest, "redis_us_peak": round(peakCPU.redis), "own_us_peak": round(peakCPU.own),
		"redis_us": round(fastestCPU.redis), "own_us": round(fastestCPU.own),
		// Redis is the bottleneck, and other load on the machine changes its processor time least.
		"sustained_of_peak_redis_cpu": round(peakCPU.redis / fastestCPU.redis),
	})
	r.must(err)
	fmt.Println(string(result)) //nolint:forbidigo // the last line of make bench/views-sustained
}

func round(x float64) float64 { return float64(int(100*x+0.5)) / 100 }

// sustained counts with many concurrent callers.
type sustained struct {
	*fixture
	batcher    *counter.Batcher
	pages      []string
	counted    atomic.Int64 // views that were not duplicates
	maxFlush   atomic.Int64 // nanoseconds
	maxPending atomic.Int64
}

// cpuPerView is processor time per view in µs, of Redis and of this process.
type cpuPerView struct{ redis, own float64 }

func (c cpuPerView) String() string {
	return fmt.Sprintf("processor time per view: Redis %.1f µs, this process %.1f µs", c.redis, c.own)
}

// cpu returns the processor time that was used so far in µs.
func (s *sustained) cpu() (c cpuPerView) {
	s.t.Helper()
	text, err := s.redis.Info(s.t.Context(), "cpu").Result()
	s.must(err)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_user" || name == "used_cpu_sys" {
			seconds, err := strconv.ParseFloat(value, 64)
			s.must(err)
			c.redis += seconds * 1e6
		}
	}
	var u syscall.Rusage
	s.must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	c.own = float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3
	return c
}

// count sends hits for a time and returns how many per second were answered, and their
// cost. perS bounds the rate; 0: as fast as possible. withHeartbeats also sends one
// heartbeat for each view.
func (s *sustained) count(d time.Duration, perS float64, withHeartbeats bool) (float64, cpuPerView) {
	s.t.Helper()
	var all sync.WaitGroup
	var hits atomic.Int64
	before := s.cpu()
	start := time.Now()
	for i := range sustainedCallers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(start.UnixNano()), uint64(i))) //nolint:gosec // not a secret
			zipf := rand.NewZipf(random, 1.01, 1, sustainedPages-1)
			for n := 0; time.Since(start) < d; n++ {
				if perS > 0 {
					time.Sleep(
						time.Until(
							start.Add(time.Duration(float64(n*sustainedCallers+i) / perS * float64(time.Second)))))
				}
				h := counter.Hit{
					Site: s.site, Page: s.pages[zipf.Uint64()], Kind: counter.View, At: time.Now(),
					Country: "VN", Device: "mobile", Referrer: "facebook.com",
					Browser: "Chrome", OS: "Android", Channel: "social", Source: "facebook.com",
					View:    strconv.FormatUint(random.Uint64(), 36),
					Visitor: counter.Visitor{Hash: random.Uint64N(sustainedVisitors) * 0x9e3779b97f4a7c15},
				}
				outcome, err := s.batcher.Count(s.t.Context(), h)
				if err != nil {
					s.t.Error(err)
					return
				}
				hits.Add(1)
				if outcome.Counted {
					s.counted.Add(1)
				}
				if !withHeartbeats {
					continue
				}
				if _, err := s.batcher.Heartbeat(s.t.Context(),
					counter.Heartbeat{
						Site: s.site, Page: h.Page, View: h.View, Visitor: h.Visitor,
						Engaged: 15 * time.Second, Scroll: 60, At: time.Now(),
					}); err != nil {
					s.t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	n, after := float64(hits.Load()), s.cpu()
	return n / time.Since(start).Seconds(), cpuPerView{(after.redis - before.redis) / n, (after.own - before.own) / n}
}

// flushEveryMinute flushes as the schedule does, until it is stopped.
func (s *sustained) flushEveryMinute() (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			pending, err := s.counter.PendingEntries(s.t.Context())
			if err != nil {
				s.t.Error(err)
				return
			}
			s.maxPending.Store(max(s.maxPending.Load(), pending))
			start := time.Now()
			if _, err := s.Flush(s.t.Context(), func() {}); err != nil {
				s.t.Error(err)
				return
			}
			took := time.Since(start)
			s.maxFlush.Store(max(s.maxFlush.Load(), int64(took)))
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute - took):
			}
		}
	})
	return func() { cancel(); running.Wait() }
}
