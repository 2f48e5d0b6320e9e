package cli

import (
	"context"
	"os"
	"strconv"

	"dateline/internal/infra/telemetry"
	"dateline/internal/ops/hoststats"
	"dateline/internal/system/status"
)

// statusReporter returns the reporter behind GET /api/v1/system.
func (p *parts) statusReporter() *status.Reporter {
	r := &status.Reporter{
		Store: p.store.Status(), Version: p.of.version, Clock: p.clock.Reading, Queues: p.temporalQueues,
		Redis: p.redisUsage,
		Disks: p.diskUsage, Log: p.log, Armed: func() (int64, bool) {
			return int64(p.running.Armed()), p.of.service != "api"
		},
	}
	if p.cfg.Crawl {
		r.Crawl = func(ctx context.Context) (status.Crawl, error) {
			c, err := p.store.Installation.Status.CrawlState(ctx)
			return status.Crawl{SeedsDue: c.Seeds.Due, SeedsOverdue: c.Seeds.Overdue}, err
		}
	}
	if p.counter != nil {
		r.Readers = func(ctx context.Context) (status.Readers, error) {
			n, err := p.counter.QuarantineSize(ctx)
			return status.Readers{Quarantined: n}, err
		}
	}
	return r
}

// temporalQueues returns the backlog of the task queues, with the schedule-to-start
// latency if this process has a worker.
func (p *parts) temporalQueues(ctx context.Context) ([]status.Queue, error) {
	backlogs, err := p.workflows.Backlogs(ctx)
	if err != nil {
		return nil, err
	}
	latencies := p.telemetry.QueueLatencies()
	queues := make([]status.Queue, 0, len(backlogs))
	for _, b := range backlogs {
		q := status.Queue{Name: b.Queue, Kind: b.Kind, Pending: b.Tasks, Oldest: b.Age}
		if latency := latencies[telemetry.TaskQueue{Name: b.Queue, Kind: b.Kind}]; latency.Tasks > 0 {
			q.Start = &status.StartLatency{
				Tasks: latency.Tasks, Median: latency.Quantile(0.5), P95: latency.Quantile(0.95),
			}
		}
		queues = append(queues, q)
	}
	return queues, nil
}

func (p *parts) redisUsage(ctx context.Context) (map[string]status.Usage, error) {
	clients, memory, err := p.queryRedisUsage(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]status.Usage{"connections": toUsage(clients), "memory": toUsage(memory)}, nil
}

func toUsage(usedAndMax [2]float64) status.Usage {
	return status.Usage{Used: int64(usedAndMax[0]), Max: int64(usedAndMax[1])}
}

// diskUsage returns the usage of the volumes that this process writes to.
func (p *parts) diskUsage() map[string]status.Usage {
	all := map[string]status.Usage{}
	for volume, path := range map[string]string{"data": p.cfg.DataDir, "temporary": os.TempDir()} {
		if space, err := hoststats.Disk(path); err == nil { // `api` and `worker` need no data directory
			all[volume] = status.Usage{Used: space.Size - space.Free, Max: space.Size}
		}
	}
	if hoststats.SameDisk(p.cfg.DataDir, os.TempDir()) {
		delete(all, "temporary") // both are on the same volume
	}
	return all
}

// engineWatcher returns the watcher that notifies members of engines that are down.
func (p *parts) engineWatcher() *status.Watcher {
	host, _ := os.Hostname() // empty if unknown
	w := &status.Watcher{
		Store: p.store.Notify.Notifications, Checks: map[string]func(context.Context) error{},
		Source: host + "/" + strconv.Itoa(os.Getpid()), Changed: p.bus.Announce, Log: p.log,
	}
	for name, check := range p.checks() {
		if name != "database" && name != "clock" && name != "worker" {
			w.Checks[name] = check
		}
	}
	return w
}
