package delivery_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/internal/testing/enginetest"
	"dateline/platforms"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
)

// long is a period that does not end during a test.
const long = 1000 * 24 * time.Hour

// limited is a network with limits of posts and uploads per account.
func limited(posts, uploads int) fake.Options {
	rates := fake.GenerousRates()
	rates.Statuses, rates.Media = fake.Rate{Requests: posts, Per: long}, fake.Rate{Requests: uploads, Per: long}
	return fake.Options{Rates: rates}
}

// within creates activities that enforce limits, with a Redis for the test.
func (b *bench) within(hosts *hostguard.Bulkhead) (p *delivery.Deps, stopRedis func()) {
	b.t.Helper()
	url, stop := enginetest.StoppableRedis(b.t)
	p = b.publisher()
	p.Limits = ratelimit.New(b.t.Context(), enginetest.RedisClient(b.t, url), 30*time.Second, slog.New(b.log.handler()))
	if hosts != nil {
		p.Hosts = hosts
	}
	return p, stop
}

// watch counts the publishing calls that reach the network from now on.
func (b *bench) watch(path string) (calls func() int) {
	b.t.Helper()
	b.must(b.fake.Inject(fake.Fault{
		Kind: fake.Latency, For: time.Nanosecond, Method: http.MethodPost, Path: path,
		Count: -1,
	}))
	at := len(b.faults()) - 1
	return func() int { return b.faults()[at].Seen }
}

// together runs one attempt of each post concurrently.
func (b *bench) together(p *delivery.Deps, posts []post.Post) (posted int, errs []*delivery.RetryError) {
	b.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, one := range posts {
		all.Go(func() {
			result, err := b.once(p, input(one))
			mu.Lock()
			defer mu.Unlock()
			var application *delivery.RetryError
			switch {
			case errors.As(err, &application):
				errs = append(errs, application)
			case err == nil && result.Status == post.TargetPosted:
				posted++
			default:
				b.t.Errorf("result %+v, error %v", result, err)
			}
		})
	}
	all.Wait()
	return posted, errs
}

func (b *bench) many(n int) (posts []post.Post) {
	for i := range n {
		posts = append(posts, b.schedule(func(p *post.Post) { p.Content = fmt.Sprintf("%s, %d", text, i) }))
	}
	return posts
}

func wantHeld(t *testing.T, errs []*delivery.RetryError, n int, kind string, atLeast time.Duration) {
	t.Helper()
	if len(errs) != n {
		t.Errorf("%d posts wait, want %d", len(errs), n)
	}
	for _, e := range errs {
		if e.Kind != kind || e.Delay < atLeast {
			t.Errorf("waits %s as %s: %v", e.Delay, e.Kind, e)
		}
	}
}

func TestAdmission_LearnsTheLimitFromOneResponse(t *testing.T) {
	b := newBench(t, limited(4, 100))
	p, _ := b.within(nil)
	calls := b.watch(createPath)
	b.publish(p, input(b.schedule(nil)))
	posts := b.many(10)
	posted, errs := b.together(p, posts)
	if posted != 3 || calls() != 4 {
		t.Errorf("%d posted with %d calls, want 3 with 4", posted, calls())
	}
	wantHeld(t, errs, 7, "throttled", time.Hour)
	// They retry and get the same delay; the timeline has one entry.
	waiting := slices.DeleteFunc(posts, func(p post.Post) bool { return b.read(p.ID).Status == post.Posted })
	posted, errs = b.together(p, waiting)
	if posted != 0 || calls() != 4 {
		t.Errorf("the second time: %d posted with %d calls, want 0 with 4", posted, calls())
	}
	wantHeld(t, errs, 7, "throttled", time.Hour)
	for _, p := range waiting {
		now := b.read(p.ID)
		if now.Status != post.Scheduled || now.Targets[0].Attempts != 0 || now.RetryCount != 0 ||
			now.Targets[0].ClaimedUntil != nil {
			t.Errorf("a waiting post is %s after %d attempts", now.Status, now.Targets[0].Attempts)
		}
		if got := b.timeline(p.ID); !slices.Equal(got, []string{"created", "throttled"}) {
			t.Errorf("timeline %v", got)
		}
	}
	said := lastEvent(t, b, waiting[0], post.EventThrottled)
	if said["code"] != "rate_limited" || said["retry_at"] == nil ||
		!strings.Contains(fmt.Sprint(said["message"]), "@desk@") {
		t.Errorf("said %v", said)
	}
	b.wantDiscreet()
}

