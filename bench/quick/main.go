// Command benchquick measures Dateline next to its baselines for a few minutes and
// prints ratios. It compares CPU times, which other load on the machine hardly changes,
// and alternates between the sides. With -against it measures another commit too, and
// fails if a figure is more than a tenth worse than there.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// part is a benchmark that prints its figures as one JSON object on a line.
type part struct {
	name     string
	temporal bool              // needs the embedded Temporal server
	build    []string          // command that builds it; empty: nothing to build
	run      []string          // command that measures
	figures  map[string]figure // by the names that are printed here
}

// figure is what a benchmark measures.
type figure struct {
	key    string // in its output
	isCost bool   // less is better
}

// maxLoss is the part by which a figure may get worse.
const maxLoss = .1

// parts are short runs of the benchmarks. Each alternates between Dateline and its
// baseline.
func parts() []part {
	return []part{
		{
			name:    "views",
			build:   []string{"go", "build", "-o", "bin/benchviews", "./bench/views"},
			run:     []string{"./bin/benchviews", "-parts", "cost"},
			figures: map[string]figure{"views_of_pipelined_incr_cpu": {key: "incr_of_counting_cpu"}},
		},
		{
			name: "extract",
			run: []string{
				"go", "test", "./internal/news/article/selector", "-run", "^$", "-bench",
				"BenchmarkExtract", "-benchtime", "40x", "-cpu", "1",
			},
			figures: map[string]figure{
				"extract_times_trafilatura_cpu":         {key: "ratio"},
				"extract_learned_times_trafilatura_cpu": {key: "learned_ratio"},
			},
		},
		{
			name:     "publish",
			temporal: true,
			build:    []string{"go", "build", "-o", "bin/bench", "./bench/publish"},
			run: []string{
				"./bin/bench", "-parts", "deferred,sustained", "-steady", "400", "-rate", "40", "-lead",
				"22s",
			},
			figures: map[string]figure{"publish_cpu_vs_deferred": {key: "cpu_per_post_vs_deferred", isCost: true}},
		},
		{
			name:     "crawl",
			temporal: true,
			build:    []string{"go", "build", "-C", "e2e/crawl/colly", "-o", "../../../bin/bench-colly", "."},
			run: []string{
				"go", "test", "./e2e/crawl", "-run", "TestBench", "-count=1", "-v", "-crawl-bench",
				"/dev/stdout", "-crawl-bench-pages", "3200", "-crawl-bench-urls", "0",
			},
			figures: map[string]figure{"crawl_of_colly_cpu": {key: "cpu_ratio_equal", isCost: true}},
		},
		{
			name: "search",
			run: []string{
				"go", "test", "./api", "-run", "TestBenchSearch", "-count=1", "-v", "-search-bench", "4000",
				"-search-bench-each", "6", "-search-bench-vectors",
			},
			figures: map[string]figure{
				"search_cpu_ms": {key: "cpu_ms", isCost: true}, "search_hybrid_cpu_ms": {key: "hybrid_cpu_ms", isCost: true},
			},
		},
		{
			name: "posts",
			run:  []string{"go", "test", "./api", "-run", "TestBenchPosts", "-count=1", "-v", "-posts-bench"},
			figures: map[string]figure{
				"posts_cpu_ms": {key: "posts_cpu_ms", isCost: true}, "posts_month_cpu_ms": {key: "month_cpu_ms", isCost: true},
			},
		},
	}
}

type options struct {
	against string
	only    string
	repeats int
	verbose bool
}

func main() {
	var o options
	flag.StringVar(&o.against, "against", "", "`commit` to compare with")
	flag.StringVar(&o.only, "parts", "",
		"what to measure: `views,extract,publish,crawl,search,posts` or some of them (default: all)")
	flag.IntVar(&o.repeats, "rounds", 1, "`number` of times to measure each commit; the median is reported")
	flag.BoolVar(&o.verbose, "v", false, "print the output of the benchmarks")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchquick:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	if o.repeats < 1 {
		return errors.New("-rounds must be at least 1")
	}
	var chosen []part
	for _, p := range parts() {
		if o.only == "" || slices.Contains(strings.Split(o.only, ","), p.name) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-parts: there is no part %q", o.only)
	}
	trees := []tree{{dir: ".", name: "this checkout"}}
	if o.against != "" {
		other, remove, err := checkOut(ctx, o.against)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remove()) }()
		trees = []tree{other, trees[0]}
	}
	for i := range trees {
		trees[i].figures = map[string][]float64{}
		if err := trees[i].build(ctx, chosen); err != nil {
			return err
		}
	}
	for range o.repeats {
		for _, p := range chosen {
			for _, t := range trees {
				err := t.measure(ctx, out, p, o.verbose)
				if err != nil && t.dir != "." { // it may be older than the benchmark
					_, _ = fmt.Fprintf(out, "%s was not measured at %s: %v\n", p.name, t.name, err)
				} else if err != nil {
					return err
				}
			}
		}
	}
	return report(out, trees, chosen)
}

