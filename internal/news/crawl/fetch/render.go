package fetch

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Renderer renders pages in a browser.
type Renderer interface {
	// Render loads the page and returns its HTML once it is idle. The browser
	// makes no requests by itself: all of them go through page.Get.
	Render(ctx context.Context, page RenderPage) ([]byte, error)
}

// RenderPage is a page to be rendered, whose document was fetched already.
type RenderPage struct {
	URL         string
	ContentType string
	Body        []byte
	Agent       string // User-Agent that scripts see
	MaxBytes    int64  // limit of the result
	// Get fetches a resource of the page, under the same guard, limits and
	// robots.txt rules as every other request. After an error the page has to
	// do without it.
	Get func(ctx context.Context, address string) (Resource, error)
}

// Resource is a resource of a page.
type Resource struct {
	URL         string // after redirects
	Status      int
	ContentType string
	Header      http.Header
	Body        []byte
}

// kindResource is the kind of a page's scripts, styles and data.
const kindResource Kind = "resource"

// render replaces the fetched document by its rendered form. A page that cannot
// be rendered stays as it is.
func (f *Fetcher) render(ctx context.Context, one *attempt) (*Result, error) {
	result, start := one.result, time.Now()
	renderCtx, cancel := context.WithTimeout(ctx, f.limits.Timeout)
	defer cancel()
	page := RenderPage{
		URL: result.FinalURL, ContentType: "text/html; charset=utf-8", Body: result.Text, Agent: f.agent,
		MaxBytes: f.limits.bytes(one.request),
	}
	// Browsers request everything at once; the crawler sends one request at a
	// time.
	var requests sync.Mutex
	page.Get = func(ctx context.Context, address string) (Resource, error) {
		requests.Lock()
		defer requests.Unlock()
		if ctx.Err() != nil {
			return Resource{}, ctx.Err()
		}
		resource, err := f.Fetch(ctx, Request{
			URL: address, Kind: kindResource, Proxy: one.request.Proxy, Allowed: one.request.Allowed,
		})
		if err != nil {
			return Resource{}, err
		}
		result.Requests, result.WireBytes = result.Requests+resource.Requests, result.WireBytes+resource.WireBytes
		if resource.Outcome != OK {
			return Resource{}, fmt.Errorf("%s: %s", resource.Outcome, resource.Reason)
		}
		return Resource{
			URL: resource.FinalURL, Status: resource.Status,
			ContentType: resource.Header.Get("Content-Type"), Header: resource.Header, Body: resource.Body,
		}, nil
	}
	rendered, err := f.options.Renderer.Render(renderCtx, page)
	result.Duration += time.Since(start)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		result.Reason = "the page could not be rendered"
	case int64(len(rendered)) > page.MaxBytes:
		result.Reason = "the rendered page exceeds the size limit"
	default:
		result.Body, result.Text, result.Charset, result.Rendered = rendered, rendered, "utf-8", true
	}
	return result, nil
}
