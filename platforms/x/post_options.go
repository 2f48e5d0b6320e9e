package x

import (
	"encoding/json"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a post.
// https://docs.x.com/x-api/posts/create-post
type PostOptions struct {
	// Following, mentioned, subscribers or verified; empty: everyone
	ReplySettings   string `json:"reply_settings,omitempty"`
	Poll            *Poll  `json:"poll,omitempty"`
	MadeWithAI      bool   `json:"made_with_ai,omitempty"`
	PaidPartnership bool   `json:"paid_partnership,omitempty"`
}

// Poll is a poll in place of attachments.
type Poll struct {
	Choices         []string `json:"choices"`
	DurationMinutes int      `json:"duration_minutes"`
}

var _ network.OptionParser = (*X)(nil)

// Following keeps the labels. The first post decides who may reply.
func (o PostOptions) Following() network.PostOptions {
	return PostOptions{MadeWithAI: o.MadeWithAI, PaidPartnership: o.PaidPartnership}
}

// ParseOptions reads the options of a post.
func (*X) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions]("X", raw)
}

// pollLimits are those of POST /2/tweets.
func pollLimits() network.PollLimits {
	return network.PollLimits{MinChoices: 2, MaxChoices: 4, MaxChoiceCharacters: 25, MinMinutes: 5, MaxMinutes: 10080}
}

// problems returns what X would refuse of the options.
func (o PostOptions) problems(content network.Content, limits network.Limits) []network.Violation {
	c := rules.Options{Name: "X"}
	c.OneOf("reply_settings", o.ReplySettings, "following", "mentioned", "subscribers", "verified")
	if o.ReplySettings != "" && content.Reply {
		c.Add("reply_settings", "set_on_first_post",
			"On {network} the first post of a thread decides who can reply or quote. Remove this option from "+
				"the reply.", c.Name)
	}
	if o.Poll != nil {
		c.Poll("", o.Poll.Choices, o.Poll.DurationMinutes, limits.Poll)
		if len(content.Media) > 0 {
			c.Add("poll", "poll_with_attachments",
				"{network} accepts no attachments with a poll. Remove the poll or the attachments.", c.Name)
		}
		if content.Text == "" {
			c.Add("poll", "poll_without_text", "{network} needs a text with a poll. Write one.", c.Name)
		}
	}
	return c.Problems
}

// replySettings is X's name of a setting.
func (o PostOptions) replySettings() string {
	if o.ReplySettings == "mentioned" {
		return "mentionedUsers"
	}
	return o.ReplySettings
}

// differs reports whether a listed post was made with other options. X shows "everyone"
// if nothing was chosen.
func (o PostOptions) differs(l listed) bool {
	settings := o.replySettings()
	if settings == "" {
		settings = "everyone"
	}
	return (o.Poll != nil) != (len(l.Attachments.PollIDs) > 0) || l.ReplySettings != "" && l.replyTo() == "" &&
		l.ReplySettings != settings
}
