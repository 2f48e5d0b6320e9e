package fetch

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Renderer shows a page as a browser does.
type Renderer interface {
	// Render loads the page and returns its HTML once it is quiet. It makes no
	// request by itself: what the page asks for comes from page.Get.
	Render(ctx context.Context, page RenderPage) ([]byte, error)
}

// RenderPage is a page to be rendered. Its document has been fetched already.
type RenderPage struct {
	URL         string
	ContentType string
	Body        []byte
	Agent       string // User-Agent that the page sees
	MaxBytes    int64  // of the result
	// Get fetches what the page needs, under the same guard, caps and robots.txt
	// rules as everything else. An error means that the page has to do without.
	Get func(ctx context.Context, address string) (Resource, error)
}

// Resource is something that a page asked for.
type Resource struct {
	URL         string // after redirects
	Status      int
	ContentType string
	Header      http.Header
	Body        []byte
}

// kindResource is the kind of what a page asks for besides itself.
const kindResource Kind = "resource"

// render puts the page as a browser shows it in place of what was fetched. A
// page that cannot be rendered stays as it is: it may have its text all the same.
func (f *Fetcher) render(ctx context.Context, one *attempt) (*Result, error) {
	result, start := one.result, time.Now()
	within, cancel := context.WithTimeout(ctx, f.limits.Timeout)
	defer cancel()
	page := RenderPage{URL: result.FinalURL, ContentType: "text/html; charset=utf-8", Body: result.Text, Agent: f.agent,
		MaxBytes: f.limits.bytes(one.request)}
	// One at a time, as sites are asked; a browser asks for all at once.
	var turn sync.Mutex
	page.Get = func(ctx context.Context, address string) (Resource, error) {
		turn.Lock()
		defer turn.Unlock()
		if ctx.Err() != nil {
			return Resource{}, ctx.Err()
		}
		got, err := f.Fetch(ctx, Request{URL: address, Kind: kindResource, Proxy: one.request.Proxy, Allowed: one.request.Allowed})
		if err != nil {
			return Resource{}, err
		}
		result.Requests, result.WireBytes = result.Requests+got.Requests, result.WireBytes+got.WireBytes
		if got.Outcome != OK {
			return Resource{}, fmt.Errorf("%s: %s", got.Outcome, got.Reason)
		}
		return Resource{URL: got.FinalURL, Status: got.Status, ContentType: got.Header.Get("Content-Type"), Header: got.Header, Body: got.Body}, nil
	}
	shown, err := f.options.Renderer.Render(within, page)
	result.Duration += time.Since(start)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		result.Reason = "it could not be rendered"
	case int64(len(shown)) > page.MaxBytes:
		result.Reason = "its rendered form is bigger than allowed"
	default:
		result.Body, result.Text, result.Charset, result.Rendered = shown, shown, "utf-8", true
	}
	return result, nil
}
