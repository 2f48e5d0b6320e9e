// Package scale measures what a post costs with several api and worker processes on
// shared engines, Temporal on Postgres.
package scale

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/e2e/stack"
	"dateline/internal/testing/cputime"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/temporaltest"
)

var (
	processes = flag.String("scale", "", "numbers of api and of worker processes to measure, such as \"1 2 4\"")
	posts     = flag.Int("scale-posts", 600, "posts of each measurement")
	perSecond = flag.Int("scale-rate", 20, "how many of them are due each second")
	leadEach  = flag.Duration("scale-lead", 20*time.Millisecond, "time to schedule each of them before the first is due")
)

const (
	accounts = 8
	callers  = 8
	// lead is from the start of scheduling to the first post, besides -scale-lead per post.
	lead = 20 * time.Second
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// result is what a post cost with a number of processes of each kind.
type result struct {
	Processes int                `json:"processes"`
	CPU       map[string]float64 `json:"cpu_ms"` // of a post, by program
	Total     float64            `json:"total_cpu_ms"`
	LateP50MS int64              `json:"late_p50_ms"`
	LateP99MS int64              `json:"late_p99_ms"`
	LateMaxMS int64              `json:"late_max_ms"`
	LockWaits float64            `json:"lock_wait_share"` // of the samples of active sessions
	Waits     map[string]int     `json:"waits"`           // samples of active sessions, by what they wait for
}

// TestBenchScale publishes the same posts through 1, 2 and more processes of each kind.
// Each post must be published once, and its cost must not depend on their number.
func TestBenchScale(t *testing.T) {
	if *processes == "" {
		t.Skip("make bench/scale runs this benchmark")
	}
	program := stack.Build(t, "scale", "")
	var results []result
	for word := range strings.FieldsSeq(*processes) {
		n, err := strconv.Atoi(word)
		e2etest.Must(t, err)
		t.Run(word, func(t *testing.T) { results = append(results, measure(t, program, n)) })
	}
	raw, err := json.Marshal(map[string]any{"posts": *posts, "temporal": "postgres", "results": results})
	e2etest.Must(t, err)
	fmt.Println(string(raw))
}

func measure(t *testing.T, program string, n int) result {
	t.Helper()
	s := stack.Open(t, stack.Engines{Temporal: temporaltest.StartPostgres(t, enginetest.PostgresPort(t)).Address})
	s.Setup(program)
	for i := range n {
		s.Worker(fmt.Sprintf("worker %d", i), program)
		s.API(fmt.Sprintf("api %d", i), program)
	}
	ids := connect(t, s, accounts)
	db, err := pgx.Connect(t.Context(), s.Setting("DATABASE_URL"))
	e2etest.Must(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()

	stop := sampleWaits(t, s.Setting("DATABASE_URL"))
	before := cputime.Of(os.Getpid())
	first := time.Now().Add(lead + time.Duration(*posts)*(*leadEach)).Truncate(time.Second)
	due := func(i int) time.Time { return first.Add(time.Duration(i / *perSecond) * time.Second) }
	schedule(t, s, *posts, ids, due)
	time.Sleep(time.Until(due(*posts)))
	s.WantAllPosted()
	time.Sleep(3 * time.Second) // completions of a burst are reported later
	used := cputime.Of(os.Getpid()).Since(before)
	delete(used, "") // the client and the network

	r := result{Processes: n, CPU: map[string]float64{}, Waits: stop()}
	for name, spent := range used {
		if ms := spent.Seconds() * 1000 / float64(*posts); ms >= 0.05 {
			r.CPU[name] = tenths(ms)
		}
		r.Total += spent.Seconds() * 1000 / float64(*posts)
	}
	r.Total = tenths(r.Total)
	late := wantEachOnce(t, s, *posts, due)
	r.LateP50MS, r.LateP99MS, r.LateMaxMS = late[len(late)/2], late[len(late)*99/100], late[len(late)-1]
	wantClaimedOnce(t, db)
	samples, locks := 0, 0
	for what, times := range r.Waits {
		samples += times
		if strings.HasPrefix(what, "Lock:") {
			locks += times
		}
	}
	r.LockWaits = float64(locks) / float64(max(samples, 1))
	t.Logf("%d of each: %.1f ms of CPU time per post (%v), p99 %d ms late, waits %v", n, r.Total, r.CPU, r.LateP99MS,
		r.Waits)
	return r
}

// connect connects accounts of the network and returns their ids.
func connect(t *testing.T, s *stack.Stack, n int) (ids []string) {
	t.Helper()
	for i := range n {
		there, err := s.Net.AddAccount(fmt.Sprintf("desk%d", i))
		e2etest.Must(t, err)
		var made struct{ ID string }
		status, err := s.Call(i, http.MethodPost, "/api/v1/accounts",
			map[string]string{"network": "mastodon", "base_url": s.Net.URL(), "access_token": there.Token}, &made)
		if err != nil || status != http.StatusCreated {
			t.Fatalf("connecting an account: %d, %v", status, err)
		}
		ids = append(ids, made.ID)
	}
	return ids
}

// schedule creates n posts through all api processes.
func schedule(t *testing.T, s *stack.Stack, n int, accounts []string, due func(i int) time.Time) {
	t.Helper()
	queue := make(chan int)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := range queue {
				status, err := s.Call(i, http.MethodPost, "/api/v1/posts",
					map[string]any{
						"content":        fmt.Sprintf("scale %d", i),
						"scheduled_time": due(i).Format(time.RFC3339), "accounts": []string{accounts[i%len(accounts)]},
					},
					nil)
				if err != nil || status != http.StatusCreated {
					t.Errorf("scheduling: %d, %v", status, err)
				}
			}
		})
	}
	for i := range n {
		queue <- i
	}
	close(queue)
	all.Wait()
}

