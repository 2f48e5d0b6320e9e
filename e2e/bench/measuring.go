package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/embedded"
	"dateline/workflows"
)

// measuring publishes posts and keeps their metrics due, so that they are read all the
// time until stop is called. stop returns how many readings there were.
func (s *stack) measuring(ctx context.Context, accounts []string, posts int) (stop func() (readings int, err error), err error) {
	if _, _, err := s.schedule(ctx, accounts, "measured", posts, func(int) time.Time { return time.Now().Add(5 * time.Second) }); err != nil {
		return nil, err
	}
	if err := s.closed(ctx, workflows.PostWorkflow, time.Duration(posts)*100*time.Millisecond+2*time.Minute); err != nil {
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
	_, err = db.Exec(ctx, `with old as (update remote_posts set posted_at = posted_at - interval '2 days' returning account_id, remote_id)
		insert into post_metrics (account_id, remote_id, due_at) select account_id, remote_id, now() from old on conflict (account_id, remote_id) do update set due_at = excluded.due_at`)
	if err != nil {
		return nil, errors.Join(err, db.Close(ctx))
	}
	loop, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	var failure error
	ended.Go(func() {
		for loop.Err() == nil && failure == nil {
			_, failure = db.Exec(ctx, `update post_metrics m set due_at = now() from remote_posts r
				where r.account_id = m.account_id and r.remote_id = m.remote_id and r.posted_at < now() - interval '1 day' and m.claim is null and m.due_at > now()`)
			select {
			case <-loop.Done():
			case <-time.After(2 * time.Second):
			}
		}
	})
	return func() (readings int, err error) {
		cancel()
		ended.Wait()
		err = db.QueryRow(ctx, "select count(*) from (select distinct account_id, remote_id, at from post_metric_readings) r").Scan(&readings)
		return readings, errors.Join(failure, err, db.Close(ctx))
	}, nil
}
