package newsroomtest

import (
	"context"
	"io"
	"log/slog"

	"dateline/internal/enginetest"
	"dateline/internal/idempotency"
	"dateline/internal/intake"
	"dateline/internal/live"
	"dateline/internal/site"
	"dateline/internal/tally"
	"dateline/internal/views"
	"dateline/internal/views/bots"
	"dateline/internal/views/dims"
	"dateline/internal/views/visitor"
)

// Counting is a newsroom's counting of readers, as a process of the API has it.
type Counting struct {
	Counts    tally.Counts
	Counter   *views.Counter
	Batcher   *views.Batcher
	Directory *site.Directory
	Pulses    *live.Pulses
	Intake    *intake.Intake
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
	c := &Counting{Counter: views.New(client, views.Options{}), Directory: &site.Directory{Store: n.Store, Sealer: n.Sealer, Log: logger},
		Pulses: live.NewPulses(client, logger)}
	c.Counts = tally.Counts{Counter: c.Counter, Filtered: tally.Filtered{Counter: c.Counter, Store: n.Store}}
	c.Batcher = views.NewBatcher(c.Counter)
	n.T.Cleanup(c.Batcher.Close)
	n.Must(c.Directory.Refresh(n.T.Context()))
	robots, err := bots.New()
	n.Must(err)
	tracker, err := intake.NewTracker()
	n.Must(err)
	n.Sites.Changed = func(ctx context.Context) { n.Must(c.Directory.Refresh(ctx)) }
	c.Intake = &intake.Intake{Sites: c.Directory, Counter: c.Batcher, Ledger: c.Counter, Listeners: c.Pulses,
		Visitors: &visitor.Identifier{Salts: visitor.NewSalts(client)}, Robots: robots, Rates: bots.NewRates(n.T.Context(), client),
		Referrers: dims.NewReferrers(), Log: logger, Tracker: tracker}
	return c
}

// Site makes a site of the newsroom's workspace.
func (n *Newsroom) Site(change ...func(*site.Site)) (made site.Site, secretKey string) {
	n.T.Helper()
	draft := site.Site{Name: "News", WindowSeconds: 1800, Uniques: views.HyperLogLog, RateHits: site.DefaultHits, RateSeconds: 10,
		Visitors: site.Cookieless, PublicCounts: true}
	for _, f := range change {
		f(&draft)
	}
	made, key, _, err := n.Sites.Create(n.T.Context(), n.Owner, draft, idempotency.Key{})
	n.Must(err)
	return made, key.Reveal()
}
