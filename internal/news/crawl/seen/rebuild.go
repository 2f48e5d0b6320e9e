package seen

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/news/crawl"
)

// Rebuild is a new filter that is being filled.
type Rebuild struct {
	Generation string
	Chunks     uint64
}

// BeginRebuild prepares a filter for at least capacity URLs. The old one stays in
// force until Finish.
func (f *Filter) BeginRebuild(_ context.Context, capacity int64) Rebuild {
	return Rebuild{Generation: strings.ReplaceAll(uuid.NewString(), "-", ""), Chunks: chunksFor(max(2*capacity, minCapacity))}
}

// AddToRebuild puts names into a filter that is being rebuilt. Doing it twice does no
// harm.
func (f *Filter) AddToRebuild(ctx context.Context, r Rebuild, names []crawl.URLKey) error {
	_, err := f.addTo(ctx, layout{r.Generation, r.Chunks}, names)
	return err
}

// FinishRebuild puts the new filter in force and drops the old one. What was found
// while it was filled is missing from it: it counts as new once more, and
// Postgres knows better.
func (f *Filter) FinishRebuild(ctx context.Context, r Rebuild) error {
	before, err := f.Redis.GetSet(ctx, layoutKey, r.Generation+" "+strconv.FormatUint(r.Chunks, 10)).Result()
	if err != nil && err != redis.Nil { //nolint:errorlint // as go-redis gives it
		return fmt.Errorf("putting the filter in force: %w", err)
	}
	f.mu.Lock()
	f.current = layout{}
	f.mu.Unlock()
	old := layout{generation: "0", chunks: chunksFor(minCapacity)}
	if before != "" {
		if _, err := fmt.Sscanf(before, "%s %d", &old.generation, &old.chunks); err != nil {
			return fmt.Errorf("the old filter's layout %q cannot be read", before)
		}
	}
	if old.generation == r.Generation {
		return nil // tried before
	}
	for chunk := range old.chunks {
		if err := f.Redis.Unlink(ctx, old.key(chunk)).Err(); err != nil {
			return fmt.Errorf("dropping the old filter: %w", err)
		}
	}
	return nil
}
