package doctor

import (
	"context"
	"errors"
	"strings"

	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/notify/email"
)

// provider checks that the OpenID provider is the configured issuer.
func provider(ctx context.Context, o Options) []Finding {
	var l list
	issuer := o.Config.OIDCIssuer
	if issuer == "" {
		return nil
	}
	err := (&login.Provider{Issuer: issuer}).Check(ctx)
	var other *login.IssuerError
	switch {
	case errors.As(err, &other) && other.Announced != "":
		l.fail("login provider", "Set OIDC_ISSUER to "+other.Announced+" exactly, and restart the api.",
			"The provider is not the issuer %s: it names itself %s, so every login fails.", issuer, other.Announced)
	case err != nil:
		l.fail("login provider", "Check that the provider runs, and that OIDC_ISSUER is its issuer.",
			"Its discovery document cannot be read: %s", short(err))
	default:
		l.ok("login provider", "%s", issuer)
	}
	return l
}

// short shortens an error that may contain a page.
func short(err error) string {
	const maxLength = 200
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(text) > maxLength {
		return string(text[:maxLength-1]) + "…"
	}
	return string(text)
}

// mailServer connects to the SMTP server and authenticates.
func mailServer(ctx context.Context, o Options) []Finding {
	var l list
	c := o.Config
	if c.SMTPHost == "" {
		return nil
	}
	from, domain := c.EmailSender()
	s := email.SMTP{Server: email.Server{
		Host: c.SMTPHost, Port: c.SMTPPort,
		Encryption: email.Encryption(c.SMTPEncryption),
		Username:   c.SMTPUsername, Password: secret.NewText(c.SMTPPassword), From: from, Domain: domain,
	}}
	err := s.Check(ctx)
	if err == nil {
		l.ok("mail server", "%s:%d accepts connections of Dateline", c.SMTPHost, c.SMTPPort)
		return l
	}
	code, said := email.Reason(err)
	if said == "" {
		said = short(err)
	}
	advice := "Check DATELINE_SMTP_HOST, DATELINE_SMTP_PORT and DATELINE_SMTP_ENCRYPTION, and that its certificate " +
		"is valid for this name."
	if code != 0 {
		advice = "Check DATELINE_SMTP_USERNAME and DATELINE_SMTP_PASSWORD, and that the server lets this machine send."
	}
	l.fail("mail server", advice, "No email can be sent through %s:%d: %s", c.SMTPHost, c.SMTPPort, said)
	return l
}
