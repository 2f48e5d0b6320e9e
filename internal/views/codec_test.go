package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func samplePage() string {
	return pageKey(7, uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001"), "a:b;c{d}")
}

func TestPageKeys(t *testing.T) {
	site := uuid.New()
	for _, page := range []string{"a", "/tin/giá-vàng", ":t", "x:20778dH", "{v01}", strings.Repeat("z", longestPage)} {
		id, err := splitPageKey(pageKey(shardOf(site, page, 16), site, page))
		if err != nil || id != (PageID{site, page}) {
			t.Errorf("%q became %v (%v)", page, id, err)
		}
	}
	// Where counts lie must never change.
	if got := shardOf(uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001"), "a", 16); got != 5 {
		t.Errorf("shard %d", got)
	}
}

func TestWeeksBeginOnMonday(t *testing.T) {
	monday := Day(20773) // 2026-11-16
	if monday.Time().Weekday().String() != "Monday" {
		t.Fatal(monday.Time())
	}
	if got := monday.weekdays(); !slices.Equal(got, []Day{monday}) {
		t.Errorf("on Monday: %v", got)
	}
	if got := (monday + 6).weekdays(); len(got) != 7 || got[0] != monday || (monday+6).week() != monday.week() || (monday-1).week() == monday.week() {
		t.Errorf("on Sunday: %v", got)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add("3" + string(record{kind: 'v', way: 'H', moment: moment{1_795_000_000, 1_994_444, 20_775}, country: "VN", device: "mobile",
		referrer: "t.co", visitor: 1 << 63, page: samplePage()}.encode()) + samplePage() + totalsKey)
	f.Add("0" + string(record{kind: filtered, way: '-', reason: "bot", page: samplePage()}.encode()) + samplePage() + totalsKey)
	f.Fuzz(func(t *testing.T, line string) {
		r, rest, err := parseRecord(line)
		if err != nil {
			return
		}
		again, end, err := parseRecord(line[:1] + string(r.encode()) + r.page + totalsKey + rest)
		if err != nil || again != r || end != rest {
			t.Errorf("%+v and %q came back as %+v and %q (%v)", r, rest, again, end, err)
		}
	})
}

func FuzzChanges(f *testing.F) {
	var all changes
	c := all.of(samplePage())
	for _, r := range []record{
		{kind: 'v', way: 'H', moment: moment{1_795_000_000, 1_994_444, 20_775}, country: "VN", visitor: 5, step: true, first: true},
		{kind: 'c', way: 'H', moment: moment{1_795_000_000, 1_994_444, 20_775}},
		{kind: filtered, moment: moment{1_795_000_000, 1_994_444, 20_775}, reason: "rate"},
	} {
		c.add(r)
	}
	f.Add(string(encodeChanges(all.list, true)))
	f.Add(string(encodeChanges(all.list, false)))
	f.Fuzz(func(t *testing.T, s string) {
		var first, second changes
		if first.read(s) != nil {
			return
		}
		written := string(encodeChanges(first.list, true))
		if err := second.read(written); err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if again := string(encodeChanges(second.list, true)); again != written {
			t.Errorf("%q came back as %q", written, again)
		}
	})
}

func TestChangesAddUp(t *testing.T) {
	var one, both changes
	c := one.of(samplePage())
	c.add(record{kind: 'v', way: 'S', moment: moment{1_795_000_000, 1_994_444, 20_775}, country: "VN", step: true, first: true})
	written := string(encodeChanges(one.list, true))
	for range 2 {
		if err := both.read(written); err != nil {
			t.Fatal(err)
		}
	}
	if got := both.of(samplePage()); len(both.list) != 1 || got.hours[0].count != 2 || got.hours[0].steps != 2 || got.values[0].count != 2 || got.firsts != 2 || got.minutes[0].views != 2 {
		t.Errorf("%+v", got)
	}
	if err := both.read(written[:len(written)-1]); err == nil {
		t.Error("a delta that was cut off was read")
	}
}
