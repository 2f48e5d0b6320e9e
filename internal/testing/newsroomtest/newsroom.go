// Package newsroomtest provides a newsroom for tests that is complete except for
// Temporal: real engines (package enginetest) and a fake social network.
package newsroomtest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/audience/site"
	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/ssrf"
	"dateline/internal/notify/pubsub"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/objects"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/s3test"
	"dateline/internal/testing/storetest"
	"dateline/platforms"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// Newsroom is one installation with one workspace.
type Newsroom struct {
	T           testing.TB
	Store       *postgres.Store
	DatabaseURL string
	RedisURL    string
	Objects     *objects.Bucket
	ObjectsDir  string // where files are stored
	Fake        *fake.Server
	Networks    platforms.Registry
	Bus         *pubsub.Bus
	Accounts    *account.Service
	Media       *media.Service
	People      *workspace.Service
	Scheduler   *scheduling.Scheduler
	Sealer      *secret.Sealer
	Keyset      secret.Source
	Webhooks    *webhook.Service // trusts 127.0.0.1
	Sites       *site.Service
	Limits      *ratelimit.Limiter
	Login       *login.Service // at https://dateline.example, without a provider

	Workspace workspace.Workspace
	Owner     workspace.Principal
	Token     string // of the owner

	StopRedis, StopObjects func() // stop the engine
}

// Open starts a newsroom for one test. The workspace's time zone is Asia/Ho_Chi_Minh
// and it has no accounts yet.
func Open(t testing.TB) *Newsroom {
	t.Helper()
	return OpenWith(t, fake.Options{AutoApprove: true})
}

// OpenWith is Open with another network.
func OpenWith(t testing.TB, options fake.Options) *Newsroom {
	t.Helper()
	n := &Newsroom{T: t, ObjectsDir: t.TempDir()}
	n.Store, n.DatabaseURL = storetest.OpenWithURL(t)
	n.RedisURL, n.StopRedis = enginetest.StoppableRedis(t)
	n.Objects, n.StopObjects = s3test.StoppableBucket(t, n.ObjectsDir)
	log := slog.New(slog.DiscardHandler)

	var err error
	n.Fake, err = fake.New(options)
	n.Must(err)
	n.Must(n.Fake.Start("127.0.0.1:0"))
	// Package testing references the functions of Cleanup until the last test of the process has
	// ended, and with them what they reference: the server, but not the whole newsroom.
	server := n.Fake
	t.Cleanup(func() { _ = server.Close() })
	client, err := call.NewClient([]string{strings.TrimPrefix(n.Fake.URL(), "http://")})
	n.Must(err)
	var networks platforms.Options
	networks.SetSandbox(n.Fake.NetworkURL)
	n.Networks = platforms.New(client, networks)

	keyset := filepath.Join(t.TempDir(), "keyset.json")
	_, err = secret.CreateKeyset(keyset)
	n.Must(err)
	n.Sealer, err = secret.OpenKeyset(keyset)
	n.Must(err)
	n.Bus = pubsub.NewBus(enginetest.RedisClient(t, n.RedisURL), log)
	n.Keyset = secret.Source{Path: keyset}
	n.Accounts = &account.Service{
		Store: n.Store.Publishing.Accounts, Connectors: n.Networks, Sealer: n.Sealer, Sandbox: n.Fake.NetworkURL,
		Notifier:      n.Bus,
		SandboxValues: func(network string) map[string]string { return n.Fake.FormValues(network, "desk") },
		RedirectURI:   "https://dateline.example/api/v1/oauth/callback",
		Timing:        account.RenewTiming{PollInterval: 10 * time.Millisecond, Backoff: 20 * time.Millisecond},
	}
	n.People = &workspace.Service{Store: n.Store.Identity.Workspaces}
	n.Media = &media.Service{
		Objects: n.Objects, Store: n.Store.Publishing.Media, MaxBytes: 1 << 20, Web: &http.Client{Transport: noWeb{}},
	}
	guard, err := ssrf.New([]string{"127.0.0.1/32"})
	n.Must(err)
	n.Webhooks = &webhook.Service{Store: n.Store.Notify.Webhooks, Sealer: n.Sealer, Live: n.Bus, Guard: guard}
	n.Sites = &site.Service{Store: n.Store.Sites(), Sealer: n.Sealer}
	n.Limits = ratelimit.New(t.Context(), enginetest.RedisClient(t, n.RedisURL), 30*time.Second, log)
	n.Scheduler = &scheduling.Scheduler{
		Store: n.Store.Scheduling(), Accounts: n.Accounts, Networks: n.Networks, ObjectURL: n.Objects.URL,
		Notifier: n.Bus, Log: log,
		Rates: n.Limits, LinkBase: "https://go.example/l/",
	}
	n.Login, err = login.New(login.Options{
		Store: n.Store.Identity.Logins, PublicURL: "https://dateline.example", Log: log,
	})
	n.Must(err)
	n.Workspace, n.Owner, n.Token = n.Found("Desk")
	return n
}

