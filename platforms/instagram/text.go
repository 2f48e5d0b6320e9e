package instagram

import (
	"strings"
	"unicode/utf8"

	"dateline/internal/infra/message"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Count counts characters: Instagram specifies its caption limit in characters,
// without special rules for links or emoji.
func (*Instagram) Count(text string, _ network.Limits) int { return utf8.RuneCountInString(text) }

// Check returns what Instagram would refuse.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
func (i *Instagram) Check(content network.Content, limits network.Limits) []network.Violation {
	var problems []network.Violation
	add := func(field, code, template string, args ...any) {
		problems = append(problems, network.NewViolation(field, code, template, args...))
	}
	if content.Reply {
		// A reply is a comment.
		limits.MinMedia = 0
		if len(content.Media) > 0 {
			add("attachments", "comment_attachments",
				"Replies on Instagram are comments, which cannot have attachments.")
			content.Media = nil
		}
	}
	problems = append(problems, rules.Check(title, content, limits, i.Count(content.Text, limits))...)
	tags, mentions := 0, 0
	for _, e := range entities(content.Text) {
		if e.Kind == network.SpanTag {
			tags++
		} else {
			mentions++
		}
	}
	if limit := i.options.Hashtags; tags > limit {
		add("content", "too_many_hashtags", "The text has {used} hashtags; Instagram allows {limit}.", tags, limit)
	}
	if limit := i.options.Mentions; mentions > limit {
		add("content", "too_many_mentions", "The text mentions {used} accounts; Instagram allows {limit}.", mentions,
			limit)
	}
	if options, ok := content.Options.(PostOptions); ok {
		problems = append(problems, options.problems(content)...)
	}
	return problems
}

// entities returns hashtags and mentions. A hashtag consists of letters, digits
// and underscores, and may be followed by another without a space. A user name
// consists of ASCII letters, digits, underscores and periods.
func entities(text string) []network.Span {
	var found []network.Span
	before := ' ' // the character before position at
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		free := !rules.IsWordRune(before) && before != '/' && before != '&'
		chained := len(found) > 0 && found[len(found)-1].End == at && found[len(found)-1].Kind == network.SpanTag
		length := 0
		kind := network.SpanTag
		switch {
		case r == '#' && (free || chained):
			length = wordLength(text[at+1:], rules.IsWordRune)
		case r == '@' && free:
			kind = network.SpanMention
			length = len(strings.TrimRight(text[at+1:at+1+wordLength(text[at+1:], isNameRune)], "."))
		}
		if length == 0 {
			before = r
			at += size
			continue
		}
		end := at + 1 + length
		found = append(found, network.Span{Start: at, End: end, Kind: kind, Target: text[at+1 : end]})
		before, _ = utf8.DecodeLastRuneInString(text[:end])
		at = end
	}
	return found
}

func wordLength(text string, in func(rune) bool) int {
	for i, r := range text {
		if !in(r) {
			return i
		}
	}
	return len(text)
}

func isNameRune(r rune) bool {
	return r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// captionFold is the approximate number of characters after which the feed
// truncates a caption.
const captionFold = 125

// Preview shows a caption as in the feed.
func (*Instagram) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: content.Text, Spans: entities(content.Text)}
	if !content.Reply && utf8.RuneCountInString(content.Text) > captionFold {
		for n := 0; n < captionFold; n++ {
			_, size := utf8.DecodeRuneInString(content.Text[p.FoldAt:])
			p.FoldAt += size
		}
	}
	note := func(code, template string, args ...any) {
		p.Notes = append(p.Notes, message.New(code, template, args...))
	}
	if strings.Contains(content.Text, "://") || strings.Contains(content.Text, "www.") {
		note("links_not_clickable", "Links in captions and comments cannot be clicked on Instagram.")
	}
	if content.Reply {
		note("published_as_comment", "On {network}, this is published as a comment on the post.", title)
		return p
	}
	if len(content.Media) == 1 && rules.IsVideoOrAudio(content.Media[0]) {
		note("published_as_reel", "The video is published as a reel, which is also shown in the feed.")
	}
	if len(content.Media) > 1 {
		note("carousel_cropped", "Instagram crops all images of a carousel to the aspect ratio of the first.")
	}
	for i, m := range content.Media {
		if rules.IsVideoOrAudio(m) && m.AltText != "" {
			note("no_video_descriptions", "{network} does not support descriptions of videos.", title)
		} else if scaled, ok := container.ScalingNote(title, i+1, m); ok {
			p.Notes = append(p.Notes, scaled)
		}
	}
	return p
}
