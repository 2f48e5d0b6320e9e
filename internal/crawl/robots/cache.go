package robots

import (
	"context"
	"time"
)

// Entry is a robots.txt as a cache keeps it.
type Entry struct {
	Status           int // of the last answer; 0: none came
	Body             []byte
	Fetched          time.Time // when Body came, or its absence was told
	Expires          time.Time // when it is asked for again
	UnreachableSince time.Time // zero: the last attempt got an answer
}

// Store keeps entries beyond the memory of one process. Its methods may be
// called at the same time.
type Store interface {
	// LoadRobots returns the entry of an origin such as https://example.org,
	// and whether there is one.
	LoadRobots(ctx context.Context, origin string) (Entry, bool, error)
	SaveRobots(ctx context.Context, origin string, entry Entry) error
}

// Answer is what came of fetching a robots.txt. Redirects have been followed.
type Answer struct {
	Status     int // 0: no answer
	Body       []byte
	RetryAfter time.Duration // that the server asked for
}

// Source fetches the robots.txt of an origin. An error means that nothing was
// learned, such as when ctx ended; a server that cannot be reached is an Answer
// of status 0.
type Source func(ctx context.Context, origin string) (Answer, error)
