package config

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

func loginSettings() []Setting {
	return []Setting{
		{
			Name: "OIDC_ISSUER", Accepts: "the exact issuer URL, such as https://login.example.org",
			Help: "Issuer URL of the OpenID provider; register <DATELINE_PUBLIC_URL>/login/callback as redirect " +
				"URI there.", set: setIssuer,
		},
		{
			Name: "OIDC_CLIENT_ID", Accepts: "the client ID from the provider",
			Help: "Client ID.", set: toString(func(c *Config) *string { return &c.OIDCClientID }),
		},
		{
			Name: "OIDC_CLIENT_SECRET", Secret: true,
			Accepts: "the client secret from the provider; empty for a public client",
			Help:    "Client secret.", set: toString(func(c *Config) *string { return &c.OIDCClientSecret }),
		},
		{
			Name: "OIDC_SCOPES", Default: "openid,email,profile",
			Accepts: "scopes separated by commas or spaces, including openid",
			Help:    "Requested scopes.", set: setScopes,
		},
		{
			Name: "OIDC_NAME", Default: "SSO", Accepts: "a few words",
			Help: "Display name of the provider on the login page.",
			set:  toString(func(c *Config) *string { return &c.OIDCName }),
		},
		{
			Name:    "OIDC_AUTO_JOIN",
			Accepts: "a comma-separated list of email domains, such as example.org,news.example.org",
			Help: "Email domains whose users join the first workspace when they log in with a verified address; " +
				"all others need an invitation.",
			set: setAutoJoin,
		},
		{
			Name: "OIDC_AUTO_JOIN_ROLE", Default: "author", Accepts: "editor, author or viewer",
			Help: "Role of users who join automatically.", set: setAutoJoinRole,
		},
	}
}

// setIssuer stores the value unchanged: issuers are compared exactly (OpenID
// Connect Discovery 1.0, section 4.3), including a trailing slash.
func setIssuer(c *Config, v string) error {
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("does not start with http:// or https://")
	case u.Host == "":
		return errors.New("has no host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must consist of scheme, host, port and path only")
	}
	c.OIDCIssuer = v
	return nil
}

func setScopes(c *Config, v string) error {
	c.OIDCScopes = strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' })
	if !slices.Contains(c.OIDCScopes, "openid") {
		return errors.New("does not include openid") // OpenID Connect Core 1.0, 3.1.2.1
	}
	return nil
}

func setAutoJoin(c *Config, v string) error {
	c.OIDCAutoJoin = nil
	for domain := range strings.SplitSeq(v, ",") {
		domain = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(domain), "@"))
		if !strings.Contains(domain, ".") || strings.Trim(domain, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
			return errors.New("has an entry that is not a domain")
		}
		c.OIDCAutoJoin = append(c.OIDCAutoJoin, domain)
	}
	return nil
}

func setAutoJoinRole(c *Config, v string) error {
	if !slices.Contains([]string{"editor", "author", "viewer"}, v) {
		return errors.New("is not a role for automatic joining")
	}
	c.OIDCAutoJoinRole = v
	return nil
}

func setTrustedProxies(c *Config, v string) error {
	c.TrustedProxies = nil
	for entry := range strings.SplitSeq(v, ",") {
		entry = strings.TrimSpace(entry)
		_, notAddress := netip.ParseAddr(entry)
		_, notNetwork := netip.ParsePrefix(entry)
		if notAddress != nil && notNetwork != nil {
			return errors.New("has an entry that is neither an IP address nor a CIDR range")
		}
		c.TrustedProxies = append(c.TrustedProxies, entry)
	}
	return nil
}
