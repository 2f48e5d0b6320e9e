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
	// mostWaiting is how many hits wait at most; more wait outside.
	mostWaiting = 10_000
	// flushers is how many script calls are under way at most. While Redis does
	// one, the next is on its way: it never waits for this process.
	flushers = 2
	// company is how many hits must wait for a call to be sent beside another:
	// few share its cost, and who waits is not far from the front.
	company = 16
	// patience is how long Redis may take.
	patience = 10 * time.Second
)

// Batcher gathers concurrent hits into few script calls. It never waits for
// more hits to come: what has gathered while the last call was under way goes
// into the next. Whoever calls is answered when the hit is in Redis. It is safe
// for concurrent use.
type Batcher struct {
	counter *Counter
	room    chan struct{} // one for each hit that waits
	work    chan struct{} // a sign that something waits
	ended   sync.WaitGroup

	answered sync.Pool // of waiting

	mu       sync.Mutex
	queue    []*waiting
	underWay int // calls
	closed   bool
	done     chan struct{}
}

// waiting is a hit whose caller waits.
type waiting struct {
	ctx     context.Context //nolint:containedctx // of the caller, who may leave
	hit     Hit
	refused *FilteredHit // instead of hit
	answer  chan answer
}

type answer struct {
	outcome Outcome
	err     error
}

// NewBatcher starts a batcher; end it with Close.
func NewBatcher(c *Counter) *Batcher {
	b := &Batcher{counter: c, room: make(chan struct{}, mostWaiting), work: make(chan struct{}, 1), done: make(chan struct{})}
	for range flushers {
		b.ended.Go(b.flush)
	}
	return b
}

// Count counts one hit together with whatever else is waiting. When ctx ends
// first, the hit may be counted nevertheless.
func (b *Batcher) Count(ctx context.Context, h Hit) (Outcome, error) {
	if err := b.counter.Check(h); err != nil {
		return Outcome{}, err
	}
	w := b.waiting(ctx)
	w.hit = h
	return b.do(ctx, w)
}

// Filtered counts a hit that the filter refused.
func (b *Batcher) Filtered(ctx context.Context, h FilteredHit) error {
	if h.Page == "" || len(h.Page) > longestPage {
		return ErrPage
	}
	w := b.waiting(ctx)
	w.refused = &h
	_, err := b.do(ctx, w)
	return err
}

// waiting takes one that was answered, or makes a new one.
func (b *Batcher) waiting(ctx context.Context) *waiting {
	w, ok := b.answered.Get().(*waiting)
	if !ok {
		w = &waiting{answer: make(chan answer, 1)}
	}
	w.ctx = ctx
	return w
}

func (b *Batcher) do(ctx context.Context, w *waiting) (Outcome, error) {
	select {
	case b.room <- struct{}{}:
	default:
		select {
		case b.room <- struct{}{}:
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		case <-b.done:
			return Outcome{}, ErrClosed
		}
	}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		<-b.room
		return Outcome{}, ErrClosed
	}
	b.queue = append(b.queue, w)
	b.wake()
	b.mu.Unlock()
	select {
	case a := <-w.answer:
		*w = waiting{answer: w.answer}
		b.answered.Put(w)
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
	b.ended.Wait()
}

func (b *Batcher) flush() {
	for {
		// Those who have just been answered, or are about to ask, go first: what
		// they bring belongs in this call.
		runtime.Gosched()
		batch, closed := b.take()
		switch {
		case len(batch) > 0:
			b.count(batch)
			b.mu.Lock()
			b.underWay--
			b.mu.Unlock()
		case closed:
			return
		default:
			select {
			case <-b.work:
			case <-b.done:
			}
		}
	}
}

// take takes what waits, if it is worth a call; else whoever is under way comes
// back for it.
func (b *Batcher) take() (batch []*waiting, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.worth() {
		return nil, b.closed
	}
	n := min(len(b.queue), mostHits)
	batch = append(batch, b.queue[:n]...)
	rest := copy(b.queue, b.queue[n:])
	clear(b.queue[rest:])
	b.queue = b.queue[:rest]
	for range n {
		<-b.room
	}
	b.underWay++
	b.wake()
	return batch, b.closed
}

// worth says whether what waits is worth a call.
func (b *Batcher) worth() bool {
	return len(b.queue) > 0 && (b.underWay == 0 || len(b.queue) >= company)
}

// wake wakes a flusher that has something to do.
func (b *Batcher) wake() {
	if !b.worth() || b.underWay == flushers {
		return
	}
	select {
	case b.work <- struct{}{}:
	default: // one is being woken
	}
}

func (b *Batcher) count(batch []*waiting) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	calls := b.counter.newBatch()
	present := batch[:0]
	for _, w := range batch {
		switch {
		case w.ctx.Err() != nil:
			continue
		case w.refused != nil:
			calls.addFiltered(w.refused)
		default:
			calls.add(&w.hit)
		}
		present = append(present, w)
	}
	outcomes, err := calls.run(ctx)
	for i, w := range present {
		a := answer{err: err}
		if err == nil {
			a.outcome = outcomes[i]
		}
		w.answer <- a
	}
}
