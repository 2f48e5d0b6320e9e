package mastodon_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/mastodon"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

const redirectURI = "http://127.0.0.1:9/callback"

func startFake(t *testing.T, options fake.Options) (*fake.Server, fake.Account) {
	t.Helper()
	server := platformtest.StartFake(t, options)
	account, err := server.AddAccount("desk")
	if err != nil {
		t.Fatal(err)
	}
	return server, account
}

func newClient(t *testing.T) *http.Client {
	t.Helper()
	return platformtest.Client(t)
}

func identified(t *testing.T, m *mastodon.Mastodon, base, token string) network.Account {
	t.Helper()
	found, err := m.Accounts(t.Context(), network.Account{BaseURL: base, Token: secret.NewText(token)})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	return found[0]
}

func subject(m *mastodon.Mastodon, client *http.Client, account network.Account) platformtest.Subject {
	return platformtest.Subject{
		Network:     m,
		Connector:   m,
		Account:     account,
		Client:      client,
		CreatePath:  "/api/v1/statuses",
		BaseURL:     account.BaseURL,
		RedirectURI: redirectURI,
		Limits:      limits(),
		Counts:      counts(),
		Options:     optionCases(), Compared: compared(),
	}
}

func TestConformance(t *testing.T) {
	server, created := startFake(t, fake.Options{AutoApprove: true, MediaDelay: 10 * time.Millisecond})
	client := newClient(t)
	m := mastodon.New(client, mastodon.Options{CreateTimeout: 700 * time.Millisecond})
	account := identified(t, m, server.URL(), created.Token)
	if want := "@desk@" + strings.TrimPrefix(server.URL(), "http://"); account.Handle != want ||
		account.RemoteID != created.ID || account.Name != "Desk" {
		t.Errorf("identified as %+v, want %s", account, want)
	}
	s := subject(m, client, account)
	s.Fake, s.ReportsRates, s.Metrics = server, true, metricCases()
	s.Approve = func(t *testing.T, authorizeURL string) url.Values {
		page := *client
		page.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		res, err := page.Get(authorizeURL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		back, err := res.Location()
		if err != nil {
			t.Fatalf("%s: %v", res.Status, err)
		}
		return back.Query()
	}
	platformtest.Run(t, s)
}

// TestRealServer runs the suite against a real server with Mastodon's API.
func TestRealServer(t *testing.T) {
	base, token := os.Getenv("MASTODON_URL"), os.Getenv("MASTODON_TOKEN")
	if base == "" || token == "" {
		t.Log("MASTODON_URL and MASTODON_TOKEN are not set")
		return
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	// The operator sets the URL, so it is trusted, private or not.
	client, err := call.NewClient([]string{"0.0.0.0/0", "::/0"})
	if err != nil {
		t.Fatal(err)
	}
	m := mastodon.New(client, mastodon.Options{PlainHTTP: []string{u.Host}})
	s := subject(m, client, identified(t, m, base, token))
	s.Connector = nil // granting access needs a user
	platformtest.Run(t, s)
}

func TestAddresses(t *testing.T) {
	m := mastodon.New(http.DefaultClient, mastodon.Options{PlainHTTP: []string{"sandbox:4001"}})
	for _, bad := range []string{
		"", "mastodon.social", "ftp://mastodon.social", "http://mastodon.social", "https://user:pw@mastodon.social",
		"https://mastodon.social/path", "https://mastodon.social?x=1", "http://10.0.0.1", "https://", "::",
	} {
		_, err := m.Limits(t.Context(), network.Account{BaseURL: bad})
		if e := network.AsError(err); err == nil || e.Code != "bad_address" {
			t.Errorf("%q was accepted as an instance: %v", bad, err)
		}
	}
	app := network.App{BaseURL: "https://mastodon.social/", ClientID: "id", RedirectURI: "https://desk.example/cb"}
	u, err := url.Parse(m.AuthorizeURL(app, "s t", "c"))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Path != "/oauth/authorize" {
		t.Errorf("u.Path: got %q, want %q", u.Path, "/oauth/authorize")
	}
	if q.Get("state") != "s t" {
		t.Errorf("q.Get(\"state\"): got %q, want %q", q.Get("state"), "s t")
	}
	if q.Get("code_challenge_method") != "S256" {
		t.Errorf("q.Get(\"code_challenge_method\"): got %q, want %q", q.Get("code_challenge_method"), "S256")
	}
	if q.Get("response_type") != "code" {
		t.Errorf("q.Get(\"response_type\"): got %q, want %q", q.Get("response_type"), "code")
	}
	if q.Get("scope") != "read:accounts read:statuses write:statuses write:media" {
		t.Errorf("q.Get(\"scope\"): got %q, want %q", q.Get("scope"),
			"read:accounts read:statuses write:statuses write:media")
	}
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricLikes, Name: "favourites_count"},
		{Metric: network.MetricReplies, Name: "replies_count"},
		{Metric: network.MetricReposts, Name: "reblogs_count"},
		{Metric: network.MetricQuotes, Name: "quotes_count"},
	}
}
