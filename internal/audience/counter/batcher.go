package counter

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// ErrClosed is the error for hits after the batcher was closed.
var ErrClosed = errors.New("the batcher is closed")

const (
	// maxQueued is the maximum number of queued hits; further callers block.
	maxQueued = 10_000
	// maxInFlight is the maximum number of concurrent script calls. With two, Redis
	// always has the next call at hand when it finishes one.
	maxInFlight = 2
	// minSecondBatch is the minimum number of queued hits for a second concurrent
	// call. Fewer hits wait for the first call to return instead.
	minSecondBatch = 16
	// redisTimeout is the timeout of a script call.
	redisTimeout = 10 * time.Second
)

// Batcher collects concurrent hits into few script calls. It has no linger
// timer: hits that are queued while a call is in flight go into the next one.
// Callers get their outcome once the hit is in Redis. It is safe for concurrent
// use.
//
// It differs from the generic infra/batch.Batcher: after a failed call it must
// not run the inputs one by one, because the call may have counted them; it
// drops hits whose caller has left; it only starts a second concurrent call for
// a minimum of hits; and Close drains the queue.
type Batcher struct {
	counter    *Counter
	queueSlots chan struct{} // one per queued hit
	ready      chan struct{} // wakes a sender
	senders    sync.WaitGroup

	pool sync.Pool // of *countRequest

	mu       sync.Mutex
	queue    []*countRequest
	inFlight int // calls
	closed   bool
	done     chan struct{}
}

// countRequest is a queued hit.
type countRequest struct {
	ctx       context.Context //nolint:containedctx // of the caller, to drop abandoned hits
	hit       Hit
	filtered  *FilteredHit // instead of hit
	heartbeat *Heartbeat   // instead of hit
	event     *Event       // instead of hit
	result    chan countResult
}

type countResult struct {
	outcome Outcome
	err     error
}

// NewBatcher starts a batcher. Stop it with Close.
func NewBatcher(c *Counter) *Batcher {
	b := &Batcher{
		counter: c, queueSlots: make(chan struct{}, maxQueued), ready: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	for range maxInFlight {
		b.senders.Go(b.runSender)
	}
	return b
}

// Count counts one hit together with other queued hits. The hit may be counted
// even if ctx ends first.
func (b *Batcher) Count(ctx context.Context, h Hit) (Outcome, error) {
	if err := h.Validate(); err != nil {
		return Outcome{}, err
	}
	w := b.newRequest(ctx)
	w.hit = h
	return b.submit(ctx, w)
}

// CountFiltered counts a filtered hit.
func (b *Batcher) CountFiltered(ctx context.Context, h FilteredHit) error {
	if h.Page == "" || len(h.Page) > maxPageLength {
		return ErrPage
	}
	w := b.newRequest(ctx)
	w.filtered = &h
	_, err := b.submit(ctx, w)
	return err
}

// Heartbeat records a heartbeat and reports whether its view is known.
func (b *Batcher) Heartbeat(ctx context.Context, h Heartbeat) (known bool, err error) {
	if err := h.validate(); err != nil {
		return false, err
	}
	w := b.newRequest(ctx)
	w.heartbeat = &h
	outcome, err := b.submit(ctx, w)
	return outcome.Counted, err
}

// newRequest returns a request from the pool.
func (b *Batcher) newRequest(ctx context.Context) *countRequest {
	w, ok := b.pool.Get().(*countRequest)
	if !ok {
		w = &countRequest{result: make(chan countResult, 1)}
	}
	w.ctx = ctx
	return w
}

func (b *Batcher) submit(ctx context.Context, w *countRequest) (Outcome, error) {
	select {
	case b.queueSlots <- struct{}{}:
	default:
		select {
		case b.queueSlots <- struct{}{}:
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		case <-b.done:
			return Outcome{}, ErrClosed
		}
	}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		<-b.queueSlots
		return Outcome{}, ErrClosed
	}
	b.queue = append(b.queue, w)
	b.wakeSender()
	b.mu.Unlock()
	select {
	case a := <-w.result:
		*w = countRequest{result: w.result}
		b.pool.Put(w)
		return a.outcome, a.err
	case <-ctx.Done():
		return Outcome{}, ctx.Err() // not returned to the pool: a sender may still write to it
	}
}

// Close rejects new hits and returns once the queued ones are in Redis.
func (b *Batcher) Close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.done)
	}
	b.mu.Unlock()
	b.senders.Wait()
}

func (b *Batcher) runSender() {
	for {
		// Let callers that are about to queue a hit run first, so that their hits are
		// part of this call.
		runtime.Gosched()
		batch, closed := b.takeBatch()
		switch {
		case len(batch) > 0:
			b.sendBatch(batch)
			b.mu.Lock()
			b.inFlight--
			b.mu.Unlock()
		case closed:
			return
		default:
			select {
			case <-b.ready:
			case <-b.done:
			}
		}
	}
}

// takeBatch removes a batch from the queue if a call should be sent. Otherwise
// a call in flight takes it when it returns.
func (b *Batcher) takeBatch() (batch []*countRequest, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.shouldSend() {
		return nil, b.closed
	}
	n := min(len(b.queue), maxHitsPerCall)
	batch = append(batch, b.queue[:n]...)
	rest := copy(b.queue, b.queue[n:])
	clear(b.queue[rest:])
	b.queue = b.queue[:rest]
	for range n {
		<-b.queueSlots
	}
	b.inFlight++
	b.wakeSender()
	return batch, b.closed
}

// shouldSend reports whether there are enough queued hits for another call.
func (b *Batcher) shouldSend() bool {
	return len(b.queue) > 0 && (b.inFlight == 0 || len(b.queue) >= minSecondBatch)
}

// wakeSender wakes a sender if there is a batch to send.
func (b *Batcher) wakeSender() {
	if !b.shouldSend() || b.inFlight == maxInFlight {
		return
	}
	select {
	case b.ready <- struct{}{}:
	default: // already signaled
	}
}

func (b *Batcher) sendBatch(batch []*countRequest) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	calls := newBatch(b.counter)
	present := batch[:0]
	for _, w := range batch {
		switch {
		case w.ctx.Err() != nil:
			continue
		case w.filtered != nil:
			calls.addFiltered(w.filtered)
		case w.event != nil:
			calls.addEvent(w.event)
		case w.heartbeat != nil:
			calls.addHeartbeat(w.heartbeat)
		default:
			calls.add(&w.hit)
		}
		present = append(present, w)
	}
	outcomes, err := calls.run(ctx)
	for i, w := range present {
		a := countResult{err: err}
		if err == nil {
			a.outcome = outcomes[i]
		}
		w.result <- a
	}
}
