package cli

import (
	"context"
	"strings"
	"time"

	"dateline/activities"
	"dateline/api"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/render"
	"dateline/internal/news/crawl/seeds"
	"dateline/internal/news/crawl/seen"
	"dateline/internal/news/crawl/warc"
	"dateline/internal/news/crawl/websub"
	"dateline/internal/news/llm"
	"dateline/internal/news/pipeline"
	"dateline/internal/news/watch"
	"dateline/worker"
)

// crawlProduct is the user agent of the crawler in robots.txt.
const crawlProduct = "Dateline"

// crawlParts contains the components of the crawler.
type crawlParts struct {
	seeds    *seeds.Service
	watches  *watch.Service
	archives *warc.Exporter
	fetcher  *fetch.Fetcher
	pages    *pagestore.Store
	sites    *pipeline.SiteCache
	model    *llm.Client           // nil if there is no LLM
	webSub   *websub.Subscriptions // nil if WebSub is off
	guard    *ssrf.Guard
}

// assembleCrawl creates the crawler, if it is on.
func (p *parts) assembleCrawl(allowed []string, names fetch.Resolver) (err error) {
	if !p.cfg.Crawl {
		return nil
	}
	c := &crawlParts{}
	guard, err := ssrf.New(allowed)
	if err != nil {
		return err
	}
	c.guard = guard
	if p.cfg.WebSub {
		c.webSub = &websub.Subscriptions{Store: p.store.News.Domains, Sealer: p.sealer, Guard: guard}
	}
	if c.pages, err = pagestore.New(p.objects); err != nil {
		return err
	}
	o := fetch.Options{
		Product: crawlProduct, Version: "1", Contact: p.cfg.CrawlContact, AllowPrivate: allowed,
		Proxy: p.cfg.CrawlProxyURL, Resolver: names,
	}
	if p.cfg.CrawlBrowserURL != "" {
		if o.Renderer, err = render.New(render.Options{URL: p.cfg.CrawlBrowserURL}); err != nil {
			return err
		}
	}
	if c.fetcher, err = fetch.New(o); err != nil {
		return err
	}
	p.closers.pushFunc("crawl fetcher", c.fetcher.Close)
	c.archives = &warc.Exporter{
		Store: p.store.News.Domains, Pages: c.pages, Objects: p.objects, Software: "Dateline",
		Operator: strings.TrimPrefix(p.cfg.CrawlContact, "mailto:"), Log: p.log,
	}
	c.seeds = &seeds.Service{
		Seeds: p.store.News.Domains, Domains: p.store.News.Domains, Stats: p.store.News.Domains,
		Exports: p.store.News.Domains, Workflows: p.workflows,
		Guard: guard, Objects: p.objects, Policy: crawl.DefaultRevisitPolicy(), HasBrowser: o.Renderer != nil,
		Log: p.log,
	}
	c.watches = &watch.Service{Store: p.store.News.Watches, Guard: guard}
	c.sites = &pipeline.SiteCache{Store: p.store.News.Articles, Redis: p.redis, Log: p.log}
	if c.model, err = p.newLLM(); err != nil {
		return err
	}
	p.crawl = c
	return nil
}

// newsAPI returns the API of the crawler and its articles, or nil if the crawler is off.
func (p *parts) newsAPI() *api.News {
	if p.crawl == nil {
		return nil
	}
	return &api.News{
		CrawlHandler:   api.CrawlHandler{Crawl: p.crawl.seeds, Archives: p.crawl.archives, Log: p.log},
		ArticleHandler: api.ArticleHandler{Articles: p.articles()},
		SearchHandler:  api.SearchHandler{Search: p.search.service, PublicURL: p.cfg.PublicURL},
		RebuildHandler: api.RebuildHandler{Rebuilds: p.rebuilds()},
		RuleHandler:    api.RuleHandler{Rules: p.ruleService()},
		WatchHandler:   api.WatchHandler{Watches: p.crawl.watches},
		StoryHandler:   api.StoryHandler{Stories: p.storyEditor()},
		HubHandler:     api.HubHandler{Hubs: p.webSubCallback()},
	}
}

