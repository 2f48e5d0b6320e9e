package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/robots"
	"dateline/internal/news/crawl/weburl"
)

// SiteRobots applies each site's robots.txt.
type SiteRobots struct {
	cache *robots.Cache
}

// NewRobots returns the robots.txt rules for a crawler with the product token;
// get is Crawler.FetchRobots.
func NewRobots(
	product string, store robots.Store, get func(ctx context.Context, address string) (*fetch.Result, error),
) *SiteRobots {
	return &SiteRobots{robots.NewCache(robots.Options{
		Product: product, Store: store,
		Source: func(ctx context.Context, origin string) (robots.Response, error) {
			res, err := get(ctx, origin+"/robots.txt")
			if err != nil {
				return robots.Response{}, err
			}
			response := robots.Response{Status: res.Status, Body: res.Body, RetryAfter: res.RetryAfter}
			switch res.Outcome {
			case fetch.OK, fetch.NotFound, fetch.ClientError, fetch.Throttled, fetch.ServerError:
			case fetch.Trap, fetch.WrongType, fetch.TooBig:
				response.Status = 404 // unreadable counts as missing
			case fetch.BlockedAddress, fetch.Invalid:
				response.Status = 404 // the page itself is blocked for the same reason
			default:
				response.Status = 0
			}
			if response.Status > 0 && response.Status < 500 && response.Status != http.StatusTooManyRequests {
				if slot, ok := ctx.Value(admissionKey{}).(*admission); ok && response.Status < 300 {
					slot.minPause = max(slot.minPause,
						slot.run.requestDelay(robots.Parse(response.Body).For(product).CrawlDelay))
				}
				response.TDM, response.HasTDM, err = fetchTDM(ctx, origin, get)
			}
			return response, err
		},
	})}
}

// fetchTDM fetches the tdmrep.json of an origin. known is false if the site did not
// answer, or not in time for the page that is waiting.
func fetchTDM(
	ctx context.Context, origin string, get func(ctx context.Context, address string) (*fetch.Result, error),
) (body []byte, known bool, err error) {
	res, err := get(ctx, origin+robots.TDMPath)
	if ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errBusy)) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	switch res.Outcome {
	case fetch.OK:
		return res.Body, true, nil
	case fetch.NotFound, fetch.ClientError, fetch.Trap, fetch.WrongType, fetch.TooBig:
		return nil, true, nil
	}
	return nil, false, nil
}

// outcome is that of a request that is not allowed.
func (v Verdict) outcome() fetch.Outcome {
	switch {
	case !v.RobotsUnreachable:
		return fetch.BlockedByRobots
	case v.RobotsStatus == http.StatusTooManyRequests:
		return fetch.Throttled
	case v.RobotsStatus >= http.StatusInternalServerError:
		return fetch.ServerError
	}
	return fetch.Unreachable
}

// Check implements Robots.
func (s *SiteRobots) Check(ctx context.Context, u weburl.URL) (Verdict, error) {
	policy, err := s.cache.Get(ctx, u.Origin())
	if err != nil {
		return Verdict{}, err
	}
	v := policy.Check(u.RequestURI())
	out := Verdict{
		Allowed: v.Allowed, RobotsUnreachable: !v.Allowed && !policy.Reachable, Reason: v.Rule,
		CrawlDelay: policy.CrawlDelay, Sitemaps: policy.Sitemaps,
	}
	if out.RobotsUnreachable {
		out.RobotsStatus, out.RetryAfter = policy.Status, max(time.Until(policy.ExpiresAt), 0)
	}
	if rule, ok := policy.TDM.For(u.RequestURI()); ok {
		out.TDM = &rule
	}
	return out, nil
}

// RobotsCache shares robots.txt files between workers in Redis. A failed write
// only costs another fetch.
type RobotsCache struct {
	Redis redis.Cmdable
}

func robotsKey(origin string) string { return "crawl:robots:" + origin }

// LoadRobots implements robots.Store.
func (s RobotsCache) LoadRobots(ctx context.Context, origin string) (entry robots.Entry, ok bool, err error) {
	raw, err := s.Redis.Get(ctx, robotsKey(origin)).Bytes()
	if err != nil || json.Unmarshal(raw, &entry) != nil {
		return robots.Entry{}, false, ctx.Err()
	}
	return entry, true, nil
}

// SaveRobots implements robots.Store.
func (s RobotsCache) SaveRobots(ctx context.Context, origin string, entry robots.Entry) error {
	raw, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	// Longer than it is fresh: a stale robots.txt applies while the site is
	// down.
	if err := s.Redis.Set(ctx, robotsKey(origin), raw, 40*24*time.Hour).Err(); err != nil &&
		errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return nil
}
