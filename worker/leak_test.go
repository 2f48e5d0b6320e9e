package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/activities"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/temporalclient"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/temporaltest"
	"dateline/platforms/fake"
	"dateline/workflows/starter"
)

// logBook records the log at every level.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) all() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// newsroomOfSecrets is a complete installation without its API that logs everything.
type newsroomOfSecrets struct {
	*newsroomtest.Newsroom
	log     *logBook
	starter *starter.Starter
	dir     string // of Temporal's store
}

func openSecrets(t *testing.T) *newsroomOfSecrets {
	t.Helper()
	n := &newsroomOfSecrets{
		Newsroom: newsroomtest.OpenWith(t, fake.Options{AutoApprove: true, TokenTTL: time.Hour}),
		log:      &logBook{}, dir: t.TempDir(),
	}
	log := slog.New(slog.NewJSONHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	n.Accounts.Log, n.Scheduler.Log = log, log
	c, err := temporalclient.Connect(temporalclient.Options{
		Address:   temporaltest.StartIn(t, n.dir),
		Namespace: temporaltest.Namespace,
	}, log)
	n.Must(err)
	t.Cleanup(c.Close)
	n.starter = &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	gathering, accounts, stop := delivery.Batched(n.Store.Delivery(), n.Accounts)
	t.Cleanup(stop)
	w := New(c, Activities{
		Publishing: &activities.Publishing{
			Publisher: delivery.New(delivery.Deps{
				Store: gathering, Accounts: accounts,
				Networks: n.Networks, Objects: n.Objects, Links: n.Objects, Live: n.Bus, Log: log,
				Limits: n.Limits, Timing: delivery.Timing{Backoff: 20 * time.Millisecond},
			}),
			Planner:  &delivery.Planner{Store: n.Store.Publishing.Ledger},
			Commands: &delivery.Commands{Store: n.Store.Delivery(), Scheduler: n.Scheduler, Live: n.Bus},
			Recovery: &delivery.Recovery{Store: n.Store.Publishing.Ledger, Signaler: n.starter, Live: n.Bus, Log: log},
		},
		Series: &activities.Series{Store: n.Store.Publishing.Series, Scheduler: n.Scheduler, Signaler: n.starter, Log: log},
		Webhooks: &activities.Webhooks{
			Deliverer: &webhook.Deliverer{
				Store: n.Store.Notify.Webhooks, Sealer: n.Sealer, Client: http.DefaultClient, Live: n.Bus, Log: log,
			},
		},
		Tokens: &activities.Tokens{Store: n.Store.Publishing.Accounts, Accounts: n.Accounts, Starter: n.starter, Live: n.Bus, Log: log},
	}, Deps{Dispatcher: idle{}, Store: n.Store.Installation.Workers, Releaser: n.starter, Notices: n.Bus, Log: log})
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() { end(); n.Must(<-ended) })
	return n
}

// publish sends a post with a picture to accounts, or to the default ones.
func (n *newsroomOfSecrets) publish(want post.Status, accounts ...account.Account) post.Post {
	n.T.Helper()
	t := n.T.(*testing.T)
	d := scheduling.Draft{
		Content: uuid.NewString(), ScheduledTime: time.Now().Add(2 * time.Second).Format(time.RFC3339Nano),
	}
	for _, a := range accounts {
		d.Accounts = append(d.Accounts, a.ID.String())
	}
	var photo bytes.Buffer
	n.Must(jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 640, 640)), nil))
	file, err := n.Media.Upload(t.Context(), n.Owner, "photo.jpg", "A wall", &photo)
	n.Must(err)
	d.Attachments = []string{file.ID.String()}
	p, _, err := n.Scheduler.Schedule(t.Context(), n.Owner, d, idempotency.Key{})
	n.Must(err)
	n.Must(n.starter.Start(t.Context(), p))
	defer func() {
		for _, target := range p.Targets {
			if t.Failed() {
				t.Logf("%s: %s %s %s", target.Network, target.Status, target.ErrorClass, target.ErrorMessage)
			}
		}
	}()
	await(t, "the end of a post", func() bool {
		now, err := n.Store.Publishing.Posts.Post(t.Context(), p.ID)
		p = now
		return err == nil && now.Status == want
	})
	return p
}

// No token, refresh token, code or secret of an application that a network has ever
// issued may be found in Temporal's histories or store, in the logs or in the database,
// in any encoding.
func TestSecrets_AreNotStoredInTheOpen(t *testing.T) {
	t.Parallel()
	n := openSecrets(t)
	a := n.Allow("desk")
	n.publish(post.Posted)

	// Refused, renewed and sent again.
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Path: "/api/v1/statuses"}))
	n.publish(post.Posted)

	// Renewed ahead of time, with the network down at first.
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Status, Status: 503, Path: "/oauth/token", Count: 4}))
	n.Exec("update accounts set refresh_due_at = now() where id = $1", a.ID)
	before, err := n.Store.Publishing.Accounts.Account(t.Context(), a.ID)
	n.Must(err)
	n.Must(n.starter.StartRefresh(t.Context(), a.ID))
	await(t, "a renewal", func() bool {
		now, err := n.Store.Publishing.Accounts.Account(t.Context(), a.ID)
		return err == nil && now.TokenVersion > before.TokenVersion
	})

	// A network that repeats the request in its error.
	_, use, err := n.Accounts.Open(t.Context(), a.ID)
	n.Must(err)
	echo, err := json.Marshal(map[string]string{"error": "The token " + use.Token.Reveal() + " is no good"})
	n.Must(err)
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Status, Status: 422, Path: "/api/v1/statuses", Body: string(echo)}))
	n.publish(post.Failed)
	n.Must(n.Fake.Inject(fake.Fault{
		Kind: fake.Status, Status: 400, Path: "/oauth/token",
		Body: `{"error":"invalid_grant","error_description":"No such refresh token ` + use.RefreshToken.Reveal() +
			`"}`,
	}))
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Path: "/api/v1/statuses", Count: -1}))
	n.publish(post.Failed)
	n.Fake.ClearFaults()
	n.Allow("desk")
	_, err = n.Accounts.Check(t.Context(), n.Owner, a.ID)
	n.Must(err)
	_, err = n.Accounts.ConnectWithToken(t.Context(), n.Owner, "mastodon", n.Fake.URL(),
		secret.NewText("a-token-that-was-never-issued"))
	if err == nil {
		t.Error("a wrong token connected something")
	}
	_, err = n.Accounts.Disconnect(t.Context(), n.Owner, a.ID)
	n.Must(err)
	again := n.Allow("desk")
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Latency, Path: "/api/v1/statuses", For: time.Millisecond}))
	n.publish(post.Posted)
	if again.Status != account.Connected {
		t.Errorf("%+v", again)
	}

	n.wantNowhere(a, "a-token-that-was-never-issued")
}
