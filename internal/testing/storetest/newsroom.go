package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres"
)

// Newsroom is a database with a workspace, its owner and one account.
type Newsroom struct {
	*postgres.Store
	T         *testing.T
	URL       string
	Workspace workspace.Workspace
	User      uuid.UUID
	Token     string
	Account   account.Account
}

// OpenNewsroom opens a new database with a newsroom.
func OpenNewsroom(t *testing.T) *Newsroom {
	t.Helper()
	s, url := OpenWithURL(t)
	n := &Newsroom{Store: s, T: t, URL: url}
	n.Workspace, n.User, n.Token = n.Found("Desk")
	n.Account = n.Connect("desk")
	return n
}

// Must fails the test on an error.
func (n *Newsroom) Must(err error) {
	n.T.Helper()
	if err != nil {
		n.T.Fatal(err)
	}
}

// Found creates another workspace.
func (n *Newsroom) Found(name string) (w workspace.Workspace, owner uuid.UUID, token string) {
	n.T.Helper()
	w = workspace.Workspace{ID: NewID(), Name: name, TimeZone: "Asia/Ho_Chi_Minh"}
	owner = NewID()
	t, plain := workspace.NewToken(w.ID, owner, "cli")
	n.Must(n.Identity.Workspaces.Found(n.T.Context(), w, "Owner of "+name, t))
	return w, owner, plain
}

// Connect connects another account of the workspace.
func (n *Newsroom) Connect(name string) account.Account {
	n.T.Helper()
	a, err := n.Publishing.Accounts.SaveAccount(n.T.Context(), account.Account{
		WorkspaceID: n.Workspace.ID, Network: "mastodon",
		BaseURL:  "https://social.example",
		RemoteID: name, Handle: "@" + name + "@social.example", Name: name, Scopes: []string{"read", "write"},
	}, Sealed)
	n.Must(err)
	return a
}

// Sealed stands for the sealed tokens of an account.
func Sealed(id uuid.UUID) ([]byte, error) { return []byte("sealed for " + id.String()), nil }

// Draft is a post for CreatePost, due in an hour.
func (n *Newsroom) Draft(change ...func(*post.NewPost)) post.NewPost {
	d := post.NewPost{AccountIDs: []uuid.UUID{n.Account.ID}, Actor: "user:" + n.User.String(), Post: post.Post{
		ID: NewID(), WorkspaceID: n.Workspace.ID, UserID: n.User, Content: "Hello", TimeZone: "UTC",
		ScheduledTime: time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC(),
	}}
	for _, f := range change {
		f(&d)
	}
	return d
}

// Create stores a draft.
func (n *Newsroom) Create(change ...func(*post.NewPost)) post.Post {
	n.T.Helper()
	p, _, err := n.Publishing.Posts.CreatePost(n.T.Context(), n.Draft(change...))
	n.Must(err)
	return p
}

// Guard is the guard of a change by the owner.
func (n *Newsroom) Guard(p post.Post) post.Guard {
	return post.Guard{WorkspaceID: n.Workspace.ID, PostID: p.ID, Actor: "user:" + n.User.String()}
}

// Reread is a post as stored now.
func (n *Newsroom) Reread(p post.Post) post.Post {
	n.T.Helper()
	now, err := n.Publishing.Posts.Post(n.T.Context(), p.ID)
	n.Must(err)
	return now
}

// Call is the call that a publisher records for a post's target.
func Call(p post.Post, target, epoch int) post.Call {
	sum := sha256.Sum256([]byte(p.Content))
	return post.Call{
		OperationID: NewID(), PostID: p.ID, TargetID: p.Targets[target].ID, Revision: p.Revision,
		Epoch:          epoch,
		IdempotencyKey: NewID().String(), Fingerprint: sum[:],
	}
}

// Claim claims an unclaimed target.
func (n *Newsroom) Claim(p post.Post, target, epoch int, lease time.Duration) post.Call {
	n.T.Helper()
	claimed, ok, err := n.Publishing.Ledger.Claim(n.T.Context(), Call(p, target, epoch), lease)
	n.Must(err)
	if !ok {
		n.T.Fatalf("the claim of target %d of %s was refused", target, p.ID)
	}
	return claimed
}

// Outcome is the success of a call.
func Outcome(c post.Call, remoteID string) post.Outcome {
	now := time.Now().UTC()
	return post.Outcome{
		PostID: c.PostID, TargetID: c.TargetID, Fence: c.Fence, Revision: c.Revision,
		OperationID: c.OperationID,
		Status:      post.TargetPosted, Operation: post.CallAccepted, Attempts: 1, RemoteID: remoteID,
		RemoteURL: "https://social.example/@desk/" + remoteID, PostedAt: &now, Event: post.EventPosted,
	}
}

