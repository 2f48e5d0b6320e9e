package bluesky

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// maxVideoAlt is the limit of the lexicon app.bsky.embed.video.
const maxVideoAlt = 1000

// Limits are the same for all accounts: the lexicons set them.
func (b *Bluesky) Limits(context.Context, network.Account) (network.Limits, error) {
	o := b.options
	types := []string{"image/jpeg", "image/png", "image/webp", "image/gif", "video/mp4"}
	if !o.VideoDirect {
		// The service converts these to MP4.
		types = append(types, "video/quicktime", "video/webm", "video/mpeg")
	}
	return network.Limits{
		AllowedBy:         "Bluesky",
		MaxCharacters:     o.MaxGraphemes,
		MaxMedia:          min(o.MaxImages, maxGallery),
		MIMETypes:         types,
		MaxImageBytes:     o.MaxImageBytes,
		MaxVideoBytes:     o.MaxVideoBytes,
		MaxVideoDuration:  time.Duration(o.MaxVideoSeconds) * time.Second,
		MaxAltText:        o.MaxAltText,
		SupportsReply:     true,
		RepeatsHarmlessly: true,
		Quotas:            b.quotas(),
	}, nil
}

// Count counts grapheme clusters (UAX #29). Links count in full.
func (b *Bluesky) Count(text string, _ network.Limits) int { return uniseg.GraphemeClusterCount(text) }

// Check returns what the server would refuse.
func (b *Bluesky) Check(content network.Content, limits network.Limits) []network.Violation {
	count := b.Count(content.Text, limits)
	problems := rules.Check("Bluesky", content, limits, count)
	if limit := b.options.MaxTextBytes; len(content.Text) > limit && count <= limits.MaxCharacters {
		problems = append(problems, network.NewViolation("content", "too_many_bytes",
			"The text has {used} bytes, because its characters consist of many code points; Bluesky allows {limit}.",
			len(content.Text), limit))
	}
	for i, media := range content.Media {
		if n := utf8.RuneCountInString(media.AltText); rules.IsVideoOrAudio(media) && n > maxVideoAlt &&
			n <= limits.MaxAltText {
			problems = append(problems, network.NewViolation(fmt.Sprintf("attachments[%d]", i), "alt_text_too_long",
				"The description of attachment {number} has {used} characters; {by} allows {limit}.", i+1, n,
				"Bluesky for a video", maxVideoAlt))
		}
	}
	options, _ := content.Options.(PostOptions)
	return append(problems, options.problems(content)...)
}

// Preview shows the clickable parts. Bluesky shows posts unfolded.
func (b *Bluesky) Preview(content network.Content, _ network.Limits) network.Preview {
	shown := network.Preview{Text: content.Text}
	mentions := false
	for _, e := range entities(content.Text) {
		shown.Spans = append(shown.Spans, network.Span{Start: e.start, End: e.end, Kind: e.kind, Target: e.target})
		mentions = mentions || e.kind == network.SpanMention
	}
	if len(content.Media) == 0 && !b.options.DisableLinkCard {
		shown.Card = firstLink(content.Text)
	}
	if shown.Card != "" {
		shown.Notes = append(shown.Notes,
			message.New("link_card_of_page",
				"The card shows the page's title, description and image. A page without a title has no card."))
	}
	if mentions {
		shown.Notes = append(shown.Notes,
			message.New("unknown_mention_is_text", "A mention of an unknown handle stays plain text."))
	}
	for _, media := range content.Media {
		if media.MIMEType == "image/gif" {
			shown.Notes = append(shown.Notes,
				message.New("gif_is_still",
					"Bluesky shows a GIF as a still image. Upload a video to keep the animation."))
			break
		}
	}
	return shown
}

func firstLink(text string) string {
	for _, e := range entities(text) {
		if e.kind == network.SpanLink {
			return e.target
		}
	}
	return ""
}
