package graph

import (
	"net/url"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Service is where one of Meta's networks is, and who Dateline is there.
type Service struct {
	Network      string // its name for people
	ClientID     string
	ClientSecret secret.Text
	Sandbox      string // base address of the network's copy in the sandbox; empty: none
}

// Host gives the host to call for an account: the real one, or the sandbox,
// which is all of a network's hosts.
func (p Service) Host(baseURL, host string) (string, error) {
	return call.Host(p.Network, baseURL, p.Sandbox, host)
}

// Address is where a node or edge is: host and version, and the escaped parts.
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

// Register gives the operator's app, or the sandbox's.
func (p Service) Register(baseURL, redirectURI string) (network.App, error) {
	if _, err := p.Host(baseURL, ""); err != nil {
		return network.App{}, err
	}
	if baseURL != "" {
		return network.SandboxApp(baseURL, redirectURI), nil
	}
	if p.ClientID == "" || p.ClientSecret.Empty() {
		return network.App{}, &network.Error{Class: network.Rejected, Code: network.CodeNotConfigured,
			Message: p.Network + " is not set up here: the operator has to enter an app of developers.facebook.com."}
	}
	return network.App{RedirectURI: redirectURI, ClientID: p.ClientID, ClientSecret: p.ClientSecret}, nil
}
