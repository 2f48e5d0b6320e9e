package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/newsroomtest"
)

func notificationLinks(n *newsroomtest.Newsroom) notification.Links {
	return notification.Links{Sealer: n.Sealer, PublicURL: "https://dateline.example"}
}

func notifications(n *newsroomtest.Newsroom) *notification.Service {
	return &notification.Service{
		Store: n.Store.Notify.Notifications, Sealer: n.Sealer, Guard: n.Webhooks.Guard, Live: n.Bus,
		Links: notificationLinks(n), Push: &notification.Push{Store: n.Store.Notify.Notifications, Sealer: n.Sealer}, CanSendEmail: true,
	}
}

const channelsPath = "/api/v1/notification-channels"

func TestNotificationChannels_AreManagedByTheirMember(t *testing.T) {
	t.Parallel()
	s := start(t)
	viewer := s.Member(workspace.Viewer)
	settings := object{
		"kind": "telegram", "name": " Desk ", "token": "123:secret", "recipient": "-100",
		"types": []string{"post.failed", "post.uncertain"}, "quiet_from": "22:00", "quiet_to": "07:00",
		"time_zone": "Europe/Berlin", "language": "vi",
	}
	var made spec.NotificationChannel
	s.decode(s.send("POST", channelsPath, settings, as(viewer)...), 201, &made)
	if got, want := [...]string{
		made.Name, made.Destination, *made.QuietFrom, *made.QuietTo, string(made.Digest),
		string(made.Language), string(made.Status),
	},
		[...]string{"Desk", "-100", "22:00", "07:00", "none", "vi", "enabled"}; got != want || len(made.Types) != 2 {
		t.Errorf("got %q with types %v, want %q with two", got, made.Types, want)
	}
	path := channelsPath + "/" + made.Id.String()
	// The token is kept when it is not given, and never shown.
	made = spec.NotificationChannel{}
	s.decode(s.send("PUT", path, object{
		"kind": "telegram", "name": "Night desk", "types": []string{"post.failed"},
		"digest": "daily", "time_zone": "UTC", "enabled": false,
	}, as(viewer)...), 200, &made)
	if made.Destination != "-100" || made.QuietFrom != nil || made.Digest != "daily" {
		t.Errorf("got %+v, want the same chat with a daily digest", made)
	}
	if made.Status != "disabled" || *made.DisabledReason != "owner" {
		t.Errorf("got %s, want disabled by its owner", made.Status)
	}
	s.refused(s.send("POST", path+"/test", nil, as(viewer)...), 409, "channel_disabled")
	s.decode(s.send("PUT", path, settings, as(viewer)...), 200, &made)
	if a := s.send("POST", path+"/test", nil, as(viewer)...); a.StatusCode != http.StatusAccepted {
		t.Errorf("got %s %s", a.Status, a.body)
	}
	var sent spec.NotificationList
	s.decode(s.send("GET", path+"/notifications", nil, as(viewer)...), 200, &sent)
	if len(sent.Notifications) != 1 || sent.Notifications[0].Title != "Thông báo thử" ||
		sent.Notifications[0].Status != "pending" {
		t.Errorf("got %+v", sent)
	}
	var list spec.NotificationChannelList
	a := s.send("GET", channelsPath, nil, as(viewer)...)
	s.decode(a, 200, &list)
	if len(list.Channels) != 1 || !list.Channels[0].Confirmed || !list.CanSendEmail || len(list.PushKey) != 87 ||
		strings.Contains(string(a.body), "secret") {
		t.Errorf("got %s", a.body)
	}
	// Owners do not see or change the channels of others.
	s.decode(s.send("GET", channelsPath, nil), 200, &list)
	if len(list.Channels) != 0 {
		t.Errorf("got %+v", list)
	}
	for _, r := range [][2]string{
		{"PUT", path},
		{"DELETE", path},
		{"POST", path + "/test"},
		{"GET", path + "/notifications"},
		{"POST", path + "/redeliver-dead"},
	} {
		var body any
		if r[0] == "PUT" {
			body = settings
		}
		s.refused(s.send(r[0], r[1], body), 404, "channel_not_found")
	}
	if a := s.send("DELETE", path, nil, as(viewer)...); a.StatusCode != http.StatusNoContent ||
		s.Count("select count(*) from webhook_deliveries") != 0 {
		t.Errorf("got %s", a.Status)
	}
	if strings.Contains(s.log.String(), "123:secret") {
		t.Error("the log contains the token")
	}
}

