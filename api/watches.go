package api

import (
	"context"
	"strconv"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/news/watch"
)

// WatchHandler serves watched pages.
type WatchHandler struct{ Watches *watch.Service }

// ListWatches lists watches.
func (s *WatchHandler) ListWatches(
	ctx context.Context, _ spec.ListWatchesRequestObject,
) (spec.ListWatchesResponseObject, error) {
	all, err := s.Watches.List(ctx, principal(ctx))
	out := spec.ListWatches200JSONResponse{Watches: []spec.Watch{}}
	for _, w := range all {
		out.Watches = append(out.Watches, watchJSON(w))
	}
	return out, err
}

// CreateWatch creates a watch.
func (s *WatchHandler) CreateWatch(
	ctx context.Context, r spec.CreateWatchRequestObject,
) (spec.CreateWatchResponseObject, error) {
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "watch", r.Body)
	if err != nil {
		return nil, err
	}
	b := r.Body
	w, replayed, err := s.Watches.Create(ctx, principal(ctx),
		watch.Watch{
			Name: b.Name, URL: b.Url, Selector: optional.Value(b.Selector),
			IntervalMinutes: optional.Value(b.IntervalMinutes),
		},
		key)
	location, tag := "/api/v1/watches/"+w.ID.String(), watchTag(w)
	return spec.CreateWatch201JSONResponse{
		Body: watchJSON(w),
		Headers: spec.CreateWatch201ResponseHeaders{
			Location: &location, ETag: &tag,
			IdempotentReplayed: ifReplayed(replayed),
		},
	}, err
}

// GetWatch gets a watch.
func (s *WatchHandler) GetWatch(
	ctx context.Context, r spec.GetWatchRequestObject,
) (spec.GetWatchResponseObject, error) {
	answer, err := oneWatch(s.Watches.Get(ctx, principal(ctx), r.Id))
	return spec.GetWatch200JSONResponse{OneWatchJSONResponse: answer}, err
}

// UpdateWatch updates a watch.
func (s *WatchHandler) UpdateWatch(
	ctx context.Context, r spec.UpdateWatchRequestObject,
) (spec.UpdateWatchResponseObject, error) {
	version, err := versionOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	b := r.Body
	answer, err := oneWatch(s.Watches.Update(ctx, principal(ctx), r.Id, version, func(w *watch.Watch) {
		change(&w.Name, b.Name)
		change(&w.URL, b.Url)
		change(&w.Selector, b.Selector)
		change(&w.IntervalMinutes, b.IntervalMinutes)
		change(&w.IsPaused, b.Paused)
	}))
	return spec.UpdateWatch200JSONResponse{OneWatchJSONResponse: answer}, err
}

// DeleteWatch deletes a watch.
func (s *WatchHandler) DeleteWatch(
	ctx context.Context, r spec.DeleteWatchRequestObject,
) (spec.DeleteWatchResponseObject, error) {
	return spec.DeleteWatch204Response{}, s.Watches.Delete(ctx, principal(ctx), r.Id)
}

// CheckWatch makes the next check due.
func (s *WatchHandler) CheckWatch(
	ctx context.Context, r spec.CheckWatchRequestObject,
) (spec.CheckWatchResponseObject, error) {
	answer, err := oneWatch(s.Watches.CheckNow(ctx, principal(ctx), r.Id))
	return spec.CheckWatch200JSONResponse{OneWatchJSONResponse: answer}, err
}

// ListWatchChanges lists the changes of a watch.
func (s *WatchHandler) ListWatchChanges(
	ctx context.Context, r spec.ListWatchChangesRequestObject,
) (spec.ListWatchChangesResponseObject, error) {
	limit := limitOf(r.Params.Limit)
	all, err := s.Watches.Changes(ctx, principal(ctx), r.Id, optional.Value(r.Params.Cursor), limit+1)
	if err != nil {
		return nil, err
	}
	out := spec.ListWatchChanges200JSONResponse{Changes: []spec.WatchChange{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = &all[limit-1].ID
	}
	for _, c := range all {
		out.Changes = append(out.Changes, spec.WatchChange{
			Id: c.ID, FoundAt: c.FoundAt, Added: c.Added, Removed: c.Removed,
		})
	}
	return out, nil
}

func oneWatch(w watch.Watch, err error) (spec.OneWatchJSONResponse, error) {
	tag := watchTag(w)
	return spec.OneWatchJSONResponse{Body: watchJSON(w), Headers: spec.OneWatchResponseHeaders{ETag: &tag}}, err
}

func watchTag(w watch.Watch) string { return `"` + strconv.FormatInt(w.Version, 10) + `"` }

func watchJSON(w watch.Watch) spec.Watch {
	out := spec.Watch{
		Id: w.ID, Name: w.Name, Url: w.URL, Selector: w.Selector, IntervalMinutes: w.IntervalMinutes,
		Paused: w.IsPaused, Problem: optional.Of(string(w.Problem)),
		CheckedAt: w.CheckedAt, ChangedAt: w.ChangedAt, ChangeCount: w.ChangeCount, Version: w.Version,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
	if w.Lines != nil {
		out.Lines = &w.Lines
	}
	if !w.IsPaused {
		out.NextCheckAt = &w.DueAt
	}
	return out
}
