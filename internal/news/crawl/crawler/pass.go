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

// pass lets one chain of requests through the gates, one request at a time.
type pass struct {
	run    *run
	holder uuid.UUID
	key    string        // of the gate that is held; empty: none
	until  time.Time     // when the requests under way are cut off; zero: nothing is under way
	least  time.Duration // that the gate rests after the last request: the server asked for it
}

// errCrowded says that an address is asked by so many domains that it is better
// to come again later.
var errCrowded = errors.New("too many requests wait for this address") //nolint:gochecknoglobals // an error to compare with

// enter waits until a request to u may leave, and closes the gate of its domain
// for as long as the request may take: from here on it counts, whatever becomes
// of this process.
func (p *pass) enter(ctx context.Context, u weburl.URL) error {
	if p.run.Limits.Delay == 0 {
		return nil
	}
	p.leave(ctx, p.run.pause())
	key := "d:" + u.Domain()
	for {
		left := p.run.Limits.Fetch
		if !p.until.IsZero() {
			left = time.Until(p.until)
		}
		if left <= 0 {
			return context.DeadlineExceeded
		}
		// A second more than the request may take, so that it has ended for sure.
		begun := time.Now()
		taken, wait, err := p.run.Gates.TakeGate(ctx, key, p.holder, left+time.Second)
		if err != nil {
			return fmt.Errorf("asking the gate of %s: %w", u.Domain(), err)
		}
		if taken {
			p.key, p.until = key, begun.Add(left)
			return p.address(ctx, u)
		}
		if err := retry.Sleep(ctx, min(max(wait, time.Millisecond), left)); err != nil {
			return err
		}
	}
}

// address waits for the turn at the address that the host is at. Sites share
// addresses, and gates of different domains know nothing of each other. The
// address itself is kept nowhere.
func (p *pass) address(ctx context.Context, u weburl.URL) error {
	if p.run.Resolver == nil || p.run.Limits.IPDelay == 0 {
		return nil
	}
	found, _, err := p.run.Resolver.Lookup(ctx, u.Hostname())
	if err != nil || len(found) == 0 {
		return nil //nolint:nilerr // the fetch tells what is wrong with the name
	}
	sum := sha256.Sum256([]byte("dateline crawl gate " + found[0].String()))
	wait, ok, err := p.run.Gates.ReserveGate(ctx, "i:"+hex.EncodeToString(sum[:12]), p.run.Limits.IPDelay, time.Until(p.until)/2)
	if err != nil {
		return fmt.Errorf("asking the gate of an address: %w", err)
	}
	if !ok {
		return errCrowded
	}
	return retry.Sleep(ctx, wait)
}

// leave opens the gate again after a pause. It outlasts ctx: the answer is here,
// and whoever comes next need not wait for the end of the hold.
func (p *pass) leave(ctx context.Context, pause time.Duration) {
	if p.key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.run.Gates.ReleaseGate(ctx, p.key, p.holder, max(pause, p.least)); err != nil {
		p.run.Log.Warn("a gate stays closed until its time is over", "gate", p.key, "error", err)
	}
	p.key = ""
}

// done is leave after the last request of a chain.
func (p *pass) done(ctx context.Context, pause time.Duration) {
	p.leave(ctx, pause)
	p.until = time.Time{}
}

// within gives the context of the requests that the gate was closed for.
func (p *pass) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.until.IsZero() {
		return context.WithTimeout(ctx, p.run.Limits.Fetch)
	}
	return context.WithDeadline(ctx, p.until)
}
