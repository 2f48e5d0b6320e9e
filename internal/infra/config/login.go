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
		{Name: "OIDC_ISSUER", Accepts: "the issuer exactly as the provider writes it, such as https://login.example.org",
			Help: "OpenID provider that people log in at; register <DATELINE_PUBLIC_URL>/login/callback there as redirect URI.", set: setIssuer},
		{Name: "OIDC_CLIENT_ID", Accepts: "the id that the provider gave this client",
			Help: "Client id.", set: toString(func(c *Config) *string { return &c.OIDCClientID })},
		{Name: "OIDC_CLIENT_SECRET", Secret: true, Accepts: "the secret that goes with it; empty for a public client",
			Help: "Client secret.", set: toString(func(c *Config) *string { return &c.OIDCClientSecret })},
		{Name: "OIDC_SCOPES", Default: "openid,email,profile", Accepts: "scopes with commas or spaces between them, openid among them",
			Help: "What the provider is asked for.", set: setScopes},
		{Name: "OIDC_NAME", Default: "SSO", Accepts: "a few words",
			Help: "What people call the provider; shown on the login page.", set: toString(func(c *Config) *string { return &c.OIDCName })},
		{Name: "OIDC_AUTO_JOIN", Accepts: "a comma list of e-mail domains, such as example.org,news.example.org",
			Help: "Strangers with a verified address in one of these domains join the first workspace by logging in; else only who is invited gets in.",
			set:  setAutoJoin},
		{Name: "OIDC_AUTO_JOIN_ROLE", Default: "author", Accepts: "editor, author or viewer",
			Help: "What they join as.", set: setAutoJoinRole},
	}
}

// setIssuer keeps the value as it is: issuers are compared letter by letter
// (OpenID Connect Discovery 1.0, section 4.3), a slash at the end included.
func setIssuer(c *Config, v string) error {
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("does not begin with http:// or https://")
	case u.Host == "":
		return errors.New("has no host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("has more than scheme, host, port and path")
	}
	c.OIDCIssuer = v
	return nil
}

func setScopes(c *Config, v string) error {
	c.OIDCScopes = strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' })
	if !slices.Contains(c.OIDCScopes, "openid") {
		return errors.New("does not ask for openid") // OpenID Connect Core 1.0, 3.1.2.1
	}
	return nil
}

func setAutoJoin(c *Config, v string) error {
	c.OIDCAutoJoin = nil
	for domain := range strings.SplitSeq(v, ",") {
		domain = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(domain), "@"))
		if !strings.Contains(domain, ".") || strings.Trim(domain, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
			return errors.New("has an entry that is no domain")
		}
		c.OIDCAutoJoin = append(c.OIDCAutoJoin, domain)
	}
	return nil
}

func setAutoJoinRole(c *Config, v string) error {
	if !slices.Contains([]string{"editor", "author", "viewer"}, v) {
		return errors.New("is not a role that anybody may join as")
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
			return errors.New("has an entry that is neither an address nor a network")
		}
		c.TrustedProxies = append(c.TrustedProxies, entry)
	}
	return nil
}
