package timezone_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/recurrence"
)

// script prints every transition of the years 2025 to 2028 of each zone by Python's zoneinfo, and the
// instants of local times around it. fold=0 is the first of two equal local times, and later
// by the length of the gap if there is none (PEP 495).
const script = `
import importlib.resources, json, sys, zoneinfo
from datetime import datetime, timedelta, timezone
zoneinfo.reset_tzpath(to=[])
package = importlib.resources.files("tzdata")
print(json.dumps({"version": (package / "zoneinfo" / "tzdata.zi").read_text().split("\n")[0].split()[2]}))
for name in (package / "zones").read_text().split():
    zone = zoneinfo.ZoneInfo(name)
    shift = lambda at: datetime.fromtimestamp(at, zone).utcoffset()
    start, end = (int(datetime(y, 1, 1, tzinfo=timezone.utc).timestamp()) for y in (2025, 2029))
    changes, locals = [], []
    before = shift(start)
    for step in range(start, end, 6 * 3600):
        after = shift(step + 6 * 3600)
        if after == before: continue
        low, high = step, step + 6 * 3600
        while high - low > 1:
            middle = (low + high) // 2
            if shift(middle) == before: low = middle
            else: high = middle
        changes.append([high, int(before.total_seconds()), int(after.total_seconds())])
        for minutes in range(-180, 181, 15):
            local = datetime.fromtimestamp(high + minutes * 60, timezone.utc).replace(tzinfo=None) + before
            exists = datetime.fromtimestamp(local.replace(tzinfo=zone).timestamp(), zone).replace(tzinfo=None) == local
            locals.append([local.isoformat(), int(local.replace(tzinfo=zone).timestamp()), int(exists)])
        before = after
    print(json.dumps({"zone": name, "changes": changes, "locals": locals}))
`

func TestDatabase_AgreesWithPython(t *testing.T) {
	dir := t.TempDir()
	pip := exec.CommandContext(t.Context(), "python3", "-m", "pip", "install", "--quiet", "--no-deps",
		"--require-hashes", "--target", dir, "--requirement", "tzdata.txt")
	if out, err := pip.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI=true and no tzdata package: install python3 and python3-pip: %v\n%s", err, out)
		}
		t.Skipf("Python's tzdata package cannot be installed: %v", err)
	}
	python := exec.CommandContext(t.Context(), "python3", "-c", script)
	python.Env = append(os.Environ(), "PYTHONPATH="+dir)
	python.Stderr = os.Stderr
	out, err := python.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := python.Start(); err != nil {
		t.Fatal(err)
	}
	d := timezone.Open("")
	zones, changes, locals := 0, 0, 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var want struct {
			Version, Zone string
			Changes       [][3]int64
			Locals        [][3]any
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if want.Version != "" {
			if want.Version != d.Version {
				t.Fatalf("Python has %s, the release %s", want.Version, d.Version)
			}
			continue
		}
		zone, err := d.Load(want.Zone)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		zones++
		got := transitions(zone)
		if len(got) != len(want.Changes) {
			t.Errorf("%s: got transitions %v; Python %v", want.Zone, got, want.Changes)
			continue
		}
		for i, c := range want.Changes {
			if changes++; got[i] != c {
				t.Errorf("%s: got transition %v; Python %v", want.Zone, got[i], c)
			}
		}
		for _, l := range want.Locals {
			locals++
			checkLocal(t, zone, l[0].(string), int64(l[1].(float64)), l[2].(float64) == 1)
		}
	}
	if err := python.Wait(); err != nil {
		t.Fatal(err)
	}
	if zones < 590 || changes < 1000 {
		t.Errorf("compared %d zones with %d transitions; want all", zones, changes)
	}
	t.Logf("%s: %d zones, %d transitions, %d local times", d.Version, zones, changes, locals)
}

// transitions returns the changes of the offset: the instant, the offset before and after.
func transitions(zone *time.Location) (all [][3]int64) {
	for _, c := range timezone.Changes(zone, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)) {
		all = append(all, [3]int64{c.At.Unix(), int64(c.Before.Seconds()), int64(c.After.Seconds())})
	}
	return all
}

func checkLocal(t *testing.T, zone *time.Location, local string, want int64, exists bool) {
	t.Helper()
	wall, err := recurrence.ParseLocal(local)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := recurrence.Instant(wall, zone); !ok || got.Unix() != want {
		t.Errorf("recurrence.Instant(%s %s) = %d; Python %d", local, zone, got.Unix(), want)
	}
	got, err := post.ParseTime(local, zone)
	if exists && (err != nil || got.Unix() != want) {
		t.Errorf("post.ParseTime(%s %s) = %d, %v; Python %d", local, zone, got.Unix(), err, want)
	}
	if !exists && err == nil {
		t.Errorf("post.ParseTime(%s %s) = %d; want an error, clocks skip it", local, zone, got.Unix())
	}
}
