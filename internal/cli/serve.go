package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"dateline/api"
	"dateline/internal/infra/config"
	"dateline/internal/storage/postgres"
	"dateline/web"
)

// shutdownTimeout is the grace period for requests in flight.
const shutdownTimeout = 10 * time.Second

// serve handles requests until ctx ends, and then waits for requests in flight.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	base, endStreams := context.WithCancel(context.Background())
	defer endStreams()
	s := api.NewHTTPServer(h)
	s.BaseContext = func(net.Listener) context.Context { return base }
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(api.NewListener(l)) }()
	select {
	case err := <-failed:
		return fmt.Errorf("the API stopped: %w", err)
	case <-ctx.Done():
	}
	endStreams()
	shutdownCtx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if err := s.Shutdown(shutdownCtx); err != nil {
		return s.Close()
	}
	return nil
}

// connect assembles the parts of a process with external engines.
func (p *Program) connect(ctx context.Context, c *command) (*parts, error) {
	cfg, log, err := c.settings()
	if err != nil {
		return nil, err
	}
	if err := cfg.RequireEngines(); err != nil {
		return nil, err
	}
	parts, err := assemble(ctx, cfg, log, nil, p.process(c.Name()))
	if err != nil {
		return nil, err
	}
	schema, err := parts.store.Schema(ctx)
	if err == nil {
		err = schema.Usable(log)
	}
	if err == nil {
		err = parts.applyTimeZones(ctx)
	}
	if err != nil {
		parts.close()
		return nil, err
	}
	return parts, nil
}

func (p *Program) api() *cobra.Command {
	c := p.command("api", "serve the API")
	return c.run(func(ctx context.Context, _ []string) error {
		parts, err := p.connect(ctx, c)
		if err != nil {
			return err
		}
		defer parts.close()
		if err := parts.startAudience(ctx); err != nil {
			return err
		}
		go parts.login.CheckProvider(ctx)
		handler, err := parts.server(web.Page{TemporalUI: parts.cfg.TemporalUIURL}).Handler()
		if err != nil {
			return err
		}
		if err := parts.store.Identity.Logins.NotePublicURL(ctx, parts.cfg.PublicURL); err != nil {
			return err
		}
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", parts.cfg.APIAddr)
		if err != nil {
			return fmt.Errorf("DATELINE_API_ADDR: %w", err)
		}
		metrics, err := listenMetrics(ctx, parts.cfg)
		if err != nil {
			return err
		}
		parts.log.Info("API listening", "address", l.Addr().String(), "version", p.Version)
		return runConcurrently(ctx, func(ctx context.Context) error {
			return serve(ctx, l, parts.telemetry.TraceRequests(parts.agents(handler)))
		},
			func(ctx context.Context) error { return parts.serveMetrics(ctx, metrics) })
	})
}

func (p *Program) worker() *cobra.Command {
	c := p.command("worker", "run the worker for workflows and activities")
	profiler := profilerFlag(c.Flags())
	return c.run(func(ctx context.Context, _ []string) error {
		parts, err := p.connect(ctx, c)
		if err != nil {
			return err
		}
		defer parts.close()
		if err := profiler.serve(ctx, parts.log); err != nil {
			return err
		}
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", parts.cfg.WorkerHealthAddr)
		if err != nil {
			return fmt.Errorf("DATELINE_WORKER_HEALTH_ADDR: %w", err)
		}
		health := http.NewServeMux()
		health.Handle("/", parts.server(web.Page{}).HealthHandler())
		health.Handle("GET /metrics", parts.telemetry.Handler())
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		served := make(chan error, 1)
		go func() { served <- serve(ctx, l, health) }()
		err = parts.worker().Run(ctx)
		cancel()
		return errors.Join(err, <-served)
	})
}

func (p *Program) migrate() *cobra.Command {
	c := p.command("migrate", "migrate the database schema")
	return c.run(func(ctx context.Context, _ []string) error {
		cfg, log, err := c.settings()
		if err != nil {
			return err
		}
		if cfg.DatabaseURL == "" {
			return errors.New("DATABASE_URL is not set (`dateline up` migrates its database when it starts)")
		}
		s, err := postgres.Open(ctx, cfg.DatabaseURL)
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Migrate(ctx, log)
	})
}

func (p *Program) healthcheck() *cobra.Command {
	c := p.command("healthcheck [api|worker]", "check that the local api (or worker) is ready")
	c.Args = arguments(cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs))
	c.ValidArgs = []string{"api", "worker"}
	return c.run(func(ctx context.Context, args []string) error {
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		address := cfg.APIAddr
		if len(args) > 0 && args[0] == "worker" {
			address = cfg.WorkerHealthAddr
		}
		return ready(ctx, config.LocalURL(address))
	})
}

// ready returns an error unless the process at base is ready.
func ready(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is not ready (%s)", base, response.Status)
	}
	return nil
}
