package facebook_test

import "dateline/platforms/platformtest"

func optionCases(page string) []platformtest.OptionCase {
	edge := func(name string) string { return "/facebook/v25.0/" + page + "/" + name }
	return []platformtest.OptionCase{
		{Name: "link", Options: `{"link":"https://vnnews.example/bao"}`, Want: map[string]any{
			"link": "https://vnnews.example/bao",
		}},
		{
			Name: "link with an image", Options: `{"link":"https://vnnews.example/bao"}`, Images: 1,
			Field: "options.link",
			Code:  "link_with_attachments",
		},
		{Name: "link without scheme", Options: `{"link":"vnnews.example"}`, Field: "options.link", Code: "invalid_url"},
		{Name: "post", Options: `{"kind":"post"}`, Images: 2, Want: map[string]any{"kind": nil}},
		{
			Name: "photo story", Options: `{"kind":"story"}`, Images: 1, NoText: true,
			CreatePath: edge("photo_stories"),
			Want:       map[string]any{"kind": "story"},
		},
		{
			Name: "video story", Options: `{"kind":"story"}`, Video: true, NoText: true,
			CreatePath: edge("video_stories"),
			Want:       map[string]any{"kind": "story"},
		},
		{
			Name: "story of two images", Options: `{"kind":"story"}`, Images: 2, Field: "options.kind",
			Code: "story_media",
		},
		{Name: "story without media", Options: `{"kind":"story"}`, Field: "options.kind", Code: "story_media"},
		{Name: "reel", Options: `{"kind":"reel"}`, Video: true, CreatePath: edge("video_reels"), Want: map[string]any{
			"kind": "reel",
		}},
		{Name: "reel of an image", Options: `{"kind":"reel"}`, Images: 1, Field: "options.kind", Code: "reel_media"},
		{Name: "first comment", Options: `{"first_comment":{"content":"Nguồn: VN News","after_minutes":5}}`},
		{
			Name: "empty first comment", Options: `{"first_comment":{"content":" "}}`,
			Field: "options.first_comment.content", Code: "empty_comment",
		},
		{
			Name: "first comment of a story", Options: `{"kind":"story","first_comment":{"content":"Nguồn"}}`,
			Images: 1,
			Field:  "options.first_comment", Code: "story_comment",
		},
		{Name: "unknown kind", Options: `{"kind":"live"}`, Field: "options.kind", Code: "unknown_value"},
		{
			Name: "options of a comment", Options: `{"link":"https://a.example"}`, Reply: true, Field: "options.kind",
			Code: "comment_options",
		},
	}
}
