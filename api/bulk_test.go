package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"dateline/api/spec"
	"dateline/internal/testing/newsroomtest"
)

const bulk = "/api/v1/posts/bulk"

func (s *server) csv(query, body string, headers ...string) answer {
	s.t.Helper()
	return s.send("POST", bulk+query, body, append([]string{"Content-Type", "text/csv"}, headers...)...)
}

func (s *server) ndjson(query, body string, headers ...string) answer {
	s.t.Helper()
	return s.send("POST", bulk+query, body, append([]string{"Content-Type", "application/x-ndjson"}, headers...)...)
}

func (s *server) bulkResult(a answer, status int) (r spec.BulkResult) {
	s.t.Helper()
	s.decode(a, status, &r)
	return r
}

func TestBulk_CSVRowsBecomePosts(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := s.Connect("desk")
	sports := s.Connect("sports")
	day := time.Now().AddDate(0, 0, 3).Format("2006-01-02")
	body :=
		"\ufeffcontent,scheduled_time,time_zone,accounts,language,thread_1,thread_2,drop_if_late_minutes,draft\r\n" +
			"\"Giá vàng hôm nay, \"\"SJC\"\"\"," + day + "T08:00,Asia/Ho_Chi_Minh," + desk.Handle + ";" +
			sports.ID.String() + ",vi,Phần hai,\"Phần ba\r\nhết\",15,\r\n" +
			"'=1+1 là hai," + day + "T09:00:00+07:00,,mastodon:" + sports.Handle + ",,,,,FALSE\r\n" +
			"Chưa xong,,,,,,,,TRUE\r\n"
	r := s.bulkResult(s.csv("", body), 201)
	require.Equal(t, 3, r.Total)
	require.Equal(t, 3, r.Valid)
	require.Equal(t, 3, r.Created)
	require.Len(t, r.Rows, 3)
	require.Equal(t, 5, r.Rows[2].Row) // the line of the file
	first := s.post(s.send("GET", "/api/v1/posts/"+r.Rows[0].Id.String(), nil), 200)
	require.Equal(t, `Giá vàng hôm nay, "SJC"`, first.Content)
	require.Equal(t, day+"T08:00:00+07:00", first.ScheduledTime.Format(time.RFC3339))
	require.Equal(t, "vi", *first.Language)
	require.Len(t, first.Targets, 2)
	require.Len(t, *first.Thread, 2)
	require.Equal(t, "Phần ba\r\nhết", (*first.Thread)[1].Content)
	require.Equal(t, 15, *first.DropIfLateMinutes)
	require.Equal(t, spec.PostStatus("scheduled"), first.Status)
	second := s.post(s.send("GET", "/api/v1/posts/"+r.Rows[1].Id.String(), nil), 200)
	if second.Content != "=1+1 là hai" || second.TimeZone != "Asia/Ho_Chi_Minh" || len(second.Targets) != 1 ||
		second.Targets[0].AccountId != sports.ID {
		t.Errorf("second: %+v", second)
	}
	third := s.post(s.send("GET", "/api/v1/posts/"+r.Rows[2].Id.String(), nil), 200)
	if third.Status != "draft" || third.ScheduledTime != nil || third.Targets[0].AccountId != desk.ID {
		t.Errorf("third: %+v", third)
	}
	if events := s.Count("select count(*) from post_events where type = 'created' and actor = $1",
		s.Owner.Actor()); events != 3 {
		t.Errorf("%d events", events)
	}
	deadline := time.Now().Add(30 * time.Second)
	for s.temporal.signals(*r.Rows[0].Id) == 0 || s.temporal.signals(*r.Rows[1].Id) == 0 {
		if time.Now().After(deadline) {
			t.Fatal("no workflow was started")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.temporal.signals(third.Id) != 0 {
		t.Error("Temporal was notified of a draft")
	}
	// A start with the post's search attributes costs a third less than a signal that starts.
	p, ok := s.temporal.start(*r.Rows[1].Id)
	if !ok || len(p.Targets) != 1 || p.Targets[0].AccountID != sports.ID || p.Targets[0].Network != sports.Network ||
		!p.ScheduledTime.Equal(second.ScheduledTime.UTC()) {
		t.Errorf("the workflow was started: %v, for %+v", ok, p)
	}
}

func lines(objects ...any) string {
	var b strings.Builder
	for _, o := range objects {
		raw, _ := json.Marshal(o)
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}

func TestBulk_OneInvalidRowStoresNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	body := lines(hello(), hello(object{"content": strings.Repeat("ệ", 501)}),
		hello(object{"scheduled_time": in(-time.Hour), "accounts": []string{"@nobody@x"}}),
		hello(object{"colour": "red"}), []int{1}) + "{broken\n\n" + lines(hello())
	a := s.ndjson("", body)
	s.refused(a, 422, "rows_invalid")
	var p spec.BulkProblem
	s.decode(a, 422, &p)
	var got []string
	for _, r := range p.Rows {
		for _, e := range *r.Errors {
			got = append(got, fmt.Sprint(r.Row, " ", e.Field, " ", e.Code))
		}
	}
	want := []string{
		"2 content too_long", "3 accounts[0] unknown_account", "4 colour unknown_field",
		"5 body wrong_type", "6 row not_json",
	}
	if !slices.Equal(got, want) || p.Total != 7 || p.Valid != 2 || p.Invalid != 5 {
		t.Errorf("refused %v, want %v: %+v", got, want, p)
	}
	if n := s.Count("select count(*) from scheduled_posts"); n != 0 {
		t.Errorf("%d posts", n)
	}
	dry := s.bulkResult(s.ndjson("?mode=valid&dry_run=true", body), 200)
	if dry.Valid != 2 || dry.Created != 0 || s.Count("select count(*) from scheduled_posts") != 0 {
		t.Errorf("dry run: %+v", dry)
	}
	r := s.bulkResult(s.ndjson("?mode=valid", body), 201)
	require.Equal(t, 2, r.Created)
	require.NotNil(t, r.Rows[0].Id)
	require.NotNil(t, r.Rows[1].Errors)
	require.NotNil(t, r.Rows[6].Id)
	require.Equal(t, 2, s.Count("select count(*) from scheduled_posts"))
}

func TestBulk_IsIdempotent(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	body := lines(hello(), hello(object{"content": ""}), hello())
	first := s.ndjson("?mode=valid", body, "Idempotency-Key", "key")
	s.bulkResult(first, 201)
	again := s.ndjson("?mode=valid", body, "Idempotency-Key", "key")
	if again.StatusCode != http.StatusCreated || !bytes.Equal(first.body, again.body) ||
		again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: got %s, first %s", again.body, first.body)
	}
	s.refused(s.ndjson("?mode=valid", lines(hello()), "Idempotency-Key", "key"), 422, "idempotency_key_reused")
	s.refused(s.send("POST", "/api/v1/posts", hello(), "Idempotency-Key", "key"), 422, "idempotency_key_reused")
	if n := s.Count("select count(*) from scheduled_posts"); n != 2 {
		t.Errorf("%d posts", n)
	}
}

func TestBulk_RejectsABodyWithoutRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	for body, code := range map[string]string{
		"": "empty", "content\n": "empty",
		"content,colour\nx,red\n": "unknown_column", "content,Content\nx,y\n": "duplicate_column",
		"content\n\"x\n": "not_csv", "content\n\xff\n": "not_csv",
		"content\n" + strings.Repeat("x\n", 10_001): "too_many",
	} {
		a := s.csv("", body)
		s.refused(a, 422, "invalid_request", "body")
		if !strings.Contains(string(a.body), `"`+code+`"`) {
			t.Errorf("%.40q: %s", body, a.body)
		}
	}
	s.refused(s.send("POST", bulk, "[]"), 415, "unsupported_media_type", "Content-Type")
	s.refused(s.csv("?mode=some", "content\nx\n"), 400, "invalid_request", "mode")
	s.refused(s.csv("", strings.Repeat("x", 33<<20)), 413, "too_large")
	a := s.csv("", "content,drop_if_late_minutes,draft,thread,thread_1,thread_2\nx,soon,maybe,{,,\nx,,,,,gap\nx\n"+
		"x,,,[],a,b\n")
	var p spec.BulkProblem
	s.decode(a, 422, &p)
	require.Equal(t, 4, p.Invalid)
	require.Len(t, *p.Rows[0].Errors, 3)
	require.Equal(t, "thread_1", (*p.Rows[1].Errors)[0].Field)
	require.Equal(t, "wrong_length", (*p.Rows[2].Errors)[0].Code)
	require.Equal(t, "two_threads", (*p.Rows[3].Errors)[0].Code)
}

