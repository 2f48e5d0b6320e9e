package email

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// Status is the status of an email in the outbox.
type Status string

// The statuses. Dead emails are only sent again on request.
const (
	Pending Status = "pending"
	Sending Status = "sending"
	Sent    Status = "sent"
	Dead    Status = "dead"
)

// Job is an email that was claimed to be sent.
type Job struct {
	Message
	Attempts int // including this one
}

// Result is the result of an attempt.
type Result struct {
	Status  Status
	RetryIn time.Duration // of a pending email
	Error   string
}

// OutboxStore stores the outbox.
type OutboxStore interface {
	// ClaimEmail claims an email that is due. found is false if there is none.
	ClaimEmail(ctx context.Context) (j Job, found bool, err error)
	RecordEmail(ctx context.Context, id uuid.UUID, r Result) error
	// AbandonEmails makes emails dead that were claimed before and have no result,
	// because the process that sent them ended: they may have been delivered.
	AbandonEmails(ctx context.Context, after time.Duration, reason string) (int64, error)
	PruneEmails(ctx context.Context, retentionDays int) error
}

// Sender sends an email: SMTP.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Outbox sends the emails of an outbox.
type Outbox struct {
	Store  OutboxStore
	Sender Sender
	Log    *slog.Logger
	// RetrySchedule has the delays before the second, third … attempt; nil: a default
	// of about two days. Then the email is dead.
	RetrySchedule []time.Duration
}

const (
	claimTimeout  = 10 * time.Minute // an attempt takes at most 30 s
	retentionDays = 90
	maxPerRun     = 500
	uncertainText = "The process ended while sending; the email may have been delivered."
)

func (o *Outbox) schedule() []time.Duration {
	if o.RetrySchedule != nil {
		return o.RetrySchedule
	}
	return []time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour,
		24 * time.Hour,
	}
}

// SendResult counts what a run did.
type SendResult struct{ Sent, Failed, Dead int }

// SendDue sends the emails that are due.
func (o *Outbox) SendDue(ctx context.Context, heartbeat func()) (done SendResult, err error) {
	abandoned, err := o.Store.AbandonEmails(ctx, claimTimeout, uncertainText)
	if err != nil {
		return done, err
	}
	done.Dead = int(abandoned)
	for range maxPerRun {
		heartbeat()
		j, found, err := o.Store.ClaimEmail(ctx)
		if err != nil {
			return done, err
		}
		if !found {
			break
		}
		r := o.attempt(ctx, j)
		switch r.Status {
		case Sent:
			done.Sent++
		case Dead:
			done.Dead++
			o.Log.WarnContext(ctx, "an email was not sent", "email_id", j.ID, "attempts", j.Attempts, "error", r.Error)
		case Pending, Sending:
			done.Failed++
		}
		// The result is recorded even if the worker is stopping.
		if err := o.Store.RecordEmail(context.WithoutCancel(ctx), j.ID, r); err != nil {
			return done, err
		}
	}
	return done, o.Store.PruneEmails(ctx, retentionDays)
}

func (o *Outbox) attempt(ctx context.Context, j Job) Result {
	err := o.Sender.Send(ctx, j.Message)
	retries := o.schedule()
	switch {
	case err == nil:
		return Result{Status: Sent}
	case errors.Is(err, ErrRejected) || errors.Is(err, ErrUncertain) || j.Attempts > len(retries):
		return Result{Status: Dead, Error: err.Error()}
	default:
		return Result{Status: Pending, RetryIn: retries[j.Attempts-1], Error: err.Error()}
	}
}
