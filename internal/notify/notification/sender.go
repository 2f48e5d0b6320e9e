package notification

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/message"
	"dateline/internal/infra/retry"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/email"
	"dateline/internal/notify/webhook"
)

// SenderStore reads what is to be sent.
type SenderStore interface {
	Channel(ctx context.Context, id uuid.UUID) (Channel, error)
	// CloseNotification ends the collection of events and stores the message that compose
	// makes of them. A notification that was closed before keeps its message.
	CloseNotification(ctx context.Context, id uuid.UUID, limit int,
		compose func(facts []Fact, total int) (string, error)) (body string, err error)
}

// Mailer sends an email: email.SMTP.
type Mailer interface {
	Send(ctx context.Context, m email.Message) error
}

// Sender sends notifications: it implements webhook.Channels.
type Sender struct {
	Store  SenderStore
	Sealer *secret.Sealer
	Client *http.Client // refuses private addresses, see call.NewClient
	Mailer Mailer       // nil: no SMTP server is configured
	Push   *Push
	Links  Links
	// Messages are those of the program in other languages; nil: English only.
	Messages webpage.Catalogs
	Now      func() time.Time // nil: time.Now
}

const (
	timeout         = 15 * time.Second // of a request
	maxRetryAfter   = time.Hour
	maxResponseBody = 4 << 10
	maxReason       = 200
)

// Hold returns how long the quiet hours of a channel last.
func (s *Sender) Hold(ctx context.Context, j webhook.Job) (time.Duration, error) {
	if j.Type == testType || j.Type == confirmType {
		return 0, nil // requested just now
	}
	c, err := s.Store.Channel(ctx, j.ChannelID)
	if err != nil {
		return 0, err
	}
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return c.quietFor(now()), nil
}

