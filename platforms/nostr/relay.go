package nostr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// The size limits of a relay's message, and of all until its answer is complete, in bytes.
const (
	maxMessage = 1 << 20
	maxAnswer  = 4 << 20
)

// rateLimited is how long a relay that limits posts is left alone: relays do not say.
const rateLimited = time.Minute

// connection is a connection to a relay. It makes one request at a time.
type connection struct {
	relay     string
	socket    *websocket.Conn
	signer    signer
	secret    secret.Text // redacted from what the relay says
	requests  int
	challenge string // of NIP-42; empty: none
	notice    string // the last one
}

// filter selects events. https://github.com/nostr-protocol/nips/blob/master/01.md
type filter struct {
	IDs     []string `json:"ids,omitempty"`
	Kinds   []int    `json:"kinds,omitempty"`
	Authors []string `json:"authors,omitempty"`
	Events  []string `json:"#e,omitempty"` // that they refer to
	Names   []string `json:"#d,omitempty"`
	Article []string `json:"#a,omitempty"` // its coordinate
	Targets []string `json:"#p,omitempty"`
	Since   int64    `json:"since,omitempty"`
}

// dial connects to a relay. An error is of class NotSent.
func (n *Nostr) dial(ctx context.Context, relay string, s signer, token secret.Text) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, n.options.AnswerTimeout/3)
	defer cancel()
	socket, res, err := websocket.Dial(ctx, relay, &websocket.DialOptions{
		HTTPClient: n.client, HTTPHeader: http.Header{"User-Agent": {"Dateline"}},
	})
	if res != nil && res.Body != nil && err != nil {
		_ = res.Body.Close()
	}
	c := &connection{relay: relay, socket: socket, signer: s, secret: token}
	if err != nil {
		cause := call.Cause(err)
		if res != nil {
			cause = "it answered " + strconv.Itoa(res.StatusCode)
		}
		return nil, c.failed(network.NotSent, "connection_failed", "The relay could not be reached: "+cause+".", err)
	}
	socket.SetReadLimit(maxMessage)
	return c, nil
}

// close closes the connection without waiting for the relay.
func (c *connection) close() {
	if c != nil && c.socket != nil {
		_ = c.socket.CloseNow()
	}
}

func (c *connection) failed(class network.Class, code, text string, err error) *network.Error {
	if c.notice != "" {
		text += " It said: " + c.notice
	}
	return &network.Error{
		Class: class, Code: code, Err: err, Scope: network.ScopeAccount,
		Message: call.Redact(hostOf(c.relay)+": "+text, c.secret),
	}
}

// lost is the error of a request without an answer.
func (c *connection) lost(class network.Class, err error) *network.Error {
	text := "The relay did not answer."
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		text = fmt.Sprintf("The relay closed the connection (%d %s).", closed.Code, closed.Reason)
		if closed.Code == websocket.StatusMessageTooBig { // it read nothing of it
			return c.failed(network.Rejected, "event_too_large", "The relay does not accept a post of this size.", err)
		}
	}
	return c.failed(class, "no_answer", text, err)
}

// exchange sends a message and reads until answered says that the answer is complete.
func (c *connection) exchange(
	ctx context.Context, lost network.Class, answered func(kind string, values []json.RawMessage) (bool, error),
	message ...any,
) error {
	if err := c.socket.Write(ctx, websocket.MessageText, rawJSON(message)); err != nil {
		return c.lost(lost, err)
	}
	for size := 0; size <= maxAnswer; {
		_, raw, err := c.socket.Read(ctx)
		if err != nil {
			return c.lost(lost, err)
		}
		size += len(raw)
		kind, values := c.parse(raw)
		if done, err := answered(kind, values); done || err != nil {
			return err
		}
	}
	return c.failed(lost, "no_answer", "The relay sent too much and did not answer.", nil)
}

// parse reads a message, and notes what belongs to no request. What cannot be read is of no
// kind, and answers nothing.
func (c *connection) parse(raw []byte) (kind string, values []json.RawMessage) {
	if json.Unmarshal(raw, &values) != nil || len(values) < 2 {
		return "", nil
	}
	switch kind = textOf(values, 0); kind {
	case "AUTH":
		c.challenge = textOf(values, 1)
	case "NOTICE":
		c.notice = cut(textOf(values, 1))
	}
	return kind, values
}

// textOf returns a value of a message as text; empty: it is another type or missing.
func textOf(values []json.RawMessage, i int) (text string) {
	if i < len(values) {
		_ = json.Unmarshal(values[i], &text)
	}
	return text
}

// boolOf returns a value of a message; ok is false if it is another type or missing.
func boolOf(values []json.RawMessage, i int) (value, ok bool) {
	ok = i < len(values) && json.Unmarshal(values[i], &value) == nil
	return value, ok
}

const maxReason = 200

func cut(text string) string {
	if runes := []rune(text); len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}
	return text
}

