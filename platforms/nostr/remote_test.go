package nostr_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/nostr"
	"dateline/platforms/platformtest"
)

// hub is a relay that passes every event to all who listen.
type hub struct {
	mu      sync.Mutex
	clients map[*websocket.Conn]string // subscription
}

func startHub(t *testing.T) string {
	t.Helper()
	h := &hub{clients: map[*websocket.Conn]string{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow() //nolint:errcheck // a test
	say := func(to *websocket.Conn, values ...any) {
		raw, _ := json.Marshal(values)
		_ = to.Write(context.Background(), websocket.MessageText, raw)
	}
	for {
		_, raw, err := c.Read(r.Context())
		var m []json.RawMessage
		if err != nil || json.Unmarshal(raw, &m) != nil {
			h.mu.Lock()
			delete(h.clients, c)
			h.mu.Unlock()
			return
		}
		var sub string
		var e struct{ ID string }
		h.mu.Lock()
		switch _ = json.Unmarshal(m[1], &sub); string(m[0]) {
		case `"REQ"`:
			h.clients[c] = sub
			say(c, "EOSE", sub)
		case `"EVENT"`:
			_ = json.Unmarshal(m[1], &e)
			say(c, "OK", e.ID, true, "")
			for other, sub := range h.clients {
				say(other, "EVENT", sub, m[1])
			}
		}
		h.mu.Unlock()
	}
}

// An account whose key a signer has publishes, uploads and deletes; its token has no key of
// the account.
func TestRemoteSigner(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	n := nostr.New(platformtest.Client(t), nostr.Options{AnswerTimeout: time.Second})
	signer := nostr.StartSigner(t, n, server.FormValues("nostr", "desk")["key"], startHub(t))
	account := connect(t, n, "", map[string]secret.Text{
		"key": secret.NewText(signer.Address), "relays": secret.NewText(relayAddress(server, "private")),
		"media_server": secret.NewText(server.NetworkURL("nostr")),
	})
	if key := server.FormValues("nostr", "desk")["key"]; strings.Contains(account.Token.Reveal(), key) {
		t.Error("the token has the key of the account")
	}
	if account.Name != "Desk" {
		t.Errorf("name: got %q, want Desk", account.Name)
	}
	image := platformtest.NewImage(t, "image/jpeg")
	staged, err := n.Stage(t.Context(), account, image)
	if err != nil {
		t.Fatal(err)
	}
	s := network.Submission{
		Key: "1", Text: "Ký từ xa", MediaIDs: []string{staged.RemoteID},
		Media: []network.Media{image},
	}
	ready, err := n.Prepare(t.Context(), account, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Handle = ready.Handle
	receipt, err := n.Publish(t.Context(), account, s)
	if err != nil || len(server.Posts()) != 1 || server.Posts()[0].ID != receipt.RemoteID || len(server.Posts()[0].Media) != 1 {
		t.Fatalf("got %+v, %v and %+v, want one post", receipt, err, server.Posts())
	}
	if err := n.Delete(t.Context(), account, receipt.RemoteID); err != nil || !server.Posts()[0].Deleted {
		t.Errorf("got %v and %+v, want it deleted", err, server.Posts())
	}
}

// What a signer refuses, does not answer or signs otherwise publishes nothing, and says why.
func TestRemoteSigner_Problems(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	n := nostr.New(platformtest.Client(t), nostr.Options{AnswerTimeout: time.Second})
	signer := nostr.StartSigner(t, n, server.FormValues("nostr", "desk")["key"], startHub(t))
	values := map[string]secret.Text{
		"key": secret.NewText(signer.Address), "relays": secret.NewText(relayAddress(server, "relay")),
	}
	account := connect(t, n, "", values)
	for _, row := range []struct {
		answer string
		class  network.Class
		code   string
	}{
		{"refuse", network.Auth, "signer_refused"},
		{"auth_url", network.Auth, "signer_waits"},
		{"silence", network.Transient, "no_answer"},
		{"other", network.Rejected, "signed_otherwise"},
	} {
		signer.Answer(row.answer)
		_, err := n.Prepare(t.Context(), account, network.Submission{Key: "1", Text: "Ký từ xa"})
		if e := network.AsError(err); e == nil || e.Class != row.class || e.Code != row.code {
			t.Errorf("%s: got %v, want %s %s", row.answer, err, row.class, row.code)
		}
		_, err = n.ConnectForm(t.Context(), "", values)
		if e := network.AsError(err); row.answer != "other" && (e == nil || e.Field != "key") {
			t.Errorf("%s: connecting: got %v, want an error of the field key", row.answer, err)
		}
	}
	for _, address := range []string{
		"bunker://", "bunker://abc?relay=wss://a.example", "bunker://" + strings.Repeat("a", 64),
		"bunker://" + strings.Repeat("a", 64) + "?relay=http://a.example", "bunker://%zz",
	} {
		values["key"] = secret.NewText(address)
		_, err := n.ConnectForm(t.Context(), "", values)
		if e := network.AsError(err); e == nil || e.Code != "not_a_signer" && e.Code != "bad_address" {
			t.Errorf("%s: got %v, want that it is no address of a signer", address, err)
		}
	}
}

// A message that rust-nostr encrypted (nostr-sdk 0.45.1, nip44_encrypt).
func TestDecrypt_OfAnotherImplementation(t *testing.T) {
	t.Parallel()
	const message = "ArUfg5R0mPZv6QigQRYMbVZftPo3Km0w4ihfGGHkIw6ESPq+A5bc++3OxEsiDAeMa6o+ftb/4x8DKBQJEhcjzeS1AjPSWsUDEgrxODiX" +
		"J0FuXc5We/6Z25feIJm82tYSwaZ3"
	const sender = "1b84c5567b126440995d3ed5aaba0565d71e1834604819ff9c17f5e9d5dd078f"
	got, err := nostr.Decrypt(strings.Repeat("02", 32), sender, message)
	if err != nil || got != "Triều cường lên cao" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "Ag==", message[:60], "A" + strings.Repeat("A", 140), message[:80] + "B" + message[81:]} {
		if got, err := nostr.Decrypt(strings.Repeat("02", 32), sender, bad); err == nil {
			t.Errorf("%q was read as %q", bad, got)
		}
	}
	for _, length := range []int{1, 31, 32, 33, 64, 65, 256, 257, 320, 383, 384, 400, 1000, 60_000} {
		text := strings.Repeat("a", length)
		if got, err := nostr.Roundtrip(text); err != nil || got != text {
			t.Errorf("%d bytes: got %d, %v", length, len(got), err)
		}
	}
}