func TestNotificationChannels_RefuseWrongDestinations(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, row := range map[string]struct {
		settings object
		field    string
	}{
		"no email address": {object{"kind": "email", "recipient": "nobody"}, "recipient"},
		"two addresses":    {object{"kind": "email", "recipient": "a@b.example, c@d.example"}, "recipient"},
		"private address":  {object{"kind": "slack", "url": "https://10.0.0.1/services/x"}, "url"},
		"plain http":       {object{"kind": "discord", "url": "http://discord.example/api/webhooks/1/t"}, "url"},
		"credentials":      {object{"kind": "webhook", "url": "https://a:b@hooks.example/"}, "url"},
		"no topic":         {object{"kind": "ntfy", "url": "https://ntfy.sh/"}, "url"},
		"no bot":           {object{"kind": "telegram", "token": "abc", "recipient": "-100"}, "token"},
		"path in token":    {object{"kind": "telegram", "token": "1:a/../x", "recipient": "-100"}, "token"},
		"no chat":          {object{"kind": "telegram", "token": "1:a", "recipient": "desk"}, "recipient"},
		"no room": {
			object{"kind": "matrix", "url": "https://chat.example", "token": "t", "recipient": "#desk:chat.example"},
			"recipient",
		},
		"no keys": {object{"kind": "push", "url": "https://push.example/1"}, "push_keys"},
		"wrong keys": {
			object{"kind": "push", "url": "https://push.example/1", "push_keys": object{"p256dh": "BA", "auth": "AA"}},
			"push_keys",
		},
		"private push": {
			object{"kind": "push", "url": "https://192.168.1.1/1", "push_keys": object{"p256dh": "BA", "auth": "AA"}},
			"url",
		},
		"unknown zone":     {object{"kind": "email", "recipient": "a@b.example", "time_zone": "Mars"}, "time_zone"},
		"half quiet hours": {object{"kind": "email", "recipient": "a@b.example", "quiet_from": "22:00"}, "quiet_from"},
		"equal quiet hours": {
			object{"kind": "email", "recipient": "a@b.example", "quiet_from": "22:00", "quiet_to": "22:00"},
			"quiet_from",
		},
	} {
		body := object{"name": "Desk", "types": []string{"post.failed"}, "time_zone": "UTC"}
		for field, value := range row.settings {
			body[field] = value
		}
		t.Run(name, func(*testing.T) {
			s.refused(s.send("POST", channelsPath, body), 422, "invalid_request", row.field)
		})
	}
}

// uncertainItem makes a post uncertain and returns the token of the link that a channel
// of a member got.
func (s *server) uncertainItem(who workspace.Principal) (post.Post, string) {
	s.t.Helper()
	recipient := "editor@news.example"
	c, err := notifications(s.Newsroom).Create(s.t.Context(), who,
		notification.Draft{
			Kind: notification.Email, Name: "Mail", Recipient: &recipient, Types: []string{
				"post.uncertain",
			},
			Digest: notification.NoDigest, TimeZone: "UTC", Language: "en",
		})
	s.Must(err)
	s.Must(s.Store.Notify.Notifications.ConfirmChannel(s.t.Context(), c.ID, recipient))
	p := s.Dead(s.Schedule(), post.TargetUncertain)
	s.Exec(
		`update post_events set data = '{"evidence_parts": [{"code": "not_listed", "message": "Nothing like it among 40 posts.", "params": {"posts": 40}}], "sent": "2026-11-23T12:00:00Z"}' where type = 'uncertain'`)
	// Open transactions of other tests on the same server delay events for a moment.
	for deadline := time.Now().Add(30 * time.Second); s.Count("select count(*) from notification_items") == 0 &&
		time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		_, err := s.Store.Notify.Webhooks.DispatchWebhooks(s.t.Context(), 100, func(e webhook.Event) (string, error) {
			return e.Body("")
		})
		s.Must(err)
	}
	address, _, err := notificationLinks(s.Newsroom).Decision(int64(s.Count("select max(id) from notification_items")))
	s.Must(err)
	u, err := url.Parse(address)
	s.Must(err)
	return p, u.Path
}

