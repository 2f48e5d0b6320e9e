package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"go.temporal.io/sdk/client"

	"dateline/activities"
	"dateline/api"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/shortlink"
	"dateline/internal/audience/site"
	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/internal/infra/dbclock"
	"dateline/internal/infra/ssrf"
	"dateline/internal/infra/telemetry"
	"dateline/internal/infra/temporalclient"
	"dateline/internal/notify/pubsub"
	"dateline/internal/notify/webhook"
	"dateline/internal/ops/archive"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/ratelimit"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/objects"
	"dateline/internal/storage/postgres"
	"dateline/platforms"
	"dateline/platforms/call"
	"dateline/web"
	"dateline/worker"
	"dateline/workflows/starter"
)

// parts are what api and worker are made of.
type parts struct {
	cfg       *config.Config
	of        process
	log       *slog.Logger
	store     *postgres.Store
	redis     redis.UniversalClient
	bus       *pubsub.Bus
	objects   *objects.Bucket
	temporal  client.Client
	starter   *starter.Starter
	networks  platforms.Registry
	accounts  *account.Service
	scheduler *scheduling.Scheduler
	clock     *dbclock.Clock
	webhooks  *webhook.Service
	sealer    *secret.Sealer
	hooks     *http.Client // for webhooks: connections of their own
	web       *http.Client // for media that is fetched by its address: likewise
	media     *media.Service
	limits    *ratelimit.Limiter
	login     *login.Service
	counter   *counter.Counter // nil, as batcher: readers are not counted
	batcher   *counter.Batcher
	running   *delivery.InFlight
	archives  *archive.Archives
	audience  *audience   // nil: readers are not counted
	crawl     *crawlParts // nil: switched off
	search    *searching  // nil: the crawl is switched off

	telemetry    *telemetry.Telemetry
	bucketOrigin string // where pages send files

	stopClock                        context.CancelFunc
	stopCrowd, stopLimits, stopCrawl func()
	stopFolding                      context.CancelFunc
}

// process is what the parts are assembled for.
type process struct {
	service, version string
	sites            *demoWeb // nil: there is no demo
}

// assemble connects to the engines. box plays the networks, or is nil.
func assemble(ctx context.Context, cfg *config.Config, log *slog.Logger, box *sandbox, of process) (_ *parts, err error) {
	p := &parts{cfg: cfg, of: of, log: log, running: &delivery.InFlight{}}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.telemetry, err = telemetry.Start(ctx, telemetry.Options{Service: of.service, Version: of.version, OTLP: cfg.OTLPEndpoint, Sampling: cfg.TraceSampling, Logs: cfg.LogsEndpoint()}); err != nil {
		return nil, err
	}
	log = p.telemetry.Logger(log)
	p.log = log
	if p.sealer, err = secret.Open(ctx, keysetOf(cfg)); err != nil {
		return nil, err
	}
	allowed := box.allowed()
	for _, h := range cfg.AllowPrivateHosts {
		if h.HostPort != "" {
			allowed = append(allowed, h.HostPort)
		} else {
			allowed = append(allowed, h.Prefix.String())
		}
	}
	httpClient, err := call.NewClient(allowed)
	if err != nil {
		return nil, err
	}
	if p.hooks, err = call.NewClient(allowed); err != nil {
		return nil, err
	}
	if p.web, err = call.NewClient(allowed); err != nil {
		return nil, err
	}
	for _, c := range []*http.Client{httpClient, p.hooks, p.web} {
		c.Transport = p.telemetry.TraceTransport(c.Transport)
	}
	guard, err := ssrf.New(allowed)
	if err != nil {
		return nil, err
	}
	options, err := networkOptions(cfg, box)
	if err != nil {
		return nil, err
	}
	p.networks = platforms.New(httpClient, options)
	if p.store, err = postgres.Open(ctx, cfg.DatabaseURL); err != nil {
		return nil, err
	}
	p.clock = dbclock.New(dbclock.Options{Database: p.store.Time, Log: log})
	if err := p.clock.Measure(ctx); err != nil {
		return nil, err
	}
	ticking, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stopClock = stop
	go p.clock.Run(ticking)
	if p.redis, err = openRedis(cfg.RedisURL); err != nil {
		return nil, err
	}
	p.bus = pubsub.NewBus(p.redis, log)
	// Beyond ctx: what a call brought is noted also while the worker stops.
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.limits, p.stopLimits = ratelimit.New(lasting, p.redis, ratelimit.DefaultTimeout, log), stop
	if p.objects, err = objects.Open(ctx, objects.Options{Endpoint: cfg.S3Endpoint, PublicEndpoint: cfg.S3PublicEndpoint, Region: cfg.S3Region, Bucket: cfg.S3Bucket,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: cfg.S3PathStyle}); err != nil {
		return nil, err
	}
	if p.bucketOrigin, err = p.objects.Origin(ctx); err != nil {
		return nil, err
	}
	p.media = &media.Service{Objects: p.objects, Store: p.store, MaxBytes: cfg.MediaMaxBytes, Web: p.web, Retention: cfg.MediaRetention, Log: log}
	tracing, err := p.telemetry.TemporalTracing()
	if err != nil {
		return nil, err
	}
	if p.temporal, err = temporalclient.Connect(temporalclient.Options{Address: cfg.TemporalAddress, Namespace: cfg.TemporalNamespace,
		APIKey: cfg.TemporalAPIKey, TLS: cfg.TemporalTLS, Metrics: p.telemetry.TemporalMetrics(), Tracing: tracing}, log); err != nil {
		return nil, err
	}
	p.starter = &starter.Starter{Client: p.temporal, Namespace: cfg.TemporalNamespace}
	p.archives = &archive.Archives{Store: p.store, Objects: p.objects, Workflows: p.starter, Version: of.version}
	p.accounts = &account.Service{Store: p.store, Connectors: p.networks, Sealer: p.sealer, Notifier: p.bus, Log: log,
		RedirectURI: strings.TrimSuffix(cfg.PublicURL, "/") + "/api/v1/oauth/callback"}
	if p.login, err = newLogin(cfg, p.store, p.clock.Now, log); err != nil {
		return nil, err
	}
	if cfg.Views {
		p.counter = counter.New(p.redis, counter.Options{Now: p.clock.Now, Meter: p.telemetry.Views})
		p.batcher = counter.NewBatcher(p.counter)
		if p.audience, err = p.openAudience(ctx); err != nil {
			return nil, err
		}
	}
	p.webhooks = &webhook.Service{Store: p.store, Sealer: p.sealer, Live: p.bus, Guard: guard}
	if err := p.assembleCrawl(append(allowed, of.sites.allowed()...), of.sites.resolver()); err != nil {
		return nil, err
	}
	if err := p.assembleSearch(); err != nil {
		return nil, err
	}
	p.scheduler = &scheduling.Scheduler{Store: p.store, Accounts: p.accounts, Networks: p.networks, ObjectURL: p.objects.URL, Notifier: p.bus, Log: log, Now: p.clock.Now, Rates: p.limits, Meter: p.telemetry.Publishing, LinkBase: cfg.LinkBase()}
	return p, p.registerMetrics(of.version)
}

