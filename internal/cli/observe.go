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
	"dateline/internal/ops/hoststats"
)

// observeAudience registers how the counts of readers are kept.
func (p *parts) observeAudience() error {
	if !p.cfg.Views {
		return nil
	}
	return p.telemetry.ObserveTogether(func(ctx context.Context) (telemetry.Readings, error) {
		state, err := p.store.ReaderState(ctx)
		if err != nil {
			return nil, err
		}
		all := telemetry.Readings{"dateline_view_counts_differing": telemetry.One(float64(state.Differing))}
		waiting, err := p.counter.PendingEntries(ctx)
		if err != nil {
			return all, nil //nolint:nilerr // dateline_engine_up says that Redis is away
		}
		var lag time.Duration
		if waiting > 0 {
			lag = state.SinceFlush
		}
		all["dateline_view_changes_waiting"] = telemetry.One(float64(waiting))
		all["dateline_view_flush_lag_seconds"] = telemetry.One(lag.Seconds())
		if quarantined, err := p.counter.QuarantineSize(ctx); err == nil {
			all["dateline_view_quarantine_records"] = telemetry.One(float64(quarantined))
		}
		return all, nil
	}, "dateline_view_counts_differing", "dateline_view_changes_waiting", "dateline_view_flush_lag_seconds", "dateline_view_quarantine_records")
}

// observeCrawl registers what the crawler knows, and what waits to be read.
func (p *parts) observeCrawl() error {
	if !p.cfg.Crawl {
		return nil
	}
	return errors.Join(
		p.telemetry.ObserveTogether(func(ctx context.Context) (telemetry.Readings, error) {
			c, err := p.store.CrawlState(ctx)
			return telemetry.Readings{
				"dateline_crawl_seeds":         states("active", c.Seeds.Active, "paused", c.Seeds.Paused, "due", c.Seeds.Due, "overdue", c.Seeds.Overdue),
				"dateline_crawl_domains":       states("known", c.Domains.Known, "paused", c.Domains.Paused, "left_alone", c.Domains.Waiting, "due", c.Domains.Due),
				"dateline_crawl_frontier_urls": telemetry.One(float64(c.URLs)),
			}, err
		}, "dateline_crawl_seeds", "dateline_crawl_domains", "dateline_crawl_frontier_urls"),
		p.telemetry.ObserveTogether(func(ctx context.Context) (telemetry.Readings, error) {
			pages, oldestPage, err := p.store.PagesToParse(ctx)
			if err != nil {
				return nil, err
			}
			changes, oldestChange, err := p.store.ChangesToIndex(ctx)
			return telemetry.Readings{
				"dateline_articles_waiting":         states("parse", pages, "index", changes),
				"dateline_articles_waiting_seconds": states("parse", oldestPage.Seconds(), "index", oldestChange.Seconds()),
			}, err
		}, "dateline_articles_waiting", "dateline_articles_waiting_seconds"),
	)
}

// observeEngines registers how full the engines are.
func (p *parts) observeEngines() error {
	t := p.telemetry
	return errors.Join(
		t.Observe("dateline_database_connections", func(context.Context) ([]telemetry.Reading, error) {
			used, idle, most := p.store.Connections()
			return states("in_use", used, "idle", idle, "most", most), nil
		}),
		t.ObserveTogether(func(ctx context.Context) (telemetry.Readings, error) {
			s, err := p.store.ServerState(ctx)
			return telemetry.Readings{"dateline_database_server_connections": states("used", s.Used, "most", s.Most),
				"dateline_database_size_bytes": telemetry.One(float64(s.Bytes))}, err
		}, "dateline_database_server_connections", "dateline_database_size_bytes"),
		t.Observe("dateline_redis_connections", func(context.Context) ([]telemetry.Reading, error) {
			s := p.redis.PoolStats()
			return states("in_use", s.TotalConns-s.IdleConns, "idle", s.IdleConns), nil
		}),
		t.ObserveTogether(p.redisState, "dateline_redis_server_connections", "dateline_redis_memory_bytes"),
		t.ObserveTogether(func(ctx context.Context) (telemetry.Readings, error) {
			backlogs, err := p.starter.Backlogs(ctx)
			var tasks, ages []telemetry.Reading
			for _, b := range backlogs {
				labels := []string{b.Queue, b.Kind}
				tasks = append(tasks, telemetry.Reading{Labels: labels, Value: float64(b.Tasks)})
				ages = append(ages, telemetry.Reading{Labels: labels, Value: b.Age.Seconds()})
			}
			return telemetry.Readings{"dateline_temporal_backlog": tasks, "dateline_temporal_backlog_age_seconds": ages}, err
		}, "dateline_temporal_backlog", "dateline_temporal_backlog_age_seconds"),
		t.ObserveTogether(func(context.Context) (telemetry.Readings, error) {
			var cpu, memory []telemetry.Reading
			for name, u := range engineUsage(hoststats.Children()) {
				cpu = append(cpu, telemetry.Reading{Labels: []string{name}, Value: u.CPU})
				memory = append(memory, telemetry.Reading{Labels: []string{name}, Value: float64(u.Memory)})
			}
			return telemetry.Readings{"dateline_engine_cpu_seconds_total": cpu, "dateline_engine_memory_bytes": memory}, nil
		}, "dateline_engine_cpu_seconds_total", "dateline_engine_memory_bytes"),
	)
}

