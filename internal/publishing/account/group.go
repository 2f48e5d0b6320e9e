package account

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/recurrence"
)

// Group is a set of accounts that publish together, such as a desk. Its weekly
// slots are its queue: a post that is added to it gets the next free slot.
type Group struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Name        string
	Color       string // a name of Colors
	AccountIDs  []uuid.UUID
	TimeZone    string // IANA; of the slots
	Slots       []Slot
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Slot is a time of the week at which a queue publishes one post.
type Slot struct {
	Weekday int    `json:"weekday"` // ISO 8601: 1 is Monday, 7 Sunday
	Time    string `json:"time"`    // on the wall clock, like 07:30
}

// Colors lists the colors of groups, labels and accounts.
func Colors() []string {
	return []string{
		"gray", "red", "pink", "grape", "violet", "indigo", "blue", "cyan", "teal", "green", "lime",
		"yellow", "orange",
	}
}

// Limits of groups.
const (
	MaxGroups        = 100
	MaxGroupName     = 80
	MaxGroupSlots    = 7 * 48
	MaxGroupAccounts = 50
)

// Covers reports whether all of the accounts are in the group.
func (g Group) Covers(accounts []uuid.UUID) bool {
	return !slices.ContainsFunc(accounts, func(id uuid.UUID) bool { return !slices.Contains(g.AccountIDs, id) })
}

// Validate names everything that is wrong with a group.
func (g Group) Validate() error {
	var problems []apperr.FieldError
	add := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	if n := len([]rune(g.Name)); n == 0 || n > MaxGroupName {
		add("name", "invalid", fmt.Sprintf("A name has 1 to %d characters.", MaxGroupName))
	}
	if !slices.Contains(Colors(), g.Color) {
		add("color", "invalid", fmt.Sprintf("%q is not a color; use one of %v.", g.Color, Colors()))
	}
	if len(g.AccountIDs) == 0 || len(g.AccountIDs) > MaxGroupAccounts {
		add("accounts", "invalid", fmt.Sprintf("A group has 1 to %d accounts.", MaxGroupAccounts))
	}
	if _, err := timezone.Load(g.TimeZone); err != nil {
		add("time_zone", "unknown", err.Error()+".")
	}
	if len(g.Slots) > MaxGroupSlots {
		add("slots", "too_many", fmt.Sprintf("A queue has at most %d slots.", MaxGroupSlots))
	}
	for i, s := range g.Slots {
		field := fmt.Sprintf("slots[%d].", i)
		if s.Weekday < 1 || s.Weekday > 7 {
			add(field+"weekday", "invalid", "A weekday is 1 (Monday) to 7 (Sunday).")
		}
		if _, err := s.clock(); err != nil {
			add(field+"time", "invalid", fmt.Sprintf("%q is not a time; write it like 07:30.", s.Time))
		}
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}

func (s Slot) clock() (time.Duration, error) {
	at, err := time.Parse("15:04", s.Time)
	if err == nil && at.Format("15:04") != s.Time {
		err = fmt.Errorf("%q is not written with two digits each", s.Time)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, err
}

// SortedSlots returns the slots in the order of the week, each once.
func (g Group) SortedSlots() []Slot {
	out := slices.Clone(g.Slots)
	slices.SortFunc(out, func(a, b Slot) int {
		if a.Weekday != b.Weekday {
			return a.Weekday - b.Weekday
		}
		if a.Time < b.Time {
			return -1
		}
		return 1
	})
	return slices.Compact(out)
}

// Upcoming yields the instants of the slots after a time, in order, without end. As in
// recurring posts, a local time that clocks skip is later by the length of the gap, and
// an ambiguous one is the first. Two slots at the same instant are one.
func (g Group) Upcoming(after time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		zone, err := timezone.Load(g.TimeZone)
		if err != nil || len(g.Slots) == 0 {
			return
		}
		last := after
		local := after.In(zone)
		day := time.Date(local.Year(), local.Month(), local.Day()-1, 0, 0, 0, 0, time.UTC)
		for ; ; day = day.AddDate(0, 0, 1) {
			for _, at := range g.onDay(day, zone) {
				if !at.After(last) {
					continue
				}
				if last = at; !yield(at) {
					return
				}
			}
		}
	}
}

// onDay lists the instants of the slots of a date.
func (g Group) onDay(day time.Time, zone *time.Location) []time.Time {
	var out []time.Time
	for _, s := range g.Slots {
		clock, err := s.clock()
		if err != nil || s.Weekday%7 != int(day.Weekday()) {
			continue
		}
		if at, ok := recurrence.Instant(day.Add(clock), zone); ok {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}

// HasSlotAt reports whether an instant is one of the slots.
func (g Group) HasSlotAt(at time.Time) bool {
	for next := range g.Upcoming(at.Add(-time.Nanosecond)) {
		return next.Equal(at)
	}
	return false
}
