package audience

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/subscription"
	"dateline/internal/notify/email"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/tx"
)

// HasEmail reports whether the outbox has or had an email.
func (s *SubscriptionStore) HasEmail(ctx context.Context, id uuid.UUID) (bool, error) {
	return s.q.HasEmail(ctx, id)
}

// AddEmail adds an email to the outbox unless it was added before.
func (s *SubscriptionStore) AddEmail(ctx context.Context, e subscription.Email) error {
	return addEmail(ctx, s.q, e)
}

func addEmail(ctx context.Context, q *queries, e subscription.Email) error {
	return q.InsertEmail(ctx, db.InsertEmailParams{
		ID: e.ID, WorkspaceID: e.WorkspaceID,
		SubscriptionID: e.SubscriptionID, Recipient: e.To, Subject: e.Subject,
		BodyText: e.Text, BodyHtml: e.HTML, UnsubscribeUrl: e.UnsubscribeURL,
	})
}

// ClaimEmail claims an email that is due.
func (s *SubscriptionStore) ClaimEmail(ctx context.Context) (j email.Job, found bool, err error) {
	r, err := s.q.ClaimEmail(ctx)
	if tx.NoRows(err) {
		return j, false, nil
	}
	return email.Job{
		Message: email.Message{
			ID: r.ID, To: r.Recipient, Subject: r.Subject, Text: r.BodyText,
			HTML: r.BodyHtml, UnsubscribeURL: r.UnsubscribeUrl,
		},
		Attempts: r.Attempts,
	}, err == nil, err
}

// RecordEmail records the result of an attempt.
func (s *SubscriptionStore) RecordEmail(ctx context.Context, id uuid.UUID, r email.Result) error {
	return s.q.RecordEmail(ctx, db.RecordEmailParams{
		ID: id, Status: string(r.Status), LastError: r.Error, RetryIn: r.RetryIn.Seconds(),
	})
}

// AbandonEmails makes emails dead whose process ended while sending.
func (s *SubscriptionStore) AbandonEmails(ctx context.Context, after time.Duration, reason string) (int64, error) {
	return s.q.AbandonEmails(ctx, db.AbandonEmailsParams{LastError: reason, After: after.Seconds()})
}

// PruneEmails deletes old emails.
func (s *SubscriptionStore) PruneEmails(ctx context.Context, retentionDays int) error {
	return s.q.PruneEmails(ctx, retentionDays)
}
