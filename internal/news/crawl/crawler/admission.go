package crawler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl/weburl"
)

// admission lets one chain of requests through the gates, one request at a time.
type admission struct {
	run      *run
	holder   uuid.UUID
	key      string        // of the gate that is held; empty: none
	deadline time.Time     // when the requests under way are cut off; zero: nothing is under way
	minPause time.Duration // that the gate rests after the last request: the server asked for it
}

// errAddressBusy says that an address is asked by so many domains that it is better
// to come again later.
var errAddressBusy = errors.New("too many requests wait for this address") //nolint:gochecknoglobals // an error to compare with

// acquire waits until a request to u may leave, and closes the gate of its domain
// for as long as the request may take: from here on it counts, whatever becomes
// of this process.
func (p *admission) acquire(ctx context.Context, u weburl.URL) error {
	if p.run.Limits.RequestDelay == 0 {
		return nil
	}
	p.release(ctx, p.run.pause())
	key := "d:" + u.Domain()
	for {
		left := p.run.Limits.FetchTimeout
		if !p.deadline.IsZero() {
			left = time.Until(p.deadline)
		}
		if left <= 0 {
			return context.DeadlineExceeded
		}
		// A second more than the request may take, so that it has ended for sure.
		begun := time.Now()
		taken, wait, err := p.run.Slots.AcquireSlot(ctx, key, p.holder, left+time.Second)
		if err != nil {
			return fmt.Errorf("asking the gate of %s: %w", u.Domain(), err)
		}
		if taken {
			p.key, p.deadline = key, begun.Add(left)
			return p.reserveAddress(ctx, u)
		}
		if err := sleep(ctx, min(max(wait, time.Millisecond), left)); err != nil {
			return err
		}
	}
}

// reserveAddress waits for the turn at the address that the host is at. Sites share
// addresses, and gates of different domains know nothing of each other. The
// address itself is kept nowhere.
func (p *admission) reserveAddress(ctx context.Context, u weburl.URL) error {
	if p.run.Resolver == nil || p.run.Limits.IPDelay == 0 {
		return nil
	}
	found, _, err := p.run.Resolver.Lookup(ctx, u.Hostname())
	if err != nil || len(found) == 0 {
		return nil //nolint:nilerr // the fetch tells what is wrong with the name
	}
	sum := sha256.Sum256([]byte("dateline crawl gate " + found[0].String()))
	wait, ok, err := p.run.Slots.ReserveSlot(ctx, "i:"+hex.EncodeToString(sum[:12]), p.run.Limits.IPDelay, time.Until(p.deadline)/2)
	if err != nil {
		return fmt.Errorf("asking the gate of an address: %w", err)
	}
	if !ok {
		return errAddressBusy
	}
	return sleep(ctx, wait)
}

// release opens the gate again after a pause. It outlasts ctx: the answer is here,
// and whoever comes next need not wait for the end of the hold.
func (p *admission) release(ctx context.Context, pause time.Duration) {
	if p.key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.run.Slots.ReleaseSlot(ctx, p.key, p.holder, max(pause, p.minPause)); err != nil {
		p.run.Log.Warn("a gate stays closed until its time is over", "gate", p.key, "error", err)
	}
	p.key = ""
}

// finish is leave after the last request of a chain.
func (p *admission) finish(ctx context.Context, pause time.Duration) {
	p.release(ctx, pause)
	p.deadline = time.Time{}
}

// requestContext gives the context of the requests that the gate was closed for.
func (p *admission) requestContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.deadline.IsZero() {
		return context.WithTimeout(ctx, p.run.Limits.FetchTimeout)
	}
	return context.WithDeadline(ctx, p.deadline)
}

func sleep(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
