package webhook

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
	"dateline/internal/infra/retry"
	"dateline/internal/infra/ssrf"
)

// DeliveryStore stores deliveries.
type DeliveryStore interface {
	DeliveryJob(ctx context.Context, id uuid.UUID) (Job, error)
	PostponeDelivery(ctx context.Context, id uuid.UUID, by time.Duration) error
	RecordAttempt(ctx context.Context, j Job, r Result, failureTimeout time.Duration) (disabled bool, err error)
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
	// Channels sends notifications of members.
	Channels Channels

	slots endpointSlots
}

// Channels sends the deliveries of channels: notification.Sender.
type Channels interface {
	// Hold returns how long a delivery has to wait for the end of quiet hours.
	Hold(ctx context.Context, j Job) (time.Duration, error)
	// Send sends a delivery. An error means that nothing was sent.
	Send(ctx context.Context, j Job) (Answer, error)
}

// Answer is the result of sending a notification.
type Answer struct {
	Delivered  bool
	Unsent     bool // there was nothing to send
	Status     int  // HTTP status, or reply code of a mail server; 0 without a response
	Error      message.Message
	Gone       bool // the destination does not exist any more
	Permanent  bool // another attempt would fail, too
	RetryAfter time.Duration
}

// Timing contains the retry schedule and timeouts of deliveries. Zero fields have
// the defaults recommended by the Standard Webhooks specification; tests use shorter ones.
type Timing struct {
	RetrySchedule  []time.Duration // delays before the second, third … attempt; then the delivery is dead
	Timeout        time.Duration   // of an attempt; default 15 s
	FailureTimeout time.Duration   // without success, after which an endpoint is disabled; default 5 days
}

func (t Timing) withDefaults() Timing {
	if len(t.RetrySchedule) == 0 {
		t.RetrySchedule = []time.Duration{
			5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
			5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		}
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

// Step is what the workflow does next.
type Step struct {
	Done bool
	Wait time.Duration // until the next attempt
}

// Attempt attempts a delivery, if it is due. All attempts have the same
// webhook-id, so that a receiver can detect the repetition of an attempt whose result
// could not be recorded.
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
		return d.record(ctx, j, Result{
			Status: Dead, Error: message.New("webhook_is_disabled", "The endpoint is disabled."),
		})
	case j.Wait > 0:
		return Step{Wait: j.Wait}, nil
	}
	if j.ChannelID != uuid.Nil {
		hold, err := d.Channels.Hold(ctx, j)
		if err != nil {
			return Step{}, err
		}
		if hold > 0 {
			return Step{Wait: hold}, d.Store.PostponeDelivery(ctx, id, hold)
		}
	}
	release, wait := d.slots.acquire(j.receiver())
	if release == nil {
		return Step{Wait: wait}, d.Store.PostponeDelivery(ctx, id, wait)
	}
	send := d.attempt
	if j.ChannelID != uuid.Nil {
		send = d.notify
	}
	r, err := send(ctx, j)
	release()
	if err != nil {
		return Step{}, err
	}
	return d.record(ctx, j, r)
}

func (d *Deliverer) record(ctx context.Context, j Job, r Result) (Step, error) {
	// The result is recorded even if the worker is stopping.
	disabled, err := d.Store.RecordAttempt(context.WithoutCancel(ctx), j, r, d.Timing.withDefaults().FailureTimeout)
	if err != nil {
		return Step{}, err
	}
	if disabled {
		d.Log.WarnContext(ctx, "a webhook endpoint or notification channel was disabled", "webhook_id", j.EndpointID,
			"channel_id", j.ChannelID, "gone", r.Gone)
		d.Live.Announce()
	}
	return Step{Done: r.Status != Pending, Wait: r.RetryIn}, nil
}

// attempt sends a request. An error means that nothing was sent.
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
	ctx, cancel := context.WithTimeout(ctx, d.Timing.withDefaults().Timeout)
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
	// A redirect could leak the event to another host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		d.Log.InfoContext(ctx, "a webhook was not delivered", "delivery_id", j.ID, "webhook_id", j.EndpointID,
			"attempt", j.Attempts+1, "error", Reason(err).Text)
		return d.failed(j, Result{Sent: true, Error: Reason(err)}, 0), nil
	}
	defer func() { _ = response.Body.Close() }()
	head, _ := io.ReadAll(io.LimitReader(response.Body, maxResponseBody)) // only the status matters
	r := Result{Sent: true, ResponseStatus: response.StatusCode, ResponseBody: printable(head)}
	if response.StatusCode/100 == 2 {
		r.Status = Delivered
		return r, nil
	}
	r.Error = message.New("webhook_responded", "The endpoint responded with {http_status}.", response.StatusCode)
	d.Log.InfoContext(ctx, "a webhook was not delivered", "delivery_id", j.ID, "webhook_id", j.EndpointID, "attempt",
		j.Attempts+1, "status", response.StatusCode)
	var retryAfter time.Duration
	switch response.StatusCode {
	case http.StatusGone:
		r.Gone, r.Status = true, Dead
		return r, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		retryAfter = retry.After(response.Header, time.Now(), maxRetryAfter)
	}
	if response.StatusCode/100 == 3 {
		r.Error = message.New("webhook_redirected",
			"The endpoint responded with {http_status}; redirects are not followed. Use the target URL.",
			response.StatusCode)
	}
	return d.failed(j, r, retryAfter), nil
}

// notify sends a notification.
func (d *Deliverer) notify(ctx context.Context, j Job) (Result, error) {
	a, err := d.Channels.Send(ctx, j)
	if err != nil {
		return Result{}, err
	}
	r := Result{Sent: !a.Unsent, ResponseStatus: a.Status, Error: a.Error, Gone: a.Gone}
	switch {
	case a.Delivered:
		r.Status = Delivered
		return r, nil
	case a.Gone || a.Permanent:
		r.Status = Dead
	default:
		r = d.failed(j, r, a.RetryAfter)
	}
	d.Log.InfoContext(ctx, "a notification was not delivered", "delivery_id", j.ID, "channel_id", j.ChannelID,
		"attempt", j.Attempts+1, "status", a.Status, "error", a.Error.Text)
	return r, nil
}

// failed schedules the next attempt after a failure.
func (d *Deliverer) failed(j Job, r Result, retryAfter time.Duration) Result {
	schedule := d.Timing.withDefaults().RetrySchedule
	if j.Retries >= len(schedule) {
		r.Status = Dead
		return r
	}
	pause := schedule[j.Retries]
	r.Status = Pending
	r.RetryIn = max(retry.Jitter(pause), retryAfter)
	return r
}

// Reason returns why there was no response, without URLs and resolved addresses: users see it, and
// the addresses may be internal.
func Reason(err error) message.Message {
	var outer *url.Error
	switch {
	case ssrf.IsBlocked(err):
		return message.New("address_not_allowed", "The address is private or the port is not allowed.")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &outer) && outer.Timeout():
		return message.New("request_timed_out", "The request timed out.")
	default:
		return message.New("endpoint_unreachable", "The endpoint is not reachable.")
	}
}

// printable replaces invalid UTF-8 and NUL characters.
func printable(raw []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(raw), "?"), "\x00", "?")
}
