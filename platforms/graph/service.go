package graph

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Service contains the address of one of Meta's networks and Dateline's
// application at it.
type Service struct {
	Network      string // display name
	ClientID     string
	ClientSecret secret.Text
	Sandbox      string // base URL of the fake network (sandbox); empty: none
}

// Host returns the host to call for an account: the real one, or the fake network
// (sandbox), which serves all of a network's hosts.
func (p Service) Host(baseURL, host string) (string, error) {
	return call.Host(p.Network, baseURL, p.Sandbox, host)
}

// Address returns the address of a node or edge: host, version and escaped path
// segments.
func (p Service) Address(baseURL, host, version string, parts ...string) (string, error) {
	host, err := p.Host(baseURL, host)
	if err != nil {
		return "", err
	}
	path := []string{host, version}
	for _, part := range parts {
		path = append(path, url.PathEscape(part))
	}
	return strings.Join(path, "/"), nil
}

// Register returns the operator's app, or the sandbox's.
func (p Service) Register(baseURL, redirectURI string) (network.App, error) {
	if _, err := p.Host(baseURL, ""); err != nil {
		return network.App{}, err
	}
	if baseURL != "" {
		return network.SandboxApp(baseURL, redirectURI), nil
	}
	if p.ClientID == "" || p.ClientSecret.Empty() {
		return network.App{}, &network.Error{
			Class: network.Rejected, Code: network.CodeNotConfigured,
			Message: p.Network + " is not configured: the operator must add an app from developers.facebook.com.",
		}
	}
	return network.App{RedirectURI: redirectURI, ClientID: p.ClientID, ClientSecret: p.ClientSecret}, nil
}

// CodeNotFetchable means that the network cannot reach an attachment's bytes.
const CodeNotFetchable = "not_fetchable"

// FetchURL returns a temporary address at which the network can fetch an
// attachment. The fake networks (sandbox) run on the same machine and can reach
// any address.
func FetchURL(
	ctx context.Context, name string, account network.Account, media network.Media, ttl time.Duration,
) (string, error) {
	if media.URL == nil {
		return "", NotFetchableError(name, media, "it has no public address")
	}
	address, err := media.URL(ctx, ttl)
	if err != nil {
		return "", &network.Error{
			Class: network.NotSent, Code: "media_unreadable",
			Message: fmt.Sprintf("The address of the attachment %s could not be created.", media.FileName), Err: err,
		}
	}
	if u, err := url.Parse(address); account.BaseURL == "" && (err != nil || isPrivateHost(u.Hostname())) {
		return "", NotFetchableError(name, media, "its address is on a private network")
	}
	return address, nil
}

// AdvicePublicEndpoint explains to the operator how to make attachments reachable.
const AdvicePublicEndpoint = "The operator must set S3_PUBLIC_ENDPOINT to an address of the object store that is " +
	"reachable from the internet."

// NotFetchableError returns the error for an attachment that the network cannot
// reach.
func NotFetchableError(name string, media network.Media, reason string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: CodeNotFetchable, Field: "attachments", Message: fmt.Sprintf(
		"%s fetches attachments itself and cannot reach %s: %s. %s",
		name, media.FileName, reason, AdvicePublicEndpoint)}
}

// isPrivateHost reports whether a host is unreachable from the internet.
func isPrivateHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal")
}
