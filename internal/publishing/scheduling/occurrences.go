package scheduling

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/recurrence"
)

// UpcomingOccurrence is an upcoming occurrence and its state.
type UpcomingOccurrence struct {
	Name   string
	At     time.Time
	State  string // planned, skipped, or the post's status
	PostID *uuid.UUID
}

// The states of an occurrence without a post.
const (
	OccurrencePlanned = "planned"
	OccurrenceSkipped = "skipped"
)

// UpcomingOccurrences lists the next occurrences of a series.
func (d *Scheduler) UpcomingOccurrences(ctx context.Context, s post.Series, limit int) ([]UpcomingOccurrence, error) {
	rule, starts, zone, err := parseSchedule(s)
	if err != nil {
		return nil, err
	}
	now := d.now()
	posts, skipped, err := d.loadOccurrences(ctx, s, now)
	if err != nil {
		return nil, err
	}
	var list []UpcomingOccurrence
	for o := range rule.Occurrences(starts, zone) {
		if !o.At.After(now) {
			continue
		}
		if len(list) == limit {
			break
		}
		u := UpcomingOccurrence{Name: o.Name(), At: o.At, State: OccurrencePlanned}
		if p, ok := posts[u.Name]; ok {
			u.State, u.PostID = string(p.Status), &p.ID
			if !p.ScheduledTime.IsZero() {
				u.At = p.ScheduledTime
			}
		} else if note, ok := skipped[u.Name]; ok && note.Skipped {
			u.State = OccurrenceSkipped
		}
		list = append(list, u)
	}
	return list, nil
}

// loadOccurrences returns the posts and exceptions of a series by occurrence, from
// shortly before an instant, and earlier posts that are not final.
func (d *Scheduler) loadOccurrences(ctx context.Context, s post.Series, from time.Time) (map[string]post.Post, map[string]post.SeriesException, error) {
	name := recurrence.FormatLocal(from.UTC().AddDate(0, 0, -2)) // local times differ less from UTC
	list, err := d.Store.SeriesPosts(ctx, s.ID, name)
	if err != nil {
		return nil, nil, err
	}
	posts := make(map[string]post.Post, len(list))
	for _, p := range list {
		posts[p.Series.Name] = p
	}
	noted, err := d.Store.SeriesExceptions(ctx, s.ID, name)
	notes := make(map[string]post.SeriesException, len(noted))
	for _, n := range noted {
		notes[n.Occurrence] = n
	}
	return posts, notes, err
}
