package mastodon

import (
	"context"
	"net/http"
	"net/url"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// maxStatusIDs is DEFAULT_STATUSES_LIMIT of Mastodon
// (app/controllers/api/v1/statuses_controller.rb); more ids are refused.
const maxStatusIDs = 20

// MeasureRules are the same for all statuses: an instance counts what it knows of.
func (*Mastodon) MeasureRules(network.Account, network.PostRef) network.MeasureRules {
	return network.MeasureRules{
		Metrics: []network.Metric{
			network.MetricLikes, network.MetricReplies, network.MetricReposts, network.MetricQuotes,
		},
		Batch:    maxStatusIDs,
		Readings: network.CounterReadings(),
		Quota:    readQuota(),
	}
}

// counted is a status with its counts; those that a server does not report are nil.
// https://docs.joinmastodon.org/entities/Status/
type counted struct {
	ID         string `json:"id"`
	Favourites *int64 `json:"favourites_count"`
	Replies    *int64 `json:"replies_count"`
	Reblogs    *int64 `json:"reblogs_count"`
	Quotes     *int64 `json:"quotes_count"` // since 4.5
}

func (c counted) metrics() network.PostMetrics {
	p := network.PostMetrics{State: network.PostMeasured}
	p.Set(network.MetricLikes, c.Favourites)
	p.Set(network.MetricReplies, c.Replies)
	p.Set(network.MetricReposts, c.Reblogs)
	p.Set(network.MetricQuotes, c.Quotes)
	return p
}

// Measure reads statuses together; servers before Mastodon 4.3 and other software
// have no such call, so their statuses are read one by one.
// https://docs.joinmastodon.org/methods/statuses/#index
func (m *Mastodon) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	if err := request.Allow(ctx); err != nil {
		return out, err
	}
	query := url.Values{}
	for _, p := range request.Posts {
		query.Add("id[]", p.RemoteID)
	}
	res, err := m.do(ctx, account.BaseURL, "/api/v1/statuses?"+query.Encode(), call.Request{
		Method: http.MethodGet, Token: account.Token,
	})
	if e := network.AsError(err); e != nil &&
		(e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
		return m.measureEach(ctx, account, request)
	}
	if err != nil {
		return out, err
	}
	var list []counted
	if err := res.Decode(&list); err != nil {
		return out, err
	}
	out.Rates = rates(res, bucketCalls)
	for _, p := range request.Posts {
		out.Add(p.RemoteID, network.PostMetrics{State: network.PostMissing})
	}
	for _, s := range list {
		out.Add(s.ID, s.metrics())
	}
	return out, nil
}

func (m *Mastodon) measureEach(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	for _, p := range request.Posts {
		if err := request.Allow(ctx); err != nil {
			return out, err
		}
		res, err := m.do(ctx, account.BaseURL, "/api/v1/statuses/"+url.PathEscape(p.RemoteID),
			call.Request{Method: http.MethodGet, Token: account.Token})
		if e := network.AsError(err); e != nil && e.Status == http.StatusNotFound {
			out.Add(p.RemoteID, network.PostMetrics{State: network.PostMissing})
			continue
		}
		if err != nil {
			return out, err
		}
		var s counted
		if err := res.Decode(&s); err != nil {
			return out, err
		}
		out.Rates = rates(res, bucketCalls)
		out.Add(p.RemoteID, s.metrics())
	}
	return out, nil
}
