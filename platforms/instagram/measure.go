package instagram

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

const (
	// scopeInsights is the permission for views, reach and saves. It is optional.
	scopeInsights = "instagram_business_manage_insights"

	maxMeasured   = 50 // posts per call of Measure, and per page of the listing
	maxMediaPages = 2
)

// Metrics are the metrics of the insights edge, which Instagram renames often.
type Metrics struct {
	Feed  []graph.Insight `json:"feed"`
	Reel  []graph.Insight `json:"reel"`
	Story []graph.Insight `json:"story"`
}

// setDefaults sets the names of late 2026.
// https://developers.facebook.com/docs/instagram-platform/reference/instagram-media/insights
func (m *Metrics) setDefaults() {
	feed := []graph.Insight{
		{Name: "views", Metric: network.MetricViews},
		{Name: "reach", Metric: network.MetricReach},
		{Name: "saved", Metric: network.MetricSaves},
		{Name: "shares", Metric: network.MetricSends},
		{Name: "reposts", Metric: network.MetricReposts},
	}
	if len(m.Feed) == 0 {
		m.Feed = feed
	}
	if len(m.Reel) == 0 {
		m.Reel = feed
	}
	if len(m.Story) == 0 {
		m.Story = []graph.Insight{
			{Name: "views", Metric: network.MetricViews},
			{
				Name: "reach", Metric: network.MetricReach,
			},
			{Name: "replies", Metric: network.MetricReplies},
			{Name: "shares", Metric: network.MetricSends},
		}
	}
}

// MeasureRules read counters often, and insights, which lag by up to two days, four
// times. A story and its numbers exist for a day.
func (i *Instagram) MeasureRules(_ network.Account, post network.PostRef) network.MeasureRules {
	const day = 24 * time.Hour
	rules := network.MeasureRules{
		Metrics: []network.Metric{
			network.MetricViews, network.MetricReach, network.MetricLikes, network.MetricReplies,
			network.MetricReposts, network.MetricSaves, network.MetricSends,
		},
		Batch:    maxMeasured,
		Readings: network.CounterReadings(),
		Insights: []time.Duration{day, 2 * day, 7 * day, 28 * day},
		Quota:    graph.ReadQuota(i.options.ReadsPerHour),
	}
	switch {
	case post.IsReply:
		rules.Unsupported = "Instagram does not report the numbers of a comment."
	case post.Kind == kindStory:
		rules.Metrics = []network.Metric{
			network.MetricViews, network.MetricReach, network.MetricReplies, network.MetricSends,
		}
		rules.Readings = []time.Duration{time.Hour, 6 * time.Hour, 23 * time.Hour}
		rules.Insights = rules.Readings
	}
	return rules
}

// counters are those of a post.
type counters struct {
	ID       string `json:"id"`
	Likes    *int64 `json:"like_count"`
	Comments *int64 `json:"comments_count"`
}

const counterFields = "id,like_count,comments_count"

func (e counters) metrics() network.PostMetrics {
	p := network.PostMetrics{State: network.PostMeasured}
	p.Set(network.MetricLikes, e.Likes)
	p.Set(network.MetricReplies, e.Comments)
	return p
}

// Measure reads counters from the listing of posts, those of older posts one by one,
// and insights per post.
// https://developers.facebook.com/docs/instagram-platform/reference/instagram-media
func (i *Instagram) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	listed, err := i.listCounters(ctx, account, request)
	if err != nil {
		return out, err
	}
	for _, p := range request.Posts {
		found, ok := listed[p.RemoteID]
		if !ok || p.Kind == kindStory {
			if found, err = i.readCounters(ctx, account, p, request); err != nil {
				return out, err
			}
		}
		if p.Insights && found.State == network.PostMeasured && out.MissingScope == "" {
			if err := i.readInsights(ctx, account, p, request, &found, &out); err != nil {
				return out, err
			}
		}
		out.Add(p.RemoteID, found)
	}
	return out, nil
}

// listCounters reads the newest posts. Stories are not among them.
func (i *Instagram) listCounters(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (map[string]network.PostMetrics, error) {
	found := map[string]network.PostMetrics{}
	if !slices.ContainsFunc(request.Posts, func(p network.PostRef) bool { return p.Kind != kindStory }) {
		return found, nil
	}
	query := url.Values{"fields": {counterFields}, "limit": {"50"}}
	for range maxMediaPages {
		if err := request.Allow(ctx); err != nil {
			return nil, err
		}
		res, err := i.get(ctx, account, query, account.RemoteID, "media")
		if err != nil {
			return nil, err
		}
		var page graph.Page[counters]
		if err := res.Decode(&page); err != nil {
			return nil, err
		}
		for _, e := range page.Data {
			found[e.ID] = e.metrics()
		}
		complete := !slices.ContainsFunc(request.Posts, func(p network.PostRef) bool {
			return p.Kind != kindStory && found[p.RemoteID].State == ""
		})
		if complete || page.NextCursor() == "" {
			break
		}
		query.Set("after", page.NextCursor())
	}
	return found, nil
}

func (i *Instagram) readCounters(
	ctx context.Context, account network.Account, p network.PostRef, request network.MeasureRequest,
) (network.PostMetrics, error) {
	if err := request.Allow(ctx); err != nil {
		return network.PostMetrics{}, err
	}
	fields := counterFields
	if p.Kind == kindStory {
		fields = "id" // its numbers are insights
	}
	res, err := i.get(ctx, account, url.Values{"fields": {fields}}, p.RemoteID)
	if graph.IsMissingObject(err) {
		return network.PostMetrics{State: network.PostMissing}, nil
	}
	if err != nil {
		return network.PostMetrics{}, err
	}
	var e counters
	err = res.Decode(&e)
	return e.metrics(), err
}

func (i *Instagram) readInsights(ctx context.Context, account network.Account, p network.PostRef,
	request network.MeasureRequest, found *network.PostMetrics, out *network.Measured,
) error {
	wanted := i.options.Metrics.Feed
	switch p.Kind {
	case kindReel:
		wanted = i.options.Metrics.Reel
	case kindStory:
		wanted = i.options.Metrics.Story
	}
	refused, err := graph.InsightsReader{
		Insights: wanted, Request: request,
		Get: func(ctx context.Context, metrics []string) (*call.Response, error) {
			return i.get(ctx, account, url.Values{"metric": {strings.Join(metrics, ",")}}, p.RemoteID, "insights")
		},
	}.Read(ctx, found)
	out.Refused = graph.MergeRefused(out.Refused, refused)
	switch e := network.AsError(err); {
	case e == nil:
		return nil
	case graph.IsMissingPermission(err):
		out.MissingScope = scopeInsights
		return nil
	case strings.Contains(e.Message, "Not enough viewers"):
		return nil // code 10 as well: the numbers are absent
	}
	return err
}
