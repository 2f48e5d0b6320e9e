package mastodon_test

import (
	"strconv"
	"strings"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func optionCases() []platformtest.OptionCase {
	poll := map[string]any{
		"options": []string{"Có", "Không"}, "expires_in": 3600, "multiple": true,
		"hide_totals": true,
	}
	const beyond = 50_000 // no server's limits are that high
	choices := make([]string, 200)
	for i := range choices {
		choices[i] = strconv.Itoa(i)
	}
	return []platformtest.OptionCase{
		{Name: "visibility unlisted", Options: `{"visibility":"unlisted"}`, Want: map[string]any{
			"visibility": "unlisted",
		}},
		{Name: "visibility private", Options: `{"visibility":"private"}`, Want: map[string]any{
			"visibility": "private",
		}},
		{Name: "visibility direct", Options: `{"visibility":"direct"}`, Want: map[string]any{"visibility": "direct"}},
		{
			Name: "visibility unknown", Options: `{"visibility":"friends"}`, Field: "options.visibility",
			Code: "unknown_value",
		},
		{
			Name: "content warning", Options: `{"content_warning":"Hình ảnh bão lũ","sensitive":true}`, Images: 1,
			Want: map[string]any{"spoiler_text": "Hình ảnh bão lũ", "sensitive": true},
		},
		{
			Name: "content warning too long", Options: `{"content_warning":"` + strings.Repeat("x", beyond) + `"}`,
			Field: "content", Code: "too_long",
		},
		{Name: "language", Options: `{"language":"vi"}`, Want: map[string]any{"language": "vi"}},
		{Name: "half a language", Options: `{"language":"v"}`, Field: "options.language", Code: "not_a_language"},
		{
			Name:    "poll",
			Options: `{"poll":{"choices":["Có","Không"],"duration_minutes":60,"multiple":true,"hide_totals":true}}`,
			Want:    map[string]any{"poll": poll},
		},
		{
			Name: "poll with an image", Options: `{"poll":{"choices":["A","B"],"duration_minutes":60}}`, Images: 1,
			Field: "options.poll", Code: "poll_with_attachments",
		},
		{
			Name: "poll of one choice", Options: `{"poll":{"choices":["A"],"duration_minutes":60}}`,
			Field: "options.poll.choices", Code: "choice_count",
		},
		{Name: "poll of many choices", Options: `{"poll":{"choices":["` + strings.Join(choices, `","`) +
			`"],"duration_minutes":60}}`, Field: "options.poll.choices", Code: "choice_count"},
		{Name: "poll with a long choice", Options: `{"poll":{"choices":["` + strings.Repeat("x", beyond) +
			`","B"],"duration_minutes":60}}`, Field: "options.poll.choices[0]", Code: "too_long"},
		{
			Name: "poll with equal choices", Options: `{"poll":{"choices":["A","A"],"duration_minutes":60}}`,
			Field: "options.poll.choices[1]", Code: "equal_choices",
		},
		{
			Name: "poll with an empty choice", Options: `{"poll":{"choices":["A"," "],"duration_minutes":60}}`,
			Field: "options.poll.choices[1]", Code: "empty_choice",
		},
		{
			Name: "poll too short", Options: `{"poll":{"choices":["A","B"],"duration_minutes":4}}`,
			Field: "options.poll.duration_minutes", Code: "poll_duration",
		},
		{Name: "quote policy", Options: `{"quote_policy":"followers"}`, Want: map[string]any{
			"quote_approval_policy": "followers",
		}},
		{
			Name: "quote policy of a private post", Options: `{"visibility":"private","quote_policy":"public"}`,
			Field: "options.quote_policy", Code: "quote_of_private",
		},
		{
			Name: "reply with options", Options: `{"visibility":"unlisted","content_warning":"CW"}`, Reply: true,
			Want: map[string]any{"visibility": "unlisted", "spoiler_text": "CW"},
		},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
		{Part: fake.PartOrder, Images: 2, Want: network.DifferenceMediaOrder},
		{
			Part: fake.PartPoll, Options: `{"poll":{"choices":["Có","Không"],"duration_minutes":60}}`,
			Want: network.DifferenceNoPoll,
		},
		{Part: fake.PartReply, Reply: true, Want: network.DifferenceNoReply},
		{Part: fake.PartVisibility, Options: `{"visibility":"unlisted"}`, Want: network.DifferenceWider},
		{Part: fake.PartWarning, Options: `{"content_warning":"Bạo lực"}`, Want: network.DifferenceNoWarning},
		{Part: fake.PartLanguage, Want: network.DifferenceLanguage},
	}
}
