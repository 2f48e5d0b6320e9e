package zalo

import (
	"context"
	"time"

	"dateline/platforms/network"
)

// maxMeasuredPages is how far back articles are measured: a list is the only call that
// reports numbers.
const maxMeasuredPages = 20

// MeasureRules returns the numbers in the list of articles.
func (z *Zalo) MeasureRules(network.Account, network.PostRef) network.MeasureRules {
	return network.MeasureRules{
		Metrics: []network.Metric{network.MetricViews, network.MetricReposts}, Batch: 50,
		Readings: network.CounterReadings(),
		Quota: network.Quota{
			Bucket: "reads", Scope: network.ScopeAccount, Requests: z.options.ReadsPerHour, Per: time.Hour,
			Default: true, Costs: map[network.CallKind]int{network.CallMeasure: 1},
		},
	}
}

// Measure reads the list of articles until it has all posts.
func (z *Zalo) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (measured network.Measured, err error) {
	missing := map[string]bool{}
	for _, post := range request.Posts {
		missing[post.RemoteID] = true
	}
	for number := 0; number < maxMeasuredPages && len(missing) > 0; number++ {
		if err := request.Allow(ctx); err != nil {
			return measured, err
		}
		articles, res, err := z.page(ctx, account, number)
		if err != nil {
			return measured, err
		}
		measured.Rates = rates(res)
		for _, one := range articles {
			if missing[one.ID] {
				p := network.PostMetrics{State: network.PostMeasured}
				p.Set(network.MetricViews, one.Views.value())
				p.Set(network.MetricReposts, one.Shares.value())
				measured.Add(one.ID, p)
				delete(missing, one.ID)
			}
		}
		if len(articles) == 0 { // the end of the list; another page may lack articles that are hidden
			for id := range missing {
				measured.Add(id, network.PostMetrics{State: network.PostMissing})
			}
			break
		}
	}
	return measured, nil
}
