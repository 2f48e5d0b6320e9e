package llm

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisCache keeps answers for a week. While Redis is away, questions are asked
// again.
type RedisCache struct{ Redis redis.UniversalClient }

const cacheAge = 7 * 24 * time.Hour

func cacheKey(key string) string { return "dateline:model:" + key }

// Get implements Cache.
func (c RedisCache) Get(ctx context.Context, key string) ([]byte, bool) {
	answer, err := c.Redis.Get(ctx, cacheKey(key)).Bytes()
	return answer, err == nil
}

// Put implements Cache.
func (c RedisCache) Put(ctx context.Context, key string, answer []byte) {
	c.Redis.Set(ctx, cacheKey(key), answer, cacheAge)
}
