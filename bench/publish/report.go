package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
)

// report prints figures as they arrive and collects them for the last line.
type report struct {
	out                       io.Writer
	herds                     []herd
	pairs                     []pair
	bare, deferred, sustained rate
	bulk                      bulk
	costs                     []cost
}

func (r *report) say(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format+"\n", args...) }

func (r *report) herd(h herd) {
	r.herds = append(r.herds, h)
	r.say("herd         %d posts of one second: p50 %d ms, p99 %d ms, max %d ms late (first %d ms); %d early, %d "+
		"duplicates, %d lost",
		h.N, h.P50MS, h.P99MS, h.MaxMS, h.MinMS, h.Early, h.Duplicates, h.Lost)
	r.say("             accepted by the API at %.0f per second, the last %.0f s before the second", h.Scheduled,
		h.LeadS)
	r.say("             %.1f ms of CPU time each from scheduling to the end (%s), %d readings of metrics meanwhile",
		h.CPUms, h.cpuByName, h.Readings)
}

// readings compares the herds without and with readings of metrics.
func (r *report) readings() {
	p50, p99, cpu := r.pairRatios()
	r.say("readings     in %d pairs of herds, those with readings take %.3f × the median lateness, %.3f × the p99 "+
		"and %.3f × the CPU time (geometric means)", len(r.pairs), p50, p99, cpu)
}

func (r *report) pairRatios() (p50, p99, cpu float64) {
	for _, p := range r.pairs {
		n := float64(len(r.pairs))
		p50 += math.Log(float64(p.with.P50MS)/float64(p.without.P50MS)) / n
		p99 += math.Log(float64(p.with.P99MS)/float64(p.without.P99MS)) / n
		cpu += math.Log(p.with.CPUms/p.without.CPUms) / n
	}
	return math.Exp(p50), math.Exp(p99), math.Exp(cpu)
}

func (r *report) rate(name string, f rate) {
	r.say("%-12s %.0f per minute (overall, with ramp-up and tail, %.0f; requested %.0f), measured on %d", name,
		f.PerMin, f.WholeMin, f.DuePerMin, f.N)
	r.say("             started at %.0f per second; %.0f per minute and %.1f ms of CPU time each from start to end",
		f.StartedPerS, f.EndToEndMin, f.CPUms)
	if f.PerMin > 0.97*f.DuePerMin {
		r.say("             it kept up with the requested rate: use a higher -rate to find the limit")
	}
}

func (r *report) ratio() {
	if r.sustained.N == 0 || r.deferred.N == 0 {
		return
	}
	r.say("ratio        %.2f of the deferred bare workflows; end to end %.2f; CPU time %.2f ×",
		r.sustained.PerMin/r.deferred.PerMin, r.sustained.EndToEndMin/r.deferred.EndToEndMin,
		r.sustained.CPUms/r.deferred.CPUms)
	if r.bare.N > 0 {
		r.say("             %.2f of those with a timer", r.sustained.PerMin/r.bare.PerMin)
	}
}

func (r *report) cost(costs []cost) {
	r.costs = costs
	r.say("cost in Temporal, per post      events  transitions  bytes of history")
	for _, c := range costs {
		r.say("  %-28s  %6d  %11d  %16d", c.Kind, c.Events, c.Transitions, c.Bytes)
	}
	if e, t, ok := r.perTarget(); ok {
		r.say("  each further target           %6.1f  %11.1f", e, t)
	}
}

// perTarget is how the cost grows from the first kind, with one target, to the one with
// the most.
func (r *report) perTarget() (events, transitions float64, ok bool) {
	if len(r.costs) == 0 {
		return 0, 0, false
	}
	smallest, largest := r.costs[0], r.costs[0]
	for _, c := range r.costs {
		if c.Targets > largest.Targets {
			largest = c
		}
	}
	more := float64(largest.Targets - smallest.Targets)
	return float64(largest.Events-smallest.Events) / more, float64(largest.Transitions-smallest.Transitions) / more,
		more > 0
}

// figures are the last line. It omits what was not measured.
func (r *report) figures() map[string]any {
	f := map[string]any{"machine": machine()}
	if len(r.herds) > 0 {
		h := r.herds[0]
		f["herd_n"], f["herd_p50_ms"], f["herd_p99_ms"], f["herd_max_ms"], f["herd_min_ms"] = h.N, h.P50MS, h.P99MS,
			h.MaxMS, h.MinMS
		f["scheduled_per_s"] = math.Round(h.Scheduled)
		early, duplicates, lost := 0, 0, 0
		for _, h := range r.herds {
			early, duplicates, lost = early+h.Early, duplicates+h.Duplicates, lost+h.Lost
		}
		f["early"], f["duplicates"], f["lost"] = early, duplicates, lost
		f["herds"] = r.herds
	}
	if len(r.pairs) > 0 {
		p50, p99, cpu := r.pairRatios()
		f["readings_p50"], f["readings_p99"], f["readings_cpu"] = thousandths(p50), thousandths(p99), thousandths(cpu)
	}
	if r.sustained.N > 0 {
		f["sustained_per_min"] = math.Round(r.sustained.PerMin)
	}
	if r.bare.N > 0 {
		f["bare_per_min"] = math.Round(r.bare.PerMin)
	}
	if r.deferred.N > 0 {
		f["deferred_per_min"] = math.Round(r.deferred.PerMin)
	}
	if r.sustained.N > 0 && r.bare.N > 0 {
		f["ratio"] = thousandths(r.sustained.PerMin / r.bare.PerMin)
	}
	if r.sustained.N > 0 && r.deferred.N > 0 {
		f["due_vs_deferred"] = thousandths(r.sustained.PerMin / r.deferred.PerMin)
		f["end_to_end_vs_deferred"] = thousandths(r.sustained.EndToEndMin / r.deferred.EndToEndMin)
		f["cpu_per_post_vs_deferred"] = thousandths(r.sustained.CPUms / r.deferred.CPUms)
	}
	if r.bulk.PerS > 0 {
		f["bulk_per_s"], f["bulk_started_per_s"] = math.Round(r.bulk.PerS), math.Round(r.bulk.StartedPerS)
	}
	if events, transitions, ok := r.perTarget(); ok {
		f["cost"] = r.costs
		f["events_per_post"], f["transitions_per_post"] = r.costs[0].Events, r.costs[0].Transitions
		f["events_per_further_target"], f["transitions_per_further_target"] = events, transitions
	}
	return f
}

// machine describes this machine.
func machine() string {
	name := runtime.GOARCH
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`).FindSubmatch(raw); m != nil {
			name = string(m[1])
		}
	}
	memory := ""
	if raw, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kb int64
		if _, err := fmt.Sscanf(string(raw), "MemTotal: %d kB", &kb); err == nil {
			memory = fmt.Sprintf(", %d GB", (kb+1<<19)>>20)
		}
	}
	return fmt.Sprintf("%d cores (%s)%s, %s, all engines on it", runtime.NumCPU(), name, memory, runtime.GOOS)
}

// thousandths rounds a ratio.
func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }
