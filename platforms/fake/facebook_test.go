package fake_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dateline/platforms/fake"
)

func TestFacebook(t *testing.T) {
	server, err := fake.New(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	page, err := server.Add(fake.Account{Network: "facebook", Kind: "page", OwnerID: "1", Name: "dateline"})
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	call := func(method, path string, form url.Values) (status int, header http.Header, body map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL()+"/facebook"+path,
			strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+page.Token)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		raw, _ := io.ReadAll(res.Body)
		_ = json.Unmarshal(raw, &body)
		return res.StatusCode, res.Header, body
	}
	code := func(body map[string]any) float64 {
		e, _ := body["error"].(map[string]any)
		n, _ := e["code"].(float64)
		return n
	}
	feed := "/v25.0/" + page.ID + "/feed"
	if _, _, body := call("POST", feed, url.Values{"message": {"Hello"}}); !strings.HasPrefix(body["id"].(string),
		page.ID+"_") {
		t.Errorf("made %v", body)
	}
	for name, row := range map[string]struct {
		method, path string
		form         url.Values
		code         float64
	}{
		"SameWords":    {"POST", feed, url.Values{"message": {"Hello"}}, 506},
		"NoWords":      {"POST", feed, nil, 100},
		"BadLink":      {"POST", feed, url.Values{"link": {"nowhere"}}, 100},
		"OtherPage":    {"POST", "/v25.0/99/feed", url.Values{"message": {"Stolen"}}, 200},
		"UnknownPhoto": {"POST", feed, url.Values{"attached_media[0]": {`{"media_fbid":"99"}`}}, 100},
		"NoSuchPost":   {"POST", "/v25.0/1_2/comments", url.Values{"message": {"Reply"}}, 100},
		"NoSuchEdge":   {"GET", "/v25.0/1/likes", nil, 3},
		"NoSession": {
			"POST", "/v25.0/" + page.ID + "/videos",
			url.Values{"upload_phase": {"finish"}, "upload_session_id": {"1"}},
			100,
		},
	} {
		if status, _, body := call(row.method, row.path, row.form); status < 400 || code(body) != row.code {
			t.Errorf("%s: %d %v, want code %v", name, status, body, row.code)
		}
	}
	post := server.Posts()[0]
	call("POST", "/v25.0/"+post.ID+"/comments", url.Values{"message": {"A comment"}})
	for _, p := range server.Posts() {
		status, header, _ := call("GET", strings.TrimPrefix(p.URL, server.URL()+"/facebook"), nil)
		if status != http.StatusFound || header.Get("Location") != "/#p"+p.ID {
			t.Errorf("%s leads to %d %s", p.URL, status, header.Get("Location"))
		}
	}
	// A text can be repeated after a different post.
	call("POST", feed, url.Values{"message": {"Other"}})
	if status, _, body := call("POST", feed, url.Values{"message": {"Hello"}}); status != 200 {
		t.Errorf("%d %v", status, body)
	}
}
