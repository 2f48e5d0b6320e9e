package facebook

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// maxIDs is the number of objects that one call reads.
const maxIDs = 50

// scopeInsights is the permission for views, reach and clicks. It is optional.
const scopeInsights = "read_insights"

// Metrics are the metrics of the insights edges, which Facebook renames often.
type Metrics struct {
	Post  []graph.Insight `json:"post"`
	Video []graph.Insight `json:"video"`
}

// setDefaults sets the names of late 2026.
// https://developers.facebook.com/docs/graph-api/reference/insights
// https://developers.facebook.com/docs/graph-api/reference/video/video_insights
func (m *Metrics) setDefaults() {
	if len(m.Post) == 0 {
		m.Post = []graph.Insight{
			{Name: "post_media_view", Metric: network.MetricViews},
			{Name: "post_total_media_view_unique", Metric: network.MetricReach},
			{Name: "post_clicks_by_type", Metric: network.MetricClicks, Key: "link clicks"},
			{Name: "post_clicks", Metric: network.MetricAllClicks},
		}
	}
	if len(m.Video) == 0 {
		m.Video = []graph.Insight{
			{Name: "blue_reels_play_count", Metric: network.MetricViews}, {
				Name: "total_video_views", Metric: network.MetricViews,
			},
		}
	}
}

// MeasureRules read counters often, and insights, which Facebook updates once a day,
// four times.
func (f *Facebook) MeasureRules(_ network.Account, post network.PostRef) network.MeasureRules {
	const day = 24 * time.Hour
	rules := network.MeasureRules{
		Metrics: []network.Metric{
			network.MetricViews, network.MetricReach, network.MetricLikes, network.MetricReplies,
			network.MetricReposts, network.MetricClicks, network.MetricAllClicks,
		},
		Batch:    maxIDs,
		Readings: network.CounterReadings(),
		Insights: []time.Duration{day, 2 * day, 7 * day, 28 * day},
		Quota:    graph.ReadQuota(f.options.ReadsPerHour),
	}
	switch {
	case post.Kind == kindStory:
		rules.Unsupported = "Facebook does not report the numbers of a story."
	case post.IsReply:
		rules.Metrics, rules.Insights = []network.Metric{network.MetricLikes, network.MetricReplies}, nil
	}
	return rules
}

// isVideo reports whether an id is that of a video, which has other insights. Ids of
// posts and comments contain an underscore.
func isVideo(id string) bool { return !strings.Contains(id, "_") }

// object has the counters of a post, video or comment.
type object struct {
	ID        string `json:"id"`
	Reactions *count `json:"reactions"`
	Likes     *count `json:"likes"`
	Comments  *count `json:"comments"`
	Shares    *struct {
		Count *int64 `json:"count"`
	} `json:"shares"`
}

type count struct {
	Summary struct {
		Total *int64 `json:"total_count"`
	} `json:"summary"`
}

func (o object) metrics() network.PostMetrics {
	p := network.PostMetrics{State: network.PostMeasured}
	for _, c := range []*count{o.Likes, o.Reactions} {
		if c != nil {
			p.Set(network.MetricLikes, c.Summary.Total)
		}
	}
	if o.Comments != nil {
		p.Set(network.MetricReplies, o.Comments.Summary.Total)
	}
	if o.Shares != nil {
		p.Set(network.MetricReposts, o.Shares.Count)
	}
	return p
}

// fieldsOf returns the counters of a kind of object: comments and videos have no
// shares.
func fieldsOf(p network.PostRef) string {
	const comments = "comments.limit(0).summary(true)"
	switch {
	case p.IsReply || isVideo(p.RemoteID):
		return "id,likes.limit(0).summary(true)," + comments
	default:
		return "id,shares,reactions.limit(0).summary(true)," + comments
	}
}

// Measure reads the counters of objects of a kind together, and the insights of one
// after the other.
// https://developers.facebook.com/docs/graph-api/reference/page-post
func (f *Facebook) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	kinds := map[string][]network.PostRef{}
	var order []string
	for _, p := range request.Posts {
		fields := fieldsOf(p)
		if kinds[fields] == nil {
			order = append(order, fields)
		}
		kinds[fields] = append(kinds[fields], p)
	}
	for _, fields := range order {
		if err := f.readCounters(ctx, account, kinds[fields], fields, request, &out); err != nil {
			return out, err
		}
	}
	for _, p := range request.Posts {
		found := out.Posts[p.RemoteID]
		if !p.Insights || p.IsReply || found.State != network.PostMeasured || out.MissingScope != "" {
			continue
		}
		if err := f.readInsights(ctx, account, p, request, &found, &out); err != nil {
			return out, err
		}
		out.Add(p.RemoteID, found)
	}
	return out, nil
}

// readCounters reads objects together. One missing object fails the call, so they
// are then read one by one.
func (f *Facebook) readCounters(ctx context.Context, account network.Account, posts []network.PostRef, fields string,
	request network.MeasureRequest, out *network.Measured,
) error {
	if err := request.Allow(ctx); err != nil {
		return err
	}
	ids := make([]string, len(posts))
	for i, p := range posts {
		ids[i] = p.RemoteID
	}
	var found map[string]object
	_, err := f.get(ctx, account, "/", url.Values{"ids": {strings.Join(ids, ",")}, "fields": {fields}}, &found)
	if err == nil {
		for _, id := range ids {
			if o, ok := found[id]; ok {
				out.Add(id, o.metrics())
			} else {
				out.Add(id, network.PostMetrics{State: network.PostMissing})
			}
		}
		return nil
	}
	if !graph.IsMissingObject(err) {
		return err
	}
	for _, id := range ids {
		if err := request.Allow(ctx); err != nil {
			return err
		}
		var o object
		switch _, err := f.get(ctx, account, "/"+url.PathEscape(id), url.Values{"fields": {fields}}, &o); {
		case graph.IsMissingObject(err):
			out.Add(id, network.PostMetrics{State: network.PostMissing})
		case err != nil:
			return err
		default:
			out.Add(id, o.metrics())
		}
	}
	return nil
}

func (f *Facebook) readInsights(ctx context.Context, account network.Account, p network.PostRef,
	request network.MeasureRequest, found *network.PostMetrics, out *network.Measured,
) error {
	path, wanted := "/"+url.PathEscape(p.RemoteID)+"/insights", f.options.Metrics.Post
	if isVideo(p.RemoteID) {
		path, wanted = "/"+url.PathEscape(p.RemoteID)+"/video_insights", f.options.Metrics.Video
	}
	refused, err := graph.InsightsReader{
		Insights: wanted, Request: request,
		Get: func(ctx context.Context, metrics []string) (*call.Response, error) {
			return f.do(ctx, account, f.options.GraphHost, graph.Call{
				Method: http.MethodGet, URL: path, Query: url.Values{"metric": {strings.Join(metrics, ",")}},
			})
		},
	}.Read(ctx, found)
	out.Refused = graph.MergeRefused(out.Refused, refused)
	if graph.IsMissingPermission(err) {
		out.MissingScope = scopeInsights
		return nil
	}
	return err
}
