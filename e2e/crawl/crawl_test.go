// Package crawl tests the complete crawler: workers as separate processes, on real
// engines, against a synthetic web that logs every request.
package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/client"

	"dateline/internal/embedded/s3server"
	"dateline/internal/infra/temporalclient"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/storage/objects"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
	"dateline/internal/testing/temporaltest"
	"dateline/worker"
	"dateline/workflows"
)

var (
	survivors = flag.Int("crawl-pages", 240, "pages of the crawl whose workers are killed")
	sites     = flag.Int("crawl-sites", 8, "sites of that crawl, and of the test of freshness")
	watch     = flag.Duration("crawl-watch", 8*time.Second, "how long the test of freshness publishes")
	factor    = flag.Int("crawl-factor", 60, "how much faster than in production hubs are asked")
)

// childVariable is the environment variable with a worker process's configuration.
const childVariable = "DATELINE_TEST_CRAWL_WORKER"

// setup is the configuration of a worker process.
type setup struct {
	Database, Redis, Temporal, S3 string
	AllowPrivate                  []string
	IPs, Factor, AtOnce           int
	Delay                         time.Duration
	Search                        bool   // also extracts and indexes articles
	Profile                       string // file for a CPU profile of the worker; empty: none
}

func TestMain(m *testing.M) {
	// The same value as in main: workers and the S3 server in this process.
	debug.SetGCPercent(300)
	if rawSetup := os.Getenv(childVariable); rawSetup != "" {
		if err := work(rawSetup); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	enginetest.Main(m)
}

// work is a worker process: it crawls until it is stopped or killed.
func work(rawSetup string) error {
	var s setup
	if err := json.Unmarshal([]byte(rawSetup), &s); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db, err := postgres.Open(ctx, s.Database)
	if err != nil {
		return err
	}
	bucket, err := objects.Open(ctx, s.bucket())
	if err != nil {
		return err
	}
	redis, err := enginetest.ParseRedis(s.Redis)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	rig, err := crawlrig.New(ctx, crawlrig.Options{
		Store: db, Redis: redis, Objects: bucket, Limits: s.limits(),
		Policy: crawl.DefaultRevisitPolicy().SpedUp(s.Factor), Log: log,
		AllowPrivate: s.AllowPrivate, Resolver: crawltest.Resolver{IPs: s.IPs},
	})
	if err != nil {
		return err
	}
	c, err := temporalclient.Connect(temporalclient.Options{Address: s.Temporal, Namespace: temporaltest.Namespace},
		log)
	if err != nil {
		return err
	}
	if s.Search {
		if err := alsoSearch(c, rig, log); err != nil {
			return err
		}
	}
	w := worker.NewQueue(c, workflows.CrawlQueue, rig.Activities)
	if s.Profile != "" {
		// The profile is written before the worker is killed.
		if err := profileFor(10*time.Second, s.Profile); err != nil {
			return err
		}
	}
	return w.Run(nil) // until the process ends
}

func profileFor(span time.Duration, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	time.AfterFunc(span, func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	})
	return pprof.StartCPUProfile(f)
}

func (s setup) bucket() objects.Options {
	return objects.Options{
		Endpoint: s.S3, Region: "us-east-1", Bucket: "dateline-test", AccessKey: "test",
		SecretKey: "test", PathStyle: true,
	}
}

func (s setup) limits() crawler.Limits {
	l := crawler.DefaultLimits()
	l.RequestDelay, l.MaxRobotsDelay, l.IPDelay, l.FetchTimeout, l.LeaseTTL = s.Delay, time.Second, time.Millisecond,
		4*time.Second, 12*time.Second
	l.Concurrency = max(s.AtOnce, 1)
	return l
}

// stage is a web, the engines, and the crawling processes.
type stage struct {
	*testing.T
	setup
	world    *crawltest.World
	store    *postgres.Store
	db       *pgx.Conn
	temporal client.Client
	token    string // of the workspace with the seeds

	mu      sync.Mutex
	workers []*exec.Cmd
}

