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

// Counting is a newsroom's counting of readers, as a process of the API has it.
type Counting struct {
	Counts    flush.Counts
	Counter   *counter.Counter
	Batcher   *counter.Batcher
	Directory *site.Directory
	Pulses    *pubsub.Pulses
	Intake    *ingest.Intake
}

// CountViews has the newsroom count its readers, for as long as the test runs.
func (n *Newsroom) CountViews(log io.Writer) *Counting {
	n.T.Helper()
	return n.CountViewsAt(n.RedisURL, log)
}

// CountViewsAt is CountViews in another Redis.
func (n *Newsroom) CountViewsAt(redisURL string, log io.Writer) *Counting {
	n.T.Helper()
	client := enginetest.RedisClient(n.T, redisURL)
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := &Counting{Counter: counter.New(client, counter.Options{}), Directory: &site.Directory{Store: n.Store, Sealer: n.Sealer, Log: logger},
		Pulses: pubsub.NewPulses(client, logger)}
	c.Counts = flush.Counts{Counter: c.Counter, Filtered: flush.Filtered{Counter: c.Counter, Store: n.Store}}
	c.Batcher = counter.NewBatcher(c.Counter)
	n.T.Cleanup(c.Batcher.Close)
	n.Must(c.Directory.Refresh(n.T.Context()))
	robots, err := botfilter.New()
	n.Must(err)
	tracker, err := ingest.NewTracker()
	n.Must(err)
	n.Sites.Changed = func(ctx context.Context) { n.Must(c.Directory.Refresh(ctx)) }
	c.Intake = &ingest.Intake{Sites: c.Directory, Counter: c.Batcher, Ledger: c.Counter, Listeners: c.Pulses,
		Visitors: &visitor.Identifier{Salts: visitor.NewSalts(client)}, Robots: robots, Rates: botfilter.NewRates(n.T.Context(), client),
		Referrers: dimensions.NewReferrers(), Log: logger, Tracker: tracker}
	return c
}

// Site makes a site of the newsroom's workspace.
func (n *Newsroom) Site(change ...func(*site.Site)) (made site.Site, secretKey string) {
	n.T.Helper()
	draft := site.Site{Name: "News", WindowSeconds: 1800, Uniques: counter.HyperLogLog, RateHits: site.DefaultHits, RateSeconds: 10,
		Visitors: site.Cookieless, PublicCounts: true}
	for _, f := range change {
		f(&draft)
	}
	made, key, _, err := n.Sites.Create(n.T.Context(), n.Owner, draft, idempotency.Key{})
	n.Must(err)
	return made, key.Reveal()
}
