package network

import (
	"context"
	"time"
)

// Measurer is a Network that reports how published posts are doing.
//
// A number that the network does not report is absent, never zero.
type Measurer interface {
	// MeasureRules returns what the network reports about a post and when to read
	// it. It does no I/O.
	MeasureRules(account Account, post PostRef) MeasureRules

	// Measure reads the metrics of posts of one account. A post that is not in the
	// result was not read. The result is valid together with an error: it has what
	// was read before the error.
	//
	// A metric that the network no longer reports does not fail the call: Measure
	// repeats it without that metric and names it in Measured.Refused.
	Measure(ctx context.Context, account Account, request MeasureRequest) (Measured, error)
}

// Metric is the name of a number about a post. Names are data: they are stored as
// text, and reports show those that they do not know as well.
type Metric string

// The metrics that networks have in common.
const (
	MetricLikes     Metric = "likes"      // reactions of any kind
	MetricReplies   Metric = "replies"    // comments and replies
	MetricReposts   Metric = "reposts"    // shares without a comment
	MetricQuotes    Metric = "quotes"     // shares with a comment
	MetricSaves     Metric = "saves"      // bookmarks
	MetricSends     Metric = "sends"      // shares in private messages
	MetricViews     Metric = "views"      // how often it was shown or played, not unique
	MetricReach     Metric = "reach"      // accounts that saw it
	MetricClicks    Metric = "clicks"     // on links
	MetricAllClicks Metric = "clicks_all" // anywhere on the post, if the network does not count clicks on links
)

// PostRef identifies a published post for Measure.
type PostRef struct {
	RemoteID string
	Kind     string        // the post option "kind", such as story or reel; empty: none
	IsReply  bool          // it replies to another post: a segment of a thread, or a comment
	Age      time.Duration // since it was published
	// Insights requests the metrics that cost a call per post, in addition to
	// those that are read for many posts together.
	Insights bool
}

// MeasureRules are the rules for reading the metrics of one kind of post.
type MeasureRules struct {
	Metrics []Metric // that the network may report, in order of display
	Batch   int      // posts per call of Measure
	// Readings are the ages of a post at which it is read, in ascending order.
	Readings []time.Duration
	// Insights are those of Readings at which PostRef.Insights is set.
	Insights []time.Duration
	// Quota limits the calls that Measure makes. Only a share of it is used, because
	// the network may count them together with calls that publish.
	Quota Quota
	// Paid means that the network charges for each post that it returns, once per
	// UTC day: nothing is read without a budget.
	Paid bool
	// Unsupported is why posts of this kind cannot be measured; empty: they can.
	Unsupported string
}

// MeasureRequest is the input of Measure.
type MeasureRequest struct {
	Posts []PostRef
	// Skip lists metrics, by the network's own names, that the network refused
	// before.
	Skip []string
	// Admit is called before every request; its error, of class Throttled, ends
	// Measure. nil: every request is allowed.
	Admit func(ctx context.Context) error
}

// Allow calls Admit.
func (r MeasureRequest) Allow(ctx context.Context) error {
	if r.Admit == nil {
		return nil
	}
	return r.Admit(ctx)
}

// Measured is the result of Measure.
type Measured struct {
	Posts map[string]PostMetrics // by remote id
	// Refused lists metrics, by the network's own names, that the network no
	// longer reports or does not report for one of the posts.
	Refused []string
	// MissingScope is a scope without which some metrics cannot be read; empty:
	// none is missing. Reconnecting the account requests it.
	MissingScope string
	Rates        []RateStatus // rate limits that the last response reported
}

// PostState is what a network says about a post that is measured.
type PostState string

// The states of a post.
const (
	PostMeasured PostState = "measured"
	// PostMissing means that the network does not have the post. Outages and lost
	// permissions look the same on many networks: it was deleted only if another
	// reading confirms it.
	PostMissing PostState = "missing"
	// PostUnavailable means that the post exists and cannot be read, because it is
	// protected or withheld, or not indexed yet.
	PostUnavailable PostState = "unavailable"
)

// PostMetrics are the metrics of one post.
type PostMetrics struct {
	State  PostState
	Values map[Metric]int64 // only what the network reported
}

// Set sets a metric; nil leaves it absent.
func (p *PostMetrics) Set(name Metric, value *int64) {
	if value == nil || *value < 0 {
		return
	}
	if p.Values == nil {
		p.Values = map[Metric]int64{}
	}
	p.Values[name] = *value
}

// Add adds a post to the result.
func (m *Measured) Add(remoteID string, p PostMetrics) {
	if m.Posts == nil {
		m.Posts = map[string]PostMetrics{}
	}
	m.Posts[remoteID] = p
}

// CounterReadings are the ages at which posts are read on networks without a rule
// of their own: often on the first day, then daily for a week, weekly for a month,
// and twice more.
func CounterReadings() []time.Duration {
	const day = 24 * time.Hour
	return []time.Duration{
		15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
		day, 2 * day, 3 * day, 4 * day, 5 * day, 6 * day, 7 * day, 14 * day, 21 * day, 28 * day, 60 * day, 90 * day,
	}
}