// Send sends a notification. An error means that nothing was sent.
func (s *Sender) Send(ctx context.Context, j webhook.Job) (webhook.Answer, error) {
	c, err := s.Store.Channel(ctx, j.ChannelID)
	if err != nil {
		return webhook.Answer{}, err
	}
	if c.IsUnconfirmed() && j.Type != confirmType {
		return webhook.Answer{
			Error:     message.New("email_not_confirmed", "The email address is not confirmed."),
			Permanent: true, Unsent: true,
		}, nil
	}
	body, err := s.Store.CloseNotification(ctx, j.ID, maxEntries, func(facts []Fact, total int) (string, error) {
		m, err := c.Compose(facts, total, s.Links.PublicURL, s.Messages[c.Language])
		if err != nil {
			return "", err
		}
		return m.encode()
	})
	if err != nil {
		return webhook.Answer{}, err
	}
	composed, err := decode(body)
	if err != nil {
		return webhook.Answer{}, err
	}
	if len(composed.Entries) == 0 {
		return webhook.Answer{Delivered: true, Unsent: true}, nil // its events were deleted
	}
	lines, err := composed.lines(webpage.Preferences{Language: c.Language}, s.Links.Decision)
	if err != nil {
		return webhook.Answer{}, err
	}
	d, err := unseal(s.Sealer, c)
	if err != nil {
		return webhook.Answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := outgoing{id: j.ID, message: composed, lines: lines}
	switch {
	case c.Kind == Email && j.Type == confirmType:
		return s.requestConfirmation(ctx, c, d, out)
	case c.Kind == Email:
		return s.email(ctx, c, d, out)
	case c.Kind == Browser:
		text, err := out.asPush(c.Language, s.Links.PublicURL, s.Links.Decision)
		if err != nil {
			return webhook.Answer{}, err
		}
		send, err := s.Push.sending(ctx, d, text) //nolint:bodyclose // exchange closes it
		if err != nil {
			return webhook.Answer{}, err
		}
		return s.exchange(c, d, send)
	}
	return s.post(ctx, c, d, out)
}

// requestConfirmation sends an email with the link to confirm its address.
func (s *Sender) requestConfirmation(
	ctx context.Context, c Channel, d Destination, o outgoing,
) (webhook.Answer, error) {
	link, err := s.Links.Confirm(c.ID, d.Recipient)
	if err != nil {
		return webhook.Answer{}, err
	}
	look := webpage.Preferences{Language: c.Language}
	o.lines = append(o.lines, line{text: link, url: true}, line{}, line{text: look.Translate(confirmFooter())})
	return s.email(ctx, c, d, o)
}

// email sends an email. Its Message-ID is that of the delivery, so mail programs show a
// repeated one once.
func (s *Sender) email(ctx context.Context, c Channel, d Destination, o outgoing) (webhook.Answer, error) {
	if s.Mailer == nil {
		return webhook.Answer{Error: message.New("no_mail_server",
			"This installation cannot send emails. Ask its operator to set DATELINE_SMTP_HOST.")}, nil
	}
	unsubscribe, err := s.Links.Unsubscribe(c.ID)
	if err != nil {
		return webhook.Answer{}, err
	}
	subject, text := o.asEmail(c.Language, unsubscribe)
	err = s.Mailer.Send(ctx, email.Message{
		ID: o.id, To: d.Recipient, Subject: subject, Text: text, UnsubscribeURL: unsubscribe,
	})
	if err == nil {
		return webhook.Answer{Delivered: true}, nil
	}
	code, said := email.Reason(err)
	said = cut(oneLine(strings.ToValidUTF8(said, "?")), maxReason)
	if errors.Is(err, email.ErrRejected) {
		return webhook.Answer{
			Status:    code,
			Error:     message.New("email_refused", "The mail server rejected the email.[ It said: {answer}]", said),
			Permanent: true,
		}, nil
	}
	return webhook.Answer{
		Status: code,
		Error:  message.New("email_not_sent", "The email was not sent.[ Reason: {answer}]", said),
	}, nil
}

func (s *Sender) post(ctx context.Context, c Channel, d Destination, o outgoing) (webhook.Answer, error) {
	r, err := request(ctx, c.Kind, d, o)
	if err != nil {
		// The error can contain the URL, which is a secret.
		return webhook.Answer{Error: message.New("channel_address_invalid", //nolint:nilerr // recorded as the result
			"The address of the channel is invalid. Enter it again.")}, nil
	}
	return s.exchange(c, d, func(client *http.Client) (*http.Response, error) { return client.Do(r) })
}

// exchange sends a request and reads the response of a service.
func (s *Sender) exchange(
	c Channel, d Destination, send func(*http.Client) (*http.Response, error),
) (webhook.Answer, error) {
	client := *s.Client
	// A redirect could leak the message to another host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := send(&client)
	if err != nil {
		return webhook.Answer{Error: webhook.Reason(err)}, nil
	}
	defer func() { _ = response.Body.Close() }()
	raw, _ := io.ReadAll(io.LimitReader(response.Body, maxResponseBody)) // only explains the status
	a := webhook.Answer{Status: response.StatusCode, Delivered: response.StatusCode/100 == 2}
	if a.Delivered {
		return a, nil
	}
	said, after := explanation(raw)
	if mentions(said, d) {
		said = ""
	}
	a.Error = message.New("service_responded", "The service responded with {http_status}.[ It said: {answer}]",
		a.Status, said)
	switch a.Status {
	case http.StatusGone:
		a.Gone = true
	case http.StatusNotFound:
		a.Gone = c.Kind == Slack || c.Kind == Discord || c.Kind == Browser // a deleted webhook or subscription
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		a.RetryAfter = max(retry.After(response.Header, time.Now(), maxRetryAfter), min(after, maxRetryAfter))
	}
	return a, nil
}

// explanation reads the reason and the wait from the response of a service: Telegram has
// description and parameters.retry_after, Discord message and retry_after, Matrix error
// and retry_after_ms, ntfy error, Gotify errorDescription beside a general error, and
// services that follow RFC 9457 detail. Slack answers with plain text.
func explanation(raw []byte) (text string, after time.Duration) {
	var r map[string]any
	if json.Unmarshal(raw, &r) != nil {
		text = strings.ToValidUTF8(string(raw), "?")
		if strings.ContainsAny(text, "<{[") { // a page, or a part of an object
			text = ""
		}
		return cut(oneLine(text), maxReason), 0
	}
	parameters, _ := r["parameters"].(map[string]any)
	number := func(of map[string]any, name string) float64 { n, _ := of[name].(float64); return n }
	seconds := max(number(r, "retry_after"), number(r, "retry_after_ms")/1000, number(parameters, "retry_after"))
	return cut(oneLine(strings.ToValidUTF8(reasonIn(r), "?")), maxReason),
		time.Duration(min(max(seconds, 0), maxRetryAfter.Seconds()) * float64(time.Second))
}

// reasonIn returns the most detailed reason of a JSON object, which may be in the object
// "error".
func reasonIn(r map[string]any) string {
	for _, name := range []string{
		"description", "errorDescription", "error_description", "detail", "message", "error",
		"title",
	} {
		switch v := r[name].(type) {
		case string:
			if strings.TrimSpace(v) != "" {
				return v
			}
		case map[string]any:
			if text := reasonIn(v); text != "" {
				return text
			}
		}
	}
	return ""
}

// mentions reports whether a text contains a secret of a destination.
func mentions(text string, d Destination) bool {
	return d.Keys.Auth != "" && strings.Contains(text, d.Keys.Auth) || d.Token != "" &&
		strings.Contains(text, d.Token) || d.URL != "" && strings.Contains(text, d.URL)
}
