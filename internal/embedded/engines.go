package embedded

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"dateline/internal/infra/config"
	"dateline/internal/infra/retry"
)

// Endpoints contains the addresses of all engines, local and configured ones.
type Endpoints struct {
	DatabaseURL     string
	RedisURL        string
	TemporalAddress string
	TemporalUIURL   string
	S3Endpoint      string
	S3AccessKey     string
	S3SecretKey     string
}

// Engines are the started engines.
type Engines struct {
	Endpoints

	// Warnings are messages for the operator.
	Warnings []string

	host            *Host
	running         []engine // in start order
	failed          chan error
	stopSupervision context.CancelFunc
	stopOnce        sync.Once
}

// engine is a started engine.
type engine struct {
	name  string
	fill  func(*Engines)
	child *child // nil for an engine within this process, which has:
	stop  func(context.Context) error
	ended <-chan error // delivers an error if it fails, and is closed at its end; can be nil
}

// Start concurrently starts all engines that are not configured, and returns when they are ready. searchAttributes are
// custom search attributes by name, with types as in the Temporal CLI ("Keyword").
func (h *Host) Start(ctx context.Context, log *slog.Logger, searchAttributes map[string]string) (*Engines, error) {
	cfg := h.cfg
	supervision, stopSupervision := context.WithCancel(context.WithoutCancel(ctx)) // Until Stop.
	e := &Engines{
		Endpoints: Endpoints{
			DatabaseURL: cfg.DatabaseURL, RedisURL: cfg.RedisURL,
			TemporalAddress: cfg.TemporalAddress, TemporalUIURL: cfg.TemporalUIURL,
			S3Endpoint: cfg.S3Endpoint, S3AccessKey: cfg.S3AccessKey, S3SecretKey: cfg.S3SecretKey,
		},
		host: h, failed: make(chan error, 8), stopSupervision: stopSupervision,
	}
	var starters []func(context.Context) (engine, error)
	if cfg.DatabaseURL == "" {
		starters = append(starters, h.startPostgres)
	}
	if cfg.RedisURL == "" {
		starters = append(starters, h.startRedis)
	}
	if cfg.S3Endpoint == "" {
		starters = append(starters, func(context.Context) (engine, error) { return h.startS3() })
	}
	if cfg.TemporalAddress == "" {
		starters = append(starters, func(ctx context.Context) (engine, error) {
			return h.startTemporal(ctx, searchAttributes)
		})
	}

	started := make([]engine, len(starters))
	errs := make([]error, len(starters))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for i, start := range starters {
		wg.Go(func() {
			began := time.Now()
			if started[i], errs[i] = start(ctx); errs[i] != nil {
				cancel() // Cancel the other starts.
				return
			}
			log.Debug("engine ready", "engine", started[i].name, "took", time.Since(began).Round(time.Millisecond))
		})
	}
	wg.Wait()
	for i := range started {
		if errs[i] == nil {
			started[i].fill(e)
			e.watch(supervision, started[i], log)
		}
	}
	go e.watchDataDir(supervision)
	if err := errors.Join(firstCause(errs), e.writeEndpoints()); err != nil {
		// Stop the children even if the context of the caller has ended.
		return nil, errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// firstCause omits the errors of starts that were canceled because another one failed.
func firstCause(errs []error) error {
	var causes []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			causes = append(causes, err)
		}
	}
	if len(causes) == 0 {
		return errors.Join(errs...)
	}
	return errors.Join(causes...)
}

// watch restarts an engine that exits, or reports its failure if that is not possible.
func (e *Engines) watch(ctx context.Context, started engine, log *slog.Logger) {
	if started.child != nil {
		last := e.host.superviseInBackground(ctx, started.child, log, firstDelay, e.failed)
		started.stop = func(ctx context.Context) error { (<-last).stop(ctx); return nil }
	} else if started.ended != nil {
		go func() {
			for err := range started.ended {
				e.failed <- err
			}
		}()
	}
	e.running = append(e.running, started)
}

// watchDataDir reports the loss of the data directory.
func (e *Engines) watchDataDir(ctx context.Context) {
	for retry.Sleep(ctx, 2*time.Second) == nil {
		if err := e.host.checkDataDir(); err != nil {
			e.failed <- err
			return
		}
	}
}

// Failed delivers an error if an engine exits repeatedly or cannot be restarted: its name, exit status, log file and
// last log lines. Dateline should then stop. A restart is only logged as a warning.
func (e *Engines) Failed() <-chan error { return e.failed }

// Stop stops the engines in reverse start order and releases the data directory. Children that do not stop within their
// grace period, or before ctx ends, are killed.
func (e *Engines) Stop(ctx context.Context) error {
	var errs []error
	e.stopOnce.Do(func() {
		e.stopSupervision() // First, so that no engine is restarted.
		for i := len(e.running) - 1; i >= 0; i-- {
			errs = append(errs, e.running[i].stop(ctx))
		}
		_ = os.Remove(e.host.path("run", enginesFile))
		e.host.Close()
	})
	return errors.Join(errs...)
}

// Apply returns a copy of cfg with the addresses of the engines.
func (e Endpoints) Apply(cfg *config.Config) *config.Config {
	c := *cfg
	c.DatabaseURL, c.RedisURL = e.DatabaseURL, e.RedisURL
	c.TemporalAddress, c.TemporalUIURL = e.TemporalAddress, e.TemporalUIURL
	c.S3Endpoint, c.S3AccessKey, c.S3SecretKey = e.S3Endpoint, e.S3AccessKey, e.S3SecretKey
	if cfg.TemporalAddress == "" {
		c.TemporalTLS, c.TemporalAPIKey = false, "" // Not supported by the local server.
	}
	if cfg.S3Endpoint == "" {
		c.S3PathStyle = true // The local server has no host names of buckets.
	}
	return &c
}

// startOnPort starts a child and waits until it is ready. If it exits immediately, it retries
// with another port, because another process may have taken the port.
func (h *Host) startOnPort(
	ctx context.Context, preferred int, describe func(port int) (childSpec, error),
) (*child, int, error) {
	var last error
	for range 3 {
		port, err := h.ports.pick(preferred)
		if err != nil {
			return nil, 0, err
		}
		spec, err := describe(port)
		if err != nil {
			return nil, 0, err
		}
		c, err := h.startChild(spec)
		if err != nil {
			return nil, 0, err
		}
		last = c.waitReady(ctx)
		if last == nil && c.alive() {
			return c, port, nil
		}
		ended := !c.alive()
		c.stop(context.WithoutCancel(ctx)) // With its grace period, even if canceled.
		if !ended || ctx.Err() != nil {
			break
		}
	}
	return nil, 0, last
}
