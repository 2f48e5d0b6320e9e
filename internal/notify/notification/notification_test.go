package notification

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/infra/webpage"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

func TestChannel_QuietForLastsUntilTheEndInItsZone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		zone     string
		from, to int
		now      string
		want     time.Duration
	}{
		"before":             {"Asia/Ho_Chi_Minh", 22 * 60, 7 * 60, "2026-11-23T21:59:00+07:00", 0},
		"start":              {"Asia/Ho_Chi_Minh", 22 * 60, 7 * 60, "2026-11-23T22:00:00+07:00", 9 * time.Hour},
		"after midnight":     {"Asia/Ho_Chi_Minh", 22 * 60, 7 * 60, "2026-11-24T06:30:00+07:00", 30 * time.Minute},
		"end":                {"Asia/Ho_Chi_Minh", 22 * 60, 7 * 60, "2026-11-24T07:00:00+07:00", 0},
		"another zone":       {"Asia/Ho_Chi_Minh", 22 * 60, 7 * 60, "2026-11-23T16:00:00Z", 8 * time.Hour},
		"within a day":       {"UTC", 12*60 + 30, 13 * 60, "2026-11-23T12:45:00Z", 15 * time.Minute},
		"clock goes forward": {"Europe/Berlin", 22 * 60, 7 * 60, "2026-03-28T22:00:00+01:00", 8 * time.Hour},
		"clock goes back":    {"Europe/Berlin", 22 * 60, 7 * 60, "2026-10-24T22:00:00+02:00", 10 * time.Hour},
	} {
		c := Channel{TimeZone: row.zone, Quiet: &Quiet{row.from, row.to}}
		if got := c.quietFor(at(t, row.now)); got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
	if got := (Channel{TimeZone: "UTC"}).quietFor(time.Now()); got != 0 {
		t.Errorf("without quiet hours: got %s", got)
	}
}

