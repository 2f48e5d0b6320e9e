package cli

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// profiler is the flag --pprof of the parts that run for long.
type profiler struct{ address *string }

func profilerFlag(set *flag.FlagSet) profiler {
	return profiler{set.String("pprof", "", "serve Go's profiler on this loopback `address`, such as 127.0.0.1:6060, to anybody who can reach it (for finding out where time goes)")}
}

// serve answers until ctx ends. Profiles hold fragments of what is in memory,
// so no address but loopback is taken.
func (p profiler) serve(ctx context.Context, log *slog.Logger) error {
	if *p.address == "" {
		return nil
	}
	at, err := net.ResolveTCPAddr("tcp", *p.address)
	if err != nil || !at.IP.IsLoopback() {
		return fmt.Errorf("--pprof %s: give an address on loopback, such as 127.0.0.1:6060", *p.address)
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
	go func() { _ = server.Serve(l) }() // ends when it is closed
	log.Warn("the profiler is on", "address", l.Addr().String())
	return nil
}
