package facebook_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/facebook"
	"dateline/platforms/fake"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

const redirectURI = "http://127.0.0.1:9/callback"

// fixture is a fake network with one Page.
type fixture struct {
	server *fake.Server
	base   string
	client *http.Client
	page   network.Account
}

func startFake(t *testing.T, options fake.Options) fixture {
	t.Helper()
	server := platformtest.StartFake(t, options)
	profile := platformtest.AddAccount(t, server, fake.Account{Network: "facebook", Name: "editor"})
	page := platformtest.AddAccount(t, server, fake.Account{
		Network: "facebook", Kind: "page", OwnerID: profile.ID, Name: "dateline",
	})
	client := platformtest.Client(t)
	n := fixture{server: server, base: server.URL() + "/facebook", client: client}
	n.page = network.Account{
		BaseURL: n.base, RemoteID: page.ID, Handle: "@dateline", Name: "Dateline",
		Kind: network.KindPage, Token: secret.NewText(page.Token),
	}
	return n
}

func (n fixture) adapter() *facebook.Facebook {
	return facebook.New(n.client, facebook.Options{Sandbox: n.base, CreateTimeout: 700 * time.Millisecond})
}

// approve approves the authorize page.
func (n fixture) approve(t *testing.T, authorizeURL string) url.Values {
	t.Helper()
	page := *n.client
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

func TestConformance(t *testing.T) {
	n := startFake(t, fake.Options{AutoApprove: true})
	f := n.adapter()
	limits, err := f.Limits(t.Context(), n.page)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var counts []platformtest.Count
	if err := json.Unmarshal(raw, &counts); err != nil || len(counts) < 100 {
		t.Fatalf("%d counts, %v", len(counts), err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: f, Connector: f, Account: n.page, Fake: n.server, Client: n.client, Approve: n.approve,
		CreatePath: "/facebook/v25.0/" + n.page.RemoteID + "/feed", BaseURL: n.base, RedirectURI: redirectURI,
		Limits: limits, Counts: counts, Options: optionCases(n.page.RemoteID),
		Metrics: metricCases(), InsightsScope: "read_insights",
		Compared: []platformtest.Compared{
			{Part: fake.PartText, Want: network.DifferenceCut},
			{Part: fake.PartMedia, Images: 3, Want: network.DifferenceMedia},
			{Part: fake.PartOrder, Images: 3, Want: network.DifferenceMediaOrder},
		},
		NewVideo: func(t *testing.T) network.Media {
			video, _ := graphtest.NewVideo(t, 2000)
			return video
		},
		NoLanguage: true, NoPKCE: true, RejectsDuplicates: true, Resolution: time.Second, HidesMediaStatus: true,
	})
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricLikes, Name: "reactions"},
		{Metric: network.MetricReplies, Name: "comments"},
		{Metric: network.MetricReposts, Name: "shares"},
		{Metric: network.MetricViews, Name: "post_media_view", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricReach, Name: "post_total_media_view_unique", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricClicks, Name: "post_clicks_by_type", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricAllClicks, Name: "post_clicks", Refused: true, OnlyWithScope: true},
	}
}
