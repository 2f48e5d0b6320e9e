package crawler

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// loadSubscriptions loads the subscriptions to hubs of the domain's feeds.
func (r *run) loadSubscriptions(ctx context.Context) error {
	if r.Subscriptions == nil {
		return nil
	}
	all, err := r.Subscriptions.PushedFeeds(ctx, r.domain.ID)
	r.pushed = make(map[uuid.UUID]crawl.PushedFeed, len(all))
	for _, p := range all {
		r.pushed[p.ID] = p
	}
	return err
}

// minPollInterval is the minimum interval of a hub. A feed whose entries are delivered is
// still polled, because a delivery may be lost.
func (r *run) minPollInterval(id uuid.UUID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pushed[id].IsDelivering {
		return r.Policy.PushedInterval
	}
	return 0
}

// noteHubs follows the hubs that a fetched feed names. hasNews reports whether it had
// articles that no hub has delivered.
func (r *run) noteHubs(ctx context.Context, u crawl.URL, res *fetch.Result, hasNews bool) error {
	if r.Subscriptions == nil {
		return nil
	}
	r.mu.Lock()
	known, subscribed := r.pushed[u.ID]
	if hasNews && known.IsDelivering {
		known.IsDelivering = false
		r.pushed[u.ID] = known
	} else {
		hasNews = false
	}
	r.mu.Unlock()
	key := crawl.URLKey{DomainID: u.DomainID, ID: u.ID}
	if hasNews {
		if err := r.Subscriptions.Distrust(ctx, key); err != nil {
			return err
		}
	}
	links := discover.FindHubs(res.Header.Values("Link"), textOf(res), res.FinalURL)
	if len(links.Hubs) == 0 && !subscribed || subscribed && known.Topic == links.Self &&
		slices.Contains(links.Hubs, known.Hub) {
		return nil
	}
	return r.Subscriptions.NoteHubs(ctx, key, u.URL, links)
}

func textOf(res *fetch.Result) []byte {
	if res.Text != nil {
		return res.Text
	}
	return res.Body
}

// Delivery counts what a hub has delivered.
type Delivery struct {
	IsWanted  bool // there is an active seed on the domain
	Entries   int  // of the document
	Added     int  // articles that were added to the frontier
	Refreshed int  // updated articles that are due again
}

// maxRefreshed bounds the articles that a delivery makes due again.
const maxRefreshed = 100

// AddDelivered adds the new articles of a feed document in UTF-8 to the frontier, ahead of
// all others of the domain, and makes those due that were updated. It makes no request:
// the articles are fetched from their site, under its politeness rules. The links are
// selected as if the feed had been polled.
func (c *Crawler) AddDelivered(ctx context.Context, domain crawl.Domain, feed crawl.URL, doc []byte) (Delivery, error) {
	seeds, err := c.Seeds.ListActiveSeeds(ctx, domain.ID)
	if err != nil || len(seeds) == 0 {
		return Delivery{}, err
	}
	r := newRun(c, domain, seeds)
	out := Delivery{IsWanted: true}
	parsed, err := c.Parser.Parse(crawl.Feed, &fetch.Result{FinalURL: feed.URL, Text: doc, Started: time.Now()},
		domain.Rules, r.memo, true)
	if err != nil {
		return out, nil //nolint:nilerr // no feed: it has no entries
	}
	out.Entries = len(parsed.Links)
	found, _, err := r.selectLinks(ctx, feed, r.seeds[feed.SeedNumber], parsed.Links, Verdict{})
	if err != nil {
		return out, err
	}
	var refresh []crawl.UpdatedURL
	updated := map[weburl.URL]time.Time{}
	for _, l := range parsed.Links {
		updated[l.URL] = latest(l.Published, l.Modified)
	}
	for i := range found {
		if found[i].Kind != crawl.Article {
			continue
		}
		found[i].Rank = crawl.DeliveredRank
		if at := updated[found[i].URL]; !at.IsZero() && !at.After(time.Now()) && len(refresh) < maxRefreshed {
			refresh = append(refresh, crawl.UpdatedURL{ID: crawl.URLID(found[i].URL), At: at})
		}
	}
	if out.Added, err = r.addToFrontier(ctx, found); err != nil {
		return out, err
	}
	out.Refreshed, err = c.URLs.RefreshURLs(ctx, domain.ID, refresh)
	return out, err
}
