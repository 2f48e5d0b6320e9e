package counter

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// appendLogInterval is how often nodes are asked whether they have started.
const appendLogInterval = time.Minute

// rewriteLogs has nodes rewrite their append-only file that have not done so since they
// started. If a crash cut off the file within a transaction, such as the writes of a
// script, the remains of it take effect when Redis starts the next time, although the
// script has been repeated (see redisaof); a rewritten file does not have them.
func (c *Counter) rewriteLogs(ctx context.Context) error {
	rewrite := func(ctx context.Context, node *redis.Client) error {
		info, err := node.InfoMap(ctx, "persistence").Result()
		if err != nil {
			return fmt.Errorf("read whether the append-only file was rewritten: %w", err)
		}
		p := info["Persistence"]
		if p["aof_enabled"] != "1" || p["aof_last_rewrite_time_sec"] != "-1" ||
			p["aof_rewrite_in_progress"] != "0" || p["aof_rewrite_scheduled"] != "0" {
			return nil
		}
		if err := node.BgRewriteAOF(ctx).Err(); err != nil {
			return fmt.Errorf("rewrite the append-only file after a start of Redis; allow its user INFO and "+
				"BGREWRITEAOF: %w", err)
		}
		return nil
	}
	switch client := c.redis.(type) {
	case *redis.Client:
		return rewrite(ctx, client)
	case *redis.ClusterClient:
		return client.ForEachMaster(ctx, rewrite)
	}
	return nil
}
