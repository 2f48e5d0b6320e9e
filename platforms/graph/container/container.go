// Package container publishes in two steps, as Instagram and Threads do: a
// container with the whole post is created first, and one further call publishes
// it.
//
// The container is what prevents duplicates: its state says whether it was
// published, and it cannot be published twice. An adapter implements [Builder]
// for its network and calls [Prepare], [ResolveRefusal] and [Reconcile].
package container

import (
	"encoding/json"
	"time"

	"dateline/platforms/network"
)

// State is the state of a container.
type State string

// The states, as both networks name them.
// https://developers.facebook.com/docs/instagram-platform/content-publishing
// https://developers.facebook.com/docs/threads/troubleshooting
const (
	InProgress State = "IN_PROGRESS"
	Finished   State = "FINISHED"
	Published  State = "PUBLISHED"
	Failed     State = "ERROR"
	Expired    State = "EXPIRED"
)

// Status is what a network reports about a container.
type Status struct {
	State     State
	Detail    string // of Failed: the network's message
	Retryable bool   // of Failed: a new container may succeed
}

// containerTTL is an hour less than the time for which unpublished containers
// exist.
const containerTTL = 23 * time.Hour

// part is one container of a post.
type part struct {
	ID     string `json:"id"`
	Upload bool   `json:"upload,omitempty"` // its bytes are not uploaded yet
	Done   bool   `json:"done,omitempty"`   // processed
}

// handle is the content of network.Prepared.Handle.
type handle struct {
	Main      *part     `json:"main,omitempty"`  // the container that is published
	Items     []part    `json:"items,omitempty"` // items of a carousel, in order
	CreatedAt time.Time `json:"created_at"`
}

func parse(text string) (handle, error) {
	h := handle{CreatedAt: time.Now().UTC().Truncate(time.Second)}
	if text == "" {
		return h, nil
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return handle{}, &network.Error{
			Class: network.Rejected, Code: "bad_handle",
			Message: "The state of the prepared post is invalid. Edit the post to prepare it again.", Err: err,
		}
	}
	return h, nil
}

func (h handle) String() string {
	text, _ := json.Marshal(h) // cannot fail: strings, booleans, a time
	return string(text)
}

// ID returns the container that a handle publishes.
func ID(text string) (string, error) {
	h, err := parse(text)
	if err != nil {
		return "", err
	}
	if h.Main == nil || h.Main.ID == "" {
		return "", &network.Error{
			Class: network.NotSent, Code: "not_prepared", Message: "The post is not prepared at the network yet.",
		}
	}
	return h.Main.ID, nil
}

// check returns the error for a state that cannot be published; nil for other
// states.
func (s Status) check(name string) *network.Error {
	switch {
	case s.State == Expired:
		return &network.Error{
			Class: network.Transient, Code: network.CodeMediaExpired,
			Message: name + " deleted the prepared post, as it does after a day. It is prepared again.",
		}
	case s.State == Failed && s.Retryable:
		return &network.Error{Class: network.Transient, Code: network.CodeMediaExpired, Message: s.message(name)}
	case s.State == Failed:
		return &network.Error{Class: network.Rejected, Code: "processing_failed", Message: s.message(name)}
	}
	return nil
}

func (s Status) message(name string) string {
	if s.Detail == "" {
		return name + " could not process the post."
	}
	return name + " could not process the post: " + s.Detail
}
