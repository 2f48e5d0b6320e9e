package nostr

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/bits"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"golang.org/x/crypto/chacha20"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// kindSigner is the kind of messages to and from a signer.
const kindSigner = 24133

// signerScheme begins the address of a signer: bunker://KEY?relay=…&secret=….
// https://github.com/nostr-protocol/nips/blob/master/46.md
const signerScheme = "bunker://"

// remoteSigner has the private key of an account, and signs what Dateline asks it to. Its user
// can make it stop. Dateline's own key only encrypts the messages.
type remoteSigner struct {
	nostr   *Nostr
	account string   // public key for which it signs; empty: not known yet
	key     string   // public key of the signer
	relays  []string // over which it is reached
	own     localKey
	code    secret.Text // of the pairing, redacted from what the signer says
}

// tokenPrefix begins the token of an account whose key a signer has: the address of the signer
// without its secret, then Dateline's own key.
const tokenPrefix = "signer "

func (n *Nostr) parseRemote(account network.Account) (remoteSigner, bool) {
	text, ok := strings.CutPrefix(account.Token.Reveal(), tokenPrefix)
	address, own, found := strings.Cut(text, " ")
	key, valid := parseKey(own)
	r, _, err := n.parseSigner(address)
	if !ok || !found || !valid || err != nil {
		return remoteSigner{}, false
	}
	r.account, r.own = account.RemoteID, key
	return r, true
}

// parseSigner reads the address of a signer.
func (n *Nostr) parseSigner(address string) (r remoteSigner, code string, err error) {
	u, err := url.Parse(address)
	if err != nil || len(u.Host) != 2*sha256.Size {
		return r, "", rejected(fieldKey, "not_a_signer", "The address of the signer is not complete: bunker://, a "+
			"public key and at least one relay.")
	}
	relays, err := n.parseRelays(u.Query()["relay"])
	if err != nil || len(relays) == 0 {
		return r, "", rejected(fieldKey, "not_a_signer", "The address of the signer names no relay that can be used.")
	}
	return remoteSigner{nostr: n, key: strings.ToLower(u.Host), relays: relays}, u.Query().Get("secret"), nil
}

// connectRemote pairs with a signer, and asks for which account it signs.
func (n *Nostr) connectRemote(ctx context.Context, address string, account *network.Account) error {
	r, code, err := n.parseSigner(address)
	if err != nil {
		return err
	}
	private, err := btcec.NewPrivateKey()
	if err != nil {
		return notSigned(err)
	}
	r.code = secret.NewText(code)
	r.own = localKey{private, hex.EncodeToString(schnorr.SerializePubKey(private.PubKey()))}
	permissions := "sign_event:1,sign_event:5,sign_event:22242,sign_event:24242,sign_event:30023"
	if _, err := r.call(ctx, "connect", r.key, code, permissions); err != nil {
		return atKey(err)
	}
	public, err := r.call(ctx, "get_public_key")
	if err != nil {
		return atKey(err)
	}
	if raw, err := hex.DecodeString(public); err != nil || len(raw) != sha256.Size {
		return rejected(fieldKey, "not_a_signer", "The signer did not say for which account it signs.")
	}
	query := url.Values{"relay": r.relays}
	account.RemoteID = strings.ToLower(public)
	signer := signerScheme + r.key + "?" + query.Encode()
	account.Token = secret.NewText(tokenPrefix + signer + " " + r.own.token().Reveal())
	return nil
}

func atKey(err error) error {
	e := network.AsError(err)
	e.Field = fieldKey
	return e
}

// sign has the signer sign an event.
func (r remoteSigner) sign(ctx context.Context, e *event) error {
	e.PubKey = r.account
	unsigned := map[string]any{
		"pubkey": e.PubKey, "created_at": e.CreatedAt, "kind": e.Kind, "tags": e.Tags, "content": e.Content,
	}
	result, err := r.call(ctx, "sign_event", string(rawJSON(unsigned)))
	if err != nil {
		return err
	}
	var signed event
	if json.Unmarshal([]byte(result), &signed) != nil || !signed.isValid() || signed.ID != e.hash() {
		return &network.Error{
			Class: network.Rejected, Code: "signed_otherwise",
			Message: "The signer signed something else than the post.",
		}
	}
	*e = signed
	return nil
}

// call makes a call to the signer over the first relay on which it answers.
func (r remoteSigner) call(ctx context.Context, method string, params ...string) (string, error) {
	var last error
	for _, relay := range r.relays {
		result, err := r.callOver(ctx, relay, method, params)
		if err == nil {
			return result, nil
		}
		last = err
		if network.AsError(err).Class == network.Auth {
			break // the signer's own answer
		}
	}
	return "", last
}

