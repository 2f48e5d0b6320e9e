// Package mastodon publishes to any instance of Mastodon and of the servers
// that speak its client API.
//
// The API is described at https://docs.joinmastodon.org/client/ and
// https://docs.joinmastodon.org/methods/; behaviour that is not written there
// is cited from Mastodon's source by file.
package mastodon

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is how this network is called in the API and the database.
const Name = "mastodon"

// Options are what an operator may set. The zero value works.
type Options struct {
	AppName string `json:"app_name"` // shown when a person allows access; default Dateline
	Website string `json:"website"`  // linked from the app's name; may be empty
	// PlainHTTP lists host:port of instances that may be reached without TLS,
	// besides those on loopback.
	PlainHTTP []string `json:"plain_http"`

	CreateTimeout time.Duration `json:"-"` // for the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // for calls that may be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // for one attachment; 0: 15 min
}

// Mastodon implements network.Network and the ways to connect its accounts.
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
)

// New makes the adapter. client should refuse private addresses (see
// call.NewClient), because instances are named by users.
func New(client *http.Client, options Options) *Mastodon {
	if options.AppName == "" {
		options.AppName = "Dateline"
	}
	if options.UploadTimeout == 0 {
		options.UploadTimeout = 15 * time.Minute
	}
	return &Mastodon{calls: call.New(client), options: options, instances: map[string]instance{}}
}

// Name gives "mastodon".
func (m *Mastodon) Name() string { return Name }

// do makes one call to an instance and turns every refusal into a
// *network.Error.
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

// base validates an instance's address and gives it without a trailing slash.
func (m *Mastodon) base(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "", badAddress("Give the instance's address as https://host, for example https://mastodon.social.")
	}
	switch u.Scheme {
	case "https":
	case "http":
		// A token sent without TLS is a token lost.
		if !m.mayBePlain(u) {
			return "", badAddress("The instance's address must begin with https://.")
		}
	default:
		return "", badAddress("The instance's address must begin with https://.")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

func (m *Mastodon) mayBePlain(u *url.URL) bool {
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

// hostOf names an instance in messages.
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

// failure is Mastodon's error entity; OAuth endpoints add a description.
// https://docs.joinmastodon.org/entities/Error/
type failure struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// refusal classifies an answer that is no success.
func refusal(res *call.Response, said []network.RateStatus) *network.Error {
	var f failure
	_ = json.Unmarshal(res.Body, &f) // an error page is no reason to lose the status
	code, message := "", f.Error
	if f.Description != "" {
		code, message = f.Error, f.Description
	}
	e := res.StatusError(code, message)
	e.Rates = said
	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Scope = network.ScopeAccount
		if at := rateReset(res); at.After(e.RetryAt) {
			e.RetryAt = at
		}
	case res.Status == http.StatusForbidden && tokenRefused(f.Error):
		e.Class = network.Auth
	case res.Status == http.StatusUnprocessableEntity && strings.Contains(f.Error, "not finished processing"):
		// app/services/post_status_service.rb validates the media before it
		// creates anything, so this may be sent again.
		e.Class, e.Code = network.Transient, "media_not_ready"
	case res.Status == http.StatusUnprocessableEntity && strings.Contains(f.Error, "not found or already attached"):
		// The same check, for media that was vacuumed (or belongs to a post).
		e.Class, e.Code = network.Transient, network.CodeMediaExpired
	}
	return e
}

// tokenRefused knows the answers of status 403 that are about the token or its
// login and not about this post (app/controllers/api/base_controller.rb).
func tokenRefused(message string) bool {
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
