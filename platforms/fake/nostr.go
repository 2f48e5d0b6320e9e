package fake

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/coder/websocket"
)

const nostrName = "nostr"

// nostrRelay is how one relay behaves. Observed on khatru (eventstore 0.16.2), nostr-sdk 0.45.1,
// nostr-relay 1.14, and read in nostr-rs-relay.
type nostrRelay struct {
	again    string // what it says about an event that it has
	refuses  bool   // it says so with false
	restores bool   // it takes a deleted event again
	logsIn   bool   // only accounts that log in can write (NIP-42)
	drops    bool   // it accepts what it does not store
}

func nostrRelays() map[string]nostrRelay {
	return map[string]nostrRelay{
		"relay":   {again: "duplicate: already have this event"},
		"silent":  {restores: true},
		"strict":  {again: "duplicate: exists", refuses: true, restores: true},
		"private": {again: "duplicate: ", logsIn: true},
		"lossy":   {drops: true},
	}
}

const nostrMaxEvent = 65_536

// nostrEvent is an event. https://github.com/nostr-protocol/nips/blob/master/01.md
type nostrEvent struct {
	ID        string     `json:"id"`
	PubKey    string     `json:"pubkey"`
	CreatedAt int64      `json:"created_at"`
	Kind      int        `json:"kind"`
	Tags      [][]string `json:"tags"`
	Content   string     `json:"content"`
	Sig       string     `json:"sig"`
}

// hash returns the id that belongs to the content of an event.
func (e nostrEvent) hash() string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode([]any{0, e.PubKey, e.CreatedAt, e.Kind, e.Tags, e.Content}) // strings and numbers
	// encoding/json escapes these two, the others in NIP-01 are the same.
	text := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSpace(out.String()))
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// problem returns why an event is not valid; empty: it is.
func (e nostrEvent) problem() string {
	id, _ := hex.DecodeString(e.ID)
	public, _ := hex.DecodeString(e.PubKey)
	signature, _ := hex.DecodeString(e.Sig)
	key, keyErr := schnorr.ParsePubKey(public)
	parsed, sigErr := schnorr.ParseSignature(signature)
	switch {
	case e.ID != e.hash():
		return "invalid: bad event id"
	case keyErr != nil || sigErr != nil || !parsed.Verify(id, key):
		return "invalid: bad signature"
	default:
		return ""
	}
}

// tag returns the first value of a tag; empty: there is none.
func (e nostrEvent) tag(name string) string {
	for _, t := range e.Tags {
		if len(t) > 1 && t[0] == name {
			return t[1]
		}
	}
	return ""
}

// nostrKey returns a new private key in hex, and its public key.
func nostrKey() (private, public string) {
	key, err := btcec.NewPrivateKey()
	if err != nil {
		return "", "" // the system has no randomness
	}
	return hex.EncodeToString(key.Serialize()), hex.EncodeToString(schnorr.SerializePubKey(key.PubKey()))
}

// nostrNetwork fakes relays, each at /nostr/NAME, and a Blossom server at /nostr. Ids of
// accounts are public keys, their tokens the private ones. Every message to a relay is a
// request: POST /nostr/NAME/event, GET /nostr/NAME/req, GET /nostr/NAME/count.
func (s nostrFake) nostrNetwork() *fakeNetwork {
	const prefix = "/nostr"
	f := &fakeNetwork{
		name: nostrName, prefix: prefix, putPublishes: true, token: s.nostrToken,
		isAPI: func(path string) bool {
			name := path[strings.LastIndex(path, "/")+1:]
			return slices.Contains([]string{"event", "req", "count", "upload"}, name)
		},
		refuse: func(w http.ResponseWriter, status int, text string) {
			w.Header().Set("X-Reason", text)
			w.WriteHeader(status)
		},
	}
	f.expired = func(w http.ResponseWriter) { f.refuse(w, http.StatusUnauthorized, "no longer a member") }
	f.routes = func(mux *http.ServeMux) {
		mux.HandleFunc("GET "+prefix+"/{relay}", func(w http.ResponseWriter, r *http.Request) { s.nostrServe(w, r, f) })
		mux.HandleFunc("POST "+prefix+"/{relay}/event", s.authenticatedFor(f, s.nostrEvent, "event"))
		mux.HandleFunc("GET "+prefix+"/{relay}/req", s.nostrRequest)
		mux.HandleFunc("GET "+prefix+"/{relay}/count", s.nostrRequest)
		mux.HandleFunc("PUT "+prefix+"/upload", s.authenticatedFor(f, s.nostrUpload, "upload"))
	}
	return f
}

// nostrAuthor is the header of a relay's request with the public key of its author.
const nostrAuthor = "X-Author"

// nostrToken returns the token of the account that signed a request. The caller must hold s.mu.
func (s nostrFake) nostrToken(r *http.Request) string {
	author := r.Header.Get(nostrAuthor)
	if login, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Nostr "); ok {
		raw, _ := base64.StdEncoding.DecodeString(login)
		var e nostrEvent
		if json.Unmarshal(raw, &e) == nil && e.problem() == "" {
			author = e.PubKey
		}
	}
	if a := s.state.accounts[author]; a != nil {
		return a.Token
	}
	return ""
}

