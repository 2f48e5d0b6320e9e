package e2e

import (
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

var (
	startKills       = flag.Int("start-kills", 6, "how many starts TestStart_AfterKills kills")
	startKillsWithin = flag.Duration("start-kills-within", 3*time.Second,
		"the time after a start within which TestStart_AfterKills kills it")
)

// TestStart_AfterKills kills starts at random moments, every second one of a new installation,
// and starts again at once.
func TestStart_AfterKills(t *testing.T) {
	t.Parallel()
	var d *dateline
	for i := range *startKills {
		if i%2 == 0 {
			if d != nil {
				d.kill()
			}
			d = newDateline(t)
		}
		// One in each part of the time, so that few kills reach all of it.
		part := *startKillsWithin / time.Duration(*startKills)
		moment := time.Duration(i)*part + rand.N(part) //nolint:gosec // no secret
		d.launch()
		select {
		case <-d.ended:
			t.Fatalf("the start ended by itself: %v\n%s", d.err, d.log)
		case <-time.After(moment):
		}
		d.kill()
		began := time.Now()
		d.start()
		d.ready()
		t.Logf("killed after %s, ready again after %s", moment.Round(time.Millisecond),
			time.Since(began).Round(time.Millisecond))
		if i%2 == 0 {
			d.kill()
		}
	}
}

// TestStart_TwoAtOnce starts the program twice at the same moment with one data directory.
func TestStart_TwoAtOnce(t *testing.T) {
	t.Parallel()
	one := newDateline(t)
	other := newDateline(t, "DATELINE_DATA_DIR="+one.dataDir())
	starts := map[*dateline]<-chan string{one: one.launch(), other: other.launch()}
	ended, runs := one, other
	select {
	case <-one.ended:
	case <-other.ended:
		ended, runs = other, one
	case <-time.After(30 * time.Second):
		t.Fatal("both run with one data directory")
	}
	if ended.err == nil || !strings.Contains(ended.log.String(), "is using the data directory "+one.dataDir()+
		"; stop it, or set DATELINE_DATA_DIR") {
		t.Errorf("the second program ended with %v and printed:\n%s", ended.err, ended.log)
	}
	ended.cmd = nil
	runs.await(starts[runs])
	runs.ready()
}

// TestDataDir_LostUnderARunningProgram takes the data directory away from a running program, which must not continue on
// files that nobody finds again.
func TestDataDir_LostUnderARunningProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lose func(dir string) error
	}{
		{"removed", removeWhileWritten},
		{"moved away", func(dir string) error { return os.Rename(dir, dir+".moved") }},
		{"replaced by an empty one", func(dir string) error {
			e2etest.Must(t, os.Rename(dir, dir+".moved"))
			return os.Mkdir(dir, 0o700)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDateline(t)
			d.start()
			d.ready()
			children := descendants(t, d.cmd.Process.Pid)
			e2etest.Must(t, tt.lose(d.dataDir()))
			select {
			case <-d.ended:
			case <-time.After(45 * time.Second):
				t.Fatalf("the program still runs without its data directory:\n%s", d.log)
			}
			d.cmd = nil
			if d.err == nil || !strings.Contains(d.log.String(), "was removed or replaced") ||
				!strings.Contains(d.log.String(), "start it again") {
				t.Errorf("the program ended with %v and does not say what happened and what to do:\n%s", d.err, d.log)
			}
			for _, pid := range children {
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("the child %d is still there", pid)
				}
			}
			if entries, err := os.ReadDir(d.dataDir()); len(entries) > 0 {
				t.Errorf("the directory was filled again: %v %v", entries, err)
			}
			d.start()
			d.ready()
		})
	}
}

// removeWhileWritten removes the directory like a person who repeats `rm -r`: an engine that still runs may add a file to
// a directory between listing and removing it, and rm then ends with "directory not empty".
func removeWhileWritten(dir string) error {
	var err error
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
