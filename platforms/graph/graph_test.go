package graph_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// respondWith serves one response to every request.
func respondWith(t *testing.T, status int, body string, header ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func failure(code, subcode int, more string) string {
	return fmt.Sprintf(
		`{"error":{"message":"words","type":"OAuthException","code":%d,"error_subcode":%d,"fbtrace_id":"trace"%s}}`,
		code, subcode, more)
}

func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		name         string
		status       int
		body         string
		read, create network.Class
		code         string
	}{
		{"Unknown", 500, failure(1, 0, ""), network.Transient, network.Ambiguous, "1"},
		{"Service", 400, failure(2, 0, ""), network.Transient, network.Ambiguous, "2"},
		{"Transient", 400, failure(77, 0, `,"is_transient":true`), network.Transient, network.Ambiguous, "77"},
		{"AppLimit", 403, failure(4, 0, `,"is_transient":true`), network.Throttled, network.Throttled, "4"},
		{"UserLimit", 400, failure(17, 2446079, ""), network.Throttled, network.Throttled, "17/2446079"},
		{"PageLimit", 400, failure(80001, 0, ""), network.Throttled, network.Throttled, "80001"},
		{"Expired", 400, failure(190, 463, ""), network.Auth, network.Auth, "190/463"},
		{"Session", 400, failure(102, 0, ""), network.Auth, network.Auth, "102"},
		{"Permission", 403, failure(200, 0, ""), network.Rejected, network.Rejected, "200"},
		{"PermissionBehind500", 500, failure(10, 0, ""), network.Rejected, network.Rejected, "10"},
		{"Blocked", 400, failure(368, 1390008, ""), network.Throttled, network.Throttled, "368/1390008"},
		{"ConfirmIdentity", 400, failure(368, 4854002, ""), network.Rejected, network.Rejected, "368/4854002"},
		{"Duplicate", 400, failure(506, 0, ""), network.Duplicate, network.Duplicate, "506"},
		{"Parameter", 400, failure(100, 33, ""), network.Rejected, network.Rejected, "100/33"},
		{"Other", 400, failure(1609005, 0, ""), network.Rejected, network.Rejected, "1609005"},
		{"OtherBehind500", 500, failure(1609005, 0, ""), network.Transient, network.Ambiguous, "1609005"},
		{"Page", 502, "<html>Bad gateway</html>", network.Transient, network.Ambiguous, "http_502"},
		{"Nothing", 400, "", network.Rejected, network.Rejected, "http_400"},
		{"Unauthorized", 401, `{"error":"words"}`, network.Auth, network.Auth, "http_401"},
		{
			"TokenEndpoint", 400, `{"error_type":"OAuthException","code":400,"error_message":"words"}`,
			network.Rejected,
			network.Rejected, "http_400",
		},
		{
			"Upload", 400, `{"debug_info":{"retriable":true,"type":"OffsetInvalidError","message":"words"}}`,
			network.Transient, network.Ambiguous, "http_400",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			address := respondWith(t, row.status, row.body)
			api := graph.New(http.DefaultClient, graph.Options{})
			for create, want := range map[bool]network.Class{false: row.read, true: row.create} {
				_, err := api.Do(t.Context(), graph.Call{Method: http.MethodPost, URL: address, Create: create})
				e := network.AsError(err)
				if e == nil {
					t.Fatal("e: got nil")
				}
				if e.Class != want {
					t.Errorf("e.Class: got %v, want %v", e.Class, want)
				}
				if e.Code != row.code {
					t.Errorf("e.Code: got %v, want %v", e.Code, row.code)
				}
				if e.Status != row.status {
					t.Errorf("e.Status: got %v, want %v", e.Status, row.status)
				}
				if e.Message == "" {
					t.Error("e.Message is empty")
				}
				if strings.Contains(row.body, "words") && e.Code != "http_401" && e.Message != "words" {
					t.Errorf("says %q", e.Message)
				}
				if strings.Contains(row.body, "trace") && e.RequestID != "trace" {
					t.Errorf("request id %q", e.RequestID)
				}
				if (e.Class == network.Throttled) != (e.Scope != "") {
					t.Errorf("%s with scope %q", e.Class, e.Scope)
				}
			}
		})
	}
}

func TestRefusal_PrefersUserMessage(t *testing.T) {
	address := respondWith(t, 400,
		failure(36000, 2207004,
			`,"error_user_title":"Image size too large","error_user_msg":"The image is too large."`))
	_, err := graph.New(http.DefaultClient, graph.Options{}).Do(t.Context(), graph.Call{
		Method: http.MethodGet, URL: address,
	})
	if e := network.AsError(err); e.Message != "Image size too large: The image is too large." {
		t.Errorf("%q", e.Message)
	}
}

