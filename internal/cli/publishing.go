package cli

import (
	"net/url"
	"strings"

	"dateline/activities"
	"dateline/api"
	"dateline/internal/audience/shortlink"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/label"
	"dateline/internal/publishing/linkcard"
	"dateline/internal/publishing/measure"
	"dateline/internal/publishing/review"
	"dateline/internal/publishing/snippet"
)

// postChanges tells Temporal of the posts that the API changes.
func (p *parts) postChanges() api.PostChanges {
	out := api.PostChanges{Workflows: p.workflows, Log: p.log}
	if p.cfg.TemporalUIURL != "" {
		out.WorkflowURL = func(id string) string {
			return strings.TrimSuffix(p.cfg.TemporalUIURL, "/") + "/namespaces/" +
				url.PathEscape(p.cfg.TemporalNamespace) + "/workflows/" + url.PathEscape(id)
		}
	}
	return out
}

func (p *parts) publishingAPI(dashboard bool) api.Publishing {
	s := p.store.Publishing
	pages, changes := &linkcard.Fetcher{Web: p.web}, p.postChanges()
	return api.Publishing{
		PostHandler:       api.PostHandler{Store: s.Posts, Scheduler: p.scheduler, PostChanges: changes},
		DeadLetterHandler: api.DeadLetterHandler{Store: s.Ledger, Scheduler: p.scheduler, PostChanges: changes},
		SeriesHandler:     api.SeriesHandler{Store: s.Series, Scheduler: p.scheduler, PostChanges: changes},
		QueueHandler: api.QueueHandler{
			Groups: &account.Groups{Store: s.Accounts}, Zones: p.store.Identity.Workspaces, Scheduler: p.scheduler,
			PostChanges: changes,
		},
		PostReportHandler: api.PostReportHandler{Store: p.store.PostReports(), Zones: p.store.Identity.Workspaces},
		EventHandler:      api.EventHandler{Store: s.Posts, Events: p.bus, Log: p.log},
		AccountHandler: api.AccountHandler{
			Accounts: p.accounts, Store: p.store.AccountList(), Scheduler: p.scheduler, Dashboard: dashboard,
		},
		LinkPreviewHandler: api.LinkPreviewHandler{
			LinkCard: pages, Mentions: &account.Mentions{Accounts: p.accounts},
			Avatars: &account.Avatars{Store: s.Accounts, Images: pages},
		},
		MediaHandler:   api.MediaHandler{Media: p.media, Scheduler: p.scheduler, PostChanges: changes},
		LabelHandler:   api.LabelHandler{Labels: &label.Labels{Store: s.Labels, Notifier: p.scheduler.Notifier}},
		SnippetHandler: api.SnippetHandler{Snippets: &snippet.Snippets{Store: s.Snippets}},
		ReviewHandler: api.ReviewHandler{
			Reviews: &review.Reviews{Store: s.Reviews, Decider: p.scheduler, Notifier: p.scheduler.Notifier},
			Store:   s.Posts, Scheduler: p.scheduler, Media: p.media, PublicURL: p.cfg.PublicURL,
			PostChanges: changes,
		},
		ShortLinkHandler: api.ShortLinkHandler{
			Links: &shortlink.Service{Store: p.store.Audience.Links, BaseURL: p.cfg.LinkBase()}, Redirect: p.redirect(),
		},
	}
}

// measureActivities returns the activities that read the metrics of posts; nil if they
// are switched off.
func (p *parts) measureActivities() *activities.Measure {
	if p.cfg.MetricsShare == 0 {
		return nil
	}
	return &activities.Measure{Starter: p.workflows, Measurer: &measure.Service{
		Store: p.store.Publishing.Metrics, Accounts: p.accounts,
		Networks: p.networks, Limits: p.limits,
		Meter: p.telemetry.Publishing, Bursts: p.running, Share: p.cfg.MetricsShare, Sandbox: p.accounts.Sandbox,
		Now: p.clock.Now, Log: p.log,
	}}
}
