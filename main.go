// Dateline is a newsroom's back end on Temporal: it publishes scheduled posts
// to social networks, each on its second and never twice.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // IANA zones also where the machine has none

	"dateline/internal/cli"
)

// version is set by the build: -ldflags "-X main.version=…".
var version = "dev"

func main() {
	relaxCollector()
	// A second signal ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	program := cli.Program{Version: version, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}
	os.Exit(program.Run(ctx, os.Args[1:]))
}

// relaxCollector lets the heap grow to four times what lives in it before it is
// collected: nearly all that is allocated is gone with its request, and the
// default collects a small heap many times a second.
func relaxCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}
