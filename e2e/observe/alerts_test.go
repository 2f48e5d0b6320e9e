package observe

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	enumspb "go.temporal.io/api/enums/v1"
	sdk "go.temporal.io/sdk/client"

	"dateline/internal/testing/e2etest"
	"dateline/platforms/fake"
	"dateline/workflows"
)

// faster divides times in rules: half an hour becomes half a minute.
const faster = 60

// TestEveryAlertIsFiredByItsCause causes every problem that has an alert, in a real
// installation with a real Prometheus. Without a problem, no alert fires.
func TestEveryAlertIsFiredByItsCause(t *testing.T) {
	t.Parallel()
	p := startPrometheus(t, true, faster)
	n := openNewsroom(t)
	api := n.api()
	worker, workerMetrics := n.worker()
	p.scrape("quick", api, workerMetrics)
	p.watch()

	accounts := map[string]string{}
	for _, name := range []string{"desk", "flaky", "refused", "torn", "revoked", "ending"} {
		accounts[name] = n.account(name)
	}
	n.awaitPost(n.schedule("All is well.", 2*time.Second, accounts["desk"]), "posted", 90*time.Second)
	key := n.site()
	if status := n.hit(key, "/first"); status != http.StatusAccepted {
		t.Fatalf("a hit: got status %d", status)
	}
	n.await("the first counts to be in the database and compared", func() bool {
		n.flush()
		return n.count("select count(*) from view_batches") > 0 && n.count("select count(*) from view_checks") > 0
	})
	for alert, labels := range p.allFired() {
		if alert != "DiskNearlyFull" { // the machine that runs the tests may be low on disk space
			t.Errorf("%s fires without a cause: %s", alert, labels)
		}
	}

	t.Log("counts are modified, a record is unreadable, and a response is lost")
	e2etest.Must(t, n.redisClient().RPush(t.Context(), "{v00}log", "0", "not a record").Err())
	n.exec("update view_pages set views = views + 5")
	n.exec("update view_checks set started_at = started_at - interval '2 hours'")
	n.flush()
	n.faults([]fake.Fault{{Kind: fake.ResetBefore, Account: "torn", Count: -1}})
	n.call(http.MethodPost, "/api/v1/posts",
		map[string]any{
			"content": "torn", "scheduled_time": time.Now().Add(time.Second), "accounts": []string{
				accounts["torn"],
			},
			"drop_if_late_minutes": 1,
		}, nil) // so that it soon becomes a dead letter
	p.fires("ViewCountMismatch", "RecordsQuarantined")
	n.await("a response to be lost", func() bool {
		return n.count("select count(*) from post_events where type = 'ambiguous'") > 0
	})

	t.Log("no worker runs, and a process lacks resources")
	e2etest.Must(t, worker.Process.Signal(syscall.SIGSTOP))
	for i := range 100 {
		n.schedule(fmt.Sprintf("late %d", i), time.Second, accounts["desk"])
	}
	n.seedNews()
	n.exec("update seeds set next_crawl = now() - interval '1 hour'")
	n.hit(key, "/second")
	n.exec("update view_batches set applied_at = applied_at - interval '10 minutes'") // for as long as no worker runs
	sick, metrics := n.sick()
	p.scrape("slow", metrics)
	free := n.fill()
	p.fires("ClockDrift", "MemoryNearLimit", "DiskNearlyFull{instance:"+metrics+" severity:critical volume:data",
		"CertificateExpiring{endpoint:public", "KeysetNotRotated",
		"DatabaseServerNearLimit", "RedisNearLimit")
	openConnections(t, sick, 150)
	p.fires("OpenFilesNearLimit", "PostsLate", "TaskQueueStalled{task_queue:dateline-post",
		"ProcessDown{instance:"+workerMetrics, "CountsNotFlushed", "SeedsOverdue")
	free()

	t.Log("the worker is back, and the network fails")
	n.exec("update accounts set renewable = false, expires_at = now() + interval '2 days' where id = $1",
		accounts["ending"])
	n.brokenReceivers(4)
	n.faults([]fake.Fault{
		{
			Kind: fake.Status, Status: http.StatusUnprocessableEntity, Account: "refused", Count: -1,
			Body: `{"error":"Validation failed: no"}`,
		},
		{Kind: fake.TokenExpired, Account: "revoked", Count: -1},
	})
	e2etest.Must(t, worker.Process.Signal(syscall.SIGCONT))
	for i := range 7 {
		n.schedule(fmt.Sprintf("refused %d", i), 3*time.Second, accounts["refused"])
	}
	n.schedule("revoked", 3*time.Second, accounts["revoked"])
	// The failures below open the circuit of the whole host, which would delay these
	// posts.
	n.await("an account to need reconnecting and posts to be dead letters", func() bool {
		return n.count("select count(*) from accounts where status = 'needs_reconnect'") > 0 &&
			n.count("select count(*) from post_targets where status = 'failed'") >= 7
	})
	// Ten failures in a row would open the circuit for as long as a minute, several times the
	// window of the rules.
	n.faults([]fake.Fault{
		{Kind: fake.Status, Status: http.StatusServiceUnavailable, Account: "flaky", Count: -1, Probability: 0.6},
	})
	for i := range 60 {
		n.schedule(fmt.Sprintf("retried %d", i), 3*time.Second, accounts["flaky"])
	}
	// On a slow machine these are over before the alert has been pending long enough.
	n.repeat(func() {
		time.Sleep(200 * time.Millisecond)
		_, _ = n.try(http.MethodPost, "/api/v1/posts",
			map[string]any{
				"content": "retried again", "scheduled_time": time.Now().Add(time.Second),
				"accounts": []string{accounts["flaky"]},
			}, nil)
	})
	p.fires("WorkersBehind{task_queue:dateline-post", "PostsSentLate", "HighRetryRate",
		"NetworkErrors{network:mastodon", "DeadLettersGrowing", "AccountAccessExpiring",
		"AccountsNeedReconnect", "WebhookDeliveriesPending", "ArticlesStale")

	t.Log("the connection pool is exhausted, and a lost post was not found")
	p.scrape("slow", n.locked())
	p.fires("DatabasePoolNearLimit", "PostsUncertain")

	t.Log("the engines are down")
	n.redis.Kill()
	n.refuseDatabase()
	n.repeat(func() {
		_, _ = n.try(http.MethodGet, "/api/v1/posts", nil, nil)
		n.hit(key, "/third")
	})
	p.fires("EngineDown{engine:database", "EngineDown{engine:redis", "ApiErrors", "HitsRejected")

	for _, alert := range everyAlert(t) {
		if !p.firing(alert, "") {
			t.Errorf("no cause in this test fires %s", alert)
		}
	}
}

