package platforms

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"dateline/internal/identity/secret"
	"dateline/platforms/bluesky"
	"dateline/platforms/discord"
	"dateline/platforms/facebook"
	"dateline/platforms/instagram"
	"dateline/platforms/linkedin"
	"dateline/platforms/mastodon"
	"dateline/platforms/telegram"
	"dateline/platforms/threads"
	"dateline/platforms/x"
)

// Options hold each network's settings: hosts, versions, limits, prices. The
// zero value works; what is zero has the network's default.
type Options struct {
	Bluesky   bluesky.Options   `json:"bluesky"`
	Discord   discord.Options   `json:"discord"`
	Facebook  facebook.Options  `json:"facebook"`
	Instagram instagram.Options `json:"instagram"`
	LinkedIn  linkedin.Options  `json:"linkedin"`
	Mastodon  mastodon.Options  `json:"mastodon"`
	Telegram  telegram.Options  `json:"telegram"`
	Threads   threads.Options   `json:"threads"`
	X         x.Options         `json:"x"`
}

// maxOptions bounds the file of an operator.
const maxOptions = 1 << 20

// Decode takes an operator's settings, a JSON object with an object for each
// network that is to differ. A name that means nothing is an error: it would be
// believed to work.
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

// appSettings are the parts of options that networks have in common which exist
// once: where the sandbox plays them, and how the operator's application is
// known, where they want one.
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
		instagram.Name: {&o.Instagram.Sandbox, &o.Instagram.ClientID, &o.Instagram.ClientSecret},
		linkedin.Name:  {&o.LinkedIn.Sandbox, &o.LinkedIn.ClientID, &o.LinkedIn.ClientSecret},
		telegram.Name:  {sandbox: &o.Telegram.Sandbox},
		threads.Name:   {&o.Threads.Sandbox, &o.Threads.ClientID, &o.Threads.ClientSecret},
		x.Name:         {&o.X.Sandbox, &o.X.ClientID, &o.X.ClientSecret},
	}
}

// SetSandbox sets the addresses of the fake networks.
func (o *Options) SetSandbox(address func(network string) string) {
	for name, c := range o.sharedSettings() {
		*c.sandbox = address(name)
	}
}

// SetApp sets the operator's application at a network. false: the network wants
// none.
func (o *Options) SetApp(network, clientID string, clientSecret secret.Text) bool {
	c := o.sharedSettings()[network]
	if c.clientID == nil {
		return false
	}
	*c.clientID, *c.clientSecret = clientID, clientSecret
	return true
}
