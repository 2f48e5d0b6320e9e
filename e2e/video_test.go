package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/mediatest"
	"dateline/platforms/fake"
)

// TestALargeVideo transfers a video of 200 MB to two networks in parts before its post
// is due, so that only the post itself is sent at its time. The program never holds
// more than a small part of it in memory.
func TestALargeVideo(t *testing.T) {
	t.Parallel()
	d := newDateline(t)
	profiler := "127.0.0.1:" + e2etest.FreePort(t)
	d.start("--pprof", profiler)
	d.ready()
	box := sandboxed{d, sandboxLine.FindStringSubmatch(d.log.String())[1]}
	networks := []string{"facebook", "x"}
	for _, name := range networks {
		box.allow(name)
	}
	var connected struct {
		Accounts []struct{ ID, Network string }
	}
	d.call(http.MethodGet, "/api/v1/accounts", nil, &connected)
	var ids []string
	for _, a := range connected.Accounts {
		if slices.Contains(networks, a.Network) {
			ids = append(ids, a.ID)
		}
	}

	heap := watchHeap(t, profiler)
	body, size := mediatest.Long(200 << 20)
	video := d.upload("film.mp4", "", func(w io.Writer) error {
		_, err := io.Copy(w, body)
		return err
	})
	heap.check("storing the video")

	const text = "Phim: bốn mùa ở cảng"
	p := d.schedule(text, 9*time.Minute, map[string]any{"accounts": ids, "attachments": []string{video}})
	e2etest.Eventually(t, 5*time.Minute, "both networks to have the video", func() bool {
		if problems := d.said(p.ID, "problem"); len(problems) > 0 {
			t.Fatal(problems)
		}
		return len(d.said(p.ID, "prepared")) == len(ids)
	})
	heap.check("staging the video")

	// From now on the networks get one call each: the post.
	var calls []fake.Fault
	for _, name := range networks {
		calls = append(calls, fake.Fault{
			Kind: fake.Latency, For: time.Nanosecond, Network: name, Method: http.MethodPost, Count: -1,
		})
	}
	box.put("/__faults", calls)
	soon := time.Now().Add(5 * time.Second).Format(time.RFC3339Nano)
	if status := d.call(http.MethodPatch, "/api/v1/posts/"+p.ID, map[string]any{"scheduled_time": soon},
		nil); status != http.StatusOK {
		t.Fatalf("rescheduling: status %d", status)
	}
	p = d.awaitStatus(p.ID, "posted", time.Minute)
	for _, target := range p.Targets {
		if *target.LateMS < 0 {
			t.Errorf("sent %d ms before its time", -*target.LateMS)
		}
	}
	heap.check("publishing it")
	box.get("/__faults", &calls)
	for _, c := range calls {
		if c.Seen != 1 {
			t.Errorf("%s got %d calls at the time of the post, want one", c.Network, c.Seen)
		}
	}
	var published []fake.Post
	box.get("/__state/posts", &published)
	for _, there := range published {
		if there.Text != text || len(there.Media) != 1 || there.Media[0].Bytes != size {
			t.Errorf("%s has %+v", there.Network, there)
		}
	}
	if len(published) != len(networks) {
		t.Errorf("published %d times", len(published))
	}
}

// said returns the sentences of one kind in a post's timeline.
func (d *dateline) said(id, event string) (sentences []string) {
	d.t.Helper()
	var timeline struct{ Entries []struct{ Type, Text string } }
	d.call(http.MethodGet, "/api/v1/posts/"+id+"/timeline", nil, &timeline)
	for _, e := range timeline.Entries {
		if e.Type == event {
			sentences = append(sentences, e.Text)
		}
	}
	return sentences
}

// put replaces a resource of the sandbox.
func (s sandboxed) put(path string, value any) {
	s.t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPut, s.url+path, strings.NewReader(string(raw)))
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", path, res.Status)
	}
}

// heapWatch samples the heap size of the program.
type heapWatch struct {
	t    *testing.T
	base uint64
	mu   sync.Mutex
	peak uint64
	last error
}

var heapAlloc = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)

// watchHeap starts sampling, with the current heap size as the base.
func watchHeap(t *testing.T, profiler string) *heapWatch {
	t.Helper()
	// Excludes garbage
	address := url.URL{Scheme: "http", Host: profiler, Path: "/debug/pprof/heap", RawQuery: "debug=1&gc=1"}
	read := func() (uint64, error) {
		res, err := http.Get(address.String())
		if err != nil {
			return 0, err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(string(heapAlloc.FindSubmatch(body)[1]), 10, 64)
	}
	h := &heapWatch{t: t}
	var err error
	if h.base, err = read(); err != nil {
		t.Fatal(err)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			case <-time.After(250 * time.Millisecond):
			}
			now, err := read()
			h.mu.Lock()
			h.peak, h.last = max(h.peak, now), err
			h.mu.Unlock()
		}
	}()
	t.Cleanup(func() { close(end); <-ended })
	return h
}

func (h *heapWatch) check(what string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	// Half the film: parts in transit to two networks, to the sandbox and the object
	// store in the program, and recent garbage.
	const allowed = 100 << 20
	more := h.peak - min(h.peak, h.base)
	if h.last != nil || h.peak == 0 || more > allowed {
		h.t.Errorf("%s uses %d MB of memory; %v", what, more>>20, h.last)
	}
	h.t.Logf("%s: at most %d MB above %d MB", what, more>>20, h.base>>20)
	h.peak = 0
}
