package x_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/x"
)

const redirectURI = "http://127.0.0.1:9/callback"

// startFake starts the fake networks and returns an adapter for X with the
// account desk.
func startFake(t *testing.T, options fake.Options) (*fake.Server, *x.X, network.Account, *http.Client) {
	t.Helper()
	server := platformtest.StartFake(t, options)
	client := platformtest.Client(t)
	n := x.New(client, x.Options{
		Sandbox: server.URL() + "/x", CreateTimeout: 700 * time.Millisecond, SegmentRetryDelay: time.Millisecond,
		SegmentBytes: 1 << 10,
	})
	return server, n, connected(t, server, n, fake.Account{Network: "x", Name: "desk"}), client
}

func connected(t *testing.T, server *fake.Server, n *x.X, account fake.Account) network.Account {
	t.Helper()
	created, err := server.Add(account)
	if err != nil {
		t.Fatal(err)
	}
	found, err := n.Accounts(t.Context(), network.Account{
		BaseURL: server.URL() + "/x", Token: secret.NewText(created.Token),
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	return found[0]
}

func TestConformance(t *testing.T) {
	server, n, account, client := startFake(t, fake.Options{AutoApprove: true})
	if account.Handle != "@desk" || account.Name != "Desk" || account.RemoteID == "" {
		t.Errorf("identified as %+v", account)
	}
	limits, err := n.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: n, Connector: n, Account: account, Client: client, Fake: server,
		CreatePath: "/x/2/tweets", BaseURL: account.BaseURL, RedirectURI: redirectURI,
		ReportsRates: true, NoLanguage: true, RejectsDuplicateText: true,
		Limits: limits, Counts: counts(), Options: optionCases(), Compared: compared(), Metrics: metricCases(),
		Approve: func(t *testing.T, authorizeURL string) url.Values { return approve(t, client, authorizeURL) },
	})
}

// approve follows the authorize page, which approves by itself.
func approve(t *testing.T, client *http.Client, authorizeURL string) url.Values {
	t.Helper()
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

func TestAddresses(t *testing.T) {
	n := x.New(http.DefaultClient, x.Options{
		Sandbox: "http://127.0.0.1:8090/x", ClientID: "id", ClientSecret: secret.NewText("hush"),
	})
	for _, bad := range []string{"https://x.com", "http://127.0.0.1:8090", "http://127.0.0.1:8090/x/", "x"} {
		_, err := n.Limits(t.Context(), network.Account{BaseURL: bad})
		if e := network.AsError(err); e == nil || e.Code != "bad_address" || e.Class != network.Rejected {
			t.Errorf("%q was accepted as X: %v", bad, err)
		}
		if _, err := n.Register(t.Context(), bad, redirectURI); err == nil {
			t.Errorf("registered at %q", bad)
		}
		if _, err := n.Publish(t.Context(), network.Account{BaseURL: bad},
			network.Submission{Text: "t"}); network.AsError(err).Code != "bad_address" {
			t.Errorf("published at %q: %v", bad, err)
		}
	}
	app, err := n.Register(t.Context(), "", "https://desk.example/cb")
	if err != nil || app.ClientID != "id" || app.ClientSecret.Reveal() != "hush" {
		t.Errorf("app %+v, %v", app, err)
	}
	u, err := url.Parse(n.AuthorizeURL(app, "s t", "c"))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Host != "x.com" {
		t.Errorf("u.Host: got %q, want %q", u.Host, "x.com")
	}
	if u.Path != "/i/oauth2/authorize" {
		t.Errorf("u.Path: got %q, want %q", u.Path, "/i/oauth2/authorize")
	}
	if q.Get("state") != "s t" {
		t.Errorf("q.Get(\"state\"): got %q, want %q", q.Get("state"), "s t")
	}
	if q.Get("code_challenge_method") != "S256" {
		t.Errorf("q.Get(\"code_challenge_method\"): got %q, want %q", q.Get("code_challenge_method"), "S256")
	}
	if q.Get("code_challenge") != "c" {
		t.Errorf("q.Get(\"code_challenge\"): got %q, want %q", q.Get("code_challenge"), "c")
	}
	if q.Get("response_type") != "code" {
		t.Errorf("q.Get(\"response_type\"): got %q, want %q", q.Get("response_type"), "code")
	}
	if !strings.Contains(q.Get("scope"), "offline.access") {
		t.Errorf("authorize URL %s", u)
	}
	none := x.New(http.DefaultClient, x.Options{})
	if _, err := none.Register(t.Context(), "", redirectURI); network.AsError(err).Code != network.CodeNotConfigured {
		t.Errorf("registered without an application: %v", err)
	}
	if sandbox, err := n.Register(t.Context(), "http://127.0.0.1:8090/x", redirectURI); err != nil ||
		sandbox.ClientID != "dateline-sandbox" {
		t.Errorf("app of the sandbox %+v, %v", sandbox, err)
	}
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricViews, Name: "impression_count"},
		{Metric: network.MetricLikes, Name: "like_count"},
		{Metric: network.MetricReplies, Name: "reply_count"},
		{Metric: network.MetricReposts, Name: "retweet_count"},
		{Metric: network.MetricQuotes, Name: "quote_count"},
		{Metric: network.MetricSaves, Name: "bookmark_count"},
		{Metric: network.MetricClicks, Name: "non_public_metrics", Refused: true},
	}
}
