// Package container publishes in two steps, as Instagram and Threads do: the
// network is given all of a post as a container, which one further call shows
// to the world. The container is what the promise never to publish twice rests
// on: it says whether it was published, and is never published twice.
package container

import (
	"encoding/json"
	"time"

	"dateline/platforms/network"
)

// State is how far a container is.
type State string

// The states, as both networks call them.
// https://developers.facebook.com/docs/instagram-platform/content-publishing
// https://developers.facebook.com/docs/threads/troubleshooting
const (
	InProgress State = "IN_PROGRESS"
	Finished   State = "FINISHED"
	Published  State = "PUBLISHED"
	Failed     State = "ERROR"
	Expired    State = "EXPIRED"
)

// Status is what a network says of a container.
type Status struct {
	State     State
	Detail    string // of Failed, in the network's words
	Retryable bool   // of Failed: a new container may do better
}

// containerTTL is an hour less than containers live unpublished.
const containerTTL = 23 * time.Hour

// part is one container.
type part struct {
	ID     string `json:"id"`
	Upload bool   `json:"upload,omitempty"` // its bytes are not there yet
	Done   bool   `json:"done,omitempty"`   // processed
}

// handle is what network.Prepared keeps of a post.
type handle struct {
	Main      *part     `json:"whole,omitempty"` // what is published
	Items     []part    `json:"items,omitempty"` // of a carousel, in order
	CreatedAt time.Time `json:"made"`
}

func parse(text string) (handle, error) {
	h := handle{CreatedAt: time.Now().UTC().Truncate(time.Second)}
	if text == "" {
		return h, nil
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return handle{}, &network.Error{Class: network.Rejected, Code: "bad_handle",
			Message: "What was kept of the prepared post cannot be read. Edit the post, so that it is prepared anew.", Err: err}
	}
	return h, nil
}

func (h handle) String() string {
	text, _ := json.Marshal(h) // never fails: strings, booleans, a time
	return string(text)
}

// ID returns the container that a handle publishes.
func ID(text string) (string, error) {
	h, err := parse(text)
	if err != nil {
		return "", err
	}
	if h.Main == nil || h.Main.ID == "" {
		return "", &network.Error{Class: network.NotSent, Code: "not_prepared", Message: "The post was not prepared at the network yet."}
	}
	return h.Main.ID, nil
}

// check turns a status that lets nobody publish into an error; nil for the
// others.
func (s Status) check(name string) *network.Error {
	switch {
	case s.State == Expired:
		return &network.Error{Class: network.Transient, Code: network.CodeMediaExpired,
			Message: name + " has dropped the prepared post, as it does after a day. It is prepared anew."}
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
