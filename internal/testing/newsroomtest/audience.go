package newsroomtest

import (
	"context"
	"io"
	"log/slog"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
	"dateline/internal/audience/visitor"
	"dateline/internal/infra/idempotency"
	"dateline/internal/notify/pubsub"
	"dateline/internal/testing/enginetest"
)

// Audience is a newsroom's view counting, as in an API process.
type Audience struct {
	Counts    flush.Counts
	Counter   *counter.Counter
	Batcher   *counter.Batcher
	Directory *site.Directory
	Signals   *pubsub.SiteSignals
	Ingest    *ingest.Handler
}

// CountViews starts view counting for the duration of the test.
func (n *Newsroom) CountViews(log io.Writer) *Audience {
	n.T.Helper()
	return n.CountViewsAt(n.RedisURL, log)
}

// CountViewsAt is CountViews with another Redis.
func (n *Newsroom) CountViewsAt(redisURL string, log io.Writer) *Audience {
	n.T.Helper()
	client := enginetest.RedisClient(n.T, redisURL)
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := &Audience{
		Counter: counter.New(client, counter.Options{}), Directory: &site.Directory{
			Store: n.Store.Audience.Sites, Sealer: n.Sealer, Log: logger,
		},
		Signals: pubsub.NewSiteSignals(client, logger),
	}
	c.Counts = flush.Counts{
		Counter: c.Counter, FilteredReader: flush.FilteredReader{Counter: c.Counter, Store: n.Store.Audience.Views},
		EngagementReader: n.Store.Audience.Views,
	}
	c.Batcher = counter.NewBatcher(c.Counter)
	n.T.Cleanup(c.Batcher.Close)
	n.Must(c.Directory.Refresh(n.T.Context()))
	robots, err := botfilter.New()
	n.Must(err)
	tracker, err := ingest.NewTracker()
	n.Must(err)
	directory := c.Directory
	n.Sites.OnChange = func(ctx context.Context) { n.Must(directory.Refresh(ctx)) }
	c.Ingest = &ingest.Handler{
		Sites: c.Directory, Counter: c.Batcher, Bulk: c.Counter, Notifier: c.Signals,
		Visitors: &visitor.Identifier{Salts: visitor.NewSalts(client)}, Bots: robots,
		RateLimiter: botfilter.NewRateLimiter(n.T.Context(), client),
		Referrers:   dimensions.NewReferrers(), Log: logger, Tracker: tracker,
	}
	return c
}

// Site creates a site in the newsroom's workspace.
func (n *Newsroom) Site(change ...func(*site.Site)) (made site.Site, secretKey string) {
	n.T.Helper()
	draft := site.Site{
		Name: "News", WindowSeconds: 1800, UniqueMethod: counter.HyperLogLog,
		RateHits: site.DefaultRateHits, RateSeconds: 10,
		Visitors: site.Cookieless, PublicCounts: true,
	}
	for _, f := range change {
		f(&draft)
	}
	made, key, _, err := n.Sites.Create(n.T.Context(), n.Owner, draft, idempotency.Key{})
	n.Must(err)
	return made, key.Reveal()
}
