package e2e

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/temporaltest"
	"dateline/platforms/fake"
)

// TestCrash_PowerCut kills the program while a post waits, and while one is being
// sent.
func TestCrash_PowerCut(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host())
	d.start()
	d.ready()
	to := map[string]any{"accounts": []string{n.connect(d, "desk")}}
	token := d.Token

	waiting := d.schedule("waits through a power cut", 12*time.Second, to)
	d.kill()
	d.start()
	d.ready()
	if d.Token != token {
		t.Error("a second start showed another token")
	}
	p := d.awaitStatus(waiting.ID, "posted", 90*time.Second)
	t.Logf("late by %d ms", *p.Targets[0].LateMS)
	if c := n.copies("waits through a power cut"); c != 1 {
		t.Errorf("the post exists %d times", c)
	}

	// The worst case: the network publishes, but its response is lost.
	if err := n.Inject(fake.Fault{
		Kind: fake.ActThenHang, Method: http.MethodPost, Path: "/api/v1/statuses",
		Nth: 1,
	}); err != nil {
		t.Fatal(err)
	}
	torn := d.schedule("sent without a response", 2*time.Second, to)
	e2etest.Eventually(t, 90*time.Second, "the network to have the post", func() bool {
		return n.copies("sent without a response") == 1
	})
	d.kill()
	n.ClearFaults()
	d.start()
	d.ready()
	d.awaitStatus(torn.ID, "posted", 90*time.Second)
	if c := n.copies("sent without a response"); c != 1 {
		t.Errorf("the post exists %d times", c)
	}
}

// TestCrash_TemporalUnavailable schedules a post while Temporal is down.
func TestCrash_TemporalUnavailable(t *testing.T) {
	t.Parallel()
	enginetest.NeedEngines(t)
	n := newNetwork(t)
	server := temporaltest.New(t, t.TempDir())
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host(), "TEMPORAL_ADDRESS="+server.Address)
	d.start()
	d.ready()
	to := map[string]any{"accounts": []string{n.connect(d, "desk")}}

	server.Kill()
	p := d.schedule("accepted without Temporal", 3*time.Second, to)
	e2etest.Eventually(t, 90*time.Second, "readiness to notice", func() bool {
		answer, err := http.Get(d.API + "/readyz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusServiceUnavailable
	})
	server.Start(t)
	d.awaitStatus(p.ID, "posted", 120*time.Second)
	if c := n.copies("accepted without Temporal"); c != 1 {
		t.Errorf("the post exists %d times", c)
	}
}

// TestCrash_TemporalStoreWiped removes Temporal's store.
func TestCrash_TemporalStoreWiped(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host())
	d.start()
	d.ready()
	to := map[string]any{"accounts": []string{n.connect(d, "desk")}}
	p := d.schedule("outlives Temporal's store", 25*time.Second, to)
	d.stop()
	d.wipeTemporal()
	d.start()
	d.ready()
	d.awaitStatus(p.ID, "posted", 90*time.Second)
	if c := n.copies("outlives Temporal's store"); c != 1 {
		t.Errorf("the post exists %d times", c)
	}
}

// TestCrash_Engines kills the engines under a running program, one after the
// other, while a post waits.
func TestCrash_Engines(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host())
	d.start()
	d.ready()
	to := map[string]any{"accounts": []string{n.connect(d, "desk")}}
	p := d.schedule("outlives its engines", 8*time.Second, to)
	for _, engine := range []string{"temporal", "postgres", "redis"} {
		killed := 0
		for pid, name := range children(t, d.cmd.Process.Pid) {
			if isEngine(name, engine) {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				killed++
			}
		}
		if killed != 1 {
			t.Logf("%d processes of %s run as children", killed, engine)
			continue
		}
		e2etest.Eventually(t, 90*time.Second, "the program to print that "+engine+" died", func() bool {
			return strings.Count(d.log.String(), "will be restarted") > 0
		})
	}
	d.awaitStatus(p.ID, "posted", 90*time.Second)
	if c := n.copies("outlives its engines"); c != 1 {
		t.Errorf("the post exists %d times", c)
	}
	d.ready()
}

// TestStop_IsClean checks that no process outlives the program.
func TestStop_IsClean(t *testing.T) {
	t.Parallel()
	d := newDateline(t)
	d.start("--demo")
	d.ready()
	children := descendants(t, d.cmd.Process.Pid)
	if len(children) == 0 {
		t.Fatal("no engine runs as a child")
	}
	d.end(syscall.SIGTERM)
	if d.err != nil {
		t.Errorf("the program ended with %v", d.err)
	}
	for _, pid := range children {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("the child %d is still there", pid)
		}
	}
}

// children lists the direct children of a process with their names.
func children(t testing.TB, parent int) map[int]string {
	t.Helper()
	out, err := exec.Command("ps", "-e", "-o", "pid=,ppid=,comm=").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for line := range strings.Lines(string(out)) {
		var pid, ppid int
		var name string
		if n, _ := fmt.Sscan(line, &pid, &ppid, &name); n == 3 && ppid == parent {
			found[pid] = name
		}
	}
	return found
}

// descendants lists the processes below one.
func descendants(t *testing.T, root int) []int {
	t.Helper()
	out, err := exec.Command("ps", "-e", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for line := range strings.Lines(string(out)) {
		var pid, ppid int
		if n, _ := fmt.Sscan(line, &pid, &ppid); n == 2 {
			parents[pid] = ppid
		}
	}
	var found []int
	for pid := range parents {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == root {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}
