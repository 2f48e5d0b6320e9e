package crawler

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/weburl"
)

// run is one drain of one domain.
type run struct {
	*Drainer
	domain crawl.Domain
	seeds  map[int32]crawl.Seed
	allow  map[int32]func(weburl.URL) bool // by seed
	memo   *discover.Memo
	lease  uuid.UUID
	delay  atomic.Int64 // between two requests, as far as it is known
	halt   atomic.Bool  // nothing new is begun

	mu     sync.Mutex
	open   map[uuid.UUID]bool  // leased and not recorded
	known  map[weburl.URL]bool // in the frontier, as this run has seen
	failed int                 // fetches in a row that got no answer
	rest   time.Duration       // that what is given back rests
	out    Result
	params bool // new pages with parameters in their URLs were stored

	sectionsMu sync.Mutex
	sections   *discover.Shapes // nil: not asked for yet
	hubs       map[string]bool  // sections that were taken
}

func newRun(d *Drainer, dom crawl.Domain, seeds []crawl.Seed) *run {
	r := &run{Drainer: d, domain: dom, lease: uuid.New(), memo: discover.NewMemo(), seeds: map[int32]crawl.Seed{}, allow: map[int32]func(weburl.URL) bool{},
		open: map[uuid.UUID]bool{}, known: map[weburl.URL]bool{}}
	for _, n := range seeds {
		r.seeds[n.No], r.allow[n.No] = n, patterns(n.Rules)
	}
	r.delay.Store(int64(d.delayFor(dom.Delay)))
	return r
}

// delayFor is the pause after a request, given what robots.txt asks for.
func (d *Drainer) delayFor(asked time.Duration) time.Duration {
	if d.Limits.Delay == 0 {
		return 0
	}
	return max(d.Limits.Delay, min(asked, d.Limits.MaxDelay))
}

func (r *run) pause() time.Duration { return time.Duration(r.delay.Load()) }

func (r *run) drain(ctx context.Context, stop <-chan struct{}, beat func(Result)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var renewing sync.WaitGroup
	defer renewing.Wait()
	ended := make(chan struct{})
	defer close(ended)
	renewing.Go(func() { r.renew(ctx, ended, stop, beat) })
	return r.work(ctx, time.Now().Add(r.Limits.Run))
}

// work leases URLs and hands them to those who fetch, until nothing is due.
func (r *run) work(ctx context.Context, until time.Time) error {
	c := r.hire(ctx, until)
	defer func() { _ = c.dismiss() }() // it says the same again
	for found := false; !r.halt.Load() && ctx.Err() == nil && time.Now().Before(until); {
		urls, err := r.Store.LeaseURLs(ctx, crawl.Lease{Domain: r.domain, ID: r.lease, Most: r.batch(), TTL: r.Limits.Lease,
			Budget: r.Limits.Budget, Idle: r.Pace.Refresh})
		if err != nil {
			return err
		}
		if len(urls) == 0 {
			if !found && !r.linger(ctx, until) {
				break
			}
			// What is under way may still find something.
			found = false
			c.wait()
			continue
		}
		found = true
		r.mu.Lock()
		for _, u := range urls {
			r.open[u.ID] = true
		}
		r.mu.Unlock()
		for _, u := range urls {
			c.give(u)
		}
	}
	if err := c.dismiss(); err != nil {
		return err
	}
	return ctx.Err()
}

// look is how often a drain that waits looks for what became due meanwhile.
const look = time.Second

// linger waits for what is due soon, and says whether to go on. To end a drain
// and to start the next one costs Temporal more than to wait.
func (r *run) linger(ctx context.Context, until time.Time) bool {
	for most := time.Now().Add(r.Limits.Linger); !r.halt.Load() && time.Now().Before(until); {
		wait, never, err := r.Store.DueIn(ctx, r.domain.ID)
		if err != nil || never || time.Now().Add(wait).After(most) {
			return false
		}
		// What is due and was not leased is held by somebody, or will be noticed to
		// be paused: it is not asked for at once.
		if retry.Sleep(ctx, min(max(wait, look/20), look)) != nil {
			return false
		}
		if wait <= look {
			return true
		}
	}
	return false
}

// batch is how many URLs are leased at once: few where each takes long, so that
// a new article does not wait behind them.
func (r *run) batch() int {
	if pause := r.pause(); pause > 0 {
		return int(min(max(30*time.Second/pause, 4), time.Duration(r.Limits.Batch)))
	}
	return r.Limits.Batch
}

// one fetches a URL and records what became of it. It calls fetched, once or
// more, when it makes no more requests.
func (r *run) one(ctx context.Context, u crawl.URL, fetched func()) error {
	defer fetched()
	f, err := r.fetch(ctx, u, fetched)
	if err != nil || f == nil {
		return err // f is nil when the URL is given back
	}
	held, err := r.Record(ctx, *f)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, u.ID)
	r.out.Fetched++
	if held && f.Version != nil {
		r.out.Stored++
	}
	return nil
}

// mostSilence is between two beats: Temporal takes a worker for dead after three.
const mostSilence = 3 * time.Second

// renew keeps the leases while the run goes on, and notices that it should not.
func (r *run) renew(ctx context.Context, ended, stop <-chan struct{}, beat func(Result)) {
	every := time.NewTicker(min(max(r.Limits.Lease/6, 100*time.Millisecond), mostSilence))
	defer every.Stop()
	leased := time.Now()
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-stop:
			r.halt.Store(true)
			stop = nil
			continue
		case <-every.C:
		}
		beat(r.result())
		goOn, err := r.Store.RenewDrain(ctx, r.domain, r.Limits.Lease)
		if err == nil && !goOn {
			r.mu.Lock()
			r.out.Paused = true
			r.mu.Unlock()
			r.halt.Store(true)
		}
		if time.Since(leased) < r.Limits.Lease/3 {
			continue
		}
		if err := r.Store.RenewLeases(ctx, r.domain.ID, r.lease, r.opened(), r.Limits.Lease); err == nil {
			leased = time.Now()
		}
	}
}

func (r *run) opened() []uuid.UUID {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(r.open))
	for id := range r.open {
		ids = append(ids, id)
	}
	return ids
}

func (r *run) result() Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out
}

// giveBack returns what was leased and not fetched. When that fails the leases
// run out by themselves.
func (r *run) giveBack(ctx context.Context) {
	ids := r.opened()
	if len(ids) == 0 {
		return
	}
	r.mu.Lock()
	rest := r.rest
	r.mu.Unlock()
	if err := r.Store.ReleaseLeases(ctx, r.domain.ID, r.lease, ids, rest); err != nil {
		r.Log.Warn("URLs could not be given back; their leases will end", "domain", r.domain.Name, "error", err)
	}
}

// stopFor leaves the domain alone for a while.
func (r *run) stopFor(ctx context.Context, wait time.Duration) error {
	r.mu.Lock()
	r.rest = max(r.rest, wait)
	r.mu.Unlock()
	r.halt.Store(true)
	return r.Store.BlockDomain(ctx, r.domain.ID, wait)
}
