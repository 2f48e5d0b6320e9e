package timeline_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/timeline"
)

var (
	desk = post.Target{
		ID:        uuid.MustParse("00000000-0000-7000-8000-000000000001"),
		AccountID: uuid.MustParse("00000000-0000-7000-8000-00000000000a"), Network: "mastodon",
		Handle: "@desk@news.example",
	}
	evening = post.Target{
		ID:        uuid.MustParse("00000000-0000-7000-8000-000000000002"),
		AccountID: uuid.MustParse("00000000-0000-7000-8000-00000000000b"), Network: "mastodon",
		Handle: "@evening@news.example",
	}
)

func thePost() post.Post {
	return post.Post{TimeZone: "Asia/Ho_Chi_Minh", Targets: []post.Target{desk, evening}}
}

// row is one event and its sentence. Its time is noon in Vietnam.
type row struct{ kind, data, want string }

const both = `["00000000-0000-7000-8000-00000000000a","00000000-0000-7000-8000-00000000000b"]`

func rows() []row {
	return []row{
		{
			"created", `{"scheduled_time":"2026-12-24T11:00:00Z","accounts":` + both + `}`,
			"Created, to be published at 24 December 2026 18:00:00.000 (Asia/Ho_Chi_Minh), to @desk@news.example and " +
				"@evening@news.example.",
		},
		{
			"created", `{"scheduled_time":"2026-12-24T11:00:00Z","accounts":["00000000-0000-7000-8000-0000000000ff"]}`,
			"Created, to be published at 24 December 2026 18:00:00.000 (Asia/Ho_Chi_Minh).",
		},
		{"created", `{}`, "Created."},
		{"scheduled", `{}`, "Scheduled: no longer a draft."},
		{"submitted", `{}`, "Pending approval."},
		{"approved", `{}`, "Approved."},
		{"rejected", `{"note":"Which source?"}`, "Not approved. Which source?"},
		{"reopened", `{}`, "Pending approval again: the decision was undone."},
		{"canceled", `{"remaining":true}`, "The remaining parts were canceled; what is published stays."},
		{"commented", `{"comment":"c"}`, "A comment was added."},
		{"approved", `{"reviewer":"Legal","review_link":"l"}`, "Approved by Legal."},
		{"labeled", `{"labels":[]}`, "Labels changed."},
		{
			"time_zone_changed",
			`{"before":"2026-12-24T11:00:00Z","after":"2026-12-24T10:00:00Z","time_zone":"America/Vancouver","database":"2026f","held":false}`,
			"Moved from 18:00:00.000 to 17:00:00.000, to keep its local time: version 2026f of the time zone " +
				"database changed the rules of America/Vancouver.",
		},
		{
			"time_zone_changed",
			`{"before":"2026-12-24T11:00:00Z","after":"2026-12-24T10:00:00Z","time_zone":"America/Vancouver","database":"2026f","held":true}`,
			"Still due at 18:00:00.000, which shows another local time now: version 2026f of the time zone database " +
				"changed the rules of America/Vancouver, and nothing is moved within the hour.",
		},
		{
			"refused", `{"asked":"approve","code":"too_late","reason":"It was to be published earlier."}`,
			"It could not be approved: its time had passed.",
		},
		{"needs_reconnect", `{}`, "The network no longer accepts Dateline's access; reconnect the account."},
		{
			"expiring", `{"days":7,"ends_at":"2026-12-24T11:00:00Z"}`,
			"Dateline's access to the account expires soon; reconnect it before then.",
		},
		{"disconnected", `{}`, "The account was disconnected."},
		{"webhook_disabled", `{}`, "A webhook was disabled because its receiver kept failing."},
		{
			"selectors_learned", `{"domain":"news.example","reason":"The site has no selectors yet."}`,
			"New selectors were activated for news.example. The site has no selectors yet.",
		},
		{"selectors_rolled_back", `{}`, "The selectors were rolled back."},
		{
			"article_matched", `{"url":"https://news.example/a"}`,
			"A new article matches a saved search: https://news.example/a.",
		},
		{"article_matched", `{}`, "A new article matches a saved search."},
		{
			"story_missed", `{"title":"Fire in Harrowgate"}`,
			"Other sources have a story that you do not have: Fire in Harrowgate.",
		},
		{
			"selectors_failed", `{"learn_error":"Too few pages."}`,
			"The selectors are failing, and relearning found no better ones. Too few pages.",
		},
		{"edited", `{"content":true}`, "Edited: the text."},
		{
			"edited",
			`{"content":true,"scheduled_time":"2026-12-24T11:30:00Z","time_zone":"Asia/Ho_Chi_Minh","language":"vi","attachments":true,"accounts":["00000000-0000-7000-8000-00000000000a"]}`,
			"Edited: the text, the time, now 24 December 2026 18:30:00.000 (Asia/Ho_Chi_Minh), the time zone, now " +
				"Asia/Ho_Chi_Minh, the language, now vi, the attachments and the accounts, now @desk@news.example.",
		},
		{
			"edited", `{"language":"","thread":2,"overrides":1}`,
			"Edited: the language, the thread and the account overrides.",
		},
		{"edited", `{}`, "Saved without changes."},
		{"canceled", `{}`, "Canceled."},
		{"publish_now", `{}`, "Set to publish immediately."},
		{
			"refused", `{"asked":"cancel","code":"too_late","reason":"The post is already published."}`,
			"An operator's signal cancel was refused. The post is already published.",
		},
		{"prepared", `{"attachments":1}`, "Ready for @desk@news.example, with 1 attachment uploaded."},
		{"prepared", `{"attachments":3}`, "Ready for @desk@news.example, with 3 attachments uploaded."},
		{"prepared", `{"attachments":0}`, "Ready for @desk@news.example."},
		{
			"problem", `{"class":"rejected","code":"too_long","message":"512 characters are 12 too many."}`,
			"Found while preparing for @desk@news.example: 512 characters are 12 too many.",
		},
		{"late", `{"seconds":12}`, "Running late: 12.000 s behind its time."},
		{"late", `{}`, "Running late."},
		{
			"sending", `{"epoch":1,"planned":"2026-12-24T05:00:00.000012+00:00"}`,
			"Being sent to @desk@news.example, planned for 12:00:00.000.",
		},
		{
			"sending", `{"epoch":2,"planned":"2026-12-24T05:00:01.5Z"}`,
			"Being sent to @desk@news.example again, planned for 12:00:01.500: send number 2.",
		},
		{"sending", `{"epoch":1}`, "Being sent to @desk@news.example."},
		{
			"ambiguous", `{"code":"connection_reset","message":"…","sent":"2026-12-24T05:00:00.412Z"}`,
			"Sent to @desk@news.example at 12:00:00.412; the connection was reset before a response arrived.",
		},
		{
			"ambiguous", `{"code":"http_502","message":"502 Bad Gateway.","sent":"2026-12-23T05:00:00.412Z"}`,
			"Sent to @desk@news.example at 23 December 2026 12:00:00.412; no reliable response was received. 502 " +
				"Bad Gateway.",
		},
		{"ambiguous", `{"code":"timeout"}`, "Sent to @desk@news.example; no response arrived in time."},
		{
			"ambiguous", `{"code":"interrupted","sent":"2026-12-24T05:00:00Z"}`,
			"May have been sent to @desk@news.example at 12:00:00.000: the worker stopped before it recorded " +
				"a response.",
		},
		{
			"reconciled",
			`{"found":true,"url":"https://news.example/@desk/1","evidence":"Among 3 statuses of the account, 1 has the same text."}`,
			"Found on @desk@news.example as https://news.example/@desk/1 : among 3 statuses of the account, 1 has " +
				"the same text.",
		},
		{
			"reconciled", `{"found":false,"evidence":"None of 3 statuses has the same text."}`,
			"Searched on @desk@news.example and not found: none of 3 statuses has the same text.",
		},
		{
			"uncertain", `{"class":"ambiguous","code":"timeout","message":"…"}`,
			"Whether it was posted to @desk@news.example is not certain: it was sent, but no response arrived and " +
				"the post was not found. Someone has to check.",
		},
		{
			"retrying",
			`{"class":"transient","code":"http_503","message":"There was a temporary problem.","http_status":503}`,
			"Not posted to @desk@news.example yet. There was a temporary problem.",
		},
		{
			"retrying",
			`{"class":"throttled","code":"http_429","message":"Too many requests.","retry_at":"2026-12-24T05:05:00Z"}`,
			"@desk@news.example has reached its network's rate limit. Too many requests. Next attempt at " +
				"12:05:00.000.",
		},
		{
			"retrying",
			`{"class":"throttled","code":"renewal_waits","message":"The account's token has to be renewed first.","retry_at":"2026-12-24T05:05:00Z"}`,
			"Waiting until the access token of @desk@news.example is renewed; nothing was sent. Next attempt at " +
				"12:05:00.000.",
		},
		{
			"retrying",
			`{"class":"throttled","code":"parent_waiting","message":"The post that this one replies to is not published yet."}`,
			"Waiting on @desk@news.example until the post that this one replies to is published.",
		},
		{
			"differs", `{"url":"https://news.example/@desk/1","evidence":"It has no poll there."}`,
			"The post on @desk@news.example is not as you asked for: it has no poll there.",
		},
		{"accepted", `{}`, "Accepted on @desk@news.example as it is."},
		{
			"deleted", `{"url":"https://news.example/@desk/1"}`,
			"Deleted on @desk@news.example: https://news.example/@desk/1.",
		},
		{
			"retrying", `{"class":"transient","code":"absent","message":"…"}`,
			"It will be sent to @desk@news.example again because the network does not have it.",
		},
		{
			"retrying", `{"class":"transient","code":"media_expired","message":"…"}`,
			"The network dropped the attachments for @desk@news.example before they were posted; they are being " +
				"uploaded again.",
		},
		{
			"posted",
			`{"remote_id":"1","url":"https://news.example/@desk/1","sent":"2026-12-24T05:00:00.004Z","late_ms":4,"answered":"2026-12-24T05:00:00.120Z"}`,
			"Posted to @desk@news.example as https://news.example/@desk/1, 0.004 s late: sent at 12:00:00.004, " +
				"answered at 12:00:00.120.",
		},
		{
			"posted", `{"url":"https://news.example/@desk/1","late_ms":0}`,
			"Posted to @desk@news.example as https://news.example/@desk/1, on time.",
		},
		{
			"throttled",
			`{"class":"throttled","code":"rate_limited","message":"The rate limit is used up.","retry_at":"2026-12-24T05:05:00Z"}`,
			"Delayed before sending to @desk@news.example. The rate limit is used up. Next attempt at 12:05:00.000.",
		},
		{
			"waiting_for_network",
			`{"code":"network_unavailable","message":"The network has failed many times in a row.","retry_at":"2026-12-24T05:05:00Z"}`,
			"Delayed before sending to @desk@news.example. The network has failed many times in a row. Next attempt " +
				"at 12:05:00.000.",
		},
		{"posted", `{}`, "Posted to @desk@news.example."},
		{
			"segment_posted",
			`{"segment":1,"of":3,"url":"https://news.example/@desk/2","late_ms":1250,"sent":"2026-12-24T05:00:01.250Z","answered":"2026-12-24T05:00:01.300Z"}`,
			"Part 2 of 3 posted to @desk@news.example as https://news.example/@desk/2, 1.250 s late: sent at " +
				"12:00:01.250, answered at 12:00:01.300.",
		},
		{
			"comment_failed", `{"class":"rejected","message":"Comments are off."}`,
			"Posted to @desk@news.example without its first comment. Comments are off.",
		},
		{
			"failed", `{"class":"rejected","code":"http_422","message":"Validation failed."}`,
			"Not posted to @desk@news.example: the network rejected it. Validation failed.",
		},
		{
			"failed", `{"class":"auth","code":"http_401","message":"The access token is invalid."}`,
			"Not posted to @desk@news.example: the network no longer accepts Dateline's access. Reconnect the " +
				"account. The access token is invalid.",
		},
		{
			"failed", `{"class":"late","code":"too_late","message":"It would go out more than 5 minutes late."}`,
			"Not posted to @desk@news.example. It would go out more than 5 minutes late.",
		},
		{
			"parked", `{"until":"2027-01-23T05:00:00Z"}`,
			"Needs attention: retry, edit or discard it until 23 January 2027 12:00:00.000.",
		},
		{
			"redriven", `{"targets":["00000000-0000-7000-8000-000000000002"],"reason":"manual"}`,
			"Retried manually for @evening@news.example.",
		},
		{
			"redriven", `{"targets":2,"reason":"reconnected"}`,
			"Retried for 2 accounts because the account was reconnected.",
		},
		{"redriven", `{}`, "Retried."},
		{"discarded", `{}`, "Discarded: it will not be retried."},
		{
			"confirmed", `{"url":"https://news.example/@desk/1"}`,
			"Confirmed as published on @desk@news.example as https://news.example/@desk/1.",
		},
		{"resend", `{}`, "Confirmed as not published on @desk@news.example; it will be sent again."},
		{"status", `{"status":"posted"}`, "Published on all accounts."},
		{"status", `{"status":"partly_posted"}`, "Published on some of its accounts."},
		{"status", `{"status":"elsewhere"}`, "The post is now elsewhere."},
		{"moved_to_mars", `{"x":1}`, "Noted: moved_to_mars."},
		{"posted", `null`, "Posted to @desk@news.example."},
		{"posted", `[1]`, "Posted to @desk@news.example."},
		{
			"failed", `{"message":"Two\nlines  {handle} [x]"}`,
			"Not posted to @desk@news.example. Two lines {handle} [x]",
		},
	}
}

