package scheduling

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/message"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/recurrence"
)

// SeriesStore is the database of recurring posts.
type SeriesStore interface {
	SeriesWriter
	OccurrenceStore
}

// SeriesWriter creates, reads and changes series.
type SeriesWriter interface {
	ReplayedSeries(ctx context.Context, workspace uuid.UUID, key idempotency.Key) (s post.Series, found bool, err error)
	CreateSeries(ctx context.Context, s post.Series, key idempotency.Key) (created post.Series, replayed bool,
		err error)
	Series(ctx context.Context, id uuid.UUID) (post.Series, error)
	SeriesInWorkspace(ctx context.Context, workspace, id uuid.UUID) (post.Series, error)
	EditSeries(ctx context.Context, g post.Guard, c post.SeriesChange) (post.Series, error)
	SetSeriesStatus(ctx context.Context, g post.Guard, status post.SeriesStatus) (post.Series, error)
	SetOccurrenceSkipped(ctx context.Context, g post.Guard, occurrence string, skip bool) (post.Series, error)
}

// OccurrenceStore stores the posts and exceptions of a series.
type OccurrenceStore interface {
	SeriesPosts(ctx context.Context, id uuid.UUID, from string) ([]post.Post, error)
	SeriesExceptions(ctx context.Context, id uuid.UUID, from string) ([]post.SeriesException, error)
	CreateOccurrence(ctx context.Context, s post.Series, name string, n post.NewPost, problem string) (p post.Post,
		ok bool, err error)
	UpdateOccurrence(ctx context.Context, s post.Series, g post.Guard, change post.Change, urls []string,
		schedule bool) (p post.Post, ok bool, err error)
	WithdrawOccurrence(ctx context.Context, s post.Series, g post.Guard) (ok bool, err error)
	SeriesChecked(ctx context.Context, s post.Series, until time.Time, missed []post.SeriesException,
		problem message.Messages) (ok bool, err error)
}

// SeriesDraft is a series as requested, before it is checked.
type SeriesDraft struct {
	Rule     string
	Starts   string // local time in TimeZone
	TimeZone string // IANA; empty: the workspace's
	Template Draft  // without times
}

// SeriesEdit is a change as requested; nil keeps a field.
type SeriesEdit struct {
	Rule, Starts, TimeZone *string
	Template               *Draft
}

// CreateSeries stores a series and creates its first posts. changed lists them.
func (s *Scheduler) CreateSeries(
	ctx context.Context, who workspace.Principal, in SeriesDraft, key idempotency.Key,
) (series post.Series, changed []uuid.UUID, replayed bool, err error) {
	if series, found, err := s.Store.ReplayedSeries(ctx, who.WorkspaceID, key); err != nil || found {
		return series, nil, found, err
	}
	workspace, err := s.Store.Workspace(ctx, who.WorkspaceID)
	if err != nil {
		return series, nil, false, err
	}
	c := s.check(workspace)
	in.TimeZone = c.zoneOr(in.TimeZone)
	if series, err = c.series(ctx, who, in); err != nil {
		return series, nil, false, err
	}
	series.ID = uuid.Must(uuid.NewV7())
	if series, replayed, err = s.Store.CreateSeries(ctx, series, key); err != nil {
		return series, nil, false, err
	}
	series, changed, err = s.materializeNow(ctx, series)
	return series, changed, replayed, err
}