// engineUsage picks the engines among the programs that this process runs.
func engineUsage(all []hoststats.Usage) map[string]hoststats.Usage {
	engines := map[string]hoststats.Usage{}
	for _, u := range all {
		name := map[string]string{"postgres": "database", "redis-server": "redis", "valkey-server": "redis", "temporald": "temporal", "temporal": "temporal"}[u.Name]
		if name == "" {
			continue
		}
		sum := engines[name]
		engines[name] = hoststats.Usage{Name: name, CPU: sum.CPU + u.CPU, Memory: sum.Memory + u.Memory}
	}
	return engines
}

// redisState says how full Redis is.
func (p *parts) redisState(ctx context.Context) (telemetry.Readings, error) {
	clients, memory, err := p.redisUse(ctx)
	return telemetry.Readings{"dateline_redis_server_connections": usedOfMost(clients), "dateline_redis_memory_bytes": usedOfMost(memory)}, err
}

// redisUse asks Redis how full it is (redis.io/docs/latest/commands/info): what is
// used, and the most that may be, of the node that is fuller.
func (p *parts) redisUse(ctx context.Context) (clients, memory [2]float64, err error) {
	var mu sync.Mutex
	read := func(ctx context.Context, node redis.Cmdable) error {
		text, err := node.Info(ctx).Result()
		if err != nil {
			return err
		}
		info := parseInfo(text)
		mu.Lock()
		defer mu.Unlock()
		fuller(&clients, info["connected_clients"], info["maxclients"])
		fuller(&memory, info["used_memory"], info["maxmemory"])
		return nil
	}
	if cluster, ok := p.redis.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return read(ctx, node) })
	} else {
		err = read(ctx, p.redis)
	}
	return clients, memory, err
}

// fuller keeps the numbers of the node that is fuller.
func fuller(kept *[2]float64, used, most float64) {
	if most == 0 && kept[1] == 0 && used > kept[0] || most > 0 && (kept[1] == 0 || used/most > kept[0]/kept[1]) {
		*kept = [2]float64{used, most}
	}
}

func usedOfMost(n [2]float64) []telemetry.Reading {
	all := []telemetry.Reading{{Labels: []string{"used"}, Value: n[0]}}
	if n[1] > 0 {
		all = append(all, telemetry.Reading{Labels: []string{"most"}, Value: n[1]})
	}
	return all
}

// parseInfo reads the numbers of an answer to INFO.
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

// observeSurroundings registers what the process and its host may use.
func (p *parts) observeSurroundings() error {
	t := p.telemetry
	certificates := &hoststats.Certificates{Places: hoststats.TLSEndpoints(p.cfg)}
	return errors.Join(
		t.Observe("dateline_memory_limit_bytes", func(context.Context) ([]telemetry.Reading, error) {
			limit, ok := hoststats.MemoryLimit()
			if !ok {
				return nil, nil
			}
			return telemetry.One(float64(limit)), nil
		}),
		t.Observe("dateline_disk_bytes", func(context.Context) (all []telemetry.Reading, _ error) {
			for place, path := range map[string]string{"data": p.cfg.DataDir, "temporary": os.TempDir()} {
				room, err := hoststats.Disk(path)
				if err != nil {
					continue // `api` and `worker` need no data directory
				}
				all = append(all, telemetry.Reading{Labels: []string{place, "free"}, Value: float64(room.Free)},
					telemetry.Reading{Labels: []string{place, "size"}, Value: float64(room.Size)})
			}
			return all, nil
		}),
		t.Observe("dateline_certificate_ends_seconds", func(ctx context.Context) (all []telemetry.Reading, _ error) {
			for place, end := range certificates.End(ctx) {
				all = append(all, telemetry.Reading{Labels: []string{place}, Value: time.Until(end).Seconds()})
			}
			return all, nil
		}),
		t.Observe("dateline_keyset_age_seconds", func(context.Context) ([]telemetry.Reading, error) {
			if p.cfg.KeysetJSON != "" {
				return nil, nil // nothing tells
			}
			file, err := os.Stat(p.cfg.Keyset)
			if err != nil {
				return nil, err
			}
			return telemetry.One(time.Since(file.ModTime()).Seconds()), nil
		}),
	)
}

// meteredFlusher tells the meter of flushes.
type meteredFlusher struct {
	*flush.Flusher
	meter *telemetry.Views
}

// Flush brings the counts of readers to the database.
func (t meteredFlusher) Flush(ctx context.Context, beat func()) (flush.Result, error) {
	start := time.Now()
	done, err := t.Flusher.Flush(ctx, beat)
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
