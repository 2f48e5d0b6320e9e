package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/post"
	"dateline/platforms/call"
)

func TestNotifications_ReachEachKindOnce(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.Connect("desk")
	channels := map[notification.Kind]notification.Channel{}
	for _, kind := range notification.Kinds() {
		channels[kind] = n.channel(kind, nil)
	}
	other := n.channel(notification.Webhook, func(d *notification.Draft) { d.Types = []string{"post.late"} })
	n.work(2)
	p := n.publish(post.TargetFailed)
	await(t, "the notifications", func() bool {
		return n.Count("select count(*) from webhook_deliveries where channel_id is not null and status = "+
			"'delivered'") == len(channels)
	})
	if rows := n.Count("select count(*) from webhook_deliveries"); rows != len(channels) ||
		len(n.notifications(other)) != 0 {
		t.Errorf("got %d deliveries, want %d, none for other events", rows, len(channels))
	}
	for kind, c := range channels {
		got := n.all(kind)
		if len(got) != 1 || !strings.Contains(got[0], "Embargoed until noon") ||
			!strings.Contains(got[0], "/app/posts/"+p.ID.String()) || !strings.Contains(got[0], "Not published on") {
			t.Errorf("%s: got %q, want one message with the post and its link", kind, got)
		}
		list := n.notifications(c)
		if len(list) != 1 || list[0].Status != webhook.Delivered || list[0].Attempts != 1 ||
			!strings.HasPrefix(list[0].Title, "Not published on") {
			t.Errorf("%s: got %+v", kind, list)
		}
	}
	if got := n.all(notification.Email)[0]; !strings.HasPrefix(got, "editor@news.example\nNot published on") ||
		!strings.Contains(got, "\nhttps://dateline.example/notifications/unsubscribe/") {
		t.Errorf("the email is %q", got)
	}
}

// What happens during quiet hours is sent afterwards, in one message.
func TestNotifications_WaitForTheEndOfQuietHours(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.Connect("desk")
	zone := time.FixedZone("ICT", 7*3600)
	now := time.Date(2026, 11, 23, 23, 30, 0, 0, zone)
	n.sender.Now = func() time.Time { return now }
	c := n.channel(notification.Slack, func(d *notification.Draft) { d.QuietFrom, d.QuietTo = "22:00", "07:00" })
	n.publish(post.TargetPosted)
	n.publish(post.TargetFailed)
	n.dispatch(2)
	n.Exec("update webhook_deliveries set due_at = now()") // whatever the time of this test is
	var id uuid.UUID
	n.Must(n.Store.Pool().QueryRow(t.Context(), "select id from webhook_deliveries").Scan(&id))
	step, err := n.webhooks.AttemptDelivery(t.Context(), id)
	n.Must(err)
	if step.Done || step.Wait != 7*time.Hour+30*time.Minute || len(n.all(notification.Slack)) != 0 {
		t.Errorf("at 23:30: got %+v and %d messages, want a wait of 7h30m", step, len(n.all(notification.Slack)))
	}
	now = now.Add(time.Hour)
	n.publish(post.TargetFailed)
	n.dispatch(1)
	now = time.Date(2026, 11, 24, 7, 0, 0, 0, zone)
	n.Exec("update webhook_deliveries set due_at = now()")
	step, err = n.webhooks.AttemptDelivery(t.Context(), id)
	n.Must(err)
	got := n.all(notification.Slack)
	if !step.Done || len(got) != 1 || !strings.Contains(got[0], "3 notifications") ||
		strings.Count(got[0], "Embargoed") != 3 {
		t.Errorf("at 7:00: got %+v and %q, want one message with three events", step, got)
	}
	if rows := n.Count("select count(*) from webhook_deliveries"); rows != 1 {
		t.Errorf("got %d deliveries, want 1", rows)
	}
	// A test is sent at once.
	now = now.Add(-2 * time.Hour)
	d, err := n.manager.Test(t.Context(), n.Owner, c.ID)
	n.Must(err)
	if step, err = n.webhooks.AttemptDelivery(t.Context(), d.ID); err != nil || !step.Done ||
		len(n.all(notification.Slack)) != 2 {
		t.Errorf("a test: got %+v %v", step, err)
	}
}

// killed stops at a step, like a worker that is killed there.
type killed struct {
	*notified
	step string
	died bool
}

var errKilled = errors.New("killed")

func (k *killed) at(step string) error {
	if k.step != step || k.died {
		return nil
	}
	k.died = true
	return errKilled
}

func (k *killed) DeliveryJob(ctx context.Context, id uuid.UUID) (webhook.Job, error) {
	if err := k.at("before reading"); err != nil {
		return webhook.Job{}, err
	}
	return k.Store.Notify.Webhooks.DeliveryJob(ctx, id)
}

