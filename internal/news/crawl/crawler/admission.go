package crawler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
	"dateline/internal/news/crawl/weburl"
)

// admission acquires request slots for one chain of requests, one request at a
// time. A domain has one slot; an IP address has a rate limit.
type admission struct {
	run      *run
	holder   uuid.UUID
	key      string        // of the acquired slot; empty: none
	deadline time.Time     // when in-flight requests are canceled; zero: none are in flight
	minPause time.Duration // minimum pause after the last request, requested by the server
}

// errBusy means that too many requests wait for a domain or an IP address to wait for a
// turn now.
var errBusy = errors.New("too many requests are waiting for this server") //nolint:gochecknoglobals // compared with

// throttledError means that a site has asked for no requests for longer than a request
// may wait for its turn.
type throttledError struct{ wait time.Duration }

func (e throttledError) Error() string {
	return fmt.Sprintf("the site asks for no requests for %s", e.wait.Round(time.Second))
}

// isPostponed reports whether a request was not made because its turn is too far away.
// wait is the pause that the site asked for; zero: it is busy.
func isPostponed(ctx context.Context, err error) (postponed bool, wait time.Duration) {
	var throttled throttledError
	if errors.As(err, &throttled) {
		return true, throttled.wait
	}
	return errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil, 0
}

// slotGrace is how much longer than its request a slot is held, so that the request has
// surely ended.
const slotGrace = time.Second

// acquire waits for the slot of u's domain, at most as long as a request may take, and
// holds it for as long as the request may take. The slot stays taken if this process dies.
func (p *admission) acquire(ctx context.Context, u weburl.URL) error {
	if p.run.Limits.RequestDelay == 0 {
		return nil
	}
	p.release(ctx, p.run.pause())
	key := "d:" + u.Domain()
	for latest := time.Now().Add(p.run.Limits.FetchTimeout); ; {
		timeout := p.run.Limits.FetchTimeout
		if !p.deadline.IsZero() {
			timeout = time.Until(p.deadline)
		}
		if timeout <= 0 {
			return context.DeadlineExceeded
		}
		start := time.Now()
		taken, wait, err := p.run.Slots.AcquireSlot(ctx, key, p.holder, timeout+slotGrace)
		if err != nil {
			return fmt.Errorf("acquire the request slot of %s: %w", u.Domain(), err)
		}
		if taken {
			p.key, p.deadline = key, start.Add(timeout)
			return p.reserveAddress(ctx, u)
		}
		// No request holds a slot for longer than slotGrace after its time limit.
		if wait > p.run.Limits.FetchTimeout+slotGrace {
			return throttledError{wait}
		}
		left := min(time.Until(latest), timeout)
		if left <= 0 {
			return errBusy
		}
		if err := retry.Sleep(ctx, min(max(wait, time.Millisecond), left)); err != nil {
			return err
		}
	}
}

// reserveAddress waits for a turn at the host's IP address, which sites of
// different domains may share. The address is stored only as a hash.
func (p *admission) reserveAddress(ctx context.Context, u weburl.URL) error {
	if p.run.Resolver == nil || p.run.Limits.IPDelay == 0 {
		return nil
	}
	found, _, err := p.run.Resolver.Lookup(ctx, u.Hostname())
	if err != nil || len(found) == 0 {
		return nil //nolint:nilerr // the fetch reports the DNS error
	}
	sum := sha256.Sum256([]byte("dateline crawl slot " + found[0].String()))
	wait, ok, err := p.run.Slots.ReserveSlot(ctx, "i:"+hex.EncodeToString(sum[:12]), p.run.Limits.IPDelay,
		time.Until(p.deadline)/2)
	if err != nil {
		return fmt.Errorf("reserve a request slot of an IP address: %w", err)
	}
	if !ok {
		return errBusy
	}
	return retry.Sleep(ctx, wait)
}

// release frees the slot after a pause. It also works after ctx has ended, so
// that nobody has to wait for the slot to expire.
func (p *admission) release(ctx context.Context, pause time.Duration) {
	if p.key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.run.Slots.ReleaseSlot(ctx, p.key, p.holder, max(pause, p.minPause)); err != nil {
		p.run.Log.Warn("request slot could not be released and will expire", "slot", p.key, "error", err)
	}
	p.key = ""
}

// finish releases the slot after the last request of a chain.
func (p *admission) finish(ctx context.Context, pause time.Duration) {
	p.release(ctx, pause)
	p.deadline = time.Time{}
}

// requestContext returns a context that ends with the acquired slot.
func (p *admission) requestContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.deadline.IsZero() {
		return context.WithTimeout(ctx, p.run.Limits.FetchTimeout)
	}
	return context.WithDeadline(ctx, p.deadline)
}
