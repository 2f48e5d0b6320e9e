package counter

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/infra/redisclient"
)

//go:embed count.lua
var countSource string

//go:embed aggregate.lua
var aggregateSource string

//go:embed sweep.lua
var sweepSource string

//go:embed shard.lua
var shardSource string

//go:embed seed.lua
var seedSource string

//go:embed sketch.lua
var sketchSource string // in front of scripts that use it

// DefaultShards is the default number of shards. All keys of a shard are on one
// node of a Redis Cluster.
const DefaultShards = 16

// maxPageLength is the maximum length of a page name in bytes.
const maxPageLength = 200

// MaxVisitorID is the maximum visitor id that a site may declare. A page's
// bitmap takes up to an eighth of it in bytes.
const MaxVisitorID = 10_000_000

// maxHitsPerCall is the maximum number of hits per script call. A call blocks
// Redis for about a millisecond.
const maxHitsPerCall = 100

// Validation errors of hits.
var (
	ErrPage         = errors.New("page must have 1 to 200 bytes")
	ErrKind         = errors.New("kind must be view, click or conversion")
	ErrUniqueMethod = errors.New("unknown unique counting method")
	ErrVisitorID    = errors.New("visitor id must not exceed the site's max_id")
)

// errBadReply reports a mismatch between the scripts and this package.
var errBadReply = errors.New("unexpected reply of a script")

// Options configure a Counter.
type Options struct {
	Shards int              // 0: DefaultShards; at most 100; must be the same in all processes and must never change
	Now    func() time.Time // nil: time.Now; hits with a later time are clamped to it
	Meter  Meter            // optional
}

// Counter counts in Redis. It is safe for concurrent use.
type Counter struct {
	redis     redis.Cmdable
	isCluster bool // each script call may only use keys of one shard
	options   Options

	countScript, aggregateScript, sweepScript, shardScript, seedScript *redis.Script

	lastSweep sweepState
}

// FilteredHit is a hit that was filtered out.
type FilteredHit struct {
	Site   Site
	Page   string
	Reason string // such as "crawler" or "rate"
	At     time.Time
}

// New returns a counter for a single Redis or a Redis Cluster. The
// caller closes the client.
func New(client redis.Cmdable, o Options) *Counter {
	if o.Shards <= 0 {
		o.Shards = DefaultShards
	}
	o.Shards = min(o.Shards, maxShards)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Counter{
		redis: client, isCluster: redisclient.IsCluster(client), options: o,
		countScript: redis.NewScript(countSource), aggregateScript: redis.NewScript(sketchSource + aggregateSource),
		sweepScript: redis.NewScript(sweepSource),
		shardScript: redis.NewScript(shardSource), seedScript: redis.NewScript(sketchSource + seedSource),
	}
}

// Shards returns the number of shards, which are numbered from 0.
func (c *Counter) Shards() int { return c.options.Shards }

// Shard returns the shard of a page.
func (c *Counter) Shard(site uuid.UUID, page string) int {
	return shardOf(hashPage(site, page), c.options.Shards)
}

func (c *Counter) pageKey(site uuid.UUID, page string) string {
	return pageKey(c.Shard(site, page), site, page)
}

// Validate returns an error if a hit cannot be counted.
func (h Hit) Validate() error {
	switch {
	case h.Page == "" || len(h.Page) > maxPageLength:
		return ErrPage
	case h.Kind.code() < 0:
		return ErrKind
	case h.Site.UniqueMethod.letter() == 0:
		return ErrUniqueMethod
	case h.Site.UniqueMethod == Bitmap && h.Visitor.ID > min(h.Site.MaxID, MaxVisitorID):
		return ErrVisitorID
	}
	return nil
}

// Count counts hits in order. If one of them is invalid, nothing is written. If
// Redis fails, some of the hits may have been counted; it is safe to send them
// again within the site's window.
func (c *Counter) Count(ctx context.Context, hits []Hit) ([]Outcome, error) {
	for i, h := range hits {
		if err := h.Validate(); err != nil {
			return nil, fmt.Errorf("hit %d: %w", i, err)
		}
	}
	b := newBatch(c)
	for i := range hits {
		b.add(&hits[i])
	}
	return b.run(ctx)
}

// CountFiltered counts filtered hits by page, day and reason.
func (c *Counter) CountFiltered(ctx context.Context, hits []FilteredHit) error {
	b := newBatch(c)
	for i := range hits {
		if hits[i].Page == "" || len(hits[i].Page) > maxPageLength {
			return fmt.Errorf("hit %d: %w", i, ErrPage)
		}
		b.addFiltered(&hits[i])
	}
	_, err := b.run(ctx)
	return err
}

// scriptCall is one of several calls of a script.
type scriptCall struct {
	key  string // for routing in a cluster
	args []any
}

// runScripts calls a script several times in one round trip. It loads the
// script on nodes that don't have it, such as restarted or promoted ones.
func (c *Counter) runScripts(ctx context.Context, script *redis.Script, calls []scriptCall) ([]*redis.Cmd, error) {
	if len(calls) == 1 {
		cmd := script.Run(ctx, c.redis, []string{calls[0].key}, calls[0].args...)
		return []*redis.Cmd{cmd}, cmd.Err()
	}
	cmds := make([]*redis.Cmd, len(calls))
	_, _ = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, call := range calls {
			cmds[i] = p.EvalSha(ctx, script.Hash(), []string{call.key}, call.args...)
		}
		return nil
	})
	var missing []int
	for i, cmd := range cmds {
		if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 { // calls that failed with NOSCRIPT had no effect
		_, _ = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, i := range missing {
				cmds[i] = script.Eval(ctx, p, []string{calls[i].key}, calls[i].args...)
			}
			return nil
		})
	}
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return cmds, err
		}
	}
	return cmds, nil
}