// noWeb is an HTTP transport that fails: tests must not reach the internet.
type noWeb struct{}

func (noWeb) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("tests reach no web")
}

// Must fails the test on errors that are not its subject.
func (n *Newsroom) Must(err error) {
	n.T.Helper()
	if err != nil {
		n.T.Fatal(err)
	}
}

// Found creates another workspace.
func (n *Newsroom) Found(name string) (w workspace.Workspace, owner workspace.Principal, token string) {
	n.T.Helper()
	w = workspace.Workspace{ID: uuid.Must(uuid.NewV7()), Name: name, TimeZone: "Asia/Ho_Chi_Minh"}
	t, plain := workspace.NewToken(w.ID, uuid.Must(uuid.NewV7()), "cli")
	n.Must(n.Store.Identity.Workspaces.Found(n.T.Context(), w, "Owner of "+name, t))
	return w, workspace.Principal{
		WorkspaceID: w.ID, UserID: t.UserID, TokenID: t.ID, Role: workspace.Owner,
		Scopes: t.Scopes,
	}, plain
}

// Member adds a member to the workspace.
func (n *Newsroom) Member(role workspace.Role) (token string) {
	n.T.Helper()
	return n.TokenOf(n.Join(n.Workspace, role))
}

// Join makes a new user, who has logged in, a member of a workspace.
func (n *Newsroom) Join(w workspace.Workspace, role workspace.Role) workspace.Principal {
	n.T.Helper()
	user := uuid.Must(uuid.NewV7())
	m, _, err := n.Store.Identity.Workspaces.Invite(n.T.Context(), w.ID, user.String()+"@news.example", role,
		idempotency.Key{})
	n.Must(err)
	n.Must(n.Store.Identity.Logins.RecordLogin(n.T.Context(), m.User.ID, uuid.Must(uuid.NewV7()), nil))
	return workspace.Principal{
		WorkspaceID: w.ID, UserID: m.User.ID, Role: role, Scopes: []workspace.Scope{workspace.Everything},
	}
}

// TokenOf creates a token of a member, with all or only some scopes.
func (n *Newsroom) TokenOf(who workspace.Principal, scopes ...workspace.Scope) string {
	n.T.Helper()
	t, plain := workspace.NewToken(who.WorkspaceID, who.UserID, "test")
	if len(scopes) > 0 {
		t.Scopes = scopes
	}
	_, _, err := n.Store.Identity.Workspaces.CreateToken(n.T.Context(), t, idempotency.Key{})
	n.Must(err)
	return plain
}

// Connect connects an account of the fake network.
func (n *Newsroom) Connect(name string) account.Account {
	n.T.Helper()
	there, err := n.Fake.AddAccount(name)
	n.Must(err)
	a, err := n.Accounts.ConnectWithToken(n.T.Context(), n.Owner, "mastodon", n.Fake.URL(), secret.NewText(there.Token))
	n.Must(err)
	return a
}

// Allow connects an account of the fake network through its consent page, which allows
// immediately, so that it has an application's tokens.
func (n *Newsroom) Allow(name string) account.Account {
	n.T.Helper()
	_, err := n.Fake.AddAccount(name)
	n.Must(err)
	link, err := n.Accounts.StartAuthorization(n.T.Context(), n.Owner, account.Instance{
		Network: "mastodon", Sandbox: true,
	})
	n.Must(err)
	back := Consent(n.T, link)
	made, err := n.Accounts.CompleteAuthorization(n.T.Context(), account.Callback{
		State: back.Get("state"), Code: back.Get("code"),
	})
	n.Must(err)
	return made.Account
}

// Consent opens a consent page that allows immediately, and passes its redirect to the
// callback.
func Consent(t testing.TB, link string) url.Values {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	back, err := answer.Location()
	if err != nil {
		t.Fatal(err)
	}
	return back.Query()
}

