package install

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// manager is a package manager.
type manager struct {
	name, file  string
	outside     bool // runs outside of the root file system, with its path as an argument
	install     []string
	uninstall   []string
	keepsConfig string // path of the changed settings after the removal; empty: they are gone
}

func managers() []manager {
	return []manager{
		{name: "Deb", file: "dateline.deb", install: []string{
			"dpkg", "--force-confold", "-i", "/tmp/dateline.deb",
		}, uninstall: []string{
			"dpkg", "--purge", "dateline",
		}},
		{
			name: "RPM", file: "dateline.rpm", outside: true, install: []string{
				"rpm", "-U", "--nodeps", "--replacepkgs",
			},
			uninstall:   []string{"rpm", "--erase", "dateline"},
			keepsConfig: "etc/dateline/dateline.env.rpmsave",
		},
	}
}

// get returns the body of a response of the API, or nothing while it is not available.
func get(t *testing.T, url, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	e2etest.Must(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	e2etest.Must(t, err)
	return string(body)
}

// The package installs, starts, upgrades and is removed; the data stays. The .rpm is
// installed into a Debian, too: without its dependencies, which have other names there.
func TestPackage_InstallsStartsUpgradesAndKeepsData(t *testing.T) {
	need(t)
	if *debian == "" {
		t.Skip("needs -debian, the folder of a debootstrap")
	}
	for _, m := range managers() {
		t.Run(m.name, func(t *testing.T) { testPackage(t, m) })
	}
}

func testPackage(t *testing.T, m manager) {
	if _, err := exec.LookPath("rpm"); m.outside && err != nil {
		t.Skip("needs rpm")
	}
	root := filepath.Join(e2etest.OpenDir(t), "root")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", *debian, root).CombinedOutput(); err != nil {
		t.Fatalf("copying %s: %v: %s", *debian, err, out)
	}
	mountProc(t, root)
	file := filepath.Join(root, "tmp", m.file)
	pattern := "*_linux_" + runtime.GOARCH + filepath.Ext(m.file)
	first := *release
	if *older != "" {
		first = *older
	}
	copyFile(t, files(t, first, pattern), file)
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	in := func(args ...string) string {
		t.Helper()
		return run(append([]string{"/usr/sbin/chroot", root}, args...)...)
	}
	manage := func(args ...string) {
		t.Helper()
		t.Log("$ " + strings.Join(args, " "))
		if m.outside {
			run(append([]string{args[0], "--root", root}, args[1:]...)...)
		} else {
			in(args...)
		}
	}
	install := m.install
	if m.outside {
		install = append(append([]string{}, m.install...), file)
	}
	settings := filepath.Join(root, "etc/dateline/dateline.env")

	manage(install...)
	for path, want := range map[string]string{
		"/var/lib/dateline": "dateline:dateline 700", "/etc/dateline/dateline.env": "root:dateline 640",
		"/usr/lib/systemd/system/dateline.service":        "root:root 644",
		"/usr/share/man/man1/dateline.1":                  "root:root 644",
		"/usr/share/bash-completion/completions/dateline": "root:root 644",
	} {
		if got := in("stat", "-c", "%U:%G %a", path); got != want {
			t.Errorf("owner and mode of %s: %s, want %s", path, got, want)
		}
	}
	if got := in("/usr/bin/dateline", "version"); !strings.HasPrefix(got, "dateline ") {
		t.Errorf("version: %q", got)
	}
	// Without systemd, as its unit does it: as the service's user, with its settings.
	e2etest.Must(t, os.WriteFile(filepath.Join(root, "usr/local/bin/run"),
		[]byte("#!/bin/sh\nexec setpriv --reuid dateline --regid dateline --clear-groups /usr/bin/dateline \"$@\" "+
			"--config /etc/dateline/dateline.env\n"), 0o755))
	child, token := publishes(t, root, "/usr/local/bin/run", "/usr/bin/dateline", time.Minute)
	child.Stop(t)

	e2etest.Must(t, os.WriteFile(settings, []byte("DATELINE_LOG_LEVEL=info\n"), 0o640))
	copyFile(t, files(t, *release, pattern), file)
	manage(install...) // an upgrade, without -from to the same version
	if got := in("cat", "/etc/dateline/dateline.env"); got != "DATELINE_LOG_LEVEL=info" {
		t.Errorf("the settings after an upgrade: %q, want those of the operator", got)
	}
	child = start(t, root, "/usr/local/bin/run")
	api := child.WaitForOutput(t, time.Minute, `API\s+(http://\S+)/api/v1`)[1]
	child.WaitForOutput(t, time.Minute, `API token\s+(unchanged)`)
	e2etest.Eventually(t, 2*time.Minute, "the post from before the upgrade", func() bool {
		return strings.Contains(get(t, api+"/api/v1/posts?status=posted", token), `"First post"`)
	})
	child.Stop(t)

	manage(m.uninstall...)
	if exists(filepath.Join(root, "usr/lib/dateline/dateline")) {
		t.Error("the program is still there after its removal")
	}
	if m.keepsConfig != "" && !exists(filepath.Join(root, m.keepsConfig)) {
		t.Errorf("%s is missing after the removal", m.keepsConfig)
	}
	if !exists(filepath.Join(root, "var/lib/dateline/postgres/PG_VERSION")) {
		t.Error("the data is gone after the removal")
	}
}
