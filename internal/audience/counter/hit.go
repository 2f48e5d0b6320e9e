package counter

import (
	"time"

	"github.com/google/uuid"
)

// Kind is what a visitor did.
type Kind string

// The steps of the funnel, in order.
const (
	View       Kind = "view"
	Click      Kind = "click"
	Conversion Kind = "conversion"
)

// Kinds that are derived from views. They are in deltas only.
const (
	Entry      Kind = "entry"       // a visit that started on the page
	SecondView Kind = "second_view" // the second page load of a visit, in the hour of its start
	// A visit with a second page load or a view read for EngagedVisitTime, in the hour of its start
	EngagedVisit  Kind = "engaged_visit"
	Recirculation Kind = "recirculation" // a view of another page of the site, reached from the page
)

// visitWindow is how long a visit lasts from its first page load.
const visitWindow = 30 * time.Minute

// EngagedVisitTime is the engaged time of a view from which its visit is engaged.
// It is that of Google Analytics 4.
const EngagedVisitTime = 10 * time.Second

// UniqueMethod is how a site counts the unique visitors of a page.
type UniqueMethod string

// The counting methods. Set, SetPerDay and Bitmap are exact and can report
// whether a visitor has seen a page. HyperLogLog has an error of about 1% and
// takes at most 14 kB per page.
const (
	Set         UniqueMethod = "set"
	SetPerDay   UniqueMethod = "set_per_day"
	HyperLogLog UniqueMethod = "hyperloglog"
	Bitmap      UniqueMethod = "bitmap" // for dense integer ids assigned by the site
)

// Site is a website whose pages are counted, with its settings.
type Site struct {
	ID           uuid.UUID
	Workspace    uuid.UUID
	Zone         *time.Location // of days and hours
	Window       time.Duration  // repeated hits of a visitor on a page within it are duplicates
	UniqueMethod UniqueMethod
	MaxID        uint32 // Bitmap: the maximum visitor id, at most MaxVisitorID
}

// Visitor is a pseudonymous visitor: a hash, or an id that the site assigns to
// its readers.
type Visitor struct {
	Hash uint64 // salted; never a hash of the address alone, never stored with it
	ID   uint32 // Bitmap: the site's dense id of a logged-in reader
}

// Hit is one action of a visitor. It has passed the bot filter and contains no
// personal data.
type Hit struct {
	Site    Site
	Page    string // a post id or a path, at most 200 bytes
	Kind    Kind
	Visitor Visitor
	At      time.Time // when it was received
	// Dimensions; "" if unknown. The number of stored values is bounded.
	Country  string // ISO 3166-1 alpha-2
	Device   string // desktop, mobile, tablet, other
	Referrer string // a host, such as facebook.com
	// Dimensions of a visit that starts with the hit, by site only.
	Browser, OS               string
	Channel, Source, Campaign string
	Link                      string // the code of the short link that led here
	From                      string // the page of the same site that linked to this one
	// View is a random number that identifies the view in its heartbeats; "" if it
	// sends none.
	View string
}

// Outcome is the result of counting a hit.
type Outcome struct {
	Counted bool // false: a duplicate within the window
	// New reports whether this is the visitor's first view of the page, as far as
	// the site's counting method remembers; HyperLogLog doesn't. Clicks and
	// conversions are new whenever they are counted.
	New   bool
	Total int64 // of the page and kind, including this hit
}
