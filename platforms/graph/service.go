package graph

import (
	"net/url"
	"strings"

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
	Sandbox      string // base address of the network's copy in the sandbox; empty: none
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
		return network.App{}, &network.Error{Class: network.Rejected, Code: network.CodeNotConfigured,
			Message: p.Network + " is not configured: the operator must add an app from developers.facebook.com."}
	}
	return network.App{RedirectURI: redirectURI, ClientID: p.ClientID, ClientSecret: p.ClientSecret}, nil
}
