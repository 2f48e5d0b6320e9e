package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/objects"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/s3test"
	"dateline/internal/testing/storetest"
	"dateline/platforms"
	"dateline/platforms/bluesky"
	"dateline/platforms/call"
	"dateline/platforms/discord"
	"dateline/platforms/facebook"
	"dateline/platforms/fake"
	"dateline/platforms/ghost"
	"dateline/platforms/instagram"
	"dateline/platforms/linkedin"
	"dateline/platforms/mastodon"
	"dateline/platforms/nostr"
	"dateline/platforms/slack"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
	"dateline/platforms/wordpress"
	"dateline/platforms/x"
	"dateline/platforms/zalo"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// text is the content of these tests' posts; no error may repeat it.
const text = "Tide tables for the harbour, week 48"

const createPath = "/api/v1/statuses"

// bench is one workspace with one account at a fake network, on real engines.
type bench struct {
	t         *testing.T
	store     *postgres.Store
	url       string // of the database
	objects   *objects.Bucket
	fake      *fake.Server
	token     string // of the account
	who       workspace.Principal
	account   account.Account
	accounts  *account.Service
	networks  platforms.Registry
	client    *http.Client // of the networks
	scheduler *scheduling.Scheduler
	log       *journal
	live      *bus
	timing    delivery.Timing

	mu     sync.Mutex
	errors []string // signals received by Temporal
}

func newBench(t *testing.T, options fake.Options) *bench {
	t.Helper()
	t.Parallel()
	b := &bench{
		t: t, log: &journal{}, live: &bus{},
		timing: delivery.Timing{
			Lease: 3 * time.Second, Heartbeat: 100 * time.Millisecond,
			Backoff: 20 * time.Millisecond, Parent: 50 * time.Millisecond, MaxWait: 200 * time.Millisecond,
			Unanswered: 3 * time.Second, MaxFinish: time.Millisecond,
			Looks: []time.Duration{
				10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
			},
		},
	}
	b.store, b.url = storetest.OpenWithURL(t)
	b.objects = s3test.Bucket(t)
	var err error
	if b.fake, err = fake.New(options); err != nil {
		t.Fatal(err)
	}
	b.must(b.fake.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = b.fake.Close() })
	b.client, err = call.NewClient([]string{strings.TrimPrefix(b.fake.URL(), "http://")})
	b.must(err)
	// By default a network that does not respond is waited for up to four minutes.
	const create, read, slow = 2 * time.Second, time.Second, 5 * time.Second
	networks := platforms.Options{
		Mastodon: mastodon.Options{CreateTimeout: create, ReadTimeout: read},
		Bluesky:  bluesky.Options{CreateTimeout: create, ReadTimeout: read, UploadTimeout: create},
		Discord:  discord.Options{CreateTimeout: slow, ReadTimeout: slow},
		Facebook: facebook.Options{CreateTimeout: create, ReadTimeout: read, UploadTimeout: create},
		Ghost: ghost.Options{
			CreateTimeout: create, ReadTimeout: read, UploadTimeout: create, Finish: 900 * time.Millisecond,
		},
		Instagram: instagram.Options{CreateTimeout: create, ReadTimeout: read},
		LinkedIn:  linkedin.Options{CreateTimeout: slow, ReadTimeout: slow},
		Nostr:     nostr.Options{AnswerTimeout: create, UploadTimeout: create, Pauses: []time.Duration{100 * time.Millisecond}},
		Slack:     slack.Options{CreateTimeout: slow, ReadTimeout: slow},
		Telegram:  telegram.Options{CreateTimeout: slow, ReadTimeout: slow},
		Threads:   threads.Options{CreateTimeout: create, ReadTimeout: read},
		WordPress: wordpress.Options{
			CreateTimeout: create, ReadTimeout: read, UploadTimeout: create, Finish: 900 * time.Millisecond,
		},
		X: x.Options{CreateTimeout: slow, ReadTimeout: slow},
		Zalo: zalo.Options{
			CreateTimeout: create, ReadTimeout: read, Finish: 900 * time.Millisecond, Process: time.Second,
		},
	}
	networks.SetSandbox(b.fake.NetworkURL)
	b.networks = platforms.New(b.client, networks)

	keyset := filepath.Join(t.TempDir(), "keyset.json")
	_, err = secret.CreateKeyset(keyset)
	b.must(err)
	sealer, err := secret.OpenKeyset(keyset)
	b.must(err)
	b.who = workspace.Principal{WorkspaceID: uuid.New(), UserID: uuid.New(), Role: workspace.Owner}
	apiToken, _ := workspace.NewToken(b.who.WorkspaceID, b.who.UserID, "test")
	b.must(b.store.Identity.Workspaces.Found(t.Context(), workspace.Workspace{
		ID: b.who.WorkspaceID, Name: "Harbour Courier",
		TimeZone: "UTC",
	}, "owner", apiToken))
	b.accounts = &account.Service{Store: b.store.Publishing.Accounts, Connectors: b.networks, Sealer: sealer, Sandbox: b.fake.NetworkURL}
	b.account = b.connect("desk")
	b.scheduler = &scheduling.Scheduler{
		Store: b.store.Scheduling(), Accounts: b.accounts, Networks: b.networks, ObjectURL: b.objects.URL, Notifier: b.live,
		Log: slog.New(b.log.handler()),
	}
	return b
}

