package worker

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"dateline/activities"
	"dateline/internal/infra/idempotency"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/temporaltest"
	"dateline/platforms/call"
	"dateline/workflows"
	"dateline/workflows/starter"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// received is a request to an endpoint.
type received struct {
	id, timestamp, signature, body string
}

// receiver is a webhook receiver. Its responses are returned in order, the last one
// repeatedly; a negative one is a redirect.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answers []int
	header  http.Header
	got     []received
}

func newReceiver(t *testing.T, answers ...int) *receiver {
	r := &receiver{answers: answers, header: http.Header{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, received{
		q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"), q.Header.Get("webhook-signature"), string(body),
	})
	status := http.StatusNoContent
	if len(r.answers) > 0 {
		status = r.answers[min(len(r.got), len(r.answers))-1]
	}
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_, _ = io.WriteString(w, strings.Repeat("x\x00", 4000))
	}
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// verify implements the specification's "Signature scheme" independently of our own
// code, and asks the specification's library.
func verify(t *testing.T, secret string, r received) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 24 || len(key) > 64 {
		t.Fatalf("the secret has %d bytes: %v", len(key), err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.id + "." + r.timestamp + "." + r.body))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if !slices.Contains(strings.Fields(r.signature), want) {
		t.Errorf("%s is signed %q", r.id, r.signature)
	}
	library, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	headers := http.Header{}
	for name, value := range map[string]string{
		webhook.HeaderID: r.id, webhook.HeaderTimestamp: r.timestamp,
		webhook.HeaderSignature: r.signature,
	} {
		headers.Set(name, value)
	}
	if err := library.Verify([]byte(r.body), headers); err != nil {
		t.Errorf("the library of Standard Webhooks refuses %s: %v", r.id, err)
	}
	if library.Verify([]byte(r.body+" "), headers) == nil {
		t.Error("the library accepts a changed body")
	}
	sent, err := strconv.ParseInt(r.timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		t.Errorf("the timestamp is %q", r.timestamp)
	}
}

// outbox is a newsroom that sends webhooks.
type outbox struct {
	*newsroomtest.Newsroom
	t        *testing.T
	webhooks *activities.Webhooks
}

func newOutbox(t *testing.T, pauses ...time.Duration) *outbox {
	t.Helper()
	n := newsroomtest.Open(t)
	client, err := call.NewClient([]string{"127.0.0.1/32"})
	n.Must(err)
	t.Cleanup(client.CloseIdleConnections)
	return &outbox{
		Newsroom: n, t: t,
		webhooks: &activities.Webhooks{Deliverer: &webhook.Deliverer{
			Store: n.Store.Notify.Webhooks, Sealer: n.Sealer, Client: client,
			Live: n.Bus,
			Log:  slog.New(slog.DiscardHandler), Timing: webhook.Timing{
				RetrySchedule: pauses, Timeout: 10 * time.Second,
			},
		}},
	}
}

func (o *outbox) endpoint(url string, types ...string) (webhook.Endpoint, string) {
	o.t.Helper()
	e, secret, _, err := o.Webhooks.Create(o.t.Context(), o.Owner, url, "", types, idempotency.Key{})
	o.Must(err)
	return e, secret.Reveal()
}

func (o *outbox) dispatcher(s webhook.DeliveryWorkflows) *webhook.Dispatcher {
	return &webhook.Dispatcher{
		Store: o.Store.Notify.Webhooks, Workflows: s, Notifications: o.Bus,
		PublicURL: "https://dateline.example/", Log: slog.New(slog.DiscardHandler),
		Pace: webhook.Pace{
			PollInterval: 200 * time.Millisecond, MinInterval: 5 * time.Millisecond,
			StartInterval: time.Millisecond, RetryAfter: 300 * time.Millisecond, Overdue: time.Second,
		},
	}
}

// work processes the webhooks' task queue and runs so many dispatchers.
func (o *outbox) work(dispatchers int) client.Client {
	o.t.Helper()
	c := temporaltest.Dial(o.t, temporaltest.Start(o.t), nil)
	s := &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	w := NewQueue(c, workflows.WebhookQueue, Activities{Webhooks: o.webhooks})
	o.Must(w.Start())
	o.t.Cleanup(w.Stop)
	for range dispatchers {
		o.run(o.dispatcher(s))
	}
	return c
}

