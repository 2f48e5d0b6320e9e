package vitals_test

import (
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"dateline/internal/vitals"
)

func TestMemoryLimit(t *testing.T) {
	limit, ok := vitals.MemoryLimit()
	if runtime.GOOS == "linux" && (!ok || limit < 64<<20) {
		t.Errorf("%d %t", limit, ok)
	}
}

func TestDisk(t *testing.T) {
	room, err := vitals.Disk(t.TempDir())
	if err != nil || room.Size <= 0 || room.Free < 0 || room.Free > room.Size {
		t.Errorf("%+v %v", room, err)
	}
	if _, err := vitals.Disk(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that is not there has room")
	}
}

// A program is found with what it starts in turn; two of them are two.
func TestChildren(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // there is no /proc to ask
	}
	shell := exec.Command("sh", "-c", "sleep 60 & sleep 60 & wait")
	busy := exec.Command("sh", "-c", "while :; do :; done")
	for _, c := range []*exec.Cmd{shell, busy} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var used float64
		shells := 0
		for _, u := range vitals.Children() {
			if u.Name == "sleep" {
				t.Fatal("what a child started stands beside it")
			}
			if u.Name == "sh" || u.Name == "dash" {
				shells++
				used += u.CPU
				if u.Memory <= 0 {
					t.Errorf("%+v", u)
				}
			}
		}
		if shells == 2 && used > 0.05 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d shells, %.2f s", shells, used)
		}
	}
}

func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	c := &vitals.Certificates{Places: map[string]string{"public": strings.TrimPrefix(server.URL, "https://"), "gone": "127.0.0.1:1"}}
	ends := c.End(t.Context())
	if len(ends) != 1 || !ends["public"].Equal(server.Certificate().NotAfter) {
		t.Errorf("%v", ends)
	}
	server.Close()
	if ends = c.End(t.Context()); len(ends) != 1 {
		t.Error("asked again at once")
	}
}
