package telegram_test

import (
	"strings"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func optionCases() []platformtest.OptionCase {
	choices := []map[string]string{{"text": "Có"}, {"text": "Không"}}
	return []platformtest.OptionCase{
		{Name: "silent", Options: `{"silent":true}`, Want: map[string]any{"disable_notification": true}},
		{Name: "silent album", Options: `{"silent":true,"protected":true}`, Images: 2, Want: map[string]any{
			"disable_notification": true, "protect_content": true,
		}},
		{Name: "protected photo", Options: `{"protected":true}`, Images: 1, Want: map[string]any{
			"protect_content": true,
		}},
		{Name: "topic", Options: `{"topic_id":42}`, Want: map[string]any{"message_thread_id": 42}},
		{Name: "negative topic", Options: `{"topic_id":-1}`, Field: "options.topic_id", Code: "not_a_topic"},
		{
			Name:    "buttons",
			Options: `{"buttons":[[{"text":"Đọc tiếp","url":"https://vnnews.example/a"},{"text":"Video","url":"https://vnnews.example/v"}]]}`,
			Want: map[string]any{
				"reply_markup": map[string]any{
					"inline_keyboard": [][]map[string]string{
						{{"text": "Đọc tiếp", "url": "https://vnnews.example/a"}, {
							"text": "Video", "url": "https://vnnews.example/v",
						}},
					},
				},
			},
		},
		{
			Name: "buttons of an album", Options: `{"buttons":[[{"text":"A","url":"https://a.example"}]]}`, Images: 2,
			Field: "options.buttons", Code: "buttons_of_album",
		},
		{
			Name: "button without text", Options: `{"buttons":[[{"text":" ","url":"https://a.example"}]]}`,
			Field: "options.buttons[0][0].text", Code: "empty_button",
		},
		{
			Name: "button without address", Options: `{"buttons":[[{"text":"A","url":"javascript:alert(1)"}]]}`,
			Field: "options.buttons[0][0].url", Code: "invalid_url",
		},
		{Name: "no link preview", Options: `{"link_preview":{"disabled":true}}`, Want: map[string]any{
			"link_preview_options": map[string]any{"is_disabled": true},
		}},
		{
			Name:    "large link preview",
			Options: `{"link_preview":{"size":"large","above_text":true,"url":"https://vnnews.example/a"}}`,
			Want: map[string]any{
				"link_preview_options": map[string]any{
					"prefer_large_media": true, "show_above_text": true, "url": "https://vnnews.example/a",
				},
			},
		},
		{
			Name: "huge link preview", Options: `{"link_preview":{"size":"huge"}}`, Field: "options.link_preview.size",
			Code: "unknown_value",
		},
		{
			Name: "link preview with a photo", Options: `{"link_preview":{"size":"large"}}`, Images: 1,
			Field: "options.link_preview", Code: "no_link_preview",
		},
		{
			Name: "spoiler and caption above", Options: `{"spoiler":true,"caption_above":true}`, Images: 1,
			Want: map[string]any{"has_spoiler": true, "show_caption_above_media": true},
		},
		{Name: "spoiler of an album", Options: `{"spoiler":true,"caption_above":true}`, Images: 2, Want: map[string]any{
			"has_spoiler": true, "show_caption_above_media": true,
		}},
		{
			Name:    "poll",
			Options: `{"poll":{"choices":["Có","Không"],"duration_minutes":60,"multiple":true,"hide_results":true}}`,
			Want: map[string]any{
				"options": choices, "open_period": 3600, "allows_multiple_answers": true,
				"hide_results_until_closes": true,
			},
		},
		{Name: "open poll", Options: `{"poll":{"choices":["Có","Không"]},"silent":true}`, Want: map[string]any{
			"options": choices, "disable_notification": true,
		}},
		{
			Name: "poll with a photo", Options: `{"poll":{"choices":["A","B"]}}`, Images: 1, Field: "options.poll",
			Code: "poll_with_attachments",
		},
		{
			Name: "poll without a question", Options: `{"poll":{"choices":["A","B"]}}`, NoText: true,
			Field: "options.poll", Code: "poll_without_question",
		},
		{
			Name: "poll with a long choice", Options: `{"poll":{"choices":["A","` + strings.Repeat("x", 101) + `"]}}`,
			Field: "options.poll.choices[1]", Code: "too_long",
		},
		{
			Name: "poll that hides results for ever", Options: `{"poll":{"choices":["A","B"],"hide_results":true}}`,
			Field: "options.poll.hide_results", Code: "poll_never_closes",
		},
		{
			Name: "poll for years", Options: `{"poll":{"choices":["A","B"],"duration_minutes":1000000}}`,
			Field: "options.poll.duration_minutes", Code: "poll_duration",
		},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
		{Part: fake.PartReply, Reply: true, Want: network.DifferenceNoReply},
		{Part: fake.PartWarning, Images: 1, Options: `{"spoiler":true}`, Want: network.DifferenceNoCover},
	}
}