func (o *outbox) run(d *webhook.Dispatcher) {
	ctx, stop := context.WithCancel(context.WithoutCancel(o.t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); d.Run(ctx) }()
	o.t.Cleanup(func() { stop(); <-ended })
}

// publish brings a post to a final state.
func (o *outbox) publish(status post.TargetStatus) post.Post {
	p := o.Schedule(func(d *scheduling.Draft) { d.Content = "Embargoed until noon" })
	o.Finish(o.Claim(p), status)
	o.Bus.Changed(o.t.Context(), p.ID)
	return p
}

func (o *outbox) deliveries(e webhook.Endpoint, status webhook.DeliveryStatus) []webhook.Delivery {
	o.t.Helper()
	list, err := o.Webhooks.Deliveries(o.t.Context(), webhook.DeliveryFilter{
		WorkspaceID: o.Workspace.ID, EndpointID: e.ID, Status: status, Limit: 200,
	})
	o.Must(err)
	return list
}

func TestWebhooks_DeliverEveryEventOnceAndSigned(t *testing.T) {
	t.Parallel()
	o, all, failures := newOutbox(t), newReceiver(t), newReceiver(t)
	desk := o.Connect("desk")
	before := o.publish(post.TargetPosted) // no request yet
	every, secret := o.endpoint(all.URL)
	some, _ := o.endpoint(failures.URL, "post.failed")
	o.work(2)
	const posts = 20
	kinds := map[uuid.UUID]string{}
	for n := range posts {
		if n%2 == 0 {
			kinds[o.publish(post.TargetPosted).ID] = "post.posted"
		} else {
			kinds[o.publish(post.TargetFailed).ID] = "post.failed"
		}
	}
	o.Refuse(desk.ID)
	o.Bus.Announce()
	await(t, "the deliveries", func() bool {
		return len(o.deliveries(every, webhook.Delivered)) == posts+1 &&
			len(o.deliveries(some, webhook.Delivered)) == posts/2
	})
	if rows := o.Count("select count(*) from webhook_deliveries"); rows != posts+1+posts/2 {
		t.Errorf("%d deliveries", rows)
	}
	ids := map[string]bool{}
	for _, r := range all.all() {
		verify(t, secret, r)
		var p struct {
			Type      string
			Timestamp time.Time
			Data      struct {
				PostID    uuid.UUID `json:"post_id"`
				AccountID uuid.UUID `json:"account_id"`
				Network   string
				URL, Link string
				Error     *struct{ Class string }
			}
		}
		err := json.Unmarshal([]byte(r.body), &p)
		require.NoError(t, err, "%v: %+v", err, r)
		require.False(t, p.Timestamp.IsZero(), "%v: %+v", err, r)
		require.Equal(t, desk.ID, p.Data.AccountID, "%v: %+v", err, r)
		require.Equal(t, "mastodon", p.Data.Network, "%v: %+v", err, r)
		require.False(t, ids[r.id], "%v: %+v", err, r)
		ids[r.id] = true
		switch p.Type {
		case "account.needs_reconnect":
		case kinds[p.Data.PostID]:
			delete(kinds, p.Data.PostID)
			if p.Data.Link != "https://dateline.example/api/v1/posts/"+p.Data.PostID.String() ||
				(p.Type == "post.posted") != (p.Data.URL != "") {
				t.Errorf("%s", r.body)
			}
		default:
			t.Errorf("%s of the post %s", p.Type, p.Data.PostID)
		}
		if strings.Contains(r.body, "Embargoed") || p.Data.PostID == before.ID {
			t.Errorf("sent %s", r.body)
		}
	}
	if len(kinds) != 0 || len(ids) != posts+1 {
		t.Errorf("got %d events, missing %v", len(ids), kinds)
	}
}

