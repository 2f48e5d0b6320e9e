package counter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// sweepState is the minute of this process's last sweep.
type sweepState struct {
	mu     sync.Mutex
	minute int64
}

// sweepRankings removes what has left the rankings' windows, once a minute.
// Several processes may do so concurrently, because each step is an idempotent
// script.
func (c *Counter) sweepRankings(ctx context.Context) error {
	now := c.options.Now().Unix()
	c.lastSweep.mu.Lock()
	defer c.lastSweep.mu.Unlock()
	if c.lastSweep.minute == now/60 {
		return nil
	}
	for shard := range c.Shards() {
		sites, err := c.redis.ZRange(ctx, tag(shard)+"sites", 0, -1).Result()
		if err != nil {
			return fmt.Errorf("sweep the rankings: %w", err)
		}
		for _, site := range sites {
			if err := c.sweepSite(ctx, shard, site, now); err != nil {
				return fmt.Errorf("sweep the rankings: %w", err)
			}
		}
		idle := strconv.FormatInt(now/60-siteIdleMinutes, 10)
		if err := c.redis.ZRemRangeByScore(ctx, tag(shard)+"sites", "-inf", idle).Err(); err != nil {
			return fmt.Errorf("sweep the rankings: %w", err)
		}
	}
	c.lastSweep.minute = now / 60
	return nil
}

// siteIdleMinutes is the time without views after which a site's rankings have
// expired and it is not swept anymore.
const siteIdleMinutes = 3 * 24 * 60

// sweepBatchSize is the number of pages that one script call recalculates.
const sweepBatchSize = 200

func (c *Counter) sweepSite(ctx context.Context, shard int, site string, now int64) error {
	route := tag(shard) + "log"
	for more := int64(1); more > 0; {
		cmds, err := c.runScripts(ctx, c.sweepScript, []scriptCall{
			{route, []any{"minutes", site, now / 60, int64(nowHalfLife / time.Second)}},
		})
		if err != nil {
			return err
		}
		if more, err = cmds[0].Int64(); err != nil {
			return err
		}
	}
	meta, err := c.redis.HMGet(ctx, site+";meta", "q", "h").Result()
	if err != nil {
		return err
	}
	known, ok := meta[0].(string)
	if !ok {
		return nil
	}
	hour := currentHour(now, atoi(known))
	if swept, ok := meta[1].(string); ok && atoi(swept) >= hour {
		return nil
	}
	if err := c.sweepDay(ctx, route, site, hour); err != nil {
		return err
	}
	return c.redis.HSet(ctx, site+";meta", "h", hour).Err()
}

// sweepDay recalculates the ranking of the last 24 hours when a new hour has
// begun.
func (c *Counter) sweepDay(ctx context.Context, route, site string, hour int64) error {
	for cursor := uint64(0); ; {
		members, next, err := c.redis.ZScan(ctx, site+";day", cursor, "", sweepBatchSize).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		args := []any{"hours", site, hour}
		for i := 0; i < len(members); i += 2 {
			args = append(args, members[i])
		}
		if len(args) > 3 {
			if _, err := c.runScripts(ctx, c.sweepScript, []scriptCall{{route, args}}); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