// webSubCallback returns the callback of hubs, or nil if WebSub is off.
func (p *parts) webSubCallback() api.HubCallback {
	if p.crawl == nil || p.crawl.webSub == nil {
		return nil
	}
	frontier := &crawler.Crawler{
		URLs: p.store.News.Frontier, Seeds: p.store.News.Domains, Parser: crawler.PageParser{Zone: p.cfg.TimeZone},
		URLIndex: &seen.Index{Filter: &seen.Filter{Redis: p.redis}, Redis: p.redis, Store: p.store.News.Frontier},
		Policy:   crawl.DefaultRevisitPolicy(), Limits: crawler.DefaultLimits(), Log: p.log,
	}
	return &websub.Callback{
		Store: p.store.News.Domains, Frontier: frontier, Crawls: p.workflows, Sealer: p.sealer,
		Metrics: p.telemetry.Crawl, Log: p.log,
	}
}

// webSubWorker returns the activity that subscribes to hubs, or nil if WebSub is off.
func (p *parts) webSubWorker(feeds websub.FeedFetcher) *activities.WebSub {
	if p.crawl.webSub == nil {
		return nil
	}
	return &activities.WebSub{Subscriber: &websub.Subscriber{
		Store: p.store.News.Domains, Feeds: feeds, Client: p.hooks,
		Guard: p.crawl.guard, Sealer: p.sealer, BaseURL: p.cfg.PublicURL,
		Metrics: p.telemetry.Crawl, Log: p.log,
	}}
}

// addNewsActivities adds the activities of the crawler, of the search, of stories and of
// rules, if the crawler is on.
func (p *parts) addNewsActivities(a *worker.Activities) {
	if p.crawl == nil {
		return
	}
	a.Search, a.Stories, a.Rules, a.Articles = p.searchWorker(), p.storyWorker(), p.ruleWorker(), p.articleWorker()
	limits := crawler.DefaultLimits()
	limits.RequestDelay, limits.MaxRobotsDelay, limits.IPDelay, limits.DailyBudget = p.cfg.CrawlDelay,
		p.cfg.CrawlMaxDelay, p.cfg.CrawlIPDelay, p.cfg.CrawlBudget
	limits.MaxRobotsDelay = max(limits.MaxRobotsDelay, limits.RequestDelay)
	recordCtx, stop := context.WithCancel(context.Background())
	p.closers.pushFunc("crawl recorder", stop)
	filter := &seen.Filter{Redis: p.redis}
	record := crawler.NewRecorder(recordCtx, p.store.News.Frontier.RecordFetches)
	d := &crawler.Crawler{
		Domains: p.store.News.Domains, URLs: p.store.News.Frontier, Seeds: p.store.News.Domains,
		Rules: p.store.News.Frontier, Slots: p.store.News.Frontier,
		Fetcher: p.crawl.fetcher, Parser: crawler.PageParser{Zone: p.cfg.TimeZone}, Resolver: p.crawl.fetcher,
		URLIndex: &seen.Index{Filter: filter, Redis: p.redis, Store: p.store.News.Frontier},
		Pages:    p.crawl.pages, Record: record,
		Policy: crawl.DefaultRevisitPolicy(), Limits: limits, Log: p.log,
	}
	d.Robots = crawler.NewRobots(crawlProduct, crawler.RobotsCache{Redis: p.redis}, d.FetchRobots)
	if p.crawl.webSub != nil {
		d.Subscriptions = p.crawl.webSub
	}
	d.Instrument(p.telemetry.Crawl)
	age := p.cfg.CrawlRetention
	if age == 0 {
		age = 100 * 365 * 24 * time.Hour
	}
	a.Watches = &activities.Watches{Checker: &watch.Checker{Store: p.store.News.Watches, Fetcher: d, Log: p.log}}
	a.WebSub = p.webSubWorker(d)
	a.Crawl = &activities.Crawl{Frontier: p.store.News.Domains, Crawler: d, MaxDomains: p.cfg.CrawlMaxDomains}
	a.CrawlMaintenance = &activities.CrawlMaintenance{
		Records: p.store.Crawl(), Filter: filter, DeleteObject: p.objects.Delete,
		Exporter:    p.crawl.archives,
		MaxVersions: p.cfg.CrawlMaxVersions, MaxAge: age,
	}
}