// nostrAnswer collects the answer to one message.
type nostrAnswer struct {
	recorder

	status   int
	conn     net.Conn
	hijacked bool
}

func (a *nostrAnswer) WriteHeader(status int) { a.status = status }

// Hijack lets faults reset the connection.
func (a *nostrAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.hijacked = true
	return a.conn, nil, nil
}

// nostrSocket keeps the connection below a WebSocket.
type nostrSocket struct {
	http.ResponseWriter

	conn net.Conn
}

func (n *nostrSocket) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(n.ResponseWriter).Hijack()
	n.conn = conn
	return conn, buffer, err
}

// nostrServe serves the messages of one client of a relay.
func (s nostrFake) nostrServe(w http.ResponseWriter, r *http.Request, f *fakeNetwork) {
	relay, known := nostrRelays()[r.PathValue("relay")]
	if !known { // the page of a post
		http.Redirect(w, r, "/", http.StatusFound)
		return
	}
	below := &nostrSocket{ResponseWriter: w}
	socket, err := websocket.Accept(below, r, nil)
	if err != nil {
		return
	}
	defer socket.CloseNow() //nolint:errcheck // the client may be gone
	socket.SetReadLimit(512_000)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	go func() {
		select {
		case <-s.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	client := &nostrClient{nostrFake: s, f: f, socket: socket, conn: below.conn, root: r, relay: relay}
	if relay.logsIn {
		client.say(ctx, "AUTH", "challenge of "+r.RemoteAddr)
	}
	for {
		_, raw, err := socket.Read(ctx)
		if err != nil {
			return
		}
		var values []json.RawMessage
		var verb string
		if json.Unmarshal(raw, &values) != nil || len(values) < 2 || json.Unmarshal(values[0], &verb) != nil {
			client.say(ctx, "NOTICE", "error: bad message")
			continue
		}
		client.serve(ctx, verb, values)
	}
}

// nostrClient is a client of a relay.
type nostrClient struct {
	nostrFake

	f      *fakeNetwork
	socket *websocket.Conn
	conn   net.Conn
	root   *http.Request
	relay  nostrRelay
	author string // that logged in
}

func (c *nostrClient) say(ctx context.Context, values ...any) {
	raw, err := json.Marshal(values)
	if err == nil {
		_ = c.socket.Write(ctx, websocket.MessageText, raw) // the client may be gone
	}
}

// serve answers a message. Requests are served beside reading, which notices that the client
// is gone.
func (c *nostrClient) serve(ctx context.Context, verb string, values []json.RawMessage) {
	var id string
	var e nostrEvent
	var path string
	method, body := http.MethodGet, []byte("["+string(bytes.Join(rawBytes(values[1:]), []byte(",")))+"]")
	switch verb {
	case "AUTH":
		if json.Unmarshal(values[1], &e) == nil && e.problem() == "" && e.Kind == 22242 {
			c.author = e.PubKey
		}
		c.say(ctx, "OK", e.ID, c.author != "", "")
		return
	case "EVENT":
		path, method, body = "/event", http.MethodPost, values[1]
		_ = json.Unmarshal(values[1], &e)
		switch id = e.ID; {
		case len(body) > nostrMaxEvent:
			c.say(ctx, "OK", id, false, "blocked: event size is too large")
			return
		case c.relay.logsIn && c.author == "":
			c.say(ctx, "OK", id, false, "auth-required: log in to write")
			return
		}
	case "REQ", "COUNT":
		path = map[string]string{"REQ": "/req", "COUNT": "/count"}[verb]
		_ = json.Unmarshal(values[1], &id)
	default:
		return
	}
	r, err := http.NewRequestWithContext(ctx, method, c.root.URL.Path+path, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Host, r.RemoteAddr = c.root.Host, c.root.RemoteAddr
	r.Header.Set(nostrAuthor, e.PubKey)
	a := &nostrAnswer{recorder: recorder{header: http.Header{}}, status: http.StatusOK, conn: c.conn}
	go func() {
		c.serveWithFaults(a, r, c.f)
		if !a.hijacked {
			c.answer(ctx, verb, id, a)
		}
	}()
}

func rawBytes(values []json.RawMessage) (out [][]byte) {
	for _, v := range values {
		out = append(out, v)
	}
	return out
}

// answer sends the lines of a success, or a refusal.
func (c *nostrClient) answer(ctx context.Context, verb, id string, a *nostrAnswer) {
	if a.status == http.StatusOK {
		for line := range bytes.Lines(a.body.Bytes()) {
			_ = c.socket.Write(ctx, websocket.MessageText, bytes.TrimSpace(line))
		}
		if verb == "REQ" {
			c.say(ctx, "EOSE", id)
		}
		return
	}
	reason := a.header.Get("X-Reason")
	if a.body.Len() > 0 {
		reason = a.body.String()
	}
	prefix := cmp.Or(map[int]string{
		401: "restricted: ", 403: "blocked: ", 429: "rate-limited: slow down, please", 503: "error: ",
	}[a.status], "invalid: ")
	switch {
	case a.status >= http.StatusInternalServerError && verb == "EVENT":
		c.say(ctx, "NOTICE", "error: "+reason)
	case verb == "EVENT":
		c.say(ctx, "OK", id, false, prefix+reason)
	default:
		c.say(ctx, "CLOSED", id, prefix+reason)
	}
}
