package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// maxMessage is the largest message of the browser: a page and some overhead.
const maxMessage = 64 << 20

// conn is a connection of the Chrome DevTools Protocol: JSON over a WebSocket,
// with responses to requests, and events
// (chromedevtools.github.io/devtools-protocol).
type conn struct {
	ws     *websocket.Conn
	events func(event) // called by one goroutine, in order

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan reply
	err     error // why the connection ended
}

type event struct {
	Session string
	Method  string
	Params  json.RawMessage
}

type reply struct {
	result json.RawMessage
	err    error
}

// dial connects to a browser, either at a ws:// URL or at an http:// URL that
// returns its WebSocket URL.
func dial(ctx context.Context, address string, events func(event)) (*conn, error) {
	if strings.HasPrefix(address, "http") {
		var err error
		if address, err = webSocketURL(ctx, address); err != nil {
			return nil, err
		}
	}
	ws, response, err := websocket.Dial(ctx, address, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the browser: %w", err)
	}
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	ws.SetReadLimit(maxMessage)
	return &conn{ws: ws, events: events, waiting: map[int64]chan reply{}}, nil
}

func webSocketURL(ctx context.Context, address string) (string, error) {
	at, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the address of the browser must be a URL")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath("json", "version").String(), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", fmt.Errorf("query the browser's WebSocket URL: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&version); err != nil {
		return "", fmt.Errorf("parse the browser's response: %w", err)
	}
	ws, err := url.Parse(version.URL)
	if err != nil || ws.Host == "" {
		return "", errors.New("the browser did not return a WebSocket URL")
	}
	// The browser returns its own view of the host, which may differ from here.
	ws.Host = at.Host
	if at.Scheme == "https" {
		ws.Scheme = "wss"
	}
	return ws.String(), nil
}

// run reads messages until the connection ends.
func (c *conn) run(ctx context.Context) {
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			c.end(err)
			return
		}
		var message struct {
			ID        int64
			SessionID string
			Method    string
			Params    json.RawMessage
			Result    json.RawMessage
			Error     *struct{ Message string }
		}
		if err := json.Unmarshal(data, &message); err != nil {
			c.end(err)
			return
		}
		if message.ID == 0 {
			c.events(event{message.SessionID, message.Method, message.Params})
			continue
		}
		response := reply{result: message.Result}
		if message.Error != nil {
			response.err = fmt.Errorf("browser error: %s", message.Error.Message)
		}
		c.mu.Lock()
		to := c.waiting[message.ID]
		delete(c.waiting, message.ID)
		c.mu.Unlock()
		if to != nil {
			to <- response
		}
	}
}

func (c *conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = fmt.Errorf("connection to the browser closed: %w", err)
	for id, to := range c.waiting {
		to <- reply{err: c.err}
		delete(c.waiting, id)
	}
}

// call makes one request and decodes its result, unless result is nil.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	to := make(chan reply, 1)
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.last++
	id := c.last
	c.waiting[id] = to
	c.mu.Unlock()
	data, err := json.Marshal(struct {
		ID        int64  `json:"id"`
		SessionID string `json:"sessionId,omitempty"`
		Method    string `json:"method"`
		Params    any    `json:"params,omitempty"`
	}{id, session, method, params})
	if err != nil {
		return err
	}
	if err := c.ws.Write(ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return ctx.Err()
	case response := <-to:
		if response.err != nil {
			return fmt.Errorf("%s: %w", method, response.err)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(response.result, result)
	}
}

func (c *conn) close() { _ = c.ws.CloseNow() }
