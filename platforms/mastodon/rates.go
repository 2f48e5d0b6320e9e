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
	bucketCalls    = "calls" // of all kinds together
)

// quotas are Mastodon's defaults. Instances can change them, and every response
// reports the current state.
// https://docs.joinmastodon.org/api/rate-limits/
//
// Windows begin at multiples of their length since 1970 (app/lib/rate_limiter.rb,
// rack-attack's cache keys).
func quotas() []network.Quota {
	return []network.Quota{
		{
			Bucket: bucketStatuses, Scope: network.ScopeAccount, Requests: 300, Per: 3 * time.Hour, FixedWindow: true,
			Default: true,
			Costs:   map[network.CallKind]int{network.CallPublish: 1},
		},
		{
			Bucket: bucketMedia, Scope: network.ScopeAccount, Requests: 30, Per: 30 * time.Minute, FixedWindow: true,
			Default: true,
			Costs:   map[network.CallKind]int{network.CallUpload: 1},
		},
	}
}

// readQuota is Mastodon's limit of all calls of an account.
func readQuota() network.Quota {
	return network.Quota{
		Bucket: bucketCalls, Scope: network.ScopeAccount, Requests: 300, Per: 5 * time.Minute,
		FixedWindow: true,
		Costs:       map[network.CallKind]int{network.CallMeasure: 1},
	}
}

func bucketOf(method, path string) string {
	switch {
	case method == http.MethodPost && path == "/api/v1/statuses":
		return bucketStatuses
	case method == http.MethodPost && path == "/api/v2/media":
		return bucketMedia
	case method == http.MethodGet && (path == "/api/v1/statuses" || strings.HasPrefix(path, "/api/v1/statuses?") ||
		strings.HasPrefix(path, "/api/v1/statuses/")):
		return bucketCalls
	default:
		return ""
	}
}

// rates parses the rate-limit headers of a response. They describe the bucket
// with the least remaining requests
// (app/controllers/concerns/api/rate_limit_headers.rb), which almost always is
// the call's own. If it is the bucket of all calls, no more calls than that are
// left anyway.
//
// Other servers with Mastodon's API have their own limits: GoToSocial counts all
// calls together, 300 in 5 minutes from the first one, in the same headers
// (internal/middleware/ratelimit.go).
func rates(res *call.Response, bucket string) []network.RateStatus {
	limit, errLimit := strconv.Atoi(header(res, "Limit"))
	remaining, errRemaining := strconv.Atoi(header(res, "Remaining"))
	if errLimit != nil || errRemaining != nil {
		return nil
	}
	if bucket == "" || limit < 1 || remaining < 0 {
		return nil
	}
	return []network.RateStatus{{
		Bucket: bucket, Scope: network.ScopeAccount, Limit: limit,
		Remaining: min(remaining, limit),
		ResetAt:   rateReset(res), Per: call.PolicyWindow(header(res, "Policy")),
	}}
}

func rateReset(res *call.Response) time.Time { return res.ParseReset(header(res, "Reset")) }

// header returns a header by Mastodon's name or by the name in the IETF draft,
// which newer proxies use. Its limit can be a list, of which the first entry
// applies.
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
