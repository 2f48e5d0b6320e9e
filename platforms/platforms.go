// Package platforms lists the social networks that Dateline publishes to.
//
// Adding a network is described in package network.
package platforms

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"dateline/internal/identity/secret"
	"dateline/platforms/bluesky"
	"dateline/platforms/discord"
	"dateline/platforms/facebook"
	"dateline/platforms/ghost"
	"dateline/platforms/instagram"
	"dateline/platforms/linkedin"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
	"dateline/platforms/nostr"
	"dateline/platforms/slack"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
	"dateline/platforms/wordpress"
	"dateline/platforms/x"
	"dateline/platforms/zalo"
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
		ghost.New(client, options.Ghost),
		instagram.New(client, options.Instagram),
		linkedin.New(client, options.LinkedIn),
		mastodon.New(client, options.Mastodon),
		nostr.New(client, options.Nostr),
		slack.New(client, options.Slack),
		telegram.New(client, options.Telegram),
		threads.New(client, options.Threads),
		wordpress.New(client, options.WordPress),
		x.New(client, options.X),
		zalo.New(client, options.Zalo),
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

// Measurer returns a network's reading of metrics; false if the network reports none
// or is unknown.
func (r Registry) Measurer(name string) (network.Measurer, bool) {
	m, ok := r.networks[name].(network.Measurer)
	return m, ok
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

// Options configures the networks: hosts, versions, limits, prices. The zero
// value works: fields that are zero use the network's default.
type Options struct {
	Bluesky   bluesky.Options   `json:"bluesky"`
	Discord   discord.Options   `json:"discord"`
	Facebook  facebook.Options  `json:"facebook"`
	Ghost     ghost.Options     `json:"ghost"`
	Instagram instagram.Options `json:"instagram"`
	LinkedIn  linkedin.Options  `json:"linkedin"`
	Mastodon  mastodon.Options  `json:"mastodon"`
	Nostr     nostr.Options     `json:"nostr"`
	Slack     slack.Options     `json:"slack"`
	Telegram  telegram.Options  `json:"telegram"`
	Threads   threads.Options   `json:"threads"`
	WordPress wordpress.Options `json:"wordpress"`
	X         x.Options         `json:"x"`
	Zalo      zalo.Options      `json:"zalo"`
}

// maxOptions is the size limit of the settings file in bytes.
const maxOptions = 1 << 20

// Decode reads an operator's settings: a JSON object with an object for each
// network to change. Unknown names are an error.
func (o *Options) Decode(r io.Reader) error {
	decoder := json.NewDecoder(io.LimitReader(r, maxOptions))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(o); err != nil {
		return fmt.Errorf("read network settings: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("network settings must be a single JSON object")
	}
	return nil
}

// appSettings are the settings that networks with a single service share: the
// address of the fake network, and the operator's application if the network
// needs one.
type appSettings struct {
	sandbox      *string
	clientID     *string
	clientSecret *secret.Text
}

func (o *Options) sharedSettings() map[string]appSettings {
	return map[string]appSettings{
		bluesky.Name:   {sandbox: &o.Bluesky.Sandbox},
		discord.Name:   {sandbox: &o.Discord.Sandbox},
		facebook.Name:  {&o.Facebook.Sandbox, &o.Facebook.ClientID, &o.Facebook.ClientSecret},
		ghost.Name:     {sandbox: &o.Ghost.Sandbox},
		instagram.Name: {&o.Instagram.Sandbox, &o.Instagram.ClientID, &o.Instagram.ClientSecret},
		linkedin.Name:  {&o.LinkedIn.Sandbox, &o.LinkedIn.ClientID, &o.LinkedIn.ClientSecret},
		nostr.Name:     {sandbox: &o.Nostr.Sandbox},
		slack.Name:     {sandbox: &o.Slack.Sandbox},
		telegram.Name:  {sandbox: &o.Telegram.Sandbox},
		threads.Name:   {&o.Threads.Sandbox, &o.Threads.ClientID, &o.Threads.ClientSecret},
		wordpress.Name: {sandbox: &o.WordPress.Sandbox},
		x.Name:         {&o.X.Sandbox, &o.X.ClientID, &o.X.ClientSecret},
		zalo.Name:      {&o.Zalo.Sandbox, &o.Zalo.ClientID, &o.Zalo.ClientSecret},
	}
}

// SetSandbox sets the addresses of the fake networks.
func (o *Options) SetSandbox(address func(network string) string) {
	for name, c := range o.sharedSettings() {
		*c.sandbox = address(name)
	}
}

// SetApp sets the operator's application at a network. It returns false if the
// network needs none.
func (o *Options) SetApp(network, clientID string, clientSecret secret.Text) bool {
	c := o.sharedSettings()[network]
	if c.clientID == nil {
		return false
	}
	*c.clientID, *c.clientSecret = clientID, clientSecret
	return true
}
