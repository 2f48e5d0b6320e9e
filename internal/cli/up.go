package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"dateline/internal/embedded"
	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/web"
	"dateline/workflows"
)

// up starts everything on this machine and runs until ctx ends or an engine
// fails.
func (p *Program) up(ctx context.Context, args []string) (err error) {
	set, file := p.flags("up")
	demo := set.Bool("demo", false, "schedule a few posts to the sandbox in the next minute, and crawl three small news sites on this machine")
	renew := set.Bool("new-token", false, "make a new API token for the first owner; the old one is revoked")
	retire := set.Bool("retire-keys", false, "retire the older keys of the keyset, when nothing is sealed with them any more")
	profiler := profilerFlag(set)
	if err := p.parse(set, args); err != nil {
		return err
	}
	cfg, err := config.Load(*file, p.Environ)
	if err != nil {
		return err
	}
	if *demo && !cfg.Sandbox {
		return errors.New("--demo needs the sandbox: set DATELINE_SANDBOX=true")
	}
	log := p.logger(cfg)
	if err := profiler.serve(ctx, log); err != nil {
		return err
	}
	host, err := embedded.Prepare(ctx, cfg, p.Stderr)
	if err != nil {
		return err
	}
	engines, err := host.Start(ctx, log, workflows.SearchAttributes())
	if err != nil {
		host.Close()
		return err
	}
	defer func() { err = errors.Join(err, stopEngines(engines)) }()

	r := &running{program: p, cfg: engines.Apply(cfg), log: log, warnings: engines.Warnings, demo: *demo, renew: *renew, retire: *retire}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case failure := <-engines.Failed():
			cancel(failure)
		case <-ctx.Done():
		}
	}()
	if err := r.run(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	_, _ = fmt.Fprintln(p.Stderr, "Dateline has stopped.")
	return nil
}

// stopPatience is how long engines get to stop by themselves.
const stopPatience = 30 * time.Second

func stopEngines(e *embedded.Engines) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	return e.Stop(ctx)
}

// running is `up` after the engines have started.
type running struct {
	program  *Program
	cfg      *config.Config
	log      *slog.Logger
	warnings []string
	demo     bool
	renew    bool
	retire   bool
}

func (r *running) run(ctx context.Context) error {
	if _, err := secret.Create(ctx, keysetOf(r.cfg)); err != nil {
		return fmt.Errorf("making the keyset: %w", err)
	}
	l, err := listen(ctx, r.cfg.APIAddr)
	if err != nil {
		return fmt.Errorf("DATELINE_API_ADDR: %w", err)
	}
	defer func() { _ = l.Close() }()
	r.moveAPI(l.Addr())

	box := openSandbox(r.cfg, r.log)
	defer box.close()
	var sites *demoWeb
	if r.demo {
		if sites, err = startDemoWeb(r.cfg); err != nil {
			return err
		}
		defer sites.close()
	}
	parts, err := assemble(ctx, r.cfg, r.log, box, process{service: "up", version: r.program.Version, sites: sites})
	if err != nil {
		return err
	}
	defer parts.close()
	if err := parts.store.Migrate(ctx, r.log); err != nil {
		return err
	}
	if err := r.tidyKeys(ctx, parts); err != nil {
		return err
	}
	if err := parts.objects.EnsureBucket(ctx); err != nil {
		return err
	}
	parts.accounts.Sandbox = box.network
	owner, token, err := found(ctx, parts.store, r.cfg.TimeZone.String(), r.renew)
	if err != nil {
		return err
	}
	box.connectAccount(ctx, parts, owner, r.log)
	if err := sites.seed(ctx, parts, owner); err != nil {
		return err
	}
	link, err := parts.loginLink(ctx, owner.UserID)
	if err != nil {
		return err
	}
	if err := parts.startAudience(ctx); err != nil {
		return err
	}
	handler, err := parts.server(web.Page{TemporalUI: r.cfg.TemporalUIURL, Sandbox: box.url()}).Handler()
	if err != nil {
		return err
	}
	metrics, err := r.listenMetrics(ctx)
	if err != nil {
		return err
	}
	r.log = parts.log
	r.announce(box, token, link)
	return r.work(ctx, parts, listeners{l, metrics}, parts.telemetry.TraceRequests(handler), func(ctx context.Context) error {
		if !r.demo {
			return nil
		}
		if err := scheduleDemo(ctx, parts, owner, r.program.Stdout); err != nil {
			r.log.Warn("the demo's posts were not scheduled", "error", err)
		}
		sites.publish(ctx, r.program.Stdout)
		return nil
	})
}

