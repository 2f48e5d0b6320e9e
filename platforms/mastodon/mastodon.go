// Package mastodon publishes to Mastodon instances and to other servers with
// Mastodon's client API.
//
// The API is documented at https://docs.joinmastodon.org/client/ and
// https://docs.joinmastodon.org/methods/. Undocumented behavior is cited from
// Mastodon's source by file.
package mastodon

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "mastodon"

// Options configures the adapter. The zero value works.
type Options struct {
	AppName string `json:"app_name"` // shown when a user grants access; default Dateline
	Website string `json:"website"`  // linked from the app's name; optional
	// PlainHTTP lists host:port of instances that can be called without TLS, in
	// addition to loopback addresses.
	PlainHTTP []string `json:"plain_http"`

	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // timeout of one upload; 0: 15 min
}

// Mastodon implements network.Network, and connects accounts with OAuth or an
// access token.
type Mastodon struct {
	calls   *call.Caller
	options Options

	mu        sync.Mutex
	instances map[string]instance // by base URL
}

var (
	_ network.Network         = (*Mastodon)(nil)
	_ network.Connector       = (*Mastodon)(nil)
	_ network.FormConnector   = (*Mastodon)(nil)
	_ network.Refresher       = (*Mastodon)(nil)
	_ network.Revoker         = (*Mastodon)(nil)
	_ network.Federated       = (*Mastodon)(nil)
	_ network.Identifier      = (*Mastodon)(nil)
	_ network.LimitsDefaulter = (*Mastodon)(nil)
	_ network.Measurer        = (*Mastodon)(nil)
)

// New returns the adapter. client should refuse private addresses
// (call.NewClient), because users enter the instances.
func New(client *http.Client, options Options) *Mastodon {
	if options.AppName == "" {
		options.AppName = "Dateline"
	}
	if options.UploadTimeout == 0 {
		options.UploadTimeout = 15 * time.Minute
	}
	return &Mastodon{calls: call.New(client), options: options, instances: map[string]instance{}}
}

// Name returns "mastodon".
func (m *Mastodon) Name() string { return Name }

// do makes one call to an instance and returns every refusal as a *network.Error.
func (m *Mastodon) do(ctx context.Context, base, path string, request call.Request) (*call.Response, error) {
	root, err := m.base(base)
	if err != nil {
		if request.Body != nil && request.Body.Closer != nil {
			_ = request.Body.Closer.Close()
		}
		return nil, err
	}
	request.URL = root + path
	if request.Timeout == 0 {
		request.Timeout = m.options.ReadTimeout
		if request.Create {
			request.Timeout = m.options.CreateTimeout
		}
	}
	res, err := m.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if !res.OK() {
		return res, refusal(res, rates(res, bucketOf(request.Method, path)))
	}
	return res, nil
}

// base validates an instance's address and returns it without a trailing slash.
func (m *Mastodon) base(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.Trim(u.Path, "/") != "" {
		return "", badAddress("Enter the instance's address as https://host, for example https://mastodon.social.")
	}
	switch u.Scheme {
	case "https":
	case "http":
		// A token that is sent without TLS is compromised.
		if !m.allowsHTTP(u) {
			return "", badAddress("The instance's address must begin with https://.")
		}
	default:
		return "", badAddress("The instance's address must begin with https://.")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

func (m *Mastodon) allowsHTTP(u *url.URL) bool {
	for _, allowed := range m.options.PlainHTTP {
		if strings.EqualFold(allowed, u.Host) {
			return true
		}
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

func badAddress(message string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: "bad_address", Field: "base_url", Message: message}
}

// hostOf returns an instance's host, for messages.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	host := u.Host
	if name, port, err := net.SplitHostPort(host); err == nil && (port == "443" || port == "80") {
		host = name
	}
	return host
}

// errorResponse is Mastodon's Error entity; OAuth endpoints add a description.
// https://docs.joinmastodon.org/entities/Error/
type errorResponse struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

const codeInvalidGrant = "invalid_grant"

// oauthCodes are the codes of a token endpoint's refusals, whose description is optional
// (RFC 6749, 5.2).
func oauthCodes() []string {
	return []string{
		codeInvalidGrant, "invalid_request", "invalid_client", "unauthorized_client",
		"unsupported_grant_type", "invalid_scope",
	}
}

// refusal classifies an unsuccessful response.
func refusal(res *call.Response, reported []network.RateStatus) *network.Error {
	var f errorResponse
	_ = json.Unmarshal(res.Body, &f) // an error page is not JSON: the status decides
	code, message := "", f.Error
	if f.Description != "" || slices.Contains(oauthCodes(), f.Error) {
		code, message = f.Error, cmp.Or(f.Description, f.Error)
	}
	e := res.StatusError(code, message)
	e.Rates = reported
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
		if at := rateReset(res); at.After(e.RetryAt) {
			e.RetryAt = at
		}
	case res.Status == http.StatusForbidden && isTokenError(f.Error):
		e.Class = network.Auth
	case res.Status == http.StatusUnprocessableEntity && strings.Contains(f.Error, "not finished processing"):
		// app/services/post_status_service.rb validates the media before it
		// creates anything, so the request can be repeated.
		e.Class, e.Code = network.Transient, "media_not_ready"
	case res.Status == http.StatusUnprocessableEntity && strings.Contains(f.Error, "not found or already attached"):
		// The same check, for media that was vacuumed or belongs to a post.
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	}
	return e
}

// isTokenError reports whether a 403 is about the token or its login, and not
// about this post (app/controllers/api/base_controller.rb).
func isTokenError(message string) bool {
	for _, known := range []string{
		"outside the authorized scopes",
		"Your login is currently disabled",
		"Your login is missing a confirmed",
		"Your login is currently pending approval",
	} {
		if strings.Contains(message, known) {
			return true
		}
	}
	return false
}
