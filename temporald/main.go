// Command temporald runs a Temporal server on a SQLite file or a Postgres database, with the Temporal Web UI, in one small process.
// Its flags are those of "temporal server start-dev", so that either program can be started with the same arguments.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	uiversion "github.com/temporalio/ui-server/v2/server/version"
	"go.temporal.io/server/common/headers"
)

// stopLimit limits the duration of a clean stop. Work that is not finished by then is
// abandoned: every change was already committed to the database.
const stopLimit = 8 * time.Second

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, cancel) // A second signal ends the process immediately.
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "temporald:", err)
		os.Exit(1)
	}
}

// relaxCollector lets the heap grow to four times the live heap before a collection:
// nearly all allocations are garbage at the end of a request, and the default collects
// a live heap of some 50 MB many times a second.
func relaxCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}

// run starts everything, prints the one ready line to stdout, and blocks until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	opts, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	if opts.help {
		return nil
	}
	if opts.version {
		_, err := fmt.Fprintf(stdout, "temporald: Temporal server %s, Web UI %s\n", headers.ServerVersion, uiversion.UIVersion)
		return err
	}
	level := new(slog.LevelVar)
	level.Set(opts.logLevel)
	logger := newLogger(stderr, opts.logFormat, level)
	relaxCollector()

	if err := checkPorts(opts); err != nil {
		return err
	}
	if opts.postgres != nil {
		release, err := preparePostgres(ctx, opts.postgres)
		if err != nil {
			return err
		}
		defer release()
	} else if err := prepareSchema(ctx, opts.dbFilename); err != nil {
		return err
	}
	server, err := newServer(opts, logger)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the Temporal server: %w", err)
	}
	defer stopWithin(stopLimit, server.Stop, logger)

	if err := register(ctx, opts); err != nil {
		if ctx.Err() != nil {
			return nil // Stopped before it was ready.
		}
		return err
	}
	ready := "temporald ready address=" + opts.frontend()
	if !opts.headless {
		ui, err := startUI(opts)
		if err != nil {
			return err
		}
		defer ui.Stop()
		ready += " ui=http://" + opts.ui()
	}
	if _, err := fmt.Fprintln(stdout, ready); err != nil {
		return fmt.Errorf("print the ready line: %w", err)
	}
	<-ctx.Done()
	// While they stop one after the other, the services warn that the others are gone.
	level.Set(max(opts.logLevel, slog.LevelError))
	return nil
}

// stopWithin calls stop and waits for it, but not longer than limit.
func stopWithin(limit time.Duration, stop func() error, logger *slog.Logger) {
	done := make(chan error, 1)
	go func() { done <- stop() }()
	select {
	case err := <-done:
		if err != nil {
			logger.Warn("The Temporal server reported an error while it stopped.", "error", err)
		}
	case <-time.After(limit):
		logger.Warn("The Temporal server did not stop in time; leaving it.", "limit", limit)
	}
}
