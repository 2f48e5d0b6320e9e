// Package timezone converts between instants and wall clocks by IANA's time zone database.
// It is the only place that loads locations, so that the whole program uses one version:
// that of the release, or a newer one of the system. Governments change the rules of some
// zones every year, often a few weeks ahead.
package timezone

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
)

//go:generate go run ./update -dir .

//go:embed zoneinfo.tar.gz
var builtIn []byte

// BuiltIn is the source of the database of the release.
const BuiltIn = "built in"

// Database is a version of the time zone database.
type Database struct {
	Version  string    // such as 2026f
	Source   string    // BuiltIn, or a path of this machine
	Released time.Time // or the latest day that it can be

	zoneinfo string            // that was asked for
	others   []string          // every database of this machine
	files    fs.FS             // compiled zones; nil: packed has all
	packed   map[string][]byte // of the release
	zones    sync.Map          // *time.Location by name
	release  *Database         // a system's database may lack old names
}

// current is loaded once: a change of rules while the program runs would convert times of
// one request by two versions.
var current = sync.OnceValue(func() *Database { //nolint:gochecknoglobals // loaded once
	return Open(os.Getenv("ZONEINFO"), systemPaths()...)
})

// Current returns the database that the program uses.
func Current() *Database { return current() }

// Load returns an IANA time zone by name. Unlike the standard library's function it
// rejects the empty name and "Local", which depend on the machine.
func Load(name string) (*time.Location, error) { return Current().Load(name) }

// systemPaths are the folders that package time reads.
func systemPaths() []string {
	return []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}
}

// Open returns the newest of the database of the release, those of the system's folders,
// and that of zoneinfo: a folder or a ZIP file, as in the variable ZONEINFO of package
// time. A database that does not name its version is not used.
func Open(zoneinfo string, system ...string) *Database {
	release, err := unpackDatabase(builtIn)
	if err != nil {
		release = &Database{} // TestOpen_ReadsTheDatabaseOfTheRelease rules it out
	}
	release.Source = BuiltIn
	best := release
	var others []string
	if zoneinfo != "" {
		others = append(others, zoneinfo)
	}
	for _, p := range system {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			others = append(others, p)
		}
	}
	for _, p := range others {
		if d := openPath(p); newer(d.Version, best.Version) {
			d.release, best = release, d
		}
	}
	best.zoneinfo, best.others = zoneinfo, others
	return best
}

func openPath(p string) *Database {
	d := &Database{Source: p}
	if info, err := os.Stat(p); err == nil && !info.IsDir() { //nolint:gosec // ZONEINFO comes from the operator
		raw, err := os.ReadFile(p) //nolint:gosec // likewise
		if err != nil {
			return d
		}
		if d.files, err = zip.NewReader(bytes.NewReader(raw), int64(len(raw))); err != nil {
			d.files = nil
			return d
		}
	} else {
		d.files = os.DirFS(p)
	}
	d.Version, d.Released = versionIn(d.files)
	return d
}

var ( //nolint:gochecknoglobals // constant
	// The version follows "# version" in tzdata.zi, which Debian, Fedora, Alpine, Arch and
	// PyPI's tzdata have, and is the content of +VERSION in macOS and BSD, and of
	// version in Python's dateutil. A packager's changes have a suffix: 2026f-rearguard.
	versionPattern = regexp.MustCompile(`^(?:# version )?(\d{4}[a-z]{1,2})(?:[-\s]|$)`)
	versionFiles   = []string{"tzdata.zi", "+VERSION", "version"} //nolint:gochecknoglobals // constant
)

// versionIn finds the version of a folder of zones, and the latest day on which it can
// have been released: the day of the file, or the end of the year that the version names.
func versionIn(files fs.FS) (version string, released time.Time) {
	for _, name := range versionFiles {
		line, modified, err := firstLine(files, name)
		if err != nil {
			continue
		}
		found := versionPattern.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if modified.Format("2006") == found[1][:4] {
			return found[1], modified
		}
		end, err := time.Parse(time.DateOnly, found[1][:4]+"-12-31")
		if err == nil {
			return found[1], end
		}
	}
	return "", time.Time{}
}

func firstLine(files fs.FS, name string) (line string, modified time.Time, err error) {
	f, err := files.Open(name)
	if err != nil {
		return "", time.Time{}, err
	}
	defer func() { _ = f.Close() }()
	start, err := io.ReadAll(io.LimitReader(f, 100))
	if err != nil {
		return "", time.Time{}, err
	}
	if info, err := f.Stat(); err == nil {
		modified = info.ModTime().UTC()
	}
	line, _, _ = strings.Cut(string(start), "\n")
	return line, modified, nil
}

// newer compares versions. After 2026z follows 2026za.
func newer(a, b string) bool {
	if len(a) < 5 || len(b) < 5 || a[:4] != b[:4] {
		return a > b
	}
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

func unpackDatabase(raw []byte) (*Database, error) {
	packed, released, err := unpack(raw)
	if err != nil {
		return nil, err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(string(packed["tzdata.zi"]), "# version "), "\n")
	return &Database{Version: version, Released: released, packed: packed}, nil
}

func unpack(raw []byte) (files map[string][]byte, released time.Time, err error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, time.Time{}, err
	}
	files = map[string][]byte{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, released, nil
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		if h.Typeflag == tar.TypeLink {
			files[h.Name] = files[h.Linkname]
			continue
		}
		if files[h.Name], err = io.ReadAll(archive); err != nil {
			return nil, time.Time{}, err
		}
		released = h.ModTime.UTC()
	}
}

// zoneName excludes paths, the machine's own zone ("localtime") and Debian's folders
// posix and right, whose zones count leap seconds: every name of IANA begins with a capital.
//
//nolint:gochecknoglobals // compiled once
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)

// Load returns a zone by name.
func (d *Database) Load(name string) (*time.Location, error) {
	if zone, ok := d.zones.Load(name); ok {
		return zone.(*time.Location), nil //nolint:errcheck,forcetypeassert // only locations are stored
	}
	zone, err := d.load(name)
	if err != nil {
		return nil, err
	}
	d.zones.Store(name, zone)
	return zone, nil
}

func (d *Database) load(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if !zoneName.MatchString(name) || name == "Local" {
		return nil, unknownZone(name)
	}
	if raw, err := d.read(name); err == nil {
		if zone, err := time.LoadLocationFromTZData(name, raw); err == nil { //nolint:forbidigo // the one place
			return zone, nil
		}
	}
	if d.release != nil {
		return d.release.Load(name)
	}
	return nil, unknownZone(name)
}

func unknownZone(name string) error {
	return fmt.Errorf("%q is not an IANA time zone; use one like Asia/Ho_Chi_Minh", name)
}

// maxZoneSize is far above the largest zone, of 3 KB.
const maxZoneSize = 1 << 20

func (d *Database) read(name string) ([]byte, error) {
	if d.files == nil {
		raw, ok := d.packed[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return raw, nil
	}
	f, err := d.files.Open(path.Clean(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxZoneSize))
}
