package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
)

// MailStore reads subscriptions and fills the outbox.
type MailStore interface {
	Time(ctx context.Context) (time.Time, error)
	// ReportSubscriptions lists the weekly and monthly subscriptions of all sites.
	ReportSubscriptions(ctx context.Context) ([]SiteSubscription, error)
	HasEmail(ctx context.Context, id uuid.UUID) (bool, error)
	// AddEmail adds an email unless it was added before.
	AddEmail(ctx context.Context, e Email) error
}

// Reporter computes reports: report.Reporter.
type Reporter interface {
	Report(ctx context.Context, q report.Query) (report.Report, error)
}

// Mailer adds reports that are due to the outbox.
type Mailer struct {
	Store     MailStore
	Reports   Reporter
	PublicURL string
}

const (
	// dueHour is when reports are due, in the site's time zone.
	dueHour = 6
	// maxDelay is how late a report is still sent, for example after an outage.
	maxDelay = 3 * 24 * time.Hour
	// emailRows is the number of rows of a table in an email.
	emailRows = 10
)

// period is a period that a report is about.
type period struct {
	from, to counter.Day // included
	due      time.Time
}

// lastPeriod returns the last period whose report is due.
func lastPeriod(kind Kind, now time.Time) period {
	day := time.Date(now.Year(), now.Month(), now.Day(), dueHour, 0, 0, 0, now.Location())
	if kind == Monthly {
		due := day.AddDate(0, 0, 1-day.Day())
		if now.Before(due) {
			due = due.AddDate(0, -1, 0)
		}
		return period{dayOf(due.AddDate(0, -1, 0)), dayOf(due.AddDate(0, 0, -1)), due}
	}
	due := day.AddDate(0, 0, -(int(day.Weekday())+6)%7) // Monday
	if now.Before(due) {
		due = due.AddDate(0, 0, -7)
	}
	return period{dayOf(due.AddDate(0, 0, -7)), dayOf(due.AddDate(0, 0, -1)), due}
}

func dayOf(t time.Time) counter.Day {
	return counter.DayOf(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
}

// EnqueueReports adds the reports that are due, each once per period and recipient.
// One that fails does not hold back the others: the next run tries it again.
func (m *Mailer) EnqueueReports(ctx context.Context, heartbeat func()) (added int, err error) {
	now, err := m.Store.Time(ctx)
	if err != nil {
		return 0, err
	}
	all, err := m.Store.ReportSubscriptions(ctx)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, s := range all {
		heartbeat()
		did, err := m.enqueue(ctx, s, now)
		if err != nil {
			failed = append(failed, err)
		}
		if did {
			added++
		}
	}
	return added, errors.Join(failed...)
}

func (m *Mailer) enqueue(ctx context.Context, s SiteSubscription, now time.Time) (added bool, err error) {
	counted, err := s.Site.CounterSite()
	if err != nil {
		return false, err
	}
	p := lastPeriod(s.Kind, now.In(counted.Zone))
	if now.Sub(p.due) > maxDelay || s.CreatedAt.After(p.due) {
		return false, nil
	}
	id := uuid.NewSHA1(s.ID, []byte(p.from.Time().Format(time.DateOnly)))
	if has, err := m.Store.HasEmail(ctx, id); err != nil || has {
		return false, err
	}
	r, err := m.Reports.Report(ctx, report.Query{
		Site: counted, From: p.from, To: p.to, Compare: report.PreviousPeriod, Limit: emailRows,
	})
	if err != nil {
		return false, err
	}
	e, err := reportEmail(m.PublicURL, s, r)
	if err != nil {
		return false, err
	}
	e.ID = id
	return true, m.Store.AddEmail(ctx, e)
}
