package threads

import (
	"slices"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// Subcodes that are more specific than their codes.
const (
	mediaNotFound  = 4279009 // also returned for containers that were just created
	userRestricted = 4279013
)

// refine classifies Threads' error subcodes. create marks the publishing call;
// all other calls can be repeated.
func refine(f graph.ErrorObject, create bool, e *network.Error) {
	switch f.Subcode {
	case mediaNotFound:
		// Not available yet, expired, or published: Publish reads the container's
		// state.
		e.Class, e.RetryAt = network.Transient, time.Now().Add(3*time.Second)
	case userRestricted:
		e.Class = network.Rejected
	}
	container.RefineError(title, f, create, e)
}

// isRetryable reports whether a new container may succeed after one failed with
// this error_message. Other messages are about the attachment itself.
// https://developers.facebook.com/docs/threads/troubleshooting
func isRetryable(message string) bool {
	return slices.Contains([]string{"FAILED_DOWNLOADING_VIDEO", "UNKNOWN"}, message)
}
