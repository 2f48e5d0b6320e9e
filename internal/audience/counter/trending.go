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

// Ranking is an order of a site's pages.
type Ranking string

// The rankings. All are kept ready; reading one computes nothing but the order
// among the first of each shard.
const (
	TrendingNow  Ranking = "now"    // views weigh half as much every ten minutes
	TrendingHour Ranking = "hour"   // exactly the last 60 minutes on the clock, this one included
	TrendingDay  Ranking = "day"    // exactly the last 24 hours on the clock, this one included
	Rising       Ranking = "rising" // views now against views of the last hours
)

// ErrRanking says that there is no such ranking.
var ErrRanking = errors.New("rankings are now, hour, day and rising")

// RankedPage is a page's place in a ranking.
type RankedPage struct {
	Page string
	// Score is, by TrendingNow, the views, those of ten minutes ago by half; by
	// TrendingHour and TrendingDay, the views; by Rising, about how many times
	// its usual views a page has.
	Score float64
}

// Trending reads the first pages of a ranking, best first.
func (c *Counter) Trending(ctx context.Context, site uuid.UUID, r Ranking, limit int) ([]RankedPage, error) {
	ending := map[Ranking]string{TrendingNow: ";now", TrendingHour: ";hour", TrendingDay: ";day", Rising: ";rise"}[r]
	if ending == "" {
		return nil, ErrRanking
	}
	if limit <= 0 {
		return nil, nil
	}
	now := c.options.Now()
	// Most of the time the first pages are spread over the shards: a few of
	// each will do. A shard all of whose few belong to them is asked again.
	few := min(limit, limit/c.Shards()*2+6)
	shards := make([]int, c.Shards())
	for i := range shards {
		shards[i] = i
	}
	var all []RankedPage
	for len(shards) > 0 {
		parts, err := c.readRankings(ctx, site, r, ending, shards, few, now)
		if err != nil {
			return nil, fmt.Errorf("read what trends: %w", err)
		}
		for _, part := range parts {
			all = append(all, part...)
		}
		slices.SortFunc(all, func(a, b RankedPage) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Page, b.Page))
		})
		all = slices.CompactFunc(all, func(a, b RankedPage) bool { return a.Page == b.Page })
		if few == limit {
			break
		}
		var again []int
		for i, part := range parts {
			if len(part) == few && (len(all) < limit || part[few-1].Score >= all[limit-1].Score) {
				again = append(again, shards[i])
				all = slices.DeleteFunc(all, func(r RankedPage) bool { return c.Shard(site, r.Page) == shards[i] })
			}
		}
		shards, few = again, limit
	}
	return all[:min(limit, len(all))], nil
}

// RecentMinutes is how far back Recent counts, on the clock, the current minute
// included.
const RecentMinutes = 5

// RecentViews returns how many views each page had in the last RecentMinutes.
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

// readRankings reads the first n of a ranking in each of some shards.
func (c *Counter) readRankings(ctx context.Context, site uuid.UUID, r Ranking, ending string, shards []int, n int, now time.Time) ([][]RankedPage, error) {
	landmarks := make([]*redis.SliceCmd, len(shards))
	pages := make([]*redis.ZSliceCmd, len(shards))
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range shards {
			key := siteKey(shard, site)
			if r == TrendingNow || r == Rising {
				landmarks[i] = p.HMGet(ctx, key+";meta", "f", "s")
			}
			pages[i] = p.ZRevRangeWithScores(ctx, key+ending, 0, int64(n-1))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	parts := make([][]RankedPage, len(shards))
	for i := range shards {
		factor := 1.0
		if landmarks[i] != nil {
			factor = scoreFactor(r, landmarks[i].Val(), now)
		}
		for _, z := range pages[i].Val() {
			page, _ := z.Member.(string)
			parts[i] = append(parts[i], RankedPage{page, z.Score * factor})
		}
	}
	return parts, nil
}

// scoreFactor turns a score, which is reckoned from landmarks, into one as of now.
func scoreFactor(r Ranking, landmarks []any, now time.Time) float64 {
	since := func(i int, half time.Duration) float64 {
		if i >= len(landmarks) {
			return 0
		}
		s, _ := landmarks[i].(string)
		return (float64(now.Unix()) - float64(atoi(s))) / half.Seconds()
	}
	fast := since(0, fastHalfLife)
	if r == TrendingNow {
		return math.Exp2(-fast)
	}
	// A page whose views are steady has half-lives' ratio times more in the
	// slow ranking.
	return math.Exp2(since(1, slowHalfLife)-fast) * slowHalfLife.Seconds() / fastHalfLife.Seconds()
}
