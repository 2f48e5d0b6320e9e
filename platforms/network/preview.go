package network

import "dateline/internal/infra/message"

// Previewer renders content the way the network shows it, for networks that
// show more than the plain text.
type Previewer interface {
	// Preview does no I/O.
	Preview(content Content, limits Limits) Preview
}

// ContentLimiter is implemented by networks whose limit of characters depends on the
// content: a caption or a comment is shorter than a post.
type ContentLimiter interface {
	// LimitsOf returns the limits for a content, of those of an account. It does no I/O.
	LimitsOf(content Content, limits Limits) Limits
}

// LimitsOf returns the limits for a content.
func LimitsOf(n Network, content Content, limits Limits) Limits {
	if l, ok := n.(ContentLimiter); ok {
		return l.LimitsOf(content, limits)
	}
	return limits
}

// Preview is a post as the network shows it.
type Preview struct {
	Text   string // as readers see it: rewritten, with shortened links
	Spans  []Span // clickable parts of Text, in order, not overlapping
	FoldAt int    // byte of Text after which readers have to expand the post; 0: all is shown
	Card   string // address whose link card is shown; empty: none
	Notes  message.Messages
}

// Span is a byte range of a Preview's text.
type Span struct {
	Start, End int
	Kind       SpanKind
	Target     string // the address of a link, the name of a mention or tag
}

// SpanKind is the type of a Span.
type SpanKind string

// The kinds of span.
const (
	SpanLink    SpanKind = "link"
	SpanMention SpanKind = "mention"
	SpanTag     SpanKind = "tag"
)

// Pricer is a Network that charges for posts.
type Pricer interface {
	// Price returns the cost of publishing the content once. It does no I/O.
	Price(content Content) Price
}

// Price is an amount in millionths of a US dollar.
type Price struct {
	MicroUSD int64
	Reasons  message.Messages
}

// Note is a sentence about a post, with its code and values.
type Note = message.Message

// NewNote returns a Note with a filled template, see message.Format.
func NewNote(code, template string, args ...any) Note {
	return message.New(code, template, args...)
}
