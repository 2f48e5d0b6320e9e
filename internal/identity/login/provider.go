package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"dateline/internal/identity/secret"
)

// Timeouts of requests to the provider.
const (
	providerTimeout  = 10 * time.Second
	providerMaxBytes = 1 << 20
)

// Provider is an OpenID provider. Discovery takes place at the first login and is retried
// until it succeeds, so that an unavailable provider does not prevent the start.
type Provider struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.Text // empty: a public client
	Scopes       []string
	Label        string // what people call it

	asking singleflight.Group
	known  atomic.Pointer[discovered]
}

// discovered is the discovery document of the provider.
type discovered struct {
	*oidc.Provider
	style       oauth2.AuthStyle
	namesItself bool
}

// client sends requests to the provider. The issuer is configured by the operator and can
// be private; redirects are rejected.
func (p *Provider) client() *http.Client {
	return &http.Client{
		Timeout: providerTimeout, Transport: limited{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the provider redirects, which is not followed")
		},
	}
}

// limited limits the size of responses.
type limited struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, providerMaxBytes), answer.Body}
	}
	return answer, err
}

// discover fetches the discovery document once; keys are fetched again when they change.
// Concurrent calls share a request.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	if d := p.known.Load(); d != nil {
		return d, nil
	}
	d, err, _ := p.asking.Do("", func() (any, error) { return p.ask(context.WithoutCancel(ctx)) })
	if err != nil {
		return nil, err
	}
	return d.(*discovered), nil
}

// IssuerError says that the configured issuer is not the one that the provider names. The
// two must be identical (OpenID Connect Discovery 1.0, section 4.3), so no login succeeds
// until the setting is corrected.
type IssuerError struct{ Configured, Announced string }

// Error implements error.
func (e *IssuerError) Error() string {
	return fmt.Sprintf("OIDC_ISSUER is %q, but the provider names itself %q", e.Configured, e.Announced)
}

// discoveryPath is where the discovery document is, below the issuer.
const discoveryPath = "/.well-known/openid-configuration"

// Check fetches the discovery document, and returns an IssuerError if the issuer has to be
// corrected.
func (p *Provider) Check(ctx context.Context) error {
	_, err := p.discover(ctx)
	return err
}

func (p *Provider) ask(ctx context.Context) (*discovered, error) {
	// The address of the document is often set instead of the issuer. The check of the issuer
	// is below, because the library's error does not say which one to set.
	base := strings.TrimSuffix(strings.TrimRight(p.Issuer, "/"), discoveryPath)
	ctx = oidc.InsecureIssuerURLContext(oidc.ClientContext(ctx, p.client()), p.Issuer)
	found, err := oidc.NewProvider(ctx, strings.TrimRight(base, "/"))
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", strings.TrimRight(base, "/")+discoveryPath, err)
	}
	var more struct {
		Issuer      string   `json:"issuer"`
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, fmt.Errorf("reading the provider's metadata: %w", err)
	}
	if more.Issuer != p.Issuer {
		return nil, &IssuerError{p.Issuer, more.Issuer}
	}
	d := &discovered{Provider: found, style: oauth2.AuthStyleInHeader, namesItself: more.NamesItself}
	// The default is client_secret_basic: OpenID Connect Discovery 1.0, section 3.
	if p.ClientSecret.Empty() || (len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic")) {
		d.style = oauth2.AuthStyleInParams
	}
	p.known.Store(d)
	return d, nil
}

func (p *Provider) oauth(d *discovered, redirect string) *oauth2.Config {
	endpoint := d.Endpoint()
	endpoint.AuthStyle = d.style
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret.Reveal(), Endpoint: endpoint,
		RedirectURL: redirect, Scopes: p.Scopes,
	}
}

// begin returns the authorization URL of the provider.
func (p *Provider) begin(ctx context.Context, a attempt, now time.Time, redirect string) (string, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.oauth(d, redirect).AuthCodeURL(a.state(now), oidc.Nonce(a.nonce()),
		oauth2.S256ChallengeOption(a.verifier())), nil
}

// named checks the issuer of a response, if it has one, to prevent mix-up attacks
// (RFC 9207, section 2.4).
func (d *discovered) named(iss string, want string) bool {
	return iss == want || (iss == "" && !d.namesItself)
}

