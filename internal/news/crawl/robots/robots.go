// Package robots reads robots.txt and says what it allows, by RFC 9309. The
// package makes no requests.
package robots

import (
	"time"
)

// MaxSize is how much of a robots.txt is read. RFC 9309 §2.5 asks for at least
// 500 KiB.
const MaxSize = 500 << 10

// File is a parsed robots.txt. The zero value allows everything.
type File struct {
	// Sitemaps are the sitemaps that it names, for all agents, as written.
	Sitemaps []string

	records []record
}

type record struct {
	agents []string // product tokens in small letters; "*" for all others
	rules  []rule
	delay  time.Duration // -1: none given
}

type rule struct {
	allow   bool
	pattern string // normalised, see normalise
	line    string
}

// Group is what a robots.txt says to one crawler. The zero value allows
// everything.
type Group struct {
	// CrawlDelay is the Crawl-delay that was asked for; zero: none. It is not part
	// of RFC 9309, but many sites have it.
	CrawlDelay time.Duration

	rules       []rule
	disallowAll bool // everything is refused, for a reason outside the file
	matched     bool
}

// Verdict says whether a path may be fetched, and why.
type Verdict struct {
	Allowed bool
	// Rule is the line that decided, such as "Disallow: /tim-kiem"; empty when
	// no rule matches.
	Rule string
}
