package instagram

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a post.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
type PostOptions struct {
	// Feed, reel or story; empty: a reel for a single video, otherwise feed
	Kind          string                `json:"kind,omitempty"`
	ShareToFeed   *bool                 `json:"share_to_feed,omitempty"` // of a reel; nil: true
	CoverMillis   int                   `json:"cover_millis,omitempty"`  // the frame of a reel that is its cover
	Collaborators []string              `json:"collaborators,omitempty"` // user names
	LocationID    string                `json:"location_id,omitempty"`   // of a Page with coordinates
	FirstComment  *network.FirstComment `json:"first_comment,omitempty"`
}

var _ network.OptionParser = (*Instagram)(nil)

const (
	kindFeed  = "feed"
	kindReel  = "reel"
	kindStory = "story"

	maxCollaborators = 3
	maxStoryVideo    = 60 * time.Second
)

// Following returns nothing: the next segments are comments.
func (PostOptions) Following() network.PostOptions { return nil }

// ParseOptions reads the options of a post.
func (*Instagram) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

var (
	userName = regexp.MustCompile(`^@?[A-Za-z0-9._]{1,30}$`) //nolint:gochecknoglobals // compiled once
	numberID = regexp.MustCompile(`^[0-9]{1,30}$`)           //nolint:gochecknoglobals // compiled once
)

// problems returns what Instagram would refuse of the options.
func (o PostOptions) problems(content network.Content) []network.Violation {
	c := rules.Options{Name: title}
	if content.Reply {
		c.Add("kind", "comment_options", "A reply on {network} is a comment, which has no options. Remove them.",
			c.Name)
		return c.Problems
	}
	video := len(content.Media) == 1 && rules.IsVideoOrAudio(content.Media[0])
	c.OneOf("kind", o.Kind, kindFeed, kindReel, kindStory)
	switch {
	case o.Kind == kindReel && !video:
		c.Add("kind", "reel_media", "A reel on {network} needs one video and nothing else.", c.Name)
	case o.Kind == kindFeed && video:
		c.Add("kind", "video_is_reel",
			"Instagram publishes a single video as a reel. Choose reel, which is shown in the feed as well.")
	case o.Kind == kindStory && len(content.Media) != 1:
		c.Add("kind", "story_media", "A story on {network} needs one image or one video.", c.Name)
	case o.Kind == kindStory && video && content.Media[0].Duration > maxStoryVideo:
		c.Add("kind", "story_length",
			"A video of a story on {network} lasts at most {max_seconds}. Cut it or publish it as a reel.", c.Name,
			maxStoryVideo)
	}
	reel := video && o.Kind != kindStory
	if o.ShareToFeed != nil && !reel {
		c.Add("share_to_feed", "only_reel_leaves_feed", "Only a reel can be left out of the feed. Remove this option.")
	}
	if o.CoverMillis != 0 && !reel {
		c.Add("cover_millis", "only_reel_has_cover", "Only a reel has a cover. Remove this option.")
	}
	if o.CoverMillis < 0 || reel && content.Media[0].Duration > 0 &&
		time.Duration(o.CoverMillis)*time.Millisecond > content.Media[0].Duration {
		c.Add("cover_millis", "cover_outside_video", "The cover is not within the video. Choose a time before its end.")
	}
	if o.Kind == kindStory && len(o.Collaborators) > 0 {
		c.Add("collaborators", "story_collaborators", "A story on Instagram has no collaborators. Remove them.")
	}
	if o.Kind == kindStory && o.LocationID != "" {
		c.Add("location_id", "story_location", "A story on Instagram has no location. Remove it.")
	}
	if len(o.Collaborators) > maxCollaborators {
		c.Add("collaborators", "too_many_collaborators", "The post has {used} collaborators; Instagram allows {limit}.",
			len(o.Collaborators), maxCollaborators)
	}
	for i, name := range o.Collaborators {
		if !userName.MatchString(name) {
			c.Add(fmt.Sprintf("collaborators[%d]", i), "not_a_user_name", `"{value}" is not a user name on Instagram.`,
				name)
		}
	}
	if o.LocationID != "" && !numberID.MatchString(o.LocationID) {
		c.Add("location_id", "not_a_place",
			`"{value}" is not the id of a place's Facebook Page. It consists of digits.`, o.LocationID)
	}
	c.FirstComment(o.FirstComment)
	if o.FirstComment != nil && o.Kind == kindStory {
		c.Add("first_comment", "story_comment", "A story has no comments. Remove the first comment.")
	}
	return c.Problems
}

// set adds the options to the container that is published, of which the form has
// the media type.
func (o PostOptions) set(form url.Values) {
	if o.Kind == kindStory {
		form.Set("media_type", "STORIES")
		form.Del("caption") // stories show none
		form.Del("share_to_feed")
		return
	}
	if form.Get("media_type") == "REELS" {
		if o.ShareToFeed != nil {
			form.Set("share_to_feed", strconv.FormatBool(*o.ShareToFeed))
		}
		if o.CoverMillis > 0 {
			form.Set("thumb_offset", strconv.Itoa(o.CoverMillis))
		}
	}
	if len(o.Collaborators) > 0 {
		names := make([]string, len(o.Collaborators))
		for i, name := range o.Collaborators {
			names[i] = url.PathEscape(trimAt(name))
		}
		raw, _ := json.Marshal(names) // texts always marshal
		form.Set("collaborators", string(raw))
	}
	if o.LocationID != "" {
		form.Set("location_id", o.LocationID)
	}
}

func trimAt(name string) string {
	if name != "" && name[0] == '@' {
		return name[1:]
	}
	return name
}
