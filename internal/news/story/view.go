package story

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/article"
)

// Order is the order of a list of stories.
type Order string

// The orders.
const (
	Latest Order = "latest" // by the time of the last article
	Rising Order = "rising" // by the number of owners that joined lately
)

// RisingPeriod is the time in which new owners make a story rise.
const RisingPeriod = 3 * time.Hour

// Coverage says whether the workspace's own sites have reported a story.
type Coverage string

// Coverage of a filter; empty: any.
const (
	Covered   Coverage = "covered"
	Uncovered Coverage = "uncovered"
)

// Filter selects stories. Zero values select all.
type Filter struct {
	WorkspaceID uuid.UUID
	Order       Order
	Language    string
	From, To    time.Time // of the last article
	MinOwners   int
	Coverage    Coverage
	SeenSince   time.Time // of the first article that the crawler found
	Unalerted   bool      // without an alert in the workspace
	BeforeTime  time.Time // only older ones, in the order Latest
	BeforeID    uuid.UUID
	Limit       int
}

// Summary is a story as a workspace sees it: with the articles of its sources only.
type Summary struct {
	ID          uuid.UUID
	Language    string
	Headline    Headline
	IsPinned    bool      // an editor chose the headline
	FirstSeenAt time.Time // when the crawler found the first article
	FirstAt     time.Time // the earliest and the latest stated time
	LastAt      time.Time
	Articles    int // with copies
	Copies      int // near-duplicates of an earlier article
	Owners      int // with an article that is not a copy
	NewOwners   int // whose first article was found in the last RisingPeriod
	OwnArticles int // of the workspace's sites
	FollowsID   *uuid.UUID
	Alert       AlertState // empty: none
	AlertPostID *uuid.UUID // the draft of the alert
}

// Headline is the article whose title stands for a story.
type Headline struct {
	ArticleID uuid.UUID
	Title     string
	URL       string
	Domain    string
	ImageURL  string
}

// Entry is an article in the timeline of a story, the earliest seen first.
type Entry struct {
	ArticleID   uuid.UUID
	GroupID     uuid.UUID
	Title       string
	URL         string
	Domain      string
	Owner       string
	Lead        string
	Body        string // empty if the publisher forbids showing text
	FirstSeenAt time.Time
	PublishedAt *time.Time
	DateOnly    bool
	Similarity  float64
	IsCopy      bool
	IsOwn       bool
	IsPinned    bool
	Live        []article.LiveEntry // the newest entries of a live blog
	Added       []string            // sentences with something that no earlier article has
}

// Correction is a later version of an article that changed its title, lead or body.
type Correction struct {
	ArticleID     uuid.UUID
	Version       int64
	SeenAt        time.Time
	Changed       []string
	Title         string
	PreviousTitle string
}

// Post is a post of the workspace that links to an article of the story.
type Post struct {
	ID        uuid.UUID
	Content   string
	Status    string
	At        *time.Time // when it was or will be published
	ArticleID uuid.UUID
}

// Readers are the readers of the workspace's own articles of a story.
type Readers struct {
	Views    int64
	Visitors int64 // summed over pages
}

// Page is all about a story.
type Page struct {
	Summary
	Entries     []Entry
	Truncated   bool // there are more articles
	Corrections []Correction
	Posts       []Post
	Readers     Readers
	Related     []Related
	Events      []Event
}

// Related is an earlier story that this one follows up, or a later one that follows it.
type Related struct {
	ID         uuid.UUID
	IsEarlier  bool
	Title      string
	LastAt     time.Time
	Similarity float64
}
