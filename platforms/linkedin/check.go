package linkedin

import (
	"fmt"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Count counts UTF-16 code units of the visible text: an emoji counts two or
// more, a letter of any alphabet one, escapes nothing. LinkedIn does not document
// its unit; Buffer found it to be this one
// (https://developers.buffer.com/guides/character-limits), which is the strictest
// for ordinary text.
func (l *LinkedIn) Count(text string, _ network.Limits) int { return utf16Length(text) }

// Check returns what LinkedIn would refuse. A reply is a comment, which allows a
// shorter text and one image.
func (l *LinkedIn) Check(content network.Content, limits network.Limits) []network.Violation {
	if content.Reply {
		limits.MaxCharacters = min(limits.MaxCharacters, l.options.Text.Comment)
		limits.AllowedBy = "LinkedIn in a comment"
		limits.MaxMedia = min(limits.MaxMedia, 1)
		limits.MIMETypes = []string{"image/jpeg", "image/png", "image/gif"}
	}
	problems := rules.Check("LinkedIn", content, limits, l.Count(content.Text, limits))
	for i, media := range content.Media {
		if least := l.options.Media.MinVideoBytes; rules.IsVideoOrAudio(media) && media.Bytes > 0 && media.Bytes < least {
			problems = append(problems, network.Violation{Field: fmt.Sprintf("attachments[%d]", i), Code: "too_small",
				Message: fmt.Sprintf("Attachment %d has %d bytes; LinkedIn requires at least %d.", i+1, media.Bytes, least)})
		}
	}
	return problems
}

// Preview shows the text as in the feed.
func (l *LinkedIn) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: content.Text, Spans: rules.Spans(content.Text)}
	if content.Reply {
		p.Notes = append(p.Notes, "On LinkedIn, this is published as a comment on the post.")
		for _, media := range content.Media {
			if media.AltText != "" {
				p.Notes = append(p.Notes, "LinkedIn does not support descriptions of images in comments.")
				break
			}
		}
		return p
	}
	p.FoldAt = rules.FoldOffset(content.Text, l.options.Text.Fold, l.options.Text.FoldLines)
	for _, media := range content.Media {
		if rules.IsVideoOrAudio(media) && media.AltText != "" {
			p.Notes = append(p.Notes, "LinkedIn does not support descriptions of videos.")
		}
	}
	if len(content.Media) == 0 && len(rules.Links(content.Text)) > 0 {
		p.Notes = append(p.Notes, "The link gets a card, which only shows its host, if the account's setting "+settingCard+" requests it.")
	}
	return p
}