// tree is a checkout that is measured.
type tree struct {
	dir, name string
	figures   map[string][]float64
}

// checkOut checks a commit out in a temporary directory, which remove deletes.
func checkOut(ctx context.Context, commit string) (t tree, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "dateline-bench-")
	if err != nil {
		return tree{}, nil, err
	}
	t = tree{dir: filepath.Join(dir, "checkout"), name: commit}
	remove = func() error {
		_, err := command(context.WithoutCancel(ctx), ".", "git", "worktree", "remove", "--force", t.dir)
		return errors.Join(err, os.RemoveAll(dir))
	}
	if _, err := command(ctx, ".", "git", "worktree", "add", "--detach", t.dir, commit); err != nil {
		return tree{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return t, remove, nil
}

// build builds what the parts need. `make bench/quick` built the program of this checkout; that
// of another is built without the dashboard, which would take longest. A commit that has a server
// of its own gets it built.
func (t tree) build(ctx context.Context, chosen []part) error {
	if t.dir != "." && slices.ContainsFunc(chosen, func(p part) bool { return p.temporal }) {
		builds := [][]string{{"go", "build", "-o", "bin/dateline", "."}}
		if _, err := os.Stat(filepath.Join(t.dir, "temporald")); err == nil {
			builds = append(builds, []string{
				"./bin/dateline", "build-temporald", "--source", "temporald", "-o", "bin/temporald",
			})
		}
		for _, build := range builds {
			if _, err := command(ctx, t.dir, build...); err != nil {
				return err
			}
		}
	}
	for _, p := range chosen {
		if len(p.build) == 0 {
			continue
		}
		if _, err := command(ctx, t.dir, t.places(p.build)...); err != nil {
			return err
		}
	}
	return nil
}

// places returns a command with the folders where a commit has its benchmarks.
func (t tree) places(command []string) []string {
	if _, err := os.Stat(filepath.Join(t.dir, "bench/publish")); err == nil {
		return command
	}
	earlier := strings.NewReplacer("./bench/views", "./e2e/benchviews", "./bench/publish", "./e2e/bench")
	out := make([]string, len(command))
	for i, part := range command {
		out[i] = earlier.Replace(part)
	}
	return out
}

// measure runs a part and keeps its figures.
func (t tree) measure(ctx context.Context, out io.Writer, p part, verbose bool) error {
	text, err := command(ctx, t.dir, p.run...)
	if verbose {
		_, _ = out.Write(text)
	}
	if err != nil {
		return err
	}
	var got map[string]any
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("{")) {
			got = nil
			if err := json.Unmarshal(line, &got); err != nil {
				return fmt.Errorf("%s: unexpected output %q: %w", p.name, line, err)
			}
		}
	}
	for name, f := range p.figures {
		value, ok := got[f.key].(float64)
		if !ok {
			return fmt.Errorf("%s of %s does not print %q", p.name, t.name, f.key)
		}
		t.figures[name] = append(t.figures[name], value)
	}
	return nil
}

// command runs a command and returns its output, which an error contains.
func command(ctx context.Context, dir string, words ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the commands are those above
	cmd.Dir, cmd.Cancel = dir, func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
	}
	return out, nil
}

// report prints the figures and, as the last line, one JSON object.
func report(out io.Writer, trees []tree, chosen []part) error {
	last, this := map[string]any{}, trees[len(trees)-1]
	var worse []string
	for _, p := range chosen {
		for _, name := range slices.Sorted(maps.Keys(p.figures)) {
			after := median(this.figures[name])
			if len(trees) == 1 || len(trees[0].figures[name]) == 0 {
				_, _ = fmt.Fprintf(out, "%-40s %8.3f\n", name, after)
				last[name] = thousandths(after)
				continue
			}
			before := median(trees[0].figures[name])
			_, _ = fmt.Fprintf(out, "%-40s %8.3f → %8.3f  %+6.1f %%\n", name, before, after, 100*(after/before-1))
			last[name] = map[string]float64{
				"before": thousandths(before), "after": thousandths(after), "change": thousandths(after/before - 1),
			}
			if p.figures[name].isWorse(before, after) {
				worse = append(worse, name)
			}
		}
	}
	if err := json.NewEncoder(out).Encode(last); err != nil {
		return err
	}
	if len(worse) > 0 {
		return fmt.Errorf("more than %.0f %% worse than %s: %s", 100*maxLoss, trees[0].name, strings.Join(worse, ", "))
	}
	return nil
}

// isWorse reports whether a figure lost more than it may.
func (f figure) isWorse(before, after float64) bool {
	if f.isCost {
		return after > before*(1+maxLoss)
	}
	return after < before*(1-maxLoss)
}

func median(all []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(all), cmp.Compare)
	if len(sorted) == 0 {
		return math.NaN()
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }
