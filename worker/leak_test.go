package worker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"dateline/activities"
	"dateline/internal/account"
	"dateline/internal/desk"
	"dateline/internal/newsroomtest"
	"dateline/internal/post"
	"dateline/internal/secret"
	"dateline/internal/starter"
	"dateline/internal/starter/temporaltest"
	"dateline/internal/store"
	"dateline/platforms/fake"
	"dateline/workflows"
)

// logBook keeps what is logged, at every level.
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

// shapes are the ways in which a secret may stand in a text.
func shapes(s string) map[string]string {
	out := map[string]string{"plain": s, "URL-escaped": url.QueryEscape(s), "in hex": hex.EncodeToString([]byte(s)), "in upper-case hex": strings.ToUpper(hex.EncodeToString([]byte(s)))}
	// Base64 shows a text differently for each place in the three bytes that it
	// may begin at; what depends on its neighbours is left out.
	for shift := range 3 {
		padded := append(make([]byte, shift), s...)
		padded = padded[:len(padded)/3*3]
		for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "URL base64": base64.RawURLEncoding} {
			text := encoding.EncodeToString(padded)
			out[name+" at "+string(rune('0'+shift))] = text[(shift*8+5)/6:]
		}
	}
	return out
}

func wantNoSecret(t *testing.T, where string, text []byte, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		for name, shape := range shapes(s) {
			if len(shape) >= 12 && bytes.Contains(text, []byte(shape)) {
				t.Errorf("%s: a secret stands there %s", where, name)
			}
		}
	}
}

// newsroomOfSecrets is a whole installation, but for its API, that logs all.
type newsroomOfSecrets struct {
	*newsroomtest.Newsroom
	log     *logBook
	starter *starter.Starter
	dir     string // of Temporal's store
}

func openSecrets(t *testing.T) *newsroomOfSecrets {
	t.Helper()
	n := &newsroomOfSecrets{Newsroom: newsroomtest.OpenWith(t, fake.Options{AutoApprove: true, TokenLife: time.Hour}), log: &logBook{}, dir: t.TempDir()}
	log := slog.New(slog.NewJSONHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	n.Accounts.Log, n.Desk.Log = log, log
	c, err := starter.Connect(starter.Options{Address: temporaltest.StartIn(t, n.dir), Namespace: temporaltest.Namespace}, log)
	n.Must(err)
	t.Cleanup(c.Close)
	n.starter = &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	gathering, stop := Crowd(n.Store)
	t.Cleanup(stop)
	w := New(c, Activities{
		Publish: &activities.Publish{Store: gathering, Accounts: n.Accounts, Networks: n.Networks, Objects: n.Objects, Live: n.Bus, Log: log,
			Limits: n.Limits, Timing: activities.Timing{Backoff: 20 * time.Millisecond}},
		Signals:    &activities.Signals{Store: n.Store, Desk: n.Desk, Live: n.Bus},
		Series:     &activities.Series{Store: n.Store, Desk: n.Desk, Nudger: n.starter, Log: log},
		Reconciler: &activities.Reconciler{Store: n.Store, Nudger: n.starter, Live: n.Bus, Log: log},
		Webhooks:   &activities.Webhooks{Store: n.Store, Sealer: n.Sealer, Client: http.DefaultClient, Live: n.Bus, Log: log},
		Tokens:     &activities.Tokens{Store: n.Store, Accounts: n.Accounts, Starter: n.starter, Live: n.Bus, Log: log},
	}, Surroundings{Dispatcher: idle{}, Store: n.Store, Releaser: n.starter, Notices: n.Bus, Log: log})
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() { end(); n.Must(<-ended) })
	return n
}

func (n *newsroomOfSecrets) publish(want post.Status) {
	n.T.Helper()
	t := n.T.(*testing.T)
	p, _, err := n.Desk.Schedule(t.Context(), n.Owner, desk.Draft{Content: uuid.NewString(), ScheduledTime: time.Now().Add(2 * time.Second).Format(time.RFC3339Nano)}, store.Idempotency{})
	n.Must(err)
	n.Must(n.starter.Start(t.Context(), p))
	await(t, "the end of a post", func() bool {
		now, err := n.Store.Post(t.Context(), p.ID)
		return err == nil && now.Status == want
	})
}

