// Package rule creates posts from new articles, as members have defined: which articles,
// with which text, on which accounts, and when.
//
// A decision is the outcome of one rule for one article. Decide is a pure function of
// the rule, the article and what the rule has done before. The live engine calls it in
// the transaction that stores the decision, a preview calls it over the articles of the
// last days, so that both decide alike.
package rule

import (
	"time"

	"github.com/google/uuid"
)

// Status says whether a rule evaluates articles.
type Status string

// The states of a rule.
const (
	Active Status = "active"
	Paused Status = "paused"
)

// PauseReason says why a rule is paused.
type PauseReason string

// Reasons of a pause. All but PausedByMember are decisions of Dateline.
const (
	PausedByMember PauseReason = "member"
	PausedTooMany  PauseReason = "too_many_articles" // far more articles in an hour than it may post
	PausedFailures PauseReason = "failures"          // several posts in a row could not be created
	PausedNoSearch PauseReason = "saved_search_deleted"
)

const (
	// maxFailures is the number of failures in a row that pauses a rule.
	maxFailures = 5
	// An hour with so many times the articles that may be posted pauses a rule.
	burstFactor   = 5
	minBurstLimit = 20
	maxHashtags   = 5
	maxVariants   = 10 // of a template
	// immediateDelay is the time that is left to create a post.
	immediateDelay = 10 * time.Second
)

// Rule creates posts from articles.
type Rule struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID // who created it; its posts are theirs
	Name        string
	Definition
	Status      Status
	PauseReason PauseReason // empty while it is active
	PauseError  string      // the last failure, if failures paused it
	PausedAt    *time.Time
	ActiveSince time.Time // articles that were stored before are not evaluated
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time

	PostsToday     int        // posts of the last 24 hours
	LastDecisionAt *time.Time // nil: none yet
	AttentionCount int        // decisions that need attention
}

// Definition is what a member defines.
type Definition struct {
	Trigger    Trigger           `json:"trigger"`
	Conditions Conditions        `json:"conditions"`
	Templates  map[string]string `json:"templates"` // by network; DefaultTemplate for all others
	// Variants are other wordings of the template with the same key, which reposts use
	// in turn.
	Variants   map[string][]string `json:"variants,omitempty"`
	Hashtags   map[string]string   `json:"hashtags,omitempty"` // section or tag of an article to hashtags
	Image      Image               `json:"image"`
	UTM        *UTM                `json:"utm,omitempty"` // nil: addresses stay as they are
	TrackLinks bool                `json:"track_links"`
	AccountIDs []uuid.UUID         `json:"account_ids,omitempty"`
	GroupID    *uuid.UUID          `json:"group_id,omitempty"` // in the place of accounts
	Timing     Timing              `json:"timing"`
	Mode       Mode                `json:"mode"`
	MaxPerHour int                 `json:"max_per_hour"`
	MaxPerDay  int                 `json:"max_per_day"`
}

// DefaultTemplate is the key of the template for networks without their own.
const DefaultTemplate = "default"

// Trigger selects articles. Values of one field are alternatives; all given fields must
// match. The zero trigger selects every article of the workspace.
type Trigger struct {
	Domains       []string   `json:"domains,omitempty"`
	Sections      []string   `json:"sections,omitempty"`
	Tags          []string   `json:"tags,omitempty"`
	Authors       []string   `json:"authors,omitempty"`
	SavedSearchID *uuid.UUID `json:"saved_search_id,omitempty"`
	OwnSites      bool       `json:"own_sites,omitempty"` // only articles on the workspace's sites
	Trending      *Trending  `json:"trending,omitempty"`
	Evergreen     *Evergreen `json:"evergreen,omitempty"`
}

// Trending selects articles of the workspace's sites once they have a number of views,
// in the place of new articles.
type Trending struct {
	MinViews int `json:"min_views"`
	Hours    int `json:"hours"` // in which the views are counted, up to now
}

// Evergreen selects articles of the workspace's sites that are still being read, to post
// them again.
type Evergreen struct {
	MinViews   int `json:"min_views"`
	Days       int `json:"days"`         // in which the views are counted, up to yesterday (UTC)
	MinAgeDays int `json:"min_age_days"` // since the publication
	RepeatDays int `json:"repeat_days"`  // since the last post about the article, of anyone in the workspace
}

// byViews reports whether articles are selected by their readers.
func (t Trigger) byViews() bool { return t.Trending != nil || t.Evergreen != nil }

// Conditions are requirements for selected articles. An article that does not meet them
// is skipped, with the reason.
type Conditions struct {
	Languages   []string `json:"languages,omitempty"` // ISO 639-1
	MinWords    int      `json:"min_words,omitempty"`
	MaxAgeHours int      `json:"max_age_hours"`
	// OncePerStory skips articles about a story of which the rule has posted an article.
	// It does not apply to evergreen rules.
	OncePerStory bool `json:"once_per_story,omitempty"`
}

// Image says which image a post has.
type Image string

