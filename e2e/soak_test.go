package e2e

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

var (
	soakFor = flag.Duration("soak", 40*time.Second,
		"how long TestSoak keeps all three jobs under load; `make bench/soak` asks for 30 minutes")
	soakPosts  = flag.Float64("soak-posts", 4, "posts a second")
	soakViews  = flag.Float64("soak-views", 150, "views a second")
	soakReport = flag.String("soak-report", "", "file for the samples, as JSON lines")
)

// settle is the time until memory and goroutines are stable. Shorter soaks show whether
// everything works, not whether anything grows.
const settle = 2 * time.Minute

// Limits of growth from the first third to the last, after settling: a leak keeps
// growing, noise does not.
const (
	heapGrowth      = 1.25
	heapSlack       = 24 << 20
	goroutineGrowth = 1.10
	goroutineSlack  = 40
)

// TestSoak publishes, counts and crawls for a while. Every post is published once,
// every view is counted, new articles are stored, memory and goroutines stay constant,
// and all logged warnings and errors have a known cause.
func TestSoak(t *testing.T) {
	t.Parallel()
	n, paper := newNetwork(t), newDaily(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host()+","+strings.TrimPrefix(paper.URL, "http://"),
		"DATELINE_CRAWL_DELAY=100ms", "DATELINE_LOG_FORMAT=json", "DATELINE_LOG_LEVEL=warn")
	d.start()
	d.ready()
	s := &soak{dateline: d, network: n, until: time.Now().Add(*soakFor)}
	for i := range herdAccounts {
		s.accounts = append(s.accounts, n.connect(d, fmt.Sprintf("desk%d", i)))
	}
	if status := d.call(http.MethodPost, "/api/v1/seeds",
		map[string]any{"url": paper.URL + "/", "min_interval_seconds": 60, "max_interval_seconds": 60},
		nil); status != http.StatusCreated {
		t.Fatalf("making a seed: %d", status)
	}
	var jobs sync.WaitGroup
	jobs.Go(s.publish)
	jobs.Go(s.read)
	jobs.Go(s.sample)
	jobs.Go(s.follow)
	jobs.Wait()
	s.wantAllOut()
	s.wantAllCounted()
	if *soakFor > 150*time.Second {
		if _, stored := d.domain(); stored < paper.published()/2 {
			t.Errorf("%d articles were stored of %d", stored, paper.published())
		}
	}
	s.wantFlat()
	s.wantNoErrors()
}

// soak is one run.
type soak struct {
	*dateline
	network  *network
	until    time.Time
	accounts []string
	page     counted

	scheduled atomic.Int64
	views     int64
	samples   []sample
}

// sample is the state of the process at a time.
type sample struct {
	At         time.Time `json:"at"`
	Heap       float64   `json:"heap_bytes"`
	Resident   float64   `json:"resident_bytes"`
	Goroutines float64   `json:"goroutines"`
	Files      float64   `json:"open_files"`
	Out        int       `json:"posts_out"`
}

// every calls do so many times per second until the end.
func (s *soak) every(rate float64, do func(i int)) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	for i := 0; time.Now().Before(s.until); i++ {
		<-tick.C
		do(i)
	}
}

func (s *soak) publish() {
	s.every(*soakPosts, func(i int) {
		body := map[string]any{
			"content": fmt.Sprintf("soak %d", i), "accounts": []string{
				s.accounts[i%len(s.accounts)],
			},
			"scheduled_time": time.Now().Add(time.Duration(2+i%20) * time.Second).Format(time.RFC3339Nano),
		}
		if status, err := s.try(http.MethodPost, "/api/v1/posts", body, nil); err != nil ||
			status != http.StatusCreated {
			s.t.Errorf("post %d: %d %v", i, status, err)
			return
		}
		s.scheduled.Add(1)
	})
}

// read sends views of many readers, ten at a time, from a server.
func (s *soak) read() {
	id, key := s.site("Soak")
	s.page = counted{d: s.dateline, path: "/api/v1/sites/" + id + "/pages/stats?page=/soak"}
	const batch = 10
	s.every(*soakViews/batch, func(i int) {
		if err := s.hits(key, "/soak", i*batch, batch); err != nil {
			s.t.Error(err)
			return
		}
		s.views += batch
	})
}

// follow opens and closes streams like dashboards do.
func (s *soak) follow() {
	s.every(0.5, func(int) {
		client := &http.Client{Timeout: 3 * time.Second}
		request, err := http.NewRequest(http.MethodGet, s.API+"/api/v1/events", nil)
		if err != nil {
			s.t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Bearer "+s.Token)
		answer, err := client.Do(request)
		if err != nil {
			s.t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body) // until the client's timeout
		_ = answer.Body.Close()
	})
}

// sample reads /metrics.
func (s *soak) sample() {
	s.every(0.2, func(int) {
		answer, err := http.Get(s.metrics)
		if err != nil {
			s.t.Error(err)
			return
		}
		defer func() { _ = answer.Body.Close() }()
		one := sample{At: time.Now(), Out: len(s.network.Posts())}
		into := map[string]*float64{
			"go_memstats_heap_inuse_bytes": &one.Heap, "process_resident_memory_bytes": &one.Resident,
			"go_goroutines": &one.Goroutines, "process_open_fds": &one.Files,
		}
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), " ")
			if to, ok := into[name]; ok {
				*to, _ = strconv.ParseFloat(value, 64)
			}
		}
		if one.Goroutines == 0 || one.Heap == 0 {
			s.t.Errorf("%s has no metrics of goroutines and memory", s.metrics)
			return
		}
		s.samples = append(s.samples, one)
	})
}

func (s *soak) wantAllOut() {
	s.t.Helper()
	copies := map[string]int{}
	e2etest.Eventually(s.t, 2*time.Minute, "every post to be out", func() bool {
		clear(copies)
		for _, p := range s.network.Posts() {
			copies[p.Text]++
		}
		return len(copies) == int(s.scheduled.Load())
	})
	for text, n := range copies {
		if n != 1 {
			s.t.Errorf("%q exists %d times", text, n)
		}
	}
	s.t.Logf("%d posts are out, once; %d views", len(copies), s.views)
}

func (s *soak) wantAllCounted() {
	s.t.Helper()
	s.page.views = int(s.views)
	s.page.wait(30 * time.Second)
}