func TestAdmission_OneRefusalDelaysAllPosts(t *testing.T) {
	b := newBench(t, fake.Options{})
	p, _ := b.within(nil)
	calls := b.watch(createPath)
	b.fault(fake.Fault{Kind: fake.Status, Status: http.StatusTooManyRequests, For: time.Hour})
	_, err := b.once(p, input(b.schedule(nil)))
	if err == nil || calls() != 1 {
		t.Fatalf("error %v after %d calls", err, calls())
	}
	posted, errs := b.together(p, b.many(50))
	if posted != 0 || calls() != 1 {
		t.Errorf("%d were posted, %d calls came", posted, calls())
	}
	wantHeld(t, errs, 50, "throttled", 50*time.Minute)
	// Other accounts are not affected.
	other := b.connect("sports")
	elsewhere := b.schedule(nil, other.ID)
	if result, err := b.once(p, input(elsewhere)); err != nil || result.Status != post.TargetPosted {
		t.Errorf("another account: %+v, %v", result, err)
	}
}

// A post waits in memory for a token that is available a moment later.
func TestAdmission_ShortWaitStaysInMemory(t *testing.T) {
	b := newBench(t, fake.Options{})
	p, _ := b.within(nil)
	b.fault(fake.Fault{Kind: fake.Status, Status: http.StatusTooManyRequests, Header: map[string]string{
		"Retry-After": "1", "X-RateLimit-Reset": "2026-01-01T00:00:00Z",
	}})
	first := b.schedule(nil)
	_, err := b.once(p, input(first))
	if err == nil {
		t.Fatal("no refusal")
	}
	second := b.schedule(nil)
	if result, err := b.once(p, input(second)); err != nil || result.Status != post.TargetPosted {
		t.Errorf("%+v, %v", result, err)
	}
	if got := b.timeline(second.ID); !slices.Equal(got, []string{"created", "sending", "posted", "status"}) {
		t.Errorf("timeline %v", got)
	}
}

func TestAdmission_ChangedPostReleasesItsToken(t *testing.T) {
	b := newBench(t, limited(2, 100))
	p, _ := b.within(nil)
	b.publish(p, input(b.schedule(nil)))
	edited, next := b.schedule(nil), b.schedule(func(p *post.Post) { p.Content = text + ", corrected" })
	stored := p.Store
	p.Store = &troubled{Store: stored, beforeClaim: func() {
		_, err := b.store.Publishing.Posts.Cancel(t.Context(), b.guard(edited))
		b.must(err)
	}}
	if result, err := b.once(p, input(edited)); err != nil || !result.Stale {
		t.Fatalf("%+v, %v", result, err)
	}
	p.Store = stored
	if result, err := b.once(p, input(next)); err != nil || result.Status != post.TargetPosted {
		t.Errorf("the token was not released: %+v, %v", result, err)
	}
}

// A send that may have succeeded is repeated while the network remembers its key,
// regardless of limits.
func TestAdmission_UnresolvedSendIgnoresLimits(t *testing.T) {
	b := newBench(t, limited(2, 100))
	p, _ := b.within(nil)
	b.publish(p, input(b.schedule(nil)))
	lost := b.schedule(func(p *post.Post) { p.Content = text + ", lost" })
	b.fault(fake.Fault{Kind: fake.ResetBefore})
	if result, err := b.once(p, input(lost)); err != nil || result.Status != post.TargetPosted {
		t.Errorf("%+v, %v", result, err)
	}
	if sends := b.ledger(lost.Targets[0].ID); len(sends) != 2 {
		t.Errorf("no response was lost: got calls %v, want 2", sends)
	}
	if _, errs := b.together(p, b.many(1)); len(errs) != 1 {
		t.Fatal("the lost call did not use up the limit")
	}
}

func TestAdmission_UploadsHaveTheirOwnLimit(t *testing.T) {
	b := newBench(t, limited(100, 2))
	p, _ := b.within(nil)
	calls := b.watch("/api/v2/media")
	b.publish(p, input(b.schedule(b.withMedia(b.upload(1)))))
	posts := []post.Post{b.schedule(b.withMedia(b.upload(2), b.upload(3)))}
	_, errs := b.together(p, posts)
	wantHeld(t, errs, 1, "throttled", time.Hour)
	if calls() != 2 {
		t.Errorf("got %d uploads", calls())
	}
	if got := b.timeline(posts[0].ID); !slices.Equal(got, []string{"created", "throttled"}) {
		t.Errorf("timeline %v", got)
	}
	if result, err := b.once(p, input(b.schedule(nil))); err != nil || result.Status != post.TargetPosted {
		t.Errorf("a post without attachments: %+v, %v", result, err)
	}
}

func TestAdmission_WorksWithoutRedis(t *testing.T) {
	b := newBench(t, fake.Options{})
	p, stop := b.within(nil)
	b.publish(p, input(b.schedule(nil)))
	stop()
	if posted, errs := b.together(p, b.many(10)); posted != 10 {
		t.Errorf("%d of 10 were posted: %v", posted, errs)
	}
	if n := strings.Count(b.log.text(), "Redis does not respond"); n != 1 {
		t.Errorf("the log has it %d times", n)
	}
}

