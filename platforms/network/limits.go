package network

import "time"

// Limits is what a network allows one account right now.
type Limits struct {
	AllowedBy        string   // who set them, for messages: the instance's host or the network's name
	MaxCharacters    int      // counted as the network counts
	CharactersPerURL int      // what one link costs; 0: its own length
	MaxMedia         int      // attachments per post
	MIMETypes        []string // accepted types; empty: any
	MaxImageBytes    int64
	MaxImagePixels   int64 // width times height
	MaxVideoBytes    int64 // audio too
	MaxImageWidth    int   // pixels, as the next; 0: any
	MaxImageHeight   int
	MinImageRatio    float64 // width over height, as the next; 0: any
	MaxImageRatio    float64
	MinVideoDuration time.Duration // as the next; 0: any
	MaxVideoDuration time.Duration
	MaxAltText       int  // characters; 0: any
	MaxLinks         int  // in the text; 0: any
	MinMedia         int  // attachments that every post needs
	MixedMedia       bool // images and video may stand in one post
	FetchesMedia     bool // the network fetches attachments itself, from an address that it can reach
	SupportsReply    bool
	// IdempotencyWindow is for how many seconds a second call with the same key
	// and content publishes nothing: the network answers with the first post, or
	// Duplicate with Error.Earlier. 0: it has no such memory.
	IdempotencyWindow int
	// IdempotentPostsOnly: IdempotencyWindow holds for posts, and not for replies.
	IdempotentPostsOnly bool
	Quotas              []Quota
}

// Violation is one reason why a network would refuse content. Code is stable,
// Message is for people and complete without context.
type Violation struct {
	Field   string // content, attachments, attachments[0] …
	Code    string // too_long, empty, too_many_attachments, unsupported_type …
	Message string
}
