package account_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
)

func TestGroup_UpcomingFollowsTheClock(t *testing.T) {
	t.Parallel()
	nights := []account.Slot{}
	for day := 1; day <= 7; day++ {
		nights = append(nights, account.Slot{Weekday: day, Time: "02:30"}, account.Slot{Weekday: day, Time: "03:30"})
	}
	for name, c := range map[string]struct {
		zone  string
		slots []account.Slot
		after string
		want  []string
	}{
		"slots are sorted by time, whatever the order in the list": {
			zone: "Asia/Ho_Chi_Minh", slots: []account.Slot{
				{Weekday: 3, Time: "07:30"}, {Weekday: 1, Time: "18:00"}, {Weekday: 1, Time: "07:30"},
			},
			after: "2031-03-03T07:30:00+07:00", // a Monday at a slot's time, which is not after itself
			want:  []string{"2031-03-03T18:00:00+07:00", "2031-03-05T07:30:00+07:00", "2031-03-10T07:30:00+07:00"},
		},
		"a skipped time is later, and two slots at one instant are one": {
			zone: "America/New_York", slots: nights, after: "2031-03-08T12:00:00-05:00",
			want: []string{"2031-03-09T03:30:00-04:00", "2031-03-10T02:30:00-04:00", "2031-03-10T03:30:00-04:00"},
		},
		"an ambiguous time is the first one": {
			zone: "America/New_York", slots: []account.Slot{{Weekday: 7, Time: "01:30"}},
			after: "2031-11-01T12:00:00-04:00",
			want:  []string{"2031-11-02T01:30:00-04:00", "2031-11-09T01:30:00-05:00"},
		},
		"a date that a zone skipped has no slots": {
			zone: "Pacific/Apia", slots: []account.Slot{{Weekday: 5, Time: "09:00"}, {Weekday: 6, Time: "09:00"}},
			after: "2011-12-29T12:00:00-10:00",
			want:  []string{"2011-12-31T09:00:00+14:00", "2012-01-06T09:00:00+14:00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := account.Group{TimeZone: c.zone, Slots: c.slots}
			zone, err := timezone.Load(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			after, err := time.Parse(time.RFC3339, c.after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for at := range g.Upcoming(after) {
				if !g.HasSlotAt(at) || g.HasSlotAt(at.Add(time.Second)) {
					t.Errorf("HasSlotAt(%s) does not agree with Upcoming", at)
				}
				if got = append(got, at.In(zone).Format(time.RFC3339)); len(got) == len(c.want) {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

func TestGroup_ValidateNamesEveryProblem(t *testing.T) {
	t.Parallel()
	good := account.Group{
		Name: "Thể thao", Color: "teal", AccountIDs: []uuid.UUID{uuid.New()},
		TimeZone: "Asia/Ho_Chi_Minh", Slots: []account.Slot{{Weekday: 7, Time: "23:59"}},
	}
	if err := good.Validate(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	bad := account.Group{Color: "mauve", TimeZone: "Mars/Olympus", Slots: []account.Slot{
		{Weekday: 0, Time: "7:30"}, {Weekday: 8, Time: "24:00"},
	}}
	var e *apperr.Error
	if err := bad.Validate(); !errors.As(err, &e) {
		t.Fatalf("got %v, want an error", err)
	}
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Field)
	}
	want := []string{
		"name", "color", "accounts", "time_zone", "slots[0].weekday", "slots[0].time", "slots[1].weekday",
		"slots[1].time",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
