package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/flush"
	"dateline/internal/infra/telemetry"
	"dateline/internal/ops/doctor"
	"dateline/internal/ops/hoststats"
)

// registerViewMetrics registers the state of view counting.
func (p *parts) registerViewMetrics() error {
	if !p.cfg.Views {
		return nil
	}
	return p.telemetry.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
		state, err := p.store.Installation.Status.ReaderState(ctx)
		if err != nil {
			return nil, err
		}
		all := telemetry.Samples{"dateline_view_count_mismatches": telemetry.SingleSample(float64(state.Mismatches))}
		pending, err := p.counter.PendingEntries(ctx)
		if err != nil {
			return all, nil //nolint:nilerr // dateline_engine_up reports Redis
		}
		var lag time.Duration
		if pending > 0 {
			lag = state.SinceFlush
		}
		all["dateline_view_pending_entries"] = telemetry.SingleSample(float64(pending))
		all["dateline_view_flush_lag_seconds"] = telemetry.SingleSample(lag.Seconds())
		if quarantined, err := p.counter.QuarantineSize(ctx); err == nil {
			all["dateline_view_quarantine_records"] = telemetry.SingleSample(float64(quarantined))
		}
		return all, nil
	}, "dateline_view_count_mismatches", "dateline_view_pending_entries", "dateline_view_flush_lag_seconds",
		"dateline_view_quarantine_records")
}

// registerCrawlMetrics registers the state of the crawler and the extraction backlog.
func (p *parts) registerCrawlMetrics() error {
	if !p.cfg.Crawl {
		return nil
	}
	return errors.Join(
		p.telemetry.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
			c, err := p.store.Installation.Status.CrawlState(ctx)
			return telemetry.Samples{
				"dateline_crawl_seeds": states("active", c.Seeds.Active, "paused", c.Seeds.Paused, "due",
					c.Seeds.Due, "overdue", c.Seeds.Overdue),
				"dateline_crawl_domains": states("known", c.Domains.Known, "paused", c.Domains.Paused,
					"backing_off", c.Domains.BackingOff, "due", c.Domains.Due),
				"dateline_crawl_frontier_urls": telemetry.SingleSample(float64(c.URLs)),
			}, err
		}, "dateline_crawl_seeds", "dateline_crawl_domains", "dateline_crawl_frontier_urls"),
		p.telemetry.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
			c, err := p.store.News.Domains.CountHubSubscriptions(ctx)
			return telemetry.Samples{
				"dateline_websub_subscriptions": states("pending", c["pending"], "active", c["active"], "expired",
					c["expired"], "denied", c["denied"]),
			}, err
		}, "dateline_websub_subscriptions"),
		p.telemetry.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
			pages, oldestPage, err := p.store.Installation.Status.PagesToParse(ctx)
			if err != nil {
				return nil, err
			}
			changes, oldestChange, err := p.store.Installation.Status.ChangesToIndex(ctx)
			if err != nil {
				return nil, err
			}
			queued, oldestQueued, err := p.store.News.Stories.StoryBacklog(ctx)
			return telemetry.Samples{
				"dateline_articles_pending": states("parse", pages, "index", changes, "story", queued),
				"dateline_articles_oldest_pending_seconds": states("parse", oldestPage.Seconds(), "index",
					oldestChange.Seconds(), "story", oldestQueued.Seconds()),
			}, err
		}, "dateline_articles_pending", "dateline_articles_oldest_pending_seconds"),
	)
}

// registerEngineMetrics registers the usage of the engines.
func (p *parts) registerEngineMetrics() error {
	t := p.telemetry
	return errors.Join(
		t.RegisterGauge("dateline_database_connections", func(context.Context) ([]telemetry.Sample, error) {
			used, idle, maximum := p.store.Installation.Status.Connections()
			return states("in_use", used, "idle", idle, "max", maximum), nil
		}),
		t.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
			s, err := p.store.Installation.Status.ServerState(ctx)
			return telemetry.Samples{
				"dateline_database_server_connections": states("used", s.Connections, "max",
					s.MaxConnections),
				"dateline_database_size_bytes": telemetry.SingleSample(float64(s.Bytes)),
			}, err
		}, "dateline_database_server_connections", "dateline_database_size_bytes"),
		t.RegisterGauge("dateline_redis_connections", func(context.Context) ([]telemetry.Sample, error) {
			s := p.redis.PoolStats()
			return states("in_use", s.TotalConns-s.IdleConns, "idle", s.IdleConns), nil
		}),
		t.RegisterCollector(p.redisSamples, "dateline_redis_server_connections", "dateline_redis_memory_bytes"),
		t.RegisterCollector(func(ctx context.Context) (telemetry.Samples, error) {
			backlogs, err := p.workflows.Backlogs(ctx)
			var tasks, ages []telemetry.Sample
			for _, b := range backlogs {
				labels := []string{b.Queue, b.Kind}
				tasks = append(tasks, telemetry.Sample{Labels: labels, Value: float64(b.Tasks)})
				ages = append(ages, telemetry.Sample{Labels: labels, Value: b.Age.Seconds()})
			}
			return telemetry.Samples{"dateline_temporal_backlog": tasks, "dateline_temporal_backlog_age_seconds": ages},
				err
		}, "dateline_temporal_backlog", "dateline_temporal_backlog_age_seconds"),
		t.RegisterCollector(func(context.Context) (telemetry.Samples, error) {
			var cpu, memory []telemetry.Sample
			for name, u := range engineUsage(hoststats.Children()) {
				cpu = append(cpu, telemetry.Sample{Labels: []string{name}, Value: u.CPU})
				memory = append(memory, telemetry.Sample{Labels: []string{name}, Value: float64(u.Memory)})
			}
			return telemetry.Samples{"dateline_engine_cpu_seconds_total": cpu, "dateline_engine_memory_bytes": memory},
				nil
		}, "dateline_engine_cpu_seconds_total", "dateline_engine_memory_bytes"),
	)
}

