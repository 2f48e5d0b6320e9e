package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/retry"
	"dateline/internal/publishing/post"
)

const (
	// streamRest is the minimum time between two reads: notifications arrive for every
	// published post of every workspace.
	streamRest = 100 * time.Millisecond
	// streamSettle is the delay before reading again events that wait for an earlier
	// transaction; doubled each time.
	streamSettle = 20 * time.Millisecond
)

// WorkspaceEvents streams events of the workspace from now on, or after the client's
// Last-Event-ID.
func (s *EventHandler) WorkspaceEvents(
	ctx context.Context, r spec.WorkspaceEventsRequestObject,
) (spec.WorkspaceEventsResponseObject, error) {
	e := workspaceStream{ctx: ctx, events: s, filter: post.EventFilter{
		WorkspaceID: principal(ctx).WorkspaceID, AccountID: r.Params.Account,
	}}
	if r.Params.Type != nil {
		e.filter.Types = *r.Params.Type
	}
	var err error
	if r.Params.LastEventID != nil {
		e.after, err = parseEventCursor(*r.Params.LastEventID)
	} else {
		e.after, err = s.Store.LatestEventCursor(ctx)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

func parseEventCursor(text string) (p post.EventCursor, err error) {
	tx, id, _ := strings.Cut(text, "-")
	if p.Tx, err = strconv.ParseUint(tx, 10, 64); err == nil {
		p.ID, err = strconv.ParseInt(id, 10, 64)
	}
	if err != nil {
		return p, apperr.InvalidFields(apperr.FieldError{
			Field: "Last-Event-ID", Code: "invalid", Message: "Must be the ID of the last received event.",
		})
	}
	return p, nil
}

func formatEventCursor(p post.EventCursor) string {
	return strconv.FormatUint(p.Tx, 10) + "-" + strconv.FormatInt(p.ID, 10)
}

type workspaceStream struct {
	ctx    context.Context
	events *EventHandler
	filter post.EventFilter
	after  post.EventCursor
}

// VisitWorkspaceEventsResponse writes events until the client disconnects. An id without
// data updates the client's Last-Event-ID without an event (HTML standard, "event stream
// interpretation"). So a client that reconnects before the first event misses none, and a
// client with a filter does not cause all other events to be read again.
func (e workspaceStream) VisitWorkspaceEventsResponse(w http.ResponseWriter) error {
	flush := begin(w)
	defer endStream(e.ctx, w)
	if _, err := fmt.Fprintf(w, "id: %s\n\n", formatEventCursor(e.after)); err != nil || flush() != nil {
		return nil
	}
	changed := e.events.Events.ListenAll(e.ctx)
	ping := time.NewTicker(streamPing)
	defer ping.Stop()
	settle := streamSettle
	for {
		before := e.after
		more, err := e.write(w)
		if err != nil && e.ctx.Err() == nil {
			e.events.Log.Warn("an event stream was interrupted", "workspace_id", e.filter.WorkspaceID, "error", err)
		}
		if err != nil || flush() != nil {
			return nil // the status is sent; the client reconnects with Last-Event-ID
		}
		if settle = min(settle*2, time.Second); e.after != before || !more {
			settle = streamSettle
		}
		var again <-chan time.Time
		var listen <-chan struct{}
		if more {
			again = time.After(settle)
		} else if retry.Sleep(e.ctx, streamRest) != nil {
			return nil
		} else {
			again, listen = time.After(streamLook), changed
		}
		select {
		case <-e.ctx.Done():
			return nil
		case <-ping.C:
			_, _ = fmt.Fprintf(w, ": ping\nid: %s\n\n", formatEventCursor(e.after))
		case <-listen:
		case <-again:
		}
	}
}

// write sends new events. more means that there are events that cannot be sent yet.
func (e *workspaceStream) write(w io.Writer) (more bool, err error) {
	for {
		events, next, more, err := e.events.Store.WorkspaceEvents(e.ctx, e.filter, e.after, streamBatch)
		if err != nil {
			return false, err
		}
		for _, event := range events {
			raw, err := json.Marshal(eventJSON{
				Type: event.Type, At: event.At, Actor: event.Actor, PostID: event.PostID,
				TargetID: event.TargetID, AccountID: event.AccountID, Data: event.Data,
			})
			if err != nil {
				return false, err
			}
			if _, err := fmt.Fprintf(w, "id: %s\nevent: %s\ndata: %s\n\n", formatEventCursor(event.Cursor), event.Type,
				raw); err != nil {
				return false, err
			}
		}
		if next == e.after || !more {
			e.after = next
			return more, nil
		}
		e.after = next
	}
}
