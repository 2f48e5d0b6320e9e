package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/redis/go-redis/v9"
	"go.temporal.io/sdk/client"

	"dateline/activities"
	"dateline/api"
	"dateline/docs"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/shortlink"
	"dateline/internal/cli/demo"
	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/infra/dbclock"
	"dateline/internal/infra/redisclient"
	"dateline/internal/infra/ssrf"
	"dateline/internal/infra/telemetry"
	"dateline/internal/infra/temporalclient"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/notification"
	"dateline/internal/notify/pubsub"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/ratelimit"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/objects"
	"dateline/internal/storage/postgres"
	"dateline/internal/system/archive"
	"dateline/platforms"
	"dateline/platforms/call"
	"dateline/web"
	"dateline/worker"
	"dateline/workflows/starter"
)

// parts contains the components of a process.
type parts struct {
	cfg       *config.Config
	of        process
	log       *slog.Logger
	store     *postgres.Store
	redis     redis.UniversalClient
	bus       *pubsub.Bus
	objects   *objects.Bucket
	temporal  client.Client
	planner   *delivery.Planner
	workflows *starter.Starter
	networks  platforms.Registry
	accounts  *account.Service
	scheduler *scheduling.Scheduler
	clock     *dbclock.Clock
	webhooks  *webhook.Service

	notifications *notification.Service
	messages      webpage.Catalogs
	sealer        *secret.Sealer
	hooks         *http.Client // for webhooks, with its own connections
	web           *http.Client // for media URLs, with its own connections
	media         *media.Service
	limits        *ratelimit.Limiter
	login         *login.Service
	counter       *counter.Counter // nil, like batcher, if view counting is off
	batcher       *counter.Batcher
	running       *delivery.InFlight
	archives      *archive.Archives
	audience      *audience   // nil if view counting is off
	crawl         *crawlParts // nil if the crawler is off
	search        *searching  // nil if the crawler is off
	demo          *demo.Demo  // nil without the sandbox

	telemetry    *telemetry.Telemetry
	bucketOrigin string // origin of direct uploads

	// closers are the opened resources, which close releases.
	closers closer
	// startAggregation starts the aggregation of counted views, once.
	startAggregation func()
}

// process describes the process that is assembled.
type process struct {
	service string
	version string
	commit  string
	date    string
	source  string     // address of the source files; can be empty
	sites   *demoSites // nil without the sandbox or the crawler
	// document reads openapi.yaml; nil: the API reads it.
	document func() (*openapi3.T, error)
}

// build names the build of the program: its version, commit and date.
func (p process) build() string {
	return strings.TrimSpace(p.version + " " + p.commit + " " + p.date)
}

// process returns the description of a process of this program.
func (p *Program) process(service string) process {
	return process{service: service, version: p.Version, commit: p.Commit, date: p.Date, source: p.Source}
}