func (k *killed) PostponeDelivery(ctx context.Context, id uuid.UUID, by time.Duration) error {
	return k.Store.Notify.Webhooks.PostponeDelivery(ctx, id, by)
}

func (k *killed) WebhookSecrets(ctx context.Context, endpoint uuid.UUID) ([]webhook.SealedSecret, error) {
	return k.Store.Notify.Webhooks.WebhookSecrets(ctx, endpoint)
}

func (k *killed) RecordAttempt(
	ctx context.Context, j webhook.Job, r webhook.Result, timeout time.Duration,
) (bool, error) {
	if err := k.at("before recording"); err != nil {
		return false, err
	}
	disabled, err := k.Store.Notify.Webhooks.RecordAttempt(ctx, j, r, timeout)
	return disabled, errors.Join(err, k.at("after recording"))
}

func (k *killed) Channel(ctx context.Context, id uuid.UUID) (notification.Channel, error) {
	return k.Store.Notify.Notifications.Channel(ctx, id)
}

func (k *killed) CloseNotification(
	ctx context.Context, id uuid.UUID, limit int, compose func([]notification.Fact, int) (string, error),
) (string, error) {
	if err := k.at("before closing"); err != nil {
		return "", err
	}
	body, err := k.Store.Notify.Notifications.CloseNotification(ctx, id, limit, compose)
	return body, errors.Join(err, k.at("after closing"))
}

// A worker is killed at each step of a delivery, while another event arrives: no event is
// lost, and none is sent twice, but by the one step at which a message may have been
// sent. Its repetition has the same id.
func TestNotifications_SurviveKillsAtEachStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		"before reading", "before closing", "after closing", "before recording",
		"after recording",
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			n := newNotified(t)
			n.Connect("desk")
			n.channel(notification.Webhook, nil)
			n.channel(notification.Matrix, nil)
			n.publish(post.TargetPosted)
			n.dispatch(1)
			ids := func() (out []uuid.UUID) {
				rows, err := n.Store.Pool().Query(t.Context(),
					"select id from webhook_deliveries where status = 'pending' order by id")
				n.Must(err)
				defer rows.Close()
				for rows.Next() {
					var id uuid.UUID
					n.Must(rows.Scan(&id))
					out = append(out, id)
				}
				return out
			}
			for _, id := range ids() {
				k := &killed{notified: n, step: step}
				dying := *n.sender
				dying.Store = k
				d := &webhook.Deliverer{
					Store: k, Sealer: n.Sealer, Client: n.webhooks.Deliverer.Client, Live: n.Bus,
					Log: n.webhooks.Deliverer.Log, Channels: &dying,
				}
				if _, err := d.Attempt(t.Context(), id); !errors.Is(err, errKilled) {
					t.Errorf("got %v, want the worker to be killed", err)
				}
			}
			n.publish(post.TargetFailed)
			n.dispatch(1)
			for range 2 {
				for _, id := range ids() {
					_, err := n.webhooks.AttemptDelivery(t.Context(), id)
					n.Must(err)
				}
			}
			for kind, repeated := range map[notification.Kind]int{notification.Webhook: 1, notification.Matrix: 0} {
				count := map[string]int{}
				for _, text := range n.all(kind) {
					for _, title := range []string{"Published on", "Not published on"} {
						count[title] += strings.Count(strings.ReplaceAll(text, "\\n", "\n"), `"title":"`+title)
						if kind == notification.Matrix {
							count[title] += strings.Count(text, title)
						}
					}
				}
				if count["Published on"] == 0 || count["Not published on"] == 0 {
					t.Errorf("%s: got %v, want both events", kind, count)
				}
				want := len(slices.Compact(slices.Sorted(slices.Values(n.ids[kind]))))
				if step == "before recording" {
					want += repeated
				}
				if got := len(n.all(kind)); got != want {
					t.Errorf("%s: got %d messages, want %d", kind, got, want)
				}
			}
			if pending := ids(); len(pending) != 0 {
				t.Errorf("got %d pending deliveries, want none", len(pending))
			}
		})
	}
}

