// Command bench measures publishing with the whole stack on this machine: how late a
// burst is, how many posts per minute it sustains, the limit of a bare Temporal, and
// the cost of a post in Temporal. docs/performance.md explains the figures.
//
// The last line on stdout is one JSON object.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

type options struct {
	program  string
	herds    []int
	accounts int
	networks int
	latency  time.Duration // of the network
	lead     time.Duration // 0: as long as scheduling and arming the posts take
	steady   int
	rate     int
	parts    string
	profiles string
	keepLog  string
	hurry    bool
	measured int // posts whose metrics are read meanwhile; 0: reading is off; negative: as by default
	repeats  int
}

func (o options) measures(part string) bool {
	return o.parts == "all" || strings.Contains(","+o.parts+",", ","+part+",")
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&o.program, "program", "bin/dateline", "the `program` to measure")
	herds := set.String("herd", "3000",
		"`sizes` of the herds, separated by spaces: posts that are due at the same second")
	set.DurationVar(&o.lead, "lead", 0,
		"how long before the second of the first post scheduling begins (default: as long as it takes on an "+
			"idle machine)")
	set.IntVar(&o.accounts, "accounts", 1, "`number` of accounts that a herd is published to")
	set.IntVar(&o.networks, "networks", 1, "1: these are accounts of Mastodon; 2: every other one is of Bluesky")
	set.DurationVar(&o.latency, "latency", 0,
		"average `duration` that the network takes to respond to a post; each takes two thirds or four thirds of it")
	set.IntVar(&o.steady, "steady", 3000,
		"`number` of posts, and of bare workflows, in the measurement of the sustained rate")
	set.IntVar(&o.rate, "rate", 80, "how many of those become due each second; use more than the machine can process")
	set.StringVar(&o.parts, "parts", "all",
		"what to measure: `herd,sustained,bare,cost,bulk` or a part of that; deferred is the stronger half of bare; "+
			"readings: pairs of herds, without and with -measured readings of metrics")
	set.IntVar(&o.repeats, "rounds", 1,
		"`number` of alternating measurements of the deferred baseline and the sustained rate, or of pairs of herds; "+
			"the mean is reported")
	set.BoolVar(&o.hurry, "hurry", false,
		"do not wait until a herd's workflows have ended; duplicates sent later are not detected")
	set.IntVar(&o.measured, "measured", -1,
		"`number` of earlier posts whose metrics are read all the time while a herd is published; 0: metrics are not "+
			"read at all")
	set.StringVar(&o.profiles, "profiles", "",
		"`directory` for CPU and heap profiles around each herd's second and during the sustained rate (profiling "+
			"costs some speed)")
	set.StringVar(&o.keepLog, "log", "", "`file` that gets the program's own output")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	for word := range strings.FieldsSeq(strings.ReplaceAll(*herds, ",", " ")) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-herd: %q must be a positive number", word)
		}
		o.herds = append(o.herds, n)
	}
	if o.networks < 1 || o.networks > 2 || o.accounts < o.networks {
		return o, errors.New("-networks must be 1 or 2, and -accounts at least as many")
	}
	if o.repeats < 1 {
		return o, errors.New("-rounds must be at least 1")
	}
	if o.steady < 10 || o.rate < 1 {
		return o, errors.New("-steady must be at least 10 and -rate at least 1")
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	r := &report{out: stdout}
	r.say("machine      %s", machine())
	s, err := startStack(ctx, o, stderr)
	if err != nil {
		return err
	}
	err = measure(ctx, o, s, r)
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	line, err := json.Marshal(r.figures())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, string(line))
	return err
}

func measure(ctx context.Context, o options, s *stack, r *report) (err error) {
	if o.measures("herd") {
		for _, n := range o.herds {
			h, err := s.herd(ctx, o, n)
			if err != nil {
				return err
			}
			r.herd(h)
		}
	}
	if strings.Contains(o.parts, "readings") { // takes half an hour, so not with "all"
		if err := measureReadings(ctx, o, s, r); err != nil {
			return err
		}
	}
	if o.measures("bare") {
		if r.bare, err = s.bare(ctx, o, timerWorkflow); err != nil {
			return err
		}
		r.rate("bare, timer", r.bare)
	}
	if err := measureRates(ctx, o, s, r); err != nil {
		return err
	}
	if o.measures("cost") {
		costs, err := s.costs(ctx)
		if err != nil {
			return err
		}
		r.cost(costs)
	}
	if o.measures("bulk") {
		if r.bulk, err = s.bulk(ctx); err != nil {
			return err
		}
		r.say("bulk         %.0f posts per second accepted, %.0f workflows per second started", r.bulk.PerS,
			r.bulk.StartedPerS)
	}
	return nil
}

// measureRates alternates between the deferred baseline and posts.
func measureRates(ctx context.Context, o options, s *stack, r *report) error {
	var deferred, sustained []rate
	for round := range o.repeats {
		if o.measures("bare") || o.measures("deferred") {
			f, err := s.bare(ctx, o, deferredWorkflow)
			if err != nil {
				return err
			}
			r.rate("bare, deferred", f)
			deferred = append(deferred, f)
		}
		if o.measures("sustained") {
			f, err := s.sustained(ctx, o, round)
			if err != nil {
				return err
			}
			r.rate("sustained", f)
			sustained = append(sustained, f)
		}
	}
	r.deferred, r.sustained = meanRate(deferred), meanRate(sustained)
	r.ratio()
	return nil
}
