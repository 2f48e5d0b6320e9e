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

// observe registers what is looked up when somebody asks for metrics.
func (p *parts) observe(version string) error {
	t := p.telemetry
	checks := p.checks()
	return errors.Join(
		t.Observe("dateline_build_info", func(context.Context) ([]telemetry.Reading, error) {
			return []telemetry.Reading{{Labels: []string{version}, Value: 1}}, nil
		}),
		t.Observe("dateline_posts_armed", func(context.Context) ([]telemetry.Reading, error) {
			return telemetry.One(float64(p.running.Armed())), nil
		}),
		t.Observe("dateline_clock_offset_seconds", func(context.Context) ([]telemetry.Reading, error) {
			return telemetry.One(p.clock.Reading().Offset.Seconds()), nil
		}),
		t.Observe("dateline_engine_up", func(ctx context.Context) (all []telemetry.Reading, _ error) {
			for name, r := range api.RunChecks(ctx, checks) {
				up := 0.0
				if r == nil {
					up = 1
				}
				all = append(all, telemetry.Reading{Labels: []string{name}, Value: up})
			}
			return all, nil
		}),
		p.observeQueues(),
		p.observeAudience(),
		p.observeCrawl(),
		p.observeEngines(),
		p.observeSurroundings(),
	)
}

// observeQueues registers what waits in the database.
func (p *parts) observeQueues() error {
	t := p.telemetry
	return errors.Join(
		t.ObserveTogether(func(ctx context.Context) (telemetry.Readings, error) {
			q, err := p.store.QueueSizes(ctx)
			return telemetry.Readings{
				"dateline_posts":                      states("scheduled", q.Scheduled, "due_within_a_minute", q.Due, "publishing", q.Publishing, "overdue", q.Overdue, "parked", q.Parked),
				"dateline_webhook_deliveries_waiting": telemetry.One(float64(q.Deliveries)),
			}, err
		}, "dateline_posts", "dateline_webhook_deliveries_waiting"),
		t.Observe("dateline_dead_letters", func(ctx context.Context) (all []telemetry.Reading, _ error) {
			reasons, err := p.store.DeadLetterReasons(ctx)
			for reason, n := range reasons {
				all = append(all, telemetry.Reading{Labels: []string{reason}, Value: float64(n)})
			}
			return all, err
		}),
		t.ObserveTogether(func(ctx context.Context) (telemetry.Readings, error) {
			accounts, err := p.store.AccountStates(ctx)
			var numbers, ends []telemetry.Reading
			first := map[string]float64{}
			for _, s := range accounts {
				numbers = append(numbers, telemetry.Reading{Labels: []string{s.Network, s.Status}, Value: float64(s.Accounts)})
				if s.FirstEnd == nil {
					continue
				}
				if end, known := first[s.Network]; !known || s.FirstEnd.Seconds() < end {
					first[s.Network] = s.FirstEnd.Seconds()
				}
			}
			for network, end := range first {
				ends = append(ends, telemetry.Reading{Labels: []string{network}, Value: end})
			}
			return telemetry.Readings{"dateline_accounts": numbers, "dateline_account_access_ends_seconds": ends}, err
		}, "dateline_accounts", "dateline_account_access_ends_seconds"),
	)
}

// states takes names and numbers in turn.
func states(pairs ...any) (all []telemetry.Reading) {
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
		all = append(all, telemetry.Reading{Labels: []string{fmt.Sprint(pairs[i])}, Value: value})
	}
	return all
}

// serveMetrics serves the metrics at an address of their own, so that who may
// reach the API does not reach them. With none it only waits.
func (p *parts) serveMetrics(ctx context.Context, l net.Listener) error {
	if l == nil {
		<-ctx.Done()
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.telemetry.Handler())
	return serve(ctx, l, mux)
}

// listenMetrics listens where the metrics are to be served, or nowhere.
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

// together runs all side by side until one ends, and then ends the others.
func together(ctx context.Context, all ...func(context.Context) error) error {
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
