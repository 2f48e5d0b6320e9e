package counter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func samplePage() string {
	site, page := uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001"), "a:b;c{d}"
	return pageKey(shardOf(hashPage(site, page), 16), site, page)
}

func TestPageKey_RoundTrip(t *testing.T) {
	site := uuid.New()
	for _, page := range []string{
		"a", "/tin/giá-vàng", ":t", "x:20778dH", "{v01}",
		strings.Repeat("z", maxPageLength),
	} {
		id, err := splitPageKey(pageKey(shardOf(hashPage(site, page), 16), site, page))
		if err != nil || id != (PageID{site, page}) {
			t.Errorf("%q became %v (%v)", page, id, err)
		}
	}
	// The key of a page must never change.
	if got := shardOf(hashPage(uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001"), "a"), 16); got != 5 {
		t.Errorf("shard %d", got)
	}
}

func TestDay_WeeksStartOnMonday(t *testing.T) {
	monday := Day(20773) // 2026-11-16
	if monday.Time().Weekday().String() != "Monday" {
		t.Fatal(monday.Time())
	}
	if got := monday.weekdays(); !slices.Equal(got, []Day{monday}) {
		t.Errorf("on Monday: %v", got)
	}
	if got := (monday + 6).weekdays(); len(got) != 7 || got[0] != monday || (monday+6).week() != monday.week() ||
		(monday-1).week() == monday.week() {
		t.Errorf("on Sunday: %v", got)
	}
}

func sampleLog(h recordHeader, records ...record) string {
	var l logEncoder
	site := uuid.MustParse("0190a0f3-5f0e-7c00-8000-000000000001")
	for i, r := range records {
		page := []string{"a:b;c{d}", "a", "a:b"}[i%3]
		sum := hashPage(site, page)
		if h.isPageLoad() && r.visitValues == "" {
			r.setVisit(&Hit{})
		}
		l.add(h, l.page(sum, shardOf(sum, 16), site, page), r)
	}
	return string(l.encode(h))
}

func FuzzLogged(f *testing.F) {
	f.Add("301-", sampleLog(recordHeader{'v', 'H', 1_994_444, 20_775}, record{
		unix: 1_795_000_000, country: "VN", device: "mobile", referrer: "t.co", visitor: 1 << 63,
	},
		record{unix: 1_794_999_999, visitor: 1}, record{unix: 1_795_000_007, device: "other"},
		record{unix: 1_795_000_000, country: "US"}))
	f.Add("0", sampleLog(recordHeader{filtered, noMethod, 1_994_444, 20_775}, record{
		unix: 1_795_000_000, reason: "bot",
	}))
	f.Add("0-3A0-", sampleLog(recordHeader{pageLoad, 'S', 1_994_444, 20_775},
		record{unix: 1_795_000_000, country: "VN", visitValues: "\x00\x00\x00\x04t.co\x00\x00"},
		record{unix: 1_795_000_000}, record{unix: 1_795_000_000}))
	f.Add("1", sampleLog(recordHeader{'c', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000}))
	f.Fuzz(func(t *testing.T, said, text string) {
		var first, second summaries
		if first.addLog(said, text) != nil {
			return
		}
		l, err := newLogDecoder(text)
		if err != nil {
			t.Fatal(err)
		}
		// Encoded again, the hits have the same sums.
		var again logEncoder
		for i, page := range l.pages {
			again.pages = append(again.pages, pageRef{sum: uint64(i), hash: page + totalsKey})
		}
		again.base = l.base
		for range l.hits {
			page, r, err := l.next()
			if err != nil {
				t.Fatal(err)
			}
			if again.hits == 0 && r.unix != l.base {
				return // not a valid entry
			}
			again.add(l.recordHeader, page, r)
		}
		if err := second.addLog(said, string(again.encode(l.recordHeader))); err != nil {
			t.Fatalf("decoding an encoded log: %v", err)
		}
		if a, b := string(encodeSummaries(first.list, true)), string(encodeSummaries(second.list, true)); a != b ||
			!maps.Equal(first.starts, second.starts) {
			t.Errorf("%q and %v were decoded as %q and %v", a, first.starts, b, second.starts)
		}
	})
}

func TestRecords_OfAnotherVersionAreNotRead(t *testing.T) {
	log := sampleLog(recordHeader{'v', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000})
	var all summaries
	if err := all.addLog("1", log); err != nil {
		t.Fatal(err)
	}
	delta := string(encodeSummaries(all.list, true))
	for name, err := range map[string]error{
		"log": all.addLog("1", "2"+log[1:]), "delta": all.decode("2" + delta[1:]), "nothing": all.decode(""),
	} {
		if !errors.Is(err, errFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all.list[0].hours[0].count != 1 {
		t.Errorf("counted %d", all.list[0].hours[0].count)
	}
}

func TestAddLog_AppliesFlags(t *testing.T) {
	text := sampleLog(recordHeader{'v', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000, country: "VN"},
		record{unix: 1_795_000_001, country: "VN"},
		record{unix: 1_795_000_002, country: "VN"}, record{unix: 1_795_000_003, country: "US"})
	var all summaries
	if err := all.addLog("3-01", text); err != nil {
		t.Fatal(err)
	}
	if len(all.list) != 2 || all.list[0].page != samplePage() {
		t.Fatalf("pages: got %+v, want two, the first %s", all.list, samplePage())
	}
	first, second := all.list[0], all.list[1]
	got := fmt.Sprint(first.hours[0].count, first.hours[0].funnel, first.newVisitors, len(first.values),
		second.hours[0].count, second.hours[0].funnel)
	if want := "2 2 1 2 1 0"; got != want {
		t.Errorf("counts: got %s, want %s", got, want)
	}
	for _, wrong := range [][2]string{
		{"3-0", text},
		{"3-01", text[:len(text)-1]},
		{"3-01", text + "x"},
		{"3-04", text},
	} {
		if err := all.addLog(wrong[0], wrong[1]); err == nil {
			t.Errorf("%q was decoded", wrong)
		}
	}
}

func FuzzChanges(f *testing.F) {
	var all summaries
	c := all.page(samplePage())
	c.addRecord(recordHeader{'v', 'H', 1_994_444, 20_775}, record{
		unix: 1_795_000_000, country: "VN", visitor: 5, isFunnelStep: true, isFirstToday: true,
	})
	c.addRecord(recordHeader{'c', 'H', 1_994_444, 20_775}, record{unix: 1_795_000_000})
	c.addRecord(recordHeader{filtered, noMethod, 1_994_444, 20_775}, record{unix: 1_795_000_000, reason: "rate"})
	f.Add(string(encodeSummaries(all.list, true)))
	f.Add(string(encodeSummaries(all.list, false)))
	f.Fuzz(func(t *testing.T, s string) {
		var first, second summaries
		if first.decode(s) != nil {
			return
		}
		written := string(encodeSummaries(first.list, true))
		if err := second.decode(written); err != nil {
			t.Fatalf("decoding an encoded log: %v", err)
		}
		if again := string(encodeSummaries(second.list, true)); again != written {
			t.Errorf("%q was decoded as %q", written, again)
		}
	})
}

// A page load is a view and a step of a visit, each of which may count without the
// other. A step counts in the hour in which its visit started.
func TestAddLog_PageLoads(t *testing.T) {
	r := record{unix: 1_795_000_000, country: "VN"}
	r.setVisit(&Hit{Source: "zalo.me"})
	for _, kind := range []byte{pageLoad, midnightPageLoad} {
		text := sampleLog(recordHeader{kind, 'S', 1_994_444, 20_775}, r, r, r, r, r, r)
		for name, flags := range map[string]string{
			"short": "00000-----", "odd": "00000------",
			"long": "0000000-------", "view": "A00000------", "visit": "0000001-----", "engaged": "000000E-----",
		} {
			if err := new(summaries).addLog(flags, text); !errors.Is(err, errLogEntry) {
				t.Errorf("%c, %s flags: got %v, want %v", kind, name, err, errLogEntry)
			}
		}
		var all summaries
		if err := all.addLog("3--1-0"+"0-0BD-", text); err != nil {
			t.Fatal(err)
		}
		all.addVisitValues()
		previousDay := Day(20_775)
		if kind == midnightPageLoad {
			previousDay--
		}
		got := map[string]int64{}
		for _, page := range all.list {
			for _, h := range page.hours {
				got[fmt.Sprintf("%c %d %d", h.kind, h.quarters, h.day)] += h.count
				got["funnel"] += h.funnel
			}
			for _, v := range page.values {
				got[fmt.Sprintf("%c %s", v.letter, v.value)] += v.count
			}
		}
		want := map[string]int64{
			"v 1994444 20775": 3, "e 1994444 20775": 2, fmt.Sprint("s 1994440 ", previousDay): 2,
			fmt.Sprint("q 1994440 ", previousDay): 1, "funnel": 2,
			"a VN": 3, "A VN": 2, "S zalo.me": 2,
		}
		if !maps.Equal(got, want) {
			t.Errorf("%c: got %v, want %v", kind, got, want)
		}
	}
}

// Implausible entries are rejected before anything is added: Postgres or a script would
// fail on them and on all others in the batch.
func TestRecords_ThatCannotBeAreRefusedWhole(t *testing.T) {
	good := recordHeader{'v', 'S', 1_994_444, 20_775}
	r := record{unix: 1_795_000_000, country: "VN"}
	for name, text := range map[string]string{
		"Kind":   sampleLog(recordHeader{'z', 'S', 1_994_444, 20_775}, r),
		"Way":    sampleLog(recordHeader{'v', 'Z', 1_994_444, 20_775}, r),
		"Day":    sampleLog(recordHeader{'v', 'S', 1_994_444, 2_000_000_000}, r),
		"Hour":   sampleLog(recordHeader{'v', 'S', 5, 20_775}, r),
		"Moment": sampleLog(good, record{unix: 1 << 40}),
		"Second": sampleLog(good, r, record{unix: 5}),
		"Page":   strings.Replace(sampleLog(good, r), "{v", "{w", 1),
	} {
		var all summaries
		if err := all.addLog("11"[:1+strings.Count(name, "Second")], text); err == nil || len(all.list) != 0 {
			t.Errorf("%s: got %d pages and error %v, want an error and nothing added", name, len(all.list), err)
		}
	}
	var one summaries
	c := one.page(samplePage())
	c.addRecord(good, r)
	for name, spoil := range map[string]func(c *pageSummary){
		"Way":    func(c *pageSummary) { c.method = 'Z' },
		"Day":    func(c *pageSummary) { c.hours[0].day = 2_000_000_000 },
		"Hour":   func(c *pageSummary) { c.hours[0].quarters = 5 },
		"Letter": func(c *pageSummary) { c.values[0].letter = 'q' },
		"Value":  func(c *pageSummary) { c.values[0].day = 2_000_000_000 },
		"Minute": func(c *pageSummary) { c.minutes[0].last = 1 << 40 },
		"Seen":   func(c *pageSummary) { c.dayVisitors = []dayVisitors{{2_000_000_000, []uint64{1}}} },
		"Page":   func(c *pageSummary) { c.page = "{v05}short" },
	} {
		spoiled := *c
		spoiled.hours, spoiled.values, spoiled.minutes = slices.Clone(c.hours), slices.Clone(c.values),
			slices.Clone(c.minutes)
		spoil(&spoiled)
		var all summaries
		if err := all.decode(string(encodeSummaries([]*pageSummary{c, &spoiled}, true))); err == nil ||
			len(all.list) != 0 {
			t.Errorf("%s: got %d pages and error %v, want an error and nothing added", name, len(all.list), err)
		}
	}
}

// The log is a list of pairs; a broken entry does not affect those after it.
func TestLog_IsReadOnBehindWhatIsBroken(t *testing.T) {
	c := New(nil, Options{})
	text := sampleLog(recordHeader{'v', 'S', 1_994_444, 20_775}, record{unix: 1_795_000_000})
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
		var all summaries
		rest, bad := row.lines, 0
		for len(rest) > 0 {
			used, q := c.addLogEntry(&all, rest)
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
			t.Errorf("%s: got %d views, %d put aside, %d left; want %d, %d, %d", name, views, bad, len(rest), row.views,
				row.bad, row.unread)
		}
	}
}

func TestSummaries_AddUp(t *testing.T) {
	var one, both summaries
	c := one.page(samplePage())
	c.addRecord(recordHeader{'v', 'S', 1_994_444, 20_775}, record{
		unix: 1_795_000_000, country: "VN", isFunnelStep: true, isFirstToday: true,
	})
	written := string(encodeSummaries(one.list, true))
	for range 2 {
		if err := both.decode(written); err != nil {
			t.Fatal(err)
		}
	}
	sum := both.page(samplePage())
	got := fmt.Sprint(len(both.list), sum.hours[0].count, sum.hours[0].funnel, sum.values[0].count, sum.newVisitors,
		sum.minutes[0].views)
	if want := "1 2 2 2 2 2"; got != want {
		t.Errorf("pages and counts: got %s, want %s", got, want)
	}
	if err := both.decode(written[:len(written)-1]); err == nil {
		t.Error("a truncated delta was decoded")
	}
}
