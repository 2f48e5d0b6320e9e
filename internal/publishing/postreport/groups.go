package postreport

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Group is what posts with the same value of a dimension did.
type Group struct {
	By    Dimension
	Value string
	Label string // name of an account or label; empty: Value
	Posts int    // on accounts

	// Totals are sums over the posts for which the number is known; Known says how
	// many these are.
	Totals map[Metric]int64
	Known  map[Metric]int

	// Estimate is about the metric of the query; nil: it is known for no post.
	Estimate *Estimate
}

// Total returns a sum; nil: the number is known for no post.
func (g *Group) Total(m Metric) *int64 {
	if v, ok := g.Totals[m]; ok {
		return &v
	}
	return nil
}

// Estimate is the mean of a metric per post, with its uncertainty.
type Estimate struct {
	Posts     int // with the metric: the sample size
	Mean      float64
	Low, High float64 // 95 % confidence interval of the mean
	// Lift is Mean divided by the mean of all posts; 0: that is zero.
	Lift float64
	// IsClear means that the sample has at least MinSample posts, and that the interval
	// does not contain the mean of all posts.
	IsClear bool
}

// MinSample is the number of posts below which nothing is concluded from a group.
const MinSample = 5

func average(rows []Row, m Metric) *float64 {
	sum, n := 0.0, 0
	for i := range rows {
		if v := rows[i].Value(m); v != nil {
			sum, n = sum+float64(*v), n+1
		}
	}
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// groups groups rows, the highest mean first. Hours and weekdays are in their order.
func groups(rows []Row, by Dimension, m Metric, zone *time.Location, labels map[uuid.UUID]string) []Group {
	found := map[string]*Group{}
	values := map[string][]float64{}
	var order []string
	for i := range rows {
		for _, k := range keysOf(&rows[i], by, zone, labels) {
			g := found[k.value]
			if g == nil {
				g = &Group{By: by, Value: k.value, Label: k.label, Totals: map[Metric]int64{}, Known: map[Metric]int{}}
				found[k.value] = g
				order = append(order, k.value)
			}
			g.Posts++
			for _, name := range []Metric{Views, Reach, Engagement, Clicks, Visits} {
				if v := rows[i].Value(name); v != nil {
					g.Totals[name] += *v
					g.Known[name]++
				}
			}
			if v := rows[i].Value(m); v != nil {
				values[k.value] = append(values[k.value], float64(*v))
			}
		}
	}
	mean := average(rows, m)
	out := make([]Group, 0, len(order))
	for _, name := range order {
		g := found[name]
		if len(values[name]) > 0 {
			g.Estimate = estimate(values[name], *mean)
		}
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		if by == ByHour || by == ByWeekday {
			return cmp.Or(cmp.Compare(len(a.Value), len(b.Value)), cmp.Compare(a.Value, b.Value))
		}
		return cmp.Or(cmp.Compare(meanOf(b), meanOf(a)), cmp.Compare(a.Value, b.Value))
	})
	return out
}

func meanOf(g Group) float64 {
	if g.Estimate == nil {
		return -1
	}
	return g.Estimate.Mean
}

const resamples = 1000

// estimate returns the mean of a sample with a bootstrap interval: counts of posts are
// skewed, so that an interval around the mean by the normal distribution would be
// misleading. The same sample always has the same interval.
func estimate(sample []float64, overall float64) *Estimate {
	e := Estimate{Posts: len(sample), Mean: meanOfSample(sample)}
	e.Low, e.High = e.Mean, e.Mean
	if overall > 0 {
		e.Lift = e.Mean / overall
	}
	if len(sample) < 2 {
		return &e
	}
	slices.Sort(sample)
	random := rand.New(rand.NewPCG(uint64(len(sample)), math.Float64bits(e.Mean))) //nolint:gosec // not a secret
	means, again := make([]float64, resamples), make([]float64, len(sample))
	for i := range means {
		for j := range again {
			again[j] = sample[random.IntN(len(sample))]
		}
		means[i] = meanOfSample(again)
	}
	slices.Sort(means)
	e.Low, e.High = means[resamples*25/1000], means[resamples*975/1000-1]
	e.IsClear = e.Posts >= MinSample && (e.Low > overall || e.High < overall)
	return &e
}

func meanOfSample(sample []float64) float64 {
	sum := 0.0
	for _, v := range sample {
		sum += v
	}
	return sum / float64(len(sample))
}

// Highlights are the groups of a period that did clearly better or worse than all posts
// together, of all dimensions.
type Highlights struct {
	Query

	Posts   int
	Average *float64
	Groups  []Group // clear ones, the best first
	// Unclear is the number of groups with the metric that are too small or too close to
	// the average.
	Unclear int
}

// Highlights returns what worked, and what did not.
func (r *Reporter) Highlights(ctx context.Context, q Query) (Highlights, error) {
	if err := q.check(); err != nil {
		return Highlights{}, err
	}
	rows, labels, err := r.read(ctx, q)
	if err != nil {
		return Highlights{}, err
	}
	out := Highlights{Query: q, Posts: len(rows), Average: average(rows, q.Metric)}
	for _, by := range []Dimension{ByNetwork, ByAccount, BySection, ByAuthor, ByLabel, ByWeekday, ByHour} {
		for _, g := range groups(rows, by, q.Metric, q.Zone, labels) {
			switch {
			case g.Estimate == nil || g.Posts == len(rows):
			case g.Estimate.IsClear:
				out.Groups = append(out.Groups, g)
			default:
				out.Unclear++
			}
		}
	}
	slices.SortStableFunc(out.Groups, func(a, b Group) int { return cmp.Compare(b.Estimate.Lift, a.Estimate.Lift) })
	out.Groups = out.Groups[:min(len(out.Groups), q.Limit)]
	return out, nil
}
