// Package enginetest provides real engines for tests: a Postgres and a Redis for the
// test process.
//
// A package that uses Postgres declares
//
//	func TestMain(m *testing.M) { enginetest.Main(m) }
//
// so that the server is stopped after its tests. Postgres, Redis and Temporal are fetched if they are not installed.
// Tests that need Chromium, Node and other programs are skipped without them; with CI=true they fail. With -short tests
// that need an engine are skipped (make unit).
package enginetest

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// process holds the servers of this test process. They are shared by all of its tests,
// and package testing has no other place that outlives a single test.
var process struct { //nolint:gochecknoglobals // see above
	mu       sync.Mutex
	inMain   bool
	postgres *cluster
}

// Main runs the tests of a package, then stops the engines.
func Main(m *testing.M) {
	process.inMain = true
	RunAtATime(max(6, runtime.GOMAXPROCS(0)))
	code := m.Run()
	process.mu.Lock()
	if process.postgres != nil {
		process.postgres.stop()
	}
	process.mu.Unlock()
	os.Exit(code)
}

// RunAtATime sets how many parallel tests run at a time, unless -parallel does. The
// default is the number of CPUs, but tests with engines mostly wait.
func RunAtATime(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// NeedEngines skips the test with -short. Every helper that starts an engine calls it.
func NeedEngines(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts engines; run without -short")
	}
}

// strict reports whether every engine must be installed.
func strict() bool { return os.Getenv("CI") == "true" }

// shortTempDir is t.TempDir with a path short enough for a socket (108 bytes, unix(7));
// test names make the other one longer.
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "dateline-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
