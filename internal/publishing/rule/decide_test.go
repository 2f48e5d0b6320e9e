package rule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
)

func noon() time.Time { return time.Date(2030, 6, 3, 12, 0, 0, 0, time.UTC) } // a Monday

func ago(d time.Duration) *time.Time {
	at := noon().Add(-d)
	return &at
}

func sports() Rule {
	return Rule{ID: uuid.New(), Status: Active, Definition: Definition{
		Trigger:    Trigger{Sections: []string{"Sports"}},
		Conditions: Conditions{Languages: []string{"en"}, MinWords: 100, MaxAgeHours: 24}, Templates: map[string]string{
			DefaultTemplate: "{title}\n\n{lead}\n\n{url} {hashtags}",
		},
		MaxPerHour: 3, MaxPerDay: 10,
	}}
}

func match() Article {
	return Article{
		ID: uuid.New(), GroupID: uuid.New(), Version: 1, Domain: "news.example",
		URL: "https://news.example/match", Title: "A late goal decides the match",
		Lead: "The visitors win.", Section: "Sports", Language: "en", Words: 300, PublishedAt: ago(time.Hour),
	}
}

func TestDecide_NamesTheReason(t *testing.T) {
	other := uuid.New()
	for name, c := range map[string]struct {
		change  func(r *Rule, a *Article, u *Usage)
		want    Reason
		outcome Outcome
		pauses  PauseReason
	}{
		"matched": {func(*Rule, *Article, *Usage) {}, Matched, Reserved, ""},
		"language": {
			func(_ *Rule, a *Article, _ *Usage) { a.Language = "vi" }, WrongLanguage, Skipped,
			"",
		},
		"too short":           {func(_ *Rule, a *Article, _ *Usage) { a.Words = 99 }, TooShort, Skipped, ""},
		"as long as required": {func(_ *Rule, a *Article, _ *Usage) { a.Words = 100 }, Matched, Reserved, ""},
		"too old": {
			func(_ *Rule, a *Article, _ *Usage) { a.PublishedAt = ago(24*time.Hour + time.Second) }, TooOld, Skipped,
			"",
		},
		"date of the day before": {
			func(_ *Rule, a *Article, _ *Usage) { a.PublishedAt, a.DateOnly = ago(36*time.Hour), true }, Matched,
			Reserved, "",
		},
		"no date": {func(_ *Rule, a *Article, _ *Usage) { a.PublishedAt = nil }, NoDate, Skipped, ""},
		"embargo": {
			func(_ *Rule, a *Article, _ *Usage) { a.PublishedAt = ago(-time.Hour) }, Matched,
			Reserved, "",
		},
		"withdrawn": {
			func(_ *Rule, a *Article, _ *Usage) { a.IsWithdrawn = true }, Withdrawn, Skipped,
			"",
		},
		"paused": {
			func(r *Rule, _ *Article, _ *Usage) { r.Status = Paused }, RulePaused, Skipped,
			"",
		},
		"same story": {
			func(_ *Rule, _ *Article, u *Usage) { u.GroupArticle = &other }, DuplicateStory,
			Skipped, "",
		},
		"hourly cap": {
			func(_ *Rule, _ *Article, u *Usage) { u.Hour, u.Day = 3, 3 }, HourlyCap, Skipped,
			"",
		},
		"daily cap before hourly": {
			func(_ *Rule, _ *Article, u *Usage) { u.Hour, u.Day = 3, 10 }, DailyCap, Skipped,
			"",
		},
		"far too many articles": {
			func(_ *Rule, _ *Article, u *Usage) { u.Hour, u.Matched = 3, 20 }, TooMany, Skipped, PausedTooMany,
		},
		"many, but not far more": {
			func(_ *Rule, _ *Article, u *Usage) { u.Hour, u.Matched = 3, 19 }, HourlyCap,
			Skipped, "",
		},
		"a higher cap allows more": {
			func(r *Rule, _ *Article, u *Usage) { r.MaxPerHour, u.Hour, u.Matched = 10, 10, 49 }, HourlyCap, Skipped,
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, a, u := sports(), match(), Usage{}
			c.change(&r, &a, &u)
			if got := Decide(r, a, u, noon()); got.Reason != c.want || got.Outcome != c.outcome ||
				got.Pauses != c.pauses {
				t.Errorf("got %s %s pauses %q, want %s %s pauses %q", got.Outcome, got.Reason, got.Pauses, c.outcome,
					c.want, c.pauses)
			}
		})
	}
}

