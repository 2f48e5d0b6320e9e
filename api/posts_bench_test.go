package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/api/spec"
	"dateline/internal/testing/cputime"
)

var benchPosts = flag.Bool("posts-bench", false, "measure lists of posts with eight clients (make bench/posts)")

// benchClients is the number of concurrent clients of benchmarks over HTTP.
const benchClients = 8

// TestBenchPosts measures what the dashboard asks for most: the newest posts, and a
// calendar of a month with 1,000 posts, page after page.
func TestBenchPosts(t *testing.T) {
	if !*benchPosts {
		t.Skip("make bench/posts runs it")
	}
	s := start(t)
	month := time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)
	fillMonth(s, month, 1000)
	out := map[string]any{}
	for name, query := range map[string]url.Values{
		"posts": {"limit": {"50"}},
		"month": {
			"from": {month.Format(time.RFC3339)}, "to": {month.AddDate(0, 1, 0).Format(time.RFC3339)},
			"order": {"asc"}, "limit": {"200"},
		},
	} {
		measureClients(s, name, out, 25, func(ctx context.Context, c *http.Client) (size int, err error) {
			for cursor := ""; ; {
				q := url.Values{}
				for k, v := range query {
					q[k] = v
				}
				if cursor != "" {
					q.Set("cursor", cursor)
				}
				var page spec.PostPage
				n, err := getJSON(ctx, s, c, "/api/v1/posts?"+q.Encode(), &page)
				if size += n; err != nil || page.NextCursor == nil || name == "posts" {
					return size, err
				}
				cursor = *page.NextCursor
			}
		})
	}
	raw, err := json.Marshal(out)
	s.Must(err)
	fmt.Println(string(raw)) //nolint:forbidigo // the last line of make bench/posts
}

// fillMonth schedules posts of all kinds over a month.
func fillMonth(s *server, month time.Time, n int) {
	s.t.Helper()
	desk, sport := s.Connect("desk"), s.Connect("sport")
	for i := range n {
		body := object{
			"content": fmt.Sprintf("Bão số %d đổ bộ vào đất liền, hàng nghìn người phải sơ tán trong đêm. "+
				"https://news.example/bao-so-%d", i, i),
			"scheduled_time": month.Add(time.Duration(i) * 31 * 24 * time.Hour / time.Duration(n+1)).Format(time.RFC3339),
			"time_zone":      "Asia/Ho_Chi_Minh", "language": "vi",
			"accounts": []string{desk.ID.String()},
		}
		if i%3 == 0 {
			body["accounts"] = []string{desk.ID.String(), sport.ID.String()}
		}
		if i%5 == 0 {
			body["thread"] = []object{{"content": "Cập nhật lúc 18 giờ."}, {"content": "Danh sách các trường cho nghỉ học."}}
		}
		if i%7 == 0 {
			body["options"] = object{"mastodon": object{"visibility": "public", "content_warning": "Thời tiết"}}
		}
		if a := s.send(http.MethodPost, "/api/v1/posts", body); a.StatusCode != http.StatusCreated {
			s.t.Fatalf("post %d: %d %s", i, a.StatusCode, a.body)
		}
	}
	s.Exec("vacuum analyze")
}

// measureClients lets clients do the same at the same time, each as often as each says,
// and adds the latency, the bytes received and the CPU time of all processes per request.
func measureClients(
	s *server, name string, out map[string]any, each int,
	do func(ctx context.Context, c *http.Client) (size int, err error),
) {
	s.t.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var clients sync.WaitGroup
	before, transferred := benchCPU(s.t, s.Store.Pool()), 0
	for range benchClients {
		clients.Go(func() {
			c := &http.Client{Transport: &http.Transport{}}
			defer c.CloseIdleConnections()
			for i := range each {
				began := time.Now()
				n, err := do(s.t.Context(), c)
				if err != nil {
					s.t.Error(err)
					return
				}
				mu.Lock()
				if transferred = n; i > 0 {
					took = append(took, time.Since(began))
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	cpu := benchCPU(s.t, s.Store.Pool()) - before
	s.t.Logf("%-10s %s", name, latencies(took))
	out[name+"_p50_ms"], out[name+"_p95_ms"] = millis(percentileOf(took, 50)), millis(percentileOf(took, 95))
	out[name+"_kb"] = tenth(float64(transferred) / 1000)
	out[name+"_cpu_ms"] = cpuOfEach(cpu, benchClients*each)
}

// benchCPU is the CPU time that this process, with its clients, and Postgres have used.
func benchCPU(t *testing.T, pool *pgxpool.Pool) (sum time.Duration) {
	t.Helper()
	var backend, server int
	if err := pool.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&backend); err != nil {
		t.Fatal(err)
	}
	// The parent of a backend is the server: proc(5).
	if raw, err := os.ReadFile("/proc/" + strconv.Itoa(backend) + "/stat"); err == nil {
		_, after, _ := strings.Cut(string(raw), ") ")
		_, _ = fmt.Sscanf(after, "%1s %d", new(string), &server)
	}
	for _, d := range cputime.Of(server) {
		sum += d
	}
	return sum
}

// getJSON reads a page as a browser does, and returns the bytes that were transferred.
func getJSON(ctx context.Context, s *server, c *http.Client, path string, into any) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	r.Header.Set("Accept-Encoding", "gzip")
	a, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		return len(body), fmt.Errorf("%s: %s %s, %w", path, a.Status, body, err)
	}
	size := len(body)
	if a.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return size, err
		}
		if body, err = io.ReadAll(z); err != nil {
			return size, err
		}
	}
	return size, json.Unmarshal(body, into)
}
