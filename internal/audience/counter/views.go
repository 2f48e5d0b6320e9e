// Package counter counts who reads: page views, clicks and conversions of the
// pages of a site, in Redis, in real time, without knowing who the readers are.
//
// A hit comes in through the API (intake), is given a visitor (package visitor)
// and passes the filter (package bots) before anything is written. The Batcher
// gathers concurrent hits and counts them with one script call; a hit that was
// answered is in Redis. FlushViews carries the counts to Postgres.
package counter

import (
	"time"

	"github.com/google/uuid"
)

// Kind says what a visitor did.
type Kind string

// The steps of the funnel, in order.
const (
	View       Kind = "view"
	Click      Kind = "click"
	Conversion Kind = "convert"
)

// UniqueMethod is how a site tells how many different visitors a page had.
type UniqueMethod string

// The four ways. Set, SetPerDay and Bitmap are exact and can tell whether a
// visitor has seen a page; HyperLogLog errs by about 1 % and takes no more than
// 14 kB a page.
const (
	Set         UniqueMethod = "set"
	SetPerDay   UniqueMethod = "set_per_day"
	HyperLogLog UniqueMethod = "hyperloglog"
	Bitmap      UniqueMethod = "bitmap" // for dense integer ids that the site gives
)

// Site is a web site whose pages are counted, with its settings.
type Site struct {
	ID           uuid.UUID
	Workspace    uuid.UUID
	Zone         *time.Location // days and hours are reckoned in it
	Window       time.Duration  // a visitor who comes back to a page within it is not counted again
	UniqueMethod UniqueMethod
	MaxID        uint32 // Bitmap: the largest visitor id that is accepted, at most LargestID
}

// Visitor is somebody who cannot be named: a hash, or an id that the site gives
// its readers.
type Visitor struct {
	Hash uint64 // salted; never of the address alone, never kept with it
	ID   uint32 // Bitmap: the site's dense id of a reader who is logged in
}

// Hit is one thing that a visitor did, filtered and with nothing personal in it.
type Hit struct {
	Site    Site
	Page    string // the site's name for the page: a post's id or a path, at most 200 bytes
	Kind    Kind
	Visitor Visitor
	At      time.Time // as the intake received it
	// Dimensions; "" where unknown. Their number of values is bounded when they
	// are counted.
	Country  string // ISO 3166-1 alpha-2
	Device   string // desktop, mobile, tablet, other
	Referrer string // a host, such as facebook.com
}

// Outcome is what became of a hit.
type Outcome struct {
	Counted bool // false: this visitor did the same within the window
	// New: it is this visitor's first view of the page, as far as the site's way
	// can tell, which HyperLogLog cannot. Of clicks and converts no more is known
	// than that they counted.
	New   bool
	Total int64 // of the page and kind, with this hit
}
