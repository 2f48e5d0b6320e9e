package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/notify/email"
	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
)

// services are fake chat services and a mail server, which keep what they get.
type services struct {
	*httptest.Server
	mu     sync.Mutex
	got    map[notification.Kind][]string
	ids    map[notification.Kind][]string // of deliveries, where a service gets them
	status int                            // of the next responses; 0: success

	browser *subscription
}

func newServices(t *testing.T) *services {
	s := &services{got: map[notification.Kind][]string{}, ids: map[notification.Kind][]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP follows the documentation of each service: the method, the path, the
// required fields and the response.
func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	if r.URL.Path == pushPath {
		s.push(w, r, raw)
		return
	}
	var body struct {
		Text, Content, Topic, Title, Message, MsgType, Body, Type string
		ID                                                        string `json:"notification_id"`
		ChatID                                                    string `json:"chat_id"`
		Attachments                                               []struct{ ContentType string }
	}
	bad := json.Unmarshal(raw, &body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != 0 {
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w,
			`{"ok":false,"description":"Bad Request: chat not found","parameters":{"retry_after":1}}`)
		return
	}
	kind, id, ok, answer := notification.Kind(""), "", false, ""
	switch path := r.URL.EscapedPath(); {
	case path == "/services/T0/B0/xyz":
		kind, ok, answer = notification.Slack, body.Text != "", "ok"
	case path == "/bot123:secret/sendMessage":
		kind, ok, answer = notification.Telegram, body.ChatID == "-100" && body.Text != "", `{"ok":true,"result":{}}`
	case path == "/api/webhooks/1/token":
		kind, ok = notification.Discord, body.Content != ""
	case path == "/" && body.Topic == "newsroom":
		kind, ok = notification.Ntfy, body.Message != "" && body.Title != "" &&
			r.Header.Get("Authorization") == "Bearer tk_1"
	case strings.HasPrefix(path, "/_matrix/client/v3/rooms/%21room:chat.example/send/m.room.message/"):
		id = path[strings.LastIndexByte(path, '/')+1:]
		kind, ok, answer = notification.Matrix, r.Method == http.MethodPut && body.MsgType == "m.text" &&
			body.Body != "" && r.Header.Get("Authorization") == "Bearer syt_1", `{"event_id":"$1"}`
		if slices.Contains(s.ids[kind], id) { // a repeated transaction
			_, _ = io.WriteString(w, answer)
			return
		}
	case path == "/workflows/1":
		kind, ok = notification.Teams, body.Type == "message" && len(body.Attachments) == 1 &&
			body.Attachments[0].ContentType == "application/vnd.microsoft.card.adaptive"
	case path == "/any":
		kind, id, ok = notification.Webhook, body.ID, body.Title != "" && r.Header.Get("Authorization") == "Bearer own"
	}
	if bad != nil || !ok || r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "unexpected "+r.Method+" "+r.URL.Path+" "+string(raw), http.StatusBadRequest)
		return
	}
	s.got[kind] = append(s.got[kind], string(raw))
	s.ids[kind] = append(s.ids[kind], id)
	_, _ = io.WriteString(w, answer)
}

// Send implements notification.Mailer.
func (s *services) Send(_ context.Context, m email.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != 0 {
		return errors.New("connection refused")
	}
	s.got[notification.Email] = append(s.got[notification.Email], m.To+"\n"+m.Subject+"\n"+m.Text+"\n"+m.UnsubscribeURL)
	s.ids[notification.Email] = append(s.ids[notification.Email], m.ID.String())
	return nil
}

func (s *services) all(kind notification.Kind) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got[kind])
}

func (s *services) respond(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// notified is a newsroom whose owner gets notifications.
type notified struct {
	*outbox
	*services
	manager *notification.Service
	sender  *notification.Sender
}

func newNotified(t *testing.T, pauses ...time.Duration) *notified {
	t.Helper()
	n := &notified{outbox: newOutbox(t, pauses...), services: newServices(t)}
	links := notification.Links{Sealer: n.Sealer, PublicURL: "https://dateline.example"}
	push := &notification.Push{Store: n.Store.Notify.Notifications, Sealer: n.Sealer, PublicURL: links.PublicURL}
	n.manager = &notification.Service{
		Store: n.Store.Notify.Notifications, Sealer: n.Sealer, Guard: n.Webhooks.Guard, Live: n.Bus,
		Links: links, Push: push, CanSendEmail: true,
	}
	n.sender = &notification.Sender{
		Store: n.Store.Notify.Notifications, Sealer: n.Sealer, Client: n.webhooks.Deliverer.Client,
		Mailer: n.services, Push: push, Links: links,
	}
	n.browser = newSubscription(t)
	n.webhooks.Deliverer.Channels = n.sender
	return n
}

// destination returns what a kind needs, at the fake services.
func (n *notified) destination(kind notification.Kind) (url, token, recipient string) {
	switch kind {
	case notification.Email:
		return "", "", "editor@news.example"
	case notification.Slack:
		return n.URL + "/services/T0/B0/xyz", "", ""
	case notification.Telegram:
		return n.URL, "123:secret", "-100"
	case notification.Discord:
		return n.URL + "/api/webhooks/1/token", "", ""
	case notification.Ntfy:
		return n.URL + "/newsroom", "tk_1", ""
	case notification.Matrix:
		return n.URL, "syt_1", "!room:chat.example"
	case notification.Teams:
		return n.URL + "/workflows/1", "", ""
	case notification.Browser:
		return n.URL + pushPath, "", ""
	default:
		return n.URL + "/any", "own", ""
	}
}

func (n *notified) channel(kind notification.Kind, change func(*notification.Draft)) notification.Channel {
	n.t.Helper()
	url, token, recipient := n.destination(kind)
	d := notification.Draft{
		Kind: kind, Name: string(kind), URL: &url, Token: &token, Recipient: &recipient,
		Types:  []string{"post.posted", "post.failed", "post.uncertain"},
		Digest: notification.NoDigest, TimeZone: "Asia/Ho_Chi_Minh", Language: "en",
	}
	if kind == notification.Browser {
		d.PushKeys = n.browser.keys()
	}
	if change != nil {
		change(&d)
	}
	c, err := n.manager.Create(n.t.Context(), n.Owner, d)
	n.Must(err)
	if kind == notification.Email {
		n.Must(n.Store.Notify.Notifications.ConfirmChannel(n.t.Context(), c.ID, recipient))
		n.Exec("delete from webhook_deliveries where channel_id = $1", c.ID) // the request to confirm
	}
	return c
}

// dispatch creates deliveries from so many events.
func (n *notified) dispatch(events int) {
	n.t.Helper()
	done := 0
	// Open transactions of other tests on the same server delay events for a moment.
	await(n.t, "the events", func() bool {
		written, err := n.Store.Notify.Webhooks.DispatchWebhooks(n.t.Context(), 100, func(e webhook.Event) (string, error) {
			return e.Body("")
		})
		n.Must(err)
		done += written
		return done >= events
	})
}

func (n *notified) notifications(c notification.Channel) []notification.Notification {
	n.t.Helper()
	list, err := n.manager.Notifications(n.t.Context(), n.Owner, c.ID)
	n.Must(err)
	return list
}
