package x

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// maxLookup is the number of posts that one call returns.
const maxLookup = 100

// SettingReads is the account setting with the number of posts per month for whose
// metrics X may charge. Without it nothing is read.
const SettingReads = "metric_reads_per_month"

// fieldPublic and fieldPrivate are the metrics that everybody and only the author
// can read. https://docs.x.com/x-api/fundamentals/metrics
const (
	fieldPublic  = "public_metrics"
	fieldPrivate = "non_public_metrics"
)

// MeasureRules read a post often on its first day and daily for a week: X charges
// for each post that it returns, once per UTC day.
// https://docs.x.com/x-api/getting-started/pricing
func (x *X) MeasureRules(network.Account, network.PostRef) network.MeasureRules {
	const day = 24 * time.Hour
	return network.MeasureRules{
		Metrics: []network.Metric{
			network.MetricViews, network.MetricLikes, network.MetricReplies,
			network.MetricReposts,
			network.MetricQuotes, network.MetricSaves, network.MetricClicks,
		},
		Batch: maxLookup,
		Readings: []time.Duration{
			15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
			day, 2 * day, 3 * day, 4 * day, 5 * day, 6 * day, 7 * day,
		},
		Quota: x.readQuota(),
		Paid:  true,
	}
}

// lookup is the response of GET /2/tweets. X is renaming retweet_count to
// repost_count.
type lookup struct {
	Data []struct {
		ID     string `json:"id"`
		Public struct {
			Likes       *int64 `json:"like_count"`
			Replies     *int64 `json:"reply_count"`
			Retweets    *int64 `json:"retweet_count"`
			Reposts     *int64 `json:"repost_count"`
			Quotes      *int64 `json:"quote_count"`
			Bookmarks   *int64 `json:"bookmark_count"`
			Impressions *int64 `json:"impression_count"`
		} `json:"public_metrics"`
		Private struct {
			Clicks *int64 `json:"url_link_clicks"`
		} `json:"non_public_metrics"`
	} `json:"data"`
	Errors []struct {
		Type       string `json:"type"`
		ResourceID string `json:"resource_id"`
		Value      string `json:"value"`
	} `json:"errors"`
}

// Measure reads posts by id. X reports those that it cannot return one by one, next
// to the others. https://docs.x.com/x-api/posts/get-posts-by-ids
func (x *X) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	fields := []string{fieldPublic, fieldPrivate}
	fields = slices.DeleteFunc(fields, func(f string) bool { return slices.Contains(request.Skip, f) })
	res, err := x.lookUp(ctx, account, request, fields)
	if e := network.AsError(err); e != nil && e.Status == http.StatusBadRequest &&
		slices.Contains(fields, fieldPrivate) && strings.Contains(e.Message, fieldPrivate) {
		out.Refused = append(out.Refused, fieldPrivate)
		res, err = x.lookUp(ctx, account, request, []string{fieldPublic})
	}
	if err != nil {
		return out, err
	}
	var found lookup
	if err := json.Unmarshal(res.Body, &found); err != nil {
		return out, res.MalformedError(err.Error())
	}
	out.Rates = rates(res, bucketReads)
	for _, e := range found.Errors {
		id := e.ResourceID
		if id == "" {
			id = e.Value
		}
		switch path.Base(e.Type) {
		case "resource-not-found":
			out.Add(id, network.PostMetrics{State: network.PostMissing})
		case "not-authorized-for-resource", "resource-unavailable", "disallowed-resource":
			out.Add(id, network.PostMetrics{State: network.PostUnavailable})
		}
	}
	for _, d := range found.Data {
		p := network.PostMetrics{State: network.PostMeasured}
		p.Set(network.MetricViews, d.Public.Impressions)
		p.Set(network.MetricLikes, d.Public.Likes)
		p.Set(network.MetricReplies, d.Public.Replies)
		p.Set(network.MetricReposts, d.Public.Retweets)
		p.Set(network.MetricReposts, d.Public.Reposts)
		p.Set(network.MetricQuotes, d.Public.Quotes)
		p.Set(network.MetricSaves, d.Public.Bookmarks)
		p.Set(network.MetricClicks, d.Private.Clicks)
		out.Add(d.ID, p)
	}
	if len(out.Posts) == 0 {
		return out, partialError(res, "posts")
	}
	return out, nil
}

func (x *X) lookUp(
	ctx context.Context, account network.Account, request network.MeasureRequest, fields []string,
) (*call.Response, error) {
	if err := request.Allow(ctx); err != nil {
		return nil, err
	}
	ids := make([]string, len(request.Posts))
	for i, p := range request.Posts {
		ids[i] = p.RemoteID
	}
	query := url.Values{"ids": {strings.Join(ids, ",")}, "tweet.fields": {strings.Join(fields, ",")}}
	return x.do(ctx, account.BaseURL, "/tweets?"+query.Encode(), call.Request{
		Method: http.MethodGet, Token: account.Token,
	})
}
