package watch_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/watch"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// rig is a newsroom that watches a page of a server.
type rig struct {
	*newsroomtest.Newsroom
	service *watch.Service
	checker *watch.Checker
	crawler *crawler.Crawler
	server  *httptest.Server
	// otherHost is that of another site.
	otherHost string

	mu       sync.Mutex
	other    http.HandlerFunc // the other site
	moved    map[string]string
	page     http.HandlerFunc
	robots   string
	requests []string
}

const fetchTimeout = 5 * time.Second

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	d := &rig{Newsroom: newsroomtest.Open(t)}
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.other(w, r)
	}))
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	d.Must(err)
	_ = other.Listener.Close()
	other.Listener = listener
	other.Start()
	t.Cleanup(other.Close)
	d.otherHost = listener.Addr().String()
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		page, robots := d.page, d.robots
		d.requests = append(d.requests, r.URL.Path+" "+r.Header.Get("User-Agent"))
		d.mu.Unlock()
		switch {
		case d.moved[r.URL.Path] != "":
			http.Redirect(w, r, d.moved[r.URL.Path], http.StatusFound)
		case r.URL.Path == "/robots.txt" && robots != "":
			_, _ = w.Write([]byte(robots))
		case r.URL.Path == "/prices":
			page(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(d.server.Close)
	log := slog.New(slog.DiscardHandler)
	host := strings.TrimPrefix(d.server.URL, "http://")
	limits := crawler.DefaultLimits()
	limits.RequestDelay, limits.IPDelay, limits.FetchTimeout = 10*time.Millisecond, 0, fetchTimeout
	made, err := crawlrig.New(t.Context(),
		crawlrig.Options{
			Store: d.Store, Redis: enginetest.RedisClient(t, d.RedisURL), Objects: d.Objects,
			Limits: limits,
			Policy: crawl.DefaultRevisitPolicy(), Log: log, AllowPrivate: []string{host, d.otherHost},
		})
	d.Must(err)
	d.crawler = made.Crawler
	guard, err := ssrf.New([]string{host, d.otherHost})
	d.Must(err)
	d.service = &watch.Service{Store: d.Store.News.Watches, Guard: guard}
	d.checker = &watch.Checker{Store: d.Store.News.Watches, Fetcher: made.Crawler, Log: log}
	d.show("Petrol: 21.050")
	return d
}

// site serves another site.
func (d *rig) site(serve http.HandlerFunc) { d.other = serve }

func (d *rig) redirect(path, to string) { d.moved = map[string]string{path: to} }

// show changes the page.
func (d *rig) show(lines ...string) {
	d.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<p>" + uuid.NewString() + "</p><ul id=prices><li>" + strings.Join(lines, "<li>") +
			"</ul>"))
	})
}

func (d *rig) serve(page http.HandlerFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.page = page
}

func (d *rig) watch(change ...func(*watch.Watch)) watch.Watch {
	d.T.Helper()
	w := watch.Watch{Name: "Prices", URL: d.server.URL + "/prices", Selector: "#prices"}
	for _, f := range change {
		f(&w)
	}
	made, _, err := d.service.Create(d.T.Context(), d.Owner, w, idempotency.Key{})
	d.Must(err)
	return made
}

// check checks all watches now.
func (d *rig) check() {
	d.T.Helper()
	d.Exec("update watches set due_at = now()")
	_, _, err := d.checker.CheckDue(d.T.Context(), func() {})
	d.Must(err)
}

func (d *rig) get(id uuid.UUID) watch.Watch {
	d.T.Helper()
	w, err := d.service.Get(d.T.Context(), d.Owner, id)
	d.Must(err)
	return w
}

func (d *rig) events() int {
	return d.Count("select count(*) from post_events where type = 'page_changed'")
}