// connect creates an account at the network and connects it.
func (b *bench) connect(name string) account.Account {
	b.t.Helper()
	there, err := b.fake.AddAccount(name)
	b.must(err)
	if b.token == "" {
		b.token = there.Token
	}
	here, err := b.accounts.ConnectWithToken(b.t.Context(), b.who, "mastodon", b.fake.URL(),
		secret.NewText(there.Token))
	b.must(err)
	return here
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// schedule creates a post that is due immediately, for the given accounts or the
// bench's own.
func (b *bench) schedule(change func(p *post.Post), accounts ...uuid.UUID) post.Post {
	b.t.Helper()
	if len(accounts) == 0 {
		accounts = []uuid.UUID{b.account.ID}
	}
	p := post.Post{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: b.who.WorkspaceID, UserID: b.who.UserID, Content: text,
		ScheduledTime: time.Now().UTC(), TimeZone: "UTC",
	}
	if change != nil {
		change(&p)
	}
	created, _, err := b.store.Publishing.Posts.CreatePost(b.t.Context(), post.NewPost{
		Post: p, AccountIDs: accounts, Actor: b.who.Actor(),
	})
	b.must(err)
	return created
}

// publisher creates the activities like a worker.
func (b *bench) publisher() *delivery.Deps {
	return &delivery.Deps{
		Store: b.store.Delivery(), Accounts: b.accounts, Networks: b.networks, Objects: b.objects,
		Links: b.objects, Live: b.live,
		Log: slog.New(b.log.handler()), Timing: b.timing, InFlight: &delivery.InFlight{},
	}
}

func input(p post.Post) delivery.TargetInput {
	return delivery.TargetInput{PostID: p.ID, TargetID: p.Targets[0].ID, Revision: p.Revision}
}

// once runs the activity as one attempt of Temporal.
func (b *bench) once(p *delivery.Deps, in delivery.TargetInput) (delivery.TargetResult, error) {
	return b.onceIn(b.t.Context(), p, in)
}

// onceIn turns a panic into an error, as Temporal does.
func (b *bench) onceIn(
	ctx context.Context, p *delivery.Deps, in delivery.TargetInput,
) (result delivery.TargetResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	result, err = delivery.New(*p).Publish(ctx, delivery.Attempt{Number: 1}, in)
	if err != nil {
		b.mu.Lock()
		b.errors = append(b.errors, fmt.Sprintf("%v %+v", err, errors.Unwrap(err)))
		b.mu.Unlock()
		return delivery.TargetResult{}, err
	}
	return result, nil
}

// publish runs attempts like Temporal and the workflow until the target has an outcome.
// It returns the requested delays.
func (b *bench) publish(
	p *delivery.Deps, in delivery.TargetInput,
) (result delivery.TargetResult, pauses []time.Duration) {
	b.t.Helper()
	for range 100 {
		result, err := b.once(p, in)
		if err == nil && !result.Stale {
			return result, pauses
		}
		pause := 20 * time.Millisecond
		var final *delivery.PermanentError
		if errors.As(err, &final) {
			b.t.Fatal(err)
		}
		var again *delivery.RetryError
		if errors.As(err, &again) {
			pause = max(pause, again.Delay)
			pauses = append(pauses, pause)
		}
		if stored := b.read(in.PostID); err == nil && stored.Revision != in.Revision {
			return result, pauses // the workflow would decide again
		}
		time.Sleep(pause)
	}
	b.t.Fatalf("no outcome after 100 attempts; errors: %s", strings.Join(b.errors, "\n"))
	return result, pauses
}

// fault makes the next publishing call fail.
func (b *bench) fault(f fake.Fault) {
	b.t.Helper()
	if f.Path == "" && f.Kind != fake.Refuse {
		f.Method, f.Path = http.MethodPost, createPath
	}
	b.must(b.fake.Inject(f))
}

// upload stores a small picture.
func (b *bench) upload(shade uint8) media.Item {
	b.t.Helper()
	img := image.NewGray(image.Rect(0, 0, 8, 8))
	img.Pix[0] = shade
	var raw bytes.Buffer
	b.must(png.Encode(&raw, img))
	item, err := (&media.Service{Objects: b.objects, Store: b.store.Publishing.Media, MaxBytes: 1 << 20}).Upload(b.t.Context(), b.who,
		"harbour.png", "The harbour at low tide", &raw)
	b.must(err)
	return item
}

func (b *bench) withMedia(items ...media.Item) func(*post.Post) {
	return func(p *post.Post) {
		for _, item := range items {
			p.AttachmentIDs = append(p.AttachmentIDs, item.ID)
			p.AttachmentURLs = append(p.AttachmentURLs, b.objects.URL(item.ObjectKey))
		}
	}
}