// Files as Excel and LibreOffice write them in a Vietnamese locale: the whole used range,
// semicolons or tabs, a separator line, and spaces of web pages around cells.
func TestBulk_ReadsFilesOfSpreadsheets(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	day := time.Now().AddDate(0, 0, 3).Format("2006-01-02")
	for name, body := range map[string]string{
		"used range":        "content;scheduled_time;draft;;\r\nGiá vàng;" + day + "T09:00;;;\r\n;;;;\r\n;;;;\r\n",
		"separator line":    "\ufeffsep=;\r\ncontent;scheduled_time\r\nGiá vàng;" + day + "T09:00\r\n",
		"no-break space":    "content,scheduled_time\r\nGiá vàng,\u00a0" + day + "T09:00\u00a0\r\n",
		"zero-width space":  "content,scheduled_time\nGiá vàng,\u200e" + day + "T09:00\u200b\n",
		"no-break headers":  "content\u00a0\tscheduled_time\u00a0\nGiá vàng\t" + day + "T09:00\n",
		"blank rows before": ";;\r\n\r\ncontent;scheduled_time;\r\nGiá vàng;" + day + "T09:00;\r\n",
		"cells after":       "content,scheduled_time\nGiá vàng," + day + "T09:00,,\u00a0,\n",
		"UTF-16":            utf16le("content\tscheduled_time\r\nGiá vàng\t" + day + "T09:00\r\n"),
	} {
		r := s.bulkResult(s.csv("?dry_run=true", body), 200)
		if r.Valid != 1 || r.Total != 1 {
			t.Errorf("%s: got %+v, want one valid row", name, r)
		}
	}
	a := s.csv("", "content;\nx;\ny;z\n")
	s.refused(a, 422, "invalid_request", "body")
	require.Contains(t, string(a.body), "Column 2 has no name, but line 3 has content there.")
	// One numbering: the line of the file.
	r := s.bulkResult(s.csv("?dry_run=true", "content,draft\n\n\"a\nb\",maybe\n,\nc,perhaps\n"), 200)
	require.Equal(t, []int{3, 6}, []int{r.Rows[0].Row, r.Rows[1].Row})
	require.Contains(t, string(s.csv("", "content\n\n\nx\n\"y\n").body), "Line 5")
	// Letters that were lost are not published.
	s.refused(s.csv("", "content,draft\nGi\ufffd v\ufffdng,true\n"), 422, "rows_invalid")
	s.refused(s.send("POST", "/api/v1/posts", object{"content": "Gi\ufffd", "draft": true}), 422, "invalid_request",
		"content")
	s.refused(s.send("POST", "/api/v1/posts",
		object{"content": "x", "draft": true, "thread": []object{{"content": "Gi\ufffd"}}}), 422, "invalid_request",
		"thread[0].content")
}

