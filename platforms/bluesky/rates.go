package bluesky

import (
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	bucketCalls      = "calls"
	bucketWritesHour = "writes_hour"
	bucketWritesDay  = "writes_day"
	bucketUploadsDay = "uploads_day"
	bucketReads      = "reads" // of the AppView, which is another host
)

// Calls with their own limits.
const (
	methodCreate = "com.atproto.repo.createRecord"
	methodApply  = "com.atproto.repo.applyWrites"
	methodUpload = "com.atproto.repo.uploadBlob"
)

// quotas are the limits of Bluesky's own servers. Other servers set their own,
// and every response reports the limit with the least remaining requests. A
// window begins with its first call.
// https://docs.bsky.app/docs/advanced-guides/rate-limits
func (b *Bluesky) quotas() []network.Quota {
	o := b.options
	costs := func(points int) map[network.CallKind]int {
		return map[network.CallKind]int{network.CallPublish: points}
	}
	return []network.Quota{
		{
			Bucket: bucketCalls, Scope: network.ScopeApp, Requests: o.CallsPer5Min, Per: 5 * time.Minute, Default: true,
			Costs: map[network.CallKind]int{network.CallPublish: 1, network.CallUpload: 1},
		},
		{
			Bucket: bucketWritesHour, Scope: network.ScopeAccount, Requests: o.WritesPerHour, Per: time.Hour,
			Default: true, Costs: costs(pointsPerCreate),
		},
		{
			Bucket: bucketWritesDay, Scope: network.ScopeAccount, Requests: o.WritesPerDay, Per: 24 * time.Hour,
			Default: true, Costs: costs(pointsPerCreate),
		},
		{
			Bucket: bucketUploadsDay, Scope: network.ScopeApp, Requests: o.UploadsPerDay, Per: 24 * time.Hour,
			Default: true,
			Costs:   map[network.CallKind]int{network.CallUpload: 1},
		},
	}
}

// readQuota is the limit of calls to the AppView per IP address.
func (b *Bluesky) readQuota() network.Quota {
	return network.Quota{
		Bucket: bucketReads, Scope: network.ScopeApp, Requests: b.options.CallsPer5Min,
		Per:   5 * time.Minute,
		Costs: map[network.CallKind]int{network.CallMeasure: 1},
	}
}

// pointsPerCreate is the cost of creating a record
// (pds/src/api/com/atproto/repo/createRecord.ts).
const pointsPerCreate = 3

// bucketOf returns the bucket that a response reports, which is identified by its
// window in seconds. Limits of calls and uploads are per IP address, so
// shared.
func bucketOf(method, window string) (bucket string, scope network.Scope) {
	if method == methodApply {
		method = methodCreate
	}
	switch {
	case window == "300" && method == methodPosts:
		return bucketReads, network.ScopeApp
	case window == "300" && (method == methodCreate || method == methodUpload):
		return bucketCalls, network.ScopeApp
	case window == "3600" && method == methodCreate:
		return bucketWritesHour, network.ScopeAccount
	case window == "86400" && method == methodCreate:
		return bucketWritesDay, network.ScopeAccount
	case window == "86400" && method == methodUpload:
		return bucketUploadsDay, network.ScopeApp
	default:
		return "", ""
	}
}

// rates parses the headers of a response: those of the limit with the least
// remaining requests (xrpc-server/src/rate-limiter.ts).
func rates(res *call.Response, method string) []network.RateStatus {
	limit, errLimit := strconv.Atoi(res.Header.Get("RateLimit-Limit"))
	remaining, errRemaining := strconv.Atoi(res.Header.Get("RateLimit-Remaining"))
	bucket, scope := bucketOf(method, windowOf(res.Header.Get("RateLimit-Policy")))
	if errLimit != nil || errRemaining != nil {
		return nil
	}
	if bucket == "" || limit < 1 || remaining < 0 {
		return nil
	}
	return []network.RateStatus{{
		Bucket: bucket, Scope: scope, Limit: limit, Remaining: min(remaining, limit),
		ResetAt: rateReset(res),
		Per:     call.PolicyWindow(res.Header.Get("RateLimit-Policy")),
	}}
}

// rateReset parses RateLimit-Reset, which is in seconds since 1970.
func rateReset(res *call.Response) time.Time {
	seconds, err := strconv.ParseInt(res.Header.Get("RateLimit-Reset"), 10, 64)
	if err != nil || seconds < 1 {
		return time.Time{}
	}
	return res.LocalTime(time.Unix(seconds, 0))
}

// windowOf returns the seconds in a policy such as "5000;w=3600".
func windowOf(policy string) string {
	_, window, _ := strings.Cut(policy, ";w=")
	window, _, _ = strings.Cut(window, ";")
	return window
}