// assemble connects to the engines and creates the components. box is the sandbox; it
// can be nil. The caller must close the parts.
func assemble(
	ctx context.Context, cfg *config.Config, log *slog.Logger, box *sandbox, of process,
) (_ *parts, err error) {
	p := &parts{cfg: cfg, of: of, log: log, running: &delivery.InFlight{}}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.telemetry, err = telemetry.Start(ctx, telemetry.Options{
		Service: of.service, Version: of.version,
		OTLP: cfg.OTLPEndpoint, Sampling: cfg.TraceSampling, Logs: cfg.LogsEndpoint(),
	}); err != nil {
		return nil, err
	}
	p.closers.push("telemetry", p.stopTelemetry)
	log = p.telemetry.Logger(log)
	p.log = log
	if p.sealer, err = secret.Open(ctx, keysetSource(cfg)); err != nil {
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
	p.closers.pushFunc("database", p.store.Close)
	p.clock = dbclock.New(dbclock.Options{Database: p.store.Time, Log: log})
	if err := p.clock.Measure(ctx); err != nil {
		return nil, err
	}
	clockCtx, stopClock := context.WithCancel(context.WithoutCancel(ctx))
	p.closers.pushFunc("clock", stopClock)
	go p.clock.Run(clockCtx)
	if p.redis, err = redisclient.Open(cfg.RedisURL, 0); err != nil {
		return nil, err
	}
	p.closers.push("Redis client", p.redis.Close)
	p.bus = pubsub.NewBus(p.redis, log)
	// The results of calls are recorded until the worker has stopped, so not only until ctx ends.
	limitsCtx, stopLimits := context.WithCancel(context.WithoutCancel(ctx))
	p.closers.pushFunc("rate limiter", stopLimits)
	p.limits = ratelimit.New(limitsCtx, p.redis, ratelimit.DefaultTimeout, log)
	if p.objects, err = objects.Open(ctx,
		objects.Options{
			Endpoint: cfg.S3Endpoint, PublicEndpoint: cfg.S3PublicEndpoint, Region: cfg.S3Region,
			Bucket:    cfg.S3Bucket,
			AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: cfg.S3PathStyle,
		}); err != nil {
		return nil, err
	}
	if p.bucketOrigin, err = p.objects.Origin(ctx); err != nil {
		return nil, err
	}
	p.media = &media.Service{
		Objects: p.objects, Store: p.store.Publishing.Media, MaxBytes: cfg.MediaMaxBytes, Web: p.web,
		Retention: cfg.MediaRetention, Log: log,
	}
	tracing, err := p.telemetry.TemporalTracing()
	if err != nil {
		return nil, err
	}
	if p.temporal, err = temporalclient.Connect(temporalclient.Options{
		Address:   cfg.TemporalAddress,
		Namespace: cfg.TemporalNamespace,
		APIKey:    cfg.TemporalAPIKey, TLS: cfg.TemporalTLS, Metrics: p.telemetry.TemporalMetrics(), Tracing: tracing,
	},
		log); err != nil {
		return nil, err
	}
	p.closers.pushFunc("Temporal client", p.temporal.Close)
	p.planner = &delivery.Planner{Store: p.store.Publishing.Ledger, Networks: p.networks}
	startedCtx, stopStarted := context.WithCancel(context.WithoutCancel(ctx))
	p.closers.pushFunc("records of started workflows", stopStarted)
	p.workflows = &starter.Starter{
		Client: p.temporal, Namespace: cfg.TemporalNamespace,
		Posts: delivery.NewStarted(startedCtx, p.planner, p.store.Publishing.Ledger, log),
	}
	p.archives = &archive.Archives{
		Store: p.store.Installation.Archive, Objects: p.objects, Workflows: p.workflows, Version: of.version,
	}
	p.accounts = &account.Service{
		Store: p.store.Publishing.Accounts, Connectors: p.networks, Sealer: p.sealer, Notifier: p.bus, Log: log,
		RedirectURI: strings.TrimSuffix(cfg.PublicURL, "/") + "/api/v1/oauth/callback",
	}
	if p.login, err = newLogin(cfg, p.store, p.clock.Now, log); err != nil {
		return nil, err
	}
	if cfg.Views {
		p.counter = counter.New(p.redis, counter.Options{Now: p.clock.Now, Meter: p.telemetry.Views})
		aggregationCtx, stopAggregation := context.WithCancel(context.Background())
		p.closers.pushFunc("view aggregation", stopAggregation)
		p.startAggregation = sync.OnceFunc(func() {
			go p.counter.Run(aggregationCtx, func(err error) {
				p.log.Warn("counted views are not aggregated yet", "error", err)
			})
		})
		p.batcher = counter.NewBatcher(p.counter)
		p.closers.pushFunc("view batcher", p.batcher.Close)
		if p.audience, err = p.openAudience(ctx); err != nil {
			return nil, err
		}
		p.closers.push("view counting", p.audience.close)
	}
	if p.messages, err = web.Messages(); err != nil {
		return nil, err
	}
	p.webhooks = &webhook.Service{Store: p.store.Notify.Webhooks, Sealer: p.sealer, Live: p.bus, Guard: guard}
	p.notifications = &notification.Service{
		Store: p.store.Notify.Notifications, Sealer: p.sealer, Live: p.bus, Guard: guard, Links: p.notificationLinks(),
		Push:         p.push(),
		CanSendEmail: cfg.SMTPHost != "", Confirmations: notification.NewConfirmations(),
	}
	if err := p.assembleCrawl(append(allowed, of.sites.allowed()...), of.sites.resolver()); err != nil {
		return nil, err
	}
	if err := p.assembleSearch(); err != nil {
		return nil, err
	}
	p.scheduler = &scheduling.Scheduler{
		Store: p.store.Scheduling(), Accounts: p.accounts, Networks: p.networks, ObjectURL: p.objects.URL,
		Notifier: p.bus, Log: log,
		Now: p.clock.Now, Rates: p.limits, Meter: p.telemetry.Publishing, LinkBase: cfg.LinkBase(),
	}
	return p, p.registerMetrics()
}

// close releases all resources and logs errors.
func (p *parts) close() {
	if err := p.closers.close(); err != nil {
		p.log.Warn("not all resources were closed cleanly", "error", err)
	}
}

// telemetryTimeout limits the time for the export of the last traces.
const telemetryTimeout = 3 * time.Second

func (p *parts) stopTelemetry() error {
	ctx, cancel := context.WithTimeout(context.Background(), telemetryTimeout)
	defer cancel()
	return p.telemetry.Stop(ctx)
}

// server returns the API and starts the aggregation of counted views, which commands
// leave to long-running processes.
func (p *parts) server(page web.Page) *api.Server {
	if p.startAggregation != nil {
		p.startAggregation()
	}
	page.Bucket, page.Base = p.bucketOrigin, basePath(p.cfg.PublicURL)
	return &api.Server{
		Settings: api.Settings{
			Document: p.of.document, Meter: p.telemetry.API, Page: page, Dashboard: page.Built(),
			Docs: &docs.Site{Base: page.Base, Version: p.of.version, Source: p.of.source}, Log: p.log,
			MaxBodyBytes: p.cfg.MaxBodyBytes,
			Limits: api.Limits{
				PerToken: p.cfg.APIRateLimit, PerAddress: p.cfg.APIIPRateLimit,
				AtOnce: p.cfg.APIMaxInFlight, StreamsPerCaller: maxStreamsPerCaller, Streams: p.cfg.APIMaxStreams,
			},
			BucketOrigin: p.bucketOrigin, Hosts: p.cfg.Hosts(), TrustedProxies: p.cfg.TrustedProxies,
		},
		Publishing: p.publishingAPI(page.Built()), Audience: p.audienceAPI(), News: p.newsAPI(),
		Identity: p.identityAPI(), Notify: p.notifyAPI(),
		Installation: api.Installation{
			SystemHandler: api.SystemHandler{
				Build: p.of.build(), Checks: p.checks(), System: p.statusReporter(), Clock: p.clock, Log: p.log,
			},
			TimeHandler: api.TimeHandler{Zones: p.store.Identity.Workspaces},
		},
	}
}

// maxStreamsPerCaller limits the open event streams of a token or session.
const maxStreamsPerCaller = 50

// basePath returns the path of a URL without a trailing slash.
func basePath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.EscapedPath(), "/")
}