// engineUsage returns the usage of the engines among the child processes.
func engineUsage(all []hoststats.Usage) map[string]hoststats.Usage {
	engines := map[string]hoststats.Usage{}
	for _, u := range all {
		name := map[string]string{
			"postgres": "database", "redis-server": "redis", "valkey-server": "redis",
			"temporal": "temporal",
		}[u.Name]
		if name == "" {
			continue
		}
		sum := engines[name]
		engines[name] = hoststats.Usage{Name: name, CPU: sum.CPU + u.CPU, Memory: sum.Memory + u.Memory}
	}
	return engines
}

// redisSamples returns the usage of Redis.
func (p *parts) redisSamples(ctx context.Context) (telemetry.Samples, error) {
	clients, memory, err := p.queryRedisUsage(ctx)
	return telemetry.Samples{
		"dateline_redis_server_connections": usedAndMaxSamples(clients),
		"dateline_redis_memory_bytes":       usedAndMaxSamples(memory),
	}, err
}

// queryRedisUsage returns the used and the maximum connections and memory of Redis
// (redis.io/docs/latest/commands/info); in a cluster, those of the fullest node.
func (p *parts) queryRedisUsage(ctx context.Context) (clients, memory [2]float64, err error) {
	var mu sync.Mutex
	read := func(ctx context.Context, node redis.Cmdable) error {
		text, err := node.Info(ctx).Result()
		if err != nil {
			return err
		}
		info := parseInfo(text)
		mu.Lock()
		defer mu.Unlock()
		setIfFuller(&clients, info["connected_clients"], info["maxclients"])
		setIfFuller(&memory, info["used_memory"], info["maxmemory"])
		return nil
	}
	if cluster, ok := p.redis.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return read(ctx, node) })
	} else {
		err = read(ctx, p.redis)
	}
	return clients, memory, err
}

// setIfFuller replaces the usage if that of another node is higher. A maximum of 0
// means that there is no limit.
func setIfFuller(usage *[2]float64, used, maximum float64) {
	if maximum == 0 && usage[1] == 0 && used > usage[0] || maximum > 0 &&
		(usage[1] == 0 || used/maximum > usage[0]/usage[1]) {
		*usage = [2]float64{used, maximum}
	}
}

func usedAndMaxSamples(n [2]float64) []telemetry.Sample {
	all := []telemetry.Sample{{Labels: []string{"used"}, Value: n[0]}}
	if n[1] > 0 {
		all = append(all, telemetry.Sample{Labels: []string{"max"}, Value: n[1]})
	}
	return all
}

// parseInfo returns the numeric fields of a response to INFO.
func parseInfo(text string) map[string]float64 {
	numbers := map[string]float64{}
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), ":")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			numbers[name] = n
		}
	}
	return numbers
}

// registerHostMetrics registers the limits of the process and its host.
func (p *parts) registerHostMetrics() error {
	t := p.telemetry
	certificates := &hoststats.Certificates{Endpoints: hoststats.TLSEndpoints(doctor.Addresses(p.cfg))}
	return errors.Join(
		t.RegisterGauge("dateline_memory_limit_bytes", func(context.Context) ([]telemetry.Sample, error) {
			limit, ok := hoststats.MemoryLimit()
			if !ok {
				return nil, nil
			}
			return telemetry.SingleSample(float64(limit)), nil
		}),
		t.RegisterGauge("dateline_disk_bytes", func(context.Context) (all []telemetry.Sample, _ error) {
			for volume, path := range map[string]string{"data": p.cfg.DataDir, "temporary": os.TempDir()} {
				space, err := hoststats.Disk(path)
				if err != nil {
					continue // `api` and `worker` need no data directory
				}
				all = append(all, telemetry.Sample{Labels: []string{volume, "free"}, Value: float64(space.Free)},
					telemetry.Sample{Labels: []string{volume, "size"}, Value: float64(space.Size)})
			}
			return all, nil
		}),
		t.RegisterGauge("dateline_certificate_expiry_seconds",
			func(ctx context.Context) (all []telemetry.Sample, _ error) {
				for endpoint, expiry := range certificates.Expiries(ctx) {
					all = append(all, telemetry.Sample{Labels: []string{endpoint}, Value: time.Until(expiry).Seconds()})
				}
				return all, nil
			}),
		t.RegisterGauge("dateline_keyset_age_seconds", func(context.Context) ([]telemetry.Sample, error) {
			if p.cfg.KeysetJSON != "" {
				return nil, nil // its age is unknown
			}
			file, err := os.Stat(p.cfg.Keyset)
			if err != nil {
				return nil, err
			}
			return telemetry.SingleSample(time.Since(file.ModTime()).Seconds()), nil
		}),
	)
}

// meteredFlusher records metrics of flushes.
type meteredFlusher struct {
	*flush.Flusher
	meter *telemetry.Views
}

// Flush writes the view counts from Redis to the database.
func (t meteredFlusher) Flush(ctx context.Context, heartbeat func()) (flush.Result, error) {
	start := time.Now()
	done, err := t.Flusher.Flush(ctx, heartbeat)
	result := "ok"
	switch {
	case err != nil:
		result = "failed"
	case done.Busy:
		result = "busy"
	}
	t.meter.Flushed(ctx, result, done.Pages, time.Since(start))
	return done, err
}