func TestNotifications_RetryUntilDeadAndRedeliver(t *testing.T) {
	t.Parallel()
	n := newNotified(t, 10*time.Millisecond)
	n.Connect("desk")
	n.respond(http.StatusBadRequest)
	telegram, mail := n.channel(notification.Telegram, nil), n.channel(notification.Email, nil)
	n.work(1)
	n.publish(post.TargetFailed)
	await(t, "the dead notifications", func() bool {
		return n.Count("select count(*) from webhook_deliveries where status = 'dead' and attempts = 2") == 2
	})
	list := n.notifications(telegram)
	if want := "The service responded with 400. It said: Bad Request: chat not found"; len(list) != 1 ||
		list[0].LastError.Text != want {
		t.Errorf("got %+v, want the error %q", list, want)
	}
	channels, err := n.manager.List(t.Context(), n.Owner)
	n.Must(err)
	for _, c := range channels {
		if c.Dead != 1 || c.FailingSince == nil || c.LastDelivery == nil || c.LastDelivery.Status != webhook.Dead {
			t.Errorf("got %+v", c)
		}
	}
	n.respond(0)
	for _, c := range []notification.Channel{telegram, mail} {
		if count, err := n.manager.Redeliver(t.Context(), n.Owner, c.ID); err != nil || count != 1 {
			t.Errorf("got %d %v, want 1", count, err)
		}
	}
	await(t, "the notifications", func() bool {
		return len(n.all(notification.Telegram)) == 1 && len(n.all(notification.Email)) == 1
	})
}

// The URL, token and room of a channel are sealed in the database, and appear in no
// error, log or list. Private addresses are refused when they are dialed, too.
func TestNotifications_KeepDestinationsSecret(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.Connect("desk")
	strict, err := call.NewClient(nil)
	n.Must(err)
	n.sender.Client = strict
	for _, kind := range notification.Kinds() {
		c := n.channel(kind, nil)
		d, err := n.manager.Test(t.Context(), n.Owner, c.ID)
		n.Must(err)
		if kind == notification.Email {
			continue
		}
		step, err := n.webhooks.AttemptDelivery(t.Context(), d.ID)
		n.Must(err)
		if list := n.notifications(c); step.Done || len(list) != 1 ||
			list[0].LastError.Text != "The address is private or the port is not allowed." {
			t.Errorf("%s: got %+v %+v, want the address to be refused", kind, step, list)
		}
	}
	if got := maps.Keys(n.got); len(slices.Collect(got)) != 0 {
		t.Errorf("got requests of %v", n.got)
	}
	var rows string
	n.Must(n.Store.Pool().QueryRow(t.Context(),
		`select string_agg(c::text, ' ') || (select string_agg(d::text, ' ') from webhook_deliveries d) || (select string_agg(l::text, ' ') from audit_log l)
		from notification_channels c`).Scan(&rows))
	for _, secret := range []string{
		"123:secret", "tk_1", "syt_1", "T0/B0/xyz", "webhooks/1/token", "workflows/1",
		"subscription-1",
	} {
		if strings.Contains(rows, secret) || strings.Contains(rows, fmt.Sprintf("%x", secret)) {
			t.Errorf("the database shows %s", secret)
		}
	}
}

// Members learn once that an engine is down and that it is back, whichever worker
// noticed. Authors do not see the state of the installation.
func TestNotifications_ReportEngines(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.channel(notification.Webhook, func(d *notification.Draft) {
		d.Types = []string{"system.trouble", "system.recovered"}
	})
	for _, r := range []struct {
		source string
		down   []string
		want   bool
	}{
		{"a", nil, false},
		{"a", []string{"redis"}, true},
		{"b", []string{"redis"}, false},
		{"b", nil, false},
		{"a", nil, true},
		{"a", nil, false},
	} {
		changed, err := n.Store.Notify.Notifications.RecordEngines(t.Context(), r.source, r.down, time.Hour)
		if n.Must(err); changed != r.want {
			t.Errorf("%s with %v: changed is %v", r.source, r.down, changed)
		}
	}
	author := n.Join(n.Workspace, "author")
	_, err := n.Store.Notify.Notifications.RecordEngines(t.Context(), "a", nil, time.Hour)
	n.Must(err)
	url, token, recipient := n.destination(notification.Slack)
	_, err = n.manager.Create(t.Context(), author, notification.Draft{
		Kind: notification.Slack, Name: "Author",
		URL: &url, Token: &token, Recipient: &recipient, Types: []string{"system.trouble"},
		Digest: notification.NoDigest, TimeZone: "UTC", Language: "en",
	})
	n.Must(err)
	_, err = n.Store.Notify.Notifications.RecordEngines(t.Context(), "a", []string{"temporal"}, time.Hour)
	n.Must(err)
	n.work(1)
	n.Bus.Announce()
	await(t, "the notification", func() bool { return len(n.all(notification.Webhook)) > 0 })
	text := strings.Join(n.all(notification.Webhook), "")
	for _, want := range []string{
		"Problem: EngineDown redis", "Solved: EngineDown redis",
		"Problem: EngineDown temporal",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %q", text, want)
		}
	}
	if got := n.all(notification.Slack); len(got) != 0 {
		t.Errorf("an author got %q", got)
	}
}
