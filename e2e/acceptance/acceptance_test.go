// Package acceptance runs Dateline on software that the other tests do not cover: a
// second S3 server, Temporal on Postgres, a Redis Cluster, several processes, and
// third-party servers.
package acceptance

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/enginetest"
)

var (
	chosen    = flag.Bool("acceptance", false, "run the acceptance tests")
	versitygw = flag.String("versitygw", "", "path of the program versitygw")
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// part is one line of the report.
type part struct {
	name string
	// missing returns why the part cannot run here, or "".
	missing string
	engine  bool // with CI=true it must not be missing
	test    func(t *testing.T, program string)
}

func TestAcceptance(t *testing.T) {
	if !*chosen {
		t.Skip("make bench/acceptance runs these tests")
	}
	program := stack.Build(t, "acceptance", "")
	rows := []string{"part\tresult\tseconds"}
	for _, p := range parts() {
		result, began := "not chosen", time.Now()
		t.Run(strings.ReplaceAll(p.name, " ", ""), func(t *testing.T) {
			if p.missing != "" {
				result = "skipped: " + p.missing
				if p.engine && os.Getenv("CI") == "true" {
					t.Fatal("CI=true and " + p.missing)
				}
				t.Skip(p.missing)
			}
			t.Cleanup(func() {
				if result = "passed"; t.Failed() {
					result = "FAILED"
				}
			})
			p.test(t, program)
		})
		rows = append(rows, fmt.Sprintf("%s\t%s\t%.0f", p.name, result, time.Since(began).Seconds()))
	}
	report(t, os.Stdout, rows)
}

func parts() []part {
	return []part{
		{name: "two processes each", test: testTwoProcesses},
		{name: "Redis Cluster", test: testRedisCluster},
		{name: "VersityGW (S3)", missing: unbuilt("versitygw", *versitygw), engine: true, test: testVersityGW},
		{name: "Temporal on Postgres", test: testTemporalOnPostgres},
		{name: "reverse proxies", missing: uninstalled("nginx", "caddy", "haproxy"), test: testReverseProxies},
		{name: "GoatCounter", missing: unbuilt("goatcounter", *goatcounter), test: testGoatCounter},
		{name: "Postfix", missing: uninstalled("postfix"), test: testPostfix},
		{name: "Gotify", missing: unbuilt("gotify", *gotify), test: testGotify},
		{name: "Bluesky dev-env", missing: uninstalled("npm"), engine: true, test: testBluesky},
		{name: "WordPress", missing: uninstalled("php", "mariadbd", "mariadb-install-db", "apt-get"), test: testWordPress},
		{
			name: "Ghost", missing: cmp.Or(unset("GHOST"), uninstalled("node", "mariadbd", "mariadb-install-db", "mariadb")),
			test: testGhost,
		},
		{name: "Nostr", missing: unset("NOSTR_PYTHON"), test: testNostr},
		{name: "Meilisearch", missing: unset("MEILI_URL"), test: testMeilisearch},
		{name: "Mastodon (fake)", test: testFakeMastodon},
		{name: "GoToSocial", missing: uninstalled("gotosocial"), test: testGoToSocial},
		{
			name: "Mastodon-compatible server", missing: unset("MASTODON_URL", "MASTODON_TOKEN"),
			test: testMastodonServer,
		},
	}
}

// unbuilt returns the reason that the path of a program is not given, or "".
func unbuilt(name, path string) string {
	if path == "" {
		return "-" + name + " is not set"
	}
	return ""
}

// uninstalled returns the reason that one of the programs is not installed, or "".
func uninstalled(programs ...string) string {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed"
		}
	}
	return ""
}

// unset returns the reason that environment variables are not set, or "".
func unset(names ...string) string {
	var missing []string
	for _, name := range names {
		if os.Getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return strings.Join(missing, " and ") + " not set"
}

// report prints the table.
func report(t *testing.T, to io.Writer, rows []string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n")
	for _, row := range rows {
		columns := strings.Split(row, "\t")
		fmt.Fprintf(&b, "%-28s %-50s %7s\n", columns[0], columns[1], columns[2])
	}
	if _, err := io.WriteString(to, b.String()); err != nil {
		t.Error(err)
	}
}

// goTest runs tests of another package with additional environment variables. A failure
// shows the end of their output.
func goTest(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-count=1", "-timeout", "30m"}, args...)...)
	cmd.Dir = stack.Root(t)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	name := strings.Trim(strings.ReplaceAll(strings.Join(args, " "), "./", ""), " ")
	if err != nil {
		lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
			return strings.Contains(line, "level=INFO")
		})
		t.Errorf("go test %s: %v\n%s", name, err, strings.Join(lines[max(len(lines)-80, 0):], "\n"))
		return
	}
	if strings.Contains(string(out), "no tests to run") && !strings.Contains(name, "...") {
		t.Errorf("go test %s ran no test", name)
	}
	t.Logf("go test %s passed", name)
}
