package activities

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/retry"
	"dateline/internal/infra/ssrf"
	"dateline/internal/notify/webhook"
)

// WebhookStore is the database as deliveries use it.
type WebhookStore interface {
	DeliveryJob(ctx context.Context, id uuid.UUID) (webhook.Job, error)
	PostponeDelivery(ctx context.Context, id uuid.UUID, by time.Duration) error
	RecordAttempt(ctx context.Context, j webhook.Job, r webhook.Result, patience time.Duration) (disabled bool, err error)
	WebhookSecrets(ctx context.Context, endpoint uuid.UUID) ([]webhook.SealedSecret, error)
}

// Announcer tells streams that there are new events.
type Announcer interface {
	Announce()
}

// Webhooks delivers webhooks.
type Webhooks struct {
	Store  WebhookStore
	Sealer *secret.Sealer
	Client *http.Client // refuses private addresses, see call.NewClient
	Live   Announcer
	Log    *slog.Logger
	Timing WebhookTiming

	gates gates
}

// WebhookTiming are the pauses of deliveries. A zero field has the default that
// the Standard Webhooks specification recommends; tests shorten them.
type WebhookTiming struct {
	Pauses   []time.Duration // before the second attempt, the third …; after the last the delivery is dead
	Answer   time.Duration   // how long an endpoint may take; 15 s
	Patience time.Duration   // how long an endpoint may fail before it is disabled; 5 days
}

func (t WebhookTiming) orDefaults() WebhookTiming {
	if len(t.Pauses) == 0 {
		t.Pauses = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	}
	if t.Answer <= 0 {
		t.Answer = 15 * time.Second
	}
	if t.Patience <= 0 {
		t.Patience = 5 * 24 * time.Hour
	}
	return t
}

const (
	longestAsked  = 24 * time.Hour // that a Retry-After is followed
	keptOfAnswers = 1 << 10
)

// DeliveryStep says how a delivery goes on.
type DeliveryStep struct {
	Done bool
	Wait time.Duration // until the next attempt
}

// AttemptDelivery makes one attempt at a delivery, if it is due. Every attempt
// carries the same webhook-id: one whose outcome could not be recorded is made
// again, and the receiver knows it by that.
func (w *Webhooks) AttemptDelivery(ctx context.Context, id uuid.UUID) (DeliveryStep, error) {
	j, err := w.Store.DeliveryJob(ctx, id)
	var missing *apperr.Error
	if errors.As(err, &missing) {
		return DeliveryStep{Done: true}, nil // deleted with its endpoint
	}
	if err != nil {
		return DeliveryStep{}, err
	}
	switch {
	case j.Status != webhook.Pending:
		return DeliveryStep{Done: true}, nil
	case !j.Enabled:
		return w.record(ctx, j, webhook.Result{Status: webhook.Dead, Error: "The endpoint is disabled."})
	case j.Wait > 0:
		return DeliveryStep{Wait: j.Wait}, nil
	}
	leave, wait := w.gates.enter(j.EndpointID)
	if leave == nil {
		return DeliveryStep{Wait: wait}, w.Store.PostponeDelivery(ctx, id, wait)
	}
	r, err := w.attempt(ctx, j)
	leave()
	if err != nil {
		return DeliveryStep{}, err
	}
	return w.record(ctx, j, r)
}

func (w *Webhooks) record(ctx context.Context, j webhook.Job, r webhook.Result) (DeliveryStep, error) {
	// What was sent is recorded also when the worker is stopping.
	disabled, err := w.Store.RecordAttempt(context.WithoutCancel(ctx), j, r, w.Timing.orDefaults().Patience)
	if err != nil {
		return DeliveryStep{}, err
	}
	if disabled {
		w.Log.WarnContext(ctx, "a webhook endpoint was disabled", "webhook_id", j.EndpointID, "gone", r.Gone)
		w.Live.Announce()
	}
	return DeliveryStep{Done: r.Status != webhook.Pending, Wait: r.Again}, nil
}

// attempt sends once. An error means that nothing was sent.
func (w *Webhooks) attempt(ctx context.Context, j webhook.Job) (webhook.Result, error) {
	sealed, err := w.Store.WebhookSecrets(ctx, j.EndpointID)
	if err != nil {
		return webhook.Result{}, err
	}
	secrets := make([]secret.Text, len(sealed))
	for i, s := range sealed {
		if secrets[i], err = w.Sealer.Open(s.Sealed, s.Name()); err != nil {
			return webhook.Result{}, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, w.Timing.orDefaults().Answer)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, j.URL, strings.NewReader(j.Body))
	if err != nil {
		return webhook.Result{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Dateline")
	if err := webhook.Sign(request.Header, secrets, j.ID.String(), time.Now(), j.Body); err != nil {
		return webhook.Result{}, err
	}
	client := *w.Client
	// Whoever answers with a redirect could send the event to anywhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(request)
	if err != nil {
		w.Log.InfoContext(ctx, "a webhook was not delivered", "delivery_id", j.ID, "webhook_id", j.EndpointID, "attempt", j.Attempts+1, "error", reason(err))
		return w.failed(j, webhook.Result{Made: true, Error: reason(err)}, 0), nil
	}
	defer func() { _ = answer.Body.Close() }()
	head, _ := io.ReadAll(io.LimitReader(answer.Body, keptOfAnswers)) // the status decides; a broken body matters to nobody
	r := webhook.Result{Made: true, ResponseStatus: answer.StatusCode, ResponseBody: printable(head)}
	if answer.StatusCode/100 == 2 {
		r.Status = webhook.Delivered
		return r, nil
	}
	r.Error = "The endpoint answered " + strconv.Itoa(answer.StatusCode) + "."
	w.Log.InfoContext(ctx, "a webhook was not delivered", "delivery_id", j.ID, "webhook_id", j.EndpointID, "attempt", j.Attempts+1, "status", answer.StatusCode)
	var asked time.Duration
	switch answer.StatusCode {
	case http.StatusGone:
		r.Gone, r.Status = true, webhook.Dead
		return r, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		asked = retry.After(answer.Header, time.Now(), longestAsked)
	}
	if answer.StatusCode/100 == 3 {
		r.Error = "The endpoint answered " + strconv.Itoa(answer.StatusCode) + "; redirects are not followed. Give the address that it leads to."
	}
	return w.failed(j, r, asked), nil
}

// failed decides when a failed attempt is followed by another.
func (w *Webhooks) failed(j webhook.Job, r webhook.Result, asked time.Duration) webhook.Result {
	pauses := w.Timing.orDefaults().Pauses
	if j.Tries >= len(pauses) {
		r.Status = webhook.Dead
		return r
	}
	pause := pauses[j.Tries]
	r.Status = webhook.Pending
	r.Again = max(retry.Jitter(pause), asked)
	return r
}

// reason says why no answer came, without the addresses that a name resolved
// to: people see it, and those may be of the operator's own network.
func reason(err error) string {
	var outer *url.Error
	switch {
	case ssrf.Prohibited(err):
		return "Its address is private or its port unusual, which is not allowed."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &outer) && outer.Timeout():
		return "The endpoint took too long."
	default:
		return "The endpoint cannot be reached."
	}
}

// printable makes of an answer what a database and a person can read.
func printable(raw []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(raw), "?"), "\x00", "?")
}
