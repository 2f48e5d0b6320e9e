package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

var (
	survivors = flag.Int("survivors", 150,
		"posts due at the second around which TestHerd_Survives kills processes")
	survivorsLead = flag.Duration("survivors-lead", 0,
		"how long before its second that herd is scheduled; 0: as long as it takes to arm it")
	survivorsLimit = flag.Duration("survivors-limit", 3*time.Minute,
		"how long after its second that herd must be published; `make bench/survive` uses a shorter time")
)

// TestHerd_Survives kills the program or an engine around the second at which many
// posts are due. Each post must reach the network exactly once. After the program was
// killed, the notification of each must arrive, too.
func TestHerd_Survives(t *testing.T) {
	t.Parallel()
	program := func(d *dateline) { d.kill(); d.start(); d.ready() }
	engine := func(name string) func(*dateline) { return func(d *dateline) { d.killEngine(name) } }
	for _, when := range []struct {
		what  string
		after time.Duration // of the posts' second
		kill  func(d *dateline)
	}{
		{"the program 5 s before", -5 * time.Second, program},
		{"the program at the second", 10 * time.Millisecond, program},
		{"the program 1 s after", time.Second, program},
		{"Temporal just before", -500 * time.Millisecond, engine("temporal")},
		{"Postgres just before", -300 * time.Millisecond, engine("postgres")},
		{"Postgres at the second", 10 * time.Millisecond, engine("postgres")},
		{"Redis just before", -500 * time.Millisecond, engine("redis")},
		{"Temporal's store, before", -4 * time.Second, func(d *dateline) {
			d.kill()
			d.wipeTemporal()
			d.start()
			d.ready()
		}},
	} {
		t.Run(strings.ReplaceAll(when.what, " ", "_"), func(t *testing.T) {
			t.Parallel() // they mostly wait
			h := newHerd(t)
			time.Sleep(time.Until(h.at.Add(when.after)))
			when.kill(h.dateline)
			h.wantAllOnce()
			if strings.HasPrefix(when.what, "the program") {
				h.inbox.wantNotified(t, *survivors)
			}
		})
	}
}

// TestNotifications_SurviveAKilledWorker kills the program while a notification is being
// delivered, and others wait.
func TestNotifications_SurviveAKilledWorker(t *testing.T) {
	t.Parallel()
	h := newHerd(t)
	h.inbox.awaitFirst(t)
	h.kill()
	h.start()
	h.ready()
	h.wantAllOnce()
	h.inbox.wantNotified(t, *survivors)
}

// herd is a burst: many posts that are due at one second, on several accounts as in a
// newsroom.
type herd struct {
	*dateline
	network *network
	inbox   *inbox
	at      time.Time
	text    func(i int) string
}

const herdAccounts = 20

func newHerd(t *testing.T) *herd {
	t.Helper()
	n, in := newNetwork(t), newInbox(t)
	h := &herd{
		dateline: newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host()+","+in.host(), "DATELINE_LOG_LEVEL=warn"),
		network:  n, inbox: in,
	}
	h.start()
	h.ready()
	in.subscribe(h.dateline)
	accounts := make([]string, herdAccounts)
	for i := range accounts {
		accounts[i] = n.connect(h.dateline, fmt.Sprintf("desk%d", i))
	}
	h.scheduleTo(accounts, func(i int) string { return fmt.Sprintf("herd %d", i) })
	return h
}

// scheduleTo schedules the posts for one second, alternating between the accounts. They
// are created for a later time and then moved: how long creating them took tells how
// far away the second has to be on this machine.
func (h *herd) scheduleTo(accounts []string, text func(i int) string) {
	h.t.Helper()
	h.text = text
	ids, began := make([]string, *survivors), time.Now()
	h.forEach(func(i int) {
		body := map[string]any{
			"content": text(i), "scheduled_time": began.Add(time.Hour).Format(time.RFC3339),
			"accounts": []string{accounts[i%len(accounts)]},
		}
		var made post
		if status, err := h.try(http.MethodPost, "/api/v1/posts", body, &made); err != nil ||
			status != http.StatusCreated {
			h.t.Errorf("post %d: %d %v", i, status, err)
		}
		ids[i] = made.ID
	})
	lead := *survivorsLead
	if lead == 0 {
		lead = 15*time.Second + 3*time.Since(began)
	}
	h.at = time.Now().Add(lead).Truncate(time.Second)
	h.forEach(func(i int) {
		body := map[string]any{"scheduled_time": h.at.Format(time.RFC3339)}
		if status, err := h.try(http.MethodPatch, "/api/v1/posts/"+ids[i], body, nil); err != nil ||
			status != http.StatusOK {
			h.t.Errorf("moving post %d: %d %v", i, status, err)
		}
	})
	if left := time.Until(h.at); left < 6*time.Second {
		h.t.Fatalf("the machine is too slow for a lead of %s: %s are left", lead, left)
	}
}

// forEach calls do for every post, eight at a time.
func (h *herd) forEach(do func(i int)) {
	queue := make(chan int)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range queue {
				do(i)
			}
		})
	}
	for i := range *survivors {
		queue <- i
	}
	close(queue)
	all.Wait()
}

// wantAllOnce waits until every post is published and counts the copies.
func (h *herd) wantAllOnce() {
	h.t.Helper()
	deadline := h.at.Add(*survivorsLimit)
	copies := map[string]int{}
	var last time.Time
	for time.Now().Before(deadline) {
		clear(copies)
		for _, p := range h.network.Posts() {
			copies[p.Text]++
			if p.ReceivedAt.After(last) {
				last = p.ReceivedAt
			}
		}
		if len(copies) == *survivors {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.t.Logf("%d of %d posts are out %s after their second", len(copies), *survivors,
		last.Sub(h.at).Round(time.Millisecond))
	if len(copies) != *survivors {
		h.t.Errorf("%d posts are not published %s after their time", *survivors-len(copies), *survivorsLimit)
	}
	// Wait for duplicates that would be sent now.
	var page struct {
		Posts []post `json:"posts"`
	}
	e2etest.Eventually(h.t, 2*time.Minute, "every post to be known as posted", func() bool {
		h.call(http.MethodGet, "/api/v1/posts?limit=1&status=draft,scheduled,publishing,partly_posted,failed,canceled",
			nil, &page)
		return len(page.Posts) == 0
	})
	clear(copies)
	for _, p := range h.network.Posts() {
		copies[p.Text]++
	}
	for text, n := range copies {
		if n != 1 {
			h.t.Errorf("%q exists %d times", text, n)
		}
	}
}

// killEngine kills an engine under the running program.
func (d *dateline) killEngine(name string) {
	d.t.Helper()
	killed := 0
	for pid, comm := range children(d.t, d.cmd.Process.Pid) {
		if isEngine(comm, name) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				d.t.Fatal(err)
			}
			killed++
		}
	}
	if killed == 0 {
		d.t.Logf("no %s runs as a child; nothing is killed", name)
	}
}

// isEngine reports whether a program is an engine's: Redis can also be Valkey.
func isEngine(program, engine string) bool {
	return strings.HasPrefix(program, engine) || engine == "redis" && strings.HasPrefix(program, "valkey")
}

// wipeTemporal removes Temporal's store. The program must not run.
func (d *dateline) wipeTemporal() {
	d.t.Helper()
	for _, entry := range d.env {
		if dir, ok := strings.CutPrefix(entry, "DATELINE_DATA_DIR="); ok {
			if err := os.RemoveAll(filepath.Join(dir, "temporal")); err != nil {
				d.t.Fatal(err)
			}
		}
	}
}