func (r remoteSigner) callOver(ctx context.Context, relay, method string, params []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.nostr.options.AnswerTimeout)
	defer cancel()
	c, err := r.nostr.dial(ctx, relay, r.own, r.code)
	if err != nil {
		return "", err
	}
	defer c.close()
	conversation, err := r.conversationKey()
	if err != nil {
		return "", err
	}
	id := rand.Text()
	content, err := encrypt(conversation, rawJSON(map[string]any{"id": id, "method": method, "params": params}))
	if err != nil {
		return "", rejected("content", "too_large_for_signer", "The post is too large for a remote signer. Shorten it.")
	}
	request := event{
		Kind: kindSigner, CreatedAt: time.Now().Unix(), Tags: [][]string{{"p", r.key}}, Content: content,
	}
	if err := r.own.sign(ctx, &request); err != nil {
		return "", notSigned(err)
	}
	answers := filter{
		Kinds: []int{kindSigner}, Authors: []string{r.key}, Targets: []string{r.own.public},
		Since: time.Now().Add(-time.Minute).Unix(),
	}
	subscribed := func(kind string, values []json.RawMessage) (bool, error) {
		if kind == "CLOSED" {
			return true, c.refusal(textOf(values, 2))
		}
		return kind == "EOSE", nil
	}
	if err := c.exchange(ctx, network.Transient, subscribed, "REQ", "signer", answers); err != nil {
		return "", err
	}
	var result string
	err = c.exchange(ctx, network.Transient, func(kind string, values []json.RawMessage) (bool, error) {
		if accepted, ok := boolOf(values, 2); kind == "OK" && ok && !accepted {
			return true, c.refusal(textOf(values, 3))
		}
		answer, ok := r.read(conversation, kind, values)
		if !ok || answer.ID != id {
			return false, nil
		}
		if answer.Result == "auth_url" {
			return true, c.failed(network.Auth, "signer_waits", "The signer asks for a confirmation at "+
				cut(answer.Error)+". Confirm there and try again.", nil)
		}
		if answer.Error != "" {
			return true, c.failed(network.Auth, "signer_refused", "The signer refused: "+cut(answer.Error), nil)
		}
		result = answer.Result
		return true, nil
	}, "EVENT", request)
	if e := network.AsError(err); e != nil && e.Code == "no_answer" {
		e.Message = "The signer did not answer over " + hostOf(relay) + ". Open the signer app."
	}
	return result, err
}

// signerAnswer is the answer to a call.
type signerAnswer struct{ ID, Result, Error string }

// read returns the answer of the signer in a message; ok is false if there is none.
func (r remoteSigner) read(conversation []byte, kind string, values []json.RawMessage) (answer signerAnswer, ok bool) {
	var e event
	if kind != "EVENT" || len(values) < 3 || json.Unmarshal(values[2], &e) != nil || e.PubKey != r.key {
		return answer, false
	}
	raw, err := decrypt(conversation, e.Content)
	ok = err == nil && json.Unmarshal(raw, &answer) == nil
	return answer, ok
}

// conversationKey is shared by Dateline and the signer.
// https://github.com/nostr-protocol/nips/blob/master/44.md
func (r remoteSigner) conversationKey() ([]byte, error) {
	raw, err := hex.DecodeString("02" + r.key)
	if err != nil {
		return nil, notSigned(err)
	}
	public, err := btcec.ParsePubKey(raw)
	if err != nil {
		return nil, rejected(fieldKey, "not_a_signer", "The address of the signer has no valid public key.")
	}
	return hkdf.Extract(sha256.New, btcec.GenerateSharedSecret(r.own.private, public), []byte("nip44-v2"))
}

const (
	encryptionVersion = 2
	nonceBytes        = 32
	maxPlain          = 1<<16 - 1
)

// messageKeys returns the keys of one message: of the cipher, its nonce, of the checksum.
func messageKeys(conversation, nonce []byte) (cipher *chacha20.Cipher, sum []byte, err error) {
	keys, err := hkdf.Expand(sha256.New, conversation, string(nonce), 76)
	if err != nil {
		return nil, nil, err
	}
	cipher, err = chacha20.NewUnauthenticatedCipher(keys[:32], keys[32:44])
	return cipher, keys[44:], err
}

// encrypt encrypts a message for the signer.
func encrypt(conversation, plain []byte) (string, error) {
	if len(plain) == 0 || len(plain) > maxPlain {
		return "", errors.New("the message to the signer is too long")
	}
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // never fails
	cipher, sum, err := messageKeys(conversation, nonce)
	if err != nil {
		return "", err
	}
	padded := make([]byte, 2+paddedLength(len(plain)))
	binary.BigEndian.PutUint16(padded, uint16(len(plain))) //nolint:gosec // checked above
	copy(padded[2:], plain)
	cipher.XORKeyStream(padded, padded)
	return base64.StdEncoding.EncodeToString(slices.Concat([]byte{encryptionVersion}, nonce, padded,
		checksum(sum, nonce, padded))), nil
}

// decrypt decrypts a message of the signer.
func decrypt(conversation []byte, text string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) < 1+nonceBytes+2+32+sha256.Size || raw[0] != encryptionVersion {
		return nil, errors.New("the message is not encrypted as NIP-44 says")
	}
	nonce, padded, mac := raw[1:1+nonceBytes], raw[1+nonceBytes:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	cipher, sum, err := messageKeys(conversation, nonce)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(mac, checksum(sum, nonce, padded)) {
		return nil, errors.New("the message has a wrong checksum")
	}
	cipher.XORKeyStream(padded, padded)
	length := int(binary.BigEndian.Uint16(padded))
	if length == 0 || len(padded) != 2+paddedLength(length) {
		return nil, errors.New("the message has a wrong length")
	}
	return padded[2 : 2+length], nil
}

func checksum(key, nonce, padded []byte) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(nonce)
	_, _ = mac.Write(padded)
	return mac.Sum(nil)
}

// paddedLength hides the length of a message.
func paddedLength(length int) int {
	if length <= 32 {
		return 32
	}
	next := 1 << bits.Len(uint(length-1)) //nolint:gosec // positive
	chunk := max(next/8, 32)
	return chunk * ((length-1)/chunk + 1)
}
