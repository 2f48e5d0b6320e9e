package main

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Day is the result of a simulated day.
type Day struct {
	Posts       int
	Dispatched  int
	PeakHour    float64 // posts a second
	WorstSecond int     // targets that were due at one
	LateP50     float64 // seconds
	LateP99     float64
	LateMax     float64
	Backlog     float64 // s of work at most that waited for Temporal
	Busy        float64 // share of Temporal's capacity in the busiest minute
}

// Simulate runs a day second by second: posts become due by the curve of the day
// and in bursts at full hours; Temporal dispatches each ahead of its time, and the
// database claims it. Temporal has the cores that Needs returns. The simulation
// covers the queues that the formulas leave out.
//
// scale shrinks the day in proportion: a thousandth of the posts on a thousandth
// of the machines is late by as much.
func (m *Model) Simulate(scale float64, seed uint64) Day {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a simulation
	var d Day
	cores := m.capacity()
	// Posts that Temporal dispatches per second
	perSecond := cores * m.get("temporal.core") * scale / m.postTransitions()
	claims := m.get("database.claims") // one database, at any scale
	due := m.dueBySecond(scale, r)
	const ahead = 600 // seconds that a burst is armed before its time, at most
	armed := make([]float64, len(due))
	// Dispatch: the work of each second goes into the seconds before it, the latest
	// free ones first.
	free := make([]float64, len(due))
	next := make([]int, len(due)+1) // for a second without free capacity: a later one that may have some
	for i := range free {
		free[i] = perSecond
		next[i] = i
	}
	next[len(due)] = len(due)
	var lates []late
	for s, n := range due {
		d.Posts += n
		d.WorstSecond = max(d.WorstSecond, int(float64(n)*m.get("targets")))
		left := float64(n)
		for at := s; at >= max(0, s-ahead) && left > 0; at-- {
			use := math.Min(free[at], left)
			free[at] -= use
			left -= use
			armed[at] += use
		}
		// The rest is dispatched as soon as possible, late. Full seconds are skipped:
		// under a backlog there are many.
		for at := nextFree(free, next, s+1); at < len(due) && left > 0; at = nextFree(free, next, at+1) {
			use := math.Min(free[at], left)
			free[at] -= use
			left -= use
			armed[at] += use
			lates = append(lates, late{float64(at - s), use})
			d.Backlog = math.Max(d.Backlog, float64(at-s))
		}
		if left > 0 {
			d.Backlog = math.Max(d.Backlog, float64(len(due)-1-s))
		}
		d.Dispatched += n - int(math.Ceil(left))
		// Claims begin up to two seconds ahead; the rest of the burst waits for them.
		wait := math.Max(0, float64(n)*m.get("targets")/scale/claims-2)
		lates = append(lates, late{wait / 2, float64(n)})
		d.LateMax = math.Max(d.LateMax, wait)
	}
	for hour := range 24 {
		sum := 0
		for _, n := range due[hour*3600 : (hour+1)*3600] {
			sum += n
		}
		d.PeakHour = math.Max(d.PeakHour, float64(sum)/3600/scale)
	}
	for minute := range len(due) / 60 {
		sum := 0.0
		for _, n := range armed[minute*60 : (minute+1)*60] {
			sum += n
		}
		d.Busy = math.Max(d.Busy, sum/60/perSecond)
	}
	d.LateP50, d.LateP99 = quantile(lates, 0.5), quantile(lates, 0.99)
	for _, l := range lates {
		d.LateMax = math.Max(d.LateMax, l.by)
	}
	return d
}

// nextFree returns the first second from at on with free capacity, or the end. It
// shortens the paths in next, as union-find does.
func nextFree(free []float64, next []int, at int) int {
	root := at
	for root < len(free) && free[root] == 0 {
		if next[root] == root {
			next[root] = root + 1
		}
		root = next[root]
	}
	for at < root {
		at, next[at] = next[at], root
	}
	return root
}

// capacity returns Temporal's cores as Needs computes them.
func (m *Model) capacity() float64 {
	return m.PostRate() * m.postTransitions() / m.get("temporal.core") / m.get("utilization")
}

// dueBySecond draws a day: a curve with its peak, and at each full hour a burst.
func (m *Model) dueBySecond(scale float64, r *rand.Rand) []int {
	due := make([]int, int(day))
	total := m.get("posts") * scale
	peak := m.get("posts.peak")
	var weights [24]float64
	sum := 0.0
	for h := range weights {
		// A bell curve whose maximum is the peak.
		weights[h] = math.Pow(math.Max(0.02, math.Cos((float64(h)-14)/24*2*math.Pi)/2+0.5), shape(peak))
		sum += weights[h]
	}
	for h, w := range weights {
		posts := total * w / sum
		burst := posts * m.get("posts.second")
		due[h*3600] += poisson(r, burst)
		for s := range 3600 {
			due[h*3600+s] += poisson(r, (posts-burst)/3600)
		}
	}
	return due
}

// shape returns the exponent of the bell curve with which the busiest hour has peak
// times the mean.
func shape(peak float64) float64 {
	low, high := 0.0, 40.0
	for range 60 {
		mid := (low + high) / 2
		sum := 0.0
		for h := range 24 {
			sum += math.Pow(math.Max(0.02, math.Cos((float64(h)-14)/24*2*math.Pi)/2+0.5), mid)
		}
		if 24/sum < peak {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// poisson draws from a Poisson distribution, approximated by a normal one where the
// mean is large.
func poisson(r *rand.Rand, mean float64) int {
	if mean > 30 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
	}
	limit, product, n := math.Exp(-mean), r.Float64(), 0
	for product > limit {
		product *= r.Float64()
		n++
	}
	return n
}

// late is the lateness of a number of posts.
type late struct{ by, posts float64 }

func quantile(all []late, q float64) float64 {
	sort.Slice(all, func(i, j int) bool { return all[i].by < all[j].by })
	total := 0.0
	for _, l := range all {
		total += l.posts
	}
	seen := 0.0
	for _, l := range all {
		if seen += l.posts; seen >= q*total {
			return l.by
		}
	}
	return 0
}
