package mastodon

import (
	"net/http"
	"strconv"
	"strings"
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
		{Bucket: bucketStatuses, Scope: network.ScopeAccount, Requests: 300, Per: 3 * time.Hour, FixedWindow: true, Default: true,
			Costs: map[network.CallKind]int{network.CallPublish: 1}},
		{Bucket: bucketMedia, Scope: network.ScopeAccount, Requests: 30, Per: 30 * time.Minute, FixedWindow: true, Default: true,
			Costs: map[network.CallKind]int{network.CallUpload: 1}},
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
//
// Servers that speak Mastodon's API have limits of their own: GoToSocial counts
// all calls together, 300 in 5 minutes from the first one, under the same headers
// (internal/middleware/ratelimit.go).
func rates(res *call.Response, bucket string) []network.RateStatus {
	limit, errLimit := strconv.Atoi(header(res, "Limit"))
	remaining, errRemaining := strconv.Atoi(header(res, "Remaining"))
	if bucket == "" || errLimit != nil || errRemaining != nil || limit < 1 || remaining < 0 {
		return nil
	}
	return []network.RateStatus{{Bucket: bucket, Scope: network.ScopeAccount, Limit: limit, Remaining: min(remaining, limit),
		ResetAt: rateReset(res), Per: call.PolicyWindow(header(res, "Policy"))}}
}

func rateReset(res *call.Response) time.Time { return res.ParseReset(header(res, "Reset")) }

// header reads one of the headers by Mastodon's name or by that of the IETF's
// draft, which newer proxies send. Its limit may be a list, of which the first is
// the one that counts.
func header(res *call.Response, name string) string {
	value := res.Header.Get("X-RateLimit-" + name)
	if value == "" {
		value = res.Header.Get("RateLimit-" + name)
	}
	if name == "Limit" {
		value, _, _ = strings.Cut(value, ",")
	}
	return strings.TrimSpace(value)
}