func TestChannel_DueFollowsDigestAndQuietHours(t *testing.T) {
	t.Parallel()
	night := &Quiet{22 * 60, 9 * 60}
	for name, row := range map[string]struct {
		digest    Digest
		quiet     *Quiet
		now, want string
	}{
		"at once":             {NoDigest, nil, "2026-11-23T21:40:10+07:00", "2026-11-23T21:40:10+07:00"},
		"at once, quiet":      {NoDigest, night, "2026-11-23T23:40:00+07:00", "2026-11-24T09:00:00+07:00"},
		"hourly":              {Hourly, nil, "2026-11-23T21:40:10+07:00", "2026-11-23T22:00:00+07:00"},
		"hourly, then quiet":  {Hourly, night, "2026-11-23T21:40:10+07:00", "2026-11-24T09:00:00+07:00"},
		"daily, before eight": {Daily, nil, "2026-11-23T07:59:00+07:00", "2026-11-23T08:00:00+07:00"},
		"daily, at eight":     {Daily, nil, "2026-11-23T08:00:00+07:00", "2026-11-24T08:00:00+07:00"},
		"twice, in the night": {TwiceDaily, nil, "2026-11-23T18:00:00+07:00", "2026-11-24T07:00:00+07:00"},
		"twice, in the day":   {TwiceDaily, nil, "2026-11-23T07:00:00+07:00", "2026-11-23T18:00:00+07:00"},
		"twice, then quiet":   {TwiceDaily, night, "2026-11-23T19:00:00+07:00", "2026-11-24T09:00:00+07:00"},
		"daily, then quiet":   {Daily, night, "2026-11-23T08:00:00+07:00", "2026-11-24T09:00:00+07:00"},
	} {
		c := Channel{TimeZone: "Asia/Ho_Chi_Minh", Digest: row.digest, Quiet: row.quiet}
		if got := c.Due(at(t, row.now)); !got.Equal(at(t, row.want)) {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

// Texts of users and pages keep their words and get no markup of their own: a title must
// not become a link, a mention or a heading.
func TestRequest_EscapesTextsForEachService(t *testing.T) {
	t.Parallel()
	const title = "[Win](https://evil.example) <!channel> <https://evil.example|now> @everyone *b*"
	o := outgoing{
		id: uuid.New(), message: Message{Title: "T", Entries: []Entry{{Title: title}}},
		lines: []line{{text: title}, {text: "https://dateline.example/app_a", url: true}},
	}
	for kind, row := range map[Kind]struct{ without, with string }{
		Slack:   {"<https://evil.example", "&lt;!channel&gt;"},
		Discord: {"[Win](https", `"allowed_mentions":{"parse":[]}`},
		Teams:   {`"text":"[Win](https`, `[https://dateline.example/app_a](https://dateline.example/app_a)`},
	} {
		r, err := request(t.Context(), kind, Destination{URL: "https://hooks.example/x"}, o)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(raw); strings.Contains(text, row.without) || !strings.Contains(text, row.with) ||
			!strings.Contains(text, "https://dateline.example/app_a") || !json.Valid(raw) {
			t.Errorf("%s: got %s, want it without %s and with %s", kind, text, row.without, row.with)
		}
	}
}

func TestRequest_KeepsMessagesWithinTheLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ơ", 30_000)
	o := outgoing{
		id: uuid.New(), message: Message{Title: "T", Entries: []Entry{{Title: long}}},
		lines: []line{{text: long}},
	}
	for kind, limit := range map[Kind]struct {
		field string
		max   int
		units func(string) int
	}{
		Telegram: {"text", maxTelegram, utf16Units}, Discord: {"content", maxDiscord, utf16Units},
		Ntfy:  {"message", maxNtfy, utf8Bytes},
		Slack: {"text", maxText, utf8.RuneCountInString}, Matrix: {"body", maxMatrix, jsonBytes},
	} {
		r, err := request(t.Context(), kind, Destination{
			URL: "https://chat.example/topic", Token: "1:a",
			Recipient: "!room:chat.example",
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		text, _ := body[limit.field].(string)
		if n := limit.units(text); n > limit.max || n < limit.max-3 || !strings.HasSuffix(text, "…") {
			t.Errorf("%s: got %d, want at most %d", kind, n, limit.max)
		}
	}
}

// The limits of services are in bytes, UTF-16 code units or code points; a cut never
// splits what a reader sees as one character.
func TestCutBy_CountsInTheUnitOfTheService(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text  string
		limit int
		units func(string) int
		want  string
	}{
		"fits":                  {"ngày", 5, utf8Bytes, "ngày"},
		"bytes":                 {"ngày mới", 8, utf8Bytes, "ngày…"},
		"decomposed letter":     {"bie\u0302\u0301n", 7, utf8Bytes, "bi…"},
		"emoji in UTF-16":       {"a🎉b", 3, utf16Units, "a…"},
		"flag":                  {"a🇻🇳b", 9, utf8Bytes, "a…"},
		"family":                {"a👩‍👧b", 4, utf8.RuneCountInString, "a…"},
		"quotation marks":       {`a"""`, 6, jsonBytes, `a"…`},
		"line breaks":           {"a\n\n\n", 6, jsonBytes, "a\n…"},
		"nothing but the first": {"ế", 2, utf8Bytes, "…"},
	} {
		if got := cutBy(row.text, row.limit, row.units); got != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

// A message of ntfy is at most 4,095 bytes, and its JSON at most twice the limit.
func TestRequest_FitsTheServersOfTheirOwners(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Vietnamese":      strings.Repeat("Thời sự ngày mới ", 300),
		"quotation marks": strings.Repeat(`"`, 9000),
		"emoji":           strings.Repeat("🎉", 30_000), "line breaks": strings.Repeat("a\n", 9000),
	} {
		o := outgoing{
			id: uuid.New(), message: Message{Title: "T", Entries: []Entry{{Title: "T"}}},
			lines: []line{{text: text}},
		}
		for kind, limit := range map[Kind]int{Ntfy: 8192, Matrix: 60_000, Teams: 28_000} {
			r, err := request(t.Context(), kind,
				Destination{URL: "https://chat.example/topic", Recipient: "!room:chat.example"}, o)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(r.Body)
			if err != nil || len(raw) > limit || len(raw) < 4000 {
				t.Errorf("%s, %s: got %d bytes (%v), want 4,000 to %d", kind, name, len(raw), err, limit)
			}
		}
	}
}

// Gotify 2.9 reads bodies as its own messages, whose numbers must be numbers
// (https://gotify.net/api-docs).
func TestRequest_FitsGotify(t *testing.T) {
	t.Parallel()
	o := outgoing{id: uuid.New(), message: Message{Title: "Bài lỗi"}, lines: []line{{text: "Không đăng được"}}}
	r, err := request(t.Context(), Webhook, Destination{URL: "https://gotify.example/message"}, o)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID, AppID, Priority uint
		Title, Message      string
		Extras              map[string]any
		Date                time.Time
	}
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got.Title != "Bài lỗi" ||
		!strings.Contains(got.Message, "Không đăng được") || got.ID != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestExplanation_ReadsTheFormsOfServices(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ body, want string }{
		"Gotify": {
			`{"error":"Bad Request","errorCode":400,"errorDescription":"Field 'message' is required"}`,
			"Field 'message' is required",
		},
		"RFC 9457": {
			`{"type":"about:blank","title":"Bad Request","status":400,"detail":"text is missing"}`,
			"text is missing",
		},
		"only a title": {`{"title":"Bad Request"}`, "Bad Request"},
		"error object": {`{"error":{"code":403,"message":"The key has no access"}}`, "The key has no access"},
		"Telegram": {
			`{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`,
			"Bad Request: chat not found",
		},
		"ntfy": {
			`{"code":40014,"http":400,"error":"invalid request: attachments not allowed"}`,
			"invalid request: attachments not allowed",
		},
		"OAuth 2.0":        {`{"error":"invalid_token","error_description":"The token expired"}`, "The token expired"},
		"plain text":       {"invalid_payload\n", "invalid_payload"},
		"page":             {"<html><body>Bad gateway</body></html>", ""},
		"list":             {`["a"]`, ""},
		"empty and filled": {`{"description":"","message":"no"}`, "no"},
	} {
		if got, _ := explanation([]byte(row.body)); got != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

func TestRequest_GivesServersAMessage(t *testing.T) {
	t.Parallel()
	o := outgoing{
		id: uuid.New(), message: Message{Title: "T", Entries: []Entry{{Title: "E"}}},
		lines: []line{{text: "E"}},
	}
	r, err := request(t.Context(), Webhook, Destination{URL: "https://push.example/message?token=a"}, o)
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Text, Message string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Message != "E" || body.Text != "E" {
		t.Errorf("got %+v (%v), want the text as message too", body, err)
	}
}

func TestMessage_ShowsWhatWasSearchedAndFound(t *testing.T) {
	t.Parallel()
	post, target := uuid.New(), uuid.New()
	c := Channel{TimeZone: "Asia/Ho_Chi_Minh", Language: webpage.English}
	m, err := c.Compose([]Fact{{
		Item: 7, Type: "uncertain", PostID: &post, TargetID: &target, Network: "mastodon",
		Handle: "@desk", Content: "Flood\nwarning",
		Data: []byte(
			`{"message":"No response.","evidence_parts":[{"code":"not_listed","message":"Nothing like it among the last 40 posts.","params":{"posts":40}}],"sent":"2026-11-23T12:00:05Z"}`),
	}}, 1, "https://dateline.example/", message.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := m.lines(webpage.Preferences{Language: webpage.English}, func(item int64) (string, string, error) {
		if item != 7 {
			t.Errorf("got links for %d, want 7", item)
		}
		return "https://dateline.example/p", "https://dateline.example/a", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := m.Title + "\n" + joined(lines, nil)
	want := "Check whether it was published on @desk (Mastodon)\nPost: Flood warning\nSearched for: this text on " +
		"@desk (Mastodon), sent at 2026-11-23 19:00 +07.\nFound: Nothing like it among the last 40 posts.\n" +
		"It is published:\nhttps://dateline.example/p\nIt is not published, send it again:\n" +
		"https://dateline.example/a\nThe post:\nhttps://dateline.example/app/posts/" + post.String()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What was found, and why something failed, is in the language of the recipient; what a
// network answered is quoted.
func TestMessage_ShowsEvidenceAndCausesInTheLanguage(t *testing.T) {
	t.Parallel()
	messages, err := message.ParseCatalog(
		[]byte(
			`{"note":{"not_listed":"Không có trong {posts} bài gần nhất."},"cause":{"timeout":"Không có phản hồi kịp lúc."},"problem":{"too_long":"{network} đếm {used} ký tự; {by} cho phép {limit}."}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := Channel{TimeZone: "Asia/Ho_Chi_Minh", Language: webpage.Vietnamese}
	for name, row := range map[string]struct {
		fact Fact
		want []string
	}{
		"evidence": {
			Fact{
				Type: "uncertain",
				Data: []byte(
					`{"code":"timeout","message":"No response.","evidence_parts":[{"code":"not_listed","message":"Not among 1200 posts.","params":{"posts":1200}}],"sent":"2026-11-23T16:41:05Z"}`),
			},
			[]string{
				"Đã tìm: nội dung này trên , gửi lúc 23:41, 23/11/2026 +07.",
				"Kết quả: Không có trong 1.200 bài gần nhất.",
			},
		},
		"no search": {
			Fact{Type: "uncertain", Data: []byte(`{"code":"timeout","message":"No response."}`)},
			[]string{"Kết quả: Không có phản hồi kịp lúc."},
		},
		"a violation": {
			Fact{
				Type: "failed",
				Data: []byte(
					`{"code":"too_long","message":"Too long.","params":{"network":"X","by":"X","used":1290,"limit":280}}`),
			}, []string{"Lý do: X đếm 1.290 ký tự; X cho phép 280."},
		},
		"an answer of a network": {
			Fact{Type: "failed", Data: []byte(`{"code":"OAuthException","message":"Reduce the amount of data."}`)},
			[]string{"Lý do: Reduce the amount of data."},
		},
	} {
		m, err := c.Compose([]Fact{row.fact}, 1, "https://dateline.example", messages)
		if err != nil || len(m.Entries) != 1 || !slices.Equal(m.Entries[0].Lines, row.want) {
			t.Errorf("%s: got %+v, %v, want %q", name, m.Entries, err, row.want)
		}
	}
}

// Every type has a title in both languages, with the same placeholder.
func TestTitles_CoverAllTypesInBothLanguages(t *testing.T) {
	t.Parallel()
	for kind, title := range titles() {
		if title.EN == "" || title.VI == "" || strings.Count(title.EN, "%s") != strings.Count(title.VI, "%s") {
			t.Errorf("%s: got %+v", kind, title)
		}
		for _, language := range []webpage.Language{webpage.English, webpage.Vietnamese} {
			m, err := (Channel{TimeZone: "UTC", Language: language}).
				Compose([]Fact{{Type: kind, Handle: "@desk", Network: "mastodon", Data: []byte(`{}`)}, {Type: kind}},
					25, "https://dateline.example", message.Catalog{})
			if err != nil || len(m.Entries) != 2 || m.More != 23 || strings.Contains(m.Entries[0].Title, "%!") {
				t.Errorf("%s in %s: got %+v, %v", kind, language, m, err)
			}
		}
	}
}
