package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// wakers end the waits of posts, as the signal to their workflows does.
type wakers struct {
	mu    sync.Mutex
	posts map[uuid.UUID]chan struct{}
	woken int
}

func (w *wakers) of(id uuid.UUID) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.posts == nil {
		w.posts = map[uuid.UUID]chan struct{}{}
	}
	if w.posts[id] == nil {
		w.posts[id] = make(chan struct{}, 1)
	}
	return w.posts[id]
}

func (w *wakers) Wake(_ context.Context, id uuid.UUID) error {
	select {
	case w.of(id) <- struct{}{}:
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken++
	return nil
}

// throughTemporal runs posts like Temporal: deferred attempts run again at their time
// or when they are woken. None may wait for longer than maxDelay.
func (b *bench) throughTemporal(p *delivery.Deps, posts []post.Post, maxDelay time.Duration) {
	b.t.Helper()
	w := &wakers{}
	p.Waker = w
	var all sync.WaitGroup
	for _, one := range posts {
		all.Go(func() {
			woken := w.of(one.ID)
			for {
				result, err := b.once(p, input(one))
				var application *delivery.RetryError
				switch {
				case err == nil && result.Status == post.TargetPosted:
					return
				case !errors.As(err, &application):
					b.t.Errorf("result %+v, error %v", result, err)
					return
				case application.Delay > maxDelay:
					b.t.Errorf("a post waits %s, want at most %s: %v", application.Delay, maxDelay, err)
					return
				}
				select {
				case <-time.After(application.Delay):
				case <-woken:
				}
			}
		})
	}
	all.Wait()
}

// wantEachOnce checks the network's posts, which were scheduled with unique texts, and
// returns the times of the first and the last.
func (b *bench) wantEachOnce(n int) (first, last time.Time) {
	b.t.Helper()
	copies := map[string]int{}
	for _, p := range b.fake.Posts() {
		copies[p.Text]++
		if first.IsZero() || p.CreatedAt.Before(first) {
			first = p.CreatedAt
		}
		if p.CreatedAt.After(last) {
			last = p.CreatedAt
		}
	}
	if len(copies) != n {
		b.t.Errorf("the network has %d different posts, want %d", len(copies), n)
	}
	for text, n := range copies {
		if n != 1 {
			b.t.Errorf("%q exists %d times", text, n)
		}
	}
	return first, last
}

// burst schedules posts with unique texts for one second.
func (b *bench) burst(n int, at time.Time) []post.Post {
	b.t.Helper()
	posts := make([]post.Post, n)
	for i := range posts {
		posts[i] = b.schedule(func(p *post.Post) {
			p.Content, p.ScheduledTime = fmt.Sprintf("%s, %d", text, i), at.UTC()
		})
	}
	return posts
}

// TestBurst_OverTheReportedLimit covers GoToSocial's limit: Mastodon's number in a
// thirty-sixth of the time. Posts beyond it are published right after the reset.
func TestBurst_OverTheReportedLimit(t *testing.T) {
	const per = 10 * time.Second
	rates := fake.GoToSocialRates()
	rates.API.Per = per
	b := newBench(t, fake.Options{Rates: rates})
	p, _ := b.within(nil)
	// The limit is known from a post in an earlier window.
	b.publish(p, input(b.burst(1, time.Now())[0]))
	known := time.Now()
	b.must(b.fake.Reset())
	at := known.Add(per + 3*time.Second)
	posts := b.burst(330, at)
	time.Sleep(time.Until(known.Add(per + 1500*time.Millisecond)))
	b.throughTemporal(p, posts, 2*per)
	first, last := b.wantEachOnce(330)
	if end := first.Add(2*per + per/2); last.After(end) {
		t.Errorf("the last was %s after the first, want within the second window of %s", last.Sub(first), per)
	}
	if first.Before(at.Add(-100 * time.Millisecond)) {
		t.Errorf("the first was %s before its time", at.Sub(first))
	}
	b.wantDiscreet()
}

// Whether or not a server reports its limits correctly, posts are published once, and
// as soon as it accepts them.
func TestBurst_AtAServerThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	ahead := func() time.Time { return time.Now().Add(time.Hour) }
	for name, c := range map[string]struct {
		headers fake.Headers
		clock   func() time.Time
	}{
		"RemainingNeverDecreases": {fake.HeadersConstantRemaining, nil},
		"ResetInThePast":          {fake.HeadersPastReset, nil},
		"LimitZero":               {fake.HeadersZeroLimit, nil},
		"NoHeaders":               {fake.HeadersNone, nil},
		"ClockAnHourAhead":        {fake.HeadersWholeSeconds, ahead},
	} {
		t.Run(name, func(t *testing.T) {
			const per = 4 * time.Second
			started := time.Now() // no window of the server begins earlier
			b := newBench(t, fake.Options{
				Clock: c.clock, Rates: fake.Rates{
					API: fake.Rate{Requests: 20, Per: per}, Windows: fake.WindowsFromFirstCall, Headers: c.headers,
				},
			})
			p, _ := b.within(nil)
			began := time.Now()
			b.throughTemporal(p, b.burst(30, began), 30*time.Second)
			first, last := b.wantEachOnce(30)
			if last.Sub(started) < per || last.Sub(first) > 8*per {
				t.Errorf("the last was %s after the start and %s after the first, want soon after a window of %s",
					last.Sub(started), last.Sub(first), per)
			}
		})
	}
}

// admitted has a token for every call.
type admitted struct{ delivery.RateLimits }

func (admitted) Acquire(context.Context, ratelimit.Caller, network.CallKind) ratelimit.Grant {
	return ratelimit.Grant{OK: true}
}

// A refusal closed the bucket for hours. When a call in a newer window succeeds, posts
// that wait for the bucket at Temporal are woken.
func TestWait_EndsWhenALaterResponseShowsRoom(t *testing.T) {
	const per = 2 * time.Second
	b := newBench(t, fake.Options{
		Rates: fake.Rates{API: fake.Rate{Requests: 50, Per: per}, Windows: fake.WindowsFromFirstCall},
	})
	p, _ := b.within(nil)
	b.publish(p, input(b.burst(1, time.Now())[0]))
	b.must(b.fake.Reset())
	b.fault(fake.Fault{Kind: fake.Status, Status: http.StatusTooManyRequests, Header: map[string]string{
		"Retry-After": "10800", "X-RateLimit-Reset": "",
	}})
	refused := b.schedule(nil)
	if _, err := b.once(p, input(refused)); err == nil {
		t.Fatal("no call was refused")
	}
	waiting := b.burst(5, time.Now())
	w := &wakers{}
	p.Waker = w
	_, errs := b.together(p, waiting)
	wantHeld(t, errs, 5, "throttled", time.Hour)
	// A call that had acquired its token before gets a response in a newer window.
	time.Sleep(per + 2100*time.Millisecond)
	early := b.publisher()
	early.Limits, early.Waker = admitted{p.Limits}, w
	if result, err := b.once(early,
		input(b.schedule(func(p *post.Post) { p.Content = text + ", early" }))); err != nil ||
		result.Status != post.TargetPosted {
		t.Fatalf("result %+v, error %v", result, err)
	}
	woken := 0
	for range 1500 {
		w.mu.Lock()
		woken = w.woken
		w.mu.Unlock()
		if woken >= 6 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if woken < 6 {
		t.Errorf("%d posts were woken, want the 5 that wait and the one that was refused", woken)
	}
	if posted, errs := b.together(p, waiting); posted != 5 {
		t.Errorf("%d of 5 were posted: %v", posted, errs)
	}
}