// Refuse makes the network refuse an account's token, so that the account must
// be reconnected.
func (n *Newsroom) Refuse(id uuid.UUID) {
	n.T.Helper()
	a, err := n.Store.Publishing.Accounts.Account(n.T.Context(), id)
	n.Must(err)
	_, err = n.Store.Publishing.Accounts.MarkNeedsReconnect(n.T.Context(), id, a.TokenVersion, account.LastError{
		Class: network.Auth, Message: "The token is revoked.",
	})
	n.Must(err)
}

// Schedule creates a post that is due in an hour.
func (n *Newsroom) Schedule(change ...func(*scheduling.Draft)) post.Post {
	n.T.Helper()
	d := scheduling.Draft{Content: "Hello", ScheduledTime: time.Now().Add(time.Hour).Format(time.RFC3339)}
	for _, f := range change {
		f(&d)
	}
	p, _, err := n.Scheduler.Schedule(n.T.Context(), n.Owner, d, idempotency.Key{})
	n.Must(err)
	return p
}

// Claim claims a post's first target.
func (n *Newsroom) Claim(p post.Post) post.Call {
	n.T.Helper()
	return n.ClaimOn(p, p.Targets[0].AccountID)
}

// ClaimOn claims a post's target on one of its accounts.
func (n *Newsroom) ClaimOn(p post.Post, account uuid.UUID) post.Call {
	n.T.Helper()
	target := TargetOn(p, account)
	epoch, err := n.Store.Publishing.Ledger.LastEpoch(n.T.Context(), target.ID, 0, p.Revision)
	n.Must(err)
	c, ok, err := n.Store.Publishing.Ledger.Claim(n.T.Context(), post.Call{
		OperationID: uuid.Must(uuid.NewV7()), PostID: p.ID,
		TargetID: target.ID,
		Revision: p.Revision, Epoch: epoch + 1, IdempotencyKey: uuid.NewString(), Fingerprint: make([]byte, 32),
	},
		time.Minute)
	n.Must(err)
	if !ok {
		n.T.Fatalf("the claim of %s was refused", p.ID)
	}
	return c
}

// TargetOn returns a post's target on one of its accounts.
func TargetOn(p post.Post, account uuid.UUID) post.Target {
	for _, t := range p.Targets {
		if t.AccountID == account {
			return t
		}
	}
	return post.Target{}
}

// Dead makes a post's targets dead letters: failed or uncertain.
func (n *Newsroom) Dead(p post.Post, status post.TargetStatus) post.Post {
	n.T.Helper()
	for _, t := range p.Targets {
		p = n.Finish(n.ClaimOn(p, t.AccountID), status)
	}
	return p
}

// Finish records the outcome of a claim.
func (n *Newsroom) Finish(c post.Call, status post.TargetStatus) post.Post {
	n.T.Helper()
	now := time.Now()
	o := post.Outcome{
		PostID: c.PostID, TargetID: c.TargetID, Fence: c.Fence, Revision: c.Revision,
		OperationID: c.OperationID, Status: status, Attempts: 1,
	}
	switch status {
	case post.TargetPosted:
		o.Operation, o.Event, o.RemoteID, o.RemoteURL, o.PostedAt = post.CallAccepted, post.EventPosted,
			uuid.NewString(), "https://social.example/@desk/1", &now
	case post.TargetUncertain:
		o.Operation, o.Event, o.ErrorClass, o.Error = post.CallManual, post.EventUncertain, "ambiguous",
			"The network gave no answer."
	default:
		o.Operation, o.Event, o.ErrorClass, o.Error = post.CallFailed, post.EventFailed, "rejected",
			"The network refused it."
	}
	p, ok, err := n.Store.Publishing.Ledger.RecordOutcome(n.T.Context(), o)
	n.Must(err)
	if !ok {
		n.T.Fatalf("the outcome for %s was refused", c.PostID)
	}
	return p
}

// Exec changes rows without the store, for example to simulate the passage of time.
func (n *Newsroom) Exec(sql string, args ...any) {
	n.T.Helper()
	n.connection(func(c *pgx.Conn) error {
		_, err := c.Exec(n.T.Context(), sql, args...)
		return err
	})
}

// Count returns the number that a query selects.
func (n *Newsroom) Count(sql string, args ...any) (count int) {
	n.T.Helper()
	n.connection(func(c *pgx.Conn) error { return c.QueryRow(n.T.Context(), sql, args...).Scan(&count) })
	return count
}

func (n *Newsroom) connection(use func(*pgx.Conn) error) {
	n.T.Helper()
	c, err := pgx.Connect(n.T.Context(), n.DatabaseURL)
	n.Must(err)
	defer func() { _ = c.Close(context.WithoutCancel(n.T.Context())) }()
	n.Must(use(c))
}
