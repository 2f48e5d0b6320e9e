package delivery_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

//nolint:gochecknoglobals // flags of the test binary
var (
	interleavings    = flag.Int("interleavings", 200, "number of random histories of TestInterleavings")
	interleavingSeed = flag.Uint64("interleaving-seed", 0, "repeat the histories of this seed; 0: new ones")
)

// People and publishers act on the same posts concurrently, at random. Acknowledged
// changes are effective: no canceled post exists, every published text is that of the
// newest edit before its claim, nothing exists twice, and nothing is lost.
func TestInterleavings(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing = delivery.Timing{
		Lease: time.Second, Heartbeat: time.Second, Backoff: 5 * time.Millisecond,
		Parent:  5 * time.Millisecond,
		MaxWait: 50 * time.Millisecond, Unanswered: time.Second, Looks: []time.Duration{
			5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
		},
	}
	seed := *interleavingSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	next := make(chan int)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range next {
				newHistory(b, seed, i).run()
			}
		})
	}
	for i := range *interleavings {
		if t.Failed() {
			break
		}
		next <- i
	}
	close(next)
	all.Wait()
	if t.Failed() {
		t.Logf("to repeat: go test ./activities -run TestInterleavings -interleaving-seed %d", seed)
	}
}

// history is a random sequence of actions on a few posts that share two accounts.
type history struct {
	*bench
	name     string
	random   func() *rand.Rand // random per history, the same in every run of the seed
	running  delivery.InFlight
	notices  chan []uuid.UUID
	accounts []account.Account
	posts    []*witness
}

// witness records the acknowledged changes of a post.
type witness struct {
	id       uuid.UUID
	mu       sync.Mutex
	said     map[int64]post.Post // by revision
	canceled bool
	edits    int
}

func newHistory(b *bench, seed uint64, i int) *history {
	sources := uint64(i) << 32 //nolint:gosec // not negative
	return &history{
		bench: b, name: fmt.Sprintf("h%d", i), notices: make(chan []uuid.UUID, 8),
		random: func() *rand.Rand {
			sources++
			return rand.New(rand.NewPCG(seed, sources)) //nolint:gosec // to be repeated, not to be secret
		},
	}
}

func (h *history) run() {
	random := h.random()
	h.mu.Lock() // connecting writes the bench's token
	h.accounts = []account.Account{h.connect(h.name + "a"), h.connect(h.name + "b")}
	h.mu.Unlock()
	for _, a := range []string{"a", "b"} {
		for range random.IntN(4) {
			h.must(h.fake.Inject(someFault(random, h.name+a)))
		}
	}
	var people, publishers sync.WaitGroup
	done := make(chan struct{})
	following, unfollow := context.WithCancel(h.t.Context())
	defer unfollow()
	go h.running.Follow(following, h.notices, h.store.Installation.Workers, slog.New(h.log.handler()))
	for n := range 1 + random.IntN(3) {
		w := h.create(random, n)
		h.posts = append(h.posts, w)
		for range 1 + random.IntN(2) {
			source := h.random()
			people.Go(func() { h.changeOften(w, source) })
		}
		for range 1 + random.IntN(3) {
			source := h.random()
			publishers.Go(func() { h.work(w, source, done) })
		}
	}
	people.Wait()
	h.settle()
	close(done)
	publishers.Wait()
	for _, w := range h.posts {
		h.examine(w)
	}
}

func someFault(random *rand.Rand, name string) fake.Fault {
	f := fake.Fault{Account: name, Method: http.MethodPost, Path: createPath, Nth: 1 + random.IntN(4)}
	switch random.IntN(7) {
	case 0:
		f.Kind = fake.ActThenReset
	case 1:
		f.Kind = fake.ActThen500
	case 2:
		f.Kind = fake.ResetBefore
	case 3:
		f.Kind, f.Status, f.Body = fake.Status, 422, notReadyBody
	case 4:
		f.Kind, f.Status = fake.Status, 422
	case 5:
		f.Kind, f.For = fake.Latency, time.Duration(random.IntN(80)+1)*time.Millisecond
	default:
		f.Kind, f.Status = fake.Status, 429
		f.Header = map[string]string{"Retry-After": "0", "X-RateLimit-Reset": "2026-01-01T00:00:00Z"}
	}
	return f
}

// words returns a unique text, which identifies a published post.
func (h *history) words(w *witness, segment int) string {
	w.edits++
	return fmt.Sprintf("%s %s segment %d edit %d", h.name, w.id, segment, w.edits)
}

func (h *history) thread(w *witness, random *rand.Rand) []post.Segment {
	segments := []post.Segment{}
	for i := range random.IntN(3) {
		segments = append(segments, post.Segment{Content: h.words(w, i+1)})
	}
	return segments
}

func soon(random *rand.Rand) time.Time {
	return time.Now().Add(time.Duration(random.IntN(60)) * time.Millisecond).UTC()
}

func (h *history) create(random *rand.Rand, n int) *witness {
	w := &witness{id: uuid.Must(uuid.NewV7()), said: map[int64]post.Post{}}
	accounts := h.accounts[:1+(n+random.IntN(2))%2]
	p, _, err := h.store.Publishing.Posts.CreatePost(h.t.Context(), post.NewPost{
		Actor: h.who.Actor(), AccountIDs: idsOf(accounts),
		Post: post.Post{
			ID: w.id, WorkspaceID: h.who.WorkspaceID, UserID: h.who.UserID, TimeZone: "UTC",
			Content: h.words(w, 0), Thread: h.thread(w, random), ScheduledTime: soon(random),
		},
	})
	h.must(err)
	w.acknowledge(p)
	return w
}

