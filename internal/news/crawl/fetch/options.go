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
	// Product is the crawler's product token for robots.txt, such as Dateline.
	Product string
	Version string
	// Contact is the URL or mailto: address for site operators. Required.
	Contact string

	// AllowPrivate lists private addresses that may be fetched nevertheless, in
	// the format of ssrf.New.
	AllowPrivate []string
	Resolver     Resolver // nil: SystemResolver
	Proxy        string   // http, https or socks5 URL; empty: none
	Limits       Limits
	Renderer     Renderer         // nil: pages are not rendered
	Now          func() time.Time // nil: time.Now
}

// Limits bound what a server can cost. Zero fields have the default given in
// their comment.
type Limits struct {
	Timeout       time.Duration // of a fetch with its redirects; 60 s
	HeaderTimeout time.Duration // until the response headers; 20 s
	IdleTimeout   time.Duration // between two reads of a body; 15 s
	Grace         time.Duration // before MinRate applies; 10 s
	MinRate       int64         // bytes per second of a body; 1 KiB
	MaxRedirects  int           // 10
	MaxRatio      int64         // of decompressed to wire bytes, after the first MiB; 200
	MaxRetryAfter time.Duration // 24 h

	// Limits of the decompressed body, which also apply to the wire sizeField.
	PageBytes    int64 // 10 MiB
	FeedBytes    int64 // 20 MiB
	SitemapBytes int64 // 52,428,800, as sitemaps.org allows
	RobotsBytes  int64 // 512 KiB; the rest is cut off
}

func (l Limits) withDefaults() Limits {
	durationField := func(field *time.Duration, fallback time.Duration) {
		if *field <= 0 {
			*field = fallback
		}
	}
	sizeField := func(field *int64, fallback int64) {
		if *field <= 0 {
			*field = fallback
		}
	}
	durationField(&l.Timeout, 60*time.Second)
	durationField(&l.HeaderTimeout, 20*time.Second)
	durationField(&l.IdleTimeout, 15*time.Second)
	durationField(&l.Grace, 10*time.Second)
	durationField(&l.MaxRetryAfter, 24*time.Hour)
	sizeField(&l.MinRate, 1<<10)
	sizeField(&l.MaxRatio, 200)
	sizeField(&l.PageBytes, 10<<20)
	sizeField(&l.FeedBytes, 20<<20)
	sizeField(&l.SitemapBytes, 50<<20)
	sizeField(&l.RobotsBytes, 512<<10)
	if l.MaxRedirects <= 0 {
		l.MaxRedirects = 10
	}
	return l
}

func (l Limits) bytes(request Request) int64 {
	limit := l.PageBytes
	switch request.Kind {
	case KindFeed, KindHub:
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

// agent returns the User-Agent header. It has a contact and the format that
// site operators know from other crawlers.
func (o Options) agent() (string, error) {
	if o.Product == "" || strings.ContainsAny(o.Product, " /\t\r\n") {
		return "", fmt.Errorf("%q is not a valid product token for the User-Agent header", o.Product)
	}
	contact, err := url.Parse(o.Contact)
	if err != nil || contact.Scheme == "" || strings.ContainsAny(o.Contact, " ()\r\n") {
		return "", errors.New("the crawler's contact must be the URL of a page or mailto:someone@example.org")
	}
	version := o.Version
	if version == "" || strings.ContainsAny(version, " ()\r\n") {
		version = "1"
	}
	return fmt.Sprintf("Mozilla/5.0 (compatible; %s/%s; +%s)", o.Product, version, o.Contact), nil
}
