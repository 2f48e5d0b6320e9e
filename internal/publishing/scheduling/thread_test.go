package scheduling_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

func ptr[T any](v T) *T { return &v }

func TestSchedule_StoresThreadsAndOverrides(t *testing.T) {
	n := newsroomtest.Open(t)
	first, second := n.Connect("desk"), n.Connect("sports")
	p := n.Schedule(func(d *scheduling.Draft) {
		d.Thread = []scheduling.Segment{{Content: "Second"}, {Content: "Third"}}
		d.Accounts = []string{first.ID.String(), second.ID.String()}
		d.Overrides = map[string]scheduling.Override{
			second.ID.String(): {Content: ptr("For sports"), Thread: &[]scheduling.Segment{{Content: "Only this"}}},
		}
	})
	want := map[uuid.UUID]string{first.ID: "Hello|Second|Third", second.ID: "For sports|Only this"}
	check := func(p post.Post) {
		t.Helper()
		for _, target := range p.Targets {
			var texts []string
			for _, s := range p.Segments(target) {
				texts = append(texts, s.Content)
			}
			if got := strings.Join(texts, "|"); got != want[target.AccountID] {
				t.Errorf("%s gets %q, want %q", target.Handle, got, want[target.AccountID])
			}
		}
	}
	check(p)
	change := func(edit scheduling.Edit) {
		t.Helper()
		p, err := n.Scheduler.Edit(t.Context(), guard(n, p), edit)
		n.Must(err)
		check(p)
	}
	// Overrides that are not named stay; null removes one.
	want[first.ID] = "Hello|New second"
	change(scheduling.Edit{Thread: &[]scheduling.Segment{{Content: "New second"}}})
	want[first.ID] = "For the desk|New second"
	change(scheduling.Edit{Overrides: map[string]*scheduling.Override{
		first.ID.String(): {Content: ptr("For the desk")},
	}})
	want[second.ID] = "Hello|New second"
	change(scheduling.Edit{Overrides: map[string]*scheduling.Override{second.ID.String(): nil}})

	// The override of a removed account is removed with it.
	change(scheduling.Edit{Accounts: &[]string{second.ID.String()}})
	want[first.ID] = "Hello|New second"
	change(scheduling.Edit{Accounts: &[]string{first.ID.String(), second.ID.String()}})
}

