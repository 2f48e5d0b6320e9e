package instagram_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/instagram"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// fixture is a connected account of the fake Instagram.
type fixture struct {
	*fake.Server
	*instagram.Instagram
	account network.Account
	client  *http.Client
	approve func(t *testing.T, authorizeURL string) url.Values
}

func sandboxed(client *http.Client, sandbox string) *instagram.Instagram {
	return instagram.New(client, instagram.Options{Sandbox: sandbox})
}

func newFixture(t *testing.T, options fake.Options) fixture {
	t.Helper()
	c, adapter := graphtest.Connect(t, instagram.Name, options, sandboxed)
	return fixture{Server: c.Server, Instagram: adapter, account: c.Account, client: c.Client, approve: c.Approve}
}

func counts(t *testing.T) []platformtest.Count {
	t.Helper()
	raw, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []platformtest.Count
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) < 100 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows
}

func TestConformance(t *testing.T) {
	d := newFixture(t, fake.Options{
		AutoApprove:  true,
		NetworkRates: map[string]map[string]fake.Rate{"instagram": {"posts": {Requests: 1000, Per: 24 * time.Hour}}},
	})
	d.Instagram = instagram.New(d.client, instagram.Options{
		Sandbox: d.account.BaseURL, CreateTimeout: 700 * time.Millisecond,
	})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network:         d,
		Connector:       d,
		Account:         d.account,
		Fake:            d,
		CreatePath:      "/instagram/v25.0/" + d.account.RemoteID + "/media_publish",
		NoLanguage:      true,
		NoDelete:        true,
		NeedsMedia:      true,
		TextOnlyReplies: true,
		Resolution:      time.Second,
		ImageType:       "image/jpeg",
		MediaWithPost:   true,
		Client:          d.client,
		Metrics:         metricCases(),
		InsightsScope:   "instagram_business_manage_insights",
		Approve:         d.approve,
		NoPKCE:          true,
		BaseURL:         d.account.BaseURL,
		RedirectURI:     graphtest.RedirectURI,
		Limits:          limits,
		Options:         optionCases(), Compared: compared(),
		NewVideo: func(t *testing.T) network.Media {
			video, _ := graphtest.NewVideo(t, 2000)
			return video
		},
		Counts: counts(t),
	})
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricLikes, Name: "like_count"},
		{Metric: network.MetricReplies, Name: "comments_count"},
		{Metric: network.MetricViews, Name: "views", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricReach, Name: "reach", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricSaves, Name: "saved", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricSends, Name: "shares", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricReposts, Name: "reposts", Refused: true, OnlyWithScope: true},
	}
}
