package email_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/notify/email"
)

// server is an SMTP server (RFC 5321) that keeps what it receives.
type server struct {
	port int

	mu       sync.Mutex
	received []string
	answer   func(command string) string // overrides the response to a command; "-" ends the connection
}

func serve(t *testing.T) *server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{port: l.Addr().(*net.TCPAddr).Port}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.talk(c)
		}
	}()
	return s
}

func (s *server) talk(c net.Conn) {
	defer func() { _ = c.Close() }()
	r := bufio.NewReader(c)
	say := func(line string) { _, _ = io.WriteString(c, line+"\r\n") }
	say("220 mail.example")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		command := strings.ToUpper(strings.Fields(line + " x")[0])
		reply := map[string]string{"EHLO": "250 mail.example", "DATA": "354 send it", "QUIT": "221 bye"}[command]
		if reply == "" {
			reply = "250 ok"
		}
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		if answer != nil && answer(command) != "" {
			reply = answer(command)
		}
		if reply == "-" {
			return
		}
		say(reply)
		if command != "DATA" || !strings.HasPrefix(reply, "354") {
			continue
		}
		var body strings.Builder
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line == ".\r\n" {
				break
			}
			body.WriteString(strings.TrimPrefix(line, "."))
		}
		if answer != nil && answer(".") == "-" {
			return
		}
		s.mu.Lock()
		s.received = append(s.received, body.String())
		s.mu.Unlock()
		say("250 queued")
	}
}

func (s *server) set(answer func(string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.received)
}

func (s *server) smtp() *email.SMTP {
	return &email.SMTP{
		Server: email.Server{
			Host: "127.0.0.1", Port: s.port, Encryption: email.None,
			From: "Dateline <reports@news.example>", Domain: "news.example",
		},
	}
}

func TestSMTP_SendsTextAndHTML(t *testing.T) {
	t.Parallel()
	s := serve(t)
	m := email.Message{
		ID: uuid.New(), To: "editor@news.example", Subject: "Tuần này: 1.234 lượt xem",
		Text: "Lượt xem\n.\nhết", HTML: "<p>Lượt xem</p>", UnsubscribeURL: "https://dateline.example/unsubscribe/x",
	}
	if err := s.smtp().Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got, err := mail.ReadMessage(strings.NewReader(s.received[0]))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
	if err != nil || subject != m.Subject {
		t.Errorf("subject: got %q (%v), want %q", subject, err, m.Subject)
	}
	for name, want := range map[string]string{
		"To": "<editor@news.example>", "Message-Id": "<" + m.ID.String() +
			"@news.example>", "List-Unsubscribe": "<" + m.UnsubscribeURL + ">",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Auto-Submitted": "auto-generated",
	} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: got %q, want %q", name, value, want)
		}
	}
	kind, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type: got %s (%v)", kind, err)
	}
	parts := multipart.NewReader(got.Body, params["boundary"])
	for _, want := range []string{m.Text, m.HTML} {
		p, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(p)
		if text := strings.TrimSpace(strings.ReplaceAll(string(raw), "\r\n", "\n")); err != nil || text != want {
			t.Errorf("part: got %q (%v), want %q", text, err, want)
		}
	}
}

// Errors say whether another attempt could send an email twice, or would fail again.
func TestSMTP_ClassifiesErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer              map[string]string
		rejected, uncertain bool
	}{
		"the recipient is unknown":            {answer: map[string]string{"RCPT": "550 no such user"}, rejected: true},
		"the recipient's mailbox is full now": {answer: map[string]string{"RCPT": "452 try later"}},
		"the server greets and leaves":        {answer: map[string]string{"MAIL": "-"}},
		"the connection ends after the email": {answer: map[string]string{".": "-"}, uncertain: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.set(func(command string) string { return c.answer[command] })
			err := s.smtp().Send(t.Context(), email.Message{ID: uuid.New(), To: "a@b.example", Subject: "s", Text: "t"})
			if err == nil || errors.Is(err, email.ErrRejected) != c.rejected ||
				errors.Is(err, email.ErrUncertain) != c.uncertain {
				t.Errorf("got %v, want rejected %v, uncertain %v", err, c.rejected, c.uncertain)
			}
		})
	}
	// How the connection ends changes nothing.
	s := serve(t)
	s.set(func(command string) string { return map[string]string{"QUIT": "-"}[command] })
	if err := s.smtp().Send(t.Context(), email.Message{
		ID: uuid.New(), To: "a@b.example", Subject: "s",
		Text: "t",
	}); err != nil || s.count() != 1 {
		t.Errorf("sent %d emails: %v", s.count(), err)
	}
}