func tell(t *testing.T, p post.Post, e post.Event) timeline.Entry {
	t.Helper()
	return timeline.Render(timeline.English(), p, []post.Event{e})[0]
}

func TestSentences(t *testing.T) {
	noon := time.Date(2026, 12, 24, 5, 0, 0, 412_600_000, time.UTC)
	for _, r := range rows() {
		got := tell(t, thePost(), post.Event{
			Type: r.kind, Actor: "user:x", TargetID: &desk.ID, Data: json.RawMessage(r.data), At: noon,
		})
		if got.Text != r.want {
			t.Errorf("%s %s\n says %s\nwants %s", r.kind, r.data, got.Text, r.want)
		}
		if got.Target == nil || got.Target.Handle != desk.Handle || got.Data == nil ||
			got.At.Format(time.RFC3339) != "2026-12-24T12:00:00+07:00" {
			t.Errorf("%s: %+v", r.kind, got)
		}
	}
}

func TestOperatorsAreNamed(t *testing.T) {
	for kind, want := range map[string]string{
		post.EventCanceled:   "Canceled by an operator's signal.",
		post.EventPublishNow: "Published immediately by an operator's signal.",
	} {
		if got := tell(t, thePost(), post.Event{Type: kind, Actor: post.ActorOperator}); got.Text != want ||
			got.Target != nil {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

func TestTimeline_DescribesEventsOfRemovedAccounts(t *testing.T) {
	removed := uuid.New()
	p := thePost()
	p.TimeZone = "Nowhere/Now"
	got := tell(t, p, post.Event{
		Type: post.EventFailed, TargetID: &removed, At: time.Date(2026, 12, 24, 5, 0, 0, 0, time.UTC),
	})
	if got.Target != nil || got.Text != "Not posted to an account that was removed from the post." ||
		got.At.Location() != time.UTC {
		t.Errorf("%+v", got)
	}
}

// eventTypes reads the types from the source, so that no new type is missing here.
func eventTypes(t *testing.T) (types []string) {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), "../post", nil, 0) //nolint:staticcheck // needs no types
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if strings.HasPrefix(name.Name, "Event") && i < len(spec.Values) {
					value, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					types = append(types, value)
				}
			}
			return true
		})
	}
	if len(types) < 20 {
		t.Fatalf("found only the types %v", types)
	}
	return types
}

