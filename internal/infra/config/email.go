package config

import (
	"errors"
	"net/mail"
	"slices"
	"strings"
)

func emailSettings() []Setting {
	return []Setting{
		{
			Name: "DATELINE_SMTP_HOST", Accepts: "a host, such as smtp.example.org",
			Help: "SMTP server for reports and alerts by email; if empty, no emails are sent.",
			set:  toString(func(c *Config) *string { return &c.SMTPHost }),
		},
		{
			Name: "DATELINE_SMTP_PORT", Default: "587", Accepts: "1 to 65535",
			Help: "Port of the SMTP server.", set: toPort(func(c *Config) *int { return &c.SMTPPort }),
		},
		{
			Name: "DATELINE_SMTP_ENCRYPTION", Default: "starttls",
			Accepts: "starttls, tls (usually on port 465) or none",
			Help:    "Encryption of the connection. Use none only for a server on the same machine.",
			set:     setSMTPEncryption,
		},
		{
			Name: "DATELINE_SMTP_USERNAME", Accepts: "a user name; empty for no authentication",
			Help: "User of the SMTP server.", set: toString(func(c *Config) *string { return &c.SMTPUsername }),
		},
		{
			Name: "DATELINE_SMTP_PASSWORD", Secret: true, Accepts: "the user's password",
			Help: "Password of the SMTP server.", set: toString(func(c *Config) *string { return &c.SMTPPassword }),
		},
		{
			Name: "DATELINE_EMAIL_FROM", DefaultText: "Dateline <dateline@host of DATELINE_PUBLIC_URL>",
			Accepts: "an address, such as Newsroom <reports@news.example>",
			Help:    "Sender of emails.", set: setEmailFrom,
		},
	}
}

func setSMTPEncryption(c *Config, v string) error {
	if !slices.Contains([]string{"starttls", "tls", "none"}, v) {
		return errors.New("is not a kind of encryption")
	}
	c.SMTPEncryption = v
	return nil
}

func setEmailFrom(c *Config, v string) error {
	if _, err := mail.ParseAddress(v); err != nil {
		return errors.New("is not an email address")
	}
	c.EmailFrom = v
	return nil
}

// EmailSender returns the sender of emails and the domain of their ids.
func (c *Config) EmailSender() (from, domain string) {
	_, rest, _ := strings.Cut(c.PublicURL, "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, ":")
	if from = c.EmailFrom; from == "" {
		from = "Dateline <dateline@" + host + ">"
	}
	address, err := mail.ParseAddress(from)
	if err != nil { // checked when it was set
		return from, host
	}
	return from, address.Address[strings.LastIndexByte(address.Address, '@')+1:]
}
