package telegram

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Limits are the same for every chat.
func (t *Telegram) Limits(_ context.Context, account network.Account) (network.Limits, error) {
	if _, err := t.base(account.BaseURL); err != nil {
		return network.Limits{}, err
	}
	o := t.options
	return network.Limits{
		AllowedBy: "Telegram", MaxCharacters: o.MaxCharacters, MaxMedia: o.MaxMedia, MixedMedia: true,
		SupportsReply: true, Poll: pollLimits(),
		MIMETypes:     []string{"image/jpeg", "image/png", "image/webp", "image/gif", "video/mp4"},
		MaxImageBytes: o.MaxPhotoBytes, MaxVideoBytes: o.MaxVideoBytes,
		// Width plus height is at most 10000, and their ratio at most 20
		// (https://core.telegram.org/bots/api#sendphoto).
		MinImageRatio: 1.0 / 20, MaxImageRatio: 20,
		// https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
		Quotas: []network.Quota{{
			Bucket: "chat", Scope: network.ScopeAccount, Requests: o.PerMinute, Per: time.Minute,
			Default: true,
			Costs:   map[network.CallKind]int{network.CallPublish: 1},
		}},
	}, nil
}

// Count counts UTF-16 code units, as Telegram measures messages and entities
// (https://core.telegram.org/api/entities#entity-length), without leading and
// trailing whitespace.
func (t *Telegram) Count(text string, _ network.Limits) int {
	n := 0
	for _, r := range strings.TrimSpace(text) {
		n += utf16.RuneLen(r)
	}
	return n
}

// LimitsOf implements network.ContentLimiter. Text with attachments is a caption, and that
// of a poll a question, which must be shorter.
func (t *Telegram) LimitsOf(content network.Content, limits network.Limits) network.Limits {
	if len(content.Media) > 0 && limits.MaxCharacters > t.options.MaxCaption {
		limits.MaxCharacters = t.options.MaxCaption
	}
	options, _ := content.Options.(PostOptions)
	if options.Poll != nil && limits.MaxCharacters > maxQuestion {
		limits.MaxCharacters = maxQuestion
	}
	return limits
}

// Check returns what Telegram would refuse.
func (t *Telegram) Check(content network.Content, limits network.Limits) []network.Violation {
	limits = t.LimitsOf(content, limits)
	options, _ := content.Options.(PostOptions)
	problems := rules.Check("Telegram", content, limits, t.Count(content.Text, limits))
	for i, media := range content.Media {
		if !rules.IsVideoOrAudio(media) && media.Width+media.Height > 10000 {
			problems = append(problems, network.NewViolation(fmt.Sprintf("attachments[%d]", i), "too_many_pixels",
				"Attachment {number} has {width} × {height} pixels; {by} allows {max_sum} for width plus height.", i+1,
				media.Width, media.Height, "Telegram", 10_000))
		}
	}
	if len(content.Media) > 1 &&
		slices.ContainsFunc(content.Media, func(m network.MediaInfo) bool { return m.MIMEType == "image/gif" }) {
		problems = append(problems,
			network.NewViolation("attachments", "mixed_gif",
				"{network} accepts a GIF only as the single attachment of a post.", "Telegram"))
	}
	return append(problems, options.problems(content, limits)...)
}

// spans matches what Telegram makes clickable in plain text.
var spans = regexp.MustCompile(`https?://[^\s<>"]+|[@#][\pL\pN_]+`) //nolint:gochecknoglobals // compiled once

// Preview shows the text as it is. The first link has a card if there are no
// attachments.
func (t *Telegram) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: strings.TrimSpace(content.Text)}
	options, _ := content.Options.(PostOptions)
	hidden := options.Poll != nil || options.LinkPreview != nil && options.LinkPreview.Disabled
	for _, at := range spans.FindAllStringIndex(p.Text, -1) {
		word := strings.TrimRight(p.Text[at[0]:at[1]], ".,;:!?)»”'\"")
		span := network.Span{Start: at[0], End: at[0] + len(word), Kind: network.SpanLink, Target: word}
		switch word[0] {
		case '@':
			span.Kind, span.Target = network.SpanMention, word[1:]
		case '#':
			span.Kind, span.Target = network.SpanTag, word[1:]
		default:
			if p.Card == "" && len(content.Media) == 0 && !hidden {
				p.Card = word
			}
		}
		p.Spans = append(p.Spans, span)
	}
	for _, m := range content.Media {
		if m.AltText != "" {
			p.Notes = append(p.Notes,
				network.NewNote("no_image_descriptions", "Telegram does not support descriptions of images."))
			break
		}
	}
	return p
}
