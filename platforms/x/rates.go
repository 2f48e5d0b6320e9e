package x

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	bucketPosts    = "posts"
	bucketPostsDay = "posts_day" // on some plans; X reports how many
	bucketPostsApp = "posts_app"
	bucketUploads  = "uploads"
	bucketReads    = "reads"
)

// quotas are those of https://docs.x.com/x-api/fundamentals/rate-limits.
func (x *X) quotas() []network.Quota {
	post := map[network.CallKind]int{network.CallPublish: 1}
	return []network.Quota{
		{
			Bucket: bucketPosts, Scope: network.ScopeAccount, Requests: x.options.PostsPer15Min, Per: 15 * time.Minute,
			Costs: post,
		},
		{Bucket: bucketPostsDay, Scope: network.ScopeAccount, Per: 24 * time.Hour, Costs: post},
		{
			Bucket: bucketPostsApp, Scope: network.ScopeApp, Requests: x.options.AppPostsPerDay, Per: 24 * time.Hour,
			Costs: post,
		},
		{
			Bucket: bucketUploads, Scope: network.ScopeAccount, Requests: x.options.UploadsPer15Min,
			Per:   15 * time.Minute,
			Costs: map[network.CallKind]int{network.CallUpload: 1},
		},
	}
}

// readQuota is the limit of reads of posts by id.
func (x *X) readQuota() network.Quota {
	return network.Quota{
		Bucket: bucketReads, Scope: network.ScopeAccount, Requests: x.options.ReadsPer15Min,
		Per:   15 * time.Minute,
		Costs: map[network.CallKind]int{network.CallMeasure: 1},
	}
}

func bucketOf(method, path string) string {
	switch {
	case method == http.MethodPost && path == "/tweets":
		return bucketPosts
	case method == http.MethodPost && path == "/media/upload/initialize":
		return bucketUploads
	case method == http.MethodGet && strings.HasPrefix(path, "/tweets?"):
		return bucketReads
	default:
		return ""
	}
}

// rates parses the rate-limit headers of a response: the limit of the endpoint
// per account, and for posts also the daily limits of plans that have them
// (x-app-limit-24hour-*, x-user-limit-24hour-*).
func rates(res *call.Response, bucket string) []network.RateStatus {
	var reported []network.RateStatus
	add := func(prefix, bucket string, scope network.Scope) {
		if r, ok := rateOf(res, prefix); ok {
			r.Bucket, r.Scope = bucket, scope
			reported = append(reported, r)
		}
	}
	if bucket != "" {
		add("X-Rate-Limit-", bucket, network.ScopeAccount)
	}
	if bucket == bucketPosts {
		add("X-User-Limit-24hour-", bucketPostsDay, network.ScopeAccount)
		add("X-App-Limit-24hour-", bucketPostsApp, network.ScopeApp)
	}
	return reported
}

// rateOf parses three headers; the reset is in seconds since 1970 by X's clock.
func rateOf(res *call.Response, prefix string) (network.RateStatus, bool) {
	limit, errLimit := strconv.Atoi(res.Header.Get(prefix + "Limit"))
	remaining, errRemaining := strconv.Atoi(res.Header.Get(prefix + "Remaining"))
	if errLimit != nil || errRemaining != nil || limit < 1 || remaining < 0 {
		return network.RateStatus{}, false
	}
	rate := network.RateStatus{Limit: limit, Remaining: min(remaining, limit)}
	if reset, err := strconv.ParseInt(res.Header.Get(prefix+"Reset"), 10, 64); err == nil && reset > 0 {
		rate.ResetAt = res.LocalTime(time.Unix(reset, 0))
	}
	return rate, true
}

// throttle sets whose limit a 429 is about and when it ends: the exhausted limit
// that ends last.
func throttle(e *network.Error, res *call.Response) {
	for prefix, scope := range map[string]network.Scope{
		"X-Rate-Limit-": network.ScopeAccount, "X-User-Limit-24hour-": network.ScopeAccount,
		"X-App-Limit-24hour-": network.ScopeApp,
	} {
		r, ok := rateOf(res, prefix)
		if ok && r.Remaining == 0 && (e.Scope == "" || r.ResetAt.After(e.RetryAt)) {
			e.Scope = scope
			if r.ResetAt.After(e.RetryAt) {
				e.RetryAt = r.ResetAt
			}
		}
	}
	if e.Scope == "" {
		// The app's purchased quota is used up, which no header reports.
		e.Scope = network.ScopeApp
		if e.RetryAt.IsZero() {
			e.RetryAt = res.Received.Add(capRetryAfter)
		}
	}
}
