package cli

import (
	"context"
	"os"

	"dateline/internal/condition"
	"dateline/internal/telemetry"
	"dateline/internal/vitals"
)

// watch looks how the installation is, for people.
func (p *parts) watch() *condition.Watch {
	w := &condition.Watch{Store: p.store, Version: p.of.version, Clock: p.clock.Reading, Queues: p.temporalQueues, Redis: p.redisFullness,
		Disks: p.disks, Log: p.log, Armed: func() (int64, bool) { return int64(p.running.Armed()), p.of.service != "api" }}
	if p.cfg.Crawl {
		w.Crawl = func(ctx context.Context) (condition.Crawl, error) {
			c, err := p.store.CrawlState(ctx)
			return condition.Crawl{SeedsDue: c.Seeds.Due, SeedsOverdue: c.Seeds.Overdue}, err
		}
	}
	if p.counter != nil {
		w.Readers = func(ctx context.Context) (condition.Readers, error) {
			n, err := p.counter.QuarantineSize(ctx)
			return condition.Readers{Quarantined: n}, err
		}
	}
	return w
}

// temporalQueues asks Temporal what waits, and this process' worker, if it has
// one, how long steps have been waiting for it.
func (p *parts) temporalQueues(ctx context.Context) ([]condition.Queue, error) {
	backlogs, err := p.starter.Backlogs(ctx)
	if err != nil {
		return nil, err
	}
	waits := p.telemetry.TemporalWaits()
	queues := make([]condition.Queue, 0, len(backlogs))
	for _, b := range backlogs {
		q := condition.Queue{Name: b.Queue, Kind: b.Kind, Waiting: b.Tasks, Oldest: b.Age}
		if wait := waits[telemetry.TemporalQueue{Name: b.Queue, Kind: b.Kind}]; wait.Tasks > 0 {
			q.Start = &condition.Start{Steps: wait.Tasks, Median: wait.Quantile(0.5), P95: wait.Quantile(0.95)}
		}
		queues = append(queues, q)
	}
	return queues, nil
}

func (p *parts) redisFullness(ctx context.Context) (map[string]condition.Fullness, error) {
	clients, memory, err := p.redisUse(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]condition.Fullness{"connections": fullness(clients), "memory": fullness(memory)}, nil
}

func fullness(usedAndMost [2]float64) condition.Fullness {
	return condition.Fullness{Used: int64(usedAndMost[0]), Most: int64(usedAndMost[1])}
}

// disks says how full the disks are that this process writes to.
func (p *parts) disks() map[string]condition.Fullness {
	all := map[string]condition.Fullness{}
	for place, path := range map[string]string{"data": p.cfg.DataDir, "temporary": os.TempDir()} {
		if room, err := vitals.Disk(path); err == nil { // `api` and `worker` need no data directory
			all[place] = condition.Fullness{Used: room.Size - room.Free, Most: room.Size}
		}
	}
	if vitals.SameDisk(p.cfg.DataDir, os.TempDir()) {
		delete(all, "temporary") // it is told of once
	}
	return all
}
