package api

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// SeriesHandler serves recurring posts.
type SeriesHandler struct {
	Store     SeriesStore
	Scheduler SeriesScheduler
	PostChanges
}

// CreateSeries creates a series.
func (s *SeriesHandler) CreateSeries(
	ctx context.Context, r spec.CreateSeriesRequestObject,
) (spec.CreateSeriesResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "series", r.Body)
	if err != nil {
		return nil, err
	}
	made, changed, replayed, err := s.Scheduler.CreateSeries(ctx, principal(ctx),
		scheduling.SeriesDraft{
			Rule: r.Body.Rule, Starts: r.Body.Starts,
			TimeZone: optional.Value(r.Body.TimeZone), Template: templateOf(&r.Body.Template),
		}, key)
	if err != nil {
		return nil, err
	}
	s.nudgeAll(ctx, changed)
	body, err := s.seriesJSON(ctx, made)
	answer := spec.CreateSeries201JSONResponse{Body: body}
	location, tag := "/api/v1/series/"+made.ID.String(), seriesTag(made)
	answer.Headers.Location, answer.Headers.ETag = &location, &tag
	if replayed {
		yes := "true"
		answer.Headers.IdempotentReplayed = &yes
	}
	return answer, err
}

// ListSeries lists series, newest first.
func (s *SeriesHandler) ListSeries(
	ctx context.Context, r spec.ListSeriesRequestObject,
) (spec.ListSeriesResponseObject, error) {
	f := post.SeriesFilter{WorkspaceID: principal(ctx).WorkspaceID, Limit: defaultPage}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	for _, status := range optional.Value(r.Params.Status) {
		f.Statuses = append(f.Statuses, string(status))
	}
	if text := optional.Value(r.Params.Cursor); text != "" {
		var err error
		if f.BeforeTime, f.BeforeID, err = readCursor(text); err != nil {
			return nil, err
		}
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	list, err := s.Store.ListSeries(ctx, f)
	if err != nil {
		return nil, err
	}
	page := spec.ListSeries200JSONResponse{Series: []spec.Series{}}
	if len(list) > limit {
		list = list[:limit]
		next := cursor(list[limit-1].CreatedAt, list[limit-1].ID)
		page.NextCursor = &next
	}
	for _, one := range list {
		body, err := s.seriesJSON(ctx, one)
		if err != nil {
			return nil, err
		}
		page.Series = append(page.Series, body)
	}
	return page, nil
}

// GetSeries returns a series.
func (s *SeriesHandler) GetSeries(
	ctx context.Context, r spec.GetSeriesRequestObject,
) (spec.GetSeriesResponseObject, error) {
	found, err := s.Store.SeriesInWorkspace(ctx, principal(ctx).WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	answer, err := s.seriesAnswer(ctx, found, nil)
	return spec.GetSeries200JSONResponse{OneSeriesJSONResponse: answer}, err
}

// EditSeries changes a series.
func (s *SeriesHandler) EditSeries(
	ctx context.Context, r spec.EditSeriesRequestObject,
) (spec.EditSeriesResponseObject, error) {
	edit := scheduling.SeriesEdit{Rule: r.Body.Rule, Starts: r.Body.Starts, TimeZone: r.Body.TimeZone}
	if r.Body.Template != nil {
		template := templateOf(r.Body.Template)
		edit.Template = &template
	}
	answer, err := s.changeSeries(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Series, []uuid.UUID, error) {
		return s.Scheduler.EditSeries(ctx, principal(ctx), g, edit)
	})
	return spec.EditSeries200JSONResponse{OneSeriesJSONResponse: answer}, err
}

// EndSeries ends a series.
func (s *SeriesHandler) EndSeries(
	ctx context.Context, r spec.EndSeriesRequestObject,
) (spec.EndSeriesResponseObject, error) {
	answer, err := s.changeSeries(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Series, []uuid.UUID, error) {
		return s.Scheduler.EndSeries(ctx, g, optional.Value(r.Params.CancelScheduled))
	})
	return spec.EndSeries200JSONResponse{OneSeriesJSONResponse: answer}, err
}

// PauseSeries pauses a series.
func (s *SeriesHandler) PauseSeries(
	ctx context.Context, r spec.PauseSeriesRequestObject,
) (spec.PauseSeriesResponseObject, error) {
	answer, err := s.changeSeries(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Series, []uuid.UUID, error) {
		return s.Scheduler.SetSeriesPaused(ctx, g, true)
	})
	return spec.PauseSeries200JSONResponse{OneSeriesJSONResponse: answer}, err
}

// ResumeSeries resumes a series.
func (s *SeriesHandler) ResumeSeries(
	ctx context.Context, r spec.ResumeSeriesRequestObject,
) (spec.ResumeSeriesResponseObject, error) {
	answer, err := s.changeSeries(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Series, []uuid.UUID, error) {
		return s.Scheduler.SetSeriesPaused(ctx, g, false)
	})
	return spec.ResumeSeries200JSONResponse{OneSeriesJSONResponse: answer}, err
}

