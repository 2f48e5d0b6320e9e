package facebook

import (
	"encoding/json"
	"time"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a post on a Page.
type PostOptions struct {
	Kind string `json:"kind,omitempty"` // post, reel or story; empty: post
	// Whose card is shown, in place of the first link of the text
	Link         string                `json:"link,omitempty"`
	FirstComment *network.FirstComment `json:"first_comment,omitempty"`
}

var _ network.OptionParser = (*Facebook)(nil)

const (
	kindPost  = "post"
	kindReel  = "reel"
	kindStory = "story"
)

// The limits of https://developers.facebook.com/docs/video-api/guides/reels-publishing
// and https://developers.facebook.com/docs/page-stories-api.
const (
	minReel       = 3 * time.Second
	maxReel       = 90 * time.Second
	maxStoryVideo = 60 * time.Second
)

// Following returns nothing: the next segments are comments.
func (PostOptions) Following() network.PostOptions { return nil }

// ParseOptions reads the options of a post.
func (*Facebook) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

// problems returns what Facebook would refuse of the options.
func (o PostOptions) problems(content network.Content) []network.Violation {
	c := rules.Options{Name: title}
	if content.Reply {
		c.Add("kind", "comment_options", "A reply on {network} is a comment, which has no options. Remove them.",
			c.Name)
		return c.Problems
	}
	c.OneOf("kind", o.Kind, kindPost, kindReel, kindStory)
	video := len(content.Media) == 1 && rules.IsVideoOrAudio(content.Media[0])
	var lasts time.Duration // 0: not known
	if video {
		lasts = content.Media[0].Duration
	}
	switch {
	case o.Kind == kindReel && !video:
		c.Add("kind", "reel_media", "A reel on {network} needs one video and nothing else.", c.Name)
	case o.Kind == kindReel && lasts > 0 && (lasts < minReel || lasts > maxReel):
		c.Add("kind", "reel_length",
			"A reel on {network} lasts {min_seconds} to {max_seconds}. Cut the video or publish it as a post.", c.Name,
			minReel, maxReel)
	case o.Kind == kindStory && len(content.Media) != 1:
		c.Add("kind", "story_media", "A story on {network} needs one image or one video.", c.Name)
	case o.Kind == kindStory && lasts > maxStoryVideo:
		c.Add("kind", "story_length",
			"A video of a story on {network} lasts at most {max_seconds}. Cut it or publish it as a reel.", c.Name,
			maxStoryVideo)
	}
	if o.Link != "" {
		c.HTTPS("link", o.Link)
		if len(content.Media) > 0 {
			c.Add("link", "link_with_attachments",
				"Facebook shows no link card with attachments. Remove the link or the attachments.")
		}
	}
	c.FirstComment(o.FirstComment)
	if o.FirstComment != nil && o.Kind == kindStory {
		c.Add("first_comment", "story_comment", "A story has no comments. Remove the first comment.")
	}
	return c.Problems
}
