package subscription_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/report"
	"dateline/internal/audience/site"
	"dateline/internal/audience/subscription"
	"dateline/internal/infra/timezone"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/email"
	"dateline/internal/storage/postgres/audience"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// clock is a store whose time a test sets.
type clock struct {
	*audience.SubscriptionStore
	*audience.ReportStore
	now time.Time
}

func (c *clock) Time(context.Context) (time.Time, error) { return c.now, nil }

func (c *clock) ReportHours(ctx context.Context, site uuid.UUID, from, to time.Time) ([]report.Bucket, error) {
	return c.ReportStore.ReportHours(ctx, site, from, to)
}

// outbox keeps what is sent.
type outbox struct {
	sent []email.Message
	err  error
}

func (o *outbox) Send(_ context.Context, m email.Message) error {
	if o.err == nil {
		o.sent = append(o.sent, m)
	}
	return o.err
}

func open(t *testing.T) (*newsroomtest.Newsroom, site.Site) {
	t.Helper()
	n := newsroomtest.Open(t)
	n.CountViews(&bytes.Buffer{})
	w, _ := n.Site(func(w *site.Site) { w.Name, w.TimeZone = "The\nPaper", "Asia/Ho_Chi_Minh" })
	n.Exec("update sites set created_at = '2026-01-01'")
	return n, w
}

func subscribe(
	n *newsroomtest.Newsroom, w site.Site, kind subscription.Kind, language webpage.Language,
) subscription.Subscription {
	n.T.Helper()
	s, err := (&subscription.Service{Store: n.Store.Audience.Subscriptions, CanSendEmail: true}).Create(n.T.Context(), n.Owner, w.ID, kind,
		string(kind)+"@news.example", language)
	n.Must(err)
	n.Exec("update report_subscriptions set created_at = '2026-01-02'")
	return s
}

// Reports are due on Mondays and on the first of a month, at 06:00 in the site's time
// zone, and are sent once per period and recipient.
func TestMailer_SendsEachReportOnce(t *testing.T) {
	t.Parallel()
	n, w := open(t)
	subscribe(n, w, subscription.Weekly, webpage.Vietnamese)
	subscribe(n, w, subscription.Monthly, webpage.English)
	n.Exec("insert into site_days (site_id, day, views, visits, second_views, recirculation, clicks, conversions) "+
		"select $1::uuid, d, 200, 100, 10, 5, 0, 0 from generate_series('2026-09-01'::date, '2026-11-15'::date, "+
		"'1 day') d", w.ID)
	n.Exec("update site_days set views = 400 where day >= '2026-11-09'")
	c := &clock{SubscriptionStore: n.Store.Audience.Subscriptions, ReportStore: n.Store.Audience.Reports}
	m := &subscription.Mailer{Store: c, Reports: &report.Reporter{Store: c}, PublicURL: "https://dateline.example"}
	zone, err := timezone.Load(w.TimeZone)
	n.Must(err)
	out := &outbox{}
	box := &email.Outbox{Store: n.Store.Audience.Subscriptions, Sender: out, Log: slog.New(slog.DiscardHandler)}
	var got []string
	for _, at := range []string{
		"2026-10-31 23:00", "2026-11-01 05:59", "2026-11-01 06:00", "2026-11-01 06:01",
		"2026-11-16 05:59", "2026-11-16 06:00", "2026-11-16 06:01", "2026-11-18 12:00", "2026-11-20 12:00",
	} {
		c.now, err = time.ParseInLocation("2006-01-02 15:04", at, zone)
		n.Must(err)
		added, err := m.EnqueueReports(t.Context(), func() {})
		n.Must(err)
		_, err = box.SendDue(t.Context(), func() {})
		n.Must(err)
		if added > 0 {
			got = append(got, fmt.Sprint(at, " ", added))
		}
	}
	if want := "[2026-11-01 06:00 1 2026-11-16 06:00 1]"; fmt.Sprint(got) != want || len(out.sent) != 2 {
		t.Fatalf("reports were due at %v, want %s; sent %d", got, want, len(out.sent))
	}
	for i, wants := range [][]string{
		{
			"monthly@news.example", "The Paper: 6,200 views", "2026-10-01", "2026-10-31", "Views: 6,200 (+3%)",
			"https://dateline.example/unsubscribe/",
		},
		{
			"weekly@news.example", "The Paper: 2.800 lượt xem", "2026-11-09", "2026-11-15", "Lượt xem: 2.800 (+100%)",
			"https://dateline.example/app/readers?from=2026-11-09",
		},
	} {
		e := out.sent[i]
		for _, want := range wants {
			if text := strings.Join([]string{e.To, e.Subject, e.Text}, "\n"); !strings.Contains(text, want) {
				t.Errorf("email %d lacks %q: %s", i, want, text)
			}
		}
		if !strings.Contains(e.HTML, "<html lang=") || strings.Contains(e.Subject, "\n") {
			t.Errorf("email %d: %s", i, e.HTML)
		}
	}
	if k := n.Count("select count(*) from emails where status = 'sent' and sent_at is not null and " +
		"attempts = 1"); k != 2 {
		t.Errorf("%d emails are recorded as sent, want 2", k)
	}
}