// wantEachOnce checks that the network received each of n posts once and not early, and
// returns how late they were in milliseconds, in order.
func wantEachOnce(t *testing.T, s *stack.Stack, n int, due func(i int) time.Time) (late []int64) {
	t.Helper()
	seen := map[int]int{}
	for _, p := range s.Net.Posts() {
		i, err := strconv.Atoi(strings.TrimPrefix(p.Text, "scale "))
		e2etest.Must(t, err)
		seen[i]++
		by := p.ReceivedAt.Sub(due(i)).Milliseconds()
		if by < 0 {
			t.Errorf("post %d was %d ms early", i, -by)
		}
		late = append(late, by)
	}
	for i, times := range seen {
		if times != 1 {
			t.Errorf("post %d was published %d times", i, times)
		}
	}
	if len(seen) != n {
		t.Fatalf("%d of %d posts were published", len(seen), n)
	}
	slices.Sort(late)
	return late
}

// wantClaimedOnce checks that no two processes claimed a post.
func wantClaimedOnce(t *testing.T, db *pgx.Conn) {
	t.Helper()
	var calls, fenced int
	e2etest.Must(t, db.QueryRow(t.Context(),
		"select (select count(*) from operations), (select count(*) from post_targets where fence = 1)").Scan(&calls,
		&fenced))
	if calls != *posts || fenced != *posts {
		t.Errorf("%d calls and %d targets that were claimed once, want %d", calls, fenced, *posts)
	}
}

// sampleWaits samples what the active sessions of a database wait for until stop is called.
func sampleWaits(t *testing.T, url string) (stop func() map[string]int) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	e2etest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	waits, done := map[string]int{}, make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			rows, err := db.Query(ctx,
				`select coalesce(wait_event_type || ':' || wait_event, 'CPU') from pg_stat_activity
				where state = 'active' and pid <> pg_backend_pid() and backend_type = 'client backend'`)
			if err == nil {
				var what string
				_, _ = pgx.ForEachRow(rows, []any{&what}, func() error { waits[what]++; return nil })
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() map[string]int {
		cancel()
		<-done
		_ = db.Close(context.WithoutCancel(ctx))
		return waits
	}
}

func tenths(ms float64) float64 { return float64(int(ms*10+0.5)) / 10 }