// No token, refresh token, code or secret of an application that a network has
// ever given out may be found in Temporal's histories or store, in the logs or
// in the database, in whatever encoding.
func TestNoSecretIsFoundAnywhere(t *testing.T) {
	n := openSecrets(t)
	a := n.Allow("desk")
	n.publish(post.Posted)

	// Refused, renewed and sent again.
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Path: "/api/v1/statuses"}))
	n.publish(post.Posted)

	// Renewed ahead, the network being away at first.
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Status, Status: 503, Path: "/oauth/token", Count: 4}))
	n.Exec("update accounts set refresh_due_at = now() where id = $1", a.ID)
	before, err := n.Store.Account(t.Context(), a.ID)
	n.Must(err)
	n.Must(n.starter.StartRefresh(t.Context(), a.ID))
	await(t, "a renewal", func() bool {
		now, err := n.Store.Account(t.Context(), a.ID)
		return err == nil && now.TokenVersion > before.TokenVersion
	})

	// A network that answers with what it was sent, in its error.
	_, use, err := n.Accounts.Open(t.Context(), a.ID)
	n.Must(err)
	echo, err := json.Marshal(map[string]string{"error": "The token " + use.Token.Reveal() + " is no good"})
	n.Must(err)
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Status, Status: 422, Path: "/api/v1/statuses", Body: string(echo)}))
	n.publish(post.Failed)
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.Status, Status: 400, Path: "/oauth/token",
		Body: `{"error":"invalid_grant","error_description":"No such refresh token ` + use.Refresh.Reveal() + `"}`}))
	n.Must(n.Fake.Inject(fake.Fault{Kind: fake.TokenExpired, Path: "/api/v1/statuses", Count: -1}))
	n.publish(post.Failed)
	n.Fake.ClearFaults()
	n.Allow("desk")
	_, err = n.Accounts.Check(t.Context(), n.Owner, a.ID)
	n.Must(err)
	_, err = n.Accounts.ConnectWithToken(t.Context(), n.Owner, "mastodon", n.Fake.URL(), secret.NewText("a-token-that-was-never-issued"))
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

	secrets := append(n.Fake.Issued(), "a-token-that-was-never-issued")
	raw, err := os.ReadFile(n.Keyset.Path)
	n.Must(err)
	var keyset struct {
		Key []struct{ KeyData struct{ Value string } }
	}
	n.Must(json.Unmarshal(raw, &keyset))
	for _, k := range keyset.Key {
		secrets = append(secrets, k.KeyData.Value)
	}
	if len(secrets) < 15 {
		t.Fatalf("only %d secrets were given out", len(secrets))
	}
	histories, workflowsSeen := n.histories(t)
	for _, want := range []string{workflows.PostWorkflow, workflows.RefreshTokenWorkflow, workflows.TendAccountsWorkflow} {
		if !workflowsSeen[want] {
			t.Errorf("no %s ran", want)
		}
	}
	wantNoSecret(t, "histories", histories, secrets)
	wantNoSecret(t, "logs", n.log.all(), secrets)
	dump := n.dump(t)
	wantNoSecret(t, "database", dump, secrets)
	if log := n.log.all(); !bytes.Contains(log, []byte(a.ID.String())) || !bytes.Contains(dump, []byte(a.RemoteID)) || !bytes.Contains(histories, []byte(a.ID.String())) {
		t.Error("the search looked at nothing")
	}
	n.stores(t, secrets)
}

// histories gives every event of every workflow, with its payloads decoded.
func (n *newsroomOfSecrets) histories(t *testing.T) (text []byte, seen map[string]bool) {
	t.Helper()
	c, seen := n.starter.Client, map[string]bool{}
	var page []byte
	for {
		list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporaltest.Namespace, NextPageToken: page})
		n.Must(err)
		for _, e := range list.GetExecutions() {
			seen[e.GetType().GetName()] = true
			described, err := protojson.Marshal(e)
			n.Must(err)
			text = append(text, described...)
			events := c.GetWorkflowHistory(t.Context(), e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				event, err := events.Next()
				n.Must(err)
				line, err := protojson.Marshal(event)
				n.Must(err)
				text = append(append(text, line...), decoded(t, line)...)
			}
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return text, seen
		}
	}
}

// decoded gives what payloads hold, which protobuf's JSON shows in base64.
func decoded(t *testing.T, line []byte) (out []byte) {
	t.Helper()
	var document any
	if err := json.Unmarshal(line, &document); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if text, ok := value.(string); ok && key == "data" {
					if data, err := base64.StdEncoding.DecodeString(text); err == nil {
						out = append(append(out, data...), '\n')
					}
				}
				walk(value)
			}
		case []any:
			for _, value := range v {
				walk(value)
			}
		}
	}
	walk(document)
	return out
}

// dump gives every row of every table as text: what pg_dump would write.
func (n *newsroomOfSecrets) dump(t *testing.T) (text []byte) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), n.DatabaseURL)
	n.Must(err)
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	read := func(sql string) []string {
		rows, err := c.Query(t.Context(), sql)
		n.Must(err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		n.Must(err)
		return lines
	}
	for _, table := range read("select quote_ident(table_name) from information_schema.tables where table_schema = 'public'") {
		for _, line := range read("select t::text from " + table + " t") {
			text = append(append(text, line...), '\n')
		}
	}
	return text
}

// stores reads the files that Temporal keeps.
func (n *newsroomOfSecrets) stores(t *testing.T, secrets []string) {
	t.Helper()
	files := 0
	n.Must(filepath.WalkDir(n.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		wantNoSecret(t, filepath.Base(path), raw, secrets)
		return nil
	}))
	if files == 0 {
		t.Error("Temporal's store was not found")
	}
}

func TestTheSearchFindsWhatIsThere(t *testing.T) {
	const s = "Zm9v+bar/7Qq secret-of-a-network"
	for _, before := range []string{"", "a", "ab", "abc"} {
		text := before + s + "tail"
		for name, encoded := range map[string]string{"plain": text, "base64": base64.StdEncoding.EncodeToString([]byte(text)),
			"URL base64": base64.URLEncoding.EncodeToString([]byte(text)), "URL": url.QueryEscape(text), "hex": hex.EncodeToString([]byte(text))} {
			found := false
			for _, shape := range shapes(s) {
				found = found || strings.Contains(encoded, shape)
			}
			if !found {
				t.Errorf("%s behind %q is not found", name, before)
			}
		}
	}
}