// A site whose mail server is down gets its reports later; one whose worker was killed
// while sending is not sent twice.
func TestOutbox_RetriesAndNeverSendsTwice(t *testing.T) {
	t.Parallel()
	n, w := open(t)
	s := subscribe(n, w, subscription.Weekly, webpage.English)
	add := func() {
		n.Must(n.Store.Audience.Subscriptions.AddEmail(t.Context(), subscription.Email{
			ID: s.ID, WorkspaceID: s.WorkspaceID, SubscriptionID: s.ID, To: s.Email, Subject: "s", Text: "t",
		}))
	}
	add()
	add() // the same one
	out := &outbox{err: &net.OpError{Op: "dial", Err: fmt.Errorf("refused")}}
	box := &email.Outbox{Store: n.Store.Audience.Subscriptions, Sender: out, Log: slog.New(slog.DiscardHandler)}
	run := func() email.SendResult {
		t.Helper()
		done, err := box.SendDue(t.Context(), func() {})
		n.Must(err)
		return done
	}
	if got, want := run(), (email.SendResult{Failed: 1}); got != want ||
		n.Count("select count(*) from emails where status = 'pending' and due_at > now() + interval '50 seconds' and "+
			"last_error like '%refused%'") != 1 {
		t.Errorf("the server is down: got %+v, want %+v", got, want)
	}
	out.err = nil
	if got := run(); got != (email.SendResult{}) {
		t.Errorf("it was sent before it was due again: %+v", got)
	}
	n.Exec("update emails set due_at = now()")
	if got, want := run(), (email.SendResult{Sent: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	n.Exec("update emails set status = 'sending', attempted_at = now() - interval '1 hour'")
	if got, want := run(), (email.SendResult{Dead: 1}); got != want || len(out.sent) != 1 ||
		n.Count("select count(*) from emails where status = 'dead' and last_error like '%may have been "+
			"delivered%'") != 1 {
		t.Errorf("after a crash: got %+v and %d sent, want %+v and 1", got, len(out.sent), want)
	}
}

// In India, hours start at half past in UTC. One that is not over is not compared with
// those of earlier weeks, which are.
func TestAlerter_ComparesHoursOfTheSitesClock(t *testing.T) {
	t.Parallel()
	n, w := open(t)
	n.Exec("update sites set time_zone = 'Asia/Kolkata'")
	rule := subscription.DefaultRule()
	rule.Enabled, rule.DropShare = true, 0.6
	service := &subscription.Service{Store: n.Store.Audience.Subscriptions, CanSendEmail: true}
	n.Must(service.SetRule(t.Context(), n.Owner, w.ID, rule))
	hour := time.Date(2026, 11, 16, 7, 30, 0, 0, time.UTC)
	for week, k := range []int64{110, 200, 200, 200, 200} { // the first one has only begun
		n.Exec("insert into site_hours (site_id, hour, day, views, visits, second_views, recirculation, clicks, "+
			"conversions, day_visitors) values ($1, $2, '2026-11-16', $3, 0, 0, 0, 0, 0, 0)", w.ID,
			hour.AddDate(0, 0, -7*week), k)
	}
	c := &clock{SubscriptionStore: n.Store.Audience.Subscriptions, ReportStore: n.Store.Audience.Reports}
	a := &subscription.Alerter{Store: c, PublicURL: "https://dateline.example", Log: slog.New(slog.DiscardHandler)}
	for _, at := range []struct {
		after  time.Duration
		raised int
	}{{34 * time.Minute, 0}, {62 * time.Minute, 0}, {64 * time.Minute, 1}} {
		c.now = hour.Add(at.after)
		raised, err := a.Check(t.Context(), func() {})
		n.Must(err)
		if raised != at.raised {
			t.Errorf("%s after the start of the hour: got %d alerts, want %d", at.after, raised, at.raised)
		}
	}
	alerts, err := service.Alerts(t.Context(), n.Owner, w.ID)
	n.Must(err)
	if len(alerts) != 1 || !alerts[0].Hour.Equal(hour) || alerts[0].Views != 110 {
		t.Errorf("got %+v, want an alert about the 110 views from %s", alerts, hour)
	}
}

func TestAlerter_ComparesWithTheSameHourOfEarlierWeeks(t *testing.T) {
	t.Parallel()
	n, w := open(t)
	service := &subscription.Service{Store: n.Store.Audience.Subscriptions, CanSendEmail: true}
	subscribe(n, w, subscription.Alerts, webpage.English)
	rule := subscription.DefaultRule()
	rule.Enabled = true
	n.Must(service.SetRule(t.Context(), n.Owner, w.ID, rule))
	hour := time.Date(2026, 11, 16, 7, 0, 0, 0, time.UTC)
	views := func(at time.Time, n2 int64) {
		n.Exec("insert into site_hours (site_id, hour, day, views, visits, second_views, recirculation, clicks, "+
			"conversions, day_visitors) values ($1, $2, $2::timestamptz::date, $3, 0, 0, 0, 0, 0, 0) on conflict "+
			"(site_id, hour) do update set views = excluded.views", w.ID, at, n2)
	}
	for week, k := range []int64{190, 210, 5000, 200} {
		views(hour.AddDate(0, 0, -7*(week+1)), k)
	}
	c := &clock{SubscriptionStore: n.Store.Audience.Subscriptions, ReportStore: n.Store.Audience.Reports}
	a := &subscription.Alerter{Store: c, PublicURL: "https://dateline.example", Log: slog.New(slog.DiscardHandler)}
	check := func(at time.Time) int {
		t.Helper()
		c.now = at
		raised, err := a.Check(t.Context(), func() {})
		n.Must(err)
		return raised
	}
	views(hour, 599)
	if raised := check(hour.Add(64 * time.Minute)); raised != 0 {
		t.Errorf("599 views instead of 200 raised %d alerts", raised)
	}
	views(hour, 600)
	if raised := check(hour.Add(62 * time.Minute)); raised != 0 {
		t.Errorf("an hour whose counts may be missing raised %d alerts", raised)
	}
	for i, want := range []int{1, 0} {
		if raised := check(hour.Add(64*time.Minute + time.Duration(i)*time.Minute)); raised != want {
			t.Errorf("run %d: got %d alerts, want %d", i, raised, want)
		}
	}
	for week, k := range []int64{200, 200, 200, 200} {
		views(hour.Add(time.Hour).AddDate(0, 0, -7*(week+1)), k)
	}
	views(hour.Add(time.Hour), 9000)
	if raised := check(hour.Add(124 * time.Minute)); raised != 0 {
		t.Errorf("a spike that continues raised %d alerts", raised)
	}
	views(hour.Add(time.Hour), 60) // a drop is another kind
	if raised := check(hour.Add(124 * time.Minute)); raised != 1 {
		t.Errorf("60 views instead of 200: got %d alerts, want 1", raised)
	}
	alerts, err := service.Alerts(t.Context(), n.Owner, w.ID)
	n.Must(err)
	got := ""
	for _, a := range alerts {
		got += fmt.Sprint(a.Kind, " ", a.Hour.UTC().Format("15:04"), " ", a.Views, " ", a.Usual, ", ")
	}
	if want := "drop 08:00 60 200, spike 07:00 600 200, "; got != want {
		t.Errorf("alerts: got %s, want %s", got, want)
	}
	if k := n.Count("select count(*) from post_events where type in ('site_spike', 'site_drop') and data->>'site_id' "+
		"= $1 and (data->>'usual')::int = 200", w.ID.String()); k != 2 {
		t.Errorf("%d events for webhooks, want 2", k)
	}
	out := &outbox{}
	_, err = (&email.Outbox{Store: n.Store.Audience.Subscriptions, Sender: out, Log: slog.New(slog.DiscardHandler)}).SendDue(t.Context(),
		func() {})
	n.Must(err)
	if len(out.sent) != 2 || !strings.Contains(out.sent[0].Text, "600 views between 14:00 and 15:00; usually 200") ||
		!strings.Contains(out.sent[1].Text, "check that its pages still contain the tracker") {
		t.Errorf("emails: %+v", out.sent)
	}
}