func TestChecker_ReportsEachChangeOnce(t *testing.T) {
	d := newRig(t)
	w := d.watch()
	d.check()
	if got := d.get(w.ID); !slices.Equal(got.Lines, []string{"Petrol: 21.050"}) || got.CheckedAt == nil ||
		got.ChangeCount != 0 || got.Problem != "" {
		t.Fatalf("got %+v, want the text of the region without a change", got)
	}
	d.check()
	d.show("Petrol: 20.900", "Diesel: 19.800")
	d.check()
	d.check()
	changes, err := d.service.Changes(t.Context(), d.Owner, w.ID, uuid.Nil, 10)
	d.Must(err)
	if len(changes) != 1 || !slices.Equal(changes[0].Added, []string{"Petrol: 20.900", "Diesel: 19.800"}) ||
		!slices.Equal(changes[0].Removed, []string{"Petrol: 21.050"}) {
		t.Errorf("got the changes %+v, want one with two new lines and one removed", changes)
	}
	if n := d.Count(
		`select count(*) from post_events where type = 'page_changed' and workspace_id = $1 and data->>'watch_id' = $2 and (data->>'added')::int = 2 and data->'lines'->>0 = '− Petrol: 21.050'`,
		d.Workspace.ID, w.ID.String()); n != 1 {
		t.Errorf("got %d events, want 1", n)
	}
	if got := d.get(w.ID); got.ChangedAt == nil || got.ChangeCount != 1 {
		t.Errorf("got %+v, want one change", got)
	}
	wait := time.Until(d.get(w.ID).DueAt)
	if wait < 58*time.Minute || wait > time.Hour {
		t.Errorf("got the next check in %s, want it in an hour", wait)
	}
}

// A change during a problem is reported after it.
func TestChecker_SurvivesProblems(t *testing.T) {
	d := newRig(t)
	w := d.watch()
	d.check()
	for name, c := range map[string]struct {
		page func(http.ResponseWriter, *http.Request)
		want watch.Problem
	}{
		"the page is gone": {http.NotFound, watch.Problem(fetch.NotFound)},
		"the server fails": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusBadGateway) },
			watch.Problem(fetch.ServerError),
		},
		"the region has moved": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html><p>A new layout</p>")) },
			watch.NoMatch,
		},
		"it is not a page anymore": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "image/png") },
			watch.Problem(fetch.WrongType),
		},
	} {
		d.serve(c.page)
		d.check()
		if got := d.get(w.ID); got.Problem != c.want || len(got.Lines) != 1 {
			t.Errorf("%s: got the problem %q and %d lines, want %q and the earlier line", name, got.Problem,
				len(got.Lines), c.want)
		}
	}
	if wait := time.Until(d.get(w.ID).DueAt); wait < 7*time.Hour {
		t.Errorf("got the next check in %s after four failures, want a longer pause", wait)
	}
	if n := d.events(); n != 0 {
		t.Errorf("got %d events, want 0", n)
	}
	d.show("Petrol: 20.000")
	d.check()
	if got := d.get(w.ID); got.Problem != "" || got.Failures != 0 || got.ChangeCount != 1 || d.events() != 1 {
		t.Errorf("got %+v and %d events, want the change without a problem", got, d.events())
	}
}

func TestChecker_RespectsRobots(t *testing.T) {
	d := newRig(t)
	d.mu.Lock()
	d.robots = "User-agent: *\nDisallow: /prices\n"
	d.mu.Unlock()
	w := d.watch()
	d.check()
	if got := d.get(w.ID); got.Problem != watch.Disallowed || got.Lines != nil {
		t.Errorf("got the problem %q, want %q", got.Problem, watch.Disallowed)
	}
	for _, r := range d.requests {
		if strings.HasPrefix(r, "/prices") || !strings.Contains(r, "Dateline/1") {
			t.Errorf("got the request %q, want none of the page, and the crawler's user agent", r)
		}
	}
}

func TestChecker_UsesValidators(t *testing.T) {
	d := newRig(t)
	var validated int
	d.serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			validated++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte("<p id=prices>Petrol"))
	})
	n := d.watch()
	d.check()
	d.check()
	if got := d.get(n.ID); validated != 1 || got.Problem != "" || !slices.Equal(got.Lines, []string{"Petrol"}) {
		t.Errorf("got %d conditional requests and %+v, want one and the same text", validated, got)
	}
}

// crash fails after the n-th step, which may have been stored.
type crash struct {
	watch.CheckStore
	watch.Fetcher
	mu        sync.Mutex
	remaining int
}

var errCrash = errors.New("crashed")

func (c *crash) after(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remaining--; err == nil && c.remaining == 0 {
		return errCrash
	}
	return err
}

func (c *crash) ClaimWatches(
	ctx context.Context, claim uuid.UUID, limit int, lease time.Duration,
) ([]watch.Watch, error) {
	out, err := c.CheckStore.ClaimWatches(ctx, claim, limit, lease)
	return out, c.after(err)
}

func (c *crash) FetchPage(ctx context.Context, url, etag, modified string) (*fetch.Result, error) {
	res, err := c.Fetcher.FetchPage(ctx, url, etag, modified)
	return res, c.after(err)
}

func (c *crash) RecordCheck(ctx context.Context, claim uuid.UUID, check watch.Check) error {
	return c.after(c.CheckStore.RecordCheck(ctx, claim, check))
}

