package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"dateline/api"
	"dateline/internal/infra/config"
	"dateline/internal/infra/telemetry"
)

// registerMetrics registers the metrics that are read on a scrape.
func (p *parts) registerMetrics() error {
	t := p.telemetry
	checks := p.checks()
	return errors.Join(
		t.RegisterGauge("dateline_build_info", func(context.Context) ([]telemetry.Sample, error) {
			return []telemetry.Sample{{Labels: []string{p.of.version, p.of.commit, p.of.date}, Value: 1}}, nil
		}),
		t.RegisterGauge("dateline_posts_armed", func(context.Context) ([]telemetry.Sample, error) {
			return telemetry.SingleSample(float64(p.running.Armed())), nil
		}),
		t.RegisterGauge("dateline_clock_offset_seconds", func(context.Context) ([]telemetry.Sample, error) {
			return telemetry.SingleSample(p.clock.Reading().Offset.Seconds()), nil
		}),
		t.RegisterGauge("dateline_engine_up", func(ctx context.Context) (all []telemetry.Sample, _ error) {
			for name, r := range api.RunChecks(ctx, checks) {
				up := 0.0
				if r == nil {
					up = 1
				}
				all = append(all, telemetry.Sample{Labels: []string{name}, Value: up})
			}
			return all, nil
		}),
		p.registerBacklogMetrics(),
		p.registerViewMetrics(),
		p.registerCrawlMetrics(),
		p.registerEngineMetrics(),
		p.registerHostMetrics(),
	)
}

// registerBacklogMetrics registers the backlog in the database.
func (p *parts) registerBacklogMetrics() error {
	t := p.telemetry
	return errors.Join(
		t.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
			q, err := p.store.Installation.Status.Backlog(ctx)
			return telemetry.Samples{
				"dateline_posts": states("scheduled", q.Scheduled, "due_within_a_minute", q.Due,
					"publishing", q.Publishing, "overdue", q.Overdue, "parked", q.Parked),
				"dateline_webhook_deliveries_pending": telemetry.SingleSample(float64(q.Deliveries)),
			}, err
		}, "dateline_posts", "dateline_webhook_deliveries_pending"),
		t.RegisterGauge("dateline_dead_letters", func(ctx context.Context) (all []telemetry.Sample, _ error) {
			reasons, err := p.store.Installation.Status.DeadLetterReasons(ctx)
			for reason, n := range reasons {
				all = append(all, telemetry.Sample{Labels: []string{reason}, Value: float64(n)})
			}
			return all, err
		}),
		t.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
			accounts, err := p.store.Installation.Status.AccountStates(ctx)
			var counts, expiries []telemetry.Sample
			first := map[string]float64{}
			for _, s := range accounts {
				counts = append(counts, telemetry.Sample{
					Labels: []string{s.Network, s.Status}, Value: float64(s.Accounts),
				})
				if s.FirstExpiry == nil {
					continue
				}
				if expiry, ok := first[s.Network]; !ok || s.FirstExpiry.Seconds() < expiry {
					first[s.Network] = s.FirstExpiry.Seconds()
				}
			}
			for network, expiry := range first {
				expiries = append(expiries, telemetry.Sample{Labels: []string{network}, Value: expiry})
			}
			return telemetry.Samples{"dateline_accounts": counts, "dateline_account_access_expiry_seconds": expiries},
				err
		}, "dateline_accounts", "dateline_account_access_expiry_seconds"),
	)
}

// states returns one sample per state; pairs alternates names and numbers.
func states(pairs ...any) (all []telemetry.Sample) {
	for i := 0; i+1 < len(pairs); i += 2 {
		var value float64
		switch n := pairs[i+1].(type) {
		case int64:
			value = float64(n)
		case int32:
			value = float64(n)
		case uint32:
			value = float64(n)
		case float64:
			value = n
		}
		all = append(all, telemetry.Sample{Labels: []string{fmt.Sprint(pairs[i])}, Value: value})
	}
	return all
}

// serveMetrics serves /metrics on a separate listener, so that clients of the API
// cannot read it. Without a listener it waits for ctx to end.
func (p *parts) serveMetrics(ctx context.Context, l net.Listener) error {
	if l == nil {
		<-ctx.Done()
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.telemetry.Handler())
	return serve(ctx, l, mux)
}

// listenMetrics opens the listener for /metrics, or returns nil if metrics are off.
func listenMetrics(ctx context.Context, cfg *config.Config) (net.Listener, error) {
	if cfg.MetricsAddr == "" {
		return nil, nil //nolint:nilnil // off
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", cfg.MetricsAddr)
	if err != nil {
		return nil, fmt.Errorf("DATELINE_METRICS_ADDR: %w", err)
	}
	return l, nil
}

// runConcurrently runs all functions until one returns, and then stops the others.
func runConcurrently(ctx context.Context, all ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(all))
	for _, one := range all {
		go func() { ended <- one(ctx) }()
	}
	err := <-ended
	cancel()
	for range len(all) - 1 {
		err = errors.Join(err, <-ended)
	}
	return err
}