// acknowledge records a response. A revision has one content.
func (w *witness) acknowledge(p post.Post) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said[p.Revision] = p
	w.canceled = w.canceled || p.Status == post.Canceled
}

// changeOften is a person who changes a post several times.
func (h *history) changeOften(w *witness, random *rand.Rand) {
	for range 1 + random.IntN(4) {
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
		p, err := h.act(w, random)
		if h.quietRefusal(err) == "" {
			w.acknowledge(p)
			select {
			case h.notices <- []uuid.UUID{w.id}:
			default: // lost, as notifications may be
			}
		}
	}
}

func (h *history) act(w *witness, random *rand.Rand) (post.Post, error) {
	ctx, g := h.t.Context(), post.Guard{WorkspaceID: h.who.WorkspaceID, PostID: w.id, Actor: h.who.Actor()}
	what := random.IntN(20)
	w.mu.Lock()
	words, thread, at := h.words(w, 0), h.thread(w, random), soon(random)
	w.mu.Unlock()
	switch {
	case what < 5:
		return h.store.Publishing.Posts.Edit(ctx, g, post.Change{Content: &words}, nil)
	case what < 8:
		return h.store.Publishing.Posts.Edit(ctx, g, post.Change{ScheduledTime: &at}, nil)
	case what < 11:
		return h.store.Publishing.Posts.Edit(ctx, g, post.Change{Thread: &thread}, nil)
	case what < 13:
		return h.store.Publishing.Posts.Edit(ctx, g,
			post.Change{Overrides: map[uuid.UUID]*post.Override{h.accounts[0].ID: {Content: &words, Thread: &thread}}},
			nil)
	case what < 15:
		return h.store.Publishing.Posts.Cancel(ctx, g)
	case what < 17:
		return h.store.Publishing.Posts.PublishNow(ctx, g)
	case what < 19:
		return h.store.Publishing.Ledger.Retry(ctx, g, nil)
	default:
		return h.store.Publishing.Ledger.Discard(ctx, g, nil)
	}
}

// quietRefusal is refusal for other goroutines.
func (h *history) quietRefusal(err error) string {
	var refused *apperr.Error
	if err != nil && !errors.As(err, &refused) {
		h.t.Errorf("%s: %v", h.name, err)
		return "broken"
	}
	if refused == nil {
		return ""
	}
	return refused.Code
}

// work does what workflow and worker do for a post until it is done. Some attempts die.
func (h *history) work(w *witness, random *rand.Rand, done chan struct{}) {
	pause := time.Duration(0)
	for {
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
		pause = 5 * time.Millisecond
		p, err := h.store.Publishing.Ledger.AcknowledgeRevision(h.t.Context(), w.id)
		if err != nil {
			h.t.Errorf("%s: %v", h.name, err)
			return
		}
		for _, t := range p.Targets {
			if !t.Status.IsOpen() || p.Status.IsFinal() {
				continue
			}
			publisher := h.publisher()
			publisher.InFlight = &h.running
			if random.IntN(12) == 0 {
				publisher.Store = &mortal{Store: h.store.Delivery(), beforeFinish: func(int) bool { return true }}
			}
			_, err := h.once(publisher, delivery.TargetInput{PostID: p.ID, TargetID: t.ID, Revision: p.Revision})
			var application *delivery.RetryError
			if errors.As(err, &application) {
				pause = max(pause, min(application.Delay, 200*time.Millisecond))
			}
		}
	}
}

// settleTimeout bounds a test that would hang; a slow machine needs part of it.
const settleTimeout = 3 * time.Minute

// settle is a person who brings every post to a final state: failed targets are
// retried, uncertain ones are decided by checking the network.
func (h *history) settle() {
	ctx, stop := context.WithTimeout(h.t.Context(), settleTimeout)
	defer stop()
	for _, w := range h.posts {
		for ctx.Err() == nil {
			p, err := h.store.Publishing.Posts.Post(ctx, w.id)
			if err != nil || p.Status == post.Posted || p.Status == post.Canceled || !h.decide(w, p) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// decide returns false when there is nothing to wait for.
func (h *history) decide(w *witness, p post.Post) bool {
	g := post.Guard{WorkspaceID: p.WorkspaceID, PostID: p.ID, Actor: h.who.Actor()}
	waits := false
	for _, t := range p.Targets {
		var err error
		switch {
		case t.Status == post.TargetFailed:
			_, err = h.store.Publishing.Ledger.Retry(h.t.Context(), g, []uuid.UUID{t.ID})
		case t.Status == post.TargetUncertain:
			known, _ := h.store.Publishing.Ledger.PublishedSegments(h.t.Context(), t.ID)
			d := post.Decision{TargetID: t.ID}
			for _, there := range h.of(w, t.AccountID) {
				if len(known) < len(h.of(w, t.AccountID)) {
					d.Exists, d.RemoteID, d.RemoteURL = true, there.ID, there.URL
				}
			}
			_, err = h.store.Publishing.Ledger.Decide(h.t.Context(), g, d)
		case !t.Status.IsOpen():
			continue
		}
		h.quietRefusal(err)
		waits = true
	}
	return waits
}
