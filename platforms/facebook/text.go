package facebook

import (
	"context"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// settingCard is a setting of an account: "off" shows links without the card that
// Facebook makes of the linked page.
const settingCard = "link_card"

// Limits are the same for every Page; no call reports them. There are no numeric
// quotas either: what a Page may do grows with its readers, and Facebook reports
// when a limit is exceeded.
// https://developers.facebook.com/docs/graph-api/overview/rate-limiting
func (f *Facebook) Limits(_ context.Context, account network.Account) (network.Limits, error) {
	if _, err := f.service.Host(account.BaseURL, ""); err != nil {
		return network.Limits{}, err
	}
	o := f.options
	return network.Limits{
		AllowedBy:     title,
		MaxCharacters: o.Characters,
		MaxMedia:      o.Photos,
		MIMETypes: []string{
			"image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/quicktime",
		},
		MaxImageBytes:    o.PhotoBytes,
		MaxVideoBytes:    o.VideoBytes,
		MaxVideoDuration: time.Duration(o.VideoSeconds) * time.Second,
		SupportsReply:    true,
		RejectsRepeats:   true,
		FinishesWithin:   network.UsualFinish,
	}, nil
}

// Count counts UTF-16 code units. Facebook does not document its unit; this is
// the strictest one for ordinary text, and the limit is rarely reached in any
// unit.
func (*Facebook) Count(text string, _ network.Limits) int {
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		n += utf16.RuneLen(r)
		text = text[size:]
	}
	return n
}

// LimitsOf implements network.ContentLimiter. A reply is a comment, which can have one
// photo.
func (f *Facebook) LimitsOf(content network.Content, limits network.Limits) network.Limits {
	if content.Reply {
		limits.AllowedBy = "Facebook in a comment"
		limits.MaxCharacters = min(limits.MaxCharacters, f.options.CommentCharacters)
		limits.MaxMedia = min(limits.MaxMedia, 1)
		limits.MIMETypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	}
	return limits
}

// Check returns what Facebook would refuse.
func (f *Facebook) Check(content network.Content, limits network.Limits) []network.Violation {
	limits = f.LimitsOf(content, limits)
	problems := rules.Check(title, content, limits, f.Count(content.Text, limits))
	if options, ok := content.Options.(PostOptions); ok {
		problems = append(problems, options.problems(content)...)
	}
	return problems
}

// Preview shows the text as in the feed, and which link gets a card.
func (f *Facebook) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: content.Text, Spans: rules.Spans(content.Text)}
	if content.Reply {
		p.Notes = append(p.Notes,
			message.New("published_as_comment", "On {network}, this is published as a comment on the post.",
				"Facebook"))
		return p
	}
	p.FoldAt = rules.FoldOffset(content.Text, f.options.Fold, f.options.FoldLines)
	if links := rules.Links(content.Text); len(links) > 0 && len(content.Media) == 0 {
		p.Card = links[0].Target
	}
	if options, _ := content.Options.(PostOptions); options.Link != "" {
		p.Card = options.Link
	}
	for _, media := range content.Media {
		if rules.IsVideoOrAudio(media) {
			p.Notes = append(p.Notes,
				message.New("video_shown_later",
					"Facebook shows a video after it has processed it, which may be minutes after the scheduled time."))
			if media.AltText != "" {
				p.Notes = append(p.Notes,
					message.New("no_video_descriptions", "{network} does not support descriptions of videos.",
						"Facebook"))
			}
		}
	}
	return p
}