func TestWebhooks_RetryUntilDeadAndRedeliver(t *testing.T) {
	t.Parallel()
	o := newOutbox(t, 20*time.Millisecond, 30*time.Millisecond)
	o.Connect("desk")
	r := newReceiver(t, 500, 503, 500, 500, 404, 204)
	r.header.Set("Retry-After", "1")
	e, secret := o.endpoint(r.URL)
	o.work(1)
	o.publish(post.TargetPosted)
	await(t, "the dead letter", func() bool { return len(o.deliveries(e, webhook.Dead)) == 1 })
	dead := o.deliveries(e, webhook.Dead)[0]
	if dead.Attempts != 3 || dead.ResponseStatus != 500 || len(dead.ResponseBody) > 1024 ||
		!strings.Contains(dead.LastError.Text, "500") {
		t.Errorf("dead deliveries: %+v", dead)
	}
	n, err := o.Webhooks.RedeliverDead(t.Context(), o.Owner, e.ID)
	o.Must(err)
	if n != 1 {
		t.Errorf("%d redelivered", n)
	}
	await(t, "the delivery", func() bool { return len(o.deliveries(e, webhook.Delivered)) == 1 })
	if _, err := o.Webhooks.Redeliver(t.Context(), o.Owner, e.ID, dead.ID); err != nil {
		t.Fatal(err)
	}
	await(t, "the second delivery", func() bool { return len(r.all()) == 7 })
	for _, one := range r.all() {
		verify(t, secret, one)
		if one.id != dead.ID.String() || one.body != r.all()[0].body {
			t.Errorf("an attempt has %+v", one)
		}
	}
	if second, third := r.all()[1], r.all()[2]; second.timestamp == third.timestamp {
		t.Error("Retry-After was not waited for")
	}
	failing, err := o.Webhooks.Get(t.Context(), o.Owner, e.ID)
	if o.Must(err); failing.FailingSince != nil {
		t.Errorf("it is failing since %s", failing.FailingSince)
	}
}

// known is a Temporal that accepts every start and forgets it.
type known struct {
	mu  sync.Mutex
	ids []uuid.UUID
}

func (k *known) StartDelivery(_ context.Context, id uuid.UUID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ids = append(k.ids, id)
	return nil
}

func (k *known) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.ids)
}

// The process dies between writing a delivery and starting its workflow, or Temporal
// restarts with an empty store.
func TestWebhooks_StartMissingWorkflows(t *testing.T) {
	t.Parallel()
	o, r := newOutbox(t), newReceiver(t)
	o.Connect("desk")
	e, _ := o.endpoint(r.URL)
	o.publish(post.TargetPosted)
	// Open transactions of other tests on the same server delay events for a moment.
	await(t, "the event", func() bool {
		written, err := o.Store.Notify.Webhooks.DispatchWebhooks(t.Context(), 100, func(e webhook.Event) (string, error) {
			return e.Body("")
		})
		o.Must(err)
		return written == 1
	})
	if got := len(o.deliveries(e, webhook.Pending)); got != 1 {
		t.Fatalf("got %d pending deliveries, want 1", got)
	}
	if again, err := o.Store.Notify.Webhooks.DispatchWebhooks(t.Context(), 100, nil); again != 0 || err != nil {
		t.Errorf("%d events dispatched again, %v", again, err)
	}
	_, err := o.Store.Publishing.Ledger.DetectNewTemporalStore(t.Context(), "first")
	o.Must(err)
	forgetful := &known{}
	ctx, stop := context.WithCancel(t.Context())
	d := o.dispatcher(forgetful)
	d.Pace.Overdue = time.Hour
	ended := make(chan struct{})
	go func() { defer close(ended); d.Run(ctx) }()
	await(t, "the start", func() bool {
		return forgetful.count() == 1 && o.Count("select count(*) from webhook_deliveries where has_workflow") == 1
	})
	_, err = o.Store.Publishing.Ledger.DetectNewTemporalStore(t.Context(), "second")
	o.Must(err)
	await(t, "the start in the new store", func() bool { return forgetful.count() == 2 })
	stop()
	<-ended
	// A single lost workflow is detected when its delivery is overdue.
	o.work(1)
	await(t, "the delivery", func() bool { return len(o.deliveries(e, webhook.Delivered)) == 1 })
	if got := len(r.all()); got != 1 {
		t.Errorf("%d requests", got)
	}
}

// try runs one attempt of a test delivery.
func (o *outbox) try(e webhook.Endpoint) (webhook.Step, webhook.Delivery) {
	o.t.Helper()
	d, err := o.Webhooks.Test(o.t.Context(), o.Owner, e.ID)
	o.Must(err)
	step, err := o.webhooks.AttemptDelivery(o.t.Context(), d.ID)
	o.Must(err)
	return step, o.deliveries(e, "")[0]
}

