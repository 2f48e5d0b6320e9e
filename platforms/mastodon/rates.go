package mastodon

import (
	"net/http"
	"strconv"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	bucketStatuses = "statuses"
	bucketMedia    = "media"
)

// quotas are Mastodon's own defaults; instances may set others, and every
// answer says how the account stands.
// https://docs.joinmastodon.org/api/rate-limits/
//
// Periods begin at multiples of their length since 1970
// (app/lib/rate_limiter.rb, rack-attack's cache keys).
func quotas() []network.Quota {
	return []network.Quota{
		{Bucket: bucketStatuses, Scope: network.ScopeAccount, Requests: 300, Per: 3 * time.Hour, Fixed: true, Default: true,
			Costs: map[network.Use]int{network.UsePublish: 1}},
		{Bucket: bucketMedia, Scope: network.ScopeAccount, Requests: 30, Per: 30 * time.Minute, Fixed: true, Default: true,
			Costs: map[network.Use]int{network.UseUpload: 1}},
	}
}

func bucketOf(method, path string) string {
	switch {
	case method == http.MethodPost && path == "/api/v1/statuses":
		return bucketStatuses
	case method == http.MethodPost && path == "/api/v2/media":
		return bucketMedia
	default:
		return ""
	}
}

// rates reads the headers of an answer. They tell of the fullest of the buckets
// that the call fell in (app/controllers/concerns/api/rate_limit_headers.rb),
// which nearly always is the call's own. When it is the one of all calls, that
// many calls and no more are left until its reset all the same.
func rates(res *call.Response, bucket string) []network.Rate {
	limit, errLimit := strconv.Atoi(res.Header.Get("X-RateLimit-Limit"))
	remaining, errRemaining := strconv.Atoi(res.Header.Get("X-RateLimit-Remaining"))
	if bucket == "" || errLimit != nil || errRemaining != nil || limit < 1 || remaining < 0 {
		return nil
	}
	return []network.Rate{{Bucket: bucket, Scope: network.ScopeAccount, Limit: limit, Remaining: min(remaining, limit), ResetAt: rateReset(res)}}
}

// rateReset reads X-RateLimit-Reset, which is ISO 8601 here and not a number
// of seconds. https://docs.joinmastodon.org/api/rate-limits/
func rateReset(res *call.Response) time.Time {
	at, err := time.Parse(time.RFC3339, res.Header.Get("X-RateLimit-Reset"))
	if err != nil {
		return time.Time{}
	}
	return res.Local(at)
}
