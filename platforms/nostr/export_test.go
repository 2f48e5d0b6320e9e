package nostr

import (
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/coder/websocket"

	"dateline/internal/identity/secret"
	"dateline/platforms/network"
)

// PublicName is the npub1… name of a public key.
func PublicName(public string) string { return publicName(public) }

// Signed returns the handle of an event that is dated otherwise.
func Signed(t *testing.T, account network.Account, fields map[string]any, at time.Time) string {
	t.Helper()
	raw, err := json.Marshal(fields)
	var e event
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	key, ok := parseKey(account.Token.Reveal())
	if e.CreatedAt = at.Unix(); err != nil || !ok || key.sign(t.Context(), &e) != nil {
		t.Fatal("the event cannot be signed")
	}
	return string(rawJSON(e))
}

// Signer is a remote signer.
type Signer struct {
	Address string

	mu     sync.Mutex
	answer string
}

// Answer sets how the signer answers from now on.
func (s *Signer) Answer(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = kind
}

// StartSigner starts a signer with the key of an account, which is reached over a relay.
func StartSigner(t *testing.T, n *Nostr, key, relay string) *Signer {
	t.Helper()
	account, ok := parseKey(key)
	private, err := btcec.NewPrivateKey()
	if err != nil || !ok {
		t.Fatal("the signer has no key")
	}
	own := localKey{private, hex.EncodeToString(schnorr.SerializePubKey(private.PubKey()))}
	s := &Signer{Address: signerScheme + own.public + "?relay=" + url.QueryEscape(relay) + "&secret=pairing-code"}
	c, err := n.dial(t.Context(), relay, own, secret.Text{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	if _, err := c.query(t.Context(), filter{Kinds: []int{kindSigner}, Targets: []string{own.public}}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			_, raw, err := c.socket.Read(t.Context())
			var values []json.RawMessage
			var e event
			if err != nil {
				return
			}
			if json.Unmarshal(raw, &values) != nil || textOf(values, 0) != "EVENT" || json.Unmarshal(values[2], &e) != nil ||
				e.tag("p") != own.public {
				continue
			}
			client := remoteSigner{own: own, key: e.PubKey}
			conversation, err := client.conversationKey()
			if err != nil {
				return
			}
			var request struct {
				ID, Method string
				Params     []string
			}
			plain, err := decrypt(conversation, e.Content)
			if err != nil || json.Unmarshal(plain, &request) != nil {
				return
			}
			answer := s.respond(t, account, request.Method, request.Params)
			if answer == nil {
				continue
			}
			answer["id"] = request.ID
			content, err := encrypt(conversation, rawJSON(answer))
			if err != nil {
				return
			}
			reply := event{Kind: kindSigner, CreatedAt: time.Now().Unix(), Tags: [][]string{{"p", e.PubKey}}, Content: content}
			if own.sign(t.Context(), &reply) != nil ||
				c.socket.Write(t.Context(), websocket.MessageText, rawJSON([]any{"EVENT", reply})) != nil {
				return
			}
		}
	}()
	return s
}

func (s *Signer) respond(t *testing.T, account localKey, method string, params []string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.answer {
	case "silence":
		return nil
	case "refuse":
		return map[string]string{"error": "not allowed"}
	case "echo":
		return map[string]string{"error": "unknown secret " + strings.Join(params, " ")}
	case "auth_url":
		return map[string]string{"result": "auth_url", "error": "https://signer.example/confirm"}
	}
	switch method {
	case "connect":
		return map[string]string{"result": "ack"}
	case "get_public_key":
		return map[string]string{"result": account.public}
	case "sign_event":
		var e event
		if json.Unmarshal([]byte(params[0]), &e) != nil {
			return map[string]string{"error": "not an event"}
		}
		if s.answer == "other" {
			e.Content += "!"
		}
		_ = account.sign(t.Context(), &e)
		return map[string]string{"result": string(rawJSON(e))}
	}
	return map[string]string{"error": "unknown method"}
}

// Relays are those of an account.
func Relays(n *Nostr, account network.Account) ([]string, error) { return n.relaysOf(account) }

// IsHandle reports whether a text is the handle of a post.
func IsHandle(text string) bool {
	_, ok := parseHandle(text)
	return ok
}

// Parse reads a message as a relay's answer to everything, and returns its longest value that
// ends up in errors.
func Parse(message string) string {
	c := &connection{relay: "wss://relay.example"}
	kind, values := c.parse([]byte(message))
	e := c.refusal(textOf(values, 2))
	var read event
	if len(values) > 2 && json.Unmarshal(values[2], &read) == nil {
		_, _, _, _ = read.isValid(), read.deletes(read), read.hasExpired(), read.address([]string{c.relay})
		new(Nostr).writeRelays(read)
	}
	_, _ = remoteSigner{key: read.PubKey}.read(make([]byte, 32), kind, values)
	return slices.MaxFunc([]string{e.Code, e.Message, c.notice}, func(a, b string) int { return len(a) - len(b) })
}

// Decrypt decrypts a message to a private key.
func Decrypt(private, sender, message string) (string, error) {
	own, _ := parseKey(private)
	conversation, err := remoteSigner{own: own, key: sender}.conversationKey()
	if err != nil {
		return "", err
	}
	plain, err := decrypt(conversation, message)
	return string(plain), err
}

// Roundtrip encrypts and decrypts a text.
func Roundtrip(text string) (string, error) {
	conversation := make([]byte, 32)
	message, err := encrypt(conversation, []byte(text))
	if err != nil {
		return "", err
	}
	plain, err := decrypt(conversation, message)
	return string(plain), err
}
