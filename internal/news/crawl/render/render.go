// Package render shows pages in a Chromium that runs elsewhere, for the few
// sites whose text is made by scripts. The browser makes no request by itself:
// each is taken from it and made by the crawler's fetcher, under the guard
// against private addresses, the caps and robots.txt. What would get around that
// (WebSockets, frames and workers in processes of their own) meets a proxy that
// does not exist.
package render

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dateline/internal/news/crawl/fetch"
)

// Options for a Browser. A zero field has its default.
type Options struct {
	// URL is where the browser is controlled: http://host:9222, or the ws://
	// address that it gives. Required. Whoever reaches it controls the browser:
	// keep it private.
	URL         string
	MaxRequests int           // that a page may make; 60
	MaxWait     time.Duration // until a page is taken as it is; 15 s
	QuietPeriod time.Duration // without a request, after which a page is ready; 500 ms
	Concurrency int           // pages that are rendered at the same time; 2
}

// Browser is a fetch.Renderer.
type Browser struct {
	options Options
	slots   chan struct{}
}

var _ fetch.Renderer = (*Browser)(nil)

// New makes a renderer. It connects when the first page is rendered.
func New(options Options) (*Browser, error) {
	if !strings.HasPrefix(options.URL, "http") && !strings.HasPrefix(options.URL, "ws") {
		return nil, errors.New("the browser's address must be an http or ws URL, such as http://127.0.0.1:9222")
	}
	if options.MaxRequests <= 0 {
		options.MaxRequests = 60
	}
	if options.MaxWait <= 0 {
		options.MaxWait = 15 * time.Second
	}
	if options.QuietPeriod <= 0 {
		options.QuietPeriod = 500 * time.Millisecond
	}
	if options.Concurrency <= 0 {
		options.Concurrency = 2
	}
	return &Browser{options: options, slots: make(chan struct{}, options.Concurrency)}, nil
}

// deadProxy takes no connections: nothing listens on the discard port.
const deadProxy = "http://127.0.0.1:9"

// Render implements fetch.Renderer.
func (b *Browser) Render(ctx context.Context, page fetch.RenderPage) ([]byte, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	within, cancel := context.WithCancel(ctx)
	v := &visit{browser: b, page: page, ctx: within, changed: make(chan struct{}, 1)}
	defer v.fetches.Wait()
	defer cancel()
	c, err := dial(within, b.options.URL, v.handleEvent)
	if err != nil {
		return nil, err
	}
	defer c.close()
	v.conn = c
	v.fetches.Go(func() { c.run(within) })
	return v.run()
}

// visit is one page in its own browser context: nothing is left of it.
type visit struct {
	browser *Browser
	page    fetch.RenderPage
	ctx     context.Context //nolint:containedctx // of the visit; events have none of their own
	conn    *conn
	session string
	fetches sync.WaitGroup

	served   atomic.Bool  // the document was handed out
	requests atomic.Int64 // so far
	pending  atomic.Int64 // under way
	loaded   atomic.Bool
	changed  chan struct{}
}

func (v *visit) run() ([]byte, error) {
	var context struct{ BrowserContextID string }
	if err := v.conn.call(v.ctx, "", "Target.createBrowserContext",
		map[string]any{"disposeOnDetach": true, "proxyServer": deadProxy, "proxyBypassList": "<-loopback>"}, &context); err != nil {
		return nil, err
	}
	defer v.dispose(context.BrowserContextID)
	var target struct{ TargetID string }
	if err := v.conn.call(v.ctx, "", "Target.createTarget",
		map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target); err != nil {
		return nil, err
	}
	var attached struct{ SessionID string }
	if err := v.conn.call(v.ctx, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	v.session = attached.SessionID
	for _, step := range []struct {
		session, method string
		params          any
	}{
		{"", "Browser.setDownloadBehavior", map[string]any{"behavior": "deny", "browserContextId": context.BrowserContextID}},
		{v.session, "Emulation.setUserAgentOverride", map[string]any{"userAgent": v.page.Agent}},
		{v.session, "Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": "*"}}}},
		{v.session, "Page.enable", nil},
		{v.session, "Page.navigate", map[string]any{"url": v.page.URL}},
	} {
		if err := v.conn.call(v.ctx, step.session, step.method, step.params, nil); err != nil {
			return nil, err
		}
	}
	if err := v.waitUntilQuiet(); err != nil {
		return nil, err
	}
	return v.html()
}

