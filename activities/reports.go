package activities

import (
	"context"

	"dateline/internal/notify/email"
)

// ReportMailer adds the reports that are due to the outbox: subscription.Mailer.
type ReportMailer interface {
	EnqueueReports(ctx context.Context, heartbeat func()) (added int, err error)
}

// Alerter raises alerts: subscription.Alerter.
type Alerter interface {
	Check(ctx context.Context, heartbeat func()) (raised int, err error)
}

// EmailOutbox sends the emails that are due: email.Outbox.
type EmailOutbox interface {
	SendDue(ctx context.Context, heartbeat func()) (email.SendResult, error)
}

// Reports has the activities that send reports and alerts.
type Reports struct {
	Mailer  ReportMailer // nil: no SMTP server is configured
	Alerter Alerter
	Outbox  EmailOutbox // nil with Mailer
}

// CheckAlerts raises alerts for the last complete hour.
func (r *Reports) CheckAlerts(ctx context.Context) (raised int, err error) {
	return r.Alerter.Check(ctx, heartbeatFunc(ctx))
}

// EnqueueReports adds the reports that are due to the outbox.
func (r *Reports) EnqueueReports(ctx context.Context) (added int, err error) {
	if r.Mailer == nil {
		return 0, nil
	}
	return r.Mailer.EnqueueReports(ctx, heartbeatFunc(ctx))
}

// SendEmails sends the emails that are due.
func (r *Reports) SendEmails(ctx context.Context) (email.SendResult, error) {
	if r.Outbox == nil {
		return email.SendResult{}, nil
	}
	return r.Outbox.SendDue(ctx, heartbeatFunc(ctx))
}
