package mastodon_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

// respond is an adapter and an account at a server that responds to every call with a
// status and a body, except to the calls that name its software.
func respond(
	t *testing.T, software string, status int, body string,
) (m *mastodon.Mastodon, account network.Account, sent *http.Request, form *[]byte) {
	t.Helper()
	sent, form = &http.Request{}, &[]byte{}
	mux := http.NewServeMux()
	var server *httptest.Server
	mux.HandleFunc("/.well-known/nodeinfo", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"links":[{"rel":"http://nodeinfo.diaspora.software/ns/schema/2.0","href":"`+
			server.URL+`/nodeinfo/2.0"}]}`)
	})
	mux.HandleFunc("/nodeinfo/2.0", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"software":{"name":"`+software+`","version":"1.2.3"}}`)
	})
	mux.HandleFunc("/api/v2/instance", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		*sent = *r
		*form, _ = io.ReadAll(r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	m = mastodon.New(server.Client(), mastodon.Options{})
	account = network.Account{
		BaseURL: server.URL, RemoteID: "1", Token: secret.NewText("access-token"),
		RefreshToken: secret.NewText("refresh-token"),
	}
	if _, err := m.Limits(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return m, account, sent, form
}

func TestRefresh_RefusalWithoutDescription(t *testing.T) {
	for body, want := range map[string]network.Class{
		`{"error":"invalid_grant"}`: network.Auth,
		`{"error":"invalid_grant","error_description":"The provided authorization grant is invalid"}`: network.Auth,
		`{"error":"invalid_client"}`:         network.Rejected,
		`{"error":"invalid_request"}`:        network.Rejected,
		`{"error":"unsupported_grant_type"}`: network.Rejected,
	} {
		m, account, _, _ := respond(t, "mastodon", http.StatusBadRequest, body)
		_, err := m.Refresh(t.Context(), network.App{BaseURL: account.BaseURL}, account)
		if e := network.AsError(err); e == nil || e.Class != want {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}

func TestIdentify_RefusesARevokedTokenWithAnyStatus(t *testing.T) {
	for status, want := range map[int]network.Class{
		401: network.Auth, 422: network.Auth, 403: network.Auth,
		400: network.Auth,
		404: network.Rejected, 429: network.Throttled, 503: network.Transient,
	} {
		m, account, _, _ := respond(t, "snac", status, "")
		_, err := m.Identify(t.Context(), account)
		if e := network.AsError(err); e == nil || e.Class != want {
			t.Errorf("%d: got %v, want %s", status, err, want)
		}
	}
}

func TestExchange_TokenThatEndsWithoutARefreshToken(t *testing.T) {
	m, account, _, _ := respond(t, "mitra", http.StatusOK,
		`{"access_token":"a","token_type":"Bearer","scope":"read write","expires_in":2592000}`)
	got, err := m.Exchange(t.Context(), network.App{BaseURL: account.BaseURL}, "code", "verifier")
	if days := time.Until(got.TokenExpiresAt).Hours() / 24; err != nil || days < 29.9 || days > 30 ||
		!got.RefreshToken.Empty() {
		t.Errorf("got %v and a refresh token %v, %v; want the end in 30 days and none", got.TokenExpiresAt,
			!got.RefreshToken.Empty(), err)
	}
}

func TestPublish_PollsAreFormFields(t *testing.T) {
	submission := network.Submission{
		Key: "k", Text: "Chọn & gửi?", Language: "vi",
		Options: mastodon.PostOptions{
			Visibility: "unlisted",
			Poll:       &mastodon.Poll{Choices: []string{"Có", "Không"}, DurationMinutes: 60, Multiple: true},
		},
	}
	for software, wantForm := range map[string]bool{
		"snac": true, "mastodon": true, "hollo": true, "something": true,
		"mitra": false,
	} {
		m, account, sent, body := respond(t, software, http.StatusOK, `{"id":"1"}`)
		if _, err := m.Publish(t.Context(), account, submission); err != nil {
			t.Fatal(err)
		}
		if !wantForm {
			var fields map[string]any
			if err := json.Unmarshal(*body, &fields); err != nil || fields["poll"] == nil {
				t.Errorf("%s: got %s, want JSON with a poll", software, *body)
			}
			continue
		}
		form, err := url.ParseQuery(string(*body))
		want := url.Values{
			"status": {"Chọn & gửi?"}, "language": {"vi"}, "visibility": {"unlisted"},
			"poll[options][]":  {"Có", "Không"},
			"poll[expires_in]": {"3600"}, "poll[multiple]": {"true"},
		}
		if err != nil || form.Encode() != want.Encode() ||
			sent.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("%s: got %s, want %s", software, form.Encode(), want.Encode())
		}
	}
	m, account, sent, _ := respond(t, "snac", http.StatusOK, `{"id":"1"}`)
	if _, err := m.Publish(t.Context(), account, network.Submission{Key: "k", Text: "a"}); err != nil ||
		sent.Header.Get("Content-Type") != "application/json" {
		t.Errorf("without a poll: got %s, %v; want JSON", sent.Header.Get("Content-Type"), err)
	}
}

// The answers of servers to the same request.
func TestPublish_NamesWhatAServerLeftOut(t *testing.T) {
	poll := &mastodon.Poll{Choices: []string{"Có", "Không"}, DurationMinutes: 60}
	for name, row := range map[string]struct {
		software, answer string
		text             string
		options          mastodon.PostOptions
		want             []string
	}{
		"snac without its poll": {
			"snac", `{"id":"1","content":"Tin","poll":null}`, "Tin",
			mastodon.PostOptions{Poll: poll},
			[]string{network.DifferenceNoPoll},
		},
		"Mitra, public and without its warning": {
			"mitra",
			`{"id":"1","content":"<p>Tin</p>","visibility":"public","spoiler_text":""}`, "Tin",
			mastodon.PostOptions{Visibility: "unlisted", ContentWarning: "Bạo lực"},
			[]string{
				network.DifferenceWider, network.DifferenceNoWarning,
			},
		},
		"Markdown of snac": {
			"snac", `{"id":"1","content":"2 <i> 3 </i> 4<br><ul><li>mục</li></ul>"}`,
			"2 * 3 * 4\n- mục",
			mastodon.PostOptions{},
			nil,
		},
		"HTML of Mastodon": {
			"mastodon",
			`{"id":"1","content":"<p>Một<br>hai <a href=\"https://example.com/a\"><span class=\"invisible\">https://</span>example.com/a</a></p>"}`, "Một\nhai https://example.com/a ",
			mastodon.PostOptions{},
			nil,
		},
		"mentions without domain": {
			"mastodon",
			`{"id":"1","content":"<p>Theo <span class=\"h-card\"><a href=\"https://a.example/@b\">@<span>b</span></a></span></p>"}`, "Theo @b@a.example",
			mastodon.PostOptions{},
			nil,
		},
		"cut by an unknown server": {
			"", `{"id":"1","content":"<p>Giá xăng tăng…</p>"}`, "Giá xăng tăng từ 15 giờ",
			mastodon.PostOptions{},
			[]string{network.DifferenceCut},
		},
		"covered by the server": {
			"mastodon", `{"id":"1","content":"<p>Tin</p>","sensitive":true,"visibility":"public","language":"vi"}`,
			"Tin",
			mastodon.PostOptions{},
			nil,
		},
		"narrowed by the server": {
			"mastodon", `{"id":"1","content":"<p>Tin</p>","visibility":"unlisted"}`, "Tin",
			mastodon.PostOptions{Visibility: "public"},
			[]string{network.DifferenceVisibility},
		},
		"only an id": {"something", `{"id":"1"}`, "", mastodon.PostOptions{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, account, _, _ := respond(t, row.software, http.StatusOK, row.answer)
			receipt, err := m.Publish(t.Context(), account, network.Submission{
				Key: "k", Text: row.text, Language: "vi", Options: row.options,
			})
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, d := range receipt.Differences {
				codes = append(codes, d.Code)
			}
			if !slices.Equal(codes, row.want) {
				t.Errorf("got %v, want %v", codes, row.want)
			}
		})
	}
}

func TestPreview_WarnsOfWhatTheServerMakesOfIt(t *testing.T) {
	for name, row := range map[string]struct {
		software, text string
		options        mastodon.PostOptions
		want           []string
	}{
		"asterisks on snac": {"snac", "2 * 3 * 4", mastodon.PostOptions{}, []string{"markdown_applied"}},
		"a list on Hollo": {
			"hollo", "Hôm nay:\n- mục", mastodon.PostOptions{}, []string{"markdown_applied"},
		},
		"a quote on GoToSocial": {"gotosocial", "> dẫn", mastodon.PostOptions{}, []string{"markdown_applied"}},
		"a numbered list":       {"hollo", "1. Một", mastodon.PostOptions{}, []string{"markdown_applied"}},
		"a link in brackets": {
			"hollo", "[Báo](https://example.com)", mastodon.PostOptions{}, []string{"markdown_applied"},
		},
		"nothing to format":     {"snac", "Giá xăng tăng - 15 giờ", mastodon.PostOptions{}, nil},
		"asterisks on Mastodon": {"mastodon", "2 * 3 * 4", mastodon.PostOptions{}, nil},
		"a warning on Mitra": {
			"mitra", "Tin", mastodon.PostOptions{ContentWarning: "a"}, []string{"option_may_be_ignored"},
		},
		"public on Mitra": {"mitra", "Tin", mastodon.PostOptions{Visibility: "public"}, nil},
		"several options, not known": {
			"something", "Tin",
			mastodon.PostOptions{ContentWarning: "a", Visibility: "unlisted"},
			[]string{"option_may_be_ignored", "option_may_be_ignored"},
		},
		"several options, on Mastodon": {
			"mastodon", "Tin", mastodon.PostOptions{ContentWarning: "a", Visibility: "unlisted"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, account, _, _ := respond(t, row.software, http.StatusOK, `{}`)
			limits, err := m.Limits(t.Context(), account)
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, note := range m.Preview(network.Content{Text: row.text, Options: row.options}, limits).Notes {
				codes = append(codes, note.Code)
			}
			if !slices.Equal(codes, row.want) {
				t.Errorf("got %v, want %v", codes, row.want)
			}
		})
	}
}

func TestIdentify_NotesWhatTheServerLeavesOut(t *testing.T) {
	for software, want := range map[string]string{
		"mastodon": "", "gotosocial": "", "hollo": "",
		"mitra": "ignored_options", "snac": "ignored_options",
		"something": "unknown_software", "": "unknown_software",
	} {
		m, account, _, _ := respond(t, software, http.StatusOK, `{"id":"1","username":"desk"}`)
		found, err := m.Identify(t.Context(), account)
		code := ""
		if len(found.Notes) > 0 {
			code = found.Notes[0].Code
		}
		if err != nil || code != want {
			t.Errorf("%s: got the notes %+v, %v; want %q", software, found.Notes, err, want)
		}
	}
}
