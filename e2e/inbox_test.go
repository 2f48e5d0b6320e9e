package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// inbox receives notifications of published posts.
type inbox struct {
	*httptest.Server
	arrived chan struct{} // closed at the first request

	mu    sync.Mutex
	once  sync.Once
	calls map[string]int // requests by the ID of the notification
	posts map[string]int // likewise
}

func newInbox(t testing.TB) *inbox {
	in := &inbox{arrived: make(chan struct{}), calls: map[string]int{}, posts: map[string]int{}}
	in.Server = httptest.NewServer(in)
	t.Cleanup(in.Close)
	return in
}

func (in *inbox) host() string { return strings.TrimPrefix(in.URL, "http://") }

// ServeHTTP accepts a notification and responds after a moment, in which the worker can
// be killed.
func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var body struct {
		ID     string `json:"notification_id"`
		Events []struct{ Type string }
		More   int
	}
	if err != nil || json.Unmarshal(raw, &body) != nil || body.ID == "" {
		http.Error(w, "unexpected", http.StatusBadRequest)
		return
	}
	in.mu.Lock()
	in.calls[body.ID]++
	in.posts[body.ID] = len(body.Events) + body.More
	in.mu.Unlock()
	in.once.Do(func() { close(in.arrived) })
	time.Sleep(300 * time.Millisecond)
	w.WriteHeader(http.StatusNoContent)
}

// subscribe makes the program notify the inbox of each published post.
func (in *inbox) subscribe(d *dateline) {
	d.t.Helper()
	body := map[string]any{
		"kind": "webhook", "name": "inbox", "url": in.URL + "/", "types": []string{"post.posted"},
		"time_zone": "UTC",
	}
	if status := d.call(http.MethodPost, "/api/v1/notification-channels", body, nil); status != http.StatusCreated {
		d.t.Fatalf("subscribing: status %d", status)
	}
}

// awaitFirst waits for the first request.
func (in *inbox) awaitFirst(t testing.TB) {
	t.Helper()
	select {
	case <-in.arrived:
	case <-time.After(3 * time.Minute):
		t.Fatal("no notification arrived")
	}
}

// wantNotified waits until so many posts were notified of. A message that was accepted
// when the worker was killed comes again, with the same ID.
func (in *inbox) wantNotified(t testing.TB, posts int) {
	t.Helper()
	count := func() (got, repeated, messages int) {
		in.mu.Lock()
		defer in.mu.Unlock()
		for id, n := range in.posts {
			got += n
			repeated = max(repeated, in.calls[id]-1)
		}
		return got, repeated, len(in.posts)
	}
	e2etest.Eventually(t, 3*time.Minute, "a notification of every post", func() bool {
		got, _, _ := count()
		return got >= posts
	})
	got, repeated, messages := count()
	if got != posts {
		t.Errorf("got notifications of %d posts, want %d", got, posts)
	}
	if repeated > 1 {
		t.Errorf("a notification was repeated %d times, want at most once: there was one kill", repeated)
	}
	t.Logf("%d posts in %d notifications, repeated at most %d times", got, messages, repeated)
}
