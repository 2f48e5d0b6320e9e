package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/embedded"
	"dateline/internal/infra/retry"
	"dateline/workflows"
)

// measuring are published posts whose metrics can be read all the time.
type measuring struct {
	db *pgx.Conn
}

// startMeasuring publishes posts. Their metrics are not due until during runs.
func (s *stack) startMeasuring(ctx context.Context, accounts []string, posts int) (*measuring, error) {
	if _, _, err := s.schedule(ctx, accounts, "measured", posts,
		func(int) time.Time { return time.Now().Add(5 * time.Second) }); err != nil {
		return nil, err
	}
	if err := s.closed(ctx, workflows.PostWorkflow, time.Duration(posts)*100*time.Millisecond+
		2*time.Minute); err != nil {
		return nil, err
	}
	url, err := embedded.RunningDatabase(filepath.Join(s.dir, "data"))
	if err != nil {
		return nil, err
	}
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	m := &measuring{db: db}
	_, err = db.Exec(ctx,
		`with old as (update remote_posts set posted_at = posted_at - interval '2 days' returning account_id, remote_id)
		insert into post_metrics (account_id, remote_id, due_at) select account_id, remote_id, now() + interval '1 day'
			from old
		on conflict (account_id, remote_id) do update set due_at = excluded.due_at`)
	if err != nil {
		return nil, errors.Join(err, m.close(ctx))
	}
	return m, nil
}

func (m *measuring) close(ctx context.Context) error { return m.db.Close(ctx) }

// setDue makes the metrics of the posts due that nothing reads now.
func (m *measuring) setDue(ctx context.Context, in time.Duration) error {
	_, err := m.db.Exec(ctx, `update post_metrics m set due_at = now() + make_interval(secs => $1) from remote_posts r
		where r.account_id = m.account_id and r.remote_id = m.remote_id and r.posted_at < now() - interval '1 day'
			and m.claim is null and m.due_at > now()`, in.Seconds())
	return err
}

// during keeps the metrics due while f runs, and counts the readings.
func (m *measuring) during(ctx context.Context, f func() (herd, error)) (herd, error) {
	before, err := m.readings(ctx)
	if err != nil {
		return herd{}, err
	}
	loop, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	var failure error
	ended.Go(func() {
		for loop.Err() == nil && failure == nil {
			failure = m.setDue(ctx, 0)
			select {
			case <-loop.Done():
			case <-time.After(2 * time.Second):
			}
		}
	})
	h, err := f()
	cancel()
	ended.Wait()
	after, readingsErr := m.readings(ctx)
	h.Readings = after - before
	return h, errors.Join(err, failure, readingsErr)
}

func (m *measuring) readings(ctx context.Context) (n int, err error) {
	err = m.db.QueryRow(ctx,
		"select count(*) from (select distinct account_id, remote_id, at from post_metric_readings) r").Scan(&n)
	return n, err
}

// idle lets the readings that are due end, and makes no further ones due.
func (m *measuring) idle(ctx context.Context) error {
	for due := 1; due > 0; {
		if err := m.setDue(ctx, 24*time.Hour); err != nil {
			return err
		}
		if err := m.db.QueryRow(ctx, "select count(*) from post_metrics where due_at <= now() or claim is not null").
			Scan(&due); err != nil {
			return err
		}
		if err := retry.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return m.setDue(ctx, 24*time.Hour)
}

// pair is a herd without and one with readings of metrics.
type pair struct{ without, with herd }

// measureReadings publishes herds in turn without and with readings of metrics of
// earlier posts, on one stack. Every other pair begins with readings, so that what
// changes with time affects both sides.
func measureReadings(ctx context.Context, o options, s *stack, r *report) error {
	accounts, err := s.connect(ctx, "readings-", o.accounts, o.networks)
	if err != nil {
		return err
	}
	m, err := s.startMeasuring(ctx, accounts, max(o.measured, 1))
	if err != nil {
		return err
	}
	for i := range o.repeats {
		var p pair
		for part := range 2 {
			if err := m.idle(ctx); err != nil {
				return errors.Join(err, m.close(ctx))
			}
			publish := func() (herd, error) {
				return s.burst(ctx, o, accounts, fmt.Sprintf("pair %d part %d post", i, part), o.herds[0])
			}
			if part == i%2 {
				p.without, err = publish()
				r.herd(p.without)
			} else {
				p.with, err = m.during(ctx, publish)
				r.herd(p.with)
			}
			if err != nil {
				return errors.Join(err, m.close(ctx))
			}
		}
		r.pairs = append(r.pairs, p)
	}
	r.readings()
	return m.close(ctx)
}
