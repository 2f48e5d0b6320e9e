package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// EventHandler serves the events of posts.
type EventHandler struct {
	Store interface {
		PostInWorkspace(ctx context.Context, workspace, id uuid.UUID) (post.Post, error)
		EventStore
	}
	Events Live
	Log    *slog.Logger
}

const (
	streamBatch = 200
	streamPing  = 15 * time.Second // keeps proxies from closing the stream
	streamLook  = 5 * time.Second  // finds events whose notification was lost
)

// PostEvents streams events of a post (server-sent events, see
// https://html.spec.whatwg.org/multipage/server-sent-events.html).
func (s *EventHandler) PostEvents(
	ctx context.Context, r spec.PostEventsRequestObject,
) (spec.PostEventsResponseObject, error) {
	p, err := s.Store.PostInWorkspace(ctx, principal(ctx).WorkspaceID, r.Id)
	if err != nil {
		return nil, err
	}
	after := int64(0)
	if r.Params.LastEventID != nil {
		if after, err = strconv.ParseInt(*r.Params.LastEventID, 10, 64); err != nil {
			return nil, apperr.InvalidFields(apperr.FieldError{
				Field: "Last-Event-ID", Code: "invalid", Message: "Must be the ID of the last received event.",
			})
		}
	}
	return eventStream{ctx: ctx, events: s, workspace: p.WorkspaceID, post: p.ID, after: after}, nil
}

type eventStream struct {
	ctx             context.Context
	events          *EventHandler
	workspace, post uuid.UUID
	after           int64
}

// begin sends the headers of a stream.
func begin(w http.ResponseWriter) (flush func() error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx must not buffer events
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, ":\n\n") // a comment: headers without a body may be kept back, as by compressed
	return http.NewResponseController(w).Flush
}

// VisitPostEventsResponse writes events until the post is final or the client
// disconnects.
func (e eventStream) VisitPostEventsResponse(w http.ResponseWriter) error {
	flush := begin(w)
	defer endStream(e.ctx, w)
	if err := flush(); err != nil {
		return nil
	}
	// Listen before the first read, so that no event is missed.
	changed := e.events.Events.Listen(e.ctx, e.post)
	ping, look := time.NewTicker(streamPing), time.NewTicker(streamLook)
	defer ping.Stop()
	defer look.Stop()
	for {
		final, err := e.write(w)
		if err != nil || flush() != nil || final {
			return nil // the status is sent; the client reconnects with Last-Event-ID
		}
		select {
		case <-e.ctx.Done():
			return nil
		case <-ping.C:
			_, _ = fmt.Fprint(w, ": ping\n\n")
		case <-changed:
		case <-look.C:
		}
	}
}

// write sends new events and reports whether the post is final and all events are sent.
func (e *eventStream) write(w http.ResponseWriter) (final bool, err error) {
	p, err := e.events.Store.PostInWorkspace(e.ctx, e.workspace, e.post)
	if err != nil {
		return false, err
	}
	for {
		events, err := e.events.Store.Events(e.ctx, e.post, e.after, streamBatch)
		if err != nil {
			return false, err
		}
		for _, event := range events {
			raw, err := json.Marshal(eventJSON{
				Type: event.Type, At: event.At, Actor: event.Actor, TargetID: event.TargetID, Data: event.Data,
			})
			if err != nil {
				return false, err
			}
			if _, err := fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", event.ID, event.Type, raw); err != nil {
				return false, err
			}
			e.after = event.ID
		}
		if len(events) < streamBatch {
			return p.Status.IsFinal(), nil
		}
	}
}

type eventJSON struct {
	Type      string          `json:"type"`
	At        time.Time       `json:"at"`
	Actor     string          `json:"actor"`
	PostID    *uuid.UUID      `json:"post_id,omitempty"` // in streams of a workspace
	TargetID  *uuid.UUID      `json:"target_id,omitempty"`
	AccountID *uuid.UUID      `json:"account_id,omitempty"`
	Data      json.RawMessage `json:"data"`
}
