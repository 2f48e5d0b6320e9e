package cli

import (
	"context"
	"fmt"
	"sync"

	"dateline/activities"
	"dateline/api"
	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/newsroom"
	"dateline/internal/audience/report"
	"dateline/internal/audience/sharedlink"
	"dateline/internal/audience/site"
	"dateline/internal/audience/statsimport"
	"dateline/internal/audience/subscription"
	"dateline/internal/audience/visitor"
	"dateline/internal/infra/clientaddr"
	"dateline/internal/notify/email"
	"dateline/internal/notify/pubsub"
)

// audience contains the components of view counting.
type audience struct {
	directory *site.Directory
	countries *dimensions.Countries
	signals   *pubsub.SiteSignals
	ingest    *ingest.Handler

	stop       context.CancelFunc
	background sync.WaitGroup
}

// openAudience creates the components of view counting; startAudience starts them.
func (p *parts) openAudience(ctx context.Context) (_ *audience, err error) {
	c := &audience{
		signals:   pubsub.NewSiteSignals(p.redis, p.log),
		directory: &site.Directory{Store: p.store.Audience.Sites, Sealer: p.sealer, Log: p.log},
	}
	if c.countries, err = dimensions.OpenCountries(p.cfg.GeoIPFile); err != nil {
		return nil, fmt.Errorf("DATELINE_GEOIP_FILE: %w", err)
	}
	robots, err := botfilter.New()
	if err != nil {
		return nil, err
	}
	tracker, err := ingest.NewTracker()
	if err != nil {
		return nil, err
	}
	trusted, err := clientaddr.Parse(p.cfg.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("DATELINE_TRUSTED_PROXIES: %w", err)
	}
	// Hits in flight are counted while the process stops, so not only until ctx ends.
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.ingest = &ingest.Handler{
		Sites: c.directory, Counter: p.batcher, Bulk: p.counter, Notifier: c.signals,
		Visitors: &visitor.Identifier{Salts: visitor.NewSalts(p.redis)}, Bots: robots,
		RateLimiter: botfilter.NewRateLimiter(runCtx, p.redis),
		Referrers:   dimensions.NewReferrers(), Countries: c.countries, TrustedProxies: trusted, Now: p.clock.Now,
		Log: p.log, Tracker: tracker,
	}
	return c, nil
}

// startAudience loads the sites and refreshes them in the background. The database
// must be migrated.
func (p *parts) startAudience(ctx context.Context) error {
	c := p.audience
	if c == nil {
		return nil
	}
	if err := c.directory.Refresh(ctx); err != nil {
		return err
	}
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopIngest := c.stop
	c.stop = func() { stop(); stopIngest() }
	c.background.Go(func() { c.directory.Run(runCtx) })
	return nil
}

func (c *audience) close() error {
	if c.stop != nil {
		c.stop()
	}
	c.background.Wait()
	return c.countries.Close()
}

// audienceAPI returns the API of view counting, or nil if it is off.
func (p *parts) audienceAPI() *api.Audience {
	c := p.audience
	if c == nil {
		return nil
	}
	reports := &report.Reporter{Store: p.store.Audience.Reports}
	links := &sharedlink.Service{Store: p.store.Audience.Sites, PublicURL: p.cfg.PublicURL}
	sites := p.siteService()
	counts := flush.Counts{
		Counter:          p.counter,
		FilteredReader:   flush.FilteredReader{Counter: p.counter, Store: p.store.Audience.Views},
		EngagementReader: p.store.Audience.Views,
	}
	return &api.Audience{
		Ingest: c.ingest,
		CountHandler: api.CountHandler{
			Sites: sites, Counts: counts, Posts: p.store.Publishing.Posts, Signals: c.signals,
		},
		ReportHandler:    api.ReportHandler{Sites: sites, Reports: reports},
		PlausibleHandler: api.PlausibleHandler{Sites: sites, Reports: reports, Counts: counts},
		SiteHandler:      api.SiteHandler{Sites: sites},
		SharedLinkHandler: api.SharedLinkHandler{
			SharedLinks: links, SharedPages: sharedlink.NewPages(links, reports, p.log),
		},
		SubscriptionHandler: api.SubscriptionHandler{
			Subscriptions:    p.subscriptions(),
			UnsubscribePages: subscription.NewPages(p.store.Audience.Subscriptions, p.log),
		},
		StatsImportHandler: api.StatsImportHandler{Imports: &statsimport.Service{Store: p.store.Audience.Sites}},
		ErasureHandler:     api.ErasureHandler{ViewsStore: p.store.Audience.Views},
	}
}

// siteService manages sites.
func (p *parts) siteService() *site.Service {
	return &site.Service{Store: p.store.Sites(), Sealer: p.sealer, OnChange: func(ctx context.Context) {
		if err := p.audience.directory.Refresh(ctx); err != nil {
			p.log.Warn("a site was changed, but could not be reloaded yet", "error", err)
		}
	}}
}

// subscriptions manages the recipients of reports and alerts.
func (p *parts) subscriptions() *subscription.Service {
	return &subscription.Service{Store: p.store.Audience.Subscriptions, CanSendEmail: p.cfg.SMTPHost != ""}
}

// reportActivities returns the activities that send reports and alerts, or nil if
// readers are not counted.
func (p *parts) reportActivities() *activities.Reports {
	if p.counter == nil {
		return nil
	}
	out := &activities.Reports{Alerter: &subscription.Alerter{
		Store: p.store.Audience.Subscriptions, PublicURL: p.cfg.PublicURL, Log: p.log,
	}}
	if p.cfg.SMTPHost == "" {
		return out
	}
	out.Mailer = &subscription.Mailer{
		Store: p.store.Audience.Subscriptions, Reports: &report.Reporter{Store: p.store.Audience.Reports},
		PublicURL: p.cfg.PublicURL,
	}
	out.Outbox = &email.Outbox{Store: p.store.Audience.Subscriptions, Log: p.log, Sender: p.smtp()}
	return out
}

// viewsActivities returns the activities of view counting, or nil if it is off.
func (p *parts) viewsActivities() *activities.Views {
	if p.counter == nil {
		return nil
	}
	return &activities.Views{Flusher: meteredFlusher{
		&flush.Flusher{
			Counter: p.counter, Store: p.store.Audience.Views,
			SyncDelay: flush.AOFSyncDelay, Log: p.log, Now: p.clock.Now,
			Articles: &newsroom.Indexer{
				Store: p.store.Audience.Reports, SocialSources: dimensions.NewReferrers().Names(dimensions.Social),
			},
			Retention: flush.Retention{Hours: p.cfg.HourlyViewRetention, Days: p.cfg.DailyViewRetention},
		},
		p.telemetry.Views,
	}}
}
