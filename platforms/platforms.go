// Package platforms lists the social networks that Dateline publishes to.
//
// Adding a network is described in package network.
package platforms

import (
	"net/http"
	"slices"

	"dateline/platforms/bluesky"
	"dateline/platforms/discord"
	"dateline/platforms/facebook"
	"dateline/platforms/instagram"
	"dateline/platforms/linkedin"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
	"dateline/platforms/x"
)

// Registry finds networks by name. It is immutable.
type Registry struct {
	networks map[string]network.Network
}

// New returns all networks. They share one client, which should refuse private
// addresses (call.NewClient).
func New(client *http.Client, options Options) Registry {
	return registry(
		bluesky.New(client, options.Bluesky),
		discord.New(client, options.Discord),
		facebook.New(client, options.Facebook),
		instagram.New(client, options.Instagram),
		linkedin.New(client, options.LinkedIn),
		mastodon.New(client, options.Mastodon),
		telegram.New(client, options.Telegram),
		threads.New(client, options.Threads),
		x.New(client, options.X),
	)
}

func registry(networks ...network.Network) Registry {
	r := Registry{networks: make(map[string]network.Network, len(networks))}
	for _, n := range networks {
		r.networks[n.Name()] = n
	}
	return r
}

// Get returns a network by name.
func (r Registry) Get(name string) (network.Network, bool) {
	n, ok := r.networks[name]
	return n, ok
}

// Connector returns the OAuth flow of a network; false if the network has none or
// is unknown.
func (r Registry) Connector(name string) (network.Connector, bool) {
	c, ok := r.networks[name].(network.Connector)
	return c, ok
}

// FormConnector returns the form with which accounts of a network are connected;
// false if the network has none or is unknown.
func (r Registry) FormConnector(name string) (network.FormConnector, bool) {
	c, ok := r.networks[name].(network.FormConnector)
	return c, ok
}

// Names returns the networks in alphabetical order.
func (r Registry) Names() []string {
	names := make([]string, 0, len(r.networks))
	for name := range r.networks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
