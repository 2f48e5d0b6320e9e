// Package upgrade starts the data directory of the previous release with this
// build, and goes back.
package upgrade

import (
	"flag"
	"os/exec"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
)

var (
	run  = flag.Bool("upgrade", false, "run the upgrade test")
	from = flag.String("upgrade-from", "",
		"tag or commit to upgrade from; default: the newest tag, else the last commit before this one that changed "+
			"the migrations")
)

// refusesToGoBack is part of a build's message for a database with newer migrations
// than it supports.
const refusesToGoBack = "Going back is supported by one release"

// TestUpgrade_KeepsDataAndPublishesOnce: the previous release schedules posts,
// counts readers and stores an article. This build continues on the same data
// directory, and then the previous release does so again, unless it refuses.
func TestUpgrade_KeepsDataAndPublishesOnce(t *testing.T) {
	if !*run {
		t.Skip("make bench/upgrade-test runs this test")
	}
	ref := previous(t)
	tree := stack.Checkout(t, ref)
	before := release{ref, stack.BuildIn(t, "before", tree), tree}
	after := release{"this build", stack.Build(t, "after", ""), stack.Root(t)}
	t.Logf("upgrading from %s", ref)

	in := newInstallation(t)
	if refusal := in.start(before); refusal != "" {
		t.Fatalf("%s does not start on an empty data directory:\n%s", ref, refusal)
	}
	in.fill()
	in.wantData(before.name)
	overnight := in.schedule("due during the upgrade", time.Now().Add(8*time.Second))
	tomorrow := in.schedule("due after the upgrade", time.Now().Add(time.Hour))
	later := in.schedule("due after going back", time.Now().Add(2*time.Hour))
	in.read(2) // not flushed yet
	in.up.Stop(t)
	time.Sleep(8 * time.Second)

	if refusal := in.start(after); refusal != "" {
		t.Fatalf("this build refuses the data of %s:\n%s", ref, refusal)
	}
	in.wantOnce(overnight, "due during the upgrade")
	in.wantData(after.name)
	in.hasten(tomorrow)
	in.wantOnce(tomorrow, "due after the upgrade")
	in.read(1)
	in.wantFlushed(after.name)
	in.up.Stop(t)

	if refusal := in.start(before); refusal != "" {
		if !strings.Contains(refusal, refusesToGoBack) {
			t.Fatalf("%s does not start on the data of this build, and does not say what to do:\n%s", ref, refusal)
		}
		t.Logf("%s refuses the data of this build, with the remedy:\n%s", ref, refusal)
		if refusal := in.start(after); refusal != "" {
			t.Fatalf("this build does not start again:\n%s", refusal)
		}
	}
	in.wantData(before.name)
	in.hasten(later)
	in.wantOnce(later, "due after going back")
	in.read(1)
	in.wantFlushed(before.name)
	in.up.Stop(t)
}

// previous returns what to upgrade from.
func previous(t *testing.T) string {
	t.Helper()
	if *from != "" {
		return *from
	}
	git := func(args ...string) string {
		// No tag, no parent: nothing
		out, _ := exec.Command("git", append([]string{"-C", stack.Root(t)}, args...)...).Output()
		return strings.TrimSpace(string(out))
	}
	if tag := git("describe", "--tags", "--abbrev=0", "HEAD^"); tag != "" {
		return tag
	}
	if commit := git("log", "-1", "--format=%h", "HEAD^", "--", "internal/storage/postgres/migrations"); commit != "" {
		return commit
	}
	return git("rev-parse", "--short", "HEAD")
}
