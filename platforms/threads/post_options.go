package threads

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a post.
// https://developers.facebook.com/docs/threads/reference/publishing
type PostOptions struct {
	// Everyone, accounts_you_follow, mentioned_only, parent_post_author_only or followers_only
	ReplyControl string `json:"reply_control,omitempty"`
	Topic        string `json:"topic,omitempty"`
	Poll         *Poll  `json:"poll,omitempty"`
	SpoilerMedia bool   `json:"spoiler_media,omitempty"`
	// Parts of the text that are hidden until they are tapped
	SpoilerPhrases []string `json:"spoiler_phrases,omitempty"`
}

// Poll is a poll of a text post. It is open for a day.
type Poll struct {
	Choices []string `json:"choices"`
}

var _ network.OptionParser = (*Threads)(nil)

const (
	maxTopic    = 50
	maxSpoilers = 10
)

// Following keeps the spoiler of attachments. Each phrase belongs to one text.
func (o PostOptions) Following() network.PostOptions {
	return PostOptions{SpoilerMedia: o.SpoilerMedia}
}

// ParseOptions reads the options of a post.
func (*Threads) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

func pollLimits() network.PollLimits {
	return network.PollLimits{MinChoices: 2, MaxChoices: 4, MaxChoiceCharacters: 25}
}

// problems returns what Threads would refuse of the options.
func (o PostOptions) problems(content network.Content, limits network.Limits) []network.Violation {
	c := rules.Options{Name: title}
	c.OneOf("reply_control", o.ReplyControl, "everyone", "accounts_you_follow", "mentioned_only",
		"parent_post_author_only", "followers_only")
	c.MaxRunes("topic", o.Topic, maxTopic)
	if strings.ContainsAny(o.Topic, ".&") {
		c.Add("topic", "bad_topic", "A topic on Threads cannot contain a dot or an ampersand. Remove it.")
	}
	if o.Poll != nil {
		c.Poll("", o.Poll.Choices, 0, limits.Poll)
		if len(content.Media) > 0 {
			c.Add("poll", "poll_with_attachments",
				"{network} accepts no attachments with a poll. Remove the poll or the attachments.", c.Name)
		}
	}
	if len(o.SpoilerPhrases) > maxSpoilers {
		c.Add("spoiler_phrases", "too_many_spoilers", "The post has {used} spoilers; Threads allows {limit}.",
			len(o.SpoilerPhrases), maxSpoilers)
	}
	for i, phrase := range o.SpoilerPhrases {
		if phrase == "" || !strings.Contains(content.Text, phrase) {
			c.Add(fmt.Sprintf("spoiler_phrases[%d]", i), "not_in_text",
				`The text does not contain "{phrase}". Copy the phrase from the text.`, phrase)
		}
	}
	return c.Problems
}

// entity is a part of a text, in UTF-16 code units.
type entity struct {
	Type   string `json:"entity_type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

// set adds the options to a container. They are fixed when it is created.
func (o PostOptions) set(form url.Values, text string, media int) {
	for name, value := range map[string]string{"reply_control": o.ReplyControl, "topic_tag": o.Topic} {
		if value != "" {
			form.Set(name, value)
		}
	}
	if o.SpoilerMedia && media > 0 {
		form.Set("is_spoiler_media", "true")
	}
	if o.Poll != nil {
		poll := map[string]string{}
		for i, choice := range o.Poll.Choices {
			poll["option_"+string(rune('a'+i))] = choice
		}
		form.Set("poll_attachment", encodeField(poll))
	}
	var entities []entity
	for _, phrase := range o.SpoilerPhrases {
		if at := strings.Index(text, phrase); at >= 0 {
			entities = append(entities, entity{"SPOILER", units(text[:at]), units(phrase)})
		}
	}
	if len(entities) > 0 {
		form.Set("text_entities", encodeField(entities))
	}
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

func encodeField(value any) string {
	raw, _ := json.Marshal(value) // texts and numbers always marshal
	return string(raw)
}
