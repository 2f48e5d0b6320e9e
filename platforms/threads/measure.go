package threads

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

const (
	// scopeInsights is the permission for all metrics. It is optional.
	scopeInsights = "threads_manage_insights"

	maxMeasured = 25 // posts per call of Measure, which reads them one by one
)

// insights are the metrics of late 2026.
// https://developers.facebook.com/docs/threads/insights
func insights() []graph.Insight {
	return []graph.Insight{
		{Name: "views", Metric: network.MetricViews},
		{Name: "likes", Metric: network.MetricLikes},
		{Name: "replies", Metric: network.MetricReplies},
		{Name: "reposts", Metric: network.MetricReposts},
		{Name: "quotes", Metric: network.MetricQuotes},
		{Name: "shares", Metric: network.MetricSends},
	}
}

// MeasureRules are the same for posts and replies. The replies of a post are those of
// its whole thread.
func (t *Threads) MeasureRules(network.Account, network.PostRef) network.MeasureRules {
	return network.MeasureRules{
		Metrics: []network.Metric{
			network.MetricViews, network.MetricLikes, network.MetricReplies,
			network.MetricReposts,
			network.MetricQuotes, network.MetricSends,
		},
		Batch:    maxMeasured,
		Readings: network.CounterReadings(),
		Insights: network.CounterReadings(),
		Quota:    graph.ReadQuota(t.options.ReadsPerHour),
	}
}

// Measure reads the insights of one post after the other: the API has no other call.
func (t *Threads) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	for _, p := range request.Posts {
		found := network.PostMetrics{State: network.PostMeasured}
		refused, err := graph.InsightsReader{
			Insights: t.options.Metrics, Request: request,
			Get: func(ctx context.Context, metrics []string) (*call.Response, error) {
				return t.do(ctx, account,
					graph.Call{Method: http.MethodGet, Query: url.Values{"metric": {strings.Join(metrics, ",")}}},
					p.RemoteID, "insights")
			},
		}.Read(ctx, &found)
		out.Refused = graph.MergeRefused(out.Refused, refused)
		switch {
		case graph.IsMissingPermission(err):
			out.MissingScope = scopeInsights
			return out, nil
		case graph.IsMissingObject(err):
			found.State = network.PostMissing
		case err != nil:
			return out, err
		}
		out.Add(p.RemoteID, found)
	}
	return out, nil
}