func TestEveryEventTypeHasASentence(t *testing.T) {
	tested := map[string]bool{}
	for _, r := range rows() {
		tested[r.kind] = true
	}
	messages := timeline.English().Messages
	for _, kind := range eventTypes(t) {
		if messages[kind] == "" {
			t.Errorf("English has no sentence for the event %q", kind)
		}
		if !tested[kind] {
			t.Errorf("no row tests the event %q", kind)
		}
	}
}

// Whatever the data of an event, its sentence is complete.
func TestSentencesAreWholeWithoutData(t *testing.T) {
	l := timeline.English()
	whole := regexp.MustCompile(`^(\p{Lu}|@).*[.]$`)
	for key := range l.Messages {
		kind, variant, _ := strings.Cut(key, ".")
		if key == timeline.Account || slices.Contains([]string{"change", "reconciled", "edited", "problem", "differs"},
			kind) {
			continue // are no sentences, or need their data
		}
		data, _ := json.Marshal(map[string]any{
			"code": variant, "segment": 0, "type": "x", "status": variant, "reason": variant,
		})
		if got := tell(t, thePost(), post.Event{Type: kind, TargetID: &desk.ID, Data: data}); !whole.MatchString(
			got.Text) || strings.ContainsAny(got.Text, "{}[]") {
			t.Errorf("%s: %q", key, got.Text)
		}
	}
}

// What a search found has codes and values, with times in the zone of the post.
func TestRender_EvidenceHasCodesAndLocalTimes(t *testing.T) {
	entry := tell(t, thePost(),
		post.Event{
			Type: "reconciled", TargetID: &desk.ID, At: time.Date(2026, 12, 24, 5, 0, 0, 0, time.UTC),
			Data: []byte(
				`{"found":false,"evidence":"None of 3 posts.","evidence_parts":[{"code":"none_matches","message":"None of 3 posts.","params":{"count":3,"since_at":"2026-12-24T04:59:00Z"}}]}`),
		})
	got, err := json.Marshal(entry.Params["evidence_parts"])
	if want := `[{"code":"none_matches","message":"None of 3 posts.","params":{"count":3,"since_at":"2026-12-24T11:59:00+07:00"}}]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