// redirect returns the handler of short links. If view counting is on, clicks are
// filtered like views.
func (p *parts) redirect() *shortlink.Redirector {
	r := &shortlink.Redirector{Finder: p.store.Audience.Links, Log: p.log, Now: p.clock.Now}
	if p.audience != nil {
		r.Counter, r.Classifier, r.Sites = p.batcher, p.audience.ingest, p.audience.directory
	}
	return r
}

func (p *parts) checks() map[string]api.Check {
	return map[string]api.Check{
		"database": p.store.Ping,
		"clock":    p.clock.Check,
		"redis":    func(ctx context.Context) error { return p.redis.Ping(ctx).Err() },
		"objects":  p.objects.Ping,
		"temporal": p.workflows.Ping,
		"worker": func(ctx context.Context) error {
			polled, err := p.workflows.HasPostWorkers(ctx)
			if err == nil && !polled {
				return errors.New("no worker polls the task queue of posts")
			}
			return err
		},
	}
}

// worker returns the worker.
func (p *parts) worker() *worker.Worker {
	store, accounts, stop := delivery.Batched(p.store.Delivery(), p.accounts)
	p.closers.pushFunc("delivery batches", stop)
	a := worker.Activities{
		Publishing: &activities.Publishing{
			Publisher: delivery.New(delivery.Deps{
				Store: store, Accounts: accounts,
				Networks: p.networks, Objects: p.objects, Live: p.bus, Log: p.log,
				Clock: p.clock, Limits: p.limits, Waker: p.workflows, Hosts: &hostguard.Bulkhead{}, Media: p.media,
				Links: p.objects, Metrics: p.telemetry.Publishing, InFlight: p.running,
			}),
			Planner:  p.planner,
			Commands: &delivery.Commands{Store: p.store.Delivery(), Scheduler: p.scheduler, Live: p.bus},
			Recovery: &delivery.Recovery{
				Store: p.store.Publishing.Ledger, Signaler: p.workflows, Live: p.bus, Log: p.log,
			},
		},
		Series: &activities.Series{
			Store: p.store.Publishing.Series, Scheduler: p.scheduler, Signaler: p.workflows, Log: p.log,
		},
		Library: &activities.Library{Media: p.media},
		Archive: &activities.Archive{Archives: p.archives},
		Tokens: &activities.Tokens{
			Store: p.store.Publishing.Accounts, Accounts: p.accounts, Starter: p.workflows, Live: p.bus, Log: p.log,
		},
		Measure: p.measureActivities(),
		Webhooks: &activities.Webhooks{
			Deliverer: &webhook.Deliverer{
				Store: p.store.Notify.Webhooks, Sealer: p.sealer, Client: p.hooks, Live: p.bus, Log: p.log,
				Channels: p.notificationSender(),
			},
		},
		Views:   p.viewsActivities(),
		Reports: p.reportActivities(),
	}
	p.addNewsActivities(&a)
	return worker.New(p.temporal, a, worker.Deps{
		Dispatcher: &webhook.Dispatcher{
			Store: p.store.Notify.Webhooks, Workflows: p.workflows, Notifications: p.bus, PublicURL: p.cfg.PublicURL,
			Log: p.log,
		},
		Watcher: p.engineWatcher(),
		Store:   p.store.Installation.Workers, Releaser: p.workflows, Notices: p.bus, Log: p.log, Build: p.of.build(),
	})
}
