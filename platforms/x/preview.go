package x

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
)

// shownPath is the number of characters of a path that X shows.
const shownPath = 15

// Preview shows links the way X shortens them, and the card of the last one if
// there is no attachment.
func (x *X) Preview(content network.Content, limits network.Limits) network.Preview {
	var p network.Preview
	var text strings.Builder
	runes, at := []rune(norm.NFC.String(content.Text)), 0
	weight, fold := 0, 0
	// heavier adds to the weight and sets the position at which X folds the text.
	heavier := func(by int) {
		weight += by
		if weight > x.options.MaxCharacters && fold == 0 {
			fold = text.Len()
		}
	}
	// plain copies the text up to the character at end.
	plain := func(end int) {
		for at < end {
			n := max(x.emojis.length(runes[at:end]), 1)
			heavier(x.weight(runes[at : at+n]))
			text.WriteString(string(runes[at : at+n]))
			at += n
		}
	}
	for _, e := range clickable(runes) {
		plain(e.start)
		start := text.Len()
		span := network.Span{Start: start, Kind: e.kind}
		if e.kind == network.SpanLink {
			heavier(limits.CharactersPerURL)
			text.WriteString(shownAddress(e.link))
			at, span.Target = e.end, target(e.link)
			if len(content.Media) == 0 {
				p.Card = span.Target
			}
		} else {
			plain(e.end)
			span.Target = string(runes[e.start+1 : e.end])
		}
		span.End = text.Len()
		p.Spans = append(p.Spans, span)
	}
	plain(len(runes))
	p.Text, p.FoldAt = text.String(), fold
	if slices.ContainsFunc(p.Spans, func(s network.Span) bool { return s.Kind == network.SpanLink }) {
		p.Notes = append(p.Notes, message.New("links_shortened", "X shortens every link to t.co."))
	}
	if content.Reply {
		p.Notes = append(p.Notes,
			message.New("replies_may_be_refused",
				"On self-serve plans, X may refuse replies by an app, and the thread would end there."))
	}
	return p
}

// clickableSpan is a link or a tag.
type clickableSpan struct {
	start, end int
	kind       network.SpanKind
	link       link
}

// clickable returns the links and tags of text in order. Of two that overlap, the
// first is kept (js/src/removeOverlappingEntities.js).
func clickable(text []rune) []clickableSpan {
	var all []clickableSpan
	for _, l := range links(text) {
		all = append(all, clickableSpan{start: l.start, end: min(l.end, len(text)), kind: network.SpanLink, link: l})
	}
	for _, t := range tags(text) {
		all = append(all, clickableSpan{start: t.start, end: t.end, kind: t.kind})
	}
	slices.SortFunc(all, func(a, b clickableSpan) int { return a.start - b.start })
	end := 0
	return slices.DeleteFunc(all, func(e clickableSpan) bool {
		if e.start < end {
			return true
		}
		end = e.end
		return false
	})
}

func target(l link) string {
	if l.scheme {
		return l.address
	}
	return "http://" + l.address
}

// shownAddress returns X's display_url: without scheme and www, and truncated
// shortly after the host.
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
