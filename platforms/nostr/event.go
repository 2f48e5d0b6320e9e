package nostr

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/bech32"
	"golang.org/x/text/unicode/norm"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// The kinds of events. https://github.com/nostr-protocol/nips#event-kinds
const (
	kindProfile     = 0
	kindNote        = 1
	kindDeletion    = 5
	kindRepost      = 6
	kindReaction    = 7
	kindOtherRepost = 16
	kindComment     = 1111
	kindRelayList   = 10002
	kindMediaList   = 10063
	kindRelayLogin  = 22242
	kindUpload      = 24242
	kindLongForm    = 30023
)

// event is a signed event. https://github.com/nostr-protocol/nips/blob/master/01.md
type event struct {
	ID        string     `json:"id"`
	PubKey    string     `json:"pubkey"`
	CreatedAt int64      `json:"created_at"`
	Kind      int        `json:"kind"`
	Tags      [][]string `json:"tags"`
	Content   string     `json:"content"`
	Sig       string     `json:"sig"`
}

// hash returns the id that belongs to the event's content.
func (e event) hash() string {
	raw := append([]byte(`[0,"`), e.PubKey...)
	raw = strconv.AppendInt(append(raw, `",`...), e.CreatedAt, 10)
	raw = append(strconv.AppendInt(append(raw, ','), int64(e.Kind), 10), `,[`...)
	for i, tag := range e.Tags {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(raw, '[')
		for n, value := range tag {
			if n > 0 {
				raw = append(raw, ',')
			}
			raw = appendString(raw, value)
		}
		raw = append(raw, ']')
	}
	raw = append(appendString(append(raw, `],`...), e.Content), ']')
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// appendString appends a JSON string as ids are computed from it: encoding/json would also
// escape < > & and U+2028. clean removed the control characters on which relays differ.
func appendString(raw []byte, text string) []byte {
	return append(append(append(raw, '"'), strings.NewReplacer(
		`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\b", `\b`, "\f", `\f`,
	).Replace(text)...), '"')
}

// clean returns a text as events contain it: composed, because tags are compared by bytes, and
// without control characters, for which relays compute other ids than NIP-01 says.
func clean(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n")))
}

// tag returns the first value of a tag; empty: there is none.
func (e event) tag(name string) string {
	for _, tag := range e.Tags {
		if len(tag) > 1 && tag[0] == name {
			return tag[1]
		}
	}
	return ""
}

// isValid reports whether its author signed the event: relays can invent events.
func (e event) isValid() bool {
	id, err := hex.DecodeString(e.ID)
	public, _ := hex.DecodeString(e.PubKey)
	raw, _ := hex.DecodeString(e.Sig)
	author, authorErr := schnorr.ParsePubKey(public)
	signature, signatureErr := schnorr.ParseSignature(raw)
	return e.ID == e.hash() && errors.Join(err, authorErr, signatureErr) == nil && signature.Verify(id, author)
}

// deletes reports whether an event asks to delete another one, or an article's versions until
// its time. https://github.com/nostr-protocol/nips/blob/master/09.md
func (e event) deletes(other event) bool {
	return e.Kind == kindDeletion && e.PubKey == other.PubKey && slices.ContainsFunc(e.Tags, func(t []string) bool {
		return len(t) > 1 && (t[0] == "e" && t[1] == other.ID ||
			t[0] == "a" && t[1] == other.coordinate() && e.CreatedAt >= other.CreatedAt)
	})
}

// address returns the bech32 address of an event, by which clients find it: naddr of an
// article, nevent of a note. https://github.com/nostr-protocol/nips/blob/master/19.md
func (e event) address(relays []string) string {
	id, err := hex.DecodeString(e.ID)
	author, authorErr := hex.DecodeString(e.PubKey)
	if err != nil || authorErr != nil {
		return e.ID
	}
	prefix, special := "nevent", id
	if e.Kind == kindLongForm {
		prefix, special = "naddr", []byte(e.tag("d"))
	}
	var raw []byte
	add := func(kind byte, value []byte) {
		if len(value) < 256 {
			raw = append(append(raw, kind, uint8(len(value))), value...) //nolint:gosec // checked above
		}
	}
	add(0, special)
	for _, relay := range relays[:min(len(relays), 2)] {
		add(1, []byte(relay))
	}
	add(2, author)
	add(3, binary.BigEndian.AppendUint32(nil, uint32(e.Kind))) //nolint:gosec // kinds are small
	text, err := bech32.EncodeFromBase256(prefix, raw)
	if err != nil {
		return e.ID
	}
	return text
}

// signer signs the events of an account.
type signer interface {
	// sign fills in the public key, the id and the signature.
	sign(ctx context.Context, e *event) error
}

// localKey is a private key. https://github.com/bitcoin/bips/blob/master/bip-0340.mediawiki
type localKey struct {
	private *btcec.PrivateKey
	public  string // hex
}

// parseKey reads a private key as hex or nsec1….
func parseKey(text string) (localKey, bool) {
	raw, err := hex.DecodeString(text)
	if prefix, data, bechErr := bech32.DecodeToBase256(text); bechErr == nil && prefix == "nsec" {
		raw, err = data, nil
	}
	if err != nil || len(raw) != 32 {
		return localKey{}, false
	}
	private, public := btcec.PrivKeyFromBytes(raw)
	if private.Key.IsZero() || !bytes.Equal(private.Serialize(), raw) { // also beyond the order of the curve
		return localKey{}, false
	}
	return localKey{private, hex.EncodeToString(schnorr.SerializePubKey(public))}, true
}

func (k localKey) sign(_ context.Context, e *event) error {
	e.PubKey = k.public
	e.ID = e.hash()
	id, err := hex.DecodeString(e.ID)
	if err != nil {
		return err
	}
	signature, err := schnorr.Sign(k.private, id)
	if err != nil {
		return err
	}
	e.Sig = hex.EncodeToString(signature.Serialize())
	return nil
}

// signerOf returns the signer of an account; an error of class Auth means that its key is not
// that of the account.
func (n *Nostr) signerOf(account network.Account) (signer, error) {
	if remote, ok := n.parseRemote(account); ok {
		return remote, nil
	}
	key, ok := parseKey(account.Token.Reveal())
	if !ok || account.RemoteID != "" && key.public != account.RemoteID {
		return nil, &network.Error{
			Class: network.Auth, Code: "wrong_key", Message: "The private key is not that of this account.",
		}
	}
	return key, nil
}

// publicName returns the npub1… name of a public key in hex.
func publicName(public string) string {
	raw, err := hex.DecodeString(public)
	if err != nil {
		return public
	}
	text, err := bech32.EncodeFromBase256("npub", raw)
	if err != nil {
		return public
	}
	return text
}

// parsePublicName returns the public key of a name, in hex.
func parsePublicName(name string) (string, bool) {
	prefix, raw, err := bech32.DecodeToBase256(name)
	return hex.EncodeToString(raw), err == nil && prefix == "npub" && len(raw) == 32
}

// tokenOf keeps a private key in one form.
func (k localKey) token() secret.Text {
	return secret.NewText(hex.EncodeToString(k.private.Serialize()))
}

// rawJSON encodes what always marshals, and < > & as one byte: relays limit the size.
func rawJSON(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) //nolint:errchkjson // strings, numbers and lists of them
	return bytes.TrimSpace(out.Bytes())
}
