package network

// Previewer shows what a network makes of content, where that is more than its
// words.
type Previewer interface {
	// Preview does no input or output.
	Preview(content Content, limits Limits) Preview
}

// Preview is a post as the network shows it.
type Preview struct {
	Text   string // as people read it there: rewritten, shortened links and all
	Spans  []Span // what of Text can be clicked, in order, not overlapping
	FoldAt int    // byte of Text after which people must ask for more; 0: all is shown
	Card   string // address whose card is shown; empty: none
	Notes  []string
}

// Span is a stretch of a Preview's text, in bytes.
type Span struct {
	Start, End int
	Kind       SpanKind
	Target     string // the address of a link, the name of a mention or tag
}

// SpanKind is what a Span is.
type SpanKind string

// The kinds of span.
const (
	SpanLink    SpanKind = "link"
	SpanMention SpanKind = "mention"
	SpanTag     SpanKind = "tag"
)

// Pricer is a Network that bills for posts.
type Pricer interface {
	// Price is what publishing the content once costs. It does no input or output.
	Price(content Content) Price
}

// Price is an amount of US dollars in millionths.
type Price struct {
	MicroUSD int64
	Reason   string // a sentence for people
}
