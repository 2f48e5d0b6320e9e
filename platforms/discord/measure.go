package discord

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// bucketReads is Discord's limit of listings per channel, which its responses report.
const bucketReads = "reads"

// MeasureRules count reactions and the messages of a message's thread. Only bots can
// read them.
func (*Discord) MeasureRules(account network.Account, _ network.PostRef) network.MeasureRules {
	rules := network.MeasureRules{
		Metrics:  []network.Metric{network.MetricLikes, network.MetricReplies},
		Batch:    pageSize,
		Readings: network.CounterReadings(),
		Quota: network.Quota{
			Bucket: bucketReads, Scope: network.ScopeAccount, Requests: 5, Per: 5 * time.Second,
			Costs: map[network.CallKind]int{network.CallMeasure: 1},
		},
	}
	if _, hook := webhookID(account); hook {
		rules.Unsupported = "Webhooks cannot read reactions. Connect the channel with a bot."
	}
	return rules
}

// counted is a message with its counters.
// https://docs.discord.com/developers/resources/message#message-object
type counted struct {
	ID        string `json:"id"`
	Reactions []struct {
		Count int64 `json:"count"`
	} `json:"reactions"`
	Thread *struct {
		Messages *int64 `json:"message_count"`
	} `json:"thread"`
}

// metrics counts no reactions as zero: Discord omits an empty list.
func (c counted) metrics() network.PostMetrics {
	p, likes := network.PostMetrics{State: network.PostMeasured}, int64(0)
	for _, r := range c.Reactions {
		likes += r.Count
	}
	p.Set(network.MetricLikes, &likes)
	if c.Thread != nil {
		p.Set(network.MetricReplies, c.Thread.Messages)
	}
	return p
}

// Measure lists the channel's messages, because reading messages one by one would
// count deleted ones towards the limit of refused requests. Forum posts are in
// channels of their own.
// https://docs.discord.com/developers/resources/message#get-channel-messages
func (d *Discord) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	var ids []uint64
	for _, p := range request.Posts {
		if thread, ok := strings.CutPrefix(p.RemoteID, forumPrefix); ok {
			if err := d.measureForumPost(ctx, account, p.RemoteID, thread, request, &out); err != nil {
				return out, err
			}
			continue
		}
		ids = append(ids, parseSnowflake(p.RemoteID))
	}
	slices.Sort(ids)
	for len(ids) > 0 {
		if err := request.Allow(ctx); err != nil {
			return out, err
		}
		query := url.Values{"after": {strconv.FormatUint(max(ids[0], 1)-1, 10)}, "limit": {strconv.Itoa(pageSize)}}
		res, err := d.do(ctx, account, messagesPath(account)+"?"+query.Encode(), call.Request{Method: http.MethodGet})
		if err != nil {
			return out, err
		}
		var list []counted
		if err := res.Decode(&list); err != nil {
			return out, err
		}
		out.Rates = readRates(res)
		last := uint64(0)
		for _, m := range list {
			id := parseSnowflake(m.ID)
			last = max(last, id)
			if slices.Contains(ids, id) {
				out.Add(m.ID, m.metrics())
			}
		}
		if len(list) < pageSize {
			last = ids[len(ids)-1] // the end of the channel
		}
		ids = slices.DeleteFunc(ids, func(id uint64) bool {
			text := strconv.FormatUint(id, 10)
			if _, ok := out.Posts[text]; !ok && id <= last {
				out.Add(text, network.PostMetrics{State: network.PostMissing})
			}
			return id <= last
		})
	}
	return out, nil
}

// measureForumPost reads the first message of a thread, which has the thread's id.
func (d *Discord) measureForumPost(ctx context.Context, account network.Account, remoteID, thread string,
	request network.MeasureRequest, out *network.Measured,
) error {
	if err := request.Allow(ctx); err != nil {
		return err
	}
	res, err := d.do(ctx, account, "/channels/"+thread+"/messages/"+thread, call.Request{Method: http.MethodGet})
	if e := network.AsError(err); e != nil &&
		(e.Code == strconv.Itoa(unknownMessage) || e.Code == strconv.Itoa(unknownChannel)) {
		out.Add(remoteID, network.PostMetrics{State: network.PostMissing})
		return nil
	}
	if err != nil {
		return err
	}
	var m counted
	if err := res.Decode(&m); err != nil {
		return err
	}
	out.Rates = readRates(res)
	out.Add(remoteID, m.metrics())
	return nil
}

// readRates is the state of the limit of listings.
func readRates(res *call.Response) []network.RateStatus {
	reported := rates(res)
	for i := range reported {
		reported[i].Bucket = bucketReads
	}
	return reported
}
