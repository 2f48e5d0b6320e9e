// Package email sends emails through an SMTP server. An outbox in the database holds
// them until they are sent, so that each is sent once and none is lost.
package email

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/wneessen/go-mail"

	"dateline/internal/identity/secret"
)

// Message is an email to one recipient, as plain text and HTML.
type Message struct {
	ID             uuid.UUID // stable: the Message-ID is derived from it
	To             string
	Subject        string
	Text, HTML     string
	UnsubscribeURL string // empty: none
}

// Encryption is how the connection to the server is encrypted.
type Encryption string

// The kinds of encryption.
const (
	StartTLS Encryption = "starttls" // required
	TLS      Encryption = "tls"      // from the start, usually on port 465
	None     Encryption = "none"     // for servers on the same machine
)

// Server describes the SMTP server and the sender.
type Server struct {
	Host       string
	Port       int
	Encryption Encryption
	Username   string // empty: no authentication
	Password   secret.Text
	From       string // such as Dateline <reports@news.example>
	Domain     string // of Message-IDs
}

// timeout bounds the sending of an email.
const timeout = 30 * time.Second

// SMTP sends emails through a server. It is safe for concurrent use.
type SMTP struct{ Server Server }

// Send errors say whether another attempt may help.
var (
	// ErrRejected says that the server refused the email for good.
	ErrRejected = errors.New("the mail server rejected the email")
	// ErrUncertain says that the connection ended before the server confirmed the
	// email, so it may have been delivered.
	ErrUncertain = errors.New("the mail server may have accepted the email, but the connection ended first")
)

// Send sends an email. Other errors than ErrRejected and ErrUncertain mean that it
// was not sent and may be sent later.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	out := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(out.From(s.Server.From), out.To(m.To)); err != nil {
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	out.Subject(m.Subject)
	out.SetMessageIDWithValue(m.ID.String() + "@" + s.Server.Domain)
	out.SetDate()
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834, 5
	if m.UnsubscribeURL != "" {
		out.SetGenHeader(mail.HeaderListUnsubscribe, "<"+m.UnsubscribeURL+">")
		out.SetGenHeader(mail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click") // RFC 8058, 3.1
	}
	out.SetBodyString(mail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		out.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("connect to the mail server: %w", err)
	}
	err = client.SendWithSMTPClient(connection, out)
	_ = client.CloseWithSMTPClient(connection) // the email is sent or not by then
	return classify(err)
}

func (s *SMTP) client() (*mail.Client, error) {
	options := []mail.Option{
		mail.WithPort(s.Server.Port), mail.WithTimeout(timeout), mail.WithoutNoop(), mail.WithoutRset(),
	}
	switch s.Server.Encryption {
	case TLS:
		options = append(options, mail.WithSSL())
	case None:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	case StartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if s.Server.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.Server.Username),
			mail.WithPassword(s.Server.Password.Reveal()))
	}
	return mail.NewClient(s.Server.Host, options...)
}

// classify adds ErrRejected or ErrUncertain to an error.
func classify(err error) error {
	var failed *mail.SendError
	if err == nil || !errors.As(err, &failed) {
		return err
	}
	switch {
	case failed.Reason == mail.ErrSMTPDataClose && failed.ErrorCode() == 0:
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	case failed.ErrorCode() >= 500 && !failed.IsTemp():
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	return err
}