func utf16le(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// Texts are composed once, however they arrive, so that networks get NFC.
func TestPosts_AreStoredAsNFC(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	const composed = "#HàNội Hòa bình"
	decomposed := norm.NFD.String(composed)
	escaped := strings.ToLower(strconv.QuoteToASCII(decomposed))
	for name, content := range map[string]string{
		"JSON": s.post(s.send("POST", "/api/v1/posts", object{"content": decomposed, "draft": true}),
			201).Content,
		"escaped JSON": s.post(s.send("POST", "/api/v1/posts", `{"draft": true, "content": `+strings.ReplaceAll(escaped,
			"#ha", "#Ha")+`}`, "Content-Type", "application/json"), 201).Content,
	} {
		if !norm.NFC.IsNormalString(content) {
			t.Errorf("%s: got %+q, want NFC", name, content)
		}
	}
	for name, a := range map[string]answer{
		"CSV":    s.csv("", "content,draft\n"+decomposed+",true\n"),
		"NDJSON": s.ndjson("", lines(object{"content": decomposed, "draft": true})),
	} {
		r := s.bulkResult(a, 201)
		if got := s.post(s.send("GET", "/api/v1/posts/"+r.Rows[0].Id.String(), nil), 200).Content; got != composed {
			t.Errorf("%s: got %+q, want %+q", name, got, composed)
		}
	}
}

func TestExport_CanBeImported(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk, sports := s.Connect("desk"), s.Connect("sports")
	file := s.upload("ảnh.png", "").Id.String()
	at := func(h int) string {
		return time.Now().Add(time.Duration(h) * time.Hour).Truncate(time.Millisecond).Format(time.RFC3339Nano)
	}
	for _, o := range []object{
		{"content": "=HYPERLINK(\"x\")", "scheduled_time": at(1), "language": "vi"},
		{"content": "'=đã thoát", "scheduled_time": at(2), "time_zone": "Europe/Berlin", "drop_if_late_minutes": 5},
		{
			"content": "Dòng một\r\nDòng \"hai\"; ba,\tbốn\n", "scheduled_time": at(3),
			"accounts": []string{desk.ID.String(), sports.ID.String()}, "attachments": []string{file},
			"thread":    []object{{"content": "+1", "attachments": []string{file}}, {"content": "-2"}},
			"overrides": object{sports.ID.String(): object{"content": "@riêng"}},
		},
		{"content": "Nháp", "draft": true},
	} {
		s.post(s.send("POST", "/api/v1/posts", o), 201)
	}
	content := func() (all []string) {
		var page spec.PostPage
		s.decode(s.send("GET", "/api/v1/posts?order=asc&status=scheduled,draft", nil), 200, &page)
		for _, p := range page.Posts {
			when := ""
			if p.ScheduledTime != nil {
				when = p.ScheduledTime.Format(time.RFC3339Nano)
			}
			raw, _ := json.Marshal([]any{
				p.Status, p.Content, when, p.TimeZone, p.Language, p.Thread, p.Attachments,
				p.DropIfLateMinutes,
			})
			line := string(raw)
			for _, target := range p.Targets {
				override, _ := json.Marshal(target.Override)
				line += target.AccountId.String() + string(override)
			}
			all = append(all, line)
		}
		slices.Sort(all)
		return all
	}
	want := content()
	for format, contentType := range map[string]string{
		"csv":    "text/csv; charset=utf-8",
		"ndjson": "application/x-ndjson",
	} {
		a := s.send("GET", "/api/v1/posts/export?status=scheduled,draft&format="+format, nil)
		if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != contentType ||
			!strings.Contains(a.Header.Get("Content-Disposition"), "posts."+format) {
			t.Fatalf("%s: %s %v", format, a.Status, a.Header)
		}
		if format == "csv" && !bytes.HasPrefix(a.body, []byte("\ufeff")) {
			t.Error("without a byte order mark, Excel reads Vietnamese in another encoding")
		}
		if format == "csv" && (!strings.Contains(string(a.body), "'=HYPERLINK") ||
			!strings.Contains(string(a.body), "''=đã")) {
			t.Errorf("formulas stand in\n%s", a.body)
		}
		s.Exec("update scheduled_posts set status = 'canceled' where status in ('scheduled', 'draft')")
		r := s.bulkResult(s.send("POST", bulk, string(a.body), "Content-Type", contentType), 201)
		if got := content(); r.Created != 4 || !slices.Equal(got, want) {
			t.Errorf("%s came back as\n%s\nwant\n%s", format, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	a := s.send("GET", "/api/v1/posts/export?account="+sports.ID.String(), nil)
	if n := bytes.Count(a.body, []byte("\n")); n != 3 {
		t.Errorf("%d posts of one account", n)
	}
	s.refused(s.send("GET", "/api/v1/posts/export?format=xlsx", nil), 400, "invalid_request", "format")
}

// Exporting them takes several pages and repeats no post. 10,000 rows is the limit of a
// request.
func TestBulk_TenThousandRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	var body strings.Builder
	body.WriteString("content,scheduled_time,language\n")
	begin := time.Now().Add(48 * time.Hour).Truncate(time.Second)
	for i := range 10_000 {
		fmt.Fprintf(&body, "Tin số %d: giá vàng hôm nay,%s,vi\n", i,
			begin.Add(time.Duration(i/3)*time.Second).Format(time.RFC3339))
	}
	began := time.Now()
	r := s.bulkResult(s.csv("", body.String(), "Idempotency-Key", "vạn"), 201)
	t.Logf("10,000 rows took %s", time.Since(began))
	if r.Created != 10_000 || s.Count("select count(*) from post_targets") != 10_000 {
		t.Fatalf("%d posts", r.Created)
	}
	began = time.Now()
	a := s.send("GET", "/api/v1/posts/export?format=ndjson", nil)
	t.Logf("exporting them took %s", time.Since(began))
	seen := map[string]bool{}
	for line := range bytes.Lines(a.body) {
		var p spec.BulkPost
		s.Must(json.Unmarshal(line, &p))
		seen[*p.Id] = true
	}
	if n := bytes.Count(a.body, []byte("\n")); len(seen) != 10_000 || n != 10_000 {
		t.Errorf("%d posts in %d lines", len(seen), n)
	}
}

// No malformed body causes a 5xx.
func FuzzBulkBody(f *testing.F) {
	n := newsroomtest.Open(f)
	n.Connect("desk")
	h := handler(n, &temporal{signaled: map[uuid.UUID]int{}}, io.Discard)
	for _, body := range []string{
		"", "content\nx", "content,scheduled_time\n\"a\"\"b\",2030-01-01T00:00\n",
		"\ufeffcontent;draft\r\n'=x;TRUE\r\n", "content,thread,overrides\nx,\"[{\"\"content\"\":\"\"y\"\"}]\",{}\n",
		`{"content":"x","draft":true}`, "{\"content\":\"\\u0000\",\"draft\":true}\n{}\nnull\n[]\n",
		"{\"content\":1e999}", "\xff", "content,accounts,attachments,thread_parent_id\nx,;;a,b;b,c",
	} {
		f.Add(body, true)
		f.Add(body, false)
	}
	f.Fuzz(func(t *testing.T, body string, csv bool) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, bulk+"?dry_run=true&mode=valid",
			strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+n.Token)
		r.Header.Set("Content-Type", map[bool]string{true: "text/csv", false: "application/x-ndjson"}[csv])
		serve(t, h, r)
	})
}
