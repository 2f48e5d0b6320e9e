package views

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// gather adds up the beginning of a log by page, and puts the sums on the lists
// of their shards. It is not mine when somebody else gathers.
func (c *Counter) gather(ctx context.Context, shard int) (mine bool, err error) {
	var all changes
	number, entries := "", 0
	for entries < mostEntries {
		var state *redis.StringCmd
		var lines *redis.StringSliceCmd
		_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			// In this order: nothing is gathered from a log that is newer than the number.
			state = p.HGet(ctx, tag(shard)+"state", "log")
			lines = p.LRange(ctx, tag(shard)+"log", int64(2*entries), int64(2*(entries+readAtOnce)-1))
			return nil
		})
		if err != nil && !errors.Is(err, redis.Nil) {
			return false, err
		}
		if entries > 0 && state.Val() != number {
			return false, nil
		}
		number = state.Val()
		said := lines.Val()
		for i := 0; i+1 < len(said); i += 2 {
			if err := all.addLogged(said[i], said[i+1]); err != nil {
				return false, err
			}
		}
		entries += len(said) / 2
		if len(said) < 2*readAtOnce {
			break
		}
	}
	if entries == 0 {
		return true, nil
	}
	args := []any{"gather", atoi(number), 2 * entries}
	for _, s := range all.sums() {
		if c.spread && s.tag != tag(shard) {
			args = append(args, "away", uuid.NewString()+s.tag+s.text)
			continue
		}
		args = append(args, s.tag, s.text)
	}
	cmds, err := c.runAll(ctx, c.flush, []scriptCall{{tag(shard) + "deltas", args}})
	if err != nil {
		return false, err
	}
	n, err := cmds[0].Int64()
	return n >= 0, err
}

// sum is what one call of the script folds.
type sum struct{ tag, text string }

// sums divides changes into such as one call folds, each of one shard.
func (cs *changes) sums() []sum {
	slices.SortStableFunc(cs.list, func(a, b *change) int { return strings.Compare(siteOf(a.page), siteOf(b.page)) })
	var sums []sum
	for rest := cs.list; len(rest) > 0; {
		n, tag := 0, rest[0].page[:tagLength]
		for n < len(rest) && n < mostPages && rest[n].page[:tagLength] == tag {
			n++
		}
		sums = append(sums, sum{tag, string(encodeChanges(rest[:n], true))})
		rest = rest[n:]
	}
	return sums
}

// carry brings sums to their shards. On one node a log has hits of all shards;
// what it still had when that became a cluster lies on the wrong node. A sum has
// an id by which its shard knows that it has come.
func (c *Counter) carry(ctx context.Context, shard int) error {
	away, err := c.redis.LRange(ctx, tag(shard)+"away", 0, -1).Result()
	if err != nil {
		return err
	}
	const idLength = 36 // of a UUID's text
	for _, one := range away {
		if len(one) < idLength+tagLength {
			return errDelta
		}
		id, to, text := one[:idLength], one[idLength:idLength+tagLength], one[idLength+tagLength:]
		if n, err := strconv.Atoi(to[2:4]); err != nil || to != tag(n) || n >= c.Shards() {
			return fmt.Errorf("%w: %q is no shard", errDelta, to)
		}
		if _, err := c.runAll(ctx, c.flush, []scriptCall{{to + "deltas", []any{"receive", id, text}}}); err != nil {
			return err
		}
		if err := c.redis.LRem(ctx, tag(shard)+"away", 1, one).Err(); err != nil {
			return err
		}
	}
	return nil
}
