package threads

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"dateline/internal/infra/message"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Count counts characters, and the UTF-8 bytes of emoji.
// https://developers.facebook.com/docs/threads/posts#limitations
//
// An emoji is a grapheme cluster: a family, a flag, a thumb with its skin tone.
// Everything else counts by its code points, so that letters with combining marks
// count more than one.
func (*Threads) Count(text string, _ network.Limits) int {
	n, state := 0, -1
	for text != "" {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if isEmoji(cluster) {
			n += len(cluster)
		} else {
			n += utf8.RuneCountInString(cluster)
		}
	}
	return n
}

// isEmoji reports whether a grapheme cluster is shown in color: it has Unicode's
// property Emoji_Presentation, or variation selector 16 or the keycap. All
// pictographs beyond the Basic Multilingual Plane count as emoji, even in text
// style: counting too much costs a few characters, counting too little the post.
// https://unicode.org/Public/16.0.0/ucd/emoji/emoji-data.txt
func isEmoji(cluster string) bool {
	for _, r := range cluster {
		if r == 0xFE0F || r == 0x20E3 || r >= 0x1F000 && r <= 0x1FAFF || isBMPEmoji(r) {
			return true
		}
	}
	return false
}

// isBMPEmoji reports whether a character of the Basic Multilingual Plane has
// Emoji_Presentation.
func isBMPEmoji(r rune) bool {
	switch r {
	case 0x23F0, 0x23F3, 0x267F, 0x2693, 0x26A1, 0x26CE, 0x26D4, 0x26EA, 0x26F5, 0x26FA, 0x26FD,
		0x2705, 0x2728, 0x274C, 0x274E, 0x2757, 0x27B0, 0x27BF, 0x2B50, 0x2B55:
		return true
	}
	switch {
	case r >= 0x231A && r <= 0x231B, r >= 0x23E9 && r <= 0x23EC, r >= 0x25FD && r <= 0x25FE,
		r >= 0x2614 && r <= 0x2615, r >= 0x2648 && r <= 0x2653, r >= 0x26AA && r <= 0x26AB,
		r >= 0x26BD && r <= 0x26BE, r >= 0x26C4 && r <= 0x26C5, r >= 0x26F2 && r <= 0x26F3,
		r >= 0x270A && r <= 0x270B, r >= 0x2753 && r <= 0x2755, r >= 0x2795 && r <= 0x2797,
		r >= 0x2B1B && r <= 0x2B1C:
		return true
	default:
		return false
	}
}

// Check returns what Threads would refuse.
func (t *Threads) Check(content network.Content, limits network.Limits) []network.Violation {
	problems := rules.Check(title, content, limits, t.Count(content.Text, limits))
	var links []string
	for _, e := range entities(content.Text) {
		if e.Kind == network.SpanLink && !slices.Contains(links, e.Target) {
			links = append(links, e.Target) // repeated addresses are not counted
		}
	}
	if limit := limits.MaxLinks; limit > 0 && len(links) > limit {
		problems = append(problems,
			network.NewViolation("content", "too_many_links", "The text has {used} links; Threads allows {limit}.",
				len(links), limit))
	}
	options, _ := content.Options.(PostOptions)
	return append(problems, options.problems(content, limits)...)
}

// entities returns links (with a scheme or with www), mentions, and the topic:
// Threads uses only the first hashtag.
// https://developers.facebook.com/docs/threads/create-posts/topic-tags
func entities(text string) []network.Span {
	var found []network.Span
	topic := false
	before := ' '
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		span := network.Span{Start: at}
		if !rules.IsWordRune(before) {
			switch length := linkLength(text[at:]); {
			case length > 0:
				span.Kind, span.End = network.SpanLink, at+length
				span.Target = text[at:span.End]
				if !strings.Contains(span.Target, "://") {
					span.Target = "https://" + span.Target
				}
			case r == '@':
				span.Kind, span.End = network.SpanMention, at+1+nameLength(text[at+1:])
				span.Target = text[at+1 : span.End]
			case r == '#' && !topic:
				span.Kind, span.End = network.SpanTag, at+1+tagLength(text[at+1:])
				span.Target = text[at+1 : span.End]
				topic = span.Target != ""
			}
		}
		if span.Target == "" {
			before = r
			at += size
			continue
		}
		found = append(found, span)
		before, _ = utf8.DecodeLastRuneInString(text[:span.End])
		at = span.End
	}
	return found
}

// linkLength returns the length of the link at the start of text; 0: none.
func linkLength(text string) int {
	prefix := 0
	for _, p := range []string{"https://", "http://", "www."} {
		if len(text) > len(p) && strings.EqualFold(text[:len(p)], p) {
			prefix = len(p)
			break
		}
	}
	if prefix == 0 {
		return 0
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`<>"`, r) })
	if end < 0 {
		end = len(text)
	}
	link := strings.TrimRight(text[:end], `.,;:!?'*_~`)
	if strings.HasSuffix(link, ")") && strings.Count(link, "(") < strings.Count(link, ")") {
		link = strings.TrimRight(link[:len(link)-1], `.,;:!?'`)
	}
	if len(link) <= prefix {
		return 0
	}
	return len(link)
}

func nameLength(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		end = len(text)
	}
	return len(strings.TrimRight(text[:end], "."))
}

func tagLength(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool { return !rules.IsWordRune(r) })
	if end < 0 {
		end = len(text)
	}
	return end
}

// Preview shows a post as in the feed: without attachments, the first link is
// shown as a card.
func (*Threads) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: content.Text, Spans: entities(content.Text)}
	tags := 0
	for _, s := range p.Spans {
		if s.Kind == network.SpanLink && p.Card == "" && len(content.Media) == 0 {
			p.Card = s.Target
		}
	}
	for _, field := range strings.Fields(content.Text) {
		if len(field) > 1 && field[0] == '#' && tagLength(field[1:]) > 0 {
			tags++
		}
	}
	if tags > 1 {
		p.Notes = append(p.Notes,
			message.New("first_hashtag_is_topic",
				"Threads uses only the first hashtag as the topic; the others remain plain text."))
	}
	for i, m := range content.Media {
		if note, ok := container.ScalingNote(title, i+1, m); ok {
			p.Notes = append(p.Notes, note)
		}
	}
	return p
}
