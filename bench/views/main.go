// Command benchviews compares view counting with a naive implementation and a
// bare INCR, in the same run, on its own Redis. The last line of its output is
// a JSON object.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

// options are the command-line flags.
type options struct {
	parts    string
	runs     int
	duration time.Duration
	callers  int
	posts    int
	visitors int
	stored   int
	profile  string
	redis    string
}

// report is the last line of the output.
type report struct {
	Redis               string  `json:"redis,omitempty"` // of cost and memory
	ViewsPerS           float64 `json:"views_per_s,omitempty"`
	NaivePerS           float64 `json:"naive_per_s,omitempty"`
	IncrPerS            float64 `json:"incr_per_s,omitempty"`
	NaivePipelinedPerS  float64 `json:"naive_pipelined_per_s,omitempty"`
	IncrPipelinedPerS   float64 `json:"incr_pipelined_per_s,omitempty"`
	TimesNaive          float64 `json:"times_naive,omitempty"`
	TimesNaivePipelined float64 `json:"times_naive_pipelined,omitempty"`
	// OfPipelinedIncrCPU is the CPU time of Redis for a pipelined INCR divided by that
	// for a view.
	OfPipelinedIncrCPU float64 `json:"of_pipelined_incr_cpu,omitempty"`
	// IncrOfCountingCPU is the same with batches of one size, which other load on the
	// machine does not change.
	IncrOfCountingCPU float64 `json:"incr_of_counting_cpu,omitempty"`
	// IncrOfMinimalCPU is the same for a script that only does what exact counting needs
	// at least.
	IncrOfMinimalCPU  float64 `json:"incr_of_minimal_cpu,omitempty"`
	OfIncr            float64 `json:"of_incr,omitempty"`
	P99ms             float64 `json:"p99_ms,omitempty"`
	MBPerMillionPosts float64 `json:"mb_per_million_posts,omitempty"`
	TrendingMS        float64 `json:"trending_ms,omitempty"`
	CountingUS        float64 `json:"counting_us,omitempty"`
	HTTPPerS          float64 `json:"http_per_s,omitempty"`
	HTTPNaivePerS     float64 `json:"http_naive_per_s,omitempty"`
	HTTPTimesNaive    float64 `json:"http_times_naive,omitempty"`
	HTTPUS            float64 `json:"http_us,omitempty"`
	HTTPNaiveUS       float64 `json:"http_naive_us,omitempty"`
	TrendingP99MS     float64 `json:"trending_p99_ms,omitempty"`
	Flush100kS        float64 `json:"flush_100k_s,omitempty"`
	// Processor time and elapsed time per view, divided by those of counting without
	// site totals, without heartbeats, and without both.
	OverheadHeartbeatsCPU  float64 `json:"overhead_heartbeats_cpu,omitempty"`
	OverheadHeartbeatsWall float64 `json:"overhead_heartbeats_wall,omitempty"`
	OverheadTotalsCPU      float64 `json:"overhead_totals_cpu,omitempty"`
	OverheadTotalsWall     float64 `json:"overhead_totals_wall,omitempty"`
	OverheadAllCPU         float64 `json:"overhead_all_cpu,omitempty"`
	OverheadAllWall        float64 `json:"overhead_all_wall,omitempty"`
	HeartbeatUS            float64 `json:"heartbeat_us,omitempty"`
}

func main() {
	var o options
	flag.StringVar(&o.parts, "parts", "speed,http,cost,overhead,trending,flush,memory", "what to measure")
	flag.IntVar(&o.runs, "rounds", 3, "speed: number of runs per method; the median is reported")
	flag.DurationVar(&o.duration, "duration", 8*time.Second, "speed: duration of a run")
	flag.IntVar(&o.callers, "callers", 64, "speed: number of concurrent callers")
	flag.IntVar(&o.posts, "posts", 10_000, "speed: number of posts, with Zipf-distributed views")
	flag.IntVar(&o.visitors, "visitors", 1_000_000, "number of visitors")
	flag.IntVar(&o.stored, "stored", 1_000_000, "memory: number of posts")
	flag.StringVar(&o.profile, "profile", "", "speed: write a CPU profile of counting to this file")
	flag.StringVar(&o.redis, "redis", "", "path of a Redis or Valkey server to measure; the installed or fetched one "+
		"if empty, and always for overhead and flush")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchviews:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	var r report
	for _, part := range []struct {
		name string
		run  func(context.Context, io.Writer, options, *report) error
	}{
		{"speed", speed},
		{"http", overHTTP},
		{"cost", cost},
		{"overhead", overhead},
		{"trending", trending},
		{"flush", flushing},
		{"memory", memory},
	} {
		if !strings.Contains(o.parts, part.name) {
			continue
		}
		if err := part.run(ctx, out, o, &r); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return json.NewEncoder(out).Encode(r)
}
