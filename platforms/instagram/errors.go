package instagram

import (
	"strconv"
	"strings"
	"time"

	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// Subcodes that are more specific than their codes.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes
const (
	serverError     = 2207001
	downloadTimeout = 2207003
	mediaNotFound   = 2207006
	containerEarly  = 2207008
	mediaExpired    = 2207020
	notReady        = 2207027
	createFailed    = 2207032
	uploadFailed    = 2207053
	retryUpload     = 2207082
)

// refine classifies Instagram's error subcodes. create marks the publishing call;
// all other calls can be repeated.
func refine(f graph.ErrorObject, create bool, e *network.Error) {
	switch f.Subcode {
	case serverError, downloadTimeout, createFailed, uploadFailed, retryUpload:
		e.Class = network.Transient
		if create {
			e.Class = network.Ambiguous
		}
	case mediaExpired:
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	case notReady, containerEarly:
		// The error is about the requested container, so it was not published.
		e.Class, e.RetryAt = network.Transient, time.Now().Add(5*time.Second)
	case mediaNotFound:
		// Not available yet, expired, or published: Publish reads the container's
		// state.
		if create {
			e.Class = network.Ambiguous
		}
	}
	container.RefineError(title, f, create, e)
}

// isRetryable reports whether a new container may succeed after one failed with
// this status ("Error: Media upload has failed with error code 2207082").
func isRetryable(status string) bool {
	for _, code := range []int{serverError, downloadTimeout, mediaExpired, createFailed, uploadFailed, retryUpload} {
		if strings.Contains(status, strconv.Itoa(code)) {
			return true
		}
	}
	return false
}
