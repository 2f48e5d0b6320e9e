package webhook

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
)

// DeliveryStore is the database as deliveries use it.
type DeliveryStore interface {
	DeliveryJob(ctx context.Context, id uuid.UUID) (Job, error)
	PostponeDelivery(ctx context.Context, id uuid.UUID, by time.Duration) error
	RecordAttempt(ctx context.Context, j Job, r Result, disableAfter time.Duration) (disabled bool, err error)
	WebhookSecrets(ctx context.Context, endpoint uuid.UUID) ([]SealedSecret, error)
}

// Deliverer delivers webhooks.
type Deliverer struct {
	Store  DeliveryStore
	Sealer *secret.Sealer
	Client *http.Client // refuses private addresses, see call.NewClient
	Live   Announcer
	Log    *slog.Logger
	Timing Timing

	slots endpointSlots
}

// Timing are the intervals of deliveries. A zero field has the default that the
// Standard Webhooks specification recommends; tests shorten them.
type Timing struct {
	Delays          []time.Duration // before the second attempt, the third …; after the last the delivery is dead
	ResponseTimeout time.Duration   // 15 s
	DisableAfter    time.Duration   // how long an endpoint may fail before it is disabled; 5 days
}

func (t Timing) orDefaults() Timing {
	if len(t.Delays) == 0 {
		t.Delays = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	}
	if t.ResponseTimeout <= 0 {
		t.ResponseTimeout = 15 * time.Second
	}
	if t.DisableAfter <= 0 {
		t.DisableAfter = 5 * 24 * time.Hour
	}
	return t
}

const (
	maxRetryAfter   = 24 * time.Hour
	maxResponseBody = 1 << 10 // that is stored
)

// Step is the result of an attempt.
type Step struct {
	Done bool
	Wait time.Duration // until the next attempt
}

// Attempt makes one attempt at a delivery, if it is due. Every attempt carries the
// same webhook-id: an attempt whose outcome could not be recorded is repeated, and
// the receiver recognizes it by the id.
func (d *Deliverer) Attempt(ctx context.Context, id uuid.UUID) (Step, error) {
	j, err := d.Store.DeliveryJob(ctx, id)
	var missing *apperr.Error
	if errors.As(err, &missing) {
		return Step{Done: true}, nil // deleted with its endpoint
	}
	if err != nil {
		return Step{}, err
	}
	switch {
	case j.Status != Pending:
		return Step{Done: true}, nil
	case !j.Enabled:
		return d.record(ctx, j, Result{Status: Dead, Error: "The endpoint is disabled."})
	case j.Wait > 0:
		return Step{Wait: j.Wait}, nil
	}
	release, wait := d.slots.acquire(j.EndpointID)
	if release == nil {
		return Step{Wait: wait}, d.Store.PostponeDelivery(ctx, id, wait)
	}
	r, err := d.attempt(ctx, j)
	release()
	if err != nil {
		return Step{}, err
	}
	return d.record(ctx, j, r)
}

func (d *Deliverer) record(ctx context.Context, j Job, r Result) (Step, error) {
	// What was sent is recorded also when the worker is stopping.
	disabled, err := d.Store.RecordAttempt(context.WithoutCancel(ctx), j, r, d.Timing.orDefaults().DisableAfter)
	if err != nil {
		return Step{}, err
	}
	if disabled {
		d.Log.WarnContext(ctx, "webhook endpoint disabled", "webhook_id", j.EndpointID, "gone", r.Gone)
		d.Live.Announce()
	}
	return Step{Done: r.Status != Pending, Wait: r.RetryIn}, nil
}

// attempt sends once. An error means that nothing was sent.
func (d *Deliverer) attempt(ctx context.Context, j Job) (Result, error) {
	sealed, err := d.Store.WebhookSecrets(ctx, j.EndpointID)
	if err != nil {
		return Result{}, err
	}
	secrets := make([]secret.Text, len(sealed))
	for i, s := range sealed {
		if secrets[i], err = d.Sealer.Open(s.Sealed, s.Name()); err != nil {
			return Result{}, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timing.orDefaults().ResponseTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, j.URL, strings.NewReader(j.Body))
	if err != nil {
		return Result{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Dateline")
	if err := Sign(request.Header, secrets, j.ID.String(), time.Now(), j.Body); err != nil {
		return Result{}, err
	}
	client := *d.Client
	// A redirect could send the event anywhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		d.Log.InfoContext(ctx, "webhook delivery failed", "delivery_id", j.ID, "webhook_id", j.EndpointID, "attempt", j.Attempts+1, "error", reason(err))
		return d.failed(j, Result{Sent: true, Error: reason(err)}, 0), nil
	}
	defer func() { _ = response.Body.Close() }()
	head, _ := io.ReadAll(io.LimitReader(response.Body, maxResponseBody)) // the status decides; an incomplete body does not matter
	r := Result{Sent: true, ResponseStatus: response.StatusCode, ResponseBody: printable(head)}
	if response.StatusCode/100 == 2 {
		r.Status = Delivered
		return r, nil
	}
	r.Error = "The endpoint responded with " + strconv.Itoa(response.StatusCode) + "."
	d.Log.InfoContext(ctx, "webhook delivery failed", "delivery_id", j.ID, "webhook_id", j.EndpointID, "attempt", j.Attempts+1, "status", response.StatusCode)
	var retryAfter time.Duration
	switch response.StatusCode {
	case http.StatusGone:
		r.Gone, r.Status = true, Dead
		return r, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		retryAfter = retry.After(response.Header, time.Now(), maxRetryAfter)
	}
	if response.StatusCode/100 == 3 {
		r.Error = "The endpoint responded with " + strconv.Itoa(response.StatusCode) + "; redirects are not followed. Use the address that it redirects to."
	}
	return d.failed(j, r, retryAfter), nil
}

// failed schedules the retry of a failed attempt.
func (d *Deliverer) failed(j Job, r Result, retryAfter time.Duration) Result {
	delays := d.Timing.orDefaults().Delays
	if j.Retries >= len(delays) {
		r.Status = Dead
		return r
	}
	delay := delays[j.Retries]
	r.Status = Pending
	r.RetryIn = max(retry.Jitter(delay), retryAfter)
	return r
}

// reason returns why there is no response, without the addresses that a name
// resolved to: users see it, and those may be in the operator's own network.
func reason(err error) string {
	var outer *url.Error
	switch {
	case ssrf.IsBlocked(err):
		return "Its address is private or its port unusual, which is not allowed."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &outer) && outer.Timeout():
		return "The endpoint took too long."
	default:
		return "The endpoint cannot be reached."
	}
}

// printable makes a response readable for a database and a person.
func printable(raw []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(raw), "?"), "\x00", "?")
}