func TestAdmission_FailingHostIsNotCalled(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.MaxLimitWait = time.Millisecond
	p, _ := b.within(&hostguard.Bulkhead{Options: hostguard.Options{Failures: 3, Pause: 3 * time.Second}})
	b.publish(p, input(b.schedule(nil)))
	resume, err := b.fake.Refuse(0)
	b.must(err)
	for _, one := range b.many(3) {
		if _, err := b.once(p, input(one)); err == nil {
			t.Fatal("published through a closed port")
		}
	}
	waiting := b.many(5)
	_, errs := b.together(p, waiting)
	wantHeld(t, errs, 5, "host_down", time.Millisecond)
	for _, one := range waiting {
		_, err := b.once(p, input(one))
		if got := b.read(one.ID).Targets[0]; err == nil || got.Attempts > 1 {
			t.Errorf("%d attempts, error %v", got.Attempts, err)
		}
		// After each pause one post probes the host; the others are delayed once.
		if got := b.timeline(one.ID); !slices.Contains(got, "retrying") &&
			(got[1] != post.EventNetworkWait || slices.Contains(got[2:], post.EventNetworkWait)) {
			t.Errorf("timeline %v", got)
		}
	}
	b.must(resume())
	for _, one := range waiting {
		if result, _ := b.publish(p, input(one)); result.Status != post.TargetPosted {
			t.Errorf("after the recovery: %+v", result)
		}
	}
}

// A network that accepts calls and never responds must leave capacity for others.
func TestAdmission_SlowNetworkDelaysNoOther(t *testing.T) {
	b := newBench(t, fake.Options{})
	healthy, err := fake.New(fake.Options{})
	b.must(err)
	b.must(healthy.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = healthy.Close() })
	client, err := call.NewClient([]string{"127.0.0.0/8"})
	b.must(err)
	b.networks = platforms.New(client, platforms.Options{
		Mastodon: mastodon.Options{CreateTimeout: time.Minute, ReadTimeout: time.Second},
	})
	b.accounts.Connectors = b.networks
	there, err := healthy.AddAccount("desk")
	b.must(err)
	other, err := b.accounts.ConnectWithToken(t.Context(), b.who, "mastodon", healthy.URL(),
		secret.NewText(there.Token))
	b.must(err)

	const hanging, workers = 5, 6
	p, _ := b.within(&hostguard.Bulkhead{Options: hostguard.Options{MaxCalls: hanging}})
	b.publish(p, input(b.schedule(nil))) // so that its limits are known
	b.fault(fake.Fault{Kind: fake.ActThenHang, Count: -1})
	queue := make(chan post.Post)
	var all sync.WaitGroup
	for range workers { // as many as a worker has slots
		all.Go(func() {
			for one := range queue {
				_, _ = b.once(p, input(one))
			}
		})
	}
	for _, one := range b.many(20) {
		queue <- one
	}
	for i := range 10 {
		queue <- b.schedule(func(p *post.Post) { p.Content = fmt.Sprint("healthy ", i) }, other.ID)
	}
	close(queue)
	for began := time.Now(); len(healthy.Posts()) < 10; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("the other network has %d of 10 posts", len(healthy.Posts()))
		}
	}
	if seen := b.faults()[0].Seen; seen != hanging {
		t.Errorf("%d calls went to the network that hangs, want %d", seen, hanging)
	}
	b.must(b.fake.Close()) // ends the calls
	all.Wait()
}

// A post that is not sent after all releases its slot at the host.
func TestAdmission_ChangedPostReleasesItsSlot(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.MaxLimitWait = 50 * time.Millisecond
	p, _ := b.within(&hostguard.Bulkhead{Options: hostguard.Options{MaxCalls: 1}})
	b.publish(p, input(b.schedule(nil)))
	stored := p.Store
	for range 3 {
		edited := b.schedule(nil)
		p.Store = &troubled{Store: stored, beforeClaim: func() {
			_, err := b.store.Publishing.Posts.Cancel(t.Context(), b.guard(edited))
			b.must(err)
		}}
		if result, err := b.once(p, input(edited)); err != nil || !result.Stale {
			t.Fatalf("a canceled post: got %+v, %v, want stale", result, err)
		}
	}
	p.Store = stored
	next := b.schedule(func(p *post.Post) { p.Content = text + ", corrected" })
	if result, err := b.once(p, input(next)); err != nil || result.Status != post.TargetPosted {
		t.Errorf("the next post: got %+v, %v, want posted", result, err)
	}
}
