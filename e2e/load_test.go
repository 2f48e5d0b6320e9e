package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// answered counts responses by status.
type answered struct {
	mu     sync.Mutex
	counts map[string]int
}

func (a *answered) note(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[what]++
}

// TestOverload_ThreeTimesTheCapacity measures the program's capacity and sends three
// times as many requests. The program must keep its throughput and reject the rest with
// Retry-After. Posts due meanwhile are published once.
func TestOverload_ThreeTimesTheCapacity(t *testing.T) {
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host(), "DATELINE_API_MAX_IN_FLIGHT=16",
		"DATELINE_API_RATE_LIMIT=0")
	d.start()
	d.ready()
	to := map[string]any{"accounts": []string{n.connect(d, "desk")}}
	for i := range 60 {
		d.schedule(fmt.Sprintf("for an expensive list %d", i), 24*time.Hour, to)
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	ask := func(a *answered) {
		request, err := http.NewRequest(http.MethodGet, d.API+"/api/v1/posts?limit=100", nil)
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Bearer "+d.Token)
		answer, err := client.Do(request)
		if err != nil {
			a.note(err.Error())
			return
		}
		_ = answer.Body.Close()
		what := answer.Status
		if answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") == "" {
			what += " without Retry-After"
		}
		a.note(what)
	}

	// As many concurrent requests as it accepts, each followed by the next one.
	const measured = 4 * time.Second
	alone := &answered{counts: map[string]int{}}
	var all sync.WaitGroup
	until := time.Now().Add(measured)
	for range 16 {
		all.Go(func() {
			for time.Now().Before(until) {
				ask(alone)
			}
		})
	}
	all.Wait()
	capacity := float64(alone.counts["200 OK"]) / measured.Seconds()
	if len(alone.counts) != 1 || capacity < 1 {
		t.Fatalf("within its capacity: got %v", alone.counts)
	}

	// Three times as many per second, whether or not earlier ones have been answered.
	const loaded = 8 * time.Second
	for i := range 5 {
		d.schedule(fmt.Sprintf("due under load %d", i), 3*time.Second, to)
	}
	under := &answered{counts: map[string]int{}}
	began := time.Now()
	sent := 0
	for time.Since(began) < loaded {
		for wanted := int(3 * capacity * time.Since(began).Seconds()); sent < wanted; sent++ {
			all.Go(func() { ask(under) })
		}
		time.Sleep(2 * time.Millisecond)
	}
	all.Wait()
	took := time.Since(began)
	ok, refused := under.counts["200 OK"], under.counts["503 Service Unavailable"]
	t.Logf("capacity %.0f per second; of %.0f per second %.0f were answered, %.0f refused", capacity,
		float64(sent)/took.Seconds(), float64(ok)/took.Seconds(), float64(refused)/took.Seconds())
	if ok+refused != sent {
		t.Errorf("neither answered nor refused with Retry-After: %v", under.counts)
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	if float64(ok) < capacity*took.Seconds()/4 {
		t.Errorf("throughput dropped: %d responses in %s", ok, took)
	}
	for i := range 5 {
		text := fmt.Sprintf("due under load %d", i)
		e2etest.Eventually(t, time.Minute, text+" to be out", func() bool { return n.copies(text) == 1 })
	}
	if status, err := d.try(http.MethodGet, "/api/v1/posts?limit=1", nil, nil); err != nil || status != http.StatusOK {
		t.Errorf("after the overload: %d %v", status, err)
	}
}
