package platformtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dateline/platforms/network"
)

// Command runs a program in a folder, and fails the test with its output.
func Command(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// Background starts a program in a folder, and stops it with its children after the test.
// env is added to the environment.
func Background(t *testing.T, dir string, env []string, program string, args ...string) {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
		stopped := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		_ = c.Wait()
		stopped.Stop()
	})
}

// AwaitServer waits until a server listens.
func AwaitServer(t *testing.T, kind, address string) {
	t.Helper()
	for range 300 {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), kind, address)
		if err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", address)
}

// StartLossyProxy starts a proxy that, of so many calls that change something, loses one after
// and one before the server acted, and is late with one, at random. It returns its URL and counts the calls.
func StartLossyProxy(t *testing.T, address string, of int) (proxyURL string, calls *atomic.Int64) {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	calls = &atomic.Int64{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = target.Host
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost || r.Method == http.MethodPut {
			calls.Add(1)
			switch rand.IntN(of) {
			case 0: // lost after it acted
				proxy.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			case 1: // lost before
				_, _ = io.Copy(io.Discard, r.Body)
				panic(http.ErrAbortHandler)
			case 2:
				time.Sleep(time.Second)
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, calls
}

// Preparing is a network that prepares posts.
type Preparing interface {
	network.Network
	network.Preparer
}

// PublishLosing publishes articles like delivery, through a network that loses responses:
// prepare, send, and search before sending again.
func PublishLosing(t *testing.T, n Preparing, account network.Account, articles int) {
	t.Helper()
	for i := range articles {
		s := network.Submission{
			Key: fmt.Sprint("lost ", i), Text: fmt.Sprintf("Tin mất phản hồi %d.\n\nĐủ một lần.", i),
		}
		for attempt := 0; ; attempt++ {
			if attempt == 20 {
				t.Fatalf("article %d is not published", i)
			}
			ready, err := n.Prepare(t.Context(), account, s)
			if err != nil {
				s.Handle = ""
				continue
			}
			if s.Handle = ready.Handle; !ready.Ready {
				time.Sleep(min(ready.CheckAfter, 200*time.Millisecond))
				attempt--
				continue
			}
			if _, err = n.Publish(t.Context(), account, s); err == nil {
				break
			}
			if e := network.AsError(err); e.Class != network.Ambiguous && e.Class != network.Transient &&
				e.Class != network.NotSent {
				t.Fatalf("article %d: %v", i, e)
			}
			if found, err := n.Reconcile(t.Context(), account, s, network.Window{}); err == nil && found.Found {
				break
			}
		}
	}
}
