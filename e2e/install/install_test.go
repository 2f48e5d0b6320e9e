// Package install tests the files of a release as a user installs them.
package install

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dateline/internal/testing/e2etest"
)

var (
	release = flag.String("install", "", "`folder` with the files of a release")
	debian  = flag.String("debian", "", "`folder` with a root file system that debootstrap made")
	older   = flag.String("from", "", "`folder` with the files of an older release, which is upgraded")
)

// maxFirstPost is how long the first post may take after the first start.
const maxFirstPost = 20 * time.Second

func need(t *testing.T) {
	t.Helper()
	if *release == "" {
		t.Skip("run with make bench/install-test")
	}
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("needs root on Linux, to change the root file system")
	}
}

func files(t *testing.T, folder, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %v, %v; want one file", pattern, folder, found, err)
	}
	return found[0]
}

// The archive works in a root file system without anything but the C and C++ libraries and
// a shell, which PostgreSQL needs: no Go, no Node, no PostgreSQL, no Redis.
func TestArchive_PublishesFirstPostInABareRoot(t *testing.T) {
	need(t)
	root := e2etest.OpenDir(t)
	t.Logf("tar xzf dateline_*_linux_%s.tar.gz -C /opt", runtime.GOARCH)
	unpack(t, files(t, *release, "*_linux_"+runtime.GOARCH+".tar.gz"), filepath.Join(root, "opt"))
	bareRoot(t, root)
	found, err := filepath.Glob(filepath.Join(root, "opt", "dateline_*", "dateline"))
	if err != nil || len(found) != 1 {
		t.Fatalf("programs in the archive: %v, %v", found, err)
	}
	e2etest.Must(t, os.MkdirAll(filepath.Join(root, "var/lib/dateline"), 0o755))
	program := strings.TrimPrefix(found[0], root)
	publishes(t, root, program, program, maxFirstPost)
}

// publishes starts the program in a root file system, and expects the first post soon. It
// returns the API token.
func publishes(
	t *testing.T, root, program, cliProgram string, within time.Duration,
) (child *e2etest.Child, token string) {
	t.Helper()
	started := time.Now()
	step := func(format string, args ...any) {
		t.Helper()
		t.Logf("%6.2f s  %s", time.Since(started).Seconds(), fmt.Sprintf(format, args...))
	}
	step("$ %s up", program)
	child = start(t, root, program)
	api := child.WaitForOutput(t, time.Minute, `API\s+(http://\S+)/api/v1`)[1]
	step("API at %s", api)
	token = child.WaitForOutput(t, time.Minute, `API token\s+(dl_\S+)`)[1]
	cli := func(args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), cliProgram, args...)
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		c.Dir, c.Env = "/", []string{"DATELINE_URL=" + api, "DATELINE_TOKEN=" + token, "HOME=/tmp"}
		step("$ %s %s", cliProgram, strings.Join(args, " "))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	e2etest.Eventually(t, 2*time.Minute, "the API to be ready", func() bool {
		response, err := http.Get(api + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	out, err := cli("post", "First post", "--now", "--json")
	id := regexp.MustCompile(`"id": "([0-9a-f-]{36})"`).FindStringSubmatch(out)
	if err != nil || id == nil {
		t.Fatalf("creating a post: %v: %s", err, out)
	}
	if out, err = cli("posts", "watch", id[1]); err != nil {
		t.Fatalf("the post: %v: %s", err, out)
	}
	step("%s", strings.TrimSpace(out))
	if took := time.Since(started); took > within {
		t.Errorf("the first post took %s, want at most %s", took, within)
	}
	return child, token
}

// start starts `dateline up` in a root file system.
func start(t *testing.T, root, program string) *e2etest.Child {
	t.Helper()
	env := []string{"DATELINE_DATA_DIR=/var/lib/dateline", "PATH=/usr/bin:/bin"}
	for _, name := range []string{"API_ADDR", "SANDBOX_ADDR", "METRICS_ADDR"} {
		env = append(env, "DATELINE_"+name+"=127.0.0.1:"+e2etest.FreePort(t))
	}
	for _, name := range []string{"TEMPORAL", "TEMPORAL_UI", "POSTGRES", "REDIS", "S3"} {
		env = append(env, "DATELINE_"+name+"_PORT="+e2etest.FreePort(t))
	}
	// Without the environment of the test, which may name files that the root does not have.
	args := append(append([]string{"-i"}, env...), "/usr/sbin/chroot", root, program, "up")
	return e2etest.Run(t, "/", nil, "/usr/bin/env", args...)
}

// bareRoot adds the C and C++ libraries and a shell to a folder with the archive.
func bareRoot(t *testing.T, root string) {
	t.Helper()
	for _, dir := range []string{"dev", "etc", "bin", "opt", "tmp", "var/lib"} {
		e2etest.Must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	e2etest.Must(t, os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky))
	e2etest.Must(t, os.WriteFile(filepath.Join(root, "etc/passwd"),
		[]byte("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"), 0o644))
	e2etest.Must(t, os.WriteFile(filepath.Join(root, "etc/group"), []byte("root:x:0:\nnogroup:x:65534:\n"), 0o644))
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "urandom": 9} {
		e2etest.Must(t, unix.Mknod(filepath.Join(root, "dev", name), unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))))
		e2etest.Must(t, os.Chmod(filepath.Join(root, "dev", name), 0o666))
	}
	postgres, err := filepath.Glob(filepath.Join(root, "opt", "*", "postgres", "bin", "*"))
	e2etest.Must(t, err)
	libraries := map[string]bool{}
	for _, program := range append(postgres, "/bin/sh") {
		out, err := exec.CommandContext(t.Context(), "ldd", program).Output()
		e2etest.Must(t, err)
		for _, found := range regexp.MustCompile(`(?m)\s(/\S+) \(`).FindAllStringSubmatch(string(out), -1) {
			libraries[found[1]] = libraries[found[1]] || !strings.HasPrefix(found[1], root)
		}
	}
	for path, wanted := range libraries {
		if wanted {
			copyFile(t, path, filepath.Join(root, path))
		}
	}
	copyFile(t, "/bin/sh", filepath.Join(root, "bin/sh"))
	mountProc(t, root)
}

// mountProc mounts /proc, which every machine has: programs find themselves by it.
func mountProc(t *testing.T, root string) {
	t.Helper()
	at := filepath.Join(root, "proc")
	e2etest.Must(t, os.MkdirAll(at, 0o755))
	e2etest.Must(t, unix.Mount("proc", at, "proc", 0, ""))
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	e2etest.Must(t, err)
	e2etest.Must(t, os.MkdirAll(filepath.Dir(to), 0o755))
	e2etest.Must(t, os.WriteFile(to, raw, 0o755))
}

// unpack unpacks an archive of a release.
func unpack(t *testing.T, path, dir string) {
	t.Helper()
	f, err := os.Open(path)
	e2etest.Must(t, err)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	e2etest.Must(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		e2etest.Must(t, err)
		to := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			e2etest.Must(t, os.MkdirAll(to, 0o755))
		case tar.TypeSymlink:
			e2etest.Must(t, os.Symlink(h.Linkname, to))
		default:
			out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, h.FileInfo().Mode())
			e2etest.Must(t, err)
			_, err = io.Copy(out, r) //nolint:gosec // an own archive
			e2etest.Must(t, errors.Join(err, out.Close()))
		}
	}
}
