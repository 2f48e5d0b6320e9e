package mastodon

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"dateline/platforms/network"
)

// Count counts as app/validators/status_length_validator.rb does: grapheme
// clusters, every link at a fixed cost, and of a mention only the user name.
// Surrounding white space does not count, because Mastodon strips it first.
func (m *Mastodon) Count(text string, limits network.Limits) int {
	text = strings.Trim(text, "\x00\t\n\v\f\r ")
	found := entities(text)
	if len(found) == 0 {
		return uniseg.GraphemeClusterCount(text)
	}
	var counted strings.Builder
	at := 0
	for _, e := range found {
		counted.WriteString(text[at:e.start])
		switch {
		case !e.url:
			counted.WriteString(text[e.start:e.local])
		case limits.CharactersPerURL > 0:
			counted.WriteString(strings.Repeat("x", limits.CharactersPerURL))
		default:
			counted.WriteString(text[e.start:e.end])
		}
		at = e.end
	}
	counted.WriteString(text[at:])
	return uniseg.GraphemeClusterCount(counted.String())
}

// Check lists what the instance would refuse.
func (m *Mastodon) Check(content network.Content, limits network.Limits) []network.Problem {
	var problems []network.Problem
	add := func(field, code, format string, args ...any) {
		problems = append(problems, network.Problem{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	who := limits.AllowedBy
	if who == "" {
		who = "the instance"
	}
	if strings.TrimSpace(content.Text) == "" && len(content.Media) == 0 {
		add("content", "empty", "Mastodon takes no post without text or attachment.")
	}
	if !utf8.ValidString(content.Text) {
		add("content", "invalid_text", "The text is not valid UTF-8.")
	}
	if count := m.Count(content.Text, limits); limits.MaxCharacters > 0 && count > limits.MaxCharacters {
		add("content", "too_long", "Mastodon counts %d characters; %s allows %d.", count, who, limits.MaxCharacters)
	}
	if count := len(content.Media); count > limits.MaxMedia {
		add("attachments", "too_many_attachments", "The post has %d attachments; %s allows %d.", count, who, limits.MaxMedia)
	}
	// app/services/post_status_service.rb: images_and_video
	if !limits.MixedMedia && len(content.Media) > 1 && slices.ContainsFunc(content.Media, timed) {
		add("attachments", "mixed_attachments", "Mastodon takes a video or audio file only as the single attachment of a post.")
	}
	for i, media := range content.Media {
		field := fmt.Sprintf("attachments[%d]", i)
		if len(limits.MIMETypes) > 0 && !slices.Contains(limits.MIMETypes, media.MIMEType) {
			add(field, "unsupported_type", "Attachment %d is of type %s, which %s does not take.", i+1, media.MIMEType, who)
		}
		most := limits.MaxImageBytes
		if timed(media) {
			most = limits.MaxVideoBytes
		}
		if most > 0 && media.Bytes > most {
			add(field, "too_large", "Attachment %d has %s; %s allows %s.", i+1, size(media.Bytes), who, size(most))
		}
		pixels := int64(media.Width) * int64(media.Height)
		if !timed(media) && limits.MaxImagePixels > 0 && pixels > limits.MaxImagePixels {
			add(field, "too_many_pixels", "Attachment %d has %d × %d pixels; %s allows %d in all.",
				i+1, media.Width, media.Height, who, limits.MaxImagePixels)
		}
		if count := utf8.RuneCountInString(media.AltText); limits.MaxAltText > 0 && count > limits.MaxAltText {
			add(field, "alt_text_too_long", "The description of attachment %d has %d characters; %s allows %d.",
				i+1, count, who, limits.MaxAltText)
		}
	}
	return problems
}

// timed says whether the media plays; an animated GIF counts as an image.
func timed(media network.MediaInfo) bool {
	return strings.HasPrefix(media.MIMEType, "video/") || strings.HasPrefix(media.MIMEType, "audio/")
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}
