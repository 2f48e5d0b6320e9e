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

// How patient we are with the provider.
const (
	providerPatience = 10 * time.Second
	providerMaxBytes = 1 << 20
)

// Provider is an OpenID provider. It is asked who it is when somebody first
// logs in, and again until it answers, so that one that is down keeps nothing
// from starting.
type Provider struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.Text // empty: a public client
	Scopes       []string
	Label        string // what people call it

	asking singleflight.Group
	known  atomic.Pointer[discovered]
}

// discovered is what the provider says of itself.
type discovered struct {
	*oidc.Provider
	style       oauth2.AuthStyle
	namesItself bool
}

// client makes calls to the provider. Its address is the operator's choice, so
// private ones are fine; where it sends us is not, so redirects are refused.
func (p *Provider) client() *http.Client {
	return &http.Client{Timeout: providerPatience, Transport: limited{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the provider redirects, which is not followed")
		}}
}

// limited refuses to read on in answers that have no end.
type limited struct{ http.RoundTripper }

// RoundTrip makes one call.
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

// discover asks the provider for its addresses; once it has answered, never
// again (its keys are fetched anew as they change). Those who ask at the same
// time share one answer.
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

func (p *Provider) ask(ctx context.Context) (*discovered, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client()), p.Issuer)
	if err != nil {
		return nil, fmt.Errorf("asking the provider who it is: %w", err)
	}
	var more struct {
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, fmt.Errorf("reading what the provider says of itself: %w", err)
	}
	d := &discovered{Provider: found, style: oauth2.AuthStyleInHeader, namesItself: more.NamesItself}
	// client_secret_basic where nothing is said: OpenID Connect Discovery 1.0, section 3.
	if p.ClientSecret.Empty() || (len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic")) {
		d.style = oauth2.AuthStyleInParams
	}
	p.known.Store(d)
	return d, nil
}

func (p *Provider) oauth(d *discovered, redirect string) *oauth2.Config {
	endpoint := d.Endpoint()
	endpoint.AuthStyle = d.style
	return &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret.Reveal(), Endpoint: endpoint, RedirectURL: redirect, Scopes: p.Scopes}
}

// begin gives the address at the provider where the login goes on.
func (p *Provider) begin(ctx context.Context, a attempt, now time.Time, redirect string) (string, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.oauth(d, redirect).AuthCodeURL(a.state(now), oidc.Nonce(a.nonce()), oauth2.S256ChallengeOption(a.verifier())), nil
}

// named says whether an answer may come from this provider. One that says who
// it is must say the right thing, so that another provider's answer is never
// taken for its (RFC 9207, section 2.4).
func (d *discovered) named(iss string, want string) bool {
	return iss == want || (iss == "" && !d.namesItself)
}

// finish turns the provider's answer into a person.
func (p *Provider) finish(ctx context.Context, a attempt, iss, code, redirect string) (Person, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return Person{}, err
	}
	if !d.named(iss, p.Issuer) {
		return Person{}, errors.New("the answer names another issuer")
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client()), 2*providerPatience)
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
	case token.Subject == "" || len(token.Subject) > 255 || strings.ContainsRune(token.Subject, 0): // OpenID Connect Core 1.0, section 2
		return Person{}, errors.New("the ID token names nobody")
	}
	if c.Email == "" && d.UserInfoEndpoint() != "" {
		if c, err = d.about(ctx, tokens, token.Subject); err != nil {
			return Person{}, err
		}
	}
	return c.person(p.Issuer, token.Subject), nil
}

// about asks the provider for what it left out of the ID token.
func (d *discovered) about(ctx context.Context, tokens *oauth2.Token, subject string) (claims, error) {
	var c claims
	info, err := d.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	var call *url.Error
	switch {
	case errors.As(err, &call):
		return c, fmt.Errorf("asking the provider about the user: %w", call)
	case err != nil: // its text holds what the provider answered
		return c, errors.New("the provider does not tell about the user")
	case info.Subject != subject: // OpenID Connect Core 1.0, 5.3.2
		return c, errors.New("the provider tells about another user")
	}
	if err := info.Claims(&c); err != nil {
		return c, fmt.Errorf("what the provider tells about the user: %w", err)
	}
	return c, nil
}

// withoutBody leaves what the provider wrote out of an error, because codes and
// tokens may stand in it.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err
	}
	if refused.Response == nil {
		return errors.New("the provider rejected the code")
	}
	return fmt.Errorf("the provider rejected the code: status %d, error %q", refused.Response.StatusCode, errorCode(refused.ErrorCode))
}

// errorCode gives a code of RFC 6749, section 5.2, or its like, for the log, and
// nothing that a stranger could have written there.
func errorCode(s string) string {
	if !regexp.MustCompile(`^[a-z_]{1,40}$`).MatchString(s) {
		return "other"
	}
	return s
}

// claims are what we read of an ID token or of the user's own page.
type claims struct {
	Party    string     `json:"azp"`
	Name     string     `json:"name"`
	Email    string     `json:"email"`
	Verified looseTruth `json:"email_verified"`
}

// looseTruth is a boolean that some providers write as a string.
type looseTruth bool

// UnmarshalJSON reads true and "true" as true, and all else as false.
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

// plainName keeps of a name what can be shown and stored.
func plainName(name string) string {
	const most = 200
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, name)
	if runes := []rune(strings.TrimSpace(name)); len(runes) > most {
		name = string(runes[:most])
	}
	return strings.TrimSpace(name)
}

func (c claims) person(issuer, subject string) Person {
	p := Person{Issuer: issuer, Subject: subject, Name: plainName(c.Name)}
	if c.Verified {
		p.Email = plainEmail(c.Email)
	}
	return p
}