// The choices of an image.
const (
	NoImage      Image = "none"
	ArticleImage Image = "article" // the article's; none if it cannot be fetched
)

// UTM are the campaign parameters that are added to an article's address. An empty
// source is the name of the network.
type UTM struct {
	Source   string `json:"source,omitempty"`
	Medium   string `json:"medium,omitempty"`
	Campaign string `json:"campaign,omitempty"`
}

// Mode says what happens to a created post.
type Mode string

// The modes.
const (
	CreateDraft   Mode = "draft"
	NeedsApproval Mode = "approval"
	Automatic     Mode = "automatic"
)

// When says when a post is published.
type When string

// The timings.
const (
	Immediately When = "now"
	Delayed     When = "delay"
	NextFree    When = "next_free" // the next free slot of the group's queue
)

// Timing is when posts are published. Hours restrict Immediately and Delayed.
type Timing struct {
	When         When   `json:"when"`
	DelayMinutes int    `json:"delay_minutes,omitempty"`
	Hours        *Hours `json:"hours,omitempty"` // nil: at any time
}

// Hours are the hours at which posts are published. A post that is due outside of them
// is published when they begin.
type Hours struct {
	From     string `json:"from"` // on the wall clock, like 07:30
	To       string `json:"to"`   // exclusive; 24:00 is the end of the day
	Weekdays []int  `json:"weekdays,omitempty"`
	TimeZone string `json:"time_zone"`
}

// Article is what rules know of an article.
type Article struct {
	ID          uuid.UUID
	GroupID     uuid.UUID  // shared by near-duplicates across sites
	StoryID     *uuid.UUID // shared by articles about the same event; nil: not placed yet
	Version     int64
	Domain      string
	URL         string
	Title       string
	Lead        string
	Section     string
	Language    string
	ImageURL    string
	Authors     []string
	Tags        []string
	Words       int
	PublishedAt *time.Time
	DateOnly    bool // PublishedAt has no time of day
	IsWithdrawn bool // its page was removed, or asks not to be listed
}

// StoredAt returns when the article was stored, which is part of its id (RFC 9562,
// version 7).
func (a Article) StoredAt() time.Time {
	ms := int64(a.ID[0])<<40 | int64(a.ID[1])<<32 | int64(a.ID[2])<<24 | int64(a.ID[3])<<16 | int64(a.ID[4])<<8 |
		int64(a.ID[5])
	return time.UnixMilli(ms).UTC()
}

// Outcome is the state of a decision.
type Outcome string

// The outcomes. Reserved becomes Created or Failed.
const (
	Skipped  Outcome = "skipped"
	Reserved Outcome = "reserved" // its post is being created
	Created  Outcome = "created"
	Failed   Outcome = "failed"
)

// Reason is why a decision has its outcome.
type Reason string

// The reasons. NotSelected is never stored.
const (
	Matched        Reason = "matched"
	NotSelected    Reason = "not_selected"
	WrongLanguage  Reason = "language"
	TooShort       Reason = "too_short"
	TooOld         Reason = "too_old"
	NoDate         Reason = "no_date"
	Withdrawn      Reason = "withdrawn"
	DuplicateStory Reason = "duplicate_story" // another article of the group, or of the story, has a post
	HourlyCap      Reason = "hourly_cap"
	DailyCap       Reason = "daily_cap"
	TooMany        Reason = "too_many_articles"
	RulePaused     Reason = "rule_paused"
	NoAccounts     Reason = "no_accounts"
	InvalidPost    Reason = "invalid_post"
	RecentlyPosted Reason = "recently_posted" // too recently to be posted again
	NoNewText      Reason = "no_new_text"     // its networks reject texts that the accounts have posted before
)

// Params are the values that explain a reason.
type Params map[string]any

// Attention says why a person should look at the post of a decision.
type Attention string

// The reasons for attention.
const (
	// A member has changed or approved the post, so that it was not updated
	CorrectedEdited    Attention = "corrected_edited"
	CorrectedPublished Attention = "corrected_published" // the post is published
	WithdrawnPending   Attention = "withdrawn_pending"   // the post is not scheduled any more
	WithdrawnPublished Attention = "withdrawn_published"
)

// Decision is the outcome of a rule for an article.
type Decision struct {
	ID             uuid.UUID
	RuleID         uuid.UUID
	WorkspaceID    uuid.UUID
	ArticleID      uuid.UUID
	GroupID        uuid.UUID
	ArticleVersion int64 // that the post was last compared with
	Round          int   // 0, or the number of the post about the article by an evergreen rule, from 1
	Title          string
	URL            string
	Outcome        Outcome
	Reason         Reason
	Params         Params
	PostID         *uuid.UUID // chosen when it was reserved: retries create the same post
	PostRevision   int64      // as the rule wrote it; any other was written by a person
	Variant        int        // of the templates
	TextHash       []byte     // of the texts as the rule rendered them
	Attention      Attention
	DecidedAt      time.Time
	Pauses         PauseReason // not stored: the decision pauses the rule
}
