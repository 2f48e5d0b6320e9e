// Package render renders pages in a separate Chromium, for sites whose text is
// loaded by scripts. The browser makes no requests by itself: the package
// intercepts each of them, and the crawler's fetcher makes it under the guard
// against private addresses, the size limits and robots.txt. Requests that
// cannot be intercepted (WebSockets, frames and workers in other processes) go
// to a proxy that does not exist.
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

// Options for a Browser. Zero fields have a default.
type Options struct {
	// URL is where the browser is controlled: http://host:9222, or the
	// browser's ws:// URL. Required. Anyone who can reach it controls the browser,
	// so keep it private.
	URL         string
	MaxRequests int           // requests per page; 60
	MaxWait     time.Duration // until a page is used as it is; 15 s
	QuietPeriod time.Duration // without requests before a page counts as idle; 500 ms
	Concurrency int           // pages rendered at the same time; 2
}

// Browser is a fetch.Renderer.
type Browser struct {
	options Options
	slots   chan struct{}
}

var _ fetch.Renderer = (*Browser)(nil)

// New creates a renderer. It connects when the first page is rendered.
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

// deadProxy accepts no connections: nothing listens on the discard port.
const deadProxy = "http://127.0.0.1:9"

// Render implements fetch.Renderer.
func (b *Browser) Render(ctx context.Context, page fetch.RenderPage) ([]byte, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	visitCtx, cancel := context.WithCancel(ctx)
	v := &visit{browser: b, page: page, ctx: visitCtx, changed: make(chan struct{}, 1)}
	defer v.fetches.Wait()
	defer cancel()
	c, err := dial(visitCtx, b.options.URL, v.handleEvent)
	if err != nil {
		return nil, err
	}
	defer c.close()
	v.conn = c
	v.fetches.Go(func() { c.run(visitCtx) })
	return v.run()
}

// visit is one page in its own browser context, which is discarded afterwards.
type visit struct {
	browser *Browser
	page    fetch.RenderPage
	ctx     context.Context //nolint:containedctx // of the visit; events have none
	conn    *conn
	session string
	fetches sync.WaitGroup

	served   atomic.Bool  // the document was served
	requests atomic.Int64 // so far
	pending  atomic.Int64 // under way
	loaded   atomic.Bool
	changed  chan struct{}
}

func (v *visit) run() ([]byte, error) {
	var context struct{ BrowserContextID string }
	if err := v.conn.call(v.ctx, "", "Target.createBrowserContext",
		map[string]any{"disposeOnDetach": true, "proxyServer": deadProxy, "proxyBypassList": "<-loopback>"},
		&context); err != nil {
		return nil, err
	}
	defer v.dispose(context.BrowserContextID)
	var target struct{ TargetID string }
	if err := v.conn.call(v.ctx, "", "Target.createTarget",
		map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target); err != nil {
		return nil, err
	}
	var attached struct{ SessionID string }
	if err := v.conn.call(v.ctx, "", "Target.attachToTarget",
		map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	v.session = attached.SessionID
	for _, step := range []struct {
		session, method string
		params          any
	}{
		{"", "Browser.setDownloadBehavior", map[string]any{
			"behavior": "deny", "browserContextId": context.BrowserContextID,
		}},
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

// dispose closes the page, even after ctx has ended.
func (v *visit) dispose(id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), time.Second)
	defer cancel()
	// disposeOnDetach does the same if the connection is lost.
	_ = v.conn.call(ctx, "", "Target.disposeBrowserContext", map[string]any{"browserContextId": id}, nil)
}

// waitUntilQuiet waits until the page has loaded and is idle, or until MaxWait
// is over.
func (v *visit) waitUntilQuiet() error {
	deadline := time.NewTimer(v.browser.options.MaxWait)
	defer deadline.Stop()
	idle := time.NewTimer(v.browser.options.QuietPeriod)
	defer idle.Stop()
	for {
		select {
		case <-v.ctx.Done():
			return v.ctx.Err()
		case <-deadline.C:
			return nil
		case <-v.changed:
			idle.Reset(v.browser.options.QuietPeriod)
		case <-idle.C:
			if v.loaded.Load() && v.pending.Load() == 0 {
				return nil
			}
			idle.Reset(v.browser.options.QuietPeriod)
		}
	}
}

func (v *visit) html() ([]byte, error) {
	var document struct{ Root struct{ NodeID int } }
	if err := v.conn.call(v.ctx, v.session, "DOM.getDocument", map[string]any{"depth": 0}, &document); err != nil {
		return nil, err
	}
	var outer struct{ OuterHTML string }
	if err := v.conn.call(v.ctx, v.session, "DOM.getOuterHTML", map[string]any{"nodeId": document.Root.NodeID},
		&outer); err != nil {
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

// handleEvent handles an event of the browser without blocking.
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

// pausedRequest is an intercepted request (Fetch.requestPaused).
type pausedRequest struct {
	RequestID    string
	ResourceType string
	Request      struct{ URL, Method string }
}

// respond fulfills or fails an intercepted request.
func (v *visit) respond(session string, request pausedRequest) {
	method, params := "Fetch.failRequest", map[string]any{
		"requestId": request.RequestID, "errorReason": "BlockedByClient",
	}
	switch {
	case request.Request.URL == v.page.URL && request.ResourceType == "Document" &&
		v.served.CompareAndSwap(false, true):
		method, params = fulfill(request, http.StatusOK, v.page.ContentType, nil, v.page.Body)
	case !isNeeded(request), v.requests.Add(1) > int64(v.browser.options.MaxRequests):
	default:
		if got, err := v.page.Get(v.ctx, request.Request.URL); err == nil {
			method, params = fulfill(request, got.Status, got.ContentType, got.Header, got.Body)
		}
	}
	_ = v.conn.call(v.ctx, session, method, params, nil)
}

// isNeeded reports whether a page may need the resource for its text. Requests
// with a body are never made.
func isNeeded(request pausedRequest) bool {
	if request.Request.Method != http.MethodGet || !strings.HasPrefix(request.Request.URL, "http") {
		return false
	}
	switch request.ResourceType {
	case "Document", "Script", "Stylesheet", "XHR", "Fetch":
		return true
	}
	return false
}

func fulfill(
	request pausedRequest, status int, contentType string, header http.Header, body []byte,
) (string, map[string]any) {
	headers := []map[string]string{{"name": "Content-Type", "value": contentType}}
	// Pages need these headers to use resources of other origins.
	for _, name := range []string{
		"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials",
		"Content-Security-Policy",
	} {
		if value := header.Get(name); value != "" {
			headers = append(headers, map[string]string{"name": name, "value": value})
		}
	}
	return "Fetch.fulfillRequest", map[string]any{
		"requestId": request.RequestID, "responseCode": status,
		"responseHeaders": headers,
		"body":            base64.StdEncoding.EncodeToString(body),
	}
}
