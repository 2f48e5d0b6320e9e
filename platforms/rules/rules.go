// Package rules contains the checks that all networks share, so that users see
// the same message for the same problem everywhere.
package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dateline/platforms/network"
)

// Check returns what a network would refuse, according to its limits. name is its
// display name, and count is the number of characters that count towards
// Limits.MaxCharacters. Adapters add the checks that only apply to their network.
func Check(name string, content network.Content, limits network.Limits, count int) []network.Violation {
	c := &checker{name: name, allowedBy: limits.AllowedBy, limits: limits}
	if c.allowedBy == "" {
		c.allowedBy = name
	}
	c.text(content, count)
	c.attachments(content.Media)
	for i, media := range content.Media {
		c.attachment(i, media)
	}
	return c.problems
}

type checker struct {
	name, allowedBy string
	limits          network.Limits
	problems        []network.Violation
}

func (c *checker) add(field, code, format string, args ...any) {
	c.problems = append(c.problems, network.Violation{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) text(content network.Content, count int) {
	if strings.TrimSpace(content.Text) == "" && len(content.Media) == 0 {
		c.add("content", "empty", "%s requires a text or an attachment.", c.name)
	}
	if !utf8.ValidString(content.Text) {
		c.add("content", "invalid_text", "The text is not valid UTF-8.")
	}
	if limit := c.limits.MaxCharacters; limit > 0 && count > limit {
		c.add("content", "too_long", "%s counts %d characters; %s allows %d.", c.name, count, c.allowedBy, limit)
	}
}

func (c *checker) attachments(media []network.MediaInfo) {
	if len(media) > c.limits.MaxMedia {
		c.add("attachments", "too_many_attachments", "The post has %d attachments; %s allows %d.", len(media), c.allowedBy, c.limits.MaxMedia)
	}
	if len(media) < c.limits.MinMedia {
		c.add("attachments", "too_few_attachments", "%s requires an image or a video.", c.name)
	}
	if !c.limits.MixedMedia && len(media) > 1 && slices.ContainsFunc(media, IsVideoOrAudio) {
		c.add("attachments", "mixed_attachments", "%s accepts a video or audio file only as the single attachment of a post.", c.name)
	}
}

func (c *checker) attachment(i int, media network.MediaInfo) {
	field, n, l := fmt.Sprintf("attachments[%d]", i), i+1, c.limits
	if len(l.MIMETypes) > 0 && !slices.Contains(l.MIMETypes, media.MIMEType) {
		c.add(field, "unsupported_type", "Attachment %d is of type %s, which %s does not accept.", n, media.MIMEType, c.allowedBy)
	}
	limit := l.MaxImageBytes
	if IsVideoOrAudio(media) {
		limit = l.MaxVideoBytes
	}
	if limit > 0 && media.Bytes > limit {
		c.add(field, "too_large", "Attachment %d has %s; %s allows %s.", n, formatSize(media.Bytes), c.allowedBy, formatSize(limit))
	}
	if count := utf8.RuneCountInString(media.AltText); l.MaxAltText > 0 && count > l.MaxAltText {
		c.add(field, "alt_text_too_long", "The description of attachment %d has %d characters; %s allows %d.", n, count, c.allowedBy, l.MaxAltText)
	}
	if IsVideoOrAudio(media) {
		c.video(field, n, media)
	} else {
		c.image(field, n, media)
	}
}

// image checks the dimensions, if they are known.
func (c *checker) image(field string, n int, media network.MediaInfo) {
	l := c.limits
	if pixels := int64(media.Width) * int64(media.Height); l.MaxImagePixels > 0 && pixels > l.MaxImagePixels {
		c.add(field, "too_many_pixels", "Attachment %d has %d × %d pixels; %s allows %d in total.", n, media.Width, media.Height, c.allowedBy, l.MaxImagePixels)
	}
	if l.MaxImageWidth > 0 && media.Width > l.MaxImageWidth || l.MaxImageHeight > 0 && media.Height > l.MaxImageHeight {
		c.add(field, "too_many_pixels", "Attachment %d has %d × %d pixels; %s allows %d × %d.",
			n, media.Width, media.Height, c.allowedBy, l.MaxImageWidth, l.MaxImageHeight)
	}
	if media.Width == 0 || media.Height == 0 {
		return
	}
	ratio := float64(media.Width) / float64(media.Height)
	if l.MinImageRatio > 0 && ratio < l.MinImageRatio || l.MaxImageRatio > 0 && ratio > l.MaxImageRatio {
		c.add(field, "unsupported_ratio", "Attachment %d has %d × %d pixels, a width of %.2f times its height; %s allows %.2f to %.2f.",
			n, media.Width, media.Height, ratio, c.allowedBy, l.MinImageRatio, l.MaxImageRatio)
	}
}

// video checks the duration, if it is known.
func (c *checker) video(field string, n int, media network.MediaInfo) {
	l := c.limits
	switch {
	case media.Duration == 0:
	case l.MinVideoDuration > 0 && media.Duration < l.MinVideoDuration:
		c.add(field, "too_short", "Attachment %d lasts %s; %s requires at least %s.", n, media.Duration.Round(100*time.Millisecond), c.allowedBy, l.MinVideoDuration)
	case l.MaxVideoDuration > 0 && media.Duration > l.MaxVideoDuration:
		c.add(field, "too_long_video", "Attachment %d lasts %s; %s allows %s.", n, media.Duration.Round(time.Second), c.allowedBy, l.MaxVideoDuration)
	}
}

// IsVideoOrAudio reports whether media is video or audio. An animated GIF is an
// image.
func IsVideoOrAudio(media network.MediaInfo) bool {
	return strings.HasPrefix(media.MIMEType, "video/") || strings.HasPrefix(media.MIMEType, "audio/")
}

func formatSize(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}