// openRedis takes one URL, or the comma-separated hosts of a cluster.
func openRedis(address string) (redis.UniversalClient, error) {
	if strings.Contains(address, "://") {
		o, err := redis.ParseURL(address)
		if err != nil {
			return nil, errors.New("REDIS_URL cannot be read")
		}
		return redis.NewClient(o), nil
	}
	return redis.NewUniversalClient(&redis.UniversalOptions{Addrs: strings.Split(address, ","), IsClusterMode: true}), nil
}

func (p *parts) close() {
	if p.stopCrowd != nil {
		p.stopCrowd()
	}
	if p.stopCrawl != nil {
		p.stopCrawl()
	}
	if p.crawl != nil {
		p.crawl.fetcher.Close()
	}
	if p.stopClock != nil {
		p.stopClock()
	}
	if p.stopLimits != nil {
		p.stopLimits()
	}
	p.audience.close()
	if p.batcher != nil {
		p.batcher.Close()
	}
	if p.stopFolding != nil {
		p.stopFolding()
	}
	if p.temporal != nil {
		p.temporal.Close()
	}
	if p.redis != nil {
		_ = p.redis.Close()
	}
	if p.store != nil {
		p.store.Close()
	}
	if p.telemetry != nil {
		// What is traced last, leaves last.
		ctx, cancel := context.WithTimeout(context.Background(), telemetryPatience)
		defer cancel()
		_ = p.telemetry.Stop(ctx)
	}
}

// telemetryPatience is how long a stop waits for a collector of traces.
const telemetryPatience = 3 * time.Second

// startFolding adds up what is counted, for as long as the process serves or
// works. Commands that are done in a moment leave it to others.
func (p *parts) startFolding() {
	if p.stopFolding != nil || p.counter == nil {
		return
	}
	folding, stop := context.WithCancel(context.Background())
	p.stopFolding = stop
	go p.counter.Run(folding, func(err error) { p.log.Warn("counted views wait to be folded", "error", err) })
}

