package threads

import (
	"context"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

const (
	bucketPosts   = "posts"
	bucketReplies = "replies"
)

// Limits are Threads', with the account's own numbers of posts and replies per
// day.
func (t *Threads) Limits(ctx context.Context, account network.Account) (network.Limits, error) {
	if err := t.Service.RequireRemoteID(account); err != nil {
		return network.Limits{}, err
	}
	quotas, err := t.quotas.Get(ctx, account)
	if err != nil {
		return network.Limits{}, err
	}
	return t.options.limits(quotas), nil
}

// queryQuotas reads the account's publishing limits.
// https://developers.facebook.com/docs/threads/troubleshooting#retrieve-publishing-quota-limit
func (t *Threads) queryQuotas(ctx context.Context, account network.Account) (*call.Response, error) {
	return t.get(ctx, account, "quota_usage,config,reply_quota_usage,reply_config", account.RemoteID,
		"threads_publishing_limit")
}

func (o Options) limits(reported graph.PublishingQuotas) network.Limits {
	quota := func(bucket string, requests int, own graph.PublishingQuota,
		costs map[network.CallKind]int,
	) network.Quota {
		q := network.Quota{
			Bucket: bucket, Scope: network.ScopeAccount, Requests: requests, Per: 24 * time.Hour,
			Costs: costs,
		}
		own.Override(&q)
		return q
	}
	return network.Limits{
		AllowedBy:        title,
		RejectsRepeats:   true,
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
		// https://developers.facebook.com/docs/threads/overview#video-specifications
		Video: network.VideoLimits{
			MinFrameRate: 23, MaxFrameRate: 60, MaxWidth: 1920, Codecs: []string{"h264", "hevc"},
			AudioCodecs: []string{"aac"}, MaxAudioRate: 48_000, Chroma: "420",
		},
		MaxAltText:     o.AltText,
		SupportsReply:  true,
		FinishesWithin: graph.FinishesWithin,
		Poll:           pollLimits(),
		Quotas: []network.Quota{
			quota(bucketPosts, o.PostsPerDay, reported.Posts, map[network.CallKind]int{
				network.CallPublish: 1, network.CallReply: 0,
			}),
			quota(bucketReplies, o.RepliesPerDay, reported.Replies, map[network.CallKind]int{network.CallReply: 1}),
		},
	}
}
