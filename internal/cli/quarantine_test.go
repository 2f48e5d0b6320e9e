package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

// The quarantine is listed, replayed and discarded from the command line.
func TestQuarantine_FromTheCommandLine(t *testing.T) {
	n := newsroomtest.Open(t)
	url := enginetest.RedisPort(t) // settings do not support sockets
	environ := []string{"DATABASE_URL=" + n.DatabaseURL, "REDIS_URL=" + url}
	run := func(status int, args ...string) string {
		t.Helper()
		var said bytes.Buffer
		p := Program{Stdout: &said, Stderr: &said, Environ: environ}
		if got := p.Run(t.Context(), append([]string{"quarantine"}, args...)); got != status {
			t.Fatalf("quarantine %s: got status %d, want %d: %s", strings.Join(args, " "), got, status, said.String())
		}
		return said.String()
	}
	contains := func(said, want string) {
		t.Helper()
		if !strings.Contains(said, want) {
			t.Errorf("got %q, want %q in it", said, want)
		}
	}
	contains(run(0), "dateline quarantine [command]")
	contains(run(0, "list"), "The quarantine is empty.")
	c := n.CountViewsAt(url, t.Output())
	client := enginetest.RedisClient(t, url)
	if err := client.RPush(t.Context(), "{v00}log", "1", "not a record").Err(); err != nil {
		t.Fatal(err)
	}
	n.Must(c.Counter.Aggregate(t.Context()))
	listed := run(0, "list")
	for _, want := range []string{"REPLAY", "log", " no ", "unknown format"} {
		contains(listed, want)
	}
	contains(run(0, "replay"), "1 are unreadable for this version and stay")
	contains(run(1, "discard", uuid.NewString()), "no record with this id")
	contains(run(1, "discard", "x"), "id must be a UUID")
	run(2, "discard")
	run(2, "discard", "--all", uuid.NewString())
	run(2, "list", uuid.NewString())
	run(2, "mend")
	id := strings.Fields(strings.Split(listed, "\n")[1])[0]
	contains(run(0, "discard", id), "discarded 1 records")
	contains(run(0, "list"), "The quarantine is empty.")
	contains(run(0, "discard", "--all"), "discarded 0 records")
}