func TestChecker_ReportsAChangeOnceAfterACrashAtAnyStep(t *testing.T) {
	d := newRig(t)
	w := d.watch()
	d.check()
	for step := 1; step <= 5; step++ {
		before := d.events()
		d.show(uuid.NewString())
		c := &crash{CheckStore: d.Store.News.Watches, Fetcher: d.crawler, remaining: step}
		crashing := &watch.Checker{Store: c, Fetcher: c, Log: d.checker.Log}
		d.Exec("update watches set due_at = now()")
		_, _, err := crashing.CheckDue(t.Context(), func() {})
		if (step < 5) != errors.Is(err, errCrash) {
			t.Fatalf("step %d: got the error %v", step, err)
		}
		d.check()
		d.check()
		if got := d.events() - before; got != 1 {
			t.Errorf("a crash after step %d: got %d events, want 1", step, got)
		}
	}
	// A check whose claim was taken over by another process is not recorded.
	d.show("late")
	late, err := d.Store.News.Watches.ClaimWatches(t.Context(), uuid.New(), 10, 0)
	d.Must(err)
	if len(late) != 0 {
		t.Fatalf("got %d due watches, want 0", len(late))
	}
	d.Exec("update watches set due_at = now()")
	claim := uuid.New()
	mine, err := d.Store.News.Watches.ClaimWatches(t.Context(), claim, 10, 0)
	d.Must(err)
	before := d.events()
	d.check()
	mine[0].Lines = []string{"stale"}
	d.Must(d.Store.News.Watches.RecordCheck(t.Context(), claim, watch.Check{
		Watch: mine[0], Change: &watch.Change{ID: uuid.New(), Added: []string{"stale"}},
	}))
	if got := d.events() - before; got != 1 || !slices.Equal(d.get(w.ID).Lines, []string{"late"}) {
		t.Errorf("got %d events and the text %q, want only the check of the newer claim", got, d.get(w.ID).Lines)
	}
}

func TestService_ManagesWatches(t *testing.T) {
	d := newRig(t)
	for field, change := range map[string]func(*watch.Watch){
		"name":             func(w *watch.Watch) { w.Name = " " },
		"url":              func(w *watch.Watch) { w.URL = "ftp://news.example/" },
		"selector":         func(w *watch.Watch) { w.Selector = "#a >> b" },
		"interval_minutes": func(w *watch.Watch) { w.IntervalMinutes = 4 },
	} {
		w := watch.Watch{Name: "Prices", URL: "https://news.example/"}
		change(&w)
		_, _, err := d.service.Create(t.Context(), d.Owner, w, idempotency.Key{})
		var refused *apperr.Error
		if !errors.As(err, &refused) || len(refused.Fields) != 1 || refused.Fields[0].Field != field {
			t.Errorf("got the error %v, want one about %s", err, field)
		}
	}
	for _, address := range []string{
		"http://127.0.0.1/", "http://169.254.169.254/latest", "https://localhost/",
		"http://news.example:8080/", "http://[::1]/", "http://0x7f.1/",
	} {
		if _, _, err := d.service.Create(t.Context(), d.Owner, watch.Watch{Name: "Inside", URL: address},
			idempotency.Key{}); err == nil {
			t.Errorf("%s: got no error for a private address", address)
		}
	}
	w := d.watch()
	d.check()
	changed, err := d.service.Update(t.Context(), d.Owner, w.ID, w.Version, func(w *watch.Watch) { w.Selector = "" })
	d.Must(err)
	if changed.Lines != nil || changed.Version != w.Version+1 {
		t.Errorf("got %+v, want the text to be read again", changed)
	}
	if _, err := d.service.Update(t.Context(), d.Owner, w.ID, w.Version, func(*watch.Watch) {}); err == nil {
		t.Error("a change of an old version succeeded")
	}
	other, _, _ := d.Found("Another newsroom")
	if _, err := d.service.Get(t.Context(), workspace.Principal{WorkspaceID: other.ID}, w.ID); err == nil {
		t.Error("another workspace can read the watch")
	}
	for range watch.MaxWatches - 1 {
		d.watch()
	}
	if _, _, err := d.service.Create(t.Context(), d.Owner, watch.Watch{Name: "One more", URL: d.server.URL},
		idempotency.Key{}); err == nil {
		t.Error("a workspace can have more watches than its limit")
	}
	d.Must(d.service.Delete(t.Context(), d.Owner, w.ID))
	if _, err := d.service.Get(t.Context(), d.Owner, w.ID); err == nil {
		t.Error("a deleted watch is found")
	}
}