func TestWebhook_GoneDisablesTheEndpoint(t *testing.T) {
	t.Parallel()
	o, r := newOutbox(t), newReceiver(t, 410)
	e, _ := o.endpoint(r.URL)
	waiting, err := o.Webhooks.Test(t.Context(), o.Owner, e.ID)
	o.Must(err)
	if step, d := o.try(e); !step.Done || d.Status != webhook.Dead || d.ResponseStatus != 410 {
		t.Errorf("%+v after %+v", step, d)
	}
	got, err := o.Webhooks.Get(t.Context(), o.Owner, e.ID)
	if o.Must(err); got.Status != webhook.Disabled || got.DisabledReason != webhook.Gone {
		t.Errorf("the endpoint is %+v", got)
	}
	if n := o.Count("select count(*) from post_events where type = 'webhook_disabled' and data->>'webhook_id' = $1",
		e.ID.String()); n != 1 {
		t.Errorf("%d events", n)
	}
	// Pending deliveries are not sent.
	if step, err := o.webhooks.AttemptDelivery(t.Context(), waiting.ID); err != nil || !step.Done ||
		len(r.all()) != 1 || len(o.deliveries(e, webhook.Dead)) != 2 {
		t.Errorf("%+v %v, %d requests", step, err, len(r.all()))
	}
	if _, err := o.Webhooks.Test(t.Context(), o.Owner, e.ID); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("a test of it: %v", err)
	}
}

func TestWebhooks_DisableFailingEndpoints(t *testing.T) {
	t.Parallel()
	o, r := newOutbox(t), newReceiver(t, 500)
	e, _ := o.endpoint(r.URL)
	o.try(e)
	if got, _ := o.Webhooks.Get(t.Context(), o.Owner, e.ID); got.Status != webhook.Enabled || got.FailingSince == nil {
		t.Errorf("after one failure: %+v", got)
	}
	o.Exec("update webhook_endpoints set failing_since = now() - interval '121 hours'")
	o.try(e)
	if got, _ := o.Webhooks.Get(t.Context(), o.Owner, e.ID); got.Status != webhook.Disabled ||
		got.DisabledReason != webhook.Failing {
		t.Errorf("after five days: %+v", got)
	}
}

func TestWebhooks_DoNotFollowRedirects(t *testing.T) {
	t.Parallel()
	o, there := newOutbox(t), newReceiver(t)
	for _, status := range []int{301, 302, 307, 308} {
		r := newReceiver(t, status)
		r.header.Set("Location", there.URL)
		e, _ := o.endpoint(r.URL)
		step, d := o.try(e)
		require.False(t, step.Done, "%d: %+v %+v", status, step, d)
		require.GreaterOrEqual(t, step.Wait, 5*time.Second, "%d: %+v %+v", status, step, d)
		require.LessOrEqual(t, step.Wait, 6*time.Second, "%d: %+v %+v", status, step, d)
		require.Equal(t, webhook.Pending, d.Status, "%d: %+v %+v", status, step, d)
		require.Contains(t, d.LastError.Text, "redirects are not followed", "%d: %+v %+v", status, step, d)
	}
	if n := len(there.all()); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestWebhooks_NeverCallPrivateAddresses(t *testing.T) {
	t.Parallel()
	o, r := newOutbox(t), newReceiver(t)
	e, _ := o.endpoint(r.URL)
	strict, err := call.NewClient(nil)
	o.Must(err)
	o.webhooks.Deliverer.Client = strict
	for _, address := range []string{
		r.URL, strings.Replace(r.URL, "127.0.0.1", "localhost", 1),
		"https://169.254.169.254/latest", "https://[::1]/",
	} {
		o.Exec("update webhook_endpoints set url = $1", address)
		if _, d := o.try(e); d.Status != webhook.Pending || d.ResponseStatus != 0 || d.LastError.Text == "" ||
			strings.Contains(d.LastError.Text, "127.0.0.1") {
			t.Errorf("%s: %+v", address, d)
		}
	}
	if n := len(r.all()); n != 0 {
		t.Errorf("got %d requests", n)
	}
}

func TestWebhooks_OldSecretSignsUntilItExpires(t *testing.T) {
	t.Parallel()
	o, r := newOutbox(t), newReceiver(t)
	e, first := o.endpoint(r.URL)
	_, rotated, err := o.Webhooks.Rotate(t.Context(), o.Owner, e.ID)
	o.Must(err)
	o.try(e)
	verify(t, first, r.all()[0])
	verify(t, rotated.Reveal(), r.all()[0])
	o.Exec("update webhook_secrets set expires_at = now() where expires_at is not null")
	o.try(e)
	verify(t, rotated.Reveal(), r.all()[1])
	if n := len(strings.Fields(r.all()[1].signature)); n != 1 {
		t.Errorf("%d signatures", n)
	}
}
