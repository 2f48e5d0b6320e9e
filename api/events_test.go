package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// event is one server-sent event.
type event struct {
	id, kind, data string
	at             time.Time
}

// stream reads a post's events until the server or ctx ends the stream.
func (s *server) stream(ctx context.Context, id uuid.UUID, after string) <-chan event {
	s.t.Helper()
	return s.follow(ctx, "/api/v1/posts/"+id.String()+"/events", after)
}

// follow reads a stream. In a workspace's stream, an id without data is returned as an
// event without a kind.
func (s *server) follow(ctx context.Context, path, after string) <-chan event {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	s.Must(err)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	answer, err := s.client.Do(r)
	s.Must(err)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" ||
		answer.Header.Get("X-Accel-Buffering") != "no" {
		s.t.Fatalf("the stream began with %s %v", answer.Status, answer.Header)
	}
	events := make(chan event, 100)
	go func() {
		defer close(events)
		defer func() { _ = answer.Body.Close() }()
		var e event
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data = value
			case "":
				if e.kind != "" || e.id != "" {
					e.at = time.Now()
					select {
					case events <- e:
					case <-ctx.Done():
						return
					}
				}
				e = event{}
			}
		}
	}()
	return events
}

func next(t *testing.T, events <-chan event) event {
	t.Helper()
	select {
	case e, open := <-events:
		if !open {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(4 * time.Second):
		t.Fatal("no event came")
	}
	return event{}
}

func kinds(events <-chan event) []string {
	var list []string
	for e := range events {
		list = append(list, e.kind)
	}
	return list
}

func TestPostEvents_EndWithTheFinalState(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	events := s.stream(t.Context(), p.ID, "")
	first := next(t, events)
	if first.kind != post.EventCreated {
		t.Errorf("the stream begins with %+v", first)
	}
	var data struct {
		Type, Actor string
		At          time.Time
		Data        map[string]any
	}
	err := json.Unmarshal([]byte(first.data), &data)
	require.NoError(t, err)
	require.Equal(t, post.EventCreated, data.Type)
	require.Equal(t, s.Owner.Actor(), data.Actor)
	require.False(t, data.At.IsZero())
	require.NotNil(t, data.Data["scheduled_time"])
	c := s.Claim(p)
	s.Bus.Changed(t.Context(), p.ID)
	s.Finish(c, post.TargetPosted)
	s.Bus.Changed(t.Context(), p.ID)
	if got := kinds(events); !slices.Equal(got, []string{post.EventSending, post.EventPosted, post.EventStatus}) {
		t.Errorf("the stream continues with %v", got)
	}
	// A client that connects after the end gets all events and the stream closes.
	if got := kinds(s.stream(t.Context(), p.ID, "")); !slices.Equal(got,
		[]string{post.EventCreated, post.EventSending, post.EventPosted, post.EventStatus}) {
		t.Errorf("afterwards: %v", got)
	}
}

func TestPostEvents_ResumeAfterLastEventID(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	path := "/api/v1/posts/" + p.ID.String()
	s.post(s.send("PATCH", path, object{"content": "Second"}), 200)
	s.post(s.send("PATCH", path, object{"content": "Third"}), 200)
	ctx, leave := context.WithCancel(t.Context())
	events := s.stream(ctx, p.ID, "")
	next(t, events)
	seen := next(t, events)
	leave()
	s.post(s.send("DELETE", path, nil), 200)
	if got := kinds(s.stream(t.Context(), p.ID, seen.id)); !slices.Equal(got,
		[]string{post.EventEdited, post.EventCanceled}) {
		t.Errorf("the stream continues with %v", got)
	}
	if got := kinds(s.stream(t.Context(), p.ID, "9223372036854775807")); len(got) != 0 {
		t.Errorf("after the end: %v", got)
	}
}

func TestPostEvents_ArriveWithinASecond(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	events := s.stream(t.Context(), p.ID, "")
	next(t, events)
	for range 3 {
		before := time.Now()
		s.post(s.send("PATCH", "/api/v1/posts/"+p.ID.String(), object{"content": uuid.NewString()}), 200)
		if e := next(t, events); e.kind != post.EventEdited || e.at.Sub(before) > time.Second {
			t.Errorf("%s came after %s", e.kind, e.at.Sub(before))
		}
	}
	s.post(s.send("DELETE", "/api/v1/posts/"+p.ID.String(), nil), 200)
}

func TestPostEvents_WorkWithoutRedis(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	s.StopRedis()
	events := s.stream(t.Context(), p.ID, "")
	if e := next(t, events); e.kind != post.EventCreated {
		t.Errorf("the stream begins with %+v", e)
	}
	if _, err := s.Scheduler.Cancel(t.Context(),
		post.Guard{WorkspaceID: s.Workspace.ID, PostID: p.ID, Actor: s.Owner.Actor()}); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(8 * time.Second) // the stream polls every five seconds
	select {
	case e := <-events:
		if e.kind != post.EventCanceled {
			t.Errorf("got %+v", e)
		}
	case <-deadline:
		t.Error("the cancellation never came")
	}
}

func TestPostEvents_SendLongTimelines(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule(func(d *scheduling.Draft) { d.Content = "Much edited" })
	s.Exec("insert into post_events (post_id, workspace_id, type, actor) select $1, $2, 'edited', 'dateline' from "+
		"generate_series(1, 450)", p.ID, s.Workspace.ID)
	s.post(s.send("DELETE", "/api/v1/posts/"+p.ID.String(), nil), 200)
	if got := kinds(s.stream(t.Context(), p.ID, "")); len(got) != 452 || got[451] != post.EventCanceled {
		t.Errorf("%d events", len(got))
	}
}
