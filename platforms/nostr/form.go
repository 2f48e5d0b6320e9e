package nostr

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// The fields of the form.
const (
	fieldKey         = "key"
	fieldRelays      = settingRelays
	fieldMediaServer = settingMediaServer
)

// Fields are a key, and optionally where the account publishes.
func (*Nostr) Fields() []network.FormField {
	return []network.FormField{
		{
			Name: fieldKey, Label: "Remote signer or private key", Secret: true,
			Help: "Best the bunker:// address of a signer app, which keeps the key and can be told to stop; " +
				"otherwise the private key (nsec1…), which nobody can revoke.",
		},
		{
			Name: fieldRelays, Label: "Relays", Optional: true,
			Help: "Addresses such as wss://relay.example, separated by spaces. Empty: those of the account's relay " +
				"list.",
		},
		{
			Name: fieldMediaServer, Label: "Media server", Optional: true,
			Help: "A Blossom server for pictures and videos, such as https://blossom.example.",
		},
	}
}

// ConnectForm verifies the key, and looks for the account's relays and media server where the
// form names none.
func (n *Nostr) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	account := network.Account{BaseURL: baseURL, Kind: network.KindPerson, Settings: map[string]string{}}
	if baseURL == "" {
		relays, err := n.parseRelays(addressesIn(values[fieldRelays].Reveal()))
		if err != nil {
			return nil, err
		}
		setting(account, settingRelays, strings.Join(relays, " "))
		if server := strings.TrimSpace(values[fieldMediaServer].Reveal()); server != "" {
			if server, err = n.parseAddress(server, "https", fieldMediaServer); err != nil {
				return nil, err
			}
			setting(account, settingMediaServer, server)
		}
	}
	switch key := strings.TrimSpace(values[fieldKey].Reveal()); {
	case key == "":
		return nil, rejected(fieldKey, "missing", "Enter the address of a signer or a private key.")
	case strings.HasPrefix(key, signerScheme):
		if err := n.connectRemote(ctx, key, &account); err != nil {
			return nil, err
		}
	default:
		local, ok := parseKey(key)
		if !ok {
			return nil, rejected(fieldKey, "not_a_key", "This is neither a private key (nsec1… or 64 hexadecimal "+
				"digits) nor the address of a signer (bunker://…).")
		}
		account.Token, account.RemoteID = local.token(), local.public
	}
	account, err := n.identify(ctx, account)
	if err != nil {
		e := network.AsError(err)
		e.Field = cmp.Or(e.Field, fieldRelays)
		return nil, e
	}
	return []network.Account{account}, nil
}

func setting(account network.Account, name, value string) {
	if value != "" {
		account.Settings[name] = value
	}
}

// Identify reads the account's profile again.
func (n *Nostr) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	settings := account.Settings // users choose them
	account.Settings = map[string]string{settingRelays: settings[settingRelays]}
	account, err := n.identify(ctx, account)
	account.Settings = settings
	return account, err
}

// identify reads the account's profile, and where it publishes if its settings do not say so.
// A new account has none of these.
func (n *Nostr) identify(ctx context.Context, account network.Account) (network.Account, error) {
	newest, err := n.newest(ctx, account)
	if err != nil {
		return account, err
	}
	var profile struct {
		Name        string `json:"name"`
		DisplayName string `json:"display_name"`
		Picture     string `json:"picture"`
		Address     string `json:"nip05"`
	}
	_ = json.Unmarshal([]byte(newest[kindProfile].Content), &profile) // anything may be written there
	name := publicName(account.RemoteID)
	account.Handle = cmp.Or(cut(clean(strings.TrimPrefix(profile.Address, "_@"))), name)
	account.Name = cmp.Or(cut(clean(profile.DisplayName)), cut(clean(profile.Name)), name[:12]+"…")
	if strings.HasPrefix(profile.Picture, "http") {
		account.AvatarURL = profile.Picture
	}
	if account.Settings[settingRelays] == "" && account.BaseURL == "" {
		setting(account, settingRelays, strings.Join(n.writeRelays(newest[kindRelayList]), " "))
	}
	if server, err := n.parseAddress(newest[kindMediaList].tag("server"), "https", ""); err == nil &&
		account.Settings[settingMediaServer] == "" {
		setting(account, settingMediaServer, server)
	}
	return account, nil
}

// newest returns the newest event of the account of each kind that describes it.
func (n *Nostr) newest(ctx context.Context, account network.Account) (map[int]event, error) {
	at, err := n.deliveriesOf(account)
	if err != nil {
		return nil, err
	}
	s, err := n.signerOf(account)
	if err != nil {
		return nil, err
	}
	defer at.close()
	found := map[int]event{}
	var lock sync.Mutex
	wanted := filter{Kinds: []int{kindProfile, kindRelayList, kindMediaList}, Authors: []string{account.RemoteID}}
	at.each(ctx, n.options.AnswerTimeout, func(ctx context.Context, d *delivery) (err error) {
		if d.conn, err = n.dial(ctx, d.relay, s, account.Token); err != nil {
			return err
		}
		events, err := d.conn.query(ctx, wanted)
		lock.Lock()
		defer lock.Unlock()
		for _, e := range events {
			if e.PubKey == account.RemoteID && slices.Contains(wanted.Kinds, e.Kind) &&
				e.CreatedAt > found[e.Kind].CreatedAt {
				found[e.Kind] = e
			}
		}
		return err
	})
	if len(at.where((*delivery).hasFailed)) == len(at) {
		return nil, at.failure()
	}
	return found, nil
}

// maxOwnRelays is how many relays of an account's own list are used.
const maxOwnRelays = 5

// writeRelays returns the relays to which the account writes.
// https://github.com/nostr-protocol/nips/blob/master/65.md
func (n *Nostr) writeRelays(list event) (relays []string) {
	for _, tag := range list.Tags {
		if len(tag) < 2 || tag[0] != "r" || len(tag) > 2 && tag[2] == "read" || len(relays) == maxOwnRelays {
			continue
		}
		if one, err := n.parseRelays(tag[1:2]); err == nil && !slices.Contains(relays, one[0]) {
			relays = append(relays, one[0])
		}
	}
	return relays
}
