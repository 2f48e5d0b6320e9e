package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/spf13/cobra"

	"dateline/api"
	"dateline/internal/embedded"
	"dateline/internal/identity/audit"
	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/web"
	"dateline/workflows"
)

// up starts everything on this machine and runs until ctx ends or an engine
// fails.
func (p *Program) up() *cobra.Command {
	c := p.command("up", "start everything on this machine: engines without a URL, API, worker and sandbox")
	o := upOptions{
		demo: c.Flags().Bool("demo", false,
			"create the demo: a workspace with sandbox accounts, posts, simulated readers and generated news sites"),
		renew: c.Flags().Bool("new-token", false,
			"create a new API token for the first owner and revoke the old one"),
		retire: c.Flags().Bool("retire-keys", false,
			"retire the older keys of the keyset after re-encrypting all values"),
		profiler: profilerFlag(c.Flags()),
	}
	return c.run(func(ctx context.Context, _ []string) error {
		cfg, log, err := c.settings()
		if err != nil {
			return err
		}
		return p.runUp(ctx, cfg, log, o)
	})
}

// upOptions are the flags of `dateline up`.
type upOptions struct {
	demo, renew, retire *bool
	profiler            profiler
}

func (p *Program) runUp(ctx context.Context, cfg *config.Config, log *slog.Logger, o upOptions) (err error) {
	if *o.demo && !cfg.Sandbox {
		return errors.New("--demo requires DATELINE_SANDBOX=true")
	}
	if err := o.profiler.serve(ctx, log); err != nil {
		return err
	}
	// While the engines start, this process has time.
	document := sync.OnceValues(api.ReadDocument)
	go func() { _, _ = document() }()
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

	r := &running{
		program: p, cfg: engines.Apply(cfg), log: log, warnings: engines.Warnings, document: document,
		demo: *o.demo, renew: *o.renew, retire: *o.retire,
	}
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

// stopTimeout is the grace period for the engines to stop.
const stopTimeout = 30 * time.Second

func stopEngines(e *embedded.Engines) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return e.Stop(ctx)
}

// running is a `dateline up` whose engines are started.
type running struct {
	program  *Program
	cfg      *config.Config
	log      *slog.Logger
	warnings []string
	document func() (*openapi3.T, error)
	demo     bool
	renew    bool
	retire   bool
}

func (r *running) run(ctx context.Context) error {
	if _, err := secret.Create(ctx, keysetSource(r.cfg)); err != nil {
		return fmt.Errorf("creating the keyset: %w", err)
	}
	l, err := listen(ctx, r.cfg.APIAddr)
	if err != nil {
		return fmt.Errorf("DATELINE_API_ADDR: %w", err)
	}
	defer func() { _ = l.Close() }()
	r.moveAPI(l.Addr())

	box := openSandbox(r.cfg, r.log)
	defer box.close()
	sites, err := startDemoSites(r.cfg, box)
	if err != nil {
		return err
	}
	defer sites.close()
	of := r.program.process("up")
	of.sites, of.document = sites, r.document
	parts, err := assemble(ctx, r.cfg, r.log, box, of)
	if err != nil {
		return err
	}
	defer parts.close()
	if err := parts.store.Migrate(ctx, r.log); err != nil {
		return err
	}
	if err := parts.applyTimeZones(ctx); err != nil {
		return err
	}
	if err := r.rotateKeys(ctx, parts); err != nil {
		return err
	}
	if err := parts.objects.EnsureBucket(ctx); err != nil {
		return err
	}
	parts.accounts.Sandbox, parts.accounts.SandboxValues = box.network, box.formValues
	owner, token, err := ensureWorkspace(ctx, parts.store, r.cfg.TimeZone.String(), r.renew)
	if err != nil {
		return err
	}
	box.connectAccount(ctx, parts, owner, r.log)
	parts.addDemo(box, sites)
	link, err := r.loginLink(ctx, parts, owner)
	if err != nil {
		return err
	}
	go parts.login.CheckProvider(ctx)
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
	return r.work(ctx, parts, listeners{l, metrics}, parts.telemetry.TraceRequests(parts.agents(handler)),
		func(ctx context.Context) { parts.runDemo(ctx, handler) })
}

// loginLink returns a link that logs the first owner in: to the demo, if it is wanted, which is created
// unless it exists.
func (r *running) loginLink(ctx context.Context, p *parts, owner workspace.Principal) (string, error) {
	link, err := p.loginLink(ctx, owner.UserID)
	if err != nil || !r.demo {
		return link, err
	}
	service := p.demoService()
	if service == nil {
		return "", errors.New("--demo needs the sandbox, which could not be started")
	}
	w, err := service.Create(audit.With(ctx, audit.Origin{Actor: audit.Operator}), owner)
	if err != nil {
		r.log.Warn("the demo was not created", "error", err)
		return link, nil //nolint:nilerr // everything else works
	}
	return link + "?" + url.Values{login.WorkspaceParameter: {w.ID.String()}}.Encode(), nil
}

// work runs the API and the worker until ctx ends or one of them fails.
func (r *running) work(
	ctx context.Context, parts *parts, l listeners, h http.Handler, background func(context.Context),
) error {
	return runConcurrently(ctx,
		func(ctx context.Context) error { return serve(ctx, l.api, h) },
		func(ctx context.Context) error { return parts.serveMetrics(ctx, l.metrics) },
		func(ctx context.Context) error { return parts.worker().Run(ctx) },
		func(ctx context.Context) error {
			background(ctx)
			<-ctx.Done()
			return nil
		})
}

// listeners are the listeners of a process. metrics is nil if metrics are off.
type listeners struct{ api, metrics net.Listener }

// listenMetrics opens the metrics listener, on a free port if the configured one is
// taken.
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

// listen opens a listener, on a free port if that of the address is taken.
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

// moveAPI updates the public URL if the API listens on another port.
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
	r.warnings = append(r.warnings, fmt.Sprintf("Port %s is taken by another program; the API uses port %s instead.",
		want, port))
	r.cfg.APIAddr = net.JoinHostPort(host, port)
}

// announce prints the addresses.
func (r *running) announce(box *sandbox, token, link string) {
	out := r.program.Stdout
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	for _, w := range r.warnings {
		say("Note: %s", w)
	}
	api := config.LocalURL(r.cfg.APIAddr)
	say("\nDateline %s is running.\n", r.program.Version)
	say("  API            %s/api/v1  (OpenAPI: %s/api/openapi.yaml)", api, api)
	say("  Dashboard      %s/", api)
	say("  Login          %s  (valid once, for %d minutes; `dateline login-link` prints a new one)", link,
		login.LinkLimit/time.Minute)
	if r.cfg.TemporalUIURL != "" {
		say("  Temporal UI    %s", r.cfg.TemporalUIURL)
	}
	if box != nil {
		say("  Sandbox        %s/  (fake networks; posts to %s appear there)", box.url(), sandboxAccount)
	}
	if r.cfg.MetricsAddr != "" {
		say("  Metrics        %s/metrics", config.LocalURL(r.cfg.MetricsAddr))
	}
	say("  Data           %s", r.cfg.DataDir)
	if token != "" {
		say("  API token      %s  (shown only once)", token)
		say("  Command line   dateline login %s  (asks for the token and saves it)", api)
	} else {
		say("  API token      unchanged (`--new-token` creates a new one)")
	}
	say("\nStop with Ctrl-C: posts that are being sent are finished first. All data is preserved.\n")
	if f, ok := out.(*os.File); ok {
		_ = f.Sync()
	}
}
