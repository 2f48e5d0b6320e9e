package hoststats_test

import (
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/config"
	"dateline/internal/ops/hoststats"
	"dateline/internal/testing/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestMemoryLimit(t *testing.T) {
	limit, ok := hoststats.MemoryLimit()
	if runtime.GOOS == "linux" && (!ok || limit < 64<<20) {
		t.Errorf("%d %t", limit, ok)
	}
}

func TestDisk(t *testing.T) {
	room, err := hoststats.Disk(t.TempDir())
	if err != nil || room.Size <= 0 || room.Free < 0 || room.Free > room.Size {
		t.Errorf("%+v %v", room, err)
	}
	if _, err := hoststats.Disk(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that is not there has room")
	}
}

func TestSameDisk(t *testing.T) {
	if dir := t.TempDir(); !hoststats.SameDisk(dir, t.TempDir()) || hoststats.SameDisk(dir, filepath.Join(dir, "none")) {
		t.Error("what lies beside one another is on one disk, and what is nowhere on none")
	}
	if runtime.GOOS == "linux" && hoststats.SameDisk(t.TempDir(), "/proc") {
		t.Error("/proc lies on no disk of files")
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
		for _, u := range hoststats.Children() {
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
	c := &hoststats.Certificates{Places: map[string]hoststats.TLSEndpoint{"public": {Address: strings.TrimPrefix(server.URL, "https://")}, "gone": {Address: "127.0.0.1:1"}}}
	ends := c.End(t.Context())
	if len(ends) != 1 || !ends["public"].Equal(server.Certificate().NotAfter) {
		t.Errorf("%v", ends)
	}
	server.Close()
	if ends = c.End(t.Context()); len(ends) != 1 {
		t.Error("asked again at once")
	}
}

// A Postgres tells of its certificate only to who asks for TLS in its own way; one
// without TLS has none.
func TestTheCertificateOfPostgres(t *testing.T) {
	ends := time.Now().AddDate(0, 0, 9)
	address, _ := enginetest.SecurePostgres(t, ends)
	cfg := &config.Config{DatabaseURL: address + "?sslmode=require", S3Endpoint: "http://127.0.0.1:1", RedisURL: "rediss://cache.example", PublicURL: "https://dateline.example/desk",
		TemporalAddress: "temporal.example:7233"}
	places := hoststats.TLSEndpoints(cfg)
	if len(places) != 3 || places["redis"].Address != "cache.example:6379" || places["public"].Address != "dateline.example:443" || !places["database"].StartTLS {
		t.Fatalf("%+v", places)
	}
	found := (&hoststats.Certificates{Places: map[string]hoststats.TLSEndpoint{"database": places["database"]}}).End(t.Context())
	if off := found["database"].Sub(ends).Abs(); len(found) != 1 || off > time.Minute {
		t.Errorf("%v, want %v", found, ends)
	}
	for _, plain := range []string{address + "?sslmode=disable", "postgres:///dateline?host=/run/postgresql", ""} {
		cfg.DatabaseURL = plain
		if p, ok := hoststats.TLSEndpoints(cfg)["database"]; ok {
			t.Errorf("%s: %+v", plain, p)
		}
	}
}