func TestRefusal_ThrottledRetryAt(t *testing.T) {
	for name, row := range map[string]struct {
		header []string
		want   time.Duration
	}{
		"Regain": {
			[]string{
				"X-Business-Use-Case-Usage",
				`{"17":[{"type":"instagram","call_count":100,"estimated_time_to_regain_access":19}]}`,
			},
			19 * time.Minute,
		},
		"RetryAfter": {[]string{"Retry-After", "90"}, 90 * time.Second},
		"Later": {
			[]string{"Retry-After", "90", "X-App-Usage", `{"call_count":120,"estimated_time_to_regain_access":5}`},
			5 * time.Minute,
		},
		"Absurd": {
			[]string{"X-Business-Use-Case-Usage", `{"17":[{"estimated_time_to_regain_access":1e300}]}`},
			24 * time.Hour,
		},
		"Silent": {nil, 0},
		"Broken": {[]string{"X-Business-Use-Case-Usage", `{"17":`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			address := respondWith(t, 403, failure(4, 0, ""), row.header...)
			_, err := graph.New(http.DefaultClient, graph.Options{}).Do(t.Context(), graph.Call{
				Method: http.MethodGet, URL: address,
			})
			e := network.AsError(err)
			if row.want == 0 {
				if !e.RetryAt.IsZero() {
					t.Errorf("retry at %v, want none", e.RetryAt)
				}
				return
			}
			if wait := time.Until(e.RetryAt); wait > row.want || wait < row.want-10*time.Second ||
				e.Scope != network.ScopeApp {
				t.Errorf("wait %v, scope %s; want %v", wait, e.Scope, row.want)
			}
		})
	}
}

func TestRefine(t *testing.T) {
	address := respondWith(t, 400, failure(4, 2207051, ""))
	api := graph.New(http.DefaultClient,
		graph.Options{Refine: func(f graph.ErrorObject, create bool, e *network.Error) {
			if create && f.Matches(4, 2207051) && f.Matches(0, 2207051) && !f.Matches(4, 1) {
				e.Class = network.Ambiguous
			}
		}})
	for create, want := range map[bool]network.Class{true: network.Ambiguous, false: network.Throttled} {
		_, err := api.Do(t.Context(), graph.Call{Method: http.MethodPost, URL: address, Create: create})
		if e := network.AsError(err); e.Class != want {
			t.Errorf("create %v: %s, want %s", create, e.Class, want)
		}
	}
}

// The token is sent in a header, with a proof that is the second test case of RFC
// 4231.
func TestDo_SendsTokenInHeader(t *testing.T) {
	const proof = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
	token, appSecret := secret.NewText("what do ya want for nothing?"), secret.NewText("Jefe")
	if got := graph.AppSecretProof(token, appSecret); got != proof {
		t.Fatalf("proof %s", got)
	}
	var last *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		last = r
		w.Header().Set("X-Fb-Trace-Id", "t1")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"no %s with %s","code":100}}`, token.Reveal(), proof)
	}))
	t.Cleanup(server.Close)
	api := graph.New(http.DefaultClient, graph.Options{})
	for name, c := range map[string]graph.Call{
		"Get":  {Method: http.MethodGet, Query: url.Values{"fields": {"id"}}},
		"Post": {Method: http.MethodPost, Form: url.Values{"fields": {"id"}}},
		"OAuth": {
			Method: http.MethodPost, Scheme: "OAuth", Form: url.Values{"fields": {"id"}},
			Header: http.Header{"Offset": {"0"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.URL, c.Token, c.AppSecret = server.URL+"/v25.0/me", token, appSecret
			res, err := api.Do(t.Context(), c)
			e := network.AsError(err)
			if e == nil || strings.Contains(e.Error(), "nothing") || strings.Contains(e.Error(), proof) ||
				res.RequestID != "t1" {
				t.Errorf("%v, %+v", err, res)
			}
			if len(last.PostForm) == 0 && c.Form != nil {
				t.Error("the form is not in the body")
			}
			scheme := c.Scheme
			if scheme == "" {
				scheme = "Bearer"
			}
			if last.Header.Get("Authorization") != scheme+" "+token.Reveal() {
				t.Errorf("last.Header.Get(\"Authorization\"): got %v, want %v", last.Header.Get("Authorization"),
					scheme+" "+token.Reveal())
			}
			if strings.Contains(last.URL.String(), "nothing") {
				t.Errorf("sent %s %+v %v", last.URL, last.Header, last.Form)
			}
			if last.Form.Get("fields") != "id" {
				t.Errorf("last.Form.Get(\"fields\"): got %q, want %q", last.Form.Get("fields"), "id")
			}
			if last.Form.Get("appsecret_proof") != proof {
				t.Errorf("last.Form.Get(\"appsecret_proof\"): got %v, want %v", last.Form.Get("appsecret_proof"), proof)
			}
			if last.Header.Get("Offset") != c.Header.Get("Offset") {
				t.Errorf("last.Header.Get(\"Offset\"): got %v, want %v", last.Header.Get("Offset"),
					c.Header.Get("Offset"))
			}
		})
	}
}

func TestDo_SendsTokenAsParameter(t *testing.T) {
	var last *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		last = r
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"no s3cret","code":100}}`))
	}))
	t.Cleanup(server.Close)
	for _, form := range []url.Values{nil, {"text": {"x"}}} {
		_, err := graph.New(http.DefaultClient, graph.Options{}).Do(t.Context(), graph.Call{
			Method: http.MethodPost, URL: server.URL, Form: form, Token: secret.NewText("s3cret"),
			TokenParameter: true,
		})
		if e := network.AsError(err); strings.Contains(e.Error(), "s3cret") {
			t.Error(e)
		}
		inBody := last.PostForm.Get("access_token") == "s3cret"
		if last.Form.Get("access_token") != "s3cret" || inBody != (form != nil) ||
			last.Header.Get("Authorization") != "" {
			t.Errorf("sent %s, %v", last.URL, last.PostForm)
		}
	}
}

