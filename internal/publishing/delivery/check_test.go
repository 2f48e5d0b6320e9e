package delivery_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// faults returns the state of the network's faults.
func (b *bench) faults() (list []fake.Fault) {
	b.t.Helper()
	res, err := http.Get(b.fake.URL() + "/__faults")
	b.must(err)
	defer func() { _ = res.Body.Close() }()
	b.must(json.NewDecoder(res.Body).Decode(&list))
	return list
}

func (b *bench) read(id uuid.UUID) post.Post {
	b.t.Helper()
	p, err := b.store.Publishing.Posts.Post(b.t.Context(), id)
	b.must(err)
	return p
}

// published lists the posts that exist at the network.
func (b *bench) published() []fake.Post {
	return slices.DeleteFunc(b.fake.Posts(), func(p fake.Post) bool { return p.Deleted })
}

// ledger lists the states of a target's calls in order, as "epoch:state".
func (b *bench) ledger(target uuid.UUID) []string {
	b.t.Helper()
	db, err := pgx.Connect(b.t.Context(), b.url)
	b.must(err)
	defer func() { _ = db.Close(context.Background()) }()
	rows, err := db.Query(b.t.Context(),
		"select epoch || ':' || state::text from operations where target_id = $1 order by revision, epoch", target)
	b.must(err)
	states, err := pgx.CollectRows(rows, pgx.RowTo[string])
	b.must(err)
	return states
}

// timeline lists the types of a post's events.
func (b *bench) timeline(id uuid.UUID) []string {
	b.t.Helper()
	events, err := b.store.Publishing.Posts.Events(b.t.Context(), id, 0, 200)
	b.must(err)
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return types
}

// want is the expected final state of a post.
type want struct {
	status   post.TargetStatus
	posts    int // posts that exist at the network
	ledger   []string
	timeline []string
	attempts int
	class    string
	repeats  int // additional calls to which the network responded with the same post
}

func (b *bench) check(p post.Post, w want) post.Post {
	b.t.Helper()
	now := b.read(p.ID)
	target := now.Targets[0]
	if target.Status != w.status || target.Attempts != w.attempts || target.ErrorClass != w.class {
		b.t.Errorf("the target is %s after %d tries with error %q %q, want %s, %d, %q",
			target.Status, target.Attempts, target.ErrorClass, target.ErrorMessage, w.status, w.attempts, w.class)
	}
	posts := b.published()
	if len(posts) != w.posts {
		b.t.Errorf("the network has %d posts, want %d", len(posts), w.posts)
	}
	if w.status == post.TargetPosted {
		switch {
		case len(posts) == 0 || target.PostedAt == nil:
			b.t.Errorf("posted at %v, with %d posts at the network", target.PostedAt, len(posts))
		case target.RemoteID != posts[0].ID || target.RemoteURL != posts[0].URL || posts[0].Text != now.Content:
			b.t.Errorf("recorded %q %q for %+v", target.RemoteID, target.RemoteURL, posts)
		}
	}
	// A network without idempotency keys would have as many posts as calls.
	for _, there := range posts {
		if there.Requests != 1+w.repeats {
			b.t.Errorf("got %d calls for one post", there.Requests)
		}
	}
	if target.ClaimedUntil != nil {
		b.t.Error("the claim was not released")
	}
	if got := b.ledger(target.ID); w.ledger != nil && !slices.Equal(got, w.ledger) {
		b.t.Errorf("ledger %v, want %v", got, w.ledger)
	}
	if got := b.timeline(p.ID); w.timeline != nil && !slices.Equal(got, w.timeline) {
		b.t.Errorf("timeline %v, want %v", got, w.timeline)
	}
	b.wantDiscreet()
	return now
}

// wantDiscreet checks that neither token nor content reached Temporal, and that the log
// has no token.
func (b *bench) wantDiscreet() {
	b.t.Helper()
	for _, e := range b.errors {
		if strings.Contains(e, b.token) || strings.Contains(e, text) {
			b.t.Errorf("Temporal got %q", e)
		}
	}
	if strings.Contains(b.log.text(), b.token) {
		b.t.Error("the log contains the token")
	}
}

func lastEvent(t *testing.T, b *bench, p post.Post, kind string) map[string]any {
	t.Helper()
	events, err := b.store.Publishing.Posts.Events(t.Context(), p.ID, 0, 200)
	b.must(err)
	for _, e := range slices.Backward(events) {
		if e.Type == kind {
			data := map[string]any{}
			b.must(json.Unmarshal(e.Data, &data))
			return data
		}
	}
	t.Fatalf("the timeline has no %s", kind)
	return nil
}
