package subscription

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/audience/site"
)

// AlertKind is the kind of an alert.
type AlertKind string

// The kinds of alerts.
const (
	Spike AlertKind = "spike" // many more views than usual
	Drop  AlertKind = "drop"  // many fewer views than usual, or none
)

// Rule says when a site's views of an hour are unusual. They are compared with the
// median of the same hour of the previous four weeks.
type Rule struct {
	Enabled     bool
	SpikeFactor float64 // a spike has at least so many times the usual views
	DropShare   float64 // a drop has at most this share of the usual views
	MinViews    int64   // of the hour for a spike, usual ones for a drop
}

// DefaultRule is the rule of sites without one. It is disabled.
func DefaultRule() Rule { return Rule{SpikeFactor: 3, DropShare: 0.3, MinViews: 100} }

// Alert is an hour with an unusual number of views.
type Alert struct {
	ID, WorkspaceID, SiteID uuid.UUID
	Kind                    AlertKind
	Hour                    time.Time // when it began
	Views, Usual            int64
	CreatedAt               time.Time
}

// RuledSite is a site with an enabled rule.
type RuledSite struct {
	Site site.Site
	Rule Rule
}

// AlertStore reads what alerts are made of and stores them.
type AlertStore interface {
	Time(ctx context.Context) (time.Time, error)
	RuledSites(ctx context.Context) ([]RuledSite, error)
	// HasAlert reports whether a site had an alert of a kind for an hour since a time.
	HasAlert(ctx context.Context, site uuid.UUID, kind AlertKind, since time.Time) (bool, error)
	ReportHours(ctx context.Context, site uuid.UUID, from, to time.Time) ([]report.Bucket, error)
	SiteSubscriptions(ctx context.Context, site uuid.UUID, kind Kind) ([]Subscription, error)
	// AddAlert stores an alert once, with its emails and an event for webhooks.
	AddAlert(ctx context.Context, a Alert, emails []Email) error
}

// Alerter raises alerts.
type Alerter struct {
	Store     AlertStore
	PublicURL string
	Log       *slog.Logger
}

const (
	comparedWeeks = 4
	minWeeks      = 2 // with counts, to know what is usual
	// flushDelay is when the counts of an hour are in the database.
	flushDelay = 3 * time.Minute
	// pauseBetween limits alerts of a kind to two a day.
	pauseBetween = 12 * time.Hour
)

// Check raises alerts for the last complete hour of all sites. A site that fails does
// not hold back the others.
func (a *Alerter) Check(ctx context.Context, heartbeat func()) (raised int, err error) {
	now, err := a.Store.Time(ctx)
	if err != nil {
		return 0, err
	}
	sites, err := a.Store.RuledSites(ctx)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, one := range sites {
		heartbeat()
		did, err := a.check(ctx, one, now)
		if err != nil {
			failed = append(failed, err)
		}
		if did {
			raised++
		}
	}
	return raised, errors.Join(failed...)
}

func (a *Alerter) check(ctx context.Context, one RuledSite, now time.Time) (raised bool, err error) {
	counted, err := one.Site.CounterSite()
	if err != nil {
		return false, err
	}
	hour := counter.HourAt(counter.HourAt(now.Add(-flushDelay), counted.Zone).Add(-time.Second), counted.Zone)
	views, usual, known, err := a.compare(ctx, one.Site, hour)
	if err != nil || !known {
		return false, err
	}
	kind := one.Rule.Match(views, usual)
	if kind == "" {
		return false, nil
	}
	if recent, err := a.Store.HasAlert(ctx, one.Site.ID, kind, hour.Add(-pauseBetween)); err != nil || recent {
		return false, err
	}
	alert := Alert{
		ID:          uuid.NewSHA1(one.Site.ID, []byte(string(kind)+hour.UTC().Format(time.RFC3339))),
		WorkspaceID: one.Site.WorkspaceID, SiteID: one.Site.ID, Kind: kind,
		Hour: hour, Views: views, Usual: usual,
	}
	subscribed, err := a.Store.SiteSubscriptions(ctx, one.Site.ID, Alerts)
	if err != nil {
		return false, err
	}
	var emails []Email
	for _, s := range subscribed {
		e, err := alertEmail(a.PublicURL, SiteSubscription{s, one.Site}, alert, counted.Zone)
		if err != nil {
			return false, err
		}
		emails = append(emails, e)
	}
	a.Log.InfoContext(ctx, "a site's views are unusual", "site_id", alert.SiteID, "kind", kind, "views", views, "usual",
		usual)
	return true, a.Store.AddAlert(ctx, alert, emails)
}

// compare returns the views of an hour and the usual ones. They are unknown for a
// site that is younger than two weeks.
func (a *Alerter) compare(
	ctx context.Context, s site.Site, hour time.Time,
) (views, usual int64, known bool, err error) {
	if views, err = a.hourViews(ctx, s.ID, hour); err != nil {
		return 0, 0, false, err
	}
	var earlier []int64
	for week := 1; week <= comparedWeeks; week++ {
		at := hour.AddDate(0, 0, -7*week)
		if at.Before(s.CreatedAt) {
			break
		}
		n, err := a.hourViews(ctx, s.ID, at)
		if err != nil {
			return 0, 0, false, err
		}
		earlier = append(earlier, n)
	}
	if len(earlier) < minWeeks {
		return 0, 0, false, nil
	}
	return views, median(earlier), true, nil
}

func (a *Alerter) hourViews(ctx context.Context, id uuid.UUID, hour time.Time) (views int64, err error) {
	rows, err := a.Store.ReportHours(ctx, id, hour, hour.Add(time.Hour))
	for _, row := range rows {
		if row.Views != nil {
			views += *row.Views
		}
	}
	return views, err
}

// median returns the lower one of two middle values, so that one viral hour of an
// earlier week does not hide a spike.
func median(values []int64) int64 {
	slices.SortFunc(values, cmp.Compare)
	return values[(len(values)-1)/2]
}

// Match returns the kind of alert for an hour; "" for none.
func (r Rule) Match(views, usual int64) AlertKind {
	switch {
	case views >= r.MinViews && float64(views) >= r.SpikeFactor*float64(usual):
		return Spike
	case usual >= r.MinViews && float64(views) <= r.DropShare*float64(usual):
		return Drop
	default:
		return ""
	}
}
