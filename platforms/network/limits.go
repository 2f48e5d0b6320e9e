package network

// Limits is what a network allows one account right now.
type Limits struct {
	AllowedBy         string   // who set them, for messages: the instance's host or the network's name
	MaxCharacters     int      // counted as the network counts
	CharactersPerURL  int      // what one link costs; 0: its own length
	MaxMedia          int      // attachments per post
	MIMETypes         []string // accepted types; empty: any
	MaxImageBytes     int64
	MaxImagePixels    int64 // width times height
	MaxVideoBytes     int64 // audio too
	MaxAltText        int
	MixedMedia        bool // images and video may stand in one post
	SupportsReply     bool
	IdempotencyWindow int // seconds that the network remembers a key; 0: it has none
	Quotas            []Quota
}

// Problem is one reason why a network would refuse content. Code is stable,
// Message is for people and complete without context.
type Problem struct {
	Field   string // content, attachments, attachments[0] …
	Code    string // too_long, empty, too_many_attachments, unsupported_type …
	Message string
}