func TestOverrides_ErrorsNameTheField(t *testing.T) {
	n := newsroomtest.Open(t)
	first, second := n.Connect("desk"), n.Connect("sports")
	a, b, other := first.ID.String(), second.ID.String(), n.Connect("culture").ID.String()
	file, long := uuid.NewString(), strings.Repeat("x", 501)
	base := scheduling.Draft{Content: "Hello", ScheduledTime: in(time.Hour), Accounts: []string{a, b}}
	for name, c := range map[string]struct {
		change func(*scheduling.Draft)
		want   []string
	}{
		"long segment": {
			func(d *scheduling.Draft) { d.Thread = []scheduling.Segment{{Content: "ok"}, {Content: long}} },
			[]string{"thread[1].content too_long"},
		},
		"empty segment": {
			func(d *scheduling.Draft) { d.Thread = []scheduling.Segment{{Content: ""}} },
			[]string{"thread[0].content empty"},
		},
		"segment's file": {func(d *scheduling.Draft) {
			d.Thread = []scheduling.Segment{{Content: "x", Attachments: []string{file}}}
		}, []string{"thread[0].attachments[0] unknown_file"}},
		"segment's no file": {func(d *scheduling.Draft) {
			d.Thread = []scheduling.Segment{{Content: "x", Attachments: []string{"cat"}}}
		}, []string{"thread[0].attachments[0] not_a_uuid"}},
		"long override": {
			func(d *scheduling.Draft) { d.Overrides = map[string]scheduling.Override{a: {Content: &long}} },
			[]string{"overrides." + a + ".content too_long"},
		},
		"empty override": {
			func(d *scheduling.Draft) { d.Overrides = map[string]scheduling.Override{a: {Content: ptr("")}} },
			[]string{"overrides." + a + ".content empty"},
		},
		"override's file": {func(d *scheduling.Draft) {
			d.Overrides = map[string]scheduling.Override{a: {Attachments: &[]string{file}}}
		}, []string{"overrides." + a + ".attachments[0] unknown_file"}},
		"override's segment": {func(d *scheduling.Draft) {
			d.Overrides = map[string]scheduling.Override{b: {Thread: &[]scheduling.Segment{{Content: long}}}}
		}, []string{"overrides." + b + ".thread[0].content too_long"}},
		"override's thread": {func(d *scheduling.Draft) {
			d.Overrides = map[string]scheduling.Override{
				b: {Thread: &[]scheduling.Segment{{Content: "x", Attachments: []string{file}}}},
			}
		}, []string{"overrides." + b + ".thread[0].attachments[0] unknown_file"}},
		"other account": {
			func(d *scheduling.Draft) { d.Overrides = map[string]scheduling.Override{other: {Content: ptr("x")}} },
			[]string{"overrides." + other + " unknown"},
		},
		"no account": {
			func(d *scheduling.Draft) { d.Overrides = map[string]scheduling.Override{"desk": {Content: ptr("x")}} },
			[]string{"overrides invalid"},
		},
		"account twice": {func(d *scheduling.Draft) {
			d.Overrides = map[string]scheduling.Override{
				a: {Content: ptr("x")}, strings.ToUpper(a): {Content: ptr("y")},
			}
		}, []string{"overrides." + a + " duplicate"}},
		"all, but overridden": {func(d *scheduling.Draft) {
			d.Content = long
			d.Overrides = map[string]scheduling.Override{a: {Content: ptr("x")}, b: {Content: ptr("y")}}
		}, nil},
		"nothing, overridden": {func(d *scheduling.Draft) {
			d.Content = ""
			d.Overrides = map[string]scheduling.Override{a: {Content: ptr("x")}, b: {Content: ptr("y")}}
		}, []string{"content empty"}},
		"NUL, overridden": {func(d *scheduling.Draft) {
			d.Content = "a\x00"
			d.Overrides = map[string]scheduling.Override{a: {Content: ptr("x")}, b: {Content: ptr("y")}}
		}, []string{"content invalid_text"}},
		"all, overridden once": {func(d *scheduling.Draft) {
			d.Content = long
			d.Overrides = map[string]scheduling.Override{a: {Content: ptr("x")}}
		}, []string{"content too_long"}},
		"thread taken away": {func(d *scheduling.Draft) {
			d.Thread = []scheduling.Segment{{Content: long}}
			d.Overrides = map[string]scheduling.Override{
				a: {Thread: &[]scheduling.Segment{}}, b: {Thread: &[]scheduling.Segment{}},
			}
		}, nil},
		"everything for both": {func(d *scheduling.Draft) { d.Content = long }, []string{"content too_long"}},
		"NUL in a segment": {
			func(d *scheduling.Draft) { d.Thread = []scheduling.Segment{{Content: "a\x00"}} },
			[]string{"thread[0].content invalid_text"},
		},
		"bad UTF-8 in override": {
			func(d *scheduling.Draft) { d.Overrides = map[string]scheduling.Override{b: {Content: ptr("a\xff")}} },
			[]string{"overrides." + b + ".content invalid_text"},
		},
	} {
		d := base
		c.change(&d)
		_, err := schedule(n, d)
		if c.want == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := problems(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%s: refused for %q, want %q", name, got, c.want)
		}
	}

	p := n.Schedule(func(d *scheduling.Draft) { d.Accounts = []string{a} })
	for name, c := range map[string]struct {
		edit scheduling.Edit
		want string
	}{
		"override of another account": {
			scheduling.Edit{Overrides: map[string]*scheduling.Override{b: {Content: ptr("x")}}},
			"overrides." + b + " unknown",
		},
		"no override to remove": {
			scheduling.Edit{Overrides: map[string]*scheduling.Override{b: nil}}, "overrides." + b + " unknown",
		},
		"override of an account that goes": {
			scheduling.Edit{Accounts: &[]string{b}, Overrides: map[string]*scheduling.Override{a: {Content: ptr("x")}}},
			"overrides." + a + " unknown",
		},
	} {
		_, err := n.Scheduler.Edit(t.Context(), guard(n, p), c.edit)
		if got := problems(t, err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: refused for %q, want %q", name, got, c.want)
		}
	}
	// An account that is added by an edit can be overridden by it.
	_, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{
		Accounts: &[]string{b}, Overrides: map[string]*scheduling.Override{b: {Content: ptr("x")}},
	})
	n.Must(err)
}

// Vietnamese letters carry up to two marks. Composed or not, each is one character on
// Mastodon, in every segment and for every account.
func TestOverrides_CountLikeTheNetwork(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk").ID.String()
	letters := strings.Repeat("ộ", 500)
	for form, f := range map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD} {
		fits := f.String(letters)
		over := fits + f.String("ế")
		if f == norm.NFD && len([]rune(fits)) != 1500 {
			t.Fatal("the letters are not decomposed")
		}
		_, err := schedule(n, scheduling.Draft{
			Content: fits, Thread: []scheduling.Segment{{Content: fits}},
			ScheduledTime: in(time.Hour),
			Overrides:     map[string]scheduling.Override{a: {Content: &fits}},
		})
		n.Must(err)
		_, err = schedule(n, scheduling.Draft{
			Content: fits, Thread: []scheduling.Segment{{Content: fits}, {Content: over}}, ScheduledTime: in(time.Hour),
		})
		t.Log(form)
		expect(t, err, "thread[1].content too_long")
		_, err = schedule(n, scheduling.Draft{
			Content: over, Thread: []scheduling.Segment{{Content: fits}},
			ScheduledTime: in(time.Hour),
			Overrides:     map[string]scheduling.Override{a: {Thread: &[]scheduling.Segment{{Content: over}}}},
		})
		expect(t, err, "content too_long", "overrides."+a+".thread[0].content too_long")
	}
}
