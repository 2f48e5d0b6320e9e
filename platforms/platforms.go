// Package platforms lists the social networks that Dateline publishes to.
//
// A new network is one package beside this file that implements
// network.Network, passes platformtest, and has its line in New.
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

// Registry finds networks by name. It does not change after New.
type Registry struct {
	networks map[string]network.Network
}

// New makes every network over one client, which should refuse private
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

// Get finds a network by its name.
func (r Registry) Get(name string) (network.Network, bool) {
	n, ok := r.networks[name]
	return n, ok
}

// Connector finds how accounts of a network are connected; false for networks
// that do not use OAuth, and for unknown ones.
func (r Registry) Connector(name string) (network.Connector, bool) {
	c, ok := r.networks[name].(network.Connector)
	return c, ok
}

// FormConnector finds how accounts of a network are connected by what a user
// types in; false for networks that only use OAuth, and for unknown ones.
func (r Registry) FormConnector(name string) (network.FormConnector, bool) {
	c, ok := r.networks[name].(network.FormConnector)
	return c, ok
}

// Names lists the networks in alphabetical order.
func (r Registry) Names() []string {
	names := make([]string, 0, len(r.networks))
	for name := range r.networks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
