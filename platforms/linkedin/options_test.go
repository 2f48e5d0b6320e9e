package linkedin_test

import (
	"strings"

	"dateline/platforms/platformtest"
)

// optionCases is the option matrix of a member, or of an organization.
func optionCases(organization bool) []platformtest.OptionCase {
	pollWant := map[string]any{
		"question": "Mưa lớn?", "options": []map[string]string{{"text": "Có"}, {"text": "Không"}},
		"settings": map[string]string{"duration": "SEVEN_DAYS"},
	}
	cases := []platformtest.OptionCase{
		{Name: "public", Options: `{"visibility":"public"}`, Want: map[string]any{"visibility": "PUBLIC"}},
		{
			Name: "visible to friends", Options: `{"visibility":"friends"}`, Field: "options.visibility",
			Code: "unknown_value",
		},
		{
			Name: "poll", Options: `{"poll":{"question":"Mưa lớn?","choices":["Có","Không"],"duration_days":7}}`,
			Want: map[string]any{"poll": pollWant},
		},
		{
			Name: "poll with an image", Options: `{"poll":{"question":"Q","choices":["A","B"],"duration_days":7}}`,
			Images: 1, Field: "options.poll", Code: "poll_with_attachments",
		},
		{
			Name: "poll without a question", Options: `{"poll":{"question":"","choices":["A","B"],"duration_days":7}}`,
			Field: "options.poll.question", Code: "no_question",
		},
		{Name: "poll with a long choice", Options: `{"poll":{"question":"Q","choices":["A","` +
			strings.Repeat("x", 31) + `"],"duration_days":7}}`, Field: "options.poll.choices[1]", Code: "too_long"},
		{
			Name: "poll for two days", Options: `{"poll":{"question":"Q","choices":["A","B"],"duration_days":2}}`,
			Field: "options.poll.duration_days", Code: "poll_days",
		},
		{Name: "document", Options: `{}`, Document: true, Want: map[string]any{"title": "Báo cáo"}},
		{
			Name: "document with a title", Options: `{"document_title":"Mùa mưa 2026"}`, Document: true,
			Want: map[string]any{"title": "Mùa mưa 2026"},
		},
		{
			Name: "document with an image", Options: `{}`, Document: true, Images: 1, Field: "attachments",
			Code: "document_with_others",
		},
		{
			Name: "document in a comment", Options: `{}`, Document: true, Reply: true, Field: "attachments[0]",
			Code: "unsupported_type",
		},
		{
			Name: "title without a document", Options: `{"document_title":"Mùa mưa 2026"}`, Images: 1,
			Field: "options.document_title", Code: "title_without_document",
		},
		{Name: "no reshares", Options: `{"no_reshare":true}`, Images: 1, Want: map[string]any{
			"isReshareDisabledByAuthor": true,
		}},
		{Name: "first comment", Options: `{"first_comment":{"content":"Nguồn: VN News","after_minutes":5}}`},
		{
			Name: "options of a comment", Options: `{"no_reshare":true}`, Reply: true, Field: "options.visibility",
			Code: "comment_options",
		},
	}
	if organization {
		return append(cases, platformtest.OptionCase{
			Name: "visible to connections", Options: `{"visibility":"connections"}`, Field: "options.visibility",
			Code: "unknown_value",
		})
	}
	return append(cases,
		platformtest.OptionCase{
			Name: "visible to connections", Options: `{"visibility":"connections"}`,
			Want: map[string]any{"visibility": "CONNECTIONS"},
		},
		platformtest.OptionCase{
			Name: "visible to members", Options: `{"visibility":"logged_in"}`, Images: 1,
			Want: map[string]any{"visibility": "LOGGED_IN"},
		})
}
