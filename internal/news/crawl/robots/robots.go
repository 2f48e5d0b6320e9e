// Package robots parses and caches robots.txt files and applies their rules
// (RFC 9309). It makes no requests.
package robots

import (
	"time"
)

// MaxSize is how much of a robots.txt is read. RFC 9309 §2.5 requires at least
// 500 KiB.
const MaxSize = 500 << 10

// File is a parsed robots.txt. The zero value allows everything.
type File struct {
	// Sitemaps are the listed sitemaps, for all crawlers.
	Sitemaps []string

	records []record
}

type record struct {
	agents []string // product tokens in lower case; "*" for all others
	rules  []rule
	delay  time.Duration // -1: none given
}

type rule struct {
	allow   bool
	pattern string // see normalizePattern and normalize
	line    string
}

// Group is the set of rules that apply to one crawler. The zero value allows
// everything.
type Group struct {
	// CrawlDelay is the Crawl-delay; zero: none. It is not part of RFC 9309,
	// but many sites use it.
	CrawlDelay time.Duration

	rules       []rule
	disallowAll bool // robots.txt is unreachable
	matched     bool
}

// Verdict is whether a path may be fetched, and why.
type Verdict struct {
	Allowed bool
	// Rule is the line that decided, such as "Disallow: /tim-kiem"; empty if no
	// rule matches.
	Rule string
}
