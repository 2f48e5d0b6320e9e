package network

import (
	"time"

	"dateline/internal/infra/message"
)

// Limits is what a network currently allows one account.
type Limits struct {
	AllowedBy        string   // who sets the limits, for messages: the instance's host or the network's name
	MaxCharacters    int      // counted the way the network counts
	CharactersPerURL int      // length that every link counts as; 0: its own length
	MaxMedia         int      // attachments per post
	MIMETypes        []string // accepted types; empty: any
	MaxImageBytes    int64
	MaxImagePixels   int64         // width times height
	MaxVideoBytes    int64         // also for audio
	MaxImageWidth    int           // pixels; 0: any
	MaxImageHeight   int           // pixels; 0: any
	MinImageRatio    float64       // width divided by height; 0: any
	MaxImageRatio    float64       // width divided by height; 0: any
	MinVideoDuration time.Duration // 0: any
	MaxVideoDuration time.Duration // 0: any
	Video            VideoLimits
	MaxDocumentBytes int64
	MaxDocumentPages int
	MaxAltText       int // characters; 0: any
	MaxLinks         int // links in the text; 0: any
	MinMedia         int // attachments that every post needs
	Poll             PollLimits
	Visibilities     []string // that the account can choose; empty: the network has none, or all
	MixedMedia       bool     // one post can contain images and video
	FetchesMedia     bool     // the network fetches attachments from a public address
	SupportsReply    bool
	AppliesMarkdown  bool     // to every text
	Ignores          []string // options that the server is known, or likely, to leave out
	RejectsRepeats   bool     // it rejects a text that the account has posted before
	// IdempotencyWindow is the number of seconds in which a second call with the
	// same key and content publishes nothing: the network returns the first post,
	// or Duplicate with Error.Existing. 0: the network has no idempotency keys.
	IdempotencyWindow int
	// IdempotentPostsOnly means that IdempotencyWindow applies to posts, but not
	// to replies.
	IdempotentPostsOnly bool
	// FinishesWithin is how long after the connection of a call is gone the network may
	// still act on it: servers do not notice, or finish what they have begun. A search
	// that finds nothing before then proves nothing. 0: a late call is harmless, because
	// the network itself has at most one post per call, or searches never prove absence.
	FinishesWithin time.Duration
	// RepeatsHarmlessly means that sending the same Submission.Handle again makes no second
	// post. A post that is provably absent is then sent again as often as others are
	// retried; elsewhere a person decides after two lost calls.
	RepeatsHarmlessly bool
	Quotas            []Quota
}

// UsualFinish is Limits.FinishesWithin of networks that do not say how long they work on a
// call: twice the 60 seconds after which proxies usually close a request (nginx,
// proxy_read_timeout).
const UsualFinish = 2 * time.Minute

// VideoLimits apply to what a video consists of. Zero values mean any.
type VideoLimits struct {
	MinFrameRate float64 // frames per second
	MaxFrameRate float64 // whole frames
	MaxWidth     int     // pixels as shown
	MaxPixels    int64   // width times height
	Codecs       []string
	AudioCodecs  []string
	MaxAudioRate int    // samples per second
	Chroma       string // sampling of colors: 420
}

// Violation is one reason why a network would refuse content. Code is stable;
// Message is for users and complete without context.
type Violation struct {
	Field   string // content, attachments, attachments[0] …
	Code    string // too_long, empty, too_many_attachments, unsupported_type …
	Message string
	Params  message.Params
}

// Bytes is the size of a file in a Violation.
type Bytes = message.Bytes

// NewViolation returns a Violation with a filled template, see message.Format.
func NewViolation(field, code, template string, args ...any) Violation {
	text, params := message.Format(template, args...)
	return Violation{Field: field, Code: code, Message: text, Params: params}
}

// Scope is who shares a rate limit.
type Scope string

// The scopes. An app is Dateline's registration at a network or instance: all
// accounts that are connected through it share its limits.
const (
	ScopeAccount Scope = "account"
	ScopeApp     Scope = "app"
)

// CallKind is a kind of call that rate limits count.
type CallKind string

// The kinds of calls. A quota without a cost for replies counts them as posts.
const (
	CallPublish CallKind = "publish"
	CallReply   CallKind = "reply"
	CallUpload  CallKind = "upload"
	CallMeasure CallKind = "measure" // reads metrics; see Measurer
)

// Quota is a rate limit as the network documents it. Every bucket that a
// RateStatus names has one, so that the buckets of a call are known before it.
type Quota struct {
	Bucket   string // stable, lowercase
	Scope    Scope
	Requests int // per Per; 0: unknown until the network reports it
	Per      time.Duration
	// FixedWindow means that the count restarts at the multiples of Per since
	// 1970 (UTC). Otherwise it covers a sliding window.
	FixedWindow bool
	// Default means that Requests is what most instances allow, while each
	// instance sets and reports its own. Forecasts use it until then; no post
	// waits for it.
	Default bool
	Costs   map[CallKind]int // cost of one call; absent: the call is not counted
}

// Cost returns what one call takes from the bucket.
func (q Quota) Cost(kind CallKind) int {
	if cost, ok := q.Costs[kind]; ok || kind != CallReply {
		return cost
	}
	return q.Costs[CallPublish]
}

// RateStatus is the state of a bucket as the network reported it with a
// response.
type RateStatus struct {
	Bucket    string
	Scope     Scope
	Limit     int           // in a whole window
	Remaining int           // after this call
	ResetAt   time.Time     // when the window ends, by the local clock; zero: not reported
	Per       time.Duration // length of the window; 0: not reported
}