// work serves and publishes until ctx ends or either fails.
func (r *running) work(ctx context.Context, parts *parts, l listeners, h http.Handler, once func(context.Context) error) error {
	return runConcurrently(ctx,
		func(ctx context.Context) error { return serve(ctx, l.api, h) },
		func(ctx context.Context) error { return parts.serveMetrics(ctx, l.metrics) },
		func(ctx context.Context) error { return parts.worker().Run(ctx) },
		func(ctx context.Context) error {
			if err := once(ctx); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
}

// listeners are what a process answers on. metrics is nil when they are off.
type listeners struct{ api, metrics net.Listener }

// listenMetrics takes a free port where the preferred one is taken.
func (r *running) listenMetrics(ctx context.Context) (net.Listener, error) {
	if r.cfg.MetricsAddr == "" {
		return nil, nil //nolint:nilnil // off
	}
	l, err := listen(ctx, r.cfg.MetricsAddr)
	if err != nil {
		return nil, fmt.Errorf("DATELINE_METRICS_ADDR: %w", err)
	}
	r.cfg.MetricsAddr = l.Addr().String()
	return l, nil
}

// listen takes the address, or a free port beside it when another program has
// it already.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		host, _, errSplit := net.SplitHostPort(address)
		if errSplit != nil {
			return nil, err
		}
		return lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	return l, err
}

// moveAPI makes links follow the API to the port that it got.
func (r *running) moveAPI(got net.Addr) {
	_, want, _ := net.SplitHostPort(r.cfg.APIAddr)
	host, _, _ := net.SplitHostPort(r.cfg.APIAddr)
	_, port, _ := net.SplitHostPort(got.String())
	if port == want {
		return
	}
	if r.cfg.PublicURL == config.LocalURL(r.cfg.APIAddr) {
		r.cfg.PublicURL = config.LocalURL(net.JoinHostPort(host, port))
	}
	r.warnings = append(r.warnings, fmt.Sprintf("Port %s is taken by another program; the API is on %s instead.", want, port))
	r.cfg.APIAddr = net.JoinHostPort(host, port)
}

// announce says where everything is.
func (r *running) announce(box *sandbox, token, link string) {
	out := r.program.Stdout
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	for _, w := range r.warnings {
		say("Note: %s", w)
	}
	api := config.LocalURL(r.cfg.APIAddr)
	say("\nDateline %s is up.\n", r.program.Version)
	say("  API            %s/api/v1  (described at %s/api/openapi.yaml)", api, api)
	say("  Dashboard      %s/", api)
	say("  Login          %s  (once, within %d minutes; `dateline login` makes a new one)", link, login.LinkLimit/time.Minute)
	if r.cfg.TemporalUIURL != "" {
		say("  Temporal UI    %s", r.cfg.TemporalUIURL)
	}
	if box != nil {
		say("  Sandbox        %s/  (plays the networks; posts to %s appear there)", box.url(), sandboxAccount)
	}
	if r.cfg.MetricsAddr != "" {
		say("  Metrics        %s/metrics", config.LocalURL(r.cfg.MetricsAddr))
	}
	say("  Data           %s", r.cfg.DataDir)
	if token != "" {
		say("  API token      %s  (shown only this once)", token)
	} else {
		say("  API token      as before (`--new-token` makes a new one)")
	}
	say("\nStop with Ctrl-C. Everything is kept.\n")
	if f, ok := out.(*os.File); ok {
		_ = f.Sync()
	}
}
