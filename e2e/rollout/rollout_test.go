// Package rollout upgrades an installation from one version to the next, and downgrades
// it, while posts are pending and due.
package rollout

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/temporaltest"
)

var (
	from = flag.String("rollout-from", "",
		"a tag or commit to roll out from; empty: this checkout, under another version's name")
	posts = flag.Int("rollout-posts", 120, "posts that are due one after the other meanwhile")
	herd  = flag.Int("rollout-herd", 60, "posts that are due at one second, while both versions run")
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// TestRollout runs version one, adds version two, drains version one, and then goes
// back. Posts are scheduled and due all the time, many of them at the second at which
// both versions run.
func TestRollout(t *testing.T) {
	t.Parallel()
	one, two := stack.Build(t, "one", *from), stack.Build(t, "two", "")
	temporal := temporaltest.Start(t)
	s := stack.Open(t, stack.Engines{Temporal: temporal})
	s.Setup(one)
	worker, api := s.Worker("worker one", one), s.API("api one", one)
	there, err := s.Net.AddAccount("desk")
	if err != nil {
		t.Fatal(err)
	}
	var account struct{ ID string }
	if status, err := s.Call(0, http.MethodPost, "/api/v1/accounts",
		map[string]string{"network": "mastodon", "base_url": s.Net.URL(), "access_token": there.Token},
		&account); err != nil || status != http.StatusCreated {
		t.Fatalf("connecting the account: %d, %v\n%s", status, err, s.Logged)
	}

	wanted := make(chan string, *posts+*herd)
	schedule := func(n int, text string, at time.Time) {
		status, err := s.Call(n, http.MethodPost, "/api/v1/posts",
			map[string]any{
				"content": text, "scheduled_time": at.Format(time.RFC3339Nano),
				"accounts": []string{account.ID},
			}, nil)
		if err != nil || status != http.StatusCreated {
			t.Errorf("scheduling %q: %d, %v", text, status, err)
			return
		}
		wanted <- text
	}
	second := time.Now().Add(35 * time.Second).Truncate(time.Second)
	for i := range *herd {
		schedule(i, fmt.Sprintf("herd %d", i), second)
	}
	// Posts for the next seconds, all the time.
	stop := make(chan struct{})
	var author sync.WaitGroup
	end := sync.OnceFunc(func() { close(stop); author.Wait() })
	t.Cleanup(end) // also when something fails meanwhile
	author.Go(func() {
		for i := range *posts {
			select {
			case <-stop:
				return
			case <-time.After(400 * time.Millisecond):
				schedule(i, fmt.Sprintf("post %d", i), time.Now().Add(time.Duration(2+i%9)*time.Second))
			}
		}
	})
	time.Sleep(time.Until(second.Add(-12 * time.Second)))
	s.Run(two, "migrate")
	newWorker, newAPI := s.Worker("worker two", two), s.API("api two", two)
	time.Sleep(time.Until(second.Add(-300 * time.Millisecond)))
	// The old worker stops in the middle of the burst.
	worker.Drain()
	api.Drain()
	// And back: workflows that the newer version started are completed by the older
	// one.
	oldAgain, oldAPI := s.Worker("worker one again", one), s.API("api one again", one)
	newWorker.Drain()
	newAPI.Drain()
	author.Wait()
	end()
	close(wanted)

	texts := map[string]int{}
	for text := range wanted {
		texts[text] = 0
	}
	count := func() (out int) {
		clear(texts)
		for _, p := range s.Net.Posts() {
			texts[p.Text]++
		}
		return len(texts)
	}
	total := *posts + *herd
	e2etest.Eventually(s, 2*time.Minute, "every post to be out", func() bool { return count() == total })
	s.WantAllPosted()
	count()
	for text, n := range texts {
		if n != 1 {
			t.Errorf("%q exists %d times", text, n)
		}
	}
	wantVersions(s, temporal, "one", "two")
	var worst time.Duration
	for _, p := range s.Net.Posts() {
		if strings.HasPrefix(p.Text, "herd") {
			worst = max(worst, p.ReceivedAt.Sub(second))
		}
	}
	t.Logf("%d posts are out, once; the last of %d that were due while a worker drained was %s late", total, *herd,
		worst.Round(time.Millisecond))
	oldAgain.Drain()
	oldAPI.Drain()
}

// wantVersions checks that Temporal knows which posts each version has worked on.
func wantVersions(s *stack.Stack, temporal string, versions ...string) {
	s.Helper()
	c := temporaltest.Dial(s, temporal, nil)
	for _, version := range versions {
		e2etest.Eventually(s, 10*time.Second, "posts of version "+version, func() bool {
			found, err := c.CountWorkflow(s.Context(), &workflowservice.CountWorkflowExecutionsRequest{
				Query: "WorkflowType = 'Post' AND TemporalUsedWorkerDeploymentVersions = 'dateline:" + version + "'",
			})
			return err == nil && found.GetCount() > 0
		})
	}
}

// A worker that gets a signal while it publishes posts logs that and exits with status
// 0; a second signal ends it immediately.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	program := stack.Build(t, "one", "")
	s := stack.Open(t, stack.Engines{})
	s.Setup(program)
	w := s.Worker("worker", program)
	w.Signal(syscall.SIGTERM)
	time.Sleep(50 * time.Millisecond)
	w.Signal(syscall.SIGTERM)
	var exit *exec.ExitError
	if ended, err := w.Ended(10 * time.Second); !ended {
		t.Error("it did not end")
	} else if err != nil && !errors.As(err, &exit) {
		t.Errorf("it ended with %v", err)
	}
}

// A process that does not migrate fails at its start, with a reason, instead of at the
// first query.
func TestWorker_RefusesADatabaseThatIsNotMigrated(t *testing.T) {
	t.Parallel()
	program := stack.Build(t, "one", "")
	s := stack.Open(t, stack.Engines{})
	for _, setting := range s.Env {
		if path, ok := strings.CutPrefix(setting, "DATELINE_KEYSET="); ok {
			s.Run(program, "keyset", "new", path)
		}
	}
	for _, part := range []string{"worker", "api"} {
		cmd := exec.CommandContext(t.Context(), program, part)
		cmd.Env = s.Env
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the database has no tables yet. Run `dateline migrate`") {
			t.Errorf("%s: got %v, want a refusal that says what to run; it said:\n%s", part, err, out)
		}
	}
}
