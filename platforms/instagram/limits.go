package instagram

import (
	"context"
	"net/url"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/network"
)

const bucketPosts = "posts"

// cachedQuota is what an account may publish, as it said.
type cachedQuota struct {
	allowance graph.PublishingQuota
	until     time.Time
}

// Limits are Instagram's, with the account's own number of posts a day: sources
// differ between 25 and 100, so the account is asked.
func (i *Instagram) Limits(ctx context.Context, account network.Account) (network.Limits, error) {
	if err := i.Service.RequireRemoteID(account); err != nil {
		return network.Limits{}, err
	}
	i.mu.Lock()
	said, ok := i.limits[account.BaseURL+" "+account.RemoteID]
	i.mu.Unlock()
	if !ok || time.Now().After(said.until) {
		allowance, err := i.allowance(ctx, account)
		if err != nil {
			return network.Limits{}, err
		}
		said.allowance = allowance
	}
	return i.options.limits(said.allowance), nil
}

// allowance asks how much of its quota an account has used. One that is not told
// gets the documented quota.
func (i *Instagram) allowance(ctx context.Context, account network.Account) (graph.PublishingQuota, error) {
	res, err := i.get(ctx, account, url.Values{"fields": {"quota_usage,config"}}, account.RemoteID, "content_publishing_limit")
	if err != nil && !isRejected(err) {
		return graph.PublishingQuota{}, err
	}
	var allowance graph.PublishingQuota
	if err == nil {
		if allowance, _, err = graph.ParseQuotas(res); err != nil {
			return graph.PublishingQuota{}, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.limits[account.BaseURL+" "+account.RemoteID] = cachedQuota{allowance, time.Now().Add(time.Duration(i.options.LimitsTTL) * time.Second)}
	return allowance, nil
}

func (o Options) limits(said graph.PublishingQuota) network.Limits {
	posts := network.Quota{Bucket: bucketPosts, Scope: network.ScopeAccount, Requests: o.PostsPerDay, Per: 24 * time.Hour, Default: true,
		Costs: map[network.CallKind]int{network.CallPublish: 1, network.CallReply: 0}}
	if said.Total > 0 && said.Per > 0 {
		posts.Requests, posts.Per, posts.Default = said.Total, said.Per, false
	}
	return network.Limits{
		AllowedBy:        title,
		MaxCharacters:    o.Caption,
		MaxMedia:         o.Carousel,
		MinMedia:         1,
		MixedMedia:       true,
		FetchesMedia:     true,
		MIMETypes:        []string{"image/jpeg", "video/mp4", "video/quicktime"},
		MaxImageBytes:    o.ImageBytes,
		MaxVideoBytes:    o.VideoBytes,
		MinImageRatio:    0.8, // 4:5
		MaxImageRatio:    1.91,
		MinVideoDuration: 3 * time.Second,
		MaxVideoDuration: time.Duration(o.VideoSeconds) * time.Second,
		MaxAltText:       o.AltText,
		SupportsReply:    true,
		Quotas:           []network.Quota{posts},
	}
}