func newStage(t *testing.T, o crawltest.Options, delay time.Duration, factor int) *stage {
	t.Helper()
	world, err := crawltest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	handler, err := s3server.New(s3server.Options{
		Dir: t.TempDir(), Bucket: "dateline-test", AccessKey: "test", SecretKey: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	files := httptest.NewServer(handler)
	t.Cleanup(files.Close)
	s := &stage{
		T: t, world: world, setup: setup{
			Redis: enginetest.Redis(t), S3: files.URL, AllowPrivate: world.AllowPrivate(),
			IPs: max(o.IPs, 1), Factor: factor, Delay: delay,
		},
	}
	s.store, s.Database = storetest.OpenWithURL(t)
	s.Temporal = temporaltest.Start(t)
	s.temporal = temporaltest.Dial(t, s.Temporal, nil)
	s.db, err = pgx.Connect(t.Context(), s.Database)
	s.must(err)
	bucket, err := objects.Open(t.Context(), s.bucket())
	s.must(err)
	s.must(bucket.EnsureBucket(t.Context()))
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, w := range s.workers {
			stop(w)
		}
	})
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// startWorker starts a worker process in a slot of workers.
func (s *stage) startWorker(slot int) {
	rawSetup, err := json.Marshal(s.setup)
	s.must(err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(rawSetup))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.must(cmd.Start())
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.workers) <= slot {
		s.workers = append(s.workers, nil)
	}
	s.workers[slot] = cmd
}

// killWorker kills a worker process with SIGKILL and returns its CPU time.
func (s *stage) killWorker(slot int) (used time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	used = stop(s.workers[slot])
	s.workers[slot] = nil
	return used
}

func stop(w *exec.Cmd) (used time.Duration) {
	if w != nil {
		_ = w.Process.Kill()
		_ = w.Wait()
		used = cpuTime(w)
	}
	return used
}

// cpuTime returns the CPU time of a process that has ended.
func cpuTime(w *exec.Cmd) time.Duration {
	return w.ProcessState.UserTime() + w.ProcessState.SystemTime()
}

// schedule runs the planner as often as the speed factor requires.
func (s *stage) schedule() {
	_, err := s.temporal.ScheduleClient().Create(s.Context(), client.ScheduleOptions{
		ID: workflows.CrawlSchedule,
		Spec: client.ScheduleSpec{
			Intervals: []client.ScheduleIntervalSpec{{Every: max(time.Minute/time.Duration(s.Factor), time.Second)}},
		},
		Action: &client.ScheduleWorkflowAction{
			ID: workflows.CrawlSchedule, Workflow: workflows.CrawlWorkflow, TaskQueue: workflows.CrawlQueue,
		},
		TriggerImmediately: true,
	})
	s.must(err)
}

func (s *stage) seed(kind crawl.Kind) {
	var homes []string
	for _, site := range s.world.Sites() {
		homes = append(homes, site.Home())
	}
	w, token, err := crawlrig.CreateWorkspace(s.Context(), s.store)
	s.must(err)
	s.must(crawlrig.CreateSeeds(s.Context(), s.store, w, crawl.DefaultRevisitPolicy().SpedUp(s.Factor), kind, homes...))
	s.token = token
}

func (s *stage) count(sql string, args ...any) (n int) {
	s.Helper()
	s.must(s.db.QueryRow(s.Context(), sql, args...).Scan(&n))
	return n
}

// missing lists published articles that are not stored.
func (s *stage) missing() (urls []string) {
	s.Helper()
	have := map[string]bool{}
	rows, err := s.db.Query(s.Context(),
		`select u.url from urls u join page_versions v on v.domain_id = u.domain_id and v.url_id = u.id where u.kind = 'article'`)
	s.must(err)
	for rows.Next() {
		var url string
		s.must(rows.Scan(&url))
		have[url] = true
	}
	s.must(rows.Err())
	for _, a := range s.world.Articles() {
		if !have[a.URL] {
			urls = append(urls, a.URL)
		}
	}
	return urls
}

func (s *stage) until(timeout time.Duration, what string, done func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), timeout)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				s.Fatalf("timed out after %s waiting for %s", timeout, what)
			}
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}