// repeat calls do at an interval until the test ends.
func (n *newsroom) repeat(do func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				do()
			}
		}
	})
	n.t.Cleanup(func() { close(done); ended.Wait() })
}

// everyAlert lists the alerts of deploy/prometheus.
func everyAlert(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../deploy/prometheus/*_rules.yml")
	e2etest.Must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		e2etest.Must(t, err)
		for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	if len(names) < 20 {
		t.Fatalf("found %v only", names)
	}
	return names
}

// faults makes the fake network refuse posts.
func (n *newsroom) faults(all []fake.Fault) {
	n.t.Helper()
	for _, f := range all {
		f.Method, f.Path = http.MethodPost, "/api/v1/statuses"
		e2etest.Must(n.t, n.fake.Inject(f))
	}
}

// flush writes the readers' counts to the database now instead of within a minute.
func (n *newsroom) flush() {
	n.t.Helper()
	e2etest.Must(n.t, n.temporal.ScheduleClient().GetHandle(n.t.Context(), workflows.FlushViewsSchedule).
		Trigger(n.t.Context(),
			sdk.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP}))
}

// await waits for a condition that no alert reports.
func (n *newsroom) await(what string, done func() bool) {
	n.t.Helper()
	e2etest.Eventually(n.t, 2*time.Minute, what, func() bool {
		if done() {
			return true
		}
		time.Sleep(time.Second)
		return false
	})
}

// seedNews seeds a site whose last crawl was yesterday.
func (n *newsroom) seedNews() {
	n.t.Helper()
	n.call(http.MethodPost, "/api/v1/seeds", map[string]any{"url": n.world.Site(0).Home(), "kind": "home"}, nil)
	n.exec("update crawl_domains set created_at = created_at - interval '1 day'")
}

// fill uses up the connections of Postgres and the memory of Redis.
func (n *newsroom) fill() (free func()) {
	n.t.Helper()
	r := n.redisClient()
	e2etest.Must(n.t, r.Set(n.t.Context(), "ballast", strings.Repeat("x", 36<<20), 0).Err())
	e2etest.Must(n.t, r.ConfigSet(n.t.Context(), "maxmemory", "42mb").Err())
	var maxConnections int
	e2etest.Must(n.t, n.db.QueryRow(n.t.Context(), "select current_setting('max_connections')::int").
		Scan(&maxConnections))
	var held []*pgx.Conn
	for range maxConnections * 85 / 100 {
		c, err := pgx.Connect(n.t.Context(), n.database)
		e2etest.Must(n.t, err)
		held = append(held, c)
	}
	hangUp := sync.OnceFunc(func() {
		for _, c := range held {
			_ = c.Close(context.Background())
		}
	})
	n.t.Cleanup(hangUp)
	return func() {
		hangUp()
		e2etest.Must(n.t, r.Del(n.t.Context(), "ballast").Err())
	}
}

// brokenReceivers registers webhooks whose receiver fails.
func (n *newsroom) brokenReceivers(many int) {
	n.t.Helper()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
	}))
	n.t.Cleanup(broken.Close)
	for i := range many {
		n.call(http.MethodPost, "/api/v1/webhooks", map[string]any{
			"url":   fmt.Sprintf("%s/%d", broken.URL, i),
			"types": []string{"post.posted"},
		}, nil)
	}
}

// locked starts an API all of whose connections wait for a lock.
func (n *newsroom) locked() (metrics string) {
	n.t.Helper()
	address := "127.0.0.1:" + e2etest.FreePort(n.t)
	metrics = "127.0.0.1:" + e2etest.FreePort(n.t)
	run(n.t, append(n.env, "DATELINE_API_ADDR="+address, "DATELINE_METRICS_ADDR="+metrics), n.program, "api").
		WaitForOutput(n.t, 60*time.Second, "API listening")
	holder, err := pgx.Connect(n.t.Context(), n.database)
	e2etest.Must(n.t, err)
	n.t.Cleanup(func() { _ = holder.Close(context.Background()) })
	_, err = holder.Exec(n.t.Context(), "begin; lock table api_tokens in access exclusive mode")
	e2etest.Must(n.t, err)
	for range 30 {
		go func() {
			request, err := http.NewRequestWithContext(n.t.Context(), http.MethodGet, "http://"+address+"/api/v1/posts",
				nil)
			if err != nil {
				return
			}
			request.Header.Set("Authorization", "Bearer "+n.token)
			if answer, err := http.DefaultClient.Do(request); err == nil {
				_ = answer.Body.Close()
			}
		}()
	}
	return metrics
}

// refuseDatabase makes the database refuse all connections.
func (n *newsroom) refuseDatabase() {
	n.t.Helper()
	var name string
	e2etest.Must(n.t, n.db.QueryRow(n.t.Context(), "select current_database()").Scan(&name))
	at, err := url.Parse(n.database)
	e2etest.Must(n.t, err)
	at.Path = "/postgres" // Postgres refuses this for the current database, so connect to another one
	server, err := pgx.Connect(n.t.Context(), at.String())
	e2etest.Must(n.t, err)
	allow := "alter database " + pgx.Identifier{name}.Sanitize() + " with allow_connections "
	n.t.Cleanup(func() {
		_, _ = server.Exec(context.Background(), allow+"true")
		_ = server.Close(context.Background())
	})
	_, err = server.Exec(n.t.Context(), allow+"false")
	e2etest.Must(n.t, err)
	_, err = server.Exec(n.t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
		name)
	e2etest.Must(n.t, err)
}
