package graph

import (
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// PublishingQuota is how many posts an account may still publish.
type PublishingQuota struct {
	Used, Total int
	Per         time.Duration
}

// RateStatus says it of a bucket; none where the network did not say how many.
func (a PublishingQuota) RateStatus(bucket string) []network.RateStatus {
	if a.Total < 1 {
		return nil
	}
	return []network.RateStatus{{Bucket: bucket, Scope: network.ScopeAccount, Limit: a.Total, Remaining: min(max(a.Total-a.Used, 0), a.Total)}}
}

type quotaConfig struct {
	Total    int   `json:"quota_total"`
	Duration int64 `json:"quota_duration"` // seconds
}

func (c quotaConfig) quota(used int) PublishingQuota {
	return PublishingQuota{Used: used, Total: c.Total, Per: time.Duration(min(max(c.Duration, 0), 366*24*3600)) * time.Second}
}

// ParseQuotas reads what content_publishing_limit (Instagram) and
// threads_publishing_limit answer.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/content_publishing_limit
// https://developers.facebook.com/docs/threads/troubleshooting#retrieve-publishing-quota-limit
func ParseQuotas(res *call.Response) (posts, replies PublishingQuota, err error) {
	var answer Page[struct {
		Used         int         `json:"quota_usage"`
		Config       quotaConfig `json:"config"`
		RepliesUsed  int         `json:"reply_quota_usage"`
		RepliesLimit quotaConfig `json:"reply_config"`
	}]
	if err := res.Decode(&answer); err != nil {
		return PublishingQuota{}, PublishingQuota{}, err
	}
	if len(answer.Data) == 0 {
		return PublishingQuota{}, PublishingQuota{}, nil
	}
	said := answer.Data[0]
	return said.Config.quota(said.Used), said.RepliesLimit.quota(said.RepliesUsed), nil
}