func TestDecisionLink_DecidesOnceAndOnlyByPost(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]post.TargetStatus{
		"published": post.TargetPosted,
		"absent":    post.TargetScheduled,
	} {
		t.Run(choice, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.Connect("desk")
			p, path := s.uncertainItem(s.Owner)
			status := func() post.TargetStatus {
				current, err := s.Store.Publishing.Posts.PostInWorkspace(t.Context(), s.Workspace.ID, p.ID)
				s.Must(err)
				return current.Targets[0].Status
			}
			b := &browser{s: s}
			for range 2 {
				got, text := b.open(path+"?choice="+choice, nil)
				if got.StatusCode != http.StatusOK || !strings.Contains(text, "Nothing like it among 40 posts.") ||
					!strings.Contains(text, "Hello") || status() != post.TargetUncertain {
					t.Fatalf("the page: got %s, %s, target %s", got.Status, text, status())
				}
			}
			if choice == "published" {
				if got, text := b.open(path+"?choice=published",
					url.Values{"url": {"nowhere"}}); got.StatusCode != http.StatusUnprocessableEntity ||
					!strings.Contains(text, `role="alert"`) || status() != post.TargetUncertain {
					t.Errorf("without an address: got %s, %s", got.Status, text)
				}
			}
			form := url.Values{"url": {"https://social.example/@desk/4711"}}
			if got, text := b.open(path+"?choice="+choice, form); got.StatusCode != http.StatusOK || status() != want {
				t.Errorf("got %s, %s, target %s, want %s", got.Status, text, status(), want)
			}
			if n := s.Count("select count(*) from post_events where type in ('confirmed', 'resend') and actor = $1",
				"user:"+s.Owner.UserID.String()); n != 1 {
				t.Errorf("got %d decisions of the recipient, want 1", n)
			}
			for _, values := range []url.Values{nil, form} {
				if got, text := b.open(path+"?choice="+choice, values); got.StatusCode != http.StatusGone ||
					strings.Contains(text, "<form") {
					t.Errorf("again: got %s, %s", got.Status, text)
				}
			}
			if s.temporal.signals(p.ID) == 0 {
				t.Error("the workflow was not signaled")
			}
		})
	}
}

func TestDecisionLink_RefusesWhoMayNotDecide(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	b := &browser{s: s}
	author := s.Join(s.Workspace, workspace.Author)
	_, path := s.uncertainItem(author)
	s.Exec("update members set role = 'viewer' where user_id = $1", author.UserID)
	if got, text := b.open(path+"?choice=absent", url.Values{}); got.StatusCode != http.StatusForbidden ||
		strings.Contains(text, "<form") {
		t.Errorf("a viewer: got %s, %s", got.Status, text)
	}
	s.Exec("update members set role = 'author' where user_id = $1", author.UserID)
	s.Exec("update notification_items set created_at = now() - interval '169 hours'")
	if got, _ := b.open(path+"?choice=absent", url.Values{}); got.StatusCode != http.StatusGone {
		t.Errorf("an expired link: got %s", got.Status)
	}
	s.Exec("update notification_items set created_at = now()")
	last := "A"
	if strings.HasSuffix(path, last) {
		last = "B"
	}
	for _, wrong := range []string{
		path[:len(path)-1] + last, notification.DecisionPath + "x",
		notification.UnsubscribePath + strings.TrimPrefix(path, notification.DecisionPath),
	} {
		if got, _ := b.open(wrong, url.Values{}); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %s", wrong, got.Status)
		}
	}
	if n := s.Count("select count(*) from post_events where type in ('confirmed', 'resend')"); n != 0 {
		t.Errorf("got %d decisions, want none", n)
	}
	s.Exec("delete from members where user_id = $1", author.UserID)
	if got, _ := b.open(path+"?choice=absent", url.Values{}); got.StatusCode != http.StatusNotFound {
		t.Errorf("of a former member: got %s", got.Status)
	}
}

