package threads

import (
	"slices"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// The subcodes that mean more than their codes.
const (
	mediaNotFound  = 4279009 // said of containers that were made a moment ago, too
	userRestricted = 4279013
	suspectedSpam  = 2207051
	notFetchable   = 2207052
	dailyQuota     = 2207042
)

// quotaRetryAfter is how long an account rests whose quota is used up: it comes back
// bit by bit, as its posts of yesterday grow older than a day.
const quotaRetryAfter = time.Hour

// refine classifies what Threads alone says. create is the publishing call; all
// others may be repeated.
func refine(f graph.ErrorObject, create bool, e *network.Error) {
	switch f.Subcode {
	case mediaNotFound:
		// Not there yet, gone, or published: Publish asks.
		e.Class, e.RetryAt = network.Transient, time.Now().Add(3*time.Second)
	case userRestricted:
		e.Class = network.Rejected
	case suspectedSpam:
		// Instagram's posts were live all the same that were refused so, and the
		// code is the same one.
		e.Class = network.Rejected
		if create {
			e.Class = network.Ambiguous
		}
	case dailyQuota:
		e.Class, e.Scope, e.RetryAt = network.Throttled, network.ScopeAccount, time.Now().Add(quotaRetryAfter)
	case notFetchable:
		e.Class, e.Code = network.Rejected, graph.CodeNotFetchable
		e.Message = "Threads could not fetch an attachment. The operator has to set S3_PUBLIC_ENDPOINT to an address of the object store that can be reached from the internet."
	}
	if e.Class != network.Throttled {
		e.Scope = ""
	}
}

// isRetryable says of a failed container's error_message whether a new one may do
// better. The others are about the attachment itself.
// https://developers.facebook.com/docs/threads/troubleshooting
func isRetryable(message string) bool {
	return slices.Contains([]string{"FAILED_DOWNLOADING_VIDEO", "UNKNOWN"}, message)
}