// series checks a series and returns what would be stored.
func (c *check) series(ctx context.Context, who workspace.Principal, in SeriesDraft) (post.Series, error) {
	s := post.Series{
		WorkspaceID: who.WorkspaceID, UserID: who.UserID, Rule: in.Rule, TimeZone: in.TimeZone,
		ByAuthor: who.Role == workspace.Author,
	}
	zone, err := c.lookup.zone(in.TimeZone)
	if err != nil {
		c.add("time_zone", "unknown_time_zone", "{reason}.", err)
	}
	rule, err := recurrence.Parse(in.Rule)
	if err != nil {
		c.add("rule", "unsupported_rule", "{reason}.", err)
	}
	starts, err := recurrence.ParseLocal(in.Starts)
	if err != nil {
		c.add("starts", "invalid_time", "{reason}.", err)
	} else if distance := starts.Sub(c.scheduler.now()); distance > post.Horizon || distance < -post.Horizon {
		c.add("starts", "too_far", "A series starts at most five years ago or ahead.")
	}
	if len(c.problems) > 0 {
		return s, apperr.InvalidFields(c.problems...)
	}
	s.Starts = recurrence.FormatLocal(starts)
	next, ok := nextOccurrence(rule, starts, zone, c.scheduler.now())
	if !ok || next.At.Sub(c.scheduler.now()) > post.Horizon {
		c.add("rule", "never", "This rule has no occurrence within the next five years.")
		return s, apperr.InvalidFields(c.problems...)
	}
	in.Template.ScheduledTime, in.Template.TimeZone = next.At.Format(time.RFC3339), in.TimeZone
	if _, err := c.validate(ctx, who, in.Template); err != nil {
		return s, err
	}
	if len(c.problems) > 0 {
		for i := range c.problems {
			c.problems[i].Field = "template." + c.problems[i].Field
		}
		return s, apperr.InvalidFields(c.problems...)
	}
	s.Template, err = json.Marshal(in.Template)
	return s, err
}

func nextOccurrence(
	rule recurrence.Rule, starts time.Time, zone *time.Location, after time.Time,
) (recurrence.Occurrence, bool) {
	for o := range rule.Occurrences(starts, zone) {
		if o.At.After(after) {
			return o, true
		}
	}
	return recurrence.Occurrence{}, false
}

// EditSeries edits a series and those of its posts that nobody has edited and that are
// not being published yet.
func (s *Scheduler) EditSeries(
	ctx context.Context, who workspace.Principal, g post.Guard, edit SeriesEdit,
) (post.Series, []uuid.UUID, error) {
	current, err := s.Store.SeriesInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return post.Series{}, nil, err
	}
	if current.Status == post.SeriesEnded {
		return post.Series{}, nil, post.SeriesHasEnded()
	}
	// Record missed occurrences of the old rule before it is replaced.
	if _, err := s.Materialize(ctx, current.ID); err != nil {
		return post.Series{}, nil, err
	}
	workspace, err := s.Store.Workspace(ctx, g.WorkspaceID)
	if err != nil {
		return post.Series{}, nil, err
	}
	in := SeriesDraft{Rule: current.Rule, Starts: current.Starts, TimeZone: current.TimeZone}
	if err := json.Unmarshal(current.Template, &in.Template); err != nil {
		return post.Series{}, nil, err
	}
	for from, to := range map[*string]*string{
		edit.Rule: &in.Rule, edit.Starts: &in.Starts,
		edit.TimeZone: &in.TimeZone,
	} {
		if from != nil {
			*to = *from
		}
	}
	if edit.Template != nil {
		in.Template = *edit.Template
	}
	next, err := s.check(workspace).series(ctx, who, in)
	if err != nil {
		return post.Series{}, nil, err
	}
	series, err := s.Store.EditSeries(ctx, g, post.SeriesChange{
		Rule: next.Rule, Starts: next.Starts,
		TimeZone: next.TimeZone, Template: next.Template,
		// With a new template by an editor, the posts no longer need approval.
		ByAuthor: next.ByAuthor || current.ByAuthor && edit.Template == nil,
	})
	if err != nil {
		return series, nil, err
	}
	return s.materializeNow(ctx, series)
}

// SetSeriesPaused withdraws the scheduled posts of a series and pauses it;
// ResumeSeries resumes it with its upcoming posts.
func (s *Scheduler) SetSeriesPaused(ctx context.Context, g post.Guard, pause bool) (post.Series, []uuid.UUID, error) {
	status := post.SeriesActive
	if pause {
		status = post.SeriesPaused
		if _, err := s.Store.SeriesInWorkspace(ctx, g.WorkspaceID, g.PostID); err != nil {
			return post.Series{}, nil, err
		}
		if _, err := s.Materialize(ctx, g.PostID); err != nil { // records missed occurrences
			return post.Series{}, nil, err
		}
	}
	series, err := s.Store.SetSeriesStatus(ctx, g, status)
	if err != nil {
		return series, nil, err
	}
	return s.materializeNow(ctx, series)
}

