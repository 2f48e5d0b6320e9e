package x

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/network"
)

// shownPath is how many characters of an address X shows after the host.
const shownPath = 15

// Preview shows links as X shortens them, and the card of the last one where
// there is no attachment.
func (x *X) Preview(content network.Content, limits network.Limits) network.Preview {
	var p network.Preview
	var text strings.Builder
	runes, at := []rune(norm.NFC.String(content.Text)), 0
	weight, fold := 0, 0
	// heavier adds to the weight and marks where X folds the text.
	heavier := func(by int) {
		weight += by
		if weight > x.options.MaxCharacters && fold == 0 {
			fold = text.Len()
		}
	}
	for _, l := range append(links(runes), link{start: len(runes), end: len(runes)}) {
		if l.start < at {
			continue
		}
		p.Spans = append(p.Spans, tags(string(runes[at:l.start]), text.Len(), before(runes, at))...)
		for plain := runes[at:l.start]; len(plain) > 0; {
			n := max(x.emojis.length(plain), 1)
			heavier(x.weigh(plain[:n]))
			text.WriteString(string(plain[:n]))
			plain = plain[n:]
		}
		at = min(l.end, len(runes))
		if l.address == "" {
			break
		}
		start := text.Len()
		heavier(limits.CharactersPerURL)
		text.WriteString(shownAddress(l))
		p.Spans = append(p.Spans, network.Span{Start: start, End: text.Len(), Kind: network.SpanLink, Target: target(l)})
		if len(content.Media) == 0 {
			p.Card = target(l)
		}
	}
	p.Text, p.FoldAt = text.String(), fold
	if slices.ContainsFunc(p.Spans, func(s network.Span) bool { return s.Kind == network.SpanLink }) {
		p.Notes = append(p.Notes, "X leads every link through t.co.")
	}
	if content.Reply {
		p.Notes = append(p.Notes, "On self-serve plans X may refuse to let an app answer a post, and the thread would end there.")
	}
	return p
}

func before(runes []rune, at int) rune {
	if at == 0 {
		return ' '
	}
	return runes[at-1]
}

func target(l link) string {
	if l.scheme {
		return l.address
	}
	return "http://" + l.address
}

// shownAddress is X's display_url: without scheme and www, and cut off a little
// after the host.
func shownAddress(l link) string {
	u, err := url.Parse(target(l))
	if err != nil || u.Host == "" {
		return l.address
	}
	host := strings.TrimPrefix(u.Host, "www.")
	_, rest, _ := strings.Cut(target(l), u.Host)
	if runes := []rune(rest); len(runes) > shownPath {
		rest = string(runes[:shownPath]) + "…"
	}
	return host + strings.TrimSuffix(rest, "/")
}