func TestDo_ParsesResponses(t *testing.T) {
	var page graph.Page[struct {
		At graph.Time `json:"timestamp"`
	}]
	list := `{"data":[{"timestamp":"2026-11-21T20:06:30+0000"},{"timestamp":"2026-11-21T21:06:30+01:00"},{"timestamp":"soon"},{"timestamp":7}],
		"paging":{"cursors":{"before":"a","after":"b"},"next":"https://graph.example/x?access_token=secret&after=b"}}`
	if err := json.Unmarshal([]byte(list), &page); err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 11, 21, 20, 6, 30, 0, time.UTC)
	if !page.Data[0].At.Equal(want) {
		t.Errorf("%+v", page)
	}
	if !page.Data[1].At.Equal(want) {
		t.Errorf("%+v", page)
	}
	if !page.Data[2].At.IsZero() {
		t.Errorf("%+v", page)
	}
	if !page.Data[3].At.IsZero() {
		t.Errorf("%+v", page)
	}
	if page.NextCursor() != "b" {
		t.Errorf("page.NextCursor(): got %q, want %q", page.NextCursor(), "b")
	}
	page.Paging.Next = ""
	if page.NextCursor() != "" {
		t.Error("the last page has another after it")
	}
	api := graph.New(http.DefaultClient, graph.Options{})
	for body, want := range map[string]string{`{"id":"17"}`: "17", `{"id":""}`: "", `{"id":`: ""} {
		res, err := api.Do(t.Context(), graph.Call{
			Method: http.MethodPost, URL: respondWith(t, 200, body), Create: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		id, err := graph.CreatedID(res)
		if id != want || want == "" && network.AsError(err).Class != network.Ambiguous {
			t.Errorf("%s: %q, %v", body, id, err)
		}
	}
}

func TestService_Addresses(t *testing.T) {
	const sandbox, back = "http://127.0.0.1:8090/instagram", "https://desk.example/cb"
	p := graph.Service{Network: "Instagram", Sandbox: sandbox}
	for base, want := range map[string]string{
		"": "https://real", sandbox: sandbox, "https://evil.example": "",
		sandbox + "/": "",
	} {
		host, err := p.Host(base, "https://real")
		if host != want || want == "" && network.AsError(err).Code != "bad_address" {
			t.Errorf("%q: %q, %v", base, host, err)
		}
	}
	if got, err := p.Address("", "https://real", "v1.0", "1/2", "media"); err != nil ||
		got != "https://real/v1.0/1%2F2/media" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := p.Address("https://evil.example", "https://real", "v1.0"); network.AsError(err).Code != "bad_address" {
		t.Errorf("%v", err)
	}
	if _, err := (graph.Service{}).Host(sandbox, "https://real"); err == nil {
		t.Error("an unknown sandbox was accepted")
	}
	if _, err := p.Register("", back); network.AsError(err).Code != network.CodeNotConfigured {
		t.Errorf("%v", err)
	}
	if app, err := p.Register(sandbox, back); err != nil || app.BaseURL != sandbox || app.RedirectURI != back ||
		app.ClientID != network.SandboxApp("", "").ClientID {
		t.Errorf("%+v, %v", app, err)
	}
	p.ClientID, p.ClientSecret = "id", secret.NewText("s")
	if app, err := p.Register("", back); err != nil || app.ClientID != "id" || app.ClientSecret.Reveal() != "s" ||
		app.RedirectURI != back {
		t.Errorf("%+v, %v", app, err)
	}
}

// No header causes a wait of more than a day.
func FuzzUsage(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"call_count":28,"total_time":25,"total_cputime":25}`,
		`{"17":[{"estimated_time_to_regain_access":1e309}]}`,
		`{"17":[{"call_count":-1,"estimated_time_to_regain_access":-5}]}`, `{"17":null}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		u := graph.ParseUsage(http.Header{"X-App-Usage": {value}, "X-Business-Use-Case-Usage": {value}})
		if u.RegainIn < 0 || u.RegainIn > 24*time.Hour || u.Percent < 0 {
			t.Fatalf("%+v", u)
		}
	})
}
