// Dateline is a newsroom back end on Temporal. It publishes scheduled posts to social
// networks exactly once and on time, and it counts views and crawls news.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"dateline/internal/cli"
)

// These are set by the build: -ldflags "-X main.version=… -X main.commit=… -X main.date=… -X main.source=…".
var (
	version = "dev"
	commit  string //nolint:gochecknoglobals // of the source; the linker sets it
	date    string //nolint:gochecknoglobals // of the commit; likewise
	source  string //nolint:gochecknoglobals // address of the source files, see docs.Options; likewise
)

func main() {
	relaxGC()
	// A second signal terminates the process immediately.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	program := cli.Program{
		Version: version, Commit: commit, Date: date, Source: source, Stdin: os.Stdin,
		Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
	}
	os.Exit(program.Run(ctx, os.Args[1:]))
}

// relaxGC sets GOGC to 300, unless it is configured. Nearly all allocations are
// short-lived, and the default would collect a small heap many times a second.
func relaxGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}
