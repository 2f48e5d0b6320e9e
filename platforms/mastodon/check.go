package mastodon

import (
	"strings"

	"github.com/rivo/uniseg"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// blank contains what Mastodon strips from both ends of a text.
const blank = "\x00\t\n\v\f\r "

// Count counts the way app/validators/status_length_validator.rb does: grapheme
// clusters, every link at a fixed length, and only the user name of a mention.
// Leading and trailing whitespace does not count, because Mastodon strips it
// first.
func (m *Mastodon) Count(text string, limits network.Limits) int {
	text = strings.Trim(text, blank)
	found := entities(text)
	if len(found) == 0 {
		return uniseg.GraphemeClusterCount(text)
	}
	var counted strings.Builder
	at := 0
	for _, e := range found {
		counted.WriteString(text[at:e.start])
		switch {
		case !e.url:
			counted.WriteString(text[e.start:e.local])
		case limits.CharactersPerURL > 0:
			counted.WriteString(strings.Repeat("x", limits.CharactersPerURL))
		default:
			counted.WriteString(text[e.start:e.end])
		}
		at = e.end
	}
	counted.WriteString(text[at:])
	return uniseg.GraphemeClusterCount(counted.String())
}

// Check returns what the instance would refuse.
func (m *Mastodon) Check(content network.Content, limits network.Limits) []network.Violation {
	return rules.Check("Mastodon", content, limits, m.Count(content.Text, limits))
}
