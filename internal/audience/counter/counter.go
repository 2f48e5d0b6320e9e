package counter

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

//go:embed count.lua
var countSource string

//go:embed fold.lua
var aggregateSource string

//go:embed sweep.lua
var sweepSource string

//go:embed flush.lua
var shardSource string

//go:embed seed.lua
var seedSource string

// DefaultShards is how many parts the keys are divided into. A part lies whole
// on one node of a Redis Cluster.
const DefaultShards = 16

// maxPageLength is how long the name of a page may be, in bytes.
const maxPageLength = 200

// MaxVisitorID is the largest visitor id that a site may declare: a page's bitmap
// takes an eighth of it in bytes.
const MaxVisitorID = 10_000_000

// maxHitsPerCall is how many hits one script call counts. Nothing else runs in Redis
// meanwhile: about a millisecond.
const maxHitsPerCall = 100

// What a hit is refused for before anything is written.
var (
	ErrPage         = errors.New("a page's name has 1 to 200 bytes")
	ErrKind         = errors.New("a hit is a view, a click or a convert")
	ErrUniqueMethod = errors.New("there is no such way of counting different visitors")
	ErrVisitorID    = errors.New("the visitor's id is larger than the site declared")
)

// errBadReply should never be seen: it says that the scripts and this code
// disagree.
var errBadReply = errors.New("a counting script gave an answer that makes no sense")

// Options for a Counter.
type Options struct {
	Shards int              // 0: DefaultShards; at most 100; the same in all processes and for the life of the data
	Now    func() time.Time // nil: time.Now; hits that claim to be later are counted as of now
	Meter  Meter            // nil: nobody wants to know
}

// Counter counts in Redis. It is safe for concurrent use.
type Counter struct {
	redis     redis.UniversalClient
	isCluster bool // over the nodes of a cluster: a script sees one shard only
	options   Options

	countScript, aggregateScript, sweepScript, shardScript, seedScript *redis.Script

	lastSweep sweepState
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
	if o.Shards <= 0 {
		o.Shards = DefaultShards
	}
	o.Shards = min(o.Shards, maxShards)
	if o.Now == nil {
		o.Now = time.Now
	}
	_, spread := client.(*redis.ClusterClient)
	return &Counter{redis: client, isCluster: spread, options: o,
		countScript: redis.NewScript(countSource), aggregateScript: redis.NewScript(aggregateSource), sweepScript: redis.NewScript(sweepSource),
		shardScript: redis.NewScript(shardSource), seedScript: redis.NewScript(seedSource)}
}

// Shards is how many parts the keys are divided into; they are numbered from 0.
func (c *Counter) Shards() int { return c.options.Shards }

// Shard is the part that a page belongs to.
func (c *Counter) Shard(site uuid.UUID, page string) int {
	return shardOf(hashPage(site, page), c.options.Shards)
}

func (c *Counter) pageKey(site uuid.UUID, page string) string {
	return pageKey(c.Shard(site, page), site, page)
}

// Validate says whether a hit can be counted.
func (c *Counter) Validate(h Hit) error {
	switch {
	case h.Page == "" || len(h.Page) > maxPageLength:
		return ErrPage
	case h.Kind.letter() == 0:
		return ErrKind
	case h.Site.UniqueMethod.letter() == 0:
		return ErrUniqueMethod
	case h.Site.UniqueMethod == Bitmap && h.Visitor.ID > min(h.Site.MaxID, MaxVisitorID):
		return ErrVisitorID
	}
	return nil
}

// Count counts hits, in order. A hit that Check refuses fails the whole call
// before anything is written. When Redis fails, none, some or all of them may
// have been counted; a hit that is sent again within the site's window is not
// counted again.
func (c *Counter) Count(ctx context.Context, hits []Hit) ([]Outcome, error) {
	for i, h := range hits {
		if err := c.Validate(h); err != nil {
			return nil, fmt.Errorf("hit %d: %w", i, err)
		}
	}
	b := c.newBatch()
	for i := range hits {
		b.add(&hits[i])
	}
	return b.run(ctx)
}

// CountFiltered counts hits that the filter refused, by page, day and reason.
func (c *Counter) CountFiltered(ctx context.Context, hits []FilteredHit) error {
	b := c.newBatch()
	for i := range hits {
		if hits[i].Page == "" || len(hits[i].Page) > maxPageLength {
			return fmt.Errorf("hit %d: %w", i, ErrPage)
		}
		b.addFiltered(&hits[i])
	}
	_, err := b.run(ctx)
	return err
}

// scriptCall is one call of a script among several.
type scriptCall struct {
	key  string // routes it in a cluster
	args []any
}

// runScripts calls a script several times in one round trip. A node that does not
// know the script, because it has been started or promoted since, is given it.
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
	var unknown []int
	for i, cmd := range cmds {
		if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) > 0 { // NOSCRIPT says that the call did nothing
		_, _ = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, i := range unknown {
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
