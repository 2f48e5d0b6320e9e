package threads

import (
	"slices"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// The subcodes that mean more than their codes.
const (
	mediaNotFound  = 4279009 // said of containers that were made a moment ago, too
	userRestricted = 4279013
)

// refine classifies what Threads alone says. create is the publishing call; all
// others may be repeated.
func refine(f graph.ErrorObject, create bool, e *network.Error) {
	switch f.Subcode {
	case mediaNotFound:
		// Not there yet, gone, or published: Publish asks.
		e.Class, e.RetryAt = network.Transient, time.Now().Add(3*time.Second)
	case userRestricted:
		e.Class = network.Rejected
	}
	container.RefineError(title, f, create, e)
}

// isRetryable says of a failed container's error_message whether a new one may do
// better. The others are about the attachment itself.
// https://developers.facebook.com/docs/threads/troubleshooting
func isRetryable(message string) bool {
	return slices.Contains([]string{"FAILED_DOWNLOADING_VIDEO", "UNKNOWN"}, message)
}
