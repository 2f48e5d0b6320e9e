package graph

import (
	"context"
	"errors"
	"sync"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// PublishingQuota is the number of posts that an account may publish per
// period. The zero value means that the network did not report it.
type PublishingQuota struct {
	Used, Total int
	Per         time.Duration
}

// RateStatus returns the state of the quota's bucket; nothing if the network
// did not report it.
func (q PublishingQuota) RateStatus(bucket string) []network.RateStatus {
	if q.Total < 1 {
		return nil
	}
	return []network.RateStatus{
		{Bucket: bucket, Scope: network.ScopeAccount, Limit: q.Total, Remaining: min(max(q.Total-q.Used, 0), q.Total)},
	}
}

// Override replaces a documented quota if the network reported the account's
// own.
func (q PublishingQuota) Override(quota *network.Quota) {
	if q.Total > 0 && q.Per > 0 {
		quota.Requests, quota.Per, quota.Default = q.Total, q.Per, false
	}
}

type quotaConfig struct {
	Total    int   `json:"quota_total"`
	Duration int64 `json:"quota_duration"` // seconds
}

func (c quotaConfig) quota(used int) PublishingQuota {
	return PublishingQuota{
		Used: used, Total: c.Total, Per: time.Duration(min(max(c.Duration, 0), 366*24*3600)) * time.Second,
	}
}

// PublishingQuotas are the quotas of one account.
type PublishingQuotas struct{ Posts, Replies PublishingQuota }

// parseQuotas parses the responses of content_publishing_limit (Instagram) and
// threads_publishing_limit.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/content_publishing_limit
// https://developers.facebook.com/docs/threads/troubleshooting#retrieve-publishing-quota-limit
func parseQuotas(res *call.Response) (PublishingQuotas, error) {
	var body Page[struct {
		Used         int         `json:"quota_usage"`
		Config       quotaConfig `json:"config"`
		RepliesUsed  int         `json:"reply_quota_usage"`
		RepliesLimit quotaConfig `json:"reply_config"`
	}]
	if err := res.Decode(&body); err != nil {
		return PublishingQuotas{}, err
	}
	if len(body.Data) == 0 {
		return PublishingQuotas{}, nil
	}
	limit := body.Data[0]
	return PublishingQuotas{
		Posts: limit.Config.quota(limit.Used), Replies: limit.RepliesLimit.quota(limit.RepliesUsed),
	}, nil
}

// QuotaCache reads and caches the publishing quotas of accounts. It is safe for
// concurrent use.
type QuotaCache struct {
	ttl   time.Duration
	query func(ctx context.Context, account network.Account) (*call.Response, error)

	mu      sync.Mutex
	entries map[string]quotaEntry // by base URL and account
}

type quotaEntry struct {
	quotas    PublishingQuotas
	expiresAt time.Time
}

// NewQuotaCache returns a cache. query calls the network's publishing limit.
func NewQuotaCache(
	ttl time.Duration, query func(ctx context.Context, account network.Account) (*call.Response, error),
) *QuotaCache {
	return &QuotaCache{ttl: ttl, query: query, entries: map[string]quotaEntry{}}
}

// Get returns an account's quotas, from the cache if they are not expired.
func (c *QuotaCache) Get(ctx context.Context, account network.Account) (PublishingQuotas, error) {
	c.mu.Lock()
	entry, ok := c.entries[quotaKey(account)]
	c.mu.Unlock()
	if ok && !time.Now().After(entry.expiresAt) {
		return entry.quotas, nil
	}
	return c.Refresh(ctx, account)
}

// Refresh reads an account's quotas from the network. It returns no quotas for
// an account whose request the network rejects: the documented ones apply then.
func (c *QuotaCache) Refresh(ctx context.Context, account network.Account) (PublishingQuotas, error) {
	entry := quotaEntry{expiresAt: time.Now().Add(c.ttl)}
	res, err := c.query(ctx, account)
	var e *network.Error
	switch {
	case errors.As(err, &e) && e.Class == network.Rejected && e.Status != 0:
	case err != nil:
		return PublishingQuotas{}, err
	default:
		if entry.quotas, err = parseQuotas(res); err != nil {
			return PublishingQuotas{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[quotaKey(account)] = entry
	return entry.quotas, nil
}

func quotaKey(account network.Account) string { return account.BaseURL + " " + account.RemoteID }