// finish exchanges the code of a response for the claims of the user.
func (p *Provider) finish(ctx context.Context, a attempt, iss, code, redirect string) (Person, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return Person{}, err
	}
	if !d.named(iss, p.Issuer) {
		return Person{}, errors.New("the answer names another issuer")
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client()), 2*providerTimeout)
	defer cancel()
	tokens, err := p.oauth(d, redirect).Exchange(ctx, code, oauth2.VerifierOption(a.verifier()))
	if err != nil {
		return Person{}, withoutBody(err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return Person{}, errors.New("the provider sent no ID token")
	}
	token, err := d.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return Person{}, fmt.Errorf("the ID token: %w", err)
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return Person{}, fmt.Errorf("the ID token: %w", err)
	}
	switch {
	case !same(token.Nonce, a.nonce()):
		return Person{}, errors.New("the ID token belongs to another attempt")
	case (c.Party != "" || len(token.Audience) > 1) && c.Party != p.ClientID: // OpenID Connect Core 1.0, 3.1.3.7
		return Person{}, errors.New("the ID token was issued to another client")
	// OpenID Connect Core 1.0, section 2
	case token.Subject == "" || len(token.Subject) > 255 || strings.ContainsRune(token.Subject, 0):
		return Person{}, errors.New("the ID token has no subject")
	}
	if (c.Email == "" || c.Name == "") && d.UserInfoEndpoint() != "" {
		more, err := d.about(ctx, tokens, token.Subject)
		switch {
		case err != nil && c.Email == "":
			return Person{}, err
		case err != nil: // only the name is missing
		case c.Email == "":
			c = more
		default:
			c.Name = more.Name
		}
	}
	return c.person(p.Issuer, token.Subject), nil
}

// about requests claims that are missing in the ID token.
func (d *discovered) about(ctx context.Context, tokens *oauth2.Token, subject string) (claims, error) {
	var c claims
	info, err := d.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	var call *url.Error
	switch {
	case errors.As(err, &call):
		return c, fmt.Errorf("asking the provider about the user: %w", call)
	case err != nil: // its text contains the provider's response
		return c, errors.New("the provider returned no information about the user")
	case info.Subject != subject: // OpenID Connect Core 1.0, 5.3.2
		return c, errors.New("the provider returned information about another user")
	}
	if err := info.Claims(&c); err != nil {
		return c, fmt.Errorf("the information about the user: %w", err)
	}
	return c, nil
}

// withoutBody removes the response body from an error, because it can contain codes and
// tokens.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err
	}
	if refused.Response == nil {
		return errors.New("the provider rejected the code")
	}
	return fmt.Errorf("the provider rejected the code: status %d, error %q", refused.Response.StatusCode,
		errorCode(refused.ErrorCode))
}

// errorCode returns a code in the form of RFC 6749, section 5.2, and replaces other text,
// which could be forged.
func errorCode(s string) string {
	if !regexp.MustCompile(`^[a-z_]{1,40}$`).MatchString(s) {
		return "other"
	}
	return s
}

// claims are the used claims of an ID token or the userinfo endpoint.
type claims struct {
	Party    string     `json:"azp"`
	Name     string     `json:"name"`
	Email    string     `json:"email"`
	Verified looseTruth `json:"email_verified"`
}

// looseTruth is a boolean that some providers encode as a string.
type looseTruth bool

// UnmarshalJSON decodes true and "true" as true, and everything else as false.
func (t *looseTruth) UnmarshalJSON(raw []byte) error {
	var b bool
	var s string
	switch {
	case json.Unmarshal(raw, &b) == nil:
		*t = looseTruth(b)
	case json.Unmarshal(raw, &s) == nil:
		*t = looseTruth(s == "true")
	default:
		*t = false
	}
	return nil
}

// plainName removes characters of a name that cannot be shown or stored.
func plainName(name string) string {
	const maxLength = 200
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, name)
	if runes := []rune(strings.TrimSpace(name)); len(runes) > maxLength {
		name = string(runes[:maxLength])
	}
	return strings.TrimSpace(name)
}

func (c claims) person(issuer, subject string) Person {
	p := Person{Issuer: issuer, Subject: subject, Name: plainName(c.Name)}
	if c.Verified {
		p.Email = plainEmail(c.Email)
	}
	p.EmailNotVerified = c.Email != "" && !bool(c.Verified)
	return p
}
