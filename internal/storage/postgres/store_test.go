package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// newsroom is a database with a workspace, its owner and one account.
type newsroom struct {
	*postgres.Store
	t         *testing.T
	url       string
	workspace workspace.Workspace
	user      uuid.UUID
	token     string
	account   account.Account
}

func open(t *testing.T) *newsroom {
	t.Helper()
	s, url := storetest.OpenWithURL(t)
	n := &newsroom{Store: s, t: t, url: url}
	n.workspace, n.user, n.token = n.found("Desk")
	n.account = n.connect("desk")
	return n
}

func (n *newsroom) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// found creates another workspace.
func (n *newsroom) found(name string) (w workspace.Workspace, owner uuid.UUID, token string) {
	n.t.Helper()
	w = workspace.Workspace{ID: newID(), Name: name, TimeZone: "Asia/Ho_Chi_Minh"}
	owner = newID()
	t, plain := workspace.NewToken(w.ID, owner, "cli")
	n.must(n.Found(n.t.Context(), w, "Owner of "+name, t))
	return w, owner, plain
}

func (n *newsroom) connect(name string) account.Account {
	n.t.Helper()
	a, err := n.SaveAccount(n.t.Context(), account.Account{
		WorkspaceID: n.workspace.ID, Network: "mastodon",
		BaseURL:  "https://social.example",
		RemoteID: name, Handle: "@" + name + "@social.example", Name: name, Scopes: []string{"read", "write"},
	}, sealed)
	n.must(err)
	return a
}

func sealed(id uuid.UUID) ([]byte, error) { return []byte("sealed for " + id.String()), nil }

// draft is a post for CreatePost, due in an hour.
func (n *newsroom) draft(change ...func(*post.NewPost)) post.NewPost {
	d := post.NewPost{AccountIDs: []uuid.UUID{n.account.ID}, Actor: "user:" + n.user.String(), Post: post.Post{
		ID: newID(), WorkspaceID: n.workspace.ID, UserID: n.user, Content: "Hello", TimeZone: "UTC",
		ScheduledTime: time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC(),
	}}
	for _, f := range change {
		f(&d)
	}
	return d
}

func (n *newsroom) create(change ...func(*post.NewPost)) post.Post {
	n.t.Helper()
	p, _, err := n.CreatePost(n.t.Context(), n.draft(change...))
	n.must(err)
	return p
}

func (n *newsroom) guard(p post.Post) post.Guard {
	return post.Guard{WorkspaceID: n.workspace.ID, PostID: p.ID, Actor: "user:" + n.user.String()}
}

// call is the call that a publisher records for a post's target.
func call(p post.Post, target, epoch int) post.Call {
	sum := sha256.Sum256([]byte(p.Content))
	return post.Call{
		OperationID: newID(), PostID: p.ID, TargetID: p.Targets[target].ID, Revision: p.Revision,
		Epoch:          epoch,
		IdempotencyKey: newID().String(), Fingerprint: sum[:],
	}
}

// claim claims an unclaimed target.
func (n *newsroom) claim(p post.Post, target, epoch int, lease time.Duration) post.Call {
	n.t.Helper()
	claimed, ok, err := n.Claim(n.t.Context(), call(p, target, epoch), lease)
	n.must(err)
	if !ok {
		n.t.Fatalf("the claim of target %d of %s was refused", target, p.ID)
	}
	return claimed
}

// outcome is the success of a call.
func outcome(c post.Call, remoteID string) post.Outcome {
	now := time.Now().UTC()
	return post.Outcome{
		PostID: c.PostID, TargetID: c.TargetID, Fence: c.Fence, Revision: c.Revision,
		OperationID: c.OperationID,
		Status:      post.TargetPosted, Operation: post.CallAccepted, Attempts: 1, RemoteID: remoteID,
		RemoteURL: "https://social.example/@desk/" + remoteID, PostedAt: &now, Event: post.EventPosted,
	}
}

func failure(c post.Call) post.Outcome {
	return post.Outcome{
		PostID: c.PostID, TargetID: c.TargetID, Fence: c.Fence, Revision: c.Revision,
		OperationID: c.OperationID,
		Status:      post.TargetFailed, Operation: post.CallFailed, Attempts: 1, ErrorClass: "rejected",
		ErrorCode: "too_long",
		Error:     "The text is too long.", Event: post.EventFailed,
	}
}

// finish records an outcome that must be accepted.
func (n *newsroom) finish(o post.Outcome) post.Post {
	n.t.Helper()
	p, ok, err := n.RecordOutcome(n.t.Context(), o)
	n.must(err)
	if !ok {
		n.t.Fatalf("the outcome %s was refused", o.Event)
	}
	return p
}

// exec changes rows without the store, for example to simulate the passage of time.
func (n *newsroom) exec(sql string, args ...any) {
	n.t.Helper()
	c, err := pgx.Connect(n.t.Context(), n.url)
	n.must(err)
	defer func() { _ = c.Close(n.t.Context()) }()
	_, err = c.Exec(n.t.Context(), sql, args...)
	n.must(err)
}

func (n *newsroom) query(dest any, sql string, args ...any) {
	n.t.Helper()
	c, err := pgx.Connect(n.t.Context(), n.url)
	n.must(err)
	defer func() { _ = c.Close(n.t.Context()) }()
	n.must(c.QueryRow(n.t.Context(), sql, args...).Scan(dest))
}

// events lists the types of a post's events.
func (n *newsroom) events(p post.Post) []string {
	n.t.Helper()
	events, err := n.Events(n.t.Context(), p.ID, 0, 1000)
	n.must(err)
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return types
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// refused returns the code and kind of a refusal; it fails on any other error.
func refused(t *testing.T, err error) *apperr.Error {
	t.Helper()
	var e *apperr.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e
}

// begin opens a transaction on a connection of its own.
func (n *newsroom) begin() pgx.Tx {
	n.t.Helper()
	c, err := pgx.Connect(n.t.Context(), n.url)
	n.must(err)
	n.t.Cleanup(func() { _ = c.Close(context.Background()) })
	tx, err := c.Begin(n.t.Context())
	n.must(err)
	return tx
}
