package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/call"
)

// Every malformed request gets a problem document with reason and field, and changes
// nothing.
func TestMalformed_RequestsAreExplainedAndStoreNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	existing := s.Schedule(func(d *scheduling.Draft) { d.ScheduledTime = in(3 * time.Hour) })
	file := s.upload("a.png", "").Id.String()
	guarded, err := call.NewClient(nil)
	s.Must(err)
	s.Media.Web = guarded
	rivals, rival, _ := s.Found("Rivals")
	foreign, err := s.Media.Upload(t.Context(), rival, "theirs.png", "", bytes.NewReader(picture(t)))
	s.Must(err)
	if foreign.WorkspaceID != rivals.ID {
		t.Fatal("another workspace got the file")
	}
	year := time.Now().Year() + 1
	march := time.Date(year, time.April, 0, 0, 0, 0, 0, time.UTC)
	gap := march.AddDate(0, 0, -int(march.Weekday())).Format("2006-01-02") + "T02:30"

	const posts = "/api/v1/posts"
	one := posts + "/" + existing.ID.String()
	strangers := uuid.NewString()
	files := make([]string, 21)
	for i := range files {
		files[i] = uuid.NewString()
	}
	dead := s.Dead(s.Schedule(func(d *scheduling.Draft) { d.ScheduledTime = in(4 * time.Hour) }), post.TargetFailed)
	doubtful := s.Dead(s.Schedule(func(d *scheduling.Draft) { d.ScheduledTime = in(5 * time.Hour) }),
		post.TargetUncertain)
	retry, target := posts+"/"+dead.ID.String()+"/retry", posts+"/"+doubtful.ID.String()+"/targets/"+
		doubtful.Targets[0].ID.String()
	discard := posts + "/" + dead.ID.String() + "/discard"
	const letters, library = "/api/v1/dead-letters", "/api/v1/media"
	right := object{"url": "https://social.example/@desk/1"}
	for _, c := range []struct {
		name, method, path string
		body               any
		headers            []string
		status             int
		code, field        string
	}{
		// The body as a whole.
		{"empty body", "POST", posts, "", nil, 400, "invalid_request", "body"},
		{"no body", "POST", posts, nil, []string{"Content-Type", "application/json"}, 400, "invalid_request", "body"},
		{"broken JSON", "POST", posts, `{"content": "Hello", `, nil, 400, "invalid_request", "body"},
		{
			"trailing garbage", "POST", posts, `{"content":"Hello","scheduled_time":"` + in(time.Hour) + `"} and more`,
			nil, 400, "invalid_request", "body",
		},
		{
			"two documents", "POST", posts, `{"content":"Hello","scheduled_time":"` + in(time.Hour) + `"}{}`, nil, 400,
			"invalid_request", "body",
		},
		{"a list", "POST", posts, `[]`, nil, 400, "invalid_request", "body"},
		{"a string", "POST", posts, `"Hello"`, nil, 400, "invalid_request", "body"},
		{"null", "POST", posts, `null`, nil, 400, "invalid_request", "body"},
		{"deep nesting", "POST", posts, `{"content":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) +
			`,"scheduled_time":"x"}`, nil, 400, "invalid_request", ""},
		{
			"deep nesting, unclosed", "POST", posts, strings.Repeat(`{"content":`, 20_000), nil, 400, "invalid_request",
			"body",
		},
		{
			"huge body", "POST", posts, hello(object{"content": strings.Repeat("x", maxBody)}), nil, 413, "too_large",
			"body",
		},
		{
			"huge body of unknown length", "POST", posts,
			io.MultiReader(strings.NewReader(`{"content":"` + strings.Repeat("x", 2*maxBody) + `"}`)), nil, 413,
			"too_large", "body",
		},
		{
			"form instead of JSON", "POST", posts, "content=Hello",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
			415, "unsupported_media_type",
			"Content-Type",
		},
		{
			"no content type", "POST", posts, hello(),
			[]string{"Content-Type", ""},
			415, "unsupported_media_type",
			"Content-Type",
		},
		{
			"nonsense content type", "POST", posts, hello(),
			[]string{"Content-Type", "json/;;"},
			415,
			"unsupported_media_type", "Content-Type",
		},
		{
			"invalid UTF-8", "POST", posts, "{\"content\":\"a\xff\xfeb\",\"scheduled_time\":\"" + in(time.Hour) + "\"}",
			nil, 400, "invalid_request", "body",
		},
		{"body where none is expected", "DELETE", one, `{}`, nil, 400, "invalid_request", "body"},

		// Fields: missing, unknown, of a wrong type.
		{
			"missing content", "POST", posts,
			object{"scheduled_time": in(time.Hour)},
			nil, 400, "invalid_request",
			"content",
		},
		{"missing time", "POST", posts, object{"content": "Hello"}, nil, 422, "invalid_request", "scheduled_time"},
		{"empty object", "POST", posts, `{}`, nil, 400, "invalid_request", "content"},
		{"unknown field", "POST", posts, hello(object{"colour": "red"}), nil, 400, "invalid_request", "colour"},
		{
			"misspelt field", "POST", posts, hello(object{"Accounts": []string{}}), nil, 400, "invalid_request",
			"Accounts",
		},
		{"content is a number", "POST", posts, hello(object{"content": 5}), nil, 400, "invalid_request", "content"},
		{
			"content is an object", "POST", posts, hello(object{"content": object{}}), nil, 400, "invalid_request",
			"content",
		},
		{"content is null", "POST", posts, hello(object{"content": nil}), nil, 400, "invalid_request", "content"},
		{
			"time is null", "POST", posts, hello(object{"scheduled_time": nil}), nil, 400, "invalid_request",
			"scheduled_time",
		},
		{
			"time is a number", "POST", posts, hello(object{"scheduled_time": 1766599200}), nil, 400, "invalid_request",
			"scheduled_time",
		},
		{"accounts is null", "POST", posts, hello(object{"accounts": nil}), nil, 400, "invalid_request", "accounts"},
		{
			"accounts is a string", "POST", posts, hello(object{"accounts": "desk"}), nil, 400, "invalid_request",
			"accounts",
		},
		{
			"an account is a number", "POST", posts, hello(object{"accounts": []any{"a", 7}}), nil, 400,
			"invalid_request",
			"accounts[1]",
		},
		{"no account", "POST", posts, hello(object{"accounts": []string{}}), nil, 400, "invalid_request", "accounts"},
		{
			"attachments is an object", "POST", posts, hello(object{"attachments": object{}}), nil, 400,
			"invalid_request",
			"attachments",
		},
		{
			"language is long", "POST", posts, hello(object{"language": "Vietnamese"}), nil, 400, "invalid_request",
			"language",
		},

		// Fields: invalid values.
		{"empty text", "POST", posts, hello(object{"content": ""}), nil, 422, "invalid_request", "content"},
		{
			"too long by Mastodon's count", "POST", posts, hello(object{"content": strings.Repeat("👨‍👩‍👧‍👦", 501)}),
			nil,
			422, "invalid_request", "content",
		},
		{
			"beyond all limits", "POST", posts, hello(object{"content": strings.Repeat("x", 100_001)}), nil, 400,
			"invalid_request", "content",
		},
		{
			"NUL in the text", "POST", posts, `{"content":"a\u0000b","scheduled_time":"` + in(time.Hour) + `"}`, nil,
			422,
			"invalid_request", "content",
		},
		{
			"past", "POST", posts, hello(object{"scheduled_time": in(-time.Minute)}), nil, 422, "invalid_request",
			"scheduled_time",
		},
		{
			"too far", "POST", posts, hello(object{"scheduled_time": "2199-01-01T00:00:00Z"}), nil, 422,
			"invalid_request",
			"scheduled_time",
		},
		{
			"no time", "POST", posts, hello(object{"scheduled_time": "tomorrow"}), nil, 422, "invalid_request",
			"scheduled_time",
		},
		{
			"impossible date", "POST", posts, hello(object{"scheduled_time": fmt.Sprint(year) + "-02-30T00:00:00Z"}),
			nil,
			422, "invalid_request", "scheduled_time",
		},
		{
			"unknown zone", "POST", posts, hello(object{"time_zone": "Mars/Olympus"}), nil, 422, "invalid_request",
			"time_zone",
		},
		{"zone with NUL", "POST", posts, `{"content":"Hello","scheduled_time":"` + in(time.Hour) +
			`","time_zone":"UTC\u0000"}`, nil, 422, "invalid_request", "time_zone"},
		{
			"skipped by daylight saving time", "POST", posts,
			hello(object{"scheduled_time": gap, "time_zone": "Europe/Berlin"}), nil, 422, "invalid_request",
			"scheduled_time",
		},
		{
			"unknown account", "POST", posts, hello(object{"accounts": []string{uuid.NewString()}}), nil, 422,
			"invalid_request", "accounts[0]",
		},
		{
			"account that is not a UUID", "POST", posts, hello(object{"accounts": []string{"desk"}}), nil, 422,
			"invalid_request", "accounts[0]",
		},
		{
			"unknown attachment", "POST", posts, hello(object{"attachments": []string{file, uuid.NewString()}}), nil,
			422,
			"invalid_request", "attachments[1]",
		},
		{
			"attachment twice", "POST", posts, hello(object{"attachments": []string{file, file}}), nil, 422,
			"invalid_request", "attachments[1]",
		},
		{
			"foreign attachment", "POST", posts, hello(object{"attachments": []string{foreign.ID.String()}}), nil, 422,
			"invalid_request", "attachments[0]",
		},
		{
			"too many attachments", "POST", posts, hello(object{"attachments": files}), nil, 400, "invalid_request",
			"attachments",
		},
		{
			"unknown parent", "POST", posts, hello(object{"thread_parent_id": uuid.NewString()}), nil, 422,
			"invalid_request", "thread_parent_id",
		},
		{
			"parent that is not a UUID", "POST", posts, hello(object{"thread_parent_id": "first"}), nil, 422,
			"invalid_request", "thread_parent_id",
		},
		{
			"earlier than the parent", "POST", posts, hello(object{"thread_parent_id": existing.ID}), nil, 422,
			"invalid_request", "scheduled_time",
		},
		{
			"language that is none", "POST", posts, hello(object{"language": "v1"}), nil, 422, "invalid_request",
			"language",
		},
		{
			"short form, wrong too", "POST", "/api/schedule-post", hello(object{"content": 5}), nil, 400,
			"invalid_request", "content",
		},

		// Headers.
		{
			"empty Idempotency-Key", "POST", posts, hello(),
			[]string{"Idempotency-Key", " "},
			400, "invalid_request",
			"Idempotency-Key",
		},
		{
			"long Idempotency-Key", "POST", posts, hello(),
			[]string{"Idempotency-Key", strings.Repeat("k", 256)},
			400,
			"invalid_request", "Idempotency-Key",
		},
		{
			"Idempotency-Key that is no text", "POST", posts, hello(),
			[]string{"Idempotency-Key", "a\xffb"},
			422,
			"invalid_request", "Idempotency-Key",
		},
		{
			"If-Match that is no ETag", "DELETE", one, nil,
			[]string{"If-Match", `"first"`},
			422, "invalid_request",
			"If-Match",
		},
		{"If-Match of 0", "DELETE", one, nil, []string{"If-Match", `"0"`}, 422, "invalid_request", "If-Match"},
		{
			"long If-Match", "DELETE", one, nil,
			[]string{"If-Match", strings.Repeat("1", 40)},
			400, "invalid_request",
			"If-Match",
		},
		{
			"Last-Event-ID is not a number", "GET", one + "/events", nil,
			[]string{"Last-Event-ID", "latest"},
			400,
			"invalid_request", "Last-Event-ID",
		},
		{
			"Last-Event-ID out of range", "GET", one + "/events", nil,
			[]string{"Last-Event-ID", "99999999999999999999"},
			422, "invalid_request", "Last-Event-ID",
		},

		// Edits.
		{"edit without fields", "PATCH", one, `{}`, nil, 400, "invalid_request", "body"},
		{"edit of an unknown field", "PATCH", one, object{"status": "posted"}, nil, 400, "invalid_request", "status"},
		{"edit to null", "PATCH", one, object{"content": nil}, nil, 400, "invalid_request", "content"},
		{
			"edit to the past", "PATCH", one,
			object{"scheduled_time": in(-time.Hour)},
			nil, 422, "invalid_request",
			"scheduled_time",
		},
		{"edit to an empty text", "PATCH", one, object{"content": ""}, nil, 422, "invalid_request", "content"},

		// Threads, overrides, drafts, late limits.
		{"thread is a string", "POST", posts, hello(object{"thread": "more"}), nil, 400, "invalid_request", "thread"},
		{
			"segment is a string", "POST", posts, hello(object{"thread": []any{"more"}}), nil, 400, "invalid_request",
			"thread[0]",
		},
		{
			"segment without content", "POST", posts, hello(object{"thread": []any{object{}}}), nil, 400,
			"invalid_request", "thread[0].content",
		},
		{
			"unknown field in a segment", "POST", posts,
			hello(object{"thread": []any{object{"content": "x", "delay": 5}}}), nil, 400, "invalid_request",
			"thread[0].delay",
		},
		{
			"too many segments", "POST", posts,
			hello(object{"thread": slices.Repeat([]any{object{"content": "x"}}, 101)}),
			nil, 400, "invalid_request", "thread",
		},
		{
			"long segment", "POST", posts,
			hello(object{"thread": []any{object{"content": "x"}, object{"content": strings.Repeat("x", 501)}}}), nil,
			422, "invalid_request", "thread[1].content",
		},
		{
			"unknown file in a segment", "POST", posts,
			hello(object{"thread": []any{object{"content": "x", "attachments": []string{uuid.NewString()}}}}), nil, 422,
			"invalid_request", "thread[0].attachments[0]",
		},
		{
			"NUL in a segment", "POST", posts, hello(object{"thread": []any{object{"content": "a\x00"}}}), nil, 422,
			"invalid_request", "thread[0].content",
		},
		{
			"overrides is a list", "POST", posts, hello(object{"overrides": []any{}}), nil, 400, "invalid_request",
			"overrides",
		},
		{
			"override is null", "POST", posts,
			hello(object{"overrides": object{existing.Targets[0].AccountID.String(): nil}}), nil, 400,
			"invalid_request", "",
		},
		{
			"override of an invalid account", "POST", posts, hello(object{"overrides": object{"desk": object{}}}), nil,
			422, "invalid_request", "overrides",
		},
		{
			"override of an unknown account", "POST", posts,
			hello(object{"overrides": object{strangers: object{"content": "x"}}}), nil, 422, "invalid_request",
			"overrides." + strangers,
		},
		{
			"unknown field in an override", "PATCH", one,
			object{"overrides": object{strangers: object{"language": "vi"}}},
			nil, 400, "invalid_request", "",
		},
		{
			"removing an override that does not exist", "PATCH", one,
			object{"overrides": object{strangers: nil}},
			nil,
			422, "invalid_request", "overrides." + strangers,
		},
		{"draft is a string", "POST", posts, hello(object{"draft": "yes"}), nil, 400, "invalid_request", "draft"},
		{"draft with NUL", "POST", posts, `{"draft":true,"content":"a\u0000"}`, nil, 422, "invalid_request", "content"},
		{
			"negative late limit", "POST", posts, hello(object{"drop_if_late_minutes": -1}), nil, 400,
			"invalid_request",
			"drop_if_late_minutes",
		},
		{
			"late limit beyond a year", "POST", posts, hello(object{"drop_if_late_minutes": 527041}), nil, 400,
			"invalid_request", "drop_if_late_minutes",
		},
		{
			"late limit in part", "POST", posts, hello(object{"drop_if_late_minutes": 1.5}), nil, 400,
			"invalid_request",
			"drop_if_late_minutes",
		},
		{"submit a scheduled post", "POST", one + "/submit", nil, nil, 409, "not_a_draft", ""},
		{"submit with a body", "POST", one + "/submit", object{"note": "x"}, nil, 400, "invalid_request", "body"},
		{
			"submit an unknown post", "POST", posts + "/" + uuid.NewString() + "/submit", nil, nil, 404,
			"post_not_found",
			"",
		},
		{
			"approve a post that is not pending", "POST", one + "/approve", nil,
			[]string{"If-Match", "*"},
			409,
			"not_pending", "",
		},
		{"approve without an ETag", "POST", one + "/approve", nil, nil, 428, "if_match_required", ""},
		{
			"approve an unknown post", "POST", posts + "/" + uuid.NewString() + "/approve", nil,
			[]string{"If-Match", "*"},
			404, "post_not_found", "",
		},
		{"approve with a body", "POST", one + "/approve", object{}, nil, 400, "invalid_request", "body"},
		{
			"approve with an outdated ETag", "POST", one + "/approve", nil,
			[]string{"If-Match", `"7"`},
			412,
			"version_mismatch", "",
		},
		{
			"approve with a malformed ETag", "POST", one + "/approve", nil,
			[]string{"If-Match", `"x"`},
			422,
			"invalid_request", "If-Match",
		},
		{"approve by the wrong method", "DELETE", one + "/approve", nil, nil, 405, "method_not_allowed", ""},
		{
			"reject a post that is not pending", "POST", one + "/reject",
			object{"note": "No"},
			nil, 409, "not_pending",
			"",
		},
		{
			"reject an unknown post", "POST", posts + "/" + uuid.NewString() + "/reject",
			object{"note": "No"},
			nil, 404,
			"post_not_found", "",
		},
		{"reject without a reason", "POST", one + "/reject", object{}, nil, 400, "invalid_request", "note"},
		{
			"reject with an empty reason", "POST", one + "/reject",
			object{"note": ""},
			nil, 400, "invalid_request",
			"note",
		},
		{
			"reject with too long a reason", "POST", one + "/reject",
			object{"note": strings.Repeat("x", 2001)},
			nil, 400,
			"invalid_request", "note",
		},
		{
			"reject with NUL in the reason", "POST", one + "/reject",
			object{"note": "a\x00"},
			nil, 422, "invalid_request",
			"note",
		},
		{
			"reject with an outdated ETag", "POST", one + "/reject",
			object{"note": "No"},
			[]string{"If-Match", `"7"`},
			412, "version_mismatch", "",
		},
		{
			"preview without a body", "POST", posts + "/preview", nil,
			[]string{"Content-Type", "application/json"},
			400,
			"invalid_request", "body",
		},
		{
			"preview of a body that is not an object", "POST", posts + "/preview", "[]", nil, 400, "invalid_request",
			"body",
		},
		{
			"preview with an unknown field", "POST", posts + "/preview",
			object{"text": "x"},
			nil, 400, "invalid_request",
			"text",
		},
		{
			"preview with content of a wrong type", "POST", posts + "/preview",
			object{"content": 1},
			nil, 400,
			"invalid_request", "content",
		},
		{
			"preview with too many files", "POST", posts + "/preview",
			object{"attachments": files},
			nil, 400,
			"invalid_request", "attachments",
		},
		{"preview by the wrong method", "PUT", posts + "/preview", object{}, nil, 405, "method_not_allowed", ""},
		{"unknown approval", "GET", posts + "?approval=perhaps", nil, nil, 400, "invalid_request", "approval"},
		{
			"one of two approvals is unknown", "GET", posts + "?approval=pending,perhaps", nil, nil, 400,
			"invalid_request", "approval",
		},
		{
			"schedule without a body", "POST", one + "/schedule", nil,
			[]string{"Content-Type", "application/json"},
			400,
			"invalid_request", "body",
		},
		{
			"schedule with an unknown field", "POST", one + "/schedule",
			object{"when": "now"},
			nil, 400,
			"invalid_request", "when",
		},
		{
			"schedule a post that is not a draft", "POST", one + "/schedule",
			object{"scheduled_time": in(time.Hour)},
			nil,
			409, "not_a_draft", "",
		},
		{
			"schedule an unknown post", "POST", posts + "/" + uuid.NewString() + "/schedule",
			object{},
			nil, 404,
			"post_not_found", "",
		},

		// Dead letters.
		{
			"retry with targets that are not a list", "POST", retry,
			object{"targets": "all"},
			nil, 400, "invalid_request",
			"targets",
		},
		{
			"retry with an empty list", "POST", retry,
			object{"targets": []string{}},
			nil, 400, "invalid_request",
			"targets",
		},
		{
			"discard with an empty list", "POST", discard,
			object{"targets": []string{}},
			nil, 400, "invalid_request",
			"targets",
		},
		{
			"retry with an invalid id", "POST", retry,
			object{"targets": []string{"desk"}},
			nil, 400, "invalid_request",
			"",
		},
		{
			"discard with an unknown field", "POST", discard,
			object{"target": uuid.NewString()},
			nil, 400,
			"invalid_request", "target",
		},
		{"discard with null", "POST", discard, `null`, nil, 400, "invalid_request", "body"},
		{"discard with malformed JSON", "POST", discard, `{"targets":`, nil, 400, "invalid_request", "body"},
		{
			"discard with a form", "POST", discard, "targets=all",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
			415, "unsupported_media_type",
			"Content-Type",
		},
		{
			"retry of another target", "POST", retry,
			object{"targets": []string{uuid.NewString()}},
			nil, 409,
			"not_a_dead_letter", "",
		},
		{"retry of a target that has not failed", "POST", one + "/retry", nil, nil, 409, "not_a_dead_letter", ""},
		{
			"discard of a target that has not failed", "POST", one + "/discard",
			object{},
			nil, 409, "not_a_dead_letter",
			"",
		},
		{
			"retry of an unknown post", "POST", posts + "/" + uuid.NewString() + "/retry", nil, nil, 404,
			"post_not_found",
			"",
		},
		{"retry with an invalid post id", "POST", posts + "/first/retry", nil, nil, 400, "invalid_request", "id"},
		{"retry with an outdated ETag", "POST", retry, nil, []string{"If-Match", `"1"`}, 412, "version_mismatch", ""},
		{"confirm without a URL", "POST", target + "/confirm", object{}, nil, 400, "invalid_request", "url"},
		{
			"confirm without a body", "POST", target + "/confirm", nil,
			[]string{"Content-Type", "application/json"},
			400,
			"invalid_request", "body",
		},
		{
			"confirm with an invalid URL", "POST", target + "/confirm",
			object{"url": "yes"},
			nil, 422, "invalid_request",
			"url",
		},
		{
			"confirm with a javascript URL", "POST", target + "/confirm",
			object{"url": "javascript:alert(1)"},
			nil, 422,
			"invalid_request", "url",
		},
		{
			"confirm with NUL", "POST", target + "/confirm",
			object{"url": "https://social.example/1", "remote_id": "1\x00"},
			nil, 422, "invalid_request", "remote_id",
		},
		{"confirm an unknown target", "POST", posts + "/" + doubtful.ID.String() + "/targets/" + uuid.NewString() +
			"/confirm", right, nil, 409, "not_uncertain", ""},
		{
			"confirm with an invalid target id", "POST", posts + "/" + doubtful.ID.String() + "/targets/desk/confirm",
			right, nil, 400, "invalid_request", "target",
		},
		{"confirm a failed target", "POST", posts + "/" + dead.ID.String() + "/targets/" + dead.Targets[0].ID.String() +
			"/confirm", right, nil, 409, "not_uncertain", ""},
		{
			"resend a scheduled target", "POST", one + "/targets/" + existing.Targets[0].ID.String() + "/resend", nil,
			nil,
			409, "not_uncertain", "",
		},
		{"resend with a body", "POST", target + "/resend", `{}`, nil, 400, "invalid_request", "body"},
		{
			"resend with an outdated ETag", "POST", target + "/resend", nil,
			[]string{"If-Match", `"1"`},
			412,
			"version_mismatch", "",
		},
		{"letters' limit", "GET", letters + "?limit=0", nil, nil, 400, "invalid_request", "limit"},
		{"letters' cursor", "GET", letters + "?cursor=nonsense", nil, nil, 422, "invalid_request", "cursor"},
		{"letters' account", "GET", letters + "?account=desk", nil, nil, 400, "invalid_request", "account"},
		{"dead letters: reason with NUL", "GET", letters + "?reason=a%00", nil, nil, 422, "invalid_request", "reason"},
		{
			"dead letters: invalid UTF-8 in network", "GET", letters + "?network=%ff", nil, nil, 422, "invalid_request",
			"network",
		},
		{"bulk: empty object", "POST", letters + "/retry", object{}, nil, 400, "invalid_request", "body"},
		{
			"bulk: no body", "POST", letters + "/discard", nil,
			[]string{"Content-Type", "application/json"},
			400,
			"invalid_request", "body",
		},
		{
			"bulk: no selection", "POST", letters + "/discard",
			object{"dry_run": true},
			nil, 422, "invalid_request",
			"all",
		},
		{"bulk: all is false", "POST", letters + "/discard", object{"all": false}, nil, 422, "invalid_request", "all"},
		{
			"bulk: empty reason", "POST", letters + "/retry",
			object{"reasons": []string{}},
			nil, 400, "invalid_request",
			"reasons",
		},
		{
			"bulk: NUL in reason", "POST", letters + "/discard",
			object{"reasons": []string{"a\x00"}},
			nil, 422,
			"invalid_request", "reasons[0]",
		},
		{
			"bulk: invalid post id", "POST", letters + "/discard",
			object{"posts": []string{"first"}},
			nil, 400,
			"invalid_request", "",
		},
		{
			"bulk: unknown field", "POST", letters + "/discard",
			object{"all": true, "status": "failed"},
			nil, 400,
			"invalid_request", "status",
		},
		{"bulk: wrong method", "DELETE", letters + "/discard", nil, nil, 405, "method_not_allowed", ""},

		// Media.
		{"no kind", "GET", library + "?kind=audio", nil, nil, 400, "invalid_request", "kind"},
		{"library's limit", "GET", library + "?limit=0", nil, nil, 400, "invalid_request", "limit"},
		{"library's cursor", "GET", library + "?cursor=nonsense", nil, nil, 422, "invalid_request", "cursor"},
		{"search with NUL", "GET", library + "?q=a%00", nil, nil, 422, "invalid_request", "q"},
		{"search with invalid UTF-8", "GET", library + "?q=%ff", nil, nil, 422, "invalid_request", "q"},
		{"long search", "GET", library + "?q=" + strings.Repeat("a", 201), nil, nil, 400, "invalid_request", "q"},
		{"edit without a field", "PATCH", library + "/" + file, object{}, nil, 400, "invalid_request", "body"},
		{
			"edit of the content type", "PATCH", library + "/" + file,
			object{"mime_type": "image/gif"},
			nil, 400,
			"invalid_request", "mime_type",
		},
		{
			"NUL in a description", "PATCH", library + "/" + file,
			object{"alt_text": "a\x00"},
			nil, 422,
			"invalid_request", "alt_text",
		},
		{
			"long description", "PATCH", library + "/" + file,
			object{"alt_text": strings.Repeat("x", 10_001)},
			nil, 422,
			"invalid_request", "alt_text",
		},
		{
			"empty name", "PATCH", library + "/" + file,
			object{"file_name": "../"},
			nil, 422, "invalid_request",
			"file_name",
		},
		{
			"edit of another workspace's file", "PATCH", library + "/" + foreign.ID.String(),
			object{"alt_text": "a"},
			nil,
			404, "media_not_found", "",
		},
		{"delete an unknown file", "DELETE", library + "/first", nil, nil, 400, "invalid_request", "id"},
		{"content of an unknown file", "GET", library + "/first/content", nil, nil, 400, "invalid_request", "id"},
		{
			"content of another workspace's file", "GET", library + "/" + foreign.ID.String() + "/content", nil, nil,
			404,
			"media_not_found", "",
		},
		{
			"fitness of another workspace's file", "GET", library + "/" + foreign.ID.String() + "/fitness", nil, nil,
			404,
			"media_not_found", "",
		},
		{
			"fitness without an account", "GET", library + "/" + file + "/fitness?account=desk", nil, nil, 400,
			"invalid_request", "account",
		},
		{
			"fitness for an unknown account", "GET", library + "/" + file + "/fitness?account=" + strangers, nil, nil,
			422,
			"invalid_request", "account",
		},
		{
			"upload of an empty object", "POST", library + "/uploads",
			object{"file_name": "a.png", "bytes": 0},
			nil, 400,
			"invalid_request", "bytes",
		},
		{
			"upload beyond the size limit", "POST", library + "/uploads",
			object{"file_name": "a.png", "bytes": int64(9e18)},
			nil, 422, "invalid_request", "bytes",
		},
		{
			"upload with an overflowing size", "POST", library + "/uploads", `{"file_name":"a.png","bytes":1e400}`, nil,
			400, "invalid_request", "",
		},
		{
			"upload without size", "POST", library + "/uploads",
			object{"file_name": "a.png"},
			nil, 400, "invalid_request",
			"bytes",
		},
		{
			"upload without a content type", "POST", library + "/uploads",
			object{"file_name": "a.png", "bytes": 9, "mime_type": "text/html"},
			nil, 422, "invalid_request",
			"mime_type",
		},
		{
			"upload with half a hash", "POST", library + "/uploads",
			object{"file_name": "a.png", "bytes": 9, "sha256": "abcd"},
			nil, 422, "invalid_request", "sha256",
		},
		{
			"upload with NUL", "POST", library + "/uploads",
			object{"file_name": "a.png", "bytes": 9, "alt_text": "a\x00"},
			nil, 422, "invalid_request", "alt_text",
		},
		{"unknown upload", "GET", library + "/uploads/" + strangers, nil, nil, 404, "upload_not_found", ""},
		{"upload that is not a UUID", "GET", library + "/uploads/first", nil, nil, 400, "invalid_request", "id"},
		{
			"complete an unknown upload", "POST", library + "/uploads/" + strangers + "/complete", nil, nil, 404,
			"upload_not_found", "",
		},
		{
			"complete with a body", "POST", library + "/uploads/" + strangers + "/complete", `{}`, nil, 400,
			"invalid_request", "body",
		},
		{"fetch with an empty object", "POST", library + "/fetch", object{}, nil, 400, "invalid_request", "url"},
		{
			"fetch with an invalid URL", "POST", library + "/fetch",
			object{"url": "photo.jpg"},
			nil, 422,
			"invalid_request", "url",
		},
		{
			"fetch of a file URL", "POST", library + "/fetch",
			object{"url": "file:///etc/passwd"},
			nil, 422,
			"invalid_request", "url",
		},
		{
			"fetch inward", "POST", library + "/fetch",
			object{"url": "http://169.254.169.254/latest"},
			nil, 422,
			"fetch_failed", "url",
		},
		{
			"fetch with NUL", "POST", library + "/fetch",
			object{"url": "http://a\x00b/"},
			nil, 422, "invalid_request",
			"url",
		},

		// Addresses and parameters.
		{"path that is not a UUID", "GET", posts + "/first", nil, nil, 400, "invalid_request", "id"},
		{"path with NUL", "GET", posts + "/%00", nil, nil, 422, "invalid_request", "id"},
		{
			"edit with an id that is not a UUID", "PATCH", posts + "/first",
			object{"content": "x"},
			nil, 400,
			"invalid_request", "id",
		},
		{"unknown post", "GET", posts + "/" + uuid.NewString(), nil, nil, 404, "post_not_found", ""},
		{"unknown file", "GET", "/api/v1/media/" + uuid.NewString(), nil, nil, 404, "media_not_found", ""},
		{"unknown status", "GET", posts + "?status=lost", nil, nil, 400, "invalid_request", "status"},
		{
			"one of two statuses is unknown", "GET", posts + "?status=posted,lost", nil, nil, 400, "invalid_request",
			"status",
		},
		{"limit is zero", "GET", posts + "?limit=0", nil, nil, 400, "invalid_request", "limit"},
		{"limit beyond the maximum", "GET", posts + "?limit=201", nil, nil, 400, "invalid_request", "limit"},
		{"limit is not a number", "GET", posts + "?limit=ten", nil, nil, 400, "invalid_request", "limit"},
		{"limit overflows", "GET", posts + "?limit=99999999999999999999", nil, nil, 400, "invalid_request", "limit"},
		{"account that is not a UUID", "GET", posts + "?account=desk", nil, nil, 400, "invalid_request", "account"},
		{"from is not a time", "GET", posts + "?from=today", nil, nil, 400, "invalid_request", "from"},
		{"to is not a time", "GET", posts + "?to=2026-12-24", nil, nil, 400, "invalid_request", "to"},
		{"unknown order", "GET", posts + "?order=up", nil, nil, 400, "invalid_request", "order"},
		{
			"broken cursor", "GET", posts + "?cursor=" + url.QueryEscape("nonsense!"), nil, nil, 422, "invalid_request",
			"cursor",
		},
		{
			"long cursor", "GET", posts + "?cursor=" + strings.Repeat("a", 300), nil, nil, 400, "invalid_request",
			"cursor",
		},
		{"wrong method", "PUT", posts, hello(), nil, 405, "method_not_allowed", ""},
		{"wrong method on one", "POST", one, hello(), nil, 405, "method_not_allowed", ""},
		{"unknown address", "GET", "/api/v2/posts", nil, nil, 404, "no_such_route", ""},
		{"unknown address outside the API", "GET", "/.env", nil, nil, 404, "no_such_route", ""},

		// Accounts.
		{
			"connect without a body", "POST", "/api/v1/accounts/connect",
			object{"network": "mastodon"},
			nil, 422,
			"invalid_request", "base_url",
		},
		{
			"connect with an invalid URL", "POST", "/api/v1/accounts/connect",
			object{"network": "mastodon", "base_url": "social"},
			nil, 422, "invalid_request", "base_url",
		},
		{
			"unknown network", "POST", "/api/v1/accounts/connect",
			object{"network": "myspace", "base_url": "https://social.example"},
			nil, 422, "invalid_request", "network",
		},
		{
			"connection inward", "POST", "/api/v1/accounts/connect",
			object{"network": "mastodon", "base_url": "https://169.254.169.254"},
			nil, 422, "network_unreachable",
			"base_url",
		},
		{
			"relay inward", "POST", "/api/v1/accounts/form",
			object{"network": "nostr", "values": object{
				"key": strings.Repeat("7", 64), "relays": "wss://169.254.169.254",
			}},
			nil, 422, "network_unreachable", "values.relays",
		},
		{
			"connect without a network", "POST", "/api/v1/accounts/connect",
			object{"base_url": "https://social.example"},
			nil, 400, "invalid_request", "network",
		},
		{
			"form of an unknown state", "POST", "/api/v1/accounts/form",
			object{"network": "myspace", "values": object{}},
			nil, 422, "invalid_request", "network",
		},
		{
			"form with an unknown field", "POST", "/api/v1/accounts/form",
			object{"network": "mastodon", "sandbox": true, "values": object{"access_token": "x", "pin": "1"}},
			nil, 422,
			"invalid_request", "values.pin",
		},
		{
			"form without required fields", "POST", "/api/v1/accounts/form",
			object{"network": "mastodon", "sandbox": true, "values": object{}},
			nil, 422, "invalid_request",
			"values.access_token",
		},
		{
			"unknown account", "GET", "/api/v1/accounts/0192f1a0-7c00-7000-8000-000000000001", nil, nil, 404,
			"account_not_found", "",
		},
		{
			"unknown choice", "GET", "/api/v1/account-choices/0192f1a0-7c00-7000-8000-000000000001", nil, nil, 404,
			"choice_not_found", "",
		},
		{
			"choice without accounts", "POST", "/api/v1/account-choices/0192f1a0-7c00-7000-8000-000000000001",
			object{"remote_ids": []string{}},
			nil, 400, "invalid_request", "remote_ids",
		},
		{"callback without state", "GET", "/api/v1/oauth/callback?code=1", nil, nil, 400, "invalid_request", "state"},
		{
			"callback with an unknown state", "GET", "/api/v1/oauth/callback?state=1&code=1", nil, nil, 422,
			"invalid_request", "state",
		},

		// People.
		{"workspace without a change", "PATCH", "/api/v1/workspace", `{}`, nil, 400, "invalid_request", ""},
		{
			"workspace with an unknown time zone", "PATCH", "/api/v1/workspace",
			object{"time_zone": "Mars/Olympus"},
			nil,
			422, "invalid_request", "time_zone",
		},
		{
			"workspace with the time zone Local", "PATCH", "/api/v1/workspace",
			object{"time_zone": "Local"},
			nil, 422,
			"invalid_request", "time_zone",
		},
		{
			"workspace with a blank name", "PATCH", "/api/v1/workspace",
			object{"name": "  "},
			nil, 422, "invalid_request",
			"name",
		},
		{"workspace with NUL", "PATCH", "/api/v1/workspace", `{"name":"a\u0000"}`, nil, 422, "invalid_request", "name"},
		{
			"approval is not a boolean", "PATCH", "/api/v1/workspace",
			object{"authors_need_approval": "yes"},
			nil, 400,
			"invalid_request", "authors_need_approval",
		},
		{"new workspace without a name", "POST", "/api/v1/workspaces", `{}`, nil, 400, "invalid_request", "name"},
		{
			"new workspace with a long name", "POST", "/api/v1/workspaces",
			object{"name": strings.Repeat("x", 201)},
			nil,
			400, "invalid_request", "name",
		},
		{
			"new workspace with an unknown time zone", "POST", "/api/v1/workspaces",
			object{"name": "x", "time_zone": "../x"},
			nil, 422, "invalid_request", "time_zone",
		},
		{
			"invitation without an email address", "POST", "/api/v1/members",
			object{"role": "viewer"},
			nil, 400,
			"invalid_request", "email",
		},
		{
			"invitation without a role", "POST", "/api/v1/members",
			object{"email": "a@news.example", "role": "king"},
			nil,
			400, "invalid_request", "role",
		},
		{
			"invitation with an invalid email address", "POST", "/api/v1/members",
			object{"email": "news.example", "role": "viewer"},
			nil, 422, "invalid_request", "email",
		},
		{
			"invitation with a display name in the address", "POST", "/api/v1/members",
			object{"email": "A <a@news.example>", "role": "viewer"},
			nil, 422, "invalid_request", "email",
		},
		{
			"invitation with a non-ASCII address", "POST", "/api/v1/members",
			object{"email": "\u0130@news.example", "role": "viewer"},
			nil, 422, "invalid_request", "email",
		},
		{
			"invitation with NUL", "POST", "/api/v1/members", `{"email":"a\u0000@news.example","role":"viewer"}`, nil,
			422,
			"invalid_request", "email",
		},
		{
			"unknown member", "PATCH", "/api/v1/members/" + uuid.NewString(),
			object{"role": "viewer"},
			nil, 404,
			"member_not_found", "",
		},
		{"member that is not a UUID", "DELETE", "/api/v1/members/me", nil, nil, 400, "invalid_request", "id"},
		{
			"members with a malformed cursor", "GET", "/api/v1/members?cursor=x", nil, nil, 422, "invalid_request",
			"cursor",
		},
		{
			"token without scopes", "POST", "/api/v1/tokens",
			object{"name": "x", "scopes": []string{}},
			nil, 400,
			"invalid_request", "scopes",
		},
		{
			"token with an unknown scope", "POST", "/api/v1/tokens",
			object{"name": "x", "scopes": []string{"posts:burn"}},
			nil, 400, "invalid_request", "scopes[0]",
		},
		{
			"token valid for zero days", "POST", "/api/v1/tokens",
			object{"name": "x", "scopes": []string{"*"}, "expires_in_days": 0},
			nil, 400, "invalid_request",
			"expires_in_days",
		},
		{
			"token with NUL in the name", "POST", "/api/v1/tokens", `{"name":"a\u0000","scopes":["*"]}`, nil, 422,
			"invalid_request", "name",
		},
		{"unknown token", "DELETE", "/api/v1/tokens/" + uuid.NewString(), nil, nil, 404, "token_not_found", ""},
		{
			"tokens with a malformed cursor", "GET", "/api/v1/tokens?cursor=x", nil, nil, 400, "invalid_request",
			"cursor",
		},
		{
			"webhook with a long key", "POST", "/api/v1/webhooks",
			object{"url": "https://hooks.example/"},
			[]string{"Idempotency-Key", strings.Repeat("k", 256)},
			400, "invalid_request", "Idempotency-Key",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := *s
			s.t = t
			a := s.send(c.method, c.path, c.body, c.headers...)
			fields := []string{c.field}
			if c.field == "" {
				fields = nil
			}
			s.refused(a, c.status, c.code, fields...)
			if c.status == http.StatusMethodNotAllowed && a.Header.Get("Allow") == "" {
				t.Error("405 without Allow (RFC 9110, 15.5.6)")
			}
		})
	}
	if rows := s.Count("select count(*) from scheduled_posts"); rows != 3 {
		t.Errorf("%d posts are stored", rows)
	}
	for _, before := range []post.Post{existing, dead, doubtful} {
		if now, err := s.Store.Publishing.Posts.Post(t.Context(), before.ID); err != nil || now.Version != before.Version {
			t.Errorf("the post is now %+v, %v", now, err)
		}
	}
	if rows := s.Count("select count(*) from members") + s.Count("select count(*) from api_tokens") +
		s.Count("select count(*) from workspaces where name <> 'Desk' and name <> 'Rivals'"); rows != 4 {
		t.Errorf("%d members, tokens and workspaces are stored", rows)
	}
	if rows := s.Count("select count(*) from media") + s.Count("select count(*) from media_uploads"); rows != 2 {
		t.Errorf("%d files and uploads are noted", rows)
	}
	if rows := s.Count("select count(*) from connect_attempts") +
		s.Count("select count(*) from idempotency_keys"); rows != 0 {
		t.Errorf("%d connections or keys are stored", rows)
	}
}
