package instagram

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Count counts characters: Instagram gives its limit of a caption in them, and
// says nothing of links or emoji.
func (*Instagram) Count(text string, _ network.Limits) int { return utf8.RuneCountInString(text) }

// Check returns what Instagram would refuse.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
func (i *Instagram) Check(content network.Content, limits network.Limits) []network.Violation {
	var problems []network.Violation
	add := func(field, code, format string, args ...any) {
		problems = append(problems, network.Violation{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if content.Reply {
		// What answers a post is a comment.
		limits.MinMedia = 0
		if len(content.Media) > 0 {
			add("attachments", "too_many_attachments", "Replies on Instagram are comments, which take no attachments.")
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
	if most := i.options.Hashtags; tags > most {
		add("content", "too_many_hashtags", "The text has %d hashtags; Instagram allows %d.", tags, most)
	}
	if most := i.options.Mentions; mentions > most {
		add("content", "too_many_mentions", "The text mentions %d accounts; Instagram allows %d.", mentions, most)
	}
	return problems
}

// entities finds hashtags and mentions. A tag goes as far as letters, digits and
// underscores do, and another may follow at once; a name is of ASCII letters,
// digits, underscores and periods.
func entities(text string) []network.Span {
	var found []network.Span
	before := ' ' // the character before position at
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		free := !isWordRune(before) && before != '/' && before != '&'
		chained := len(found) > 0 && found[len(found)-1].End == at && found[len(found)-1].Kind == network.SpanTag
		length := 0
		kind := network.SpanTag
		switch {
		case r == '#' && (free || chained):
			length = wordLength(text[at+1:], isWordRune)
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

func isWordRune(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

func isNameRune(r rune) bool {
	return r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// captionFold is about where the feed cuts a caption and offers more.
const captionFold = 125

// Preview shows a caption as the feed does.
func (*Instagram) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: content.Text, Spans: entities(content.Text)}
	if !content.Reply && utf8.RuneCountInString(content.Text) > captionFold {
		for n := 0; n < captionFold; n++ {
			_, size := utf8.DecodeRuneInString(content.Text[p.FoldAt:])
			p.FoldAt += size
		}
	}
	note := func(format string, args ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, args...)) }
	if strings.Contains(content.Text, "://") || strings.Contains(content.Text, "www.") {
		note("Links in captions and comments cannot be clicked on Instagram.")
	}
	if content.Reply {
		note("This goes out as a comment under the post that it answers.")
		return p
	}
	if len(content.Media) == 1 && rules.IsVideoOrAudio(content.Media[0]) {
		note("The video goes out as a reel, which is shown in the feed too.")
	}
	if len(content.Media) > 1 {
		note("Instagram crops all pictures of a carousel to the shape of the first.")
	}
	for i, m := range content.Media {
		switch {
		case rules.IsVideoOrAudio(m) && m.AltText != "":
			note("Instagram takes no description of a video; that of attachment %d is left out.", i+1)
		case !rules.IsVideoOrAudio(m) && m.Width > 1440:
			note("Instagram scales attachment %d from %d down to 1440 pixels of width.", i+1, m.Width)
		case !rules.IsVideoOrAudio(m) && m.Width > 0 && m.Width < 320:
			note("Instagram scales attachment %d from %d up to 320 pixels of width.", i+1, m.Width)
		}
	}
	return p
}