func TestReason_IsWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer map[string]string
		code   int
		text   string
	}{
		"unknown recipient": {
			map[string]string{"RCPT": "550 5.1.1 <a@b.example>: Recipient address rejected"},
			550,
			"550 5.1.1 <a@b.example>: Recipient address rejected",
		},
		"not allowed": {
			map[string]string{"MAIL": "550 5.7.1 Sender not permitted"},
			550,
			"550 5.7.1 Sender not permitted",
		},
		"too large":  {map[string]string{"DATA": "552 5.3.4 Message too big"}, 552, "552 5.3.4 Message too big"},
		"greylisted": {map[string]string{"RCPT": "451 4.7.1 Try again later"}, 451, "451 4.7.1 Try again later"},
		"no service": {map[string]string{"EHLO": "554 5.7.1 No service"}, 554, "554 5.7.1 No service"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.set(func(command string) string {
				if command == "HELO" {
					command = "EHLO"
				}
				return c.answer[command]
			})
			code, text := email.Reason(s.smtp().Send(t.Context(), email.Message{
				ID: uuid.New(), To: "a@b.example", Subject: "s", Text: "t",
			}))
			if code != c.code || text != c.text {
				t.Errorf("got %d %q, want %d %q", code, text, c.code, c.text)
			}
		})
	}
	closed := &email.SMTP{Server: email.Server{Host: "127.0.0.1", Port: 1, Encryption: email.None}}
	if code, text := email.Reason(closed.Check(t.Context())); code != 0 || !strings.Contains(text, "refused") ||
		strings.Contains(text, "127.0.0.1") {
		t.Errorf("got %d %q, want that the connection was refused, without the address", code, text)
	}
	plain := serve(t).smtp()
	if err := plain.Check(t.Context()); err != nil {
		t.Error(err)
	}
	plain.Server.Encryption = email.StartTLS // which it does not offer
	if err := plain.Check(t.Context()); err == nil {
		t.Error("a connection without TLS was accepted")
	}
}

// memory is an outbox with one email.
type memory struct {
	job     email.Job
	isDue   bool
	results []email.Result
}

func (m *memory) ClaimEmail(context.Context) (email.Job, bool, error) {
	if !m.isDue {
		return email.Job{}, false, nil
	}
	m.isDue = false
	m.job.Attempts++
	return m.job, true, nil
}

func (m *memory) RecordEmail(_ context.Context, _ uuid.UUID, r email.Result) error {
	m.results = append(m.results, r)
	return nil
}

func (m *memory) AbandonEmails(context.Context, time.Duration, string) (int64, error) { return 0, nil }

func (m *memory) PruneEmails(context.Context, int) error { return nil }

func TestOutbox_RetriesThenGivesUp(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.set(func(command string) string { return map[string]string{"RCPT": "451 later"}[command] })
	m := &memory{job: email.Job{Message: email.Message{ID: uuid.New(), To: "a@b.example", Subject: "s", Text: "t"}}}
	o := &email.Outbox{Store: m, Sender: s.smtp(), Log: slog.New(slog.DiscardHandler), RetrySchedule: []time.Duration{
		time.Minute, time.Hour,
	}}
	for range 3 {
		m.isDue = true
		if _, err := o.SendDue(t.Context(), func() {}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range m.results {
		got = append(got, fmt.Sprint(r.Status, " ", r.RetryIn))
	}
	if want := "pending 1m0s, pending 1h0m0s, dead 0s"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	s.set(nil)
	m.isDue, m.job.Attempts = true, 0
	if done, err := o.SendDue(t.Context(), func() {}); err != nil || done.Sent != 1 || s.count() != 1 {
		t.Errorf("got %+v, %v, %d received", done, err, s.count())
	}
}
