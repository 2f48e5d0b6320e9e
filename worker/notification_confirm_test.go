package worker

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/throttle"
	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/post"
)

// eachDelivery attempts the pending deliveries.
func (n *notified) eachDelivery(f func(webhook.Step)) {
	n.t.Helper()
	rows, err := n.Store.Pool().Query(n.t.Context(),
		"select id from webhook_deliveries where status = 'pending' order by id")
	n.Must(err)
	var ids []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		n.Must(rows.Scan(&id))
		ids = append(ids, id)
	}
	rows.Close()
	for _, id := range ids {
		step, err := n.webhooks.AttemptDelivery(n.t.Context(), id)
		n.Must(err)
		f(step)
	}
}

func (n *notified) unconfirmed(recipient string) notification.Channel {
	n.t.Helper()
	c, err := n.manager.Create(n.t.Context(), n.Owner, mailDraft(recipient))
	n.Must(err)
	return c
}

func mailDraft(recipient string) notification.Draft {
	return notification.Draft{
		Kind: notification.Email, Name: "Mail", Recipient: &recipient, Types: []string{"post.failed"},
		Digest: notification.NoDigest, TimeZone: "UTC", Language: "en", Enabled: true,
	}
}

// An address gets one email, with a link. Until it is opened nothing else is sent there,
// also when it changes, and after its owner unsubscribed.
func TestNotifications_EmailsNeedAConfirmation(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.Connect("desk")
	c := n.unconfirmed("stranger@other.example")
	drain := func() { n.eachDelivery(func(webhook.Step) {}) }
	wantMails := func(when string, want int) string {
		t.Helper()
		drain()
		got := n.all(notification.Email)
		if len(got) != want {
			t.Fatalf("%s: got %d emails, want %d: %q", when, len(got), want, got)
		}
		return got[want-1]
	}
	first := wantMails("a new channel", 1)
	link := regexp.MustCompile(`https://dateline\.example/notifications/confirm/(\S+)`).FindStringSubmatch(first)
	if link == nil || !strings.HasPrefix(first, "stranger@other.example\nConfirm your email address") ||
		strings.Contains(first, "Mail") {
		t.Fatalf("the email is %q, want the link and nothing that the member wrote", first)
	}
	n.publish(post.TargetFailed)
	n.publish(post.TargetFailed)
	if events, err := n.Store.Notify.Webhooks.DispatchWebhooks(t.Context(), 100,
		func(e webhook.Event) (string, error) { return e.Body("") }); err != nil || events > 2 {
		t.Fatal(events, err)
	}
	wantMails("events", 1)
	if _, err := n.manager.Test(t.Context(), n.Owner, c.ID); err != nil {
		t.Fatal(err)
	}
	if again := wantMails("a test", 2); !strings.Contains(again, "/notifications/confirm/") {
		t.Errorf("a test sent %q, want the link again", again)
	}

	confirm := func(token string) error {
		id, recipient, err := n.manager.Links.Confirmed(token)
		n.Must(err)
		return n.Store.Notify.Notifications.ConfirmChannel(t.Context(), id, recipient)
	}
	n.Must(confirm(link[1]))
	n.publish(post.TargetFailed)
	await(t, "the notification", func() bool {
		_, err := n.Store.Notify.Webhooks.DispatchWebhooks(t.Context(), 100, func(e webhook.Event) (string, error) {
			return e.Body("")
		})
		n.Must(err)
		drain()
		return len(n.all(notification.Email)) == 3
	})
	if got := n.all(notification.Email)[2]; !strings.Contains(got, "Embargoed") {
		t.Errorf("after the confirmation: got %q", got)
	}

	// Another address has to confirm, too, and the first link does not do it.
	if _, err := n.manager.Update(t.Context(), n.Owner, c.ID, mailDraft("second@other.example")); err != nil {
		t.Fatal(err)
	}
	if got := wantMails("another address", 4); !strings.HasPrefix(got, "second@other.example\nConfirm") {
		t.Errorf("got %q", got)
	}
	n.Must(confirm(link[1]))
	if rows := n.Count("select count(*) from notification_channels where confirmed_at is not null"); rows != 0 {
		t.Errorf("the link of the first address confirmed the second")
	}
	n.Must(n.Store.Notify.Notifications.ConfirmChannel(t.Context(), c.ID, "second@other.example"))
	// So does an address that unsubscribed.
	n.Must(n.Store.Notify.Notifications.UnsubscribeChannel(t.Context(), c.ID))
	if _, err := n.manager.Update(t.Context(), n.Owner, c.ID, mailDraft("second@other.example")); err != nil {
		t.Fatal(err)
	}
	if got := wantMails("after unsubscribing", 5); !strings.Contains(got, "/notifications/confirm/") {
		t.Errorf("got %q", got)
	}
}

// What was collected for a confirmed address is not sent to another one.
func TestNotifications_OldMessagesAreNotSentToANewAddress(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.Connect("desk")
	c := n.channel(notification.Email, nil)
	n.publish(post.TargetFailed)
	n.dispatch(1)
	if _, err := n.manager.Update(t.Context(), n.Owner, c.ID, mailDraft("stranger@other.example")); err != nil {
		t.Fatal(err)
	}
	n.eachDelivery(func(webhook.Step) {})
	got := n.all(notification.Email)
	if len(got) != 1 || !strings.Contains(got[0], "/notifications/confirm/") {
		t.Errorf("got %q, want the request to confirm only", got)
	}
	if rows := n.Count("select count(*) from webhook_deliveries where status = 'dead' and attempts = 0"); rows != 1 {
		t.Errorf("got %d dead notifications, want 1 that was not sent", rows)
	}
}

func TestNotifications_LimitRequestsToConfirm(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.manager.Confirmations = throttle.New(2, time.Hour)
	c := n.unconfirmed("a@other.example")
	if _, err := n.manager.Test(t.Context(), n.Owner, c.ID); err != nil {
		t.Error(err)
	}
	for name, request := range map[string]func() error{
		"test": func() error { _, err := n.manager.Test(t.Context(), n.Owner, c.ID); return err },
		"create": func() error {
			_, err := n.manager.Create(t.Context(), n.Owner, mailDraft("b@other.example"))
			return err
		},
		"update": func() error {
			_, err := n.manager.Update(t.Context(), n.Owner, c.ID, mailDraft("b@other.example"))
			return err
		},
	} {
		if err := request(); err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("%s: got %v, want an error", name, err)
		}
	}
	if rows := n.Count("select count(*) from webhook_deliveries"); rows != 2 {
		t.Errorf("got %d requests, want 2", rows)
	}
}
