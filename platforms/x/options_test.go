package x_test

import (
	"strings"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func optionCases() []platformtest.OptionCase {
	return []platformtest.OptionCase{
		{Name: "replies from followed accounts", Options: `{"reply_settings":"following"}`, Want: map[string]any{
			"reply_settings": "following",
		}},
		{Name: "replies from mentioned accounts", Options: `{"reply_settings":"mentioned"}`, Want: map[string]any{
			"reply_settings": "mentionedUsers",
		}},
		{Name: "replies from subscribers", Options: `{"reply_settings":"subscribers"}`, Want: map[string]any{
			"reply_settings": "subscribers",
		}},
		{
			Name: "replies from verified accounts", Options: `{"reply_settings":"verified"}`, Images: 1,
			Want: map[string]any{"reply_settings": "verified"},
		},
		{
			Name: "replies from others", Options: `{"reply_settings":"nobody"}`, Field: "options.reply_settings",
			Code: "unknown_value",
		},
		{
			Name: "reply settings of a reply", Options: `{"reply_settings":"verified"}`, Reply: true,
			Field: "options.reply_settings", Code: "set_on_first_post",
		},
		{
			Name: "poll", Options: `{"poll":{"choices":["Có","Không","Chưa rõ"],"duration_minutes":1440}}`,
			Want: map[string]any{
				"poll": map[string]any{"options": []string{"Có", "Không", "Chưa rõ"}, "duration_minutes": 1440},
			},
		},
		{
			Name: "poll with an image", Options: `{"poll":{"choices":["A","B"],"duration_minutes":60}}`, Images: 1,
			Field: "options.poll", Code: "poll_with_attachments",
		},
		{Name: "poll with a long choice", Options: `{"poll":{"choices":["A","` + strings.Repeat("x", 26) +
			`"],"duration_minutes":60}}`, Field: "options.poll.choices[1]", Code: "too_long"},
		{
			Name: "poll of five choices", Options: `{"poll":{"choices":["A","B","C","D","E"],"duration_minutes":60}}`,
			Field: "options.poll.choices", Code: "choice_count",
		},
		{
			Name: "poll too long", Options: `{"poll":{"choices":["A","B"],"duration_minutes":10081}}`,
			Field: "options.poll.duration_minutes", Code: "poll_duration",
		},
		{Name: "made with AI", Options: `{"made_with_ai":true}`, Want: map[string]any{"made_with_ai": true}},
		{Name: "paid partnership", Options: `{"paid_partnership":true}`, Want: map[string]any{
			"paid_partnership": true,
		}},
		{
			Name: "labels of a reply", Options: `{"made_with_ai":true,"paid_partnership":true}`, Reply: true,
			Want: map[string]any{"made_with_ai": true, "paid_partnership": true},
		},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{{Part: fake.PartText, Want: network.DifferenceCut}}
}
