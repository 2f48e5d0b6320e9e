package fake_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
)

// linkedin makes one call with a token and the headers of the versioned API.
func linkedin(
	t *testing.T, server *fake.Server, token, method, path, body string, header ...string,
) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("LinkedIn-Version", "202607")
	req.Header.Set("X-Restli-Protocol-Version", "2.0.0")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	response, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(response)
}

func startLinkedIn(t *testing.T, options fake.Options) (*fake.Server, fake.Account) {
	t.Helper()
	server, err := fake.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	profile, err := server.Add(fake.Account{Network: "linkedin", Name: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	return server, profile
}

func linkedinBody(author, commentary string) string {
	raw, _ := json.Marshal(map[string]any{
		"author": author, "commentary": commentary, "visibility": "PUBLIC", "lifecycleState": "PUBLISHED",
		"isReshareDisabledByAuthor": false,
		"distribution": map[string]any{
			"feedDistribution": "MAIN_FEED", "targetEntities": []any{}, "thirdPartyDistributionChannels": []any{},
		},
	})
	return string(raw)
}

func TestLinkedIn_Versions(t *testing.T) {
	server, profile := startLinkedIn(t, fake.Options{})
	for version, want := range map[string]int{"": 400, "202410": 426, "2026-07": 400, "202607": 201} {
		res, body := linkedin(t, server, profile.Token, "POST", "/linkedin/rest/posts",
			linkedinBody("urn:li:person:"+profile.ID, "Version "+version), "LinkedIn-Version", version)
		if res.StatusCode != want {
			t.Errorf("version %q: %d %s, want %d", version, res.StatusCode, body, want)
		}
		if want == 201 && (body != "" || !strings.HasPrefix(res.Header.Get("X-Restli-Id"), "urn:li:share:")) {
			t.Errorf("answers %q with id %q", body, res.Header.Get("X-Restli-Id"))
		}
	}
}

// As on the real LinkedIn, unescaped reserved characters truncate the text.
func TestLinkedIn_TruncatesUnescapedText(t *testing.T) {
	for commentary, want := range map[string]string{
		`Read (more)`:   "Read ",
		`Read \(more\)`: "Read (more)",
		`A #tag and {hashtag|\#|other} of @[Dateline](urn:li:organization:7)`: "A #tag and #other of Dateline",
		`under_score`:   "under",
		`C# and more`:   "C",
		`{hashtag|\#`:   "",
		`dòng 1` + "\n": "dòng 1\n",
	} {
		if got := fake.LinkedInText(commentary); got != want {
			t.Errorf("%q shows %q, want %q", commentary, got, want)
		}
	}
}

func TestLinkedIn_RefusesDuplicates(t *testing.T) {
	now := time.Now()
	server, profile := startLinkedIn(t, fake.Options{Clock: func() time.Time { return now }})
	author := "urn:li:person:" + profile.ID
	post := func(text string) (int, string, string) {
		res, body := linkedin(t, server, profile.Token, "POST", "/linkedin/rest/posts", linkedinBody(author, text))
		return res.StatusCode, res.Header.Get("X-Restli-Id"), body
	}
	_, first, _ := post("Once")
	if res, _ := linkedin(t, server, profile.Token, "DELETE", "/linkedin/rest/posts/"+url.QueryEscape(first),
		""); res.StatusCode != http.StatusNoContent {
		t.Errorf("delete: %s", res.Status)
	}
	if status, _, body := post("Once"); status != 422 || !strings.Contains(body, "duplicate of "+first) ||
		!strings.Contains(body, "DUPLICATE_POST") {
		t.Errorf("%d %s", status, body)
	}
	now = now.Add(25 * time.Hour)
	if status, _, body := post("Once"); status != 201 {
		t.Errorf("a day later: %d %s", status, body)
	}
	// A member's token cannot read anything.
	for _, path := range []string{
		"/linkedin/rest/posts/" + url.QueryEscape(first),
		"/linkedin/rest/posts?q=author&author=" + url.QueryEscape(author),
	} {
		if res, body := linkedin(t, server, profile.Token, "GET", path, "", "X-Restli-Method",
			"FINDER"); res.StatusCode != http.StatusForbidden && res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
	}
	// Posting as another member is refused.
	if res, body := linkedin(t, server, profile.Token, "POST", "/linkedin/rest/posts",
		linkedinBody("urn:li:person:1", "Stolen")); res.StatusCode < 400 {
		t.Errorf("posted as another: %s", body)
	}
}

func TestLinkedIn_PermalinksRedirectToTimeline(t *testing.T) {
	server, profile := startLinkedIn(t, fake.Options{})
	author := "urn:li:person:" + profile.ID
	res, _ := linkedin(t, server, profile.Token, "POST", "/linkedin/rest/posts",
		linkedinBody(author, "On the timeline"))
	share := res.Header.Get("X-Restli-Id")
	if res, body := linkedin(t, server, profile.Token, "POST", "/linkedin/rest/socialActions/"+url.QueryEscape(share)+
		"/comments",
		`{"actor":"`+author+`","object":"`+share+
			`","message":{"text":"As a comment"}}`); res.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", res.Status, body)
	}
	_, page := linkedin(t, server, "", "GET", "/", "")
	for _, p := range server.Posts() {
		path := strings.TrimPrefix(p.URL, server.URL())
		res, _ := linkedin(t, server, "", "GET", path, "")
		if res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/#p"+p.ID {
			t.Errorf("%s leads to %s", p.URL, res.Header.Get("Location"))
		}
		if !strings.Contains(page, `id="p`+p.ID+`"`) || !strings.Contains(page, p.Text) {
			t.Errorf("the timeline lacks %s", p.ID)
		}
	}
}
