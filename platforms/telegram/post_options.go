package telegram

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a message.
// https://core.telegram.org/bots/api#sendmessage
type PostOptions struct {
	Silent       bool         `json:"silent,omitempty"`    // disable_notification
	Protected    bool         `json:"protected,omitempty"` // protect_content
	Buttons      [][]Button   `json:"buttons,omitempty"`   // rows below the message
	LinkPreview  *LinkPreview `json:"link_preview,omitempty"`
	Spoiler      bool         `json:"spoiler,omitempty"`       // of the attachments
	CaptionAbove bool         `json:"caption_above,omitempty"` // show_caption_above_media
	TopicID      int64        `json:"topic_id,omitempty"`      // message_thread_id of a forum
	Poll         *Poll        `json:"poll,omitempty"`
}

// Button opens an address.
type Button struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// LinkPreview is how the card of a link is shown.
type LinkPreview struct {
	Disabled  bool   `json:"disabled,omitempty"`
	URL       string `json:"url,omitempty"`  // whose card is shown; empty: that of the first link
	Size      string `json:"size,omitempty"` // small or large
	AboveText bool   `json:"above_text,omitempty"`
}

// Poll is a poll whose question is the text of the post.
type Poll struct {
	Choices         []string `json:"choices"`
	DurationMinutes int      `json:"duration_minutes,omitempty"` // 0: until it is closed manually
	Multiple        bool     `json:"multiple,omitempty"`
	HideResults     bool     `json:"hide_results,omitempty"` // until it closes
}

var _ network.OptionParser = (*Telegram)(nil)

const (
	maxQuestion   = 300
	maxButtons    = 100
	maxButtonText = 64
)

// Following returns the options that apply to each message.
func (o PostOptions) Following() network.PostOptions {
	return PostOptions{
		Silent: o.Silent, Protected: o.Protected, Spoiler: o.Spoiler, CaptionAbove: o.CaptionAbove,
		TopicID: o.TopicID,
	}
}

// ParseOptions reads the options of a message.
func (*Telegram) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions]("Telegram", raw)
}

// pollLimits are those of https://core.telegram.org/bots/api#sendpoll.
func pollLimits() network.PollLimits {
	return network.PollLimits{MinChoices: 2, MaxChoices: 12, MaxChoiceCharacters: 100, MinMinutes: 1, MaxMinutes: 43800}
}

// problems returns what Telegram would refuse of the options.
func (o PostOptions) problems(content network.Content, limits network.Limits) []network.Violation {
	c := rules.Options{Name: "Telegram"}
	if o.TopicID < 0 {
		c.Add("topic_id", "not_a_topic", "The number of a topic is positive. Copy it from the topic's link.")
	}
	o.checkButtons(&c, content)
	o.checkLinkPreview(&c, content)
	if o.Poll != nil {
		o.checkPoll(&c, content, limits)
	}
	return c.Problems
}

func (o PostOptions) checkButtons(c *rules.Options, content network.Content) {
	if len(o.Buttons) > 0 && len(content.Media) > 1 {
		c.Add("buttons", "buttons_of_album",
			"Telegram shows no buttons below an album. Remove the buttons, or use one attachment.")
	}
	count := 0
	for i, row := range o.Buttons {
		for n, button := range row {
			field := fmt.Sprintf("buttons[%d][%d]", i, n)
			count++
			if strings.TrimSpace(button.Text) == "" {
				c.Add(field+".text", "empty_button", "The button has no text. Write one.")
			}
			c.MaxRunes(field+".text", button.Text, maxButtonText)
			c.HTTPS(field+".url", button.URL)
		}
	}
	if count > maxButtons {
		c.Add("buttons", "too_many_buttons", "The message has {used} buttons; Telegram shows {limit}.", count,
			maxButtons)
	}
}

func (o PostOptions) checkLinkPreview(c *rules.Options, content network.Content) {
	p := o.LinkPreview
	if p == nil {
		return
	}
	c.OneOf("link_preview.size", p.Size, "small", "large")
	if p.URL != "" {
		c.HTTPS("link_preview.url", p.URL)
	}
	switch {
	case len(content.Media) > 0 || o.Poll != nil:
		c.Add("link_preview", "no_link_preview",
			"Telegram shows no link preview with attachments or a poll. Remove this option.")
	case p.Disabled && (p.URL != "" || p.Size != "" || p.AboveText):
		c.Add("link_preview.disabled", "link_preview_contradiction",
			"The link preview is disabled and laid out at the same time. Choose one.")
	}
}

func (o PostOptions) checkPoll(c *rules.Options, content network.Content, limits network.Limits) {
	polls := limits.Poll
	if o.Poll.DurationMinutes == 0 {
		polls.MaxMinutes = 0
	}
	c.Poll("", o.Poll.Choices, o.Poll.DurationMinutes, polls)
	if len(content.Media) > 0 {
		c.Add("poll", "poll_with_attachments",
			"{network} accepts no attachments with a poll. Remove the poll or the attachments.", c.Name)
	}
	if strings.TrimSpace(content.Text) == "" {
		c.Add("poll", "poll_without_question", "The text of the post is the poll's question. Write one.")
	}
	if o.Poll.HideResults && o.Poll.DurationMinutes == 0 {
		c.Add("poll.hide_results", "poll_never_closes", "Results are hidden until the poll closes. Set its duration.")
	}
}

// fields adds the options to a call of method.
func (o PostOptions) fields(method string, fields map[string]string) {
	for name, chosen := range map[string]bool{"disable_notification": o.Silent, "protect_content": o.Protected} {
		if chosen {
			fields[name] = "true"
		}
	}
	if o.TopicID > 0 {
		fields["message_thread_id"] = strconv.FormatInt(o.TopicID, 10)
	}
	if len(o.Buttons) > 0 {
		fields["reply_markup"] = encodeField(map[string]any{"inline_keyboard": o.Buttons})
	}
	if o.LinkPreview != nil && method == "sendMessage" {
		fields["link_preview_options"] = encodeField(o.LinkPreview.options())
	}
	// An album has these on each item.
	if method == "sendPhoto" || method == "sendVideo" || method == "sendAnimation" {
		for name, chosen := range map[string]bool{
			"has_spoiler":              o.Spoiler,
			"show_caption_above_media": o.CaptionAbove,
		} {
			if chosen {
				fields[name] = "true"
			}
		}
	}
}

// https://core.telegram.org/bots/api#linkpreviewoptions
func (p LinkPreview) options() map[string]any {
	if p.Disabled {
		return map[string]any{"is_disabled": true}
	}
	options := map[string]any{}
	if p.URL != "" {
		options["url"] = p.URL
	}
	if p.Size != "" {
		options["prefer_"+p.Size+"_media"] = true
	}
	if p.AboveText {
		options["show_above_text"] = true
	}
	return options
}

// fields sets those of sendPoll. Polls of channels are anonymous.
func (p Poll) fields(question string, fields map[string]string) {
	choices := make([]map[string]string, len(p.Choices))
	for i, choice := range p.Choices {
		choices[i] = map[string]string{"text": choice}
	}
	fields["question"], fields["options"] = question, encodeField(choices)
	if p.DurationMinutes > 0 {
		fields["open_period"] = strconv.Itoa(p.DurationMinutes * 60)
	}
	for name, chosen := range map[string]bool{
		"allows_multiple_answers":   p.Multiple,
		"hide_results_until_closes": p.HideResults,
	} {
		if chosen {
			fields[name] = "true"
		}
	}
}

func encodeField(value any) string {
	raw, _ := json.Marshal(value) // texts, numbers and booleans always marshal
	return string(raw)
}
