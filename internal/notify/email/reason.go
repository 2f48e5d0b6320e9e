package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/textproto"
	"os"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"
)

// Check connects to the server, starts TLS and authenticates, without sending anything.
func (s *SMTP) Check(ctx context.Context) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	return client.CloseWithSMTPClient(connection)
}

// Reason returns the reply code and the text of the mail server, or why there was no reply
// (code 0), without addresses of machines: users see it. The text is empty if it is unknown.
func Reason(err error) (code int, text string) {
	var reply *textproto.Error
	var failed *mail.SendError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var network *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.As(err, &reply):
		return reply.Code, strconv.Itoa(reply.Code) + " " + reply.Msg
	case errors.As(err, &failed) && failed.ErrorCode() != 0:
		// The library keeps only the text of the reply, between what failed and the recipients.
		text = strings.TrimPrefix(failed.Error(), failed.Reason.String()+": ")
		text, _, _ = strings.Cut(text, ", affected recipient(s): ")
		text, _, _ = strings.Cut(text, ", affected message ID: ")
		// Go 1.26 quotes the text after the code.
		if quoted, err := strconv.Unquote(strings.TrimPrefix(text, strconv.Itoa(failed.ErrorCode())+" ")); err == nil {
			text = strconv.Itoa(failed.ErrorCode()) + " " + quoted
		}
		return failed.ErrorCode(), text
	case errors.As(err, &certificate):
		return 0, certificate.Error()
	case errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &invalid):
		return 0, "the certificate of the server cannot be verified"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) &&
		network.Timeout():
		return 0, "the server did not answer in time"
	case errors.As(err, &lookup):
		return 0, "the host name of the server is unknown"
	case errors.As(err, &network):
		return 0, network.Err.Error()
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered):
		return 0, "the server offers no way to authenticate that Dateline supports"
	}
	return 0, ""
}
