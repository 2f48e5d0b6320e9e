package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

const allEvents = "/api/v1/events"

// body is the data of a workspace event.
type body struct {
	Type      string    `json:"type"`
	PostID    uuid.UUID `json:"post_id"`
	TargetID  uuid.UUID `json:"target_id"`
	AccountID uuid.UUID `json:"account_id"`
	Actor     string    `json:"actor"`
	Data      map[string]any
}

func (s *server) read(e event) (b body) {
	s.t.Helper()
	s.Must(json.Unmarshal([]byte(e.data), &b))
	return b
}

// begin returns a stream's events after its initial id.
func (s *server) begin(ctx context.Context, path, after string) <-chan event {
	s.t.Helper()
	events := s.follow(ctx, path, after)
	if e := next(s.t, events); e.kind != "" || e.id == "" || (after != "" && e.id != after) {
		s.t.Fatalf("the stream begins with %+v", e)
	}
	return events
}

func TestWorkspaceEvents_ShowPostsAndAccounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	harbour := s.Connect("desk")
	old := s.Schedule()
	events := s.begin(t.Context(), allEvents, "")
	p := s.Schedule()
	e := next(t, events)
	if s.read(e).PostID == old.ID { // a stream may begin a moment before it was opened
		e = next(t, events)
	}
	if e.kind != post.EventCreated || s.read(e).PostID != p.ID || s.read(e).Actor != s.Owner.Actor() {
		t.Errorf("first event: %+v", e)
	}
	c := s.Claim(p)
	s.Bus.Changed(t.Context(), p.ID)
	s.Finish(c, post.TargetPosted)
	s.Bus.Changed(t.Context(), p.ID)
	for _, want := range []string{post.EventSending, post.EventPosted} {
		if e := next(t, events); e.kind != want || s.read(e).TargetID != c.TargetID || s.read(e).PostID != p.ID {
			t.Errorf("want %s, got %+v", want, e)
		}
	}
	if e := next(t, events); e.kind != post.EventStatus {
		t.Errorf("got %+v", e)
	}
	// Several activities find out at once that a token is invalid.
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { s.Refuse(harbour.ID) })
	}
	all.Wait()
	s.Bus.Announce()
	if e := next(t, events); e.kind != post.EventNeedsReconnect || s.read(e).AccountID != harbour.ID ||
		s.read(e).PostID != uuid.Nil {
		t.Errorf("got %+v", e)
	}
	s.post(s.send("DELETE", "/api/v1/posts/"+old.ID.String(), nil), 200)
	if e := next(t, events); e.kind != post.EventCanceled || s.read(e).PostID != old.ID {
		t.Errorf("got %+v", e)
	}
}

func TestWorkspaceEvents_Filter(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, second := s.Connect("desk"), s.Connect("sports")
	canceled := s.begin(t.Context(), allEvents+"?type=canceled&type=edited", "")
	ofSecond := s.begin(t.Context(), allEvents+"?account="+second.ID.String(), "")
	on := func(a account.Account) post.Post {
		return s.Schedule(func(d *scheduling.Draft) { d.Accounts = []string{a.ID.String()} })
	}
	one, two := on(first), on(second)
	c := s.Claim(two)
	s.Finish(c, post.TargetFailed)
	s.Refuse(first.ID)
	s.Refuse(second.ID)
	s.post(s.send("DELETE", "/api/v1/posts/"+one.ID.String(), nil), 200)
	if e := next(t, canceled); e.kind != post.EventCanceled || s.read(e).PostID != one.ID {
		t.Errorf("filtered by type: %+v", e)
	}
	for _, want := range []string{
		post.EventCreated, post.EventSending, post.EventFailed, post.EventStatus,
		post.EventNeedsReconnect,
	} {
		e := next(t, ofSecond)
		if b := s.read(e); e.kind != want || (b.PostID != two.ID && b.AccountID != second.ID) {
			t.Errorf("want %s of the second account, got %+v", want, e)
		}
	}
}

func TestWorkspaceEvents_AreIsolated(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	other, _, token := s.Found("Elsewhere")
	events := s.begin(t.Context(), allEvents, "")
	s.Exec("insert into post_events (workspace_id, type, actor) values ($1, 'needs_reconnect', 'dateline')", other.ID)
	p := s.Schedule()
	if e := next(t, events); s.read(e).PostID != p.ID {
		t.Errorf("got %+v", e)
	}
	if a := s.send("GET", allEvents, nil, "Authorization",
		"Bearer "+token+"x"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("wrong token: got %s", a.Status)
	}
}

func TestWorkspaceEvents_RejectInvalidParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, c := range []struct{ query, last, field string }{
		{"?account=desk", "", "account"},
		{"?type=Drop%20table", "", "type"},
		{"?type=", "", "type"},
		{"", "5", "Last-Event-ID"},
		{"", "5-x", "Last-Event-ID"},
		{"", "99999999999999999999-1", "Last-Event-ID"},
		{"", "1-9999999999999999999", "Last-Event-ID"},
	} {
		a := s.send("GET", allEvents+c.query, nil, "Last-Event-ID", c.last)
		if a.StatusCode/100 != 4 {
			t.Fatalf("%+v: %s", c, a.Status)
		}
		s.refused(a, a.StatusCode, "invalid_request", c.field)
	}
}

