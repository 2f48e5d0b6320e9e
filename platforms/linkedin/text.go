package linkedin

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// reserved are the characters that have a meaning in LinkedIn's "little" text
// format unless they follow a backslash. LinkedIn truncates a text at an
// unescaped one, without an error.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/little-text-format
const reserved = `\|{}@[]()<>#*_~`

// encodeLittleText encodes a text so that LinkedIn shows exactly what the author
// wrote: hashtags as templates, which are clickable, everything else as plain
// text.
func encodeLittleText(text string) string {
	var out strings.Builder
	at := 0
	for _, span := range rules.Spans(text) {
		if span.Kind != network.SpanTag {
			continue
		}
		escapeLittleText(&out, text[at:span.Start])
		out.WriteString(`{hashtag|\#|`)
		escapeLittleText(&out, span.Target)
		out.WriteByte('}')
		at = span.End
	}
	escapeLittleText(&out, text[at:])
	return out.String()
}

func escapeLittleText(out *strings.Builder, text string) {
	for i := range len(text) {
		if strings.IndexByte(reserved, text[i]) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(text[i])
	}
}

// decodeLittleText returns the visible text of a commentary: the inverse of
// encodeLittleText, which also decodes mentions and the short form of hashtags.
func decodeLittleText(commentary string) string {
	var out strings.Builder
	for i := 0; i < len(commentary); {
		rest := commentary[i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			out.WriteByte(rest[1])
			i += 2
			continue
		case strings.HasPrefix(rest, "{hashtag|"):
			if text, n := template(rest); n > 0 {
				out.WriteString(text)
				i += n
				continue
			}
		case strings.HasPrefix(rest, "@["):
			if name, n := mention(rest); n > 0 {
				out.WriteString(name)
				i += n
				continue
			}
		}
		out.WriteByte(rest[0])
		i++
	}
	return out.String()
}

// template parses {hashtag|\#|tag}; n is its length, 0: none.
func template(text string) (content string, n int) {
	end := indexUnescaped(text, '}')
	if end < 0 {
		return "", 0
	}
	parts := strings.SplitN(text[1:end], "|", 3)
	if len(parts) != 3 {
		return "", 0
	}
	return unescape(parts[1] + parts[2]), end + 1
}

// mention parses @[Name](urn).
func mention(text string) (name string, n int) {
	end := indexUnescaped(text, ']')
	if end < 0 || !strings.HasPrefix(text[end+1:], "(") {
		return "", 0
	}
	closing := indexUnescaped(text[end+1:], ')')
	if closing < 0 {
		return "", 0
	}
	return unescape(text[2:end]), end + 1 + closing + 1
}

// indexUnescaped returns the index of a character that is not escaped.
func indexUnescaped(text string, wanted byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case wanted:
			return i
		}
	}
	return -1
}

func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// utf16Length counts UTF-16 code units.
func utf16Length(text string) int {
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		n += utf16.RuneLen(r)
		text = text[size:]
	}
	return n
}

// Count counts UTF-16 code units of the visible text: an emoji counts two or
// more, a letter of any alphabet one, escapes nothing. LinkedIn does not document
// its unit; Buffer found it to be this one
// (https://developers.buffer.com/guides/character-limits), which is the strictest
// for ordinary text.
func (l *LinkedIn) Count(text string, _ network.Limits) int { return utf16Length(text) }

// LimitsOf implements network.ContentLimiter. A reply is a comment, which allows a
// shorter text and one image.
func (l *LinkedIn) LimitsOf(content network.Content, limits network.Limits) network.Limits {
	if content.Reply {
		limits.MaxCharacters = min(limits.MaxCharacters, l.options.Text.Comment)
		limits.AllowedBy = "LinkedIn in a comment"
		limits.MaxMedia = min(limits.MaxMedia, 1)
		limits.MIMETypes = []string{"image/jpeg", "image/png", "image/gif"}
	}
	return limits
}

// Check returns what LinkedIn would refuse.
func (l *LinkedIn) Check(content network.Content, limits network.Limits) []network.Violation {
	limits = l.LimitsOf(content, limits)
	problems := rules.Check("LinkedIn", content, limits, l.Count(content.Text, limits))
	for i, media := range content.Media {
		if least := l.options.Media.MinVideoBytes; rules.IsVideoOrAudio(media) && media.Bytes > 0 &&
			media.Bytes < least {
			problems = append(problems, network.NewViolation(fmt.Sprintf("attachments[%d]", i), "too_small",
				"Attachment {number} has {used_bytes}; LinkedIn requires at least {min_bytes}.", i+1,
				network.Bytes(media.Bytes), network.Bytes(least)))
		}
	}
	if options, ok := content.Options.(PostOptions); ok {
		problems = append(problems, options.problems(content, limits)...)
	}
	return problems
}

// Preview shows the text as in the feed.
func (l *LinkedIn) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: content.Text, Spans: rules.Spans(content.Text)}
	if content.Reply {
		p.Notes = append(p.Notes,
			network.NewNote("published_as_comment", "On {network}, this is published as a comment on the post.",
				"LinkedIn"))
		for _, media := range content.Media {
			if media.AltText != "" {
				p.Notes = append(p.Notes,
					network.NewNote("no_comment_image_descriptions",
						"LinkedIn does not support descriptions of images in comments."))
				break
			}
		}
		return p
	}
	p.FoldAt = rules.FoldOffset(content.Text, l.options.Text.Fold, l.options.Text.FoldLines)
	for _, media := range content.Media {
		if rules.IsVideoOrAudio(media) && media.AltText != "" {
			p.Notes = append(p.Notes,
				network.NewNote("no_video_descriptions", "{network} does not support descriptions of videos.",
					"LinkedIn"))
		}
	}
	if len(content.Media) == 1 && rules.IsDocument(content.Media[0]) {
		p.Notes = append(p.Notes,
			network.NewNote("document_pages",
				"On {network}, readers leaf through the pages of the document, and can download it.", "LinkedIn"))
	}
	if len(content.Media) == 0 && len(rules.Links(content.Text)) > 0 {
		p.Notes = append(p.Notes,
			network.NewNote("link_card_by_setting",
				"The link gets a card, which only shows its host, if the account's setting {setting} requests it.",
				settingCard))
	}
	return p
}
