package discord_test

import (
	"strings"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// optionCases is the matrix for a bot; forumPath is where it opens threads.
func optionCases(forumPath string) []platformtest.OptionCase {
	return []platformtest.OptionCase{
		{
			Name:    "embed",
			Options: `{"embed":{"title":"Bão số 9","description":"Tin mới","url":"https://vnnews.example/bao","image_url":"https://vnnews.example/bao.jpg","color":"#ff0000","footer":"VN News"}}`,
			Want: map[string]any{"embeds": []map[string]any{{
				"title": "Bão số 9", "description": "Tin mới",
				"url": "https://vnnews.example/bao", "color": 0xff0000,
				"image": map[string]string{"url": "https://vnnews.example/bao.jpg"}, "footer": map[string]string{
					"text": "VN News",
				},
			}}},
		},
		{Name: "embed and image", Options: `{"embed":{"title":"T"}}`, Images: 1, Want: map[string]any{
			"embeds": []map[string]any{{"title": "T"}},
		}},
		{
			Name: "empty embed", Options: `{"embed":{"url":"https://a.example"}}`, Field: "options.embed",
			Code: "empty_embed",
		},
		{
			Name: "embed with a long title", Options: `{"embed":{"title":"` + strings.Repeat("x", 257) + `"}}`,
			Field: "options.embed.title", Code: "too_long",
		},
		{Name: "embed that is too long in total", Options: `{"embed":{"description":"` + strings.Repeat("x", 4096) +
			`","footer":"` + strings.Repeat("y", 2000) + `"}}`, Field: "options.embed", Code: "embed_too_long"},
		{
			Name: "embed with a named color", Options: `{"embed":{"title":"T","color":"red"}}`,
			Field: "options.embed.color", Code: "not_a_color",
		},
		{
			Name: "embed with a bad address", Options: `{"embed":{"title":"T","url":"ftp://a"}}`,
			Field: "options.embed.url", Code: "invalid_url",
		},
		{Name: "suppressed embeds", Options: `{"suppress_embeds":true}`, Want: map[string]any{"flags": 4}},
		{Name: "silent", Options: `{"silent":true,"suppress_embeds":true}`, Images: 1, Want: map[string]any{
			"flags": 4100,
		}},
		{
			Name: "embed that is suppressed", Options: `{"suppress_embeds":true,"embed":{"title":"T"}}`,
			Field: "options.suppress_embeds", Code: "embed_suppressed",
		},
		{
			Name: "forum", Options: `{"forum":{"title":"Bão số 9","tags":["1234567890","1234567891"]}}`,
			CreatePath: forumPath,
			Want:       map[string]any{"name": "Bão số 9", "applied_tags": []string{"1234567890", "1234567891"}},
		},
		{
			Name: "forum with an image", Options: `{"forum":{"title":"Ảnh"},"silent":true}`, Images: 1,
			CreatePath: forumPath, Want: map[string]any{"name": "Ảnh", "flags": 4096},
		},
		{
			Name: "forum without title", Options: `{"forum":{"title":" "}}`, Field: "options.forum.title",
			Code: "no_forum_title",
		},
		{
			Name:    "forum with six tags",
			Options: `{"forum":{"title":"T","tags":["10000","10001","10002","10003","10004","10005"]}}`,
			Field:   "options.forum.tags", Code: "too_many_tags",
		},
		{
			Name: "forum with the name of a tag", Options: `{"forum":{"title":"T","tags":["news"]}}`,
			Field: "options.forum.tags[0]", Code: "not_a_tag_id",
		},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
		{Part: fake.PartReply, Reply: true, Want: network.DifferenceNoReply},
	}
}
