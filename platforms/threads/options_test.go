package threads_test

import (
	"strings"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func optionCases() []platformtest.OptionCase {
	return []platformtest.OptionCase{
		{
			Name: "replies from followed accounts", Options: `{"reply_control":"accounts_you_follow"}`,
			Want: map[string]any{"reply_control": "accounts_you_follow"},
		},
		{
			Name: "replies from mentioned accounts", Options: `{"reply_control":"mentioned_only"}`, Images: 1,
			Want: map[string]any{"reply_control": "mentioned_only"},
		},
		{Name: "replies from followers", Options: `{"reply_control":"followers_only"}`, Images: 2, Want: map[string]any{
			"reply_control": "followers_only",
		}},
		{
			Name: "replies from others", Options: `{"reply_control":"nobody"}`, Field: "options.reply_control",
			Code: "unknown_value",
		},
		{Name: "topic", Options: `{"topic":"Thời tiết"}`, Want: map[string]any{"topic_tag": "Thời tiết"}},
		{Name: "topic with a dot", Options: `{"topic":"v.n"}`, Field: "options.topic", Code: "bad_topic"},
		{
			Name: "long topic", Options: `{"topic":"` + strings.Repeat("x", 51) + `"}`, Field: "options.topic",
			Code: "too_long",
		},
		{Name: "poll", Options: `{"poll":{"choices":["Có","Không","Chưa rõ"]}}`, Want: map[string]any{
			"poll_attachment": map[string]string{"option_a": "Có", "option_b": "Không", "option_c": "Chưa rõ"},
		}},
		{
			Name: "poll with an image", Options: `{"poll":{"choices":["A","B"]}}`, Images: 1, Field: "options.poll",
			Code: "poll_with_attachments",
		},
		{
			Name: "poll of five choices", Options: `{"poll":{"choices":["A","B","C","D","E"]}}`,
			Field: "options.poll.choices", Code: "choice_count",
		},
		{
			Name: "poll with a long choice", Options: `{"poll":{"choices":["A","` + strings.Repeat("x", 26) + `"]}}`,
			Field: "options.poll.choices[1]", Code: "too_long",
		},
		{Name: "spoiler image", Options: `{"spoiler_media":true}`, Images: 1, Want: map[string]any{
			"is_spoiler_media": true,
		}},
		{Name: "spoiler phrase", Options: `{"spoiler_phrases":["spoiler phrase"]}`, Want: map[string]any{
			"text_entities": []map[string]any{{"entity_type": "SPOILER", "offset": 9, "length": 14}},
		}},
		{
			Name: "spoiler elsewhere", Options: `{"spoiler_phrases":["not in the text at all"]}`,
			Field: "options.spoiler_phrases[0]", Code: "not_in_text",
		},
		{Name: "reply with a spoiler", Options: `{"spoiler_media":true}`, Images: 1, Reply: true, Want: map[string]any{
			"is_spoiler_media": true,
		}},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 3, Want: network.DifferenceMedia},
		{Part: fake.PartReply, Reply: true, Want: network.DifferenceNoReply},
	}
}
