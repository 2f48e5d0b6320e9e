// Package rules holds the checks that all networks have in common, so that a
// person reads the same words for the same mistake everywhere.
package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dateline/platforms/network"
)

// Check lists what a network that is called name would refuse of content, going
// by its limits. count is what the text takes of Limits.MaxCharacters. Adapters
// add what is theirs alone.
func Check(name string, content network.Content, limits network.Limits, count int) []network.Violation {
	c := &checker{name: name, who: limits.AllowedBy, limits: limits}
	if c.who == "" {
		c.who = name
	}
	c.text(content, count)
	c.attachments(content.Media)
	for i, media := range content.Media {
		c.attachment(i, media)
	}
	return c.problems
}

type checker struct {
	name, who string
	limits    network.Limits
	problems  []network.Violation
}

func (c *checker) add(field, code, format string, args ...any) {
	c.problems = append(c.problems, network.Violation{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) text(content network.Content, count int) {
	if strings.TrimSpace(content.Text) == "" && len(content.Media) == 0 {
		c.add("content", "empty", "%s takes no post without text or attachment.", c.name)
	}
	if !utf8.ValidString(content.Text) {
		c.add("content", "invalid_text", "The text is not valid UTF-8.")
	}
	if most := c.limits.MaxCharacters; most > 0 && count > most {
		c.add("content", "too_long", "%s counts %d characters; %s allows %d.", c.name, count, c.who, most)
	}
}

func (c *checker) attachments(media []network.MediaInfo) {
	if len(media) > c.limits.MaxMedia {
		c.add("attachments", "too_many_attachments", "The post has %d attachments; %s allows %d.", len(media), c.who, c.limits.MaxMedia)
	}
	if len(media) < c.limits.MinMedia {
		c.add("attachments", "too_few_attachments", "%s takes no post without a picture or video.", c.name)
	}
	if !c.limits.MixedMedia && len(media) > 1 && slices.ContainsFunc(media, IsVideoOrAudio) {
		c.add("attachments", "mixed_attachments", "%s takes a video or audio file only as the single attachment of a post.", c.name)
	}
}

func (c *checker) attachment(i int, media network.MediaInfo) {
	field, n, l := fmt.Sprintf("attachments[%d]", i), i+1, c.limits
	if len(l.MIMETypes) > 0 && !slices.Contains(l.MIMETypes, media.MIMEType) {
		c.add(field, "unsupported_type", "Attachment %d is of type %s, which %s does not take.", n, media.MIMEType, c.who)
	}
	most := l.MaxImageBytes
	if IsVideoOrAudio(media) {
		most = l.MaxVideoBytes
	}
	if most > 0 && media.Bytes > most {
		c.add(field, "too_large", "Attachment %d has %s; %s allows %s.", n, formatSize(media.Bytes), c.who, formatSize(most))
	}
	if count := utf8.RuneCountInString(media.AltText); l.MaxAltText > 0 && count > l.MaxAltText {
		c.add(field, "alt_text_too_long", "The description of attachment %d has %d characters; %s allows %d.", n, count, c.who, l.MaxAltText)
	}
	if IsVideoOrAudio(media) {
		c.video(field, n, media)
	} else {
		c.image(field, n, media)
	}
}

// image goes by the size in pixels, where it is known.
func (c *checker) image(field string, n int, media network.MediaInfo) {
	l := c.limits
	if pixels := int64(media.Width) * int64(media.Height); l.MaxImagePixels > 0 && pixels > l.MaxImagePixels {
		c.add(field, "too_many_pixels", "Attachment %d has %d × %d pixels; %s allows %d in all.", n, media.Width, media.Height, c.who, l.MaxImagePixels)
	}
	if l.MaxImageWidth > 0 && media.Width > l.MaxImageWidth || l.MaxImageHeight > 0 && media.Height > l.MaxImageHeight {
		c.add(field, "too_many_pixels", "Attachment %d has %d × %d pixels; %s allows %d × %d.",
			n, media.Width, media.Height, c.who, l.MaxImageWidth, l.MaxImageHeight)
	}
	if media.Width == 0 || media.Height == 0 {
		return
	}
	ratio := float64(media.Width) / float64(media.Height)
	if l.MinImageRatio > 0 && ratio < l.MinImageRatio || l.MaxImageRatio > 0 && ratio > l.MaxImageRatio {
		c.add(field, "unsupported_ratio", "Attachment %d has %d × %d pixels, a width of %.2f times its height; %s allows %.2f to %.2f.",
			n, media.Width, media.Height, ratio, c.who, l.MinImageRatio, l.MaxImageRatio)
	}
}

// video goes by the duration, where it is known.
func (c *checker) video(field string, n int, media network.MediaInfo) {
	l := c.limits
	switch {
	case media.Duration == 0:
	case l.MinVideoDuration > 0 && media.Duration < l.MinVideoDuration:
		c.add(field, "too_short", "Attachment %d lasts %s; %s wants at least %s.", n, media.Duration.Round(100*time.Millisecond), c.who, l.MinVideoDuration)
	case l.MaxVideoDuration > 0 && media.Duration > l.MaxVideoDuration:
		c.add(field, "too_long_video", "Attachment %d lasts %s; %s allows %s.", n, media.Duration.Round(time.Second), c.who, l.MaxVideoDuration)
	}
}

// IsVideoOrAudio says whether media plays; an animated GIF counts as an image.
func IsVideoOrAudio(media network.MediaInfo) bool {
	return strings.HasPrefix(media.MIMEType, "video/") || strings.HasPrefix(media.MIMEType, "audio/")
}

func formatSize(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}
