package threads

import (
	"context"
	"errors"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/network"
)

const (
	bucketPosts   = "posts"
	bucketReplies = "replies"
)

// cachedQuotas is what an account may publish, as it said.
type cachedQuotas struct {
	posts, replies graph.PublishingQuota
	until          time.Time
}

// Limits are Threads', with the account's own numbers of posts and replies a day.
func (t *Threads) Limits(ctx context.Context, account network.Account) (network.Limits, error) {
	if err := t.Service.RequireRemoteID(account); err != nil {
		return network.Limits{}, err
	}
	t.mu.Lock()
	said, ok := t.limits[account.BaseURL+" "+account.RemoteID]
	t.mu.Unlock()
	if !ok || time.Now().After(said.until) {
		var err error
		if said, err = t.allowances(ctx, account); err != nil {
			return network.Limits{}, err
		}
	}
	return t.options.limits(said), nil
}

// allowances asks how much of its quotas an account has used. One that is not
// told gets the documented quotas.
// https://developers.facebook.com/docs/threads/troubleshooting#retrieve-publishing-quota-limit
func (t *Threads) allowances(ctx context.Context, account network.Account) (cachedQuotas, error) {
	said := cachedQuotas{until: time.Now().Add(time.Duration(t.options.LimitsTTL) * time.Second)}
	res, err := t.get(ctx, account, "quota_usage,config,reply_quota_usage,reply_config", account.RemoteID, "threads_publishing_limit")
	var e *network.Error
	switch {
	case errors.As(err, &e) && e.Class == network.Rejected && e.Status != 0:
	case err != nil:
		return cachedQuotas{}, err
	default:
		if said.posts, said.replies, err = graph.ParseQuotas(res); err != nil {
			return cachedQuotas{}, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limits[account.BaseURL+" "+account.RemoteID] = said
	return said, nil
}

func (o Options) limits(said cachedQuotas) network.Limits {
	quota := func(bucket string, requests int, allowance graph.PublishingQuota, costs map[network.CallKind]int) network.Quota {
		q := network.Quota{Bucket: bucket, Scope: network.ScopeAccount, Requests: requests, Per: 24 * time.Hour, Costs: costs}
		if allowance.Total > 0 && allowance.Per > 0 {
			q.Requests, q.Per = allowance.Total, allowance.Per
		}
		return q
	}
	return network.Limits{
		AllowedBy:        title,
		MaxCharacters:    o.Characters,
		MaxLinks:         o.Links,
		MaxMedia:         o.Carousel,
		MixedMedia:       true,
		FetchesMedia:     true,
		MIMETypes:        []string{"image/jpeg", "image/png", "video/mp4", "video/quicktime"},
		MaxImageBytes:    o.ImageBytes,
		MaxVideoBytes:    o.VideoBytes,
		MinImageRatio:    0.1, // 10:1, either way
		MaxImageRatio:    10,
		MaxVideoDuration: time.Duration(o.VideoSeconds) * time.Second,
		MaxAltText:       o.AltText,
		SupportsReply:    true,
		Quotas: []network.Quota{
			quota(bucketPosts, o.PostsPerDay, said.posts, map[network.CallKind]int{network.CallPublish: 1, network.CallReply: 0}),
			quota(bucketReplies, o.RepliesPerDay, said.replies, map[network.CallKind]int{network.CallReply: 1}),
		},
	}
}