// Ids are assigned before transactions commit. A stream ordered by id alone would skip
// the first event, which commits last.
func TestWorkspaceEvents_WaitForLongTransactions(t *testing.T) {
	t.Parallel()
	s := start(t)
	events := s.begin(t.Context(), allEvents, "")
	slow := s.transaction()
	note := func(tx pgx.Tx, kind string) {
		_, err := tx.Exec(t.Context(),
			"insert into post_events (workspace_id, type, actor) values ($1, $2, 'dateline')", s.Workspace.ID, kind)
		s.Must(err)
	}
	note(slow, "slow")
	quick := s.transaction()
	note(quick, "quick")
	s.Must(quick.Commit(t.Context()))
	s.Bus.Announce()
	select {
	case e := <-events:
		t.Fatalf("sent while an earlier transaction runs: %+v", e)
	case <-time.After(500 * time.Millisecond):
	}
	note(slow, "slow too")
	s.Must(slow.Commit(t.Context()))
	for _, want := range []string{"slow", "slow too", "quick"} {
		if e := next(t, events); e.kind != want {
			t.Errorf("want %s, got %+v", want, e)
		}
	}
}

func (s *server) transaction() pgx.Tx {
	s.t.Helper()
	c, err := pgx.Connect(s.t.Context(), s.DatabaseURL)
	s.Must(err)
	s.t.Cleanup(func() { _ = c.Close(context.Background()) })
	tx, err := c.Begin(s.t.Context())
	s.Must(err)
	return tx
}

// Concurrent writers commit in another order than they began, while a reader
// disconnects and resumes.
func TestWorkspaceEvents_ResumeExactly(t *testing.T) {
	t.Parallel()
	s := start(t)
	const writers, each = 8, 40
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	first := s.follow(ctx, allEvents, "")
	last := next(t, first).id
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			c, err := pgx.Connect(ctx, s.DatabaseURL)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close(context.Background()) }()
			for n := range each {
				err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
					_, err := tx.Exec(ctx, "insert into post_events (workspace_id, type, actor) values ($1, $2, "+
						"'dateline')", s.Workspace.ID, fmt.Sprintf("w%d-%d", w, n))
					time.Sleep(time.Duration(rand.IntN(15)) * time.Millisecond)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				s.Bus.Announce()
			}
		})
	}
	var seen []string
	for len(seen) < writers*each && ctx.Err() == nil {
		visit, leave := context.WithCancel(ctx)
		events := s.begin(visit, allEvents, last)
		for range 1 + rand.IntN(30) {
			if len(seen) == writers*each {
				break
			}
			e, open := <-events
			if !open {
				t.Fatalf("the stream ended after %d events", len(seen))
			}
			if last = e.id; e.kind != "" {
				seen = append(seen, e.kind)
			}
		}
		leave()
	}
	all.Wait()
	if unique := slices.Compact(slices.Sorted(slices.Values(seen))); len(seen) != writers*each ||
		len(unique) != len(seen) {
		t.Errorf("%d events, %d different ones, want %d", len(seen), len(unique), writers*each)
	}
	for w := range writers {
		for n := range each - 1 {
			if slices.Index(seen, fmt.Sprintf("w%d-%d", w, n)) > slices.Index(seen, fmt.Sprintf("w%d-%d", w, n+1)) {
				t.Errorf("writer %d's events %d and %d are in the wrong order", w, n, n+1)
			}
		}
	}
}

// The database moves to a server that has executed fewer transactions.
func TestWorkspaceEvents_ResumeAfterARestore(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Exec("insert into post_events (workspace_id, type, actor, tx) values ($1, 'posted', 'dateline', '9000000000'), "+
		"($1, 'failed', 'dateline', '9000000001')", s.Workspace.ID)
	s.Exec("update webhook_cursor set tx = '9000000000', event_id = 1")
	if restored, err := s.Store.Notify.Webhooks.AlignCursor(t.Context()); !restored || err != nil {
		t.Fatalf("not detected: %v", err)
	}
	if restored, err := s.Store.Notify.Webhooks.AlignCursor(t.Context()); restored || err != nil {
		t.Errorf("detected twice: %v", err)
	}
	events := s.begin(t.Context(), allEvents, "9000000000-1")
	s.Exec("insert into post_events (workspace_id, type, actor) values ($1, 'late', 'dateline')", s.Workspace.ID)
	s.Bus.Announce()
	for _, want := range []string{"failed", "late"} {
		if e := next(t, events); e.kind != want {
			t.Errorf("want %s, got %+v", want, e)
		}
	}
}
