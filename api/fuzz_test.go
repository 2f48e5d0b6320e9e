package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/testing/newsroomtest"
)

// serve sends r to a handler and fails the test on a 5xx or on an error without a
// problem document.
func serve(t *testing.T, h http.Handler, r *http.Request) int {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code >= 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w.Code >= 400 {
		var p spec.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Code == "" || p.Status != w.Code {
			t.Errorf("got status %d without a problem document: %s", w.Code, w.Body)
		}
	}
	return w.Code
}

// No malformed body causes a 5xx.
func FuzzPostBody(f *testing.F) {
	n := newsroomtest.Open(f)
	n.Connect("desk")
	h := handler(n, &temporal{signaled: map[uuid.UUID]int{}}, io.Discard)
	at := in(3 * 365 * 24 * time.Hour)
	for _, body := range []string{
		`{"content":"Hello","scheduled_time":"` + at + `"}`, `{}`, `[]`, `null`, ``,
		`{"content":"\u0000","scheduled_time":"` + at + `"}`,
		`{"content":"\ud800","scheduled_time":"` + at + `"}`,
		`{"content":"a","content":"b","scheduled_time":"x","time_zone":"../x"}`,
		`{"content":"Hello","scheduled_time":"` + at +
			`","accounts":["{00000000-0000-0000-0000-000000000000}"],"attachments":["urn:uuid:00000000-0000-0000-0000-000000000000"],"thread_parent_id":"00000000000000000000000000000000","language":"vi"}`,
		`{"content":1e999,"scheduled_time":{"a":[[[[]]]]}}`, "\xff\xfe",
		`{"content":"Hello","scheduled_time":"9999-12-31T23:59:59.999999999-23:59"}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for method, path := range map[string]string{
			http.MethodPost:  "/api/v1/posts",
			http.MethodPatch: "/api/v1/posts/" + uuid.NewString(),
		} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+n.Token)
			r.Header.Set("Content-Type", "application/json")
			serve(t, h, r)
		}
	})
}

// No malformed announcement of an upload, edit of a file, or URL causes a 5xx.
func FuzzMediaBody(f *testing.F) {
	n := newsroomtest.Open(f)
	h := handler(n, &temporal{signaled: map[uuid.UUID]int{}}, io.Discard)
	item, err := n.Media.Upload(f.Context(), n.Owner, "a.png", "", bytes.NewReader(picture(f)))
	n.Must(err)
	n.Media.Web = &http.Client{
		Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }),
	}
	for _, body := range []string{
		`{"file_name":"a.png","bytes":9}`, `{"file_name":"\u0000","bytes":9,"sha256":"zz"}`,
		`{"bytes":-1}`, `{"bytes":9223372036854775808,"file_name":""}`,
		`{"alt_text":"\ud800"}`, `{"file_name":"..","alt_text":"\u0000"}`, `{"url":"http://[::1"}`, `{"url":"//"}`,
		`{"url":"http://\u0000/"}`, `{"url":"http://example.org/\u0000"}`, `[]`, `null`, ``,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for path, method := range map[string]string{
			"/uploads": http.MethodPost, "/fetch": http.MethodPost,
			"/" + item.ID.String(): http.MethodPatch,
		} {
			r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1/media"+path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+n.Token)
			r.Header.Set("Content-Type", "application/json")
			serve(t, h, r)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// No search of the library causes a 5xx.
func FuzzMediaSearch(f *testing.F) {
	n := newsroomtest.Open(f)
	h := handler(n, &temporal{signaled: map[uuid.UUID]int{}}, io.Discard)
	for _, q := range []string{"", "bãi biển", "%", `\`, "_", `a\%`, "\x00", "\xff", "\u0300", "ﬁ"} {
		f.Add(q, q)
	}
	f.Fuzz(func(t *testing.T, q, cursor string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/media?limit=1&q="+url.QueryEscape(q)+
			"&cursor="+url.QueryEscape(cursor), nil)
		r.Header.Set("Authorization", "Bearer "+n.Token)
		serve(t, h, r)
	})
}

// No malformed cursor causes a 5xx.
func FuzzCursor(f *testing.F) {
	n := newsroomtest.Open(f)
	n.Connect("desk")
	n.Schedule()
	h := handler(n, &temporal{signaled: map[uuid.UUID]int{}}, io.Discard)
	for _, cursor := range []string{
		"", "AAAA", "nonsense", "MjAyNi0xMi0yNFQxODowMDowMFogMDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAw",
		"MDAwMC0wMS0wMVQwMDowMDowMFogMDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAw",
		"OTk5OS0xMi0zMVQyMzo1OTo1OVogMDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAw", "\x00", "%00", "ệ",
	} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, list := range []string{"posts", "members", "tokens", "audit"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/"+list+"?limit=1&cursor="+
				url.QueryEscape(cursor), nil)
			r.Header.Set("Authorization", "Bearer "+n.Token)
			serve(t, h, r)
		}
	})
}

// No malformed body about members, tokens or workspaces causes a 5xx.
func FuzzPeopleBody(f *testing.F) {
	n := newsroomtest.Open(f)
	h := handler(n, &temporal{signaled: map[uuid.UUID]int{}}, io.Discard)
	member := n.Join(n.Workspace, workspace.Viewer).UserID.String()
	for _, body := range []string{
		`{"name":"Sports","time_zone":"Asia/Ho_Chi_Minh"}`, `{"name":"\u0000"}`,
		`{"name":" ","time_zone":"\ud800"}`, `{"email":"a@b","role":"owner"}`,
		`{"email":"\u212a@b.example","role":"viewer"}`, `{"email":"\"a b\"@[::1]","role":"viewer"}`,
		`{"role":"author"}`, `{"name":"x","scopes":["*"],"expires_in_days":1e2}`,
		`{"name":"x","scopes":["*","*"],"never_expires":true}`, `{"authors_need_approval":null}`, `[]`,
		`{"time_zone":"../../etc/passwd"}`, `{"name":"x","time_zone":"posixrules"}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, at := range []string{
			"POST /api/v1/workspaces", "PATCH /api/v1/workspace", "POST /api/v1/members",
			"PATCH /api/v1/members/" + member, "POST /api/v1/tokens",
		} {
			method, path, _ := strings.Cut(at, " ")
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+n.Token)
			r.Header.Set("Content-Type", "application/json")
			serve(t, h, r)
		}
	})
}
