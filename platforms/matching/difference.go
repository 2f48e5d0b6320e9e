package matching

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
)

// Comparison collects what a network made otherwise than a submission asked. An
// adapter calls a method for each property that the network's response shows, and
// none for the others: what is not known is no difference. The zero value is ready.
//
// A network may change how it writes a value, so that every method compares what
// readers would notice: see Text.
type Comparison struct{ found message.Messages }

// Differences returns what was found.
func (c *Comparison) Differences() message.Messages { return c.found }

func (c *Comparison) add(m message.Message) { c.found = append(c.found, m) }

// Text compares the text that was sent with the one that is shown, both as plain text.
// Everything is ignored that Comparer.Compare ignores, among it white space, Markdown
// and the form of links.
func (c *Comparison) Text(asked, shown string) { c.compareText(asked, shown, canonical) }

// Wording compares the letters, digits and symbols outside of links, for servers that
// apply Markdown or replace links.
func (c *Comparison) Wording(asked, shown string) { c.compareText(asked, shown, wording) }

func (c *Comparison) compareText(asked, shown string, form func(string) string) {
	a, b := form(asked), form(shown)
	rest := strings.TrimRight(b, ".…")
	switch {
	case a == b:
	case rest != "" && strings.HasPrefix(a, rest):
		c.add(message.New(network.DifferenceCut, "The text is cut off there after {characters|character|characters}.",
			len([]rune(strings.TrimSpace(shown)))))
	default:
		c.add(message.New(network.DifferenceText, "The text there differs from yours."))
	}
}

// wording returns what rendering Markdown and shortening links leaves of a text.
func wording(text string) string {
	var out strings.Builder
	// Its canonical form has no white space, which ends a link.
	text = linkPattern.ReplaceAllString(markerPattern.ReplaceAllString(text, ""), "$1")
	for _, field := range addressPattern.Split(text, -1) {
		for _, r := range canonical(field) {
			if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r) {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

// Media compares the number of attachments.
func (c *Comparison) Media(asked, shown int) {
	if asked != shown {
		c.add(message.New(network.DifferenceMedia, "It has {count|attachment|attachments} there instead of {asked}.",
			shown, asked))
	}
}

// MediaIDs compares the attachments and their order by the ids that the network gave
// them.
func (c *Comparison) MediaIDs(asked, shown []string) {
	switch {
	case slices.Equal(asked, shown):
	case len(asked) != len(shown):
		c.Media(len(asked), len(shown))
	case slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(slices.Values(shown))):
		c.add(message.New(network.DifferenceMediaOrder, "The attachments are in another order there."))
	default:
		// Other ids of the same number of files: servers may copy an upload.
	}
}

// Poll compares the choices of a poll; none: no poll.
func (c *Comparison) Poll(asked, shown []string) {
	switch same := func(a, b string) bool { return canonical(a) == canonical(b) }; {
	case slices.EqualFunc(asked, shown, same):
	case len(shown) == 0:
		c.add(message.New(network.DifferenceNoPoll, "It has no poll there."))
	default:
		c.add(message.New(network.DifferencePoll, "The poll there has other choices: {choices}.",
			strings.Join(shown, ", ")))
	}
}

// Reply compares the remote ids of the posts that are replied to; empty: none.
func (c *Comparison) Reply(asked, shown string) {
	switch {
	case asked == shown:
	case shown == "":
		c.add(message.New(network.DifferenceNoReply, "It stands alone there, not as a reply."))
	default:
		c.add(message.New(network.DifferenceReply, "It replies to another post there."))
	}
}

// Visibility compares two of the network's visibilities, which order lists from the
// widest to the narrowest. An empty one is not known.
func (c *Comparison) Visibility(asked, shown string, order ...string) {
	a, b := slices.Index(order, asked), slices.Index(order, shown)
	switch {
	case asked == "" || shown == "" || asked == shown:
	case a == 0 || b > a:
		c.add(message.New(network.DifferenceVisibility, "Its visibility there is {shown} instead of {asked}.", shown,
			asked))
	default: // also one that is not listed, which may be wider
		c.add(message.New(network.DifferenceWider,
			"More people can see it there than you asked for: it is {shown} instead of {asked}.", shown, asked))
	}
}

// Warning compares a text that hides the post until a reader opens it; empty: none.
func (c *Comparison) Warning(asked, shown string) {
	switch a, b := wording(asked), wording(shown); {
	case a == b:
	case asked != "" && b == "":
		c.add(message.New(network.DifferenceNoWarning, "It is shown there without its warning “{warning}”.", asked))
	default:
		c.add(message.New(network.DifferenceWarning, "Its warning there is “{warning}”.", shown))
	}
}

// Hidden compares whether attachments or the post are covered until a reader opens
// them. Networks may cover more than was asked for.
func (c *Comparison) Hidden(asked, shown bool) {
	if asked && !shown {
		c.add(message.New(network.DifferenceNoCover, "What you marked as sensitive is shown there without a cover."))
	}
}

// Language compares ISO 639 codes without their region. An empty one is not known: a
// network may have detected the language, or not report it.
func (c *Comparison) Language(asked, shown string) {
	primary := func(tag string) string {
		tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
		tag, _, _ = strings.Cut(tag, "_")
		return tag
	}
	if asked != "" && shown != "" && primary(asked) != primary(shown) {
		c.add(message.New(network.DifferenceLanguage, "Its language there is {shown} instead of {asked}.", shown,
			asked))
	}
}

// The range of a post's time around its call: a call that is repeated with its key is
// answered with the post of the first one, for up to an hour, and clocks differ.
const (
	maxEarlier = 65 * time.Minute
	maxLater   = 5 * time.Minute
)

// Time compares the time of the post with that of the call, both by the network's clock.
// A zero time is not known.
func (c *Comparison) Time(sent, created time.Time) {
	if sent.IsZero() || created.IsZero() {
		return
	}
	if off := created.Sub(sent); off < -maxEarlier || off > maxLater {
		c.add(message.New(network.DifferenceTime, "It is dated {time_at} there.", created.UTC().Format(time.RFC3339)))
	}
}

// Option compares an option that is on or off, under its name in the post's options.
func (c *Comparison) Option(name string, asked, shown bool) {
	if asked != shown {
		c.add(message.New(network.DifferenceOption, "An option has another value there: {option}.", name))
	}
}
