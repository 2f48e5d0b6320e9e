package timezone_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/timezone"
)

// folder creates a folder of zones: name → the zone of the release whose rules it has.
func folder(t *testing.T, file, version string, zones map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		write(t, filepath.Join(dir, file), []byte(version))
	}
	for name, rules := range zones {
		raw, err := timezone.Compiled(rules)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), raw)
	}
	return dir
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_ReadsTheDatabaseOfTheRelease(t *testing.T) {
	d := timezone.Open("")
	if d.Source != timezone.BuiltIn || d.Version < "2026f" || d.Released.Format("2006") != d.Version[:4] {
		t.Fatalf("got %s of %s from %s; want 2026f or newer, built in", d.Version, d.Released, d.Source)
	}
	for name, want := range map[string]string{
		"America/Vancouver": "16:00", "America/Edmonton": "15:00", "America/Winnipeg": "14:00",
		"America/Havana": "13:00", "Africa/Casablanca": "09:00",
		"America/Yellowknife": "15:00", "Africa/El_Aaiun": "09:00", "Canada/Pacific": "16:00",
		"Asia/Ho_Chi_Minh": "02:00", "Asia/Saigon": "02:00",
	} {
		zone, err := d.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Date(2026, 12, 1, 9, 0, 0, 0, zone).UTC().Format("15:04"); got != want {
			t.Errorf("9:00 on 1 December 2026 in %s is %sZ; want %sZ", name, got, want)
		}
	}
	for _, name := range []string{
		"", "Local", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "localtime",
		"posix/Asia/Tokyo", "right/Asia/Tokyo", "tzdata.zi", "Asia", "asia/tokyo", "Asia/Tokyo/",
	} {
		if zone, err := d.Load(name); err == nil {
			t.Errorf("Load(%q) = %s; want an error", name, zone)
		}
	}
}

func TestOpen_PrefersTheNewestDatabase(t *testing.T) {
	tokyo := map[string]string{"America/Vancouver": "Asia/Tokyo"}
	zi := func(version string) string {
		return folder(t, "tzdata.zi", "# version "+version+"\n# redo posix_only\n", tokyo)
	}
	for name, c := range map[string]struct {
		zoneinfo string
		system   []string
		version  string // "": that of the release
	}{
		"older system":           {"", []string{zi("2025b")}, ""},
		"newer system":           {"", []string{zi("2099a")}, "2099a"},
		"newest of two systems":  {"", []string{zi("2099a"), zi("2099c"), zi("2099b")}, "2099c"},
		"older ZONEINFO":         {zi("2025b"), nil, ""},
		"newer ZONEINFO":         {zi("2099b"), []string{zi("2099a")}, "2099b"},
		"system newer":           {zi("2099b"), []string{zi("2099c")}, "2099c"},
		"after z":                {zi("2099z"), []string{zi("2099za")}, "2099za"},
		"macOS":                  {"", []string{folder(t, "+VERSION", "2099b\n", tokyo)}, "2099b"},
		"macOS without line end": {"", []string{folder(t, "+VERSION", "2099b", tokyo)}, "2099b"},
		"packager's suffix":      {"", []string{zi("2099b-rearguard")}, "2099b"},
		"no version":             {folder(t, "", "", tokyo), nil, ""},
		"unknown version":        {folder(t, "tzdata.zi", "# version unknown\n", tokyo), nil, ""},
		"missing": {
			filepath.Join(t.TempDir(), "none"),
			[]string{filepath.Join(t.TempDir(), "none")},
			"",
		},
		"ZONEINFO is another file": {
			filepath.Join(folder(t, "tzdata.zi", "# version 2099a\n", tokyo), "tzdata.zi"),
			nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := timezone.Open(c.zoneinfo, c.system...)
			zone, err := d.Load("America/Vancouver")
			if err != nil {
				t.Fatal(err)
			}
			_, offset := time.Date(2026, 12, 1, 9, 0, 0, 0, zone).Zone()
			if c.version == "" {
				if d.Source != timezone.BuiltIn || offset != -7*3600 {
					t.Errorf("got %s from %s, offset %d; want that of the release", d.Version, d.Source, offset)
				}
				return
			}
			if d.Version != c.version || offset != 9*3600 {
				t.Errorf("got %s from %s, offset %d; want %s and its rules", d.Version, d.Source, offset, c.version)
			}
			// Debian has old names in a package of their own.
			if _, err := d.Load("US/Pacific"); err != nil {
				t.Errorf("a name that the system lacks: %v", err)
			}
		})
	}
}

func TestOpen_ReadsZipFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "zoneinfo.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	tokyo, err := timezone.Compiled("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, content := range map[string][]byte{"tzdata.zi": []byte("# version 2099a\n"), "Europe/Paris": tokyo} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	d := timezone.Open(file)
	zone, err := d.Load("Europe/Paris")
	if err != nil || d.Version != "2099a" {
		t.Fatalf("got version %q, %v; want 2099a", d.Version, err)
	}
	if name, _ := time.Date(2026, 12, 1, 9, 0, 0, 0, zone).Zone(); name != "JST" {
		t.Errorf("got %s; want the rules of the file", name)
	}
}

func TestWarnings_NameTheReason(t *testing.T) {
	system := folder(t, "tzdata.zi", "# version 2025b\n", nil)
	anonymous := folder(t, "", "", nil)
	d := timezone.Open(anonymous, system)
	kinds := func(now time.Time) string {
		var all []string
		for _, w := range d.Warnings(now) {
			all = append(all, string(w.Kind))
		}
		return strings.Join(all, " ")
	}
	if got := kinds(d.Released); got != "anonymous" {
		t.Errorf("got %q; want anonymous", got)
	}
	if got := kinds(d.Released.AddDate(1, 0, 1)); got != "anonymous old" {
		t.Errorf("after a year: got %q; want anonymous old", got)
	}
	write(t, filepath.Join(system, "tzdata.zi"), []byte("# version 2099a\n")) // apt-get upgrade
	if got := kinds(d.Released); got != "anonymous outdated" {
		t.Errorf("after an upgrade of the system: got %q; want anonymous outdated", got)
	}
	file := filepath.Join(system, "tzdata.zi") // of an image that sets all times to 1970
	if err := os.Chtimes(file, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if got := timezone.Open("", system).Released.Format(time.DateOnly); got != "2099-12-31" {
		t.Errorf("a release of 2099 is of %s at the latest; want 2099-12-31", got)
	}
}