// Posted is Outcome with the time at which the post was sent.
func Posted(c post.Call, remoteID string) post.Outcome {
	o := Outcome(c, remoteID)
	sent := time.Now().UTC().Truncate(time.Millisecond)
	o.SentAt = &sent
	return o
}

// Failure is a rejection of a call.
func Failure(c post.Call) post.Outcome {
	return post.Outcome{
		PostID: c.PostID, TargetID: c.TargetID, Fence: c.Fence, Revision: c.Revision,
		OperationID: c.OperationID,
		Status:      post.TargetFailed, Operation: post.CallFailed, Attempts: 1, ErrorClass: "rejected",
		ErrorCode: "too_long",
		Error:     "The text is too long.", Event: post.EventFailed,
	}
}

// Finish records an outcome that must be accepted.
func (n *Newsroom) Finish(o post.Outcome) post.Post {
	n.T.Helper()
	p, ok, err := n.Publishing.Ledger.RecordOutcome(n.T.Context(), o)
	n.Must(err)
	if !ok {
		n.T.Fatalf("the outcome %s was refused", o.Event)
	}
	return p
}

// Exec changes rows without the store, for example to simulate the passage of time.
func (n *Newsroom) Exec(sql string, args ...any) {
	n.T.Helper()
	c, err := pgx.Connect(n.T.Context(), n.URL)
	n.Must(err)
	defer func() { _ = c.Close(n.T.Context()) }()
	_, err = c.Exec(n.T.Context(), sql, args...)
	n.Must(err)
}

// Query reads one row without the store.
func (n *Newsroom) Query(dest any, sql string, args ...any) {
	n.T.Helper()
	c, err := pgx.Connect(n.T.Context(), n.URL)
	n.Must(err)
	defer func() { _ = c.Close(n.T.Context()) }()
	n.Must(c.QueryRow(n.T.Context(), sql, args...).Scan(dest))
}

// Count reads a number without the store.
func (n *Newsroom) Count(sql string) (rows int) {
	n.T.Helper()
	n.Query(&rows, sql)
	return rows
}

// EventTypes lists the types of a post's events.
func (n *Newsroom) EventTypes(p post.Post) []string {
	n.T.Helper()
	events, err := n.Publishing.Posts.Events(n.T.Context(), p.ID, 0, 1000)
	n.Must(err)
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return types
}

// Begin opens a transaction on a connection of its own.
func (n *Newsroom) Begin() pgx.Tx {
	n.T.Helper()
	c, err := pgx.Connect(n.T.Context(), n.URL)
	n.Must(err)
	n.T.Cleanup(func() { _ = c.Close(context.Background()) })
	tx, err := c.Begin(n.T.Context())
	n.Must(err)
	return tx
}

// WebURL parses the URL of a page.
func WebURL(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text, weburl.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Seed creates a seed of a workspace and returns it with its domain.
func (n *Newsroom) Seed(workspaceID uuid.UUID, address string, change ...func(*crawl.Seed)) (crawl.Seed, crawl.Domain) {
	n.T.Helper()
	s := crawl.Seed{
		ID: NewID(), WorkspaceID: workspaceID, URL: WebURL(n.T, address), Kind: crawl.Home,
		Status: crawl.Active, Priority: 50,
		MinInterval: 5 * time.Minute, MaxInterval: 20 * time.Minute, Interval: 15 * time.Minute, Rules: crawl.Rules{
			MaxDepth: 1,
		},
	}
	for _, f := range change {
		f(&s)
	}
	created, _, err := n.News.Domains.CreateSeeds(n.T.Context(), []crawl.Seed{s}, idempotency.Key{})
	n.Must(err)
	if len(created) != 1 {
		n.T.Fatalf("got %d seeds created, want 1", len(created))
	}
	d, err := n.News.Domains.GetCrawlDomain(n.T.Context(), s.URL.Domain())
	n.Must(err)
	return created[0], d
}

// Discover stores URLs that a seed's page links to.
func (n *Newsroom) Discover(s crawl.Seed, count, rank int) []crawl.DiscoveredURL {
	n.T.Helper()
	out := make([]crawl.DiscoveredURL, count)
	for i := range out {
		out[i] = crawl.DiscoveredURL{
			DomainID: s.DomainID,
			URL:      WebURL(n.T, fmt.Sprintf("https://%s/rank-%d/%d.html", s.URL.Domain(), rank, i)),
			Kind:     crawl.Article, Rank: rank, Depth: 1, SeedNumber: s.Number,
		}
	}
	_, err := n.News.Frontier.AddURLs(n.T.Context(), out)
	n.Must(err)
	return out
}

// NewID returns the id of a new row.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Refused returns the code and kind of a refusal; it fails on any other error.
func Refused(t *testing.T, err error) *apperr.Error {
	t.Helper()
	var e *apperr.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e
}
