package instagram

import (
	"context"
	"net/url"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

const bucketPosts = "posts"

// Limits are Instagram's, with the account's own number of posts per day:
// sources differ between 25 and 100, so it is read from the network.
func (i *Instagram) Limits(ctx context.Context, account network.Account) (network.Limits, error) {
	if err := i.Service.RequireRemoteID(account); err != nil {
		return network.Limits{}, err
	}
	quotas, err := i.quotas.Get(ctx, account)
	if err != nil {
		return network.Limits{}, err
	}
	return i.options.limits(quotas.Posts), nil
}

// queryQuotas reads the account's publishing limit.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/content_publishing_limit
func (i *Instagram) queryQuotas(ctx context.Context, account network.Account) (*call.Response, error) {
	return i.get(ctx, account, url.Values{"fields": {"quota_usage,config"}}, account.RemoteID,
		"content_publishing_limit")
}

func (o Options) limits(reported graph.PublishingQuota) network.Limits {
	posts := network.Quota{
		Bucket: bucketPosts, Scope: network.ScopeAccount, Requests: o.PostsPerDay,
		Per: 24 * time.Hour, Default: true,
		Costs: map[network.CallKind]int{network.CallPublish: 1, network.CallReply: 0},
	}
	reported.Override(&posts)
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
		// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media#video-specifications
		Video: network.VideoLimits{
			MinFrameRate: 23, MaxFrameRate: 60, MaxWidth: 1920, Codecs: []string{"h264", "hevc"},
			AudioCodecs: []string{"aac"}, MaxAudioRate: 48_000, Chroma: "420",
		},
		MaxAltText:     o.AltText,
		SupportsReply:  true,
		FinishesWithin: graph.FinishesWithin,
		Quotas:         []network.Quota{posts},
	}
}
