package api

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/timeline"
)

// inMilliseconds is RFC 3339 as the timeline shows it.
const inMilliseconds = "2006-01-02T15:04:05.000Z07:00"

// PostTimeline reads a post's timeline.
func (s *EventHandler) PostTimeline(
	ctx context.Context, r spec.PostTimelineRequestObject,
) (spec.PostTimelineResponseObject, error) {
	p, err := s.Store.PostInWorkspace(ctx, principal(ctx).WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	events, err := s.allEvents(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	entries := timeline.Render(timeline.English(), p, events)
	if r.Params.Format != nil && *r.Params.Format == spec.PostTimelineParamsFormat("text") {
		var lines strings.Builder
		for _, e := range entries {
			lines.WriteString(e.At.Format(inMilliseconds) + "  " + e.Text + "\n")
		}
		return spec.PostTimeline200TextResponse(lines.String()), nil
	}
	answer := spec.PostTimeline200JSONResponse{
		PostId: p.ID, TimeZone: p.TimeZone, Entries: make([]spec.TimelineEntry, len(entries)),
	}
	for i, e := range entries {
		answer.Entries[i] = spec.TimelineEntry{
			At: e.At.Format(inMilliseconds), Type: e.Type, Actor: e.Actor,
			Text: e.Text, Code: e.Code, Params: spec.MessageParams(e.Params), Data: e.Data,
		}
		if e.Target != nil {
			answer.Entries[i].Target = &spec.TimelineTarget{
				Id: e.Target.ID, Network: e.Target.Network, Handle: e.Target.Handle,
			}
		}
	}
	return answer, nil
}

func (s *EventHandler) allEvents(ctx context.Context, id uuid.UUID) (all []post.Event, err error) {
	for after := int64(0); ; {
		some, err := s.Store.Events(ctx, id, after, streamBatch)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if len(some) < streamBatch {
			return all, nil
		}
		after = some[len(some)-1].ID
	}
}
