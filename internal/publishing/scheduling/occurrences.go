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
func (s *Scheduler) UpcomingOccurrences(
	ctx context.Context, series post.Series, limit int,
) ([]UpcomingOccurrence, error) {
	rule, starts, zone, err := parseSchedule(series)
	if err != nil {
		return nil, err
	}
	now := s.now()
	posts, skipped, err := s.loadOccurrences(ctx, series, now)
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
func (s *Scheduler) loadOccurrences(
	ctx context.Context, series post.Series, from time.Time,
) (map[string]post.Post, map[string]post.SeriesException, error) {
	name := recurrence.FormatLocal(from.UTC().AddDate(0, 0, -2)) // local times differ less from UTC
	list, err := s.Store.SeriesPosts(ctx, series.ID, name)
	if err != nil {
		return nil, nil, err
	}
	posts := make(map[string]post.Post, len(list))
	for _, p := range list {
		posts[p.Series.Name] = p
	}
	noted, err := s.Store.SeriesExceptions(ctx, series.ID, name)
	notes := make(map[string]post.SeriesException, len(noted))
	for _, n := range noted {
		notes[n.Occurrence] = n
	}
	return posts, notes, err
}
