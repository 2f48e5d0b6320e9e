package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	herdSize = flag.Int("herd", 1000, "posts due at the same second in BenchmarkHerd")
	herdLead = flag.Duration("herd-lead", 60*time.Second, "how long before its second the herd is scheduled")
)

// BenchmarkHerd schedules many posts for one second and measures how late each
// reached the network, by the network's clock.
func BenchmarkHerd(b *testing.B) {
	n := newNetwork(b)
	d := newDateline(b, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host(), "DATELINE_LOG_LEVEL=warn")
	d.start()
	d.ready()
	account := n.connect(d, "desk")
	at := time.Now().Add(*herdLead).Truncate(time.Second)
	began := time.Now()
	queue := make(chan int)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := range queue {
				body := map[string]any{"content": fmt.Sprintf("herd %d", i), "scheduled_time": at.Format(time.RFC3339), "accounts": []string{account}}
				if status, err := d.try(http.MethodPost, "/api/v1/posts", body, nil); err != nil || status != http.StatusCreated {
					b.Errorf("post %d: %d %v", i, status, err)
				}
			}
		})
	}
	for i := range *herdSize {
		queue <- i
	}
	close(queue)
	all.Wait()
	b.Logf("scheduled %d in %s, %s before their time", *herdSize, time.Since(began), time.Until(at))
	time.Sleep(time.Until(at))
	deadline := time.Now().Add(5 * time.Minute)
	for len(n.Posts()) < *herdSize && time.Now().Before(deadline) {
		time.Sleep(500 * time.Millisecond)
	}
	late := make([]float64, 0, *herdSize)
	copies := map[string]int{}
	for _, p := range n.Posts() {
		late = append(late, float64(p.ReceivedAt.Sub(at).Microseconds())/1000)
		copies[p.Text]++
	}
	slices.Sort(late)
	doubled := 0
	for _, c := range copies {
		doubled += c - 1
	}
	report := map[string]any{"herd_n": *herdSize, "herd_p50_ms": late[len(late)/2], "herd_p99_ms": late[len(late)*99/100], "herd_max_ms": late[len(late)-1], "herd_min_ms": late[0],
		"duplicates": doubled, "lost": *herdSize - len(copies)}
	raw, err := json.Marshal(report)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%s", raw)
}
