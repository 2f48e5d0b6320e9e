package cli

import (
	"context"
	"os"

	"dateline/internal/infra/telemetry"
	"dateline/internal/ops/hoststats"
	"dateline/internal/ops/status"
)

// watch looks how the installation is, for people.
func (p *parts) watch() *status.Watch {
	w := &status.Watch{Store: p.store, Version: p.of.version, Clock: p.clock.Reading, Queues: p.temporalQueues, Redis: p.redisFullness,
		Disks: p.disks, Log: p.log, Armed: func() (int64, bool) { return int64(p.running.Armed()), p.of.service != "api" }}
	if p.cfg.Crawl {
		w.Crawl = func(ctx context.Context) (status.Crawl, error) {
			c, err := p.store.CrawlState(ctx)
			return status.Crawl{SeedsDue: c.Seeds.Due, SeedsOverdue: c.Seeds.Overdue}, err
		}
	}
	if p.counter != nil {
		w.Readers = func(ctx context.Context) (status.Readers, error) {
			n, err := p.counter.QuarantineSize(ctx)
			return status.Readers{Quarantined: n}, err
		}
	}
	return w
}

// temporalQueues asks Temporal what waits, and this process' worker, if it has
// one, how long steps have been waiting for it.
func (p *parts) temporalQueues(ctx context.Context) ([]status.Queue, error) {
	backlogs, err := p.starter.Backlogs(ctx)
	if err != nil {
		return nil, err
	}
	waits := p.telemetry.TemporalWaits()
	queues := make([]status.Queue, 0, len(backlogs))
	for _, b := range backlogs {
		q := status.Queue{Name: b.Queue, Kind: b.Kind, Waiting: b.Tasks, Oldest: b.Age}
		if wait := waits[telemetry.TemporalQueue{Name: b.Queue, Kind: b.Kind}]; wait.Tasks > 0 {
			q.Start = &status.Start{Steps: wait.Tasks, Median: wait.Quantile(0.5), P95: wait.Quantile(0.95)}
		}
		queues = append(queues, q)
	}
	return queues, nil
}

func (p *parts) redisFullness(ctx context.Context) (map[string]status.Fullness, error) {
	clients, memory, err := p.redisUse(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]status.Fullness{"connections": fullness(clients), "memory": fullness(memory)}, nil
}

func fullness(usedAndMost [2]float64) status.Fullness {
	return status.Fullness{Used: int64(usedAndMost[0]), Most: int64(usedAndMost[1])}
}

// disks says how full the disks are that this process writes to.
func (p *parts) disks() map[string]status.Fullness {
	all := map[string]status.Fullness{}
	for place, path := range map[string]string{"data": p.cfg.DataDir, "temporary": os.TempDir()} {
		if room, err := hoststats.Disk(path); err == nil { // `api` and `worker` need no data directory
			all[place] = status.Fullness{Used: room.Size - room.Free, Most: room.Size}
		}
	}
	if hoststats.SameDisk(p.cfg.DataDir, os.TempDir()) {
		delete(all, "temporary") // it is told of once
	}
	return all
}
