package counter

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// ErrClosed is the answer to hits after the batcher's end.
var ErrClosed = errors.New("the counting has ended")

const (
	// maxQueued is how many hits wait at most; more wait outside.
	maxQueued = 10_000
	// maxInFlight is how many script calls are under way at most. While Redis does
	// one, the next is on its way: it never waits for this process.
	maxInFlight = 2
	// minSecondBatch is how many hits must wait for a call to be sent beside another:
	// few share its cost, and who waits is not far from the front.
	minSecondBatch = 16
	// redisTimeout is how long Redis may take.
	redisTimeout = 10 * time.Second
)

// Batcher gathers concurrent hits into few script calls. It never waits for
// more hits to come: what has gathered while the last call was under way goes
// into the next. Whoever calls is answered when the hit is in Redis. It is safe
// for concurrent use.
type Batcher struct {
	counter    *Counter
	queueSlots chan struct{} // one for each hit that waits
	ready      chan struct{} // a sign that something waits
	senders    sync.WaitGroup

	pool sync.Pool // of waiting

	mu       sync.Mutex
	queue    []*countRequest
	inFlight int // calls
	closed   bool
	done     chan struct{}
}

// countRequest is a hit whose caller waits.
type countRequest struct {
	ctx      context.Context //nolint:containedctx // of the caller, who may leave
	hit      Hit
	filtered *FilteredHit // instead of hit
	result   chan countResult
}

type countResult struct {
	outcome Outcome
	err     error
}

// NewBatcher starts a batcher; end it with Close.
func NewBatcher(c *Counter) *Batcher {
	b := &Batcher{counter: c, queueSlots: make(chan struct{}, maxQueued), ready: make(chan struct{}, 1), done: make(chan struct{})}
	for range maxInFlight {
		b.senders.Go(b.runSender)
	}
	return b
}

// Count counts one hit together with whatever else is waiting. When ctx ends
// first, the hit may be counted nevertheless.
func (b *Batcher) Count(ctx context.Context, h Hit) (Outcome, error) {
	if err := b.counter.Validate(h); err != nil {
		return Outcome{}, err
	}
	w := b.newRequest(ctx)
	w.hit = h
	return b.submit(ctx, w)
}

// CountFiltered counts a hit that the filter refused.
func (b *Batcher) CountFiltered(ctx context.Context, h FilteredHit) error {
	if h.Page == "" || len(h.Page) > maxPageLength {
		return ErrPage
	}
	w := b.newRequest(ctx)
	w.filtered = &h
	_, err := b.submit(ctx, w)
	return err
}

// newRequest takes one that was answered, or makes a new one.
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
		return Outcome{}, ctx.Err() // somebody may still answer
	}
}

// Close refuses new hits, counts those that wait, and returns when they are in
// Redis.
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
		// Those who have just been answered, or are about to ask, go first: what
		// they bring belongs in this call.
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

// takeBatch takes what waits, if it is worth a call; else whoever is under way comes
// back for it.
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

// shouldSend says whether what waits is worth a call.
func (b *Batcher) shouldSend() bool {
	return len(b.queue) > 0 && (b.inFlight == 0 || len(b.queue) >= minSecondBatch)
}

// wakeSender wakes a flusher that has something to do.
func (b *Batcher) wakeSender() {
	if !b.shouldSend() || b.inFlight == maxInFlight {
		return
	}
	select {
	case b.ready <- struct{}{}:
	default: // one is being woken
	}
}

func (b *Batcher) sendBatch(batch []*countRequest) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	calls := b.counter.newBatch()
	present := batch[:0]
	for _, w := range batch {
		switch {
		case w.ctx.Err() != nil:
			continue
		case w.filtered != nil:
			calls.addFiltered(w.filtered)
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
