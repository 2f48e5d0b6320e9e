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

// WebhookStore stores deliveries.
type WebhookStore interface {
	DeliveryJob(ctx context.Context, id uuid.UUID) (webhook.Job, error)
	PostponeDelivery(ctx context.Context, id uuid.UUID, by time.Duration) error
	RecordAttempt(ctx context.Context, j webhook.Job, r webhook.Result, failureTimeout time.Duration) (disabled bool, err error)
	WebhookSecrets(ctx context.Context, endpoint uuid.UUID) ([]webhook.SealedSecret, error)
}

// Announcer notifies event streams of new events.
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

// WebhookTiming contains the retry schedule and timeouts of deliveries. Zero fields have
// the defaults recommended by the Standard Webhooks specification; tests use shorter ones.
type WebhookTiming struct {
	RetrySchedule  []time.Duration // delays before the second, third … attempt; then the delivery is dead
	Timeout        time.Duration   // of an attempt; default 15 s
	FailureTimeout time.Duration   // without success, after which an endpoint is disabled; default 5 days
}

func (t WebhookTiming) withDefaults() WebhookTiming {
	if len(t.RetrySchedule) == 0 {
		t.RetrySchedule = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	}
	if t.Timeout <= 0 {
		t.Timeout = 15 * time.Second
	}
	if t.FailureTimeout <= 0 {
		t.FailureTimeout = 5 * 24 * time.Hour
	}
	return t
}

const (
	maxRetryAfter   = 24 * time.Hour
	maxResponseBody = 1 << 10
)

// DeliveryStep tells the workflow how to continue.
type DeliveryStep struct {
	Done bool
	Wait time.Duration // until the next attempt
}

// AttemptDelivery attempts a delivery, if it is due. All attempts have the same
// webhook-id, so that a receiver can detect the repetition of an attempt whose result
// could not be recorded.
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
	// The result is recorded even if the worker is stopping.
	disabled, err := w.Store.RecordAttempt(context.WithoutCancel(ctx), j, r, w.Timing.withDefaults().FailureTimeout)
	if err != nil {
		return DeliveryStep{}, err
	}
	if disabled {
		w.Log.WarnContext(ctx, "a webhook endpoint was disabled", "webhook_id", j.EndpointID, "gone", r.Gone)
		w.Live.Announce()
	}
	return DeliveryStep{Done: r.Status != webhook.Pending, Wait: r.RetryIn}, nil
}

// attempt sends a request. An error means that nothing was sent.
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
	ctx, cancel := context.WithTimeout(ctx, w.Timing.withDefaults().Timeout)
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
	// A redirect could leak the event to another host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		w.Log.InfoContext(ctx, "a webhook was not delivered", "delivery_id", j.ID, "webhook_id", j.EndpointID, "attempt", j.Attempts+1, "error", reason(err))
		return w.failed(j, webhook.Result{Sent: true, Error: reason(err)}, 0), nil
	}
	defer func() { _ = response.Body.Close() }()
	head, _ := io.ReadAll(io.LimitReader(response.Body, maxResponseBody)) // only the status matters
	r := webhook.Result{Sent: true, ResponseStatus: response.StatusCode, ResponseBody: printable(head)}
	if response.StatusCode/100 == 2 {
		r.Status = webhook.Delivered
		return r, nil
	}
	r.Error = "The endpoint responded with " + strconv.Itoa(response.StatusCode) + "."
	w.Log.InfoContext(ctx, "a webhook was not delivered", "delivery_id", j.ID, "webhook_id", j.EndpointID, "attempt", j.Attempts+1, "status", response.StatusCode)
	var retryAfter time.Duration
	switch response.StatusCode {
	case http.StatusGone:
		r.Gone, r.Status = true, webhook.Dead
		return r, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		retryAfter = retry.After(response.Header, time.Now(), maxRetryAfter)
	}
	if response.StatusCode/100 == 3 {
		r.Error = "The endpoint responded with " + strconv.Itoa(response.StatusCode) + "; redirects are not followed. Use the target URL."
	}
	return w.failed(j, r, retryAfter), nil
}

// failed schedules the next attempt after a failure.
func (w *Webhooks) failed(j webhook.Job, r webhook.Result, retryAfter time.Duration) webhook.Result {
	schedule := w.Timing.withDefaults().RetrySchedule
	if j.Retries >= len(schedule) {
		r.Status = webhook.Dead
		return r
	}
	pause := schedule[j.Retries]
	r.Status = webhook.Pending
	r.RetryIn = max(retry.Jitter(pause), retryAfter)
	return r
}

// reason returns why there was no response, without resolved addresses: users see it, and
// the addresses may be internal.
func reason(err error) string {
	var outer *url.Error
	switch {
	case ssrf.IsBlocked(err):
		return "The address is private or the port is not allowed."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &outer) && outer.Timeout():
		return "The request timed out."
	default:
		return "The endpoint is not reachable."
	}
}

// printable replaces invalid UTF-8 and NUL characters.
func printable(raw []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(raw), "?"), "\x00", "?")
}
