package instagram

import (
	"strconv"
	"strings"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// The subcodes that mean more than their codes.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes
const (
	serverError     = 2207001
	downloadTimeout = 2207003
	mediaNotFound   = 2207006
	containerEarly  = 2207008
	mediaExpired    = 2207020
	notReady        = 2207027
	createFailed    = 2207032
	dailyQuota      = 2207042
	suspectedSpam   = 2207051
	notFetchable    = 2207052
	uploadFailed    = 2207053
	retryUpload     = 2207082
)

// quotaRetryAfter is how long an account rests whose daily quota is used up: it comes
// back bit by bit, as its posts of yesterday grow older than a day.
const quotaRetryAfter = time.Hour

// refine classifies what Instagram alone says. create is the publishing call;
// all others may be repeated.
func refine(f graph.ErrorObject, create bool, e *network.Error) {
	switch f.Subcode {
	case suspectedSpam:
		// Posts were live all the same that were refused so.
		e.Class = network.Rejected
		if create {
			e.Class = network.Ambiguous
		}
	case serverError, downloadTimeout, createFailed, uploadFailed, retryUpload:
		e.Class = network.Transient
		if create {
			e.Class = network.Ambiguous
		}
	case mediaExpired:
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	case notReady, containerEarly:
		// Of the very container that was named, so it was not published.
		e.Class, e.RetryAt = network.Transient, time.Now().Add(5*time.Second)
	case mediaNotFound:
		// Not there yet, gone, or published: Publish asks.
		if create {
			e.Class = network.Ambiguous
		}
	case dailyQuota:
		e.Class, e.Scope, e.RetryAt = network.Throttled, network.ScopeAccount, time.Now().Add(quotaRetryAfter)
	case notFetchable:
		e.Class, e.Code = network.Rejected, graph.CodeNotFetchable
		e.Message = "Instagram could not fetch an attachment. The operator has to set S3_PUBLIC_ENDPOINT to an address of the object store that can be reached from the internet."
	}
	if e.Class != network.Throttled {
		e.Scope = ""
	}
}

// isRetryable says of the words of a failed container ("Error: Media upload has failed
// with error code 2207082") whether a new one may do better.
func isRetryable(status string) bool {
	for _, code := range []int{serverError, downloadTimeout, mediaExpired, createFailed, uploadFailed, retryUpload} {
		if strings.Contains(status, strconv.Itoa(code)) {
			return true
		}
	}
	return false
}