// submit sends an event. An error of class Duplicate means that the relay says that it has, or
// had, the event.
func (c *connection) submit(ctx context.Context, e event) error {
	for try := 0; ; try++ {
		err := c.exchange(ctx, network.Ambiguous, func(kind string, values []json.RawMessage) (bool, error) {
			if kind != "OK" || textOf(values, 1) != e.ID {
				return false, nil
			}
			accepted, ok := boolOf(values, 2)
			if !ok {
				return false, nil
			}
			reason := textOf(values, 3)
			if accepted && !strings.HasPrefix(reason, "duplicate:") {
				return true, nil
			}
			return true, c.refusal(reason)
		}, "EVENT", e)
		if !c.mustLogIn(err) || try > 0 {
			return err
		}
		if err := c.logIn(ctx); err != nil {
			return err
		}
	}
}

// query returns the events that match a filter, and may return others: relays ignore what
// they do not know of filters.
func (c *connection) query(ctx context.Context, filters ...filter) (found []event, err error) {
	_, err = c.ask(ctx, "REQ", "EOSE", filters, func(values []json.RawMessage) {
		var e event
		if len(values) > 2 && json.Unmarshal(values[2], &e) == nil && e.isValid() {
			found = append(found, e)
		}
	})
	return found, err
}

// count returns how many events match (NIP-45); known is false if the relay cannot count.
// https://github.com/nostr-protocol/nips/blob/master/45.md
func (c *connection) count(ctx context.Context, f filter) (count int64, known bool, err error) {
	values, err := c.ask(ctx, "COUNT", "COUNT", []filter{f}, nil)
	var answer struct{ Count *int64 }
	if err == nil && len(values) > 2 && json.Unmarshal(values[2], &answer) == nil && answer.Count != nil {
		return *answer.Count, true, nil
	}
	if e := network.AsError(err); e != nil && e.Code == codeUnsupported {
		err = nil
	}
	return 0, false, err
}

// ask makes a request with filters, and returns the message that ends the answer.
func (c *connection) ask(
	ctx context.Context, verb, end string, filters []filter, each func([]json.RawMessage),
) (last []json.RawMessage, err error) {
	for try := 0; ; try++ {
		c.requests++
		id := "q" + strconv.Itoa(c.requests)
		message := []any{verb, id}
		for _, f := range filters {
			message = append(message, f)
		}
		err := c.exchange(ctx, network.Transient, func(kind string, values []json.RawMessage) (bool, error) {
			switch {
			case kind == "NOTICE" && verb == "COUNT": // of a relay that does not know it
				return true, c.failed(network.Rejected, codeUnsupported, "The relay does not count.", nil)
			case textOf(values, 1) != id:
				return false, nil
			case kind == end:
				last = values
				return true, nil
			case kind == "CLOSED":
				return true, c.refusal(textOf(values, 2))
			case kind == "EVENT" && each != nil:
				each(values)
			}
			return false, nil
		}, message...)
		if c.mustLogIn(err) && try == 0 {
			if err := c.logIn(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err == nil && verb == "REQ" {
			// Relays differ in whether they confirm it: nothing waits for that.
			_ = c.socket.Write(ctx, websocket.MessageText, rawJSON([]string{"CLOSE", id}))
		}
		return last, err
	}
}

const (
	codeLogIn       = "auth-required"
	codeUnsupported = "unsupported"
)

// refusal classifies a reason by its prefix.
// https://github.com/nostr-protocol/nips/blob/master/01.md#from-relay-to-client-sending-events-and-notices
func (c *connection) refusal(reason string) *network.Error {
	code, _, _ := strings.Cut(reason, ":")
	class, text := network.Transient, "The relay refused the request: "+cut(reason)
	switch code {
	case "duplicate":
		class = network.Duplicate
	case "invalid", "blocked", "pow", "mute", codeUnsupported:
		class = network.Rejected
	case codeLogIn, "restricted":
		class = network.Auth
	case "rate-limited":
		class = network.Throttled
	default:
		code = "error"
	}
	e := c.failed(class, code, text, nil)
	if class == network.Throttled {
		e.RetryAt = time.Now().Add(rateLimited)
	}
	return e
}

func (c *connection) mustLogIn(err error) bool {
	e := network.AsError(err)
	return e != nil && e.Code == codeLogIn && c.challenge != ""
}

// logIn proves to the relay whose connection this is.
// https://github.com/nostr-protocol/nips/blob/master/42.md
func (c *connection) logIn(ctx context.Context) error {
	login := event{
		Kind: kindRelayLogin, CreatedAt: time.Now().Unix(),
		Tags: [][]string{{"relay", c.relay}, {"challenge", c.challenge}},
	}
	c.challenge = ""
	if err := c.signer.sign(ctx, &login); err != nil {
		return err
	}
	return c.exchange(ctx, network.Transient, func(kind string, values []json.RawMessage) (bool, error) {
		if kind != "OK" || textOf(values, 1) != login.ID {
			return false, nil
		}
		if accepted, _ := boolOf(values, 2); !accepted {
			return true, c.failed(network.Auth, codeLogIn, "The relay does not let this account in: "+
				cut(textOf(values, 3)), nil)
		}
		return true, nil
	}, "AUTH", login)
}
