package nostr

import (
	"context"
	"slices"
	"time"

	"dateline/platforms/network"
)

// MeasureRules count the events that refer to a post on the account's relays.
func (*Nostr) MeasureRules(network.Account, network.PostRef) network.MeasureRules {
	return network.MeasureRules{
		Metrics:  []network.Metric{network.MetricLikes, network.MetricReplies, network.MetricReposts},
		Batch:    10,
		Readings: network.CounterReadings(),
		Quota: network.Quota{
			Bucket: "reads", Scope: network.ScopeAccount, Requests: 60, Per: time.Minute,
			Costs: map[network.CallKind]int{network.CallMeasure: 1},
		},
	}
}

// Measure has the relays count (NIP-45), and takes the highest count: relays have different
// events. What none of them counts is absent. A post is missing if all of them say so.
func (n *Nostr) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (out network.Measured, err error) {
	s, err := n.signerOf(account)
	if err != nil {
		return out, err
	}
	for _, post := range request.Posts {
		at, err := n.deliveriesOf(account)
		if err == nil {
			err = request.Allow(ctx)
		}
		if err != nil {
			return out, err
		}
		counts := make([]map[network.Metric]int64, len(at))
		at.each(ctx, n.options.AnswerTimeout, func(ctx context.Context, d *delivery) (err error) {
			if d.conn, err = n.dial(ctx, d.relay, s, account.Token); err != nil {
				return err
			}
			counts[slices.Index(at, d)], err = d.countsOf(ctx, post.RemoteID)
			return err
		})
		at.close()
		if len(at.where((*delivery).hasFailed)) == len(at) {
			return out, at.failure()
		}
		p := network.PostMetrics{State: network.PostMissing}
		if len(at.where((*delivery).hasFailed)) > 0 {
			p.State = network.PostUnavailable
		}
		for i, d := range at {
			if d.found {
				p.State = network.PostMeasured
			}
			for metric, count := range counts[i] {
				if d.found && count >= p.Values[metric] {
					p.Set(metric, &count)
				}
			}
		}
		out.Add(post.RemoteID, p)
	}
	return out, nil
}

// countsOf returns what the relay counts of a post, which d.found says it has.
func (d *delivery) countsOf(ctx context.Context, id string) (map[network.Metric]int64, error) {
	events, err := d.conn.query(ctx, filter{IDs: []string{id}})
	d.found = slices.ContainsFunc(events, func(e event) bool { return e.ID == id })
	counts := map[network.Metric]int64{}
	if err != nil || !d.found {
		return counts, err
	}
	for metric, kinds := range map[network.Metric][]int{
		network.MetricLikes: {kindReaction}, network.MetricReplies: {kindNote, kindComment},
		network.MetricReposts: {kindRepost, kindOtherRepost},
	} {
		count, known, err := d.conn.count(ctx, filter{Kinds: kinds, Events: []string{id}})
		if err != nil {
			return counts, err
		}
		if known {
			counts[metric] = count
		}
	}
	return counts, nil
}
