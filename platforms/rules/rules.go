// Package rules contains the checks that all networks share, so that users see
// the same message for the same problem everywhere.
package rules

import (
	"fmt"
	"math"
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

func (c *checker) add(field, code, template string, args ...any) {
	c.problems = append(c.problems, network.NewViolation(field, code, template, args...))
}

func (c *checker) text(content network.Content, count int) {
	if strings.TrimSpace(content.Text) == "" && len(content.Media) == 0 {
		c.add("content", "empty", "{network} requires a text or an attachment.", c.name)
	}
	if !utf8.ValidString(content.Text) {
		c.add("content", "invalid_text", "The text is not valid UTF-8.")
	}
	if limit := c.limits.MaxCharacters; limit > 0 && count > limit {
		c.add("content", "too_long", "{network} counts {used} characters; {by} allows {limit}.", c.name, count,
			c.allowedBy, limit)
	}
}

func (c *checker) attachments(media []network.MediaInfo) {
	if len(media) > c.limits.MaxMedia {
		c.add("attachments", "too_many_attachments", "The post has {used} attachments; {by} allows {limit}.",
			len(media), c.allowedBy, c.limits.MaxMedia)
	}
	if len(media) < c.limits.MinMedia {
		c.add("attachments", "too_few_attachments", "{network} requires an image or a video.", c.name)
	}
	if len(media) > 1 && slices.ContainsFunc(media, IsDocument) {
		c.add("attachments", "document_with_others",
			"{network} accepts a document only as the single attachment of a post.", c.name)
	}
	if !c.limits.MixedMedia && len(media) > 1 && slices.ContainsFunc(media, IsVideoOrAudio) {
		c.add("attachments", "mixed_attachments",
			"{network} accepts a video or audio file only as the single attachment of a post.", c.name)
	}
}

func (c *checker) attachment(i int, media network.MediaInfo) {
	field, n, l := fmt.Sprintf("attachments[%d]", i), i+1, c.limits
	if len(l.MIMETypes) > 0 && !slices.Contains(l.MIMETypes, media.MIMEType) {
		c.add(field, "unsupported_type", "Attachment {number} is of type {type}, which {by} does not accept.", n,
			media.MIMEType, c.allowedBy)
	}
	limit := l.MaxImageBytes
	switch {
	case IsVideoOrAudio(media):
		limit = l.MaxVideoBytes
	case IsDocument(media):
		limit = l.MaxDocumentBytes
	}
	if limit > 0 && media.Bytes > limit {
		c.add(field, "too_large", "Attachment {number} has {used_bytes}; {by} allows {limit_bytes}.", n,
			network.Bytes(media.Bytes), c.allowedBy, network.Bytes(limit))
	}
	if count := utf8.RuneCountInString(media.AltText); l.MaxAltText > 0 && count > l.MaxAltText {
		c.add(field, "alt_text_too_long",
			"The description of attachment {number} has {used} characters; {by} allows {limit}.", n, count, c.allowedBy,
			l.MaxAltText)
	}
	switch {
	case IsVideoOrAudio(media):
		c.video(field, n, media)
		c.streams(field, n, media)
	case IsDocument(media):
		if l.MaxDocumentPages > 0 && media.Pages > l.MaxDocumentPages {
			c.add(field, "too_many_pages", "Attachment {number} has {used} pages; {by} allows {limit}.", n, media.Pages,
				c.allowedBy, l.MaxDocumentPages)
		}
	default:
		c.image(field, n, media)
	}
}

// image checks the dimensions, if they are known.
func (c *checker) image(field string, n int, media network.MediaInfo) {
	l := c.limits
	if pixels := int64(media.Width) * int64(media.Height); l.MaxImagePixels > 0 && pixels > l.MaxImagePixels {
		c.add(field, "too_many_pixels",
			"Attachment {number} has {width} × {height} pixels; {by} allows {max_pixels} in total.", n, media.Width,
			media.Height, c.allowedBy, l.MaxImagePixels)
	}
	if l.MaxImageWidth > 0 && media.Width > l.MaxImageWidth || l.MaxImageHeight > 0 && media.Height > l.MaxImageHeight {
		c.add(field, "too_many_pixels",
			"Attachment {number} has {width} × {height} pixels; {by} allows {max_width} × {max_height}.",
			n, media.Width, media.Height, c.allowedBy, l.MaxImageWidth, l.MaxImageHeight)
	}
	if media.Width == 0 || media.Height == 0 {
		return
	}
	ratio := float64(media.Width) / float64(media.Height)
	if l.MinImageRatio > 0 && ratio < l.MinImageRatio || l.MaxImageRatio > 0 && ratio > l.MaxImageRatio {
		c.add(field, "unsupported_ratio",
			"Attachment {number} has {width} × {height} pixels, a width of {ratio} times its height; {by} allows "+
				"{min_ratio} to {max_ratio}.",
			n, media.Width, media.Height, hundredths(ratio), c.allowedBy, hundredths(l.MinImageRatio),
			hundredths(l.MaxImageRatio))
	}
}

// video checks the duration, if it is known.
func (c *checker) video(field string, n int, media network.MediaInfo) {
	l := c.limits
	switch {
	case media.Duration == 0:
	case l.MinVideoDuration > 0 && media.Duration < l.MinVideoDuration:
		c.add(field, "too_short", "Attachment {number} lasts {length_seconds}; {by} requires at least {min_seconds}.",
			n, media.Duration.Round(100*time.Millisecond), c.allowedBy, l.MinVideoDuration)
	case l.MaxVideoDuration > 0 && media.Duration > l.MaxVideoDuration:
		c.add(field, "too_long_video", "Attachment {number} lasts {length_seconds}; {by} allows {max_seconds}.", n,
			media.Duration.Round(time.Second), c.allowedBy, l.MaxVideoDuration)
	}
}

// streams checks what a video consists of, as far as it is known.
func (c *checker) streams(field string, n int, media network.MediaInfo) {
	l := c.limits.Video
	rate := math.Round(media.FrameRate*1000) / 1000
	switch {
	case rate == 0 || l.MaxFrameRate == 0:
	case l.MinFrameRate > 0 && (rate < l.MinFrameRate || math.Floor(rate) > l.MaxFrameRate):
		c.add(field, "unsupported_frame_rate",
			"Attachment {number} has {rate} frames per second; {by} allows {min_rate} to {max_rate}. Export it with "+
				"fewer or more.",
			n, rate, c.allowedBy, l.MinFrameRate, l.MaxFrameRate)
	case math.Floor(rate) > l.MaxFrameRate:
		c.add(field, "unsupported_frame_rate",
			"Attachment {number} has {rate} frames per second; {by} allows {max_rate}. Export it with fewer.",
			n, rate, c.allowedBy, l.MaxFrameRate)
	}
	if l.MaxWidth > 0 && media.Width > l.MaxWidth {
		c.add(field, "video_too_wide",
			"Attachment {number} is {width} pixels wide; {by} allows {max_width}. Export it smaller.",
			n, media.Width, c.allowedBy, l.MaxWidth)
	}
	if l.MaxPixels > 0 && int64(media.Width)*int64(media.Height) > l.MaxPixels {
		c.add(field, "too_many_pixels",
			"Attachment {number} has {width} × {height} pixels; {by} allows {max_pixels} in total.",
			n, media.Width, media.Height, c.allowedBy, l.MaxPixels)
	}
	if len(l.Codecs) > 0 && media.VideoCodec != "" && !slices.Contains(l.Codecs, media.VideoCodec) {
		c.add(field, "unsupported_codec",
			"The video of attachment {number} is encoded as {codec}; {by} accepts {accepted}.",
			n, media.VideoCodec, c.allowedBy, strings.Join(l.Codecs, ", "))
	}
	if len(l.AudioCodecs) > 0 && media.AudioCodec != "" && !slices.Contains(l.AudioCodecs, media.AudioCodec) {
		c.add(field, "unsupported_codec",
			"The sound of attachment {number} is encoded as {codec}; {by} accepts {accepted}.",
			n, media.AudioCodec, c.allowedBy, strings.Join(l.AudioCodecs, ", "))
	}
	if l.MaxAudioRate > 0 && media.AudioRate > l.MaxAudioRate {
		c.add(field, "unsupported_audio_rate",
			"The sound of attachment {number} has {rate} samples per second; {by} allows {max_rate}.",
			n, media.AudioRate, c.allowedBy, l.MaxAudioRate)
	}
	if l.Chroma != "" && strings.HasPrefix(media.PixelFormat, "yuv") && !strings.Contains(media.PixelFormat, l.Chroma) {
		c.add(field, "unsupported_color",
			"The colors of attachment {number} are stored as {format}; {by} requires 4:2:0 (yuv420p).",
			n, media.PixelFormat, c.allowedBy)
	}
}

// IsVideoOrAudio reports whether media is video or audio. An animated GIF is an
// image.
func IsVideoOrAudio(media network.MediaInfo) bool {
	return strings.HasPrefix(media.MIMEType, "video/") || strings.HasPrefix(media.MIMEType, "audio/")
}

// IsDocument reports whether media is a document.
func IsDocument(media network.MediaInfo) bool { return media.MIMEType == "application/pdf" }

func hundredths(ratio float64) float64 { return math.Round(ratio*100) / 100 }