// dispose closes the page, also when there is no time left.
func (v *visit) dispose(id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), time.Second)
	defer cancel()
	// disposeOnDetach does the same when the connection is lost.
	_ = v.conn.call(ctx, "", "Target.disposeBrowserContext", map[string]any{"browserContextId": id}, nil)
}

// waitUntilQuiet waits until the page has loaded and asks for nothing more, or until it
// has had its time.
func (v *visit) waitUntilQuiet() error {
	limit := time.NewTimer(v.browser.options.MaxWait)
	defer limit.Stop()
	still := time.NewTimer(v.browser.options.QuietPeriod)
	defer still.Stop()
	for {
		select {
		case <-v.ctx.Done():
			return v.ctx.Err()
		case <-limit.C:
			return nil
		case <-v.changed:
			still.Reset(v.browser.options.QuietPeriod)
		case <-still.C:
			if v.loaded.Load() && v.pending.Load() == 0 {
				return nil
			}
			still.Reset(v.browser.options.QuietPeriod)
		}
	}
}

func (v *visit) html() ([]byte, error) {
	var document struct{ Root struct{ NodeID int } }
	if err := v.conn.call(v.ctx, v.session, "DOM.getDocument", map[string]any{"depth": 0}, &document); err != nil {
		return nil, err
	}
	var outer struct{ OuterHTML string }
	if err := v.conn.call(v.ctx, v.session, "DOM.getOuterHTML", map[string]any{"nodeId": document.Root.NodeID}, &outer); err != nil {
		return nil, err
	}
	return []byte(outer.OuterHTML), nil
}

func (v *visit) touch() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// handleEvent is called for what the browser tells. It does not wait.
func (v *visit) handleEvent(e event) {
	switch e.Method {
	case "Page.loadEventFired":
		v.loaded.Store(true)
		v.touch()
	case "Page.javascriptDialogOpening":
		v.fetches.Go(func() {
			_ = v.conn.call(v.ctx, e.Session, "Page.handleJavaScriptDialog", map[string]any{"accept": false}, nil)
		})
	case "Fetch.requestPaused":
		var paused pausedRequest
		if err := json.Unmarshal(e.Params, &paused); err != nil {
			return
		}
		v.pending.Add(1)
		v.fetches.Go(func() {
			defer v.touch()
			defer v.pending.Add(-1)
			v.respond(e.Session, paused)
		})
	}
}

// pausedRequest is what a page asks for (Fetch.requestPaused).
type pausedRequest struct {
	RequestID    string
	ResourceType string
	Request      struct{ URL, Method string }
}

// respond gives a page what it asked for, or refuses.
func (v *visit) respond(session string, asked pausedRequest) {
	method, params := "Fetch.failRequest", map[string]any{"requestId": asked.RequestID, "errorReason": "BlockedByClient"}
	switch {
	case asked.Request.URL == v.page.URL && asked.ResourceType == "Document" && v.served.CompareAndSwap(false, true):
		method, params = fulfill(asked, http.StatusOK, v.page.ContentType, nil, v.page.Body)
	case !isNeeded(asked), v.requests.Add(1) > int64(v.browser.options.MaxRequests):
	default:
		if got, err := v.page.Get(v.ctx, asked.Request.URL); err == nil {
			method, params = fulfill(asked, got.Status, got.ContentType, got.Header, got.Body)
		}
	}
	_ = v.conn.call(v.ctx, session, method, params, nil)
}

// isNeeded says whether a page needs it for its text. Nothing is sent on its
// behalf, only fetched.
func isNeeded(asked pausedRequest) bool {
	if asked.Request.Method != http.MethodGet || !strings.HasPrefix(asked.Request.URL, "http") {
		return false
	}
	switch asked.ResourceType {
	case "Document", "Script", "Stylesheet", "XHR", "Fetch":
		return true
	}
	return false
}

func fulfill(asked pausedRequest, status int, contentType string, header http.Header, body []byte) (string, map[string]any) {
	headers := []map[string]string{{"name": "Content-Type", "value": contentType}}
	// Pages need these to use what other sites gave them.
	for _, name := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Content-Security-Policy"} {
		if value := header.Get(name); value != "" {
			headers = append(headers, map[string]string{"name": name, "value": value})
		}
	}
	return "Fetch.fulfillRequest", map[string]any{"requestId": asked.RequestID, "responseCode": status, "responseHeaders": headers,
		"body": base64.StdEncoding.EncodeToString(body)}
}
