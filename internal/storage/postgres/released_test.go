package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
)

const releasedFile = "released_migrations.txt"

// release makes TestReleasedMigrations_AreUnchanged add new migrations to the list.
var release = flag.String("release-migrations", "", "add the migrations that are not released yet to "+releasedFile+
	", under this release")

// migrationFiles are the migrations of the work tree, in the order of their numbers.
func migrationFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	slices.SortFunc(files, func(a, b string) int { return int(number(t, a) - number(t, b)) })
	return files
}

func number(t *testing.T, file string) int64 {
	t.Helper()
	n, err := goose.NumericComponent(file)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func checksum(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("migrations", file))
	if err != nil {
		return "missing"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// releaseProblems compares the migrations with the list of the released ones.
func releaseProblems(list []released, files []string, sum func(file string) string) (problems []string) {
	newest := int64(0)
	listed := map[string]bool{}
	for _, r := range list {
		if r.number <= newest {
			problems = append(problems, r.file+" is not in the order of the numbers")
		}
		newest, listed[r.file] = max(newest, r.number), true
		if got := sum(r.file); got != r.sum {
			problems = append(problems,
				fmt.Sprintf("%s was released with %s and must never change: its checksum was %s and is %s. Write a "+
					"new migration", r.file, r.release, r.sum, got))
		}
	}
	return append(problems, outOfOrder(files, func(file string) bool { return listed[file] }, newest,
		"the newest released migration")...)
}

// outOfOrder lists the new migrations whose number is not above newest.
func outOfOrder(files []string, known func(string) bool, newest int64, what string) (problems []string) {
	for _, file := range files {
		n, err := goose.NumericComponent(file)
		if err == nil && n <= newest && !known(file) {
			problems = append(problems,
				fmt.Sprintf("%s is new, so its number must be above %05d, %s: databases that have that one refuse it",
					file, newest, what))
		}
	}
	return problems
}

func TestReleasedMigrations_AreUnchanged(t *testing.T) {
	raw, err := os.ReadFile(releasedFile)
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseReleased(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := migrationFiles(t)
	for _, problem := range releaseProblems(list, files, func(file string) string { return checksum(t, file) }) {
		t.Error(problem)
	}
	if *release == "" || t.Failed() {
		return
	}
	for _, file := range files[len(list):] {
		raw = fmt.Appendf(raw, "%s  %s  %s\n", checksum(t, file), file, *release)
	}
	if err := os.WriteFile(releasedFile, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A migration that is new in this work tree is the newest, also compared with
// what the main branch has meanwhile. On the main branch the commit before
// counts.
func TestMigrations_NewOnesAreTheNewest(t *testing.T) {
	base := mainBranch(t)
	if base == "" {
		t.Log("no main branch and no commit before: only the list of released migrations is compared")
		return
	}
	there := map[string]bool{}
	newest := int64(0)
	for line := range strings.Lines(git("ls-tree", "--name-only", base, "migrations/")) {
		file := filepath.Base(strings.TrimSpace(line))
		there[file] = true
		newest = max(newest, number(t, file))
	}
	for _, problem := range outOfOrder(migrationFiles(t), func(file string) bool { return there[file] }, newest,
		"the newest migration of "+base) {
		t.Error(problem)
	}
}

// mainBranch returns the commit to compare with: main, or on main itself the previous
// commit. Empty: neither exists, as in a shallow clone.
func mainBranch(t *testing.T) string {
	t.Helper()
	head := git("rev-parse", "--verify", "--quiet", "HEAD")
	for _, name := range []string{"origin/main", "main"} {
		commit := git("rev-parse", "--verify", "--quiet", name+"^{commit}")
		if commit != "" && commit != head {
			return name
		}
	}
	return git("rev-parse", "--verify", "--quiet", "HEAD^1")
}

// git returns the output of a command, or "" if it fails.
func git(args ...string) string {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func TestReleaseProblems_NamesWhatBreaksUpgrades(t *testing.T) {
	list, err := parseReleased("# a comment\naa  00100_baseline.sql  0.1.0\nbb  00101_more.sql  0.2.0\n")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{"00100_baseline.sql": "aa", "00101_more.sql": "bb"}
	for name, row := range map[string]struct {
		files []string
		sums  map[string]string
		want  string
	}{
		"OnlyReleased": {[]string{"00100_baseline.sql", "00101_more.sql"}, nil, ""},
		"ANewOne":      {[]string{"00100_baseline.sql", "00101_more.sql", "00102_new.sql"}, nil, ""},
		"NotTheNewest": {
			[]string{"00099_late.sql", "00100_baseline.sql", "00101_more.sql"},
			nil,
			"00099_late.sql is new",
		},
		"SameNumber": {
			[]string{"00100_baseline.sql", "00101_more.sql", "00101_other.sql"},
			nil,
			"00101_other.sql is new",
		},
		"Changed": {
			[]string{"00100_baseline.sql", "00101_more.sql"},
			map[string]string{"00101_more.sql": "cc"},
			"must never change",
		},
		"Removed": {
			[]string{"00100_baseline.sql"},
			map[string]string{"00101_more.sql": "missing"},
			"must never change",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(releaseProblems(list, row.files, func(file string) string {
				if sum, ok := row.sums[file]; ok {
					return sum
				}
				return sums[file]
			}), "; ")
			if (row.want == "") != (got == "") || !strings.Contains(got, row.want) {
				t.Errorf("got %q, want %q in it", got, row.want)
			}
		})
	}
	if _, err := parseReleased("aa 00100_baseline.sql"); err == nil {
		t.Error("a line without a release: got no error, want one")
	}
}

func TestOldestUsable_IsTheReleaseBefore(t *testing.T) {
	newest, err := NewestMigration()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		list string
		want int64
	}{
		"NothingReleased":    {"# nothing\n", 0},
		"UnreleasedOnTop":    {"a 00001_a.sql 0.1.0\nb 00002_b.sql 0.1.0\n", 2},
		"FirstReleaseItself": {fmt.Sprintf("a 00001_a.sql 0.1.0\nb %05d_b.sql 0.1.0\n", newest), 0},
		"SecondRelease": {
			fmt.Sprintf("a 00001_a.sql 0.1.0\nb 00002_b.sql 0.1.0\nc %05d_c.sql 0.2.0\n", newest),
			2,
		},
	} {
		if got := oldestUsable(row.list); got != row.want {
			t.Errorf("%s: got %d, want %d", name, got, row.want)
		}
	}
}
