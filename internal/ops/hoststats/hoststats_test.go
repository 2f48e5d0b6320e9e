package hoststats_test

import (
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

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
	space, err := hoststats.Disk(t.TempDir())
	if err != nil || space.Size <= 0 || space.Free < 0 || space.Free > space.Size {
		t.Errorf("%+v %v", space, err)
	}
	if _, err := hoststats.Disk(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("missing directory: got no error, want one")
	}
}

func TestSameDisk(t *testing.T) {
	if dir := t.TempDir(); !hoststats.SameDisk(dir, t.TempDir()) ||
		hoststats.SameDisk(dir, filepath.Join(dir, "none")) {
		t.Error("SameDisk: want true for neighboring directories and false for a missing one")
	}
	if runtime.GOOS == "linux" && hoststats.SameDisk(t.TempDir(), "/proc") {
		t.Error("SameDisk: got true for /proc, want false")
	}
}

// Descendants are added to their child process; two children stay separate.
func TestChildren_IncludesDescendants(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("requires /proc")
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
				t.Fatal("got a grandchild as a child")
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

func TestCertificates_Expiries(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	c := &hoststats.Certificates{
		Endpoints: map[string]hoststats.Endpoint{
			"public": {Address: strings.TrimPrefix(server.URL, "https://")}, "down": {Address: "127.0.0.1:1"},
		},
	}
	expiries := c.Expiries(t.Context())
	if len(expiries) != 1 || !expiries["public"].Equal(server.Certificate().NotAfter) {
		t.Errorf("got %v, want the certificate of the server", expiries)
	}
	server.Close()
	if expiries = c.Expiries(t.Context()); len(expiries) != 1 {
		t.Error("got a new result, want the cached one")
	}
}

// Postgres presents its certificate only after an SSLRequest.
func TestTLSEndpoints_Postgres(t *testing.T) {
	ends := time.Now().AddDate(0, 0, 9)
	address, _ := enginetest.SecurePostgres(t, ends)
	addresses := hoststats.Addresses{
		DatabaseURL: address + "?sslmode=require", S3Endpoint: "http://127.0.0.1:1",
		RedisURL: "rediss://cache.example", PublicURL: "https://dateline.example/app",
	}
	endpoints := hoststats.TLSEndpoints(addresses)
	if len(endpoints) != 3 || !endpoints["database"].UsesSSLRequest {
		t.Fatalf("got %+v, want database, redis and public", endpoints)
	}
	if got, want := endpoints["redis"].Address, "cache.example:6379"; got != want {
		t.Errorf("redis: got %s, want %s", got, want)
	}
	if got, want := endpoints["public"].Address, "dateline.example:443"; got != want {
		t.Errorf("public: got %s, want %s", got, want)
	}
	found := (&hoststats.Certificates{Endpoints: map[string]hoststats.Endpoint{"database": endpoints["database"]}}).
		Expiries(t.Context())
	if off := found["database"].Sub(ends).Abs(); len(found) != 1 || off > time.Minute {
		t.Errorf("%v, want %v", found, ends)
	}
	for _, plain := range []string{address + "?sslmode=disable", "postgres:///dateline?host=/run/postgresql", ""} {
		addresses.DatabaseURL = plain
		if p, ok := hoststats.TLSEndpoints(addresses)["database"]; ok {
			t.Errorf("%s: %+v", plain, p)
		}
	}
}
