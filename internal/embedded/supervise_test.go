package embedded

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// supervised starts a script under supervision. The returned function stops it like
// Engines.Stop.
func supervised(
	t *testing.T, h *Host, script string, pause time.Duration, ready func(context.Context) error,
) (log *text, failed chan error, stop func()) {
	t.Helper()
	path := h.path("script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho start >> "+h.path("starts")+"\n"+script+"\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	c, err := h.startChild(childSpec{
		name: "kept", path: path, dir: h.dataDir, stopSignal: syscall.SIGTERM, grace: time.Second, ready: ready,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	log, failed = &text{}, make(chan error, 1)
	last := h.superviseInBackground(ctx, c, slog.New(slog.NewTextHandler(log, nil)), pause, failed)
	return log, failed, func() {
		cancel()
		(<-last).stop(context.Background())
	}
}

func starts(t *testing.T, h *Host) int {
	t.Helper()
	text, err := os.ReadFile(h.path("starts"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func fails(t *testing.T, failed chan error) string {
	t.Helper()
	select {
	case err := <-failed:
		return err.Error()
	case <-time.After(20 * time.Second):
		t.Fatal("no failure is reported")
		return ""
	}
}

func isReady(context.Context) error { return nil }

func neverReady(context.Context) error { return errors.New("not yet") }

func TestSuperviseGivesUp(t *testing.T) {
	for name, ready := range map[string]func(context.Context) error{
		"ready before it exits": isReady,
		"never ready":           neverReady,
	} {
		t.Run(name, func(t *testing.T) {
			h := testHost(t)
			log, failed, stop := supervised(t, h, "sleep 0.1; echo out of luck; exit 7", 5*time.Millisecond, ready)
			message := fails(t, failed)
			if !strings.Contains(message,
				"kept exited 6 times within a minute and is not restarted: kept exited unexpectedly (exit status 7)") ||
				!strings.HasSuffix(message, "\n  out of luck") {
				t.Errorf("failure: %s", message)
			}
			if n := starts(t, h); n != 1+maxExits {
				t.Errorf("%d starts", n)
			}
			for _, wait := range []string{"5ms", "10ms", "20ms", "40ms", "80ms"} {
				if !strings.Contains(log.String(), `engine=kept status="exit status 7" log_file=`+
					h.path("logs", "kept.log")+" wait="+wait+"\n") {
					t.Errorf("no warning with wait=%s:\n%s", wait, log)
				}
			}
			stop()
		})
	}
}

func TestSuperviseCannotStart(t *testing.T) {
	h := testHost(t)
	_, failed, stop := supervised(t, h, "echo the last words; rm "+h.path("script"), 5*time.Millisecond, isReady)
	message := fails(t, failed)
	if !strings.Contains(message, "kept exited unexpectedly (exit status 0)") ||
		!strings.Contains(message, "the last words") ||
		!strings.Contains(message, "It cannot be restarted: starting kept: fork/exec") {
		t.Errorf("failure: %s", message)
	}
	stop()
}

// Supervision does not wait for a running child with a permanent failure.
func TestSupervise_PermanentFailure(t *testing.T) {
	h := testHost(t)
	_, failed, stop := supervised(t, h, "test -e once && exec sleep 300; touch once", 5*time.Millisecond,
		func(context.Context) error {
			return permanent{errors.New("the key does not fit")}
		})
	if message := fails(t, failed); message != "after an unexpected exit, kept: the key does not fit" {
		t.Errorf("failure: %s", message)
	}
	stop()
	noneLeft(t, h.dataDir)
}

func TestSuperviseStop(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		pause  time.Duration
		starts int
	}{
		"while it runs":              {"exec sleep 300", 5 * time.Millisecond, 1},
		"before it is started again": {"exit 7", time.Hour, 1},
		"before it is ready again":   {"test -e once && exec sleep 300; touch once", 5 * time.Millisecond, 2},
	} {
		t.Run(name, func(t *testing.T) {
			h := testHost(t)
			_, failed, stop := supervised(t, h, c.script, c.pause, neverReady)
			eventually(t, 5*time.Second, func() error {
				if starts(t, h) != c.starts {
					return errors.New("not started")
				}
				return nil
			})
			time.Sleep(100 * time.Millisecond)
			began := time.Now()
			stop()
			if took := time.Since(began); took > 500*time.Millisecond {
				t.Errorf("the stop took %s", took)
			}
			time.Sleep(100 * time.Millisecond)
			if n := starts(t, h); n != c.starts || len(failed) != 0 {
				t.Errorf("%d starts, %d failures", n, len(failed))
			}
			noneLeft(t, h.dataDir)
		})
	}
}

func TestS3_ListenerFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &Engines{failed: make(chan error, 1), host: testHost(t), stopSupervision: func() {}}
	e.watch(t.Context(), serveS3(listener, http.NotFoundHandler()), slog.New(slog.DiscardHandler))
	_ = listener.Close()
	if message := fails(t, e.failed); !strings.HasPrefix(message, "the S3 server failed: ") {
		t.Errorf("failure: %s", message)
	}
	if err := e.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
}