// SkipOccurrence skips an occurrence.
func (s *SeriesHandler) SkipOccurrence(
	ctx context.Context, r spec.SkipOccurrenceRequestObject,
) (spec.SkipOccurrenceResponseObject, error) {
	answer, err := s.changeSeries(ctx, r.Id, nil, func(g post.Guard) (post.Series, []uuid.UUID, error) {
		return s.Scheduler.SetOccurrenceSkipped(ctx, g, r.Body.Occurrence, true)
	})
	return spec.SkipOccurrence200JSONResponse{OneSeriesJSONResponse: answer}, err
}

// UnskipOccurrence restores an occurrence.
func (s *SeriesHandler) UnskipOccurrence(
	ctx context.Context, r spec.UnskipOccurrenceRequestObject,
) (spec.UnskipOccurrenceResponseObject, error) {
	answer, err := s.changeSeries(ctx, r.Id, nil, func(g post.Guard) (post.Series, []uuid.UUID, error) {
		return s.Scheduler.SetOccurrenceSkipped(ctx, g, r.Body.Occurrence, false)
	})
	return spec.UnskipOccurrence200JSONResponse{OneSeriesJSONResponse: answer}, err
}

const defaultOccurrences = 20

// ListOccurrences lists upcoming occurrences of a series.
func (s *SeriesHandler) ListOccurrences(
	ctx context.Context, r spec.ListOccurrencesRequestObject,
) (spec.ListOccurrencesResponseObject, error) {
	found, err := s.Store.SeriesInWorkspace(ctx, principal(ctx).WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	limit := defaultOccurrences
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	list, err := s.Scheduler.UpcomingOccurrences(ctx, found, limit)
	if err != nil {
		return nil, err
	}
	answer := spec.ListOccurrences200JSONResponse{Occurrences: []spec.Occurrence{}}
	zone, err := timezone.Load(found.TimeZone)
	for _, o := range list {
		answer.Occurrences = append(answer.Occurrences, spec.Occurrence{
			Occurrence: o.Name, ScheduledTime: o.At.In(zone), State: o.State, PostId: o.PostID,
		})
	}
	return answer, err
}

func (s *SeriesHandler) changeSeries(
	ctx context.Context, id uuid.UUID, ifMatch *string, do func(post.Guard) (post.Series, []uuid.UUID, error),
) (spec.OneSeriesJSONResponse, error) {
	who := principal(ctx)
	version, err := versionOf(ifMatch)
	if err != nil {
		return spec.OneSeriesJSONResponse{}, err
	}
	changed, posts, err := do(post.Guard{
		WorkspaceID: who.WorkspaceID, PostID: id, IfVersion: version, Actor: who.Actor(), UserID: who.UserID,
		IsAuthor: who.Role == workspace.Author,
	})
	if err != nil {
		return spec.OneSeriesJSONResponse{}, err
	}
	return s.seriesAnswer(ctx, changed, posts)
}

func (s *SeriesHandler) seriesAnswer(
	ctx context.Context, one post.Series, posts []uuid.UUID,
) (spec.OneSeriesJSONResponse, error) {
	s.nudgeAll(ctx, posts)
	body, err := s.seriesJSON(ctx, one)
	tag := seriesTag(one)
	answer := spec.OneSeriesJSONResponse{Body: body}
	answer.Headers.ETag = &tag
	return answer, err
}

func seriesTag(s post.Series) string { return `"` + strconv.FormatInt(s.Version, 10) + `"` }

// notesShown is the number of skipped and missed occurrences that a series shows.
const notesShown = 100

func (s *SeriesHandler) seriesJSON(ctx context.Context, one post.Series) (spec.Series, error) {
	out := spec.Series{
		Id: one.ID, Status: spec.SeriesStatus(one.Status), Rule: one.Rule, Starts: one.Starts,
		TimeZone:  one.TimeZone,
		LastError: optional.Of(one.LastError.Text()), LastErrorAt: one.LastErrorAt, Skipped: []string{},
		Missed:  []spec.MissedOccurrence{},
		Version: one.Version, CreatedAt: one.CreatedAt, UpdatedAt: one.UpdatedAt,
	}
	if len(one.LastError) > 0 {
		notes := notesJSON(one.LastError)
		out.LastErrorNotes = &notes
	}
	if err := json.Unmarshal(one.Template, &out.Template); err != nil {
		return out, err
	}
	skipped, err := s.Store.SkippedOccurrences(ctx, one.ID, notesShown)
	if err != nil {
		return out, err
	}
	missed, err := s.Store.MissedOccurrences(ctx, one.ID, notesShown)
	out.Skipped = append(out.Skipped, skipped...)
	for _, m := range missed {
		out.Missed = append(out.Missed, spec.MissedOccurrence{
			Occurrence: m.Occurrence, Reason: m.Reason.Text(), Notes: notesJSON(m.Reason),
		})
	}
	return out, err
}

func templateOf(t *spec.SeriesTemplate) scheduling.Draft {
	return draftOf(&spec.PostCreate{
		Content: t.Content, Thread: t.Thread, Options: t.Options, Overrides: t.Overrides,
		DropIfLateMinutes: t.DropIfLateMinutes, TrackLinks: t.TrackLinks,
		Attachments: t.Attachments, Accounts: t.Accounts, Language: t.Language,
	})
}
