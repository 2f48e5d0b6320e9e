package fetch

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Options for a Fetcher.
type Options struct {
	// Product is the crawler's product token, which robots.txt names: Dateline.
	Product string
	Version string
	// Contact tells the people of a site where to turn: the address of a page,
	// or mailto:. Required.
	Contact string

	// AllowPrivate lists private addresses that may be fetched all the same, as
	// netguard.New takes them.
	AllowPrivate []string
	Resolver     Resolver // nil: SystemResolver
	Proxy        string   // http, https or socks5 URL for all requests; empty: none
	Limits       Limits
	Renderer     Renderer         // nil: pages are not rendered
	Now          func() time.Time // nil: time.Now
}

// Limits bound what a server can cost. A zero field has its default.
type Limits struct {
	Timeout       time.Duration // of a fetch, redirects included; 60 s
	HeaderTimeout time.Duration // until an answer's headers; 20 s
	IdleTimeout   time.Duration // between two pieces of a body; 15 s
	Grace         time.Duration // before MinRate counts; 10 s
	MinRate       int64         // bytes per second of a body; 1 KiB
	MaxRedirects  int           // 10
	MaxRatio      int64         // decompressed to wire bytes, counted after the first MiB; 200
	MaxRetryAfter time.Duration // longest Retry-After that is believed; 24 h

	// Caps on the decompressed body, each also on what comes over the wire.
	PageBytes    int64 // 10 MiB
	FeedBytes    int64 // 20 MiB
	SitemapBytes int64 // 52,428,800, as sitemaps.org allows
	RobotsBytes  int64 // 512 KiB; the rest is cut off
}

func (l Limits) withDefaults() Limits {
	span := func(field *time.Duration, otherwise time.Duration) {
		if *field <= 0 {
			*field = otherwise
		}
	}
	size := func(field *int64, otherwise int64) {
		if *field <= 0 {
			*field = otherwise
		}
	}
	span(&l.Timeout, 60*time.Second)
	span(&l.HeaderTimeout, 20*time.Second)
	span(&l.IdleTimeout, 15*time.Second)
	span(&l.Grace, 10*time.Second)
	span(&l.MaxRetryAfter, 24*time.Hour)
	size(&l.MinRate, 1<<10)
	size(&l.MaxRatio, 200)
	size(&l.PageBytes, 10<<20)
	size(&l.FeedBytes, 20<<20)
	size(&l.SitemapBytes, 50<<20)
	size(&l.RobotsBytes, 512<<10)
	if l.MaxRedirects <= 0 {
		l.MaxRedirects = 10
	}
	return l
}

func (l Limits) bytes(request Request) int64 {
	limit := l.PageBytes
	switch request.Kind {
	case KindFeed:
		limit = l.FeedBytes
	case KindSitemap:
		limit = l.SitemapBytes
	case KindRobots:
		limit = l.RobotsBytes
	}
	if request.MaxBytes > 0 {
		limit = min(limit, request.MaxBytes)
	}
	return limit
}

// agent is the User-Agent header: honest, with a contact, in the form that
// people who read logs know.
func (o Options) agent() (string, error) {
	if o.Product == "" || strings.ContainsAny(o.Product, " /\t\r\n") {
		return "", fmt.Errorf("%q is no product token for the User-Agent header", o.Product)
	}
	contact, err := url.Parse(o.Contact)
	if err != nil || contact.Scheme == "" || strings.ContainsAny(o.Contact, " ()\r\n") {
		return "", errors.New("a crawler needs a contact address, the URL of a page or mailto:someone@example.org")
	}
	version := o.Version
	if version == "" || strings.ContainsAny(version, " ()\r\n") {
		version = "1"
	}
	return fmt.Sprintf("Mozilla/5.0 (compatible; %s/%s; +%s)", o.Product, version, o.Contact), nil
}