// server makes the API.
func (p *parts) server(page web.Page) *api.Server {
	p.startFolding()
	page.Bucket, page.Base = p.bucketOrigin, pathOf(p.cfg.PublicURL)
	s := &api.Server{BucketOrigin: p.bucketOrigin, Store: p.store, Scheduler: p.scheduler, Workflows: p.starter, Accounts: p.accounts, People: &workspace.Service{Store: p.store}, Login: p.login, Events: p.bus, Webhooks: p.webhooks,
		Media:      p.media,
		Exports:    p.archives,
		Views:      p.views(),
		Links:      &shortlink.Service{Store: p.store, BaseURL: p.cfg.LinkBase()},
		Redirect:   p.redirect(),
		ViewsStore: viewsStore{p.store}, System: p.statusReporter(), Dashboard: page.Built(),
		Checks: p.checks(), Clock: p.clock, Meter: p.telemetry.API, Page: page, Log: p.log, MaxBodyBytes: p.cfg.MaxBodyBytes, Limits: api.Limits{PerToken: p.cfg.APIRateLimit, PerAddress: p.cfg.APIIPRateLimit, AtOnce: p.cfg.APIMaxInFlight, StreamsPerCaller: streamsPerCaller, Streams: p.cfg.APIMaxStreams}, TrustedProxies: p.cfg.TrustedProxies, Hosts: p.cfg.Hosts()}
	if p.crawl != nil {
		s.Crawl, s.Archives, s.Articles = p.crawl.seeds, p.crawl.archives, p.articles()
		s.Search, s.PublicURL = p.search.service, p.cfg.PublicURL
	}
	if p.cfg.TemporalUIURL != "" {
		s.WorkflowURL = func(id string) string {
			return strings.TrimSuffix(p.cfg.TemporalUIURL, "/") + "/namespaces/" + url.PathEscape(p.cfg.TemporalNamespace) + "/workflows/" + url.PathEscape(id)
		}
	}
	return s
}

// streamsPerCaller is how many event streams one token or session may hold open.
const streamsPerCaller = 50

// pathOf is the path that an address publishes us under; empty: none.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.EscapedPath(), "/")
}

// redirect follows short links. Where readers are counted, it tells robots from
// them by the same rules.
func (p *parts) redirect() *shortlink.Redirector {
	r := &shortlink.Redirector{Finder: p.store, Log: p.log, Now: p.clock.Now}
	if p.audience != nil {
		r.Counter, r.Classifier = p.batcher, p.audience.ingest
	}
	return r
}

func (p *parts) checks() map[string]api.Check {
	return map[string]api.Check{
		"database": p.store.Ping,
		"clock":    p.clock.Check,
		"redis":    func(ctx context.Context) error { return p.redis.Ping(ctx).Err() },
		"objects":  p.objects.Ping,
		"temporal": p.starter.Ping,
		"worker": func(ctx context.Context) error {
			polled, err := p.starter.HasPostWorkers(ctx)
			if err == nil && !polled {
				return errors.New("no worker polls the queue of posts")
			}
			return err
		},
	}
}

// viewsStore is the store, which also tells whose counts are whose.
type viewsStore struct{ *postgres.Store }

// CountedSites lists the sites of a workspace, first that of its posts and links,
// which bears the workspace's id.
func (t viewsStore) CountedSites(ctx context.Context, workspace uuid.UUID) ([]uuid.UUID, error) {
	ids := []uuid.UUID{site.PostsSite(workspace).ID}
	own, err := t.Sites(ctx, workspace)
	for _, s := range own {
		ids = append(ids, s.ID)
	}
	return ids, err
}

// worker makes the worker.
func (p *parts) worker() *worker.Worker {
	crowd, stop := delivery.Batched(p.store)
	p.stopCrowd = stop
	return worker.New(p.temporal, worker.Activities{
		Publishing: &activities.Publishing{Publisher: delivery.New(delivery.Deps{Store: crowd, Accounts: p.accounts, Networks: p.networks, Objects: p.objects, Live: p.bus, Log: p.log,
			Clock: p.clock, Limits: p.limits, Waker: p.starter, Hosts: &hostguard.Bulkhead{}, Media: p.media, Links: p.objects, Metrics: p.telemetry.Publishing, InFlight: p.running}),
			Planner:  &delivery.Planner{Store: p.store, Networks: p.networks},
			Commands: &delivery.Commands{Store: p.store, Scheduler: p.scheduler, Live: p.bus},
			Recovery: &delivery.Recovery{Store: p.store, Signaler: p.starter, Live: p.bus, Log: p.log}},
		Series:   &activities.Series{Store: p.store, Scheduler: p.scheduler, Signaler: p.starter, Log: p.log},
		Library:  &activities.Library{Media: p.media},
		Archive:  &activities.Archive{Archives: p.archives},
		Tokens:   &activities.Tokens{Store: p.store, Accounts: p.accounts, Starter: p.starter, Live: p.bus, Log: p.log},
		Crawler:  p.crawlWorker(),
		Search:   p.searchWorker(),
		Webhooks: &activities.Webhooks{Store: p.store, Sealer: p.sealer, Client: p.hooks, Live: p.bus, Log: p.log},
		Views:    p.viewsActivities(),
	}, worker.Deps{
		Dispatcher: &webhook.Dispatcher{Store: p.store, Starter: p.starter, Notices: p.bus, PublicURL: p.cfg.PublicURL, Log: p.log},
		Store:      p.store, Releaser: p.starter, Notices: p.bus, Log: p.log})
}