func TestTrigger_SelectsByAllGivenFields(t *testing.T) {
	a := match()
	a.Tags, a.Authors = []string{"Football", "Cup"}, []string{"Lan Nguyễn"}
	for name, c := range map[string]struct {
		trigger Trigger
		want    bool
	}{
		"any":                 {Trigger{}, true},
		"domain":              {Trigger{Domains: []string{"other.example", "news.example"}}, true},
		"other domain":        {Trigger{Domains: []string{"other.example"}}, false},
		"case does not count": {Trigger{Sections: []string{"sports"}, Authors: []string{"lan nguyễn"}}, true},
		"one tag of several":  {Trigger{Tags: []string{"cup"}}, true},
		"all fields":          {Trigger{Sections: []string{"Sports"}, Tags: []string{"Tennis"}}, false},
	} {
		if got := c.trigger.selects(a); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// In any hour and any day, a rule posts at most as often as its caps allow.
func TestDecide_RespectsCapsOnAnyStream(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := sports()
		r.Conditions = Conditions{}
		r.MaxPerHour, r.MaxPerDay = 1+rng.IntN(5), 1+rng.IntN(20)
		h := newHistory()
		var posted []time.Time
		groups := map[uuid.UUID]bool{}
		known := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
		at := noon()
		for range 400 {
			at = at.Add(time.Duration(rng.Int64N(int64(20 * time.Minute))))
			a := match()
			if rng.IntN(10) == 0 {
				a.GroupID = known[rng.IntN(len(known))]
			}
			d := Decide(r, a, h.usage(r, a, at), at)
			h.add(a, d)
			if d.Outcome != Reserved {
				continue
			}
			if groups[a.GroupID] {
				t.Fatalf("seed %d: a story was posted twice", seed)
			}
			groups[a.GroupID] = true
			posted = append(posted, at)
		}
		for _, end := range posted {
			hour, day := 0, 0
			for _, p := range posted {
				if p.After(end) {
					continue
				}
				if p.After(end.Add(-time.Hour)) {
					hour++
				}
				if p.After(end.Add(-24 * time.Hour)) {
					day++
				}
			}
			if hour > r.MaxPerHour || day > r.MaxPerDay {
				t.Fatalf("seed %d: got %d posts in an hour and %d in a day, want at most %d and %d", seed, hour, day,
					r.MaxPerHour, r.MaxPerDay)
			}
		}
		if len(posted) == 0 {
			t.Fatalf("seed %d: no post", seed)
		}
	}
}

func TestArticle_StoredAtIsInItsID(t *testing.T) {
	before := time.Now().Add(-time.Millisecond)
	got := Article{ID: uuid.Must(uuid.NewV7())}.StoredAt()
	if after := time.Now().Add(time.Millisecond); got.Before(before) || got.After(after) {
		t.Errorf("got %s, want it between %s and %s", got, before, after)
	}
}

func TestTiming_PublishTime(t *testing.T) {
	hours := func(from, to string, weekdays ...int) *Hours {
		return &Hours{From: from, To: to, Weekdays: weekdays, TimeZone: "Europe/Berlin"} // UTC+2 in June
	}
	for name, c := range map[string]struct {
		timing  Timing
		at      time.Time
		embargo time.Duration
		want    string
	}{
		"now":              {Timing{When: Immediately}, noon(), 0, "2030-06-03T12:00:10Z"},
		"delay":            {Timing{When: Delayed, DelayMinutes: 90}, noon(), 0, "2030-06-03T13:30:00Z"},
		"embargo is later": {Timing{When: Immediately}, noon(), 3 * time.Hour, "2030-06-03T15:00:00Z"},
		"delay is later than embargo": {
			Timing{When: Delayed, DelayMinutes: 240}, noon(), 3 * time.Hour, "2030-06-03T16:00:00Z",
		},
		"within the hours": {
			Timing{When: Immediately, Hours: hours("07:00", "22:00")}, noon(), 0, "2030-06-03T12:00:10Z",
		},
		"before the hours": {
			Timing{When: Immediately, Hours: hours("16:30", "22:00")}, noon(), 0, "2030-06-03T14:30:00Z",
		},
		"after the hours": {
			Timing{When: Immediately, Hours: hours("07:00", "12:00")}, noon(), 0, "2030-06-04T05:00:00Z",
		},
		"until midnight": {
			Timing{When: Immediately, Hours: hours("07:00", "24:00")},
			noon().Add(9 * time.Hour),
			0, "2030-06-03T21:00:10Z",
		},
		"only at the weekend": {
			Timing{When: Immediately, Hours: hours("07:00", "22:00", 6, 7)}, noon(), 0, "2030-06-08T05:00:00Z",
		},
		"embargo ends at night": {
			Timing{When: Immediately, Hours: hours("07:00", "22:00")},
			noon(), 10 * time.Hour,
			"2030-06-04T05:00:00Z",
		},
		"a local time that clocks skip": {
			Timing{
				When: Immediately, Hours: &Hours{From: "02:30", To: "22:00", TimeZone: "Europe/Berlin"},
			},
			time.Date(2030, 3, 31, 0, 0, 0, 0, time.UTC), 0, "2030-03-31T01:30:00Z",
		},
	} {
		a := Article{}
		if c.embargo > 0 {
			until := c.at.Add(c.embargo)
			a.PublishedAt = &until
		}
		if got := c.timing.publishTime(a, c.at).Format(time.RFC3339); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func ExampleDecide() {
	r, a := sports(), match()
	a.Words = 20
	d := Decide(r, a, Usage{}, noon())
	fmt.Println(d.Outcome, d.Reason, d.Params)
	// Output: skipped too_short map[limit:100 words:20]
}
