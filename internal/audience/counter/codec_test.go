package counter

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func samplePage() string {
	site, page := uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001"), "a:b;c{d}"
	return pageKey(shardOf(pageSum(site, page), 16), site, page)
}

func TestPageKeys(t *testing.T) {
	site := uuid.New()
	for _, page := range []string{"a", "/tin/giá-vàng", ":t", "x:20778dH", "{v01}", strings.Repeat("z", longestPage)} {
		id, err := splitPageKey(pageKey(shardOf(pageSum(site, page), 16), site, page))
		if err != nil || id != (PageID{site, page}) {
			t.Errorf("%q became %v (%v)", page, id, err)
		}
	}
	// Where counts lie must never change.
	if got := shardOf(pageSum(uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001"), "a"), 16); got != 5 {
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

func sampleLog(h heading, records ...record) string {
	var l logging
	site := uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001")
	for i, r := range records {
		page := []string{"a:b;c{d}", "a", "a:b"}[i%3]
		sum := pageSum(site, page)
		l.add(h, l.page(sum, shardOf(sum, 16), site, page), r)
	}
	return string(l.encode(h))
}

func FuzzLogged(f *testing.F) {
	f.Add("301-", sampleLog(heading{'v', 'H', 1_994_444, 20_775}, record{unix: 1_795_000_000, country: "VN", device: "mobile", referrer: "t.co", visitor: 1 << 63},
		record{unix: 1_794_999_999, visitor: 1}, record{unix: 1_795_000_007, device: "other"}, record{unix: 1_795_000_000, country: "US"}))
	f.Add("0", sampleLog(heading{filtered, noWay, 1_994_444, 20_775}, record{unix: 1_795_000_000, reason: "bot"}))
	f.Add("1", sampleLog(heading{'c', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000}))
	f.Fuzz(func(t *testing.T, said, text string) {
		var first, second changes
		if first.addLogged(said, text) != nil {
			return
		}
		l, err := parseLogged(text)
		if err != nil {
			t.Fatal(err)
		}
		// Written again, the hits add up to the same.
		var again logging
		for i, page := range l.pages {
			again.pages = append(again.pages, onPage{sum: uint64(i), hash: page + totalsKey})
		}
		again.base = l.base
		for range l.hits {
			page, r, err := l.next()
			if err != nil {
				t.Fatal(err)
			}
			if again.hits == 0 && r.unix != l.base {
				return // written by nobody
			}
			again.add(l.heading, page, r)
		}
		if err := second.addLogged(said, string(again.encode(l.heading))); err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if a, b := string(encodeChanges(first.list, true)), string(encodeChanges(second.list, true)); a != b {
			t.Errorf("%q came back as %q", a, b)
		}
	})
}

func TestRecords_OfAnotherVersionAreNotRead(t *testing.T) {
	log := sampleLog(heading{'v', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000})
	var all changes
	if err := all.addLogged("1", log); err != nil {
		t.Fatal(err)
	}
	delta := string(encodeChanges(all.list, true))
	for name, err := range map[string]error{
		"log": all.addLogged("1", "2"+log[1:]), "delta": all.read("2" + delta[1:]), "nothing": all.read(""),
	} {
		if !errors.Is(err, errFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all.list[0].hours[0].count != 1 {
		t.Errorf("counted %d", all.list[0].hours[0].count)
	}
}

func TestTheLogSaysWhatCounted(t *testing.T) {
	text := sampleLog(heading{'v', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000, country: "VN"}, record{unix: 1_795_000_001, country: "VN"},
		record{unix: 1_795_000_002, country: "VN"}, record{unix: 1_795_000_003, country: "US"})
	var all changes
	if err := all.addLogged("3-01", text); err != nil {
		t.Fatal(err)
	}
	if len(all.list) != 2 || all.list[0].page != samplePage() || all.list[0].hours[0].count != 2 || all.list[0].hours[0].steps != 2 || all.list[0].firsts != 1 ||
		len(all.list[0].values) != 2 || all.list[1].hours[0].count != 1 || all.list[1].hours[0].steps != 0 {
		t.Errorf("%+v", all.list)
	}
	for _, wrong := range [][2]string{{"3-0", text}, {"3-01", text[:len(text)-1]}, {"3-01", text + "x"}, {"3-04", text}} {
		if err := all.addLogged(wrong[0], wrong[1]); err == nil {
			t.Errorf("%q was read", wrong)
		}
	}
}

func FuzzChanges(f *testing.F) {
	var all changes
	c := all.of(samplePage())
	c.add(heading{'v', 'H', 1_994_444, 20_775}, record{unix: 1_795_000_000, country: "VN", visitor: 5, step: true, first: true})
	c.add(heading{'c', 'H', 1_994_444, 20_775}, record{unix: 1_795_000_000})
	c.add(heading{filtered, noWay, 1_994_444, 20_775}, record{unix: 1_795_000_000, reason: "rate"})
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

// What cannot be is refused before anything of it is added: Postgres or a script
// would fail with it, and with all that lies beside it.
func TestRecords_ThatCannotBeAreRefusedWhole(t *testing.T) {
	good := heading{'v', 'S', 1_994_444, 20_775}
	r := record{unix: 1_795_000_000, country: "VN"}
	for name, text := range map[string]string{
		"Kind":   sampleLog(heading{'z', 'S', 1_994_444, 20_775}, r),
		"Way":    sampleLog(heading{'v', 'Z', 1_994_444, 20_775}, r),
		"Day":    sampleLog(heading{'v', 'S', 1_994_444, 2_000_000_000}, r),
		"Hour":   sampleLog(heading{'v', 'S', 5, 20_775}, r),
		"Moment": sampleLog(good, record{unix: 1 << 40}),
		"Second": sampleLog(good, r, record{unix: 5}),
		"Page":   strings.Replace(sampleLog(good, r), "{v", "{w", 1),
	} {
		var all changes
		if err := all.addLogged("11"[:1+strings.Count(name, "Second")], text); err == nil || len(all.list) != 0 {
			t.Errorf("%s: got %d pages and error %v, want an error and nothing added", name, len(all.list), err)
		}
	}
	var one changes
	c := one.of(samplePage())
	c.add(good, r)
	for name, spoil := range map[string]func(c *change){
		"Way":    func(c *change) { c.way = 'Z' },
		"Day":    func(c *change) { c.hours[0].day = 2_000_000_000 },
		"Hour":   func(c *change) { c.hours[0].quarters = 5 },
		"Letter": func(c *change) { c.values[0].letter = 'q' },
		"Value":  func(c *change) { c.values[0].day = 2_000_000_000 },
		"Minute": func(c *change) { c.minutes[0].last = 1 << 40 },
		"Seen":   func(c *change) { c.seen = []seen{{2_000_000_000, []uint64{1}}} },
		"Page":   func(c *change) { c.page = "{v05}short" },
	} {
		spoiled := *c
		spoiled.hours, spoiled.values, spoiled.minutes = slices.Clone(c.hours), slices.Clone(c.values), slices.Clone(c.minutes)
		spoil(&spoiled)
		var all changes
		if err := all.read(string(encodeChanges([]*change{c, &spoiled}, true))); err == nil || len(all.list) != 0 {
			t.Errorf("%s: got %d pages and error %v, want an error and nothing added", name, len(all.list), err)
		}
	}
}

// The log is a list of pairs; what is broken in it does not take what follows.
func TestLog_IsReadOnBehindWhatIsBroken(t *testing.T) {
	c := New(nil, Options{})
	text := sampleLog(heading{'v', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000})
	for name, row := range map[string]struct {
		lines              []string
		views, bad, unread int
	}{
		"Whole":          {[]string{"1", text, "1", text}, 2, 0, 0},
		"OtherFormat":    {[]string{"1", "2" + text[1:], "1", text}, 1, 1, 0},
		"NoFormat":       {[]string{"1", text[1:], "1", text}, 1, 1, 0},
		"WithoutText":    {[]string{"1", "1", text}, 1, 1, 0},
		"WithoutSaid":    {[]string{text, "1", text}, 1, 1, 0},
		"Garbage":        {[]string{"x", "y", "", "1", text}, 1, 3, 0},
		"SecondIsToCome": {[]string{"1", text, "1"}, 1, 0, 1},
		"OtherNumber":    {[]string{"11", text, "1", text}, 1, 1, 0},
	} {
		var all changes
		rest, bad := row.lines, 0
		for len(rest) > 0 {
			used, q := c.logEntry(&all, rest)
			if q != nil {
				bad++
			}
			if used == 0 {
				break
			}
			rest = rest[used:]
		}
		views := 0
		for _, c := range all.list {
			views += int(c.hours[0].count)
		}
		if views != row.views || bad != row.bad || len(rest) != row.unread {
			t.Errorf("%s: got %d views, %d put aside, %d left; want %d, %d, %d", name, views, bad, len(rest), row.views, row.bad, row.unread)
		}
	}
}

func TestChangesAddUp(t *testing.T) {
	var one, both changes
	c := one.of(samplePage())
	c.add(heading{'v', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000, country: "VN", step: true, first: true})
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
