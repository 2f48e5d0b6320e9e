package embedded

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"dateline/internal/infra/config"
)

// Endpoints says where every engine is: those started here, and those that the settings named.
type Endpoints struct {
	DatabaseURL     string
	RedisURL        string
	TemporalAddress string
	TemporalUIURL   string
	S3Endpoint      string
	S3AccessKey     string
	S3SecretKey     string
}

// Engines is what Start started.
type Engines struct {
	Endpoints

	// Warnings are sentences that the person who started Dateline should read.
	Warnings []string

	host        *Host
	running     []engine // in the order of start
	failed      chan error
	stopKeeping context.CancelFunc // ends the supervision of the children
	stopOnce    sync.Once
}

// engine is one that was started here.
type engine struct {
	name  string
	fill  func(*Engines)
	child *child // nil for one inside this process, which has instead:
	stop  func(context.Context) error
	ended <-chan error // delivers an error if it fails, and is closed at its end; nil for one that does not tell
}

// Start starts, side by side, every engine that the settings do not name, and returns when all are ready.
// searchAttributes are custom search attributes by name, with types as the Temporal CLI writes them ("Keyword").
func (h *Host) Start(ctx context.Context, log *slog.Logger, searchAttributes map[string]string) (*Engines, error) {
	cfg := h.cfg
	keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx)) // Until Stop.
	e := &Engines{
		Endpoints: Endpoints{
			DatabaseURL: cfg.DatabaseURL, RedisURL: cfg.RedisURL,
			TemporalAddress: cfg.TemporalAddress, TemporalUIURL: cfg.TemporalUIURL,
			S3Endpoint: cfg.S3Endpoint, S3AccessKey: cfg.S3AccessKey, S3SecretKey: cfg.S3SecretKey,
		},
		host: h, failed: make(chan error, 8), stopKeeping: stopKeeping,
	}
	var starters []func(context.Context) (engine, error)
	if cfg.DatabaseURL == "" {
		starters = append(starters, func(ctx context.Context) (engine, error) { return h.startPostgres(ctx, log) })
	}
	if cfg.RedisURL == "" {
		starters = append(starters, h.startRedis)
	}
	if cfg.S3Endpoint == "" {
		starters = append(starters, func(context.Context) (engine, error) { return h.startS3() })
	}
	if cfg.TemporalAddress == "" {
		starters = append(starters, func(ctx context.Context) (engine, error) { return h.startTemporal(ctx, searchAttributes) })
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
				cancel() // The others need not go on.
				return
			}
			log.Debug("engine ready", "engine", started[i].name, "took", time.Since(began).Round(time.Millisecond))
		})
	}
	wg.Wait()
	for i := range started {
		if errs[i] == nil {
			started[i].fill(e)
			e.watch(keeping, started[i], log)
		}
	}
	if err := errors.Join(firstCause(errs), e.writeEndpoints()); err != nil {
		// The caller's context may be over already; the children must go all the same.
		return nil, errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// firstCause leaves out the errors of starts that were only called off because another failed.
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

// watch has an engine started again when it ends, or its failure reported where that is not possible.
func (e *Engines) watch(ctx context.Context, started engine, log *slog.Logger) {
	if started.child != nil {
		last := e.host.keep(ctx, started.child, log, firstPause, e.failed)
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

// Failed delivers an error when an engine keeps dying, cannot be started again after it died, or is part of this
// process and failed: its name, its exit status, where its log is and how the log ends. Dateline should say so and stop.
// A child that died and was started again is only in the log, as a warning.
func (e *Engines) Failed() <-chan error { return e.failed }

// Stop stops the engines, last started first, and gives the data directory free. When it returns no child is left:
// one that does not stop in its time, or before ctx ends, is killed.
func (e *Engines) Stop(ctx context.Context) error {
	var errs []error
	e.stopOnce.Do(func() {
		e.stopKeeping() // Of all first, so that none is started again while others stop.
		for i := len(e.running) - 1; i >= 0; i-- {
			errs = append(errs, e.running[i].stop(ctx))
		}
		_ = os.Remove(e.host.path("run", enginesFile))
		e.host.Close()
	})
	return errors.Join(errs...)
}

// Apply writes the engines' addresses into a copy of cfg, which then suits the API and the worker.
func (e Endpoints) Apply(cfg *config.Config) *config.Config {
	c := *cfg
	c.DatabaseURL, c.RedisURL = e.DatabaseURL, e.RedisURL
	c.TemporalAddress, c.TemporalUIURL = e.TemporalAddress, e.TemporalUIURL
	c.S3Endpoint, c.S3AccessKey, c.S3SecretKey = e.S3Endpoint, e.S3AccessKey, e.S3SecretKey
	if cfg.TemporalAddress == "" {
		c.TemporalTLS, c.TemporalAPIKey = false, "" // The server here speaks neither.
	}
	if cfg.S3Endpoint == "" {
		c.S3PathStyle = true // The server here knows no host names of buckets.
	}
	return &c
}

// startOnPort starts a child and waits for it, and tries again on another port when it ends at once: another process
// may have taken the port since it was picked.
func (h *Host) startOnPort(ctx context.Context, preferred int, describe func(port int) (childSpec, error)) (*child, int, error) {
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
		c.stop(context.WithoutCancel(ctx)) // Called off or not, it gets its time to stop.
		if !ended || ctx.Err() != nil {
			break
		}
	}
	return nil, 0, last
}
