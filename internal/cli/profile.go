package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/spf13/pflag"
)

// profiler is the flag --pprof of long-running commands.
type profiler struct{ address *string }

func profilerFlag(set *pflag.FlagSet) profiler {
	return profiler{
		set.String("pprof", "", "serve the Go profiler (pprof) on this loopback `address`, such as 127.0.0.1:6060"),
	}
}

// serve serves profiles until ctx ends. Only loopback addresses are allowed, because
// profiles contain fragments of memory.
func (p profiler) serve(ctx context.Context, log *slog.Logger) error {
	if *p.address == "" {
		return nil
	}
	at, err := net.ResolveTCPAddr("tcp", *p.address)
	if err != nil || !at.IP.IsLoopback() {
		return fmt.Errorf("--pprof %s: must be a loopback address, such as 127.0.0.1:6060", *p.address)
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return fmt.Errorf("--pprof: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }() // returns when the server is closed
	log.Warn("profiler listening", "address", l.Addr().String())
	return nil
}
