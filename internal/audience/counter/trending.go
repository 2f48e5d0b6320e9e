package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Ranking is an ordering of a site's pages.
type Ranking string

// The rankings. They are maintained continuously; reading one only merges the
// top pages of each shard.
const (
	TrendingNow  Ranking = "now"    // views with exponential decay, half-life ten minutes
	TrendingHour Ranking = "hour"   // views of the last 60 clock minutes, including the current one
	TrendingDay  Ranking = "day"    // views of the last 24 clock hours, including the current one
	Rising       Ranking = "rising" // ratio of current views to those of the last 24 hours
)

// ErrRanking reports an unknown ranking.
var ErrRanking = errors.New("ranking must be now, hour, day or rising")

// RankedPage is a page with its score in a ranking.
type RankedPage struct {
	Page string
	// Score is the number of views; decayed for TrendingNow. For Rising it is
	// roughly the factor by which current views exceed the usual ones.
	Score float64
}

// Trending reads the top pages of a ranking, best first.
func (c *Counter) Trending(ctx context.Context, site uuid.UUID, r Ranking, limit int) ([]RankedPage, error) {
	ending := map[Ranking]string{TrendingNow: ";now", TrendingHour: ";hour", TrendingDay: ";day", Rising: ";rise"}[r]
	if ending == "" {
		return nil, ErrRanking
	}
	if limit <= 0 {
		return nil, nil
	}
	now := c.options.Now()
	// The top pages are usually spread over the shards, so a few of each suffice. A
	// shard whose pages all made it is read again up to the limit.
	perShard := min(limit, limit/c.Shards()*2+6)
	shards := make([]int, c.Shards())
	for i := range shards {
		shards[i] = i
	}
	var all []RankedPage
	for len(shards) > 0 {
		parts, err := c.readRankings(ctx, site, r, ending, shards, perShard, now)
		if err != nil {
			return nil, fmt.Errorf("read a ranking: %w", err)
		}
		for _, part := range parts {
			all = append(all, part...)
		}
		slices.SortFunc(all, func(a, b RankedPage) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Page, b.Page))
		})
		all = slices.CompactFunc(all, func(a, b RankedPage) bool { return a.Page == b.Page })
		if perShard == limit {
			break
		}
		var again []int
		for i, part := range parts {
			if len(part) == perShard && (len(all) < limit || part[perShard-1].Score >= all[limit-1].Score) {
				again = append(again, shards[i])
				all = slices.DeleteFunc(all, func(r RankedPage) bool { return c.Shard(site, r.Page) == shards[i] })
			}
		}
		shards, perShard = again, limit
	}
	return all[:min(limit, len(all))], nil
}

// RecentMinutes is the number of clock minutes that RecentViews counts,
// including the current one.
const RecentMinutes = 5

// RecentViews returns the views of each page in the last RecentMinutes.
func (c *Counter) RecentViews(ctx context.Context, site uuid.UUID, pages []string) ([]int64, error) {
	minute := c.options.Now().Unix() / 60
	q := c.newPageQueries()
	counts := make([][RecentMinutes]*redis.StringCmd, len(pages))
	for i, page := range pages {
		key := siteKey(c.Shard(site, page), site)
		for ago := range counts[i] {
			counts[i][ago] = q.pipe.HGet(ctx, key+";m"+strconv.FormatInt(minute-int64(ago), 10), page)
		}
	}
	if err := q.run(ctx); err != nil {
		return nil, fmt.Errorf("read recent views: %w", err)
	}
	recent := make([]int64, len(pages))
	for i := range counts {
		for _, one := range counts[i] {
			recent[i] += atoi(one.Val())
		}
	}
	return recent, nil
}

// readRankings reads the top n pages of a ranking in each of the shards.
func (c *Counter) readRankings(
	ctx context.Context, site uuid.UUID, r Ranking, ending string, shards []int, n int, now time.Time,
) ([][]RankedPage, error) {
	references := make([]*redis.StringCmd, len(shards))
	pages := make([]*redis.ZSliceCmd, len(shards))
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range shards {
			key := siteKey(shard, site)
			if r == TrendingNow || r == Rising {
				references[i] = p.HGet(ctx, key+";meta", "f")
			}
			pages[i] = p.ZRevRangeWithScores(ctx, key+ending, 0, int64(n-1))
		}
		return nil
	}); err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	parts := make([][]RankedPage, len(shards))
	for i := range shards {
		factor := 1.0
		if references[i] != nil {
			factor = scoreFactor(r, atoi(references[i].Val()), now)
		}
		for _, z := range pages[i].Val() {
			page, _ := z.Member.(string)
			parts[i] = append(parts[i], RankedPage{page, z.Score * factor})
		}
	}
	return parts, nil
}

// scoreFactor returns the factor that converts stored scores, which are relative to a
// reference time, to current ones.
func scoreFactor(r Ranking, reference int64, now time.Time) float64 {
	factor := math.Exp2(-(float64(now.Unix()) - float64(reference)) / nowHalfLife.Seconds())
	if r == Rising {
		// With steady views, a day has more of them than the ranking of current views.
		factor *= (24 * time.Hour).Seconds() * math.Ln2 / nowHalfLife.Seconds()
	}
	return factor
}
