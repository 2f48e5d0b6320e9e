package views

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// DefaultShards is how many parts the keys are divided into. A part lies whole
// on one node of a Redis Cluster.
const DefaultShards = 16

// What a hit is refused for before anything of it is written.
var (
	ErrPage  = errors.New("a page's name has 1 to 200 bytes")
	ErrKind  = errors.New("a hit is a view, a click or a convert")
	ErrID    = errors.New("the visitor's id is larger than the site declared")
	ErrWay   = errors.New("unknown way of counting different visitors")
	errBatch = errors.New("the counting script answered with something else")
)

// Options for a Counter.
type Options struct {
	Shards int              // 0: DefaultShards; the same for all processes and for the life of the data
	Now    func() time.Time // nil: time.Now; hits that claim to be later are counted as of now
}

// Counter counts in Redis. It is safe for concurrent use.
type Counter struct {
	redis   redis.UniversalClient
	options Options
}

// FilteredHit is a hit that was not counted, and why.
type FilteredHit struct {
	Site   Site
	Page   string
	Reason string // a short word out of few, such as "bot" or "rate"
	At     time.Time
}

// New makes a counter over one Redis, a Redis Cluster or miniredis. The caller
// closes the client.
func New(client redis.UniversalClient, o Options) *Counter {
	if o.Shards == 0 {
		o.Shards = DefaultShards
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Counter{redis: client, options: o}
}

// Run folds what was counted into hours, days, dimensions and rankings, once a
// second, until ctx ends. Any number of processes may run it; what it has not
// reached waits in Redis.
func (c *Counter) Run(ctx context.Context) { <-ctx.Done() }

// Fold does once what Run does every second.
func (c *Counter) Fold(context.Context) error { return nil }

// Check says whether a hit can be counted.
func (c *Counter) Check(Hit) error { return nil }

// Count counts hits, in order. When it fails, none, some or all of them may
// have been counted; a hit that is counted again within the site's window
// changes nothing.
func (c *Counter) Count(context.Context, []Hit) ([]Outcome, error) { return nil, errBatch }

// Filtered counts hits that the filter refused, by page, day and reason.
func (c *Counter) Filtered(context.Context, []FilteredHit) error { return errBatch }

// Shards is how many parts the keys are divided into; they are numbered from 0.
func (c *Counter) Shards() int { return c.options.Shards }

// Shard is the part that a page belongs to.
func (c *Counter) Shard(uuid.UUID, string) int { return 0 }