// The page has a button: mail filters open links.
func TestNotificationChannel_ConfirmsWithAButton(t *testing.T) {
	t.Parallel()
	s := start(t)
	settings := object{
		"kind": "email", "name": "Mail", "recipient": "editor@news.example",
		"types": []string{"post.failed"}, "time_zone": "UTC",
	}
	var made spec.NotificationChannel
	s.decode(s.send("POST", channelsPath, settings), 201, &made)
	confirmed := func() int {
		return s.Count("select count(*) from notification_channels where confirmed_at is not null")
	}
	address, err := notificationLinks(s.Newsroom).Confirm(made.Id, "editor@news.example")
	s.Must(err)
	path := strings.TrimPrefix(address, "https://dateline.example")
	if got, text := (&browser{s: s}).open(path, nil); got.StatusCode != http.StatusOK ||
		!strings.Contains(text, "<button>") || made.Confirmed || confirmed() != 0 {
		t.Errorf("the page: got %s %s", got.Status, text)
	}
	for range 2 {
		if got, text := (&browser{s: s}).open(path, url.Values{"a": {"b"}}); got.StatusCode != http.StatusOK ||
			strings.Contains(text, "<button>") || confirmed() != 1 {
			t.Errorf("got %s %s", got.Status, text)
		}
	}
	var list spec.NotificationChannelList
	s.decode(s.send("GET", channelsPath, nil), 200, &list)
	if len(list.Channels) != 1 || !list.Channels[0].Confirmed {
		t.Errorf("got %+v, want a confirmed channel", list.Channels)
	}
	// The link of an address that was replaced leads nowhere.
	settings["recipient"] = "other@news.example"
	s.decode(s.send("PUT", channelsPath+"/"+made.Id.String(), settings), 200, &made)
	for _, token := range []string{path, notification.ConfirmPath + "AAAA"} {
		if got, _ := (&browser{s: s}).open(token, url.Values{"a": {"b"}}); got.StatusCode != http.StatusNotFound ||
			confirmed() != 0 {
			t.Errorf("%s: got %s and %d confirmed", token, got.Status, confirmed())
		}
	}
}

func TestNotificationChannel_UnsubscribesWithOneClick(t *testing.T) {
	t.Parallel()
	s := start(t)
	recipient := "editor@news.example"
	c, err := notifications(s.Newsroom).Create(t.Context(), s.Owner,
		notification.Draft{
			Kind: notification.Email, Name: "Mail", Recipient: &recipient, Types: []string{
				"post.failed",
			},
			Digest: notification.NoDigest, TimeZone: "UTC", Language: "en",
		})
	s.Must(err)
	address, err := notificationLinks(s.Newsroom).Unsubscribe(c.ID)
	s.Must(err)
	path := strings.TrimPrefix(address, "https://dateline.example")
	enabled := func() int {
		return s.Count("select count(*) from notification_channels where status = 'enabled' or disabled_reason <> " +
			"'unsubscribed'")
	}
	if got, text := (&browser{s: s}).open(path, nil); got.StatusCode != http.StatusOK ||
		!strings.Contains(text, recipient) || enabled() != 1 {
		t.Errorf("the page: got %s %s", got.Status, text)
	}
	for range 2 {
		if got, text := (&browser{s: s}).open(path,
			url.Values{"List-Unsubscribe": {"One-Click"}}); got.StatusCode != http.StatusOK || enabled() != 0 {
			t.Errorf("got %s %s", got.Status, text)
		}
	}
	if n := s.Count("select count(*) from audit_log where object_id = $1 and action = 'notification_channel.changed'",
		c.ID); n != 1 {
		t.Errorf("got %d audit entries, want 1", n)
	}
}
