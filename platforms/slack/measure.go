package slack

import (
	"context"
	"time"

	"dateline/platforms/network"
)

// MeasureRules count reactions, and the replies to a message.
func (s *Slack) MeasureRules(network.Account, network.PostRef) network.MeasureRules {
	return network.MeasureRules{
		Metrics:  []network.Metric{network.MetricLikes, network.MetricReplies},
		Batch:    20,
		Readings: network.CounterReadings(),
		Quota: network.Quota{
			Bucket: "reads", Scope: network.ScopeAccount, Requests: s.options.ReadsPerMinute, Per: time.Minute,
			Costs: map[network.CallKind]int{network.CallMeasure: 1},
		},
	}
}

// Measure reads each message by its ts
// (https://docs.slack.dev/messaging/retrieving-messages#individual_messages).
func (s *Slack) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	for _, post := range request.Posts {
		if err := request.Allow(ctx); err != nil {
			return out, err
		}
		thread, ts := parseID(post.RemoteID)
		method, query := listing(account, thread)
		query["oldest"], query["latest"], query["inclusive"] = []string{ts}, []string{ts}, []string{"true"}
		var got struct {
			Messages []message `json:"messages"`
		}
		if _, err := s.get(ctx, account, method, query, &got); err != nil && !hasCode(err, "thread_not_found") {
			return out, err
		}
		p := network.PostMetrics{State: network.PostMissing}
		for _, m := range got.Messages {
			if m.TS != ts {
				continue // the first message of the thread
			}
			likes := int64(0) // Slack omits an empty list
			for _, r := range m.Reactions {
				likes += r.Count
			}
			p.State = network.PostMeasured
			p.Set(network.MetricLikes, &likes)
			p.Set(network.MetricReplies, m.Replies)
		}
		out.Add(post.RemoteID, p)
	}
	return out, nil
}
