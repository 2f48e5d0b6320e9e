package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
)

// countInTwoRoundTrips counts one view like countNaively, with a transaction-free
// pipeline: SET NX deduplicates, and a pipeline sends everything else.
func (e *engine) countInTwoRoundTrips(ctx context.Context, h counter.Hit) error {
	const window, day = 30 * time.Minute, 24 * time.Hour
	isNew, err := e.SetNX(ctx, fmt.Sprintf("viewed:%x:%s", h.Visitor.Hash, h.Page), 1, window).Result()
	if err != nil || !isNew {
		return err
	}
	hour, minute := h.At.Format("2006010215"), h.At.Format("200601021504")
	_, err = e.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Incr(ctx, "views:"+h.Page)
		p.Incr(ctx, "views:"+h.Page+":"+hour)
		p.Expire(ctx, "views:"+h.Page+":"+hour, 2*day)
		p.PFAdd(ctx, "uniques:"+h.Page, h.Visitor.Hash)
		p.HIncrBy(ctx, "minute:"+minute, h.Page, 1)
		p.Expire(ctx, "minute:"+minute, 2*time.Hour)
		p.SAdd(ctx, "dirty", h.Page)
		return nil
	})
	return err
}

// incrBatcher sends the INCRs of concurrent callers in pipelines, with as many
// senders and as large batches as counter.Batcher.
type incrBatcher struct {
	client *redis.Client
	queue  chan *incrRequest
	all    sync.WaitGroup
}

type incrRequest struct {
	key  string
	done chan error
}

const (
	incrSenders  = 2
	maxPipelined = 1000
)

func newIncrBatcher(ctx context.Context, client *redis.Client) *incrBatcher {
	b := &incrBatcher{client: client, queue: make(chan *incrRequest, maxPipelined)}
	for range incrSenders {
		b.all.Go(func() { b.send(ctx) })
	}
	return b
}

func (b *incrBatcher) send(ctx context.Context) {
	var batch []*incrRequest
	for first := range b.queue {
		batch = append(batch[:0], first)
		for more := true; more && len(batch) < maxPipelined; {
			select {
			case r, ok := <-b.queue:
				if more = ok; ok {
					batch = append(batch, r)
				}
			default:
				more = false
			}
		}
		_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, r := range batch {
				p.Incr(ctx, r.key)
			}
			return nil
		})
		for _, r := range batch {
			r.done <- err
		}
	}
}

func (b *incrBatcher) close() {
	close(b.queue)
	b.all.Wait()
}

// incrPipelined counts with INCRs in pipelines, the least that counting can cost
// Redis.
func (e *engine) incrPipelined(ctx context.Context, o options, site counter.Site, pages []string) (result, error) {
	b := newIncrBatcher(ctx, e.Client)
	defer b.close()
	pool := sync.Pool{New: func() any { return &incrRequest{done: make(chan error, 1)} }}
	return e.measureThroughput(ctx, o, site, pages, func(_ context.Context, h counter.Hit) error {
		r := pool.Get().(*incrRequest) //nolint:forcetypeassert // the pool has nothing else
		r.key = "i:" + h.Page
		b.queue <- r
		err := <-r.done
		pool.Put(r)
		return err
	})
}