// EndSeries ends a series permanently. Its posts stay scheduled unless cancel is set.
func (s *Scheduler) EndSeries(ctx context.Context, g post.Guard, cancel bool) (post.Series, []uuid.UUID, error) {
	series, err := s.Store.SeriesInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return series, nil, err
	}
	if series.Status != post.SeriesEnded {
		series, err = s.Store.SetSeriesStatus(ctx, g, post.SeriesEnded)
	}
	if err != nil || !cancel {
		return series, nil, err
	}
	posts, err := s.Store.SeriesPosts(ctx, series.ID, recurrence.FormatLocal(s.now().AddDate(0, 0, -2)))
	if err != nil {
		return series, nil, err
	}
	var changed []uuid.UUID
	for _, p := range posts {
		if p.Status != post.Scheduled && p.Status != post.Draft {
			continue
		}
		_, err := s.Cancel(ctx, post.Guard{WorkspaceID: series.WorkspaceID, PostID: p.ID, Actor: g.Actor})
		if isConflict(err) {
			continue // being published by now
		}
		if err != nil {
			return series, changed, err
		}
		changed = append(changed, p.ID)
	}
	return series, changed, nil
}

// SetOccurrenceSkipped skips an occurrence and cancels its post, if there is one.
// Without skip, it restores the occurrence.
func (s *Scheduler) SetOccurrenceSkipped(
	ctx context.Context, g post.Guard, occurrence string, skip bool,
) (post.Series, []uuid.UUID, error) {
	series, err := s.Store.SeriesInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return series, nil, err
	}
	name, err := upcomingName(series, occurrence, s.now())
	if err != nil {
		return series, nil, err
	}
	posts, err := s.Store.SeriesPosts(ctx, series.ID, name)
	if err != nil {
		return series, nil, err
	}
	var made *post.Post
	for _, p := range posts {
		if p.Series.Name == name && p.Status != post.Canceled {
			made = &p
		}
	}
	if skip && made != nil && made.Status != post.Scheduled && made.Status != post.Draft {
		return series, nil, post.TooLate(*made)
	}
	if series, err = s.Store.SetOccurrenceSkipped(ctx, g, name, skip); err != nil || !skip || made == nil {
		if err != nil {
			return series, nil, err
		}
		return s.materializeNow(ctx, series)
	}
	ok, err := s.Store.WithdrawOccurrence(ctx, series, post.Guard{
		WorkspaceID: series.WorkspaceID, PostID: made.ID, Actor: g.Actor,
	})
	if err != nil {
		return series, nil, err
	}
	if !ok { // claimed in the meantime
		if _, err := s.Store.SetOccurrenceSkipped(ctx, g, name, false); err != nil {
			return series, nil, err
		}
		return series, nil, post.TooLate(post.Post{Status: post.Publishing})
	}
	s.Notifier.Changed(ctx, made.ID)
	series, changed, err := s.materializeNow(ctx, series)
	return series, append(changed, made.ID), err
}

// upcomingName returns the name of an upcoming occurrence.
func upcomingName(s post.Series, text string, now time.Time) (string, error) {
	refuse := func(code, template string, args ...any) error {
		return apperr.InvalidFields(apperr.Field("occurrence", code, template, args...))
	}
	local, err := recurrence.ParseLocal(text)
	if err != nil {
		return "", refuse("invalid_time", "{reason}.", err)
	}
	rule, starts, zone, err := parseSchedule(s)
	if err != nil {
		return "", err
	}
	for o := range rule.Occurrences(starts, zone) {
		if o.Local.Before(local) {
			continue
		}
		if !o.Local.Equal(local) {
			break
		}
		if !o.At.After(now) {
			return "", refuse("in_the_past", "{occurrence} has passed.", recurrence.FormatLocal(local))
		}
		return o.Name(), nil
	}
	return "", refuse("unknown", "The series does not occur at {occurrence}; see its occurrences.",
		recurrence.FormatLocal(local))
}

// parseSchedule parses a rule that was checked when it was stored.
func parseSchedule(s post.Series) (rule recurrence.Rule, starts time.Time, zone *time.Location, err error) {
	if rule, err = recurrence.Parse(s.Rule); err != nil {
		return rule, starts, nil, fmt.Errorf("series %s: %w", s.ID, err)
	}
	if starts, err = recurrence.ParseLocal(s.Starts); err != nil {
		return rule, starts, nil, fmt.Errorf("series %s: %w", s.ID, err)
	}
	zone, err = timezone.Load(s.TimeZone)
	return rule, starts, zone, err
}
