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

// BeginRebuild prepares a filter for at least capacity URLs. The old filter
// stays active until FinishRebuild.
func (f *Filter) BeginRebuild(_ context.Context, capacity int64) Rebuild {
	return Rebuild{
		Generation: strings.ReplaceAll(uuid.NewString(), "-", ""),
		Chunks:     chunksFor(max(2*capacity, minCapacity)),
	}
}

// AddToRebuild adds URLs to the new filter. It is idempotent.
func (f *Filter) AddToRebuild(ctx context.Context, r Rebuild, names []crawl.URLKey) error {
	_, err := f.addTo(ctx, layout{r.Generation, r.Chunks}, names)
	return err
}

// FinishRebuild activates the new filter and deletes the old one. URLs
// discovered during the rebuild are missing from it: they count as new once
// more, and Postgres corrects that.
func (f *Filter) FinishRebuild(ctx context.Context, r Rebuild) error {
	previous, err := f.Redis.GetSet(ctx, layoutKey, r.Generation+" "+strconv.FormatUint(r.Chunks, 10)).Result()
	if err != nil && err != redis.Nil { //nolint:errorlint // go-redis returns it unwrapped
		return fmt.Errorf("activate the filter: %w", err)
	}
	f.mu.Lock()
	f.current = layout{}
	f.mu.Unlock()
	old := layout{generation: "0", chunks: chunksFor(minCapacity)}
	if previous != "" {
		if _, err := fmt.Sscanf(previous, "%s %d", &old.generation, &old.chunks); err != nil {
			return fmt.Errorf("parse the old filter's layout %q", previous)
		}
	}
	if old.generation == r.Generation {
		return nil // a retry
	}
	for chunk := range old.chunks {
		if err := f.Redis.Unlink(ctx, old.key(chunk)).Err(); err != nil {
			return fmt.Errorf("delete the old filter: %w", err)
		}
	}
	return nil
}
