package threads_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/threads"
)

// fixture is a connected account of the fake Threads.
type fixture struct {
	*fake.Server
	*threads.Threads
	account network.Account
	client  *http.Client
	approve func(t *testing.T, authorizeURL string) url.Values
}

func sandboxed(client *http.Client, sandbox string) *threads.Threads {
	return threads.New(client, threads.Options{Sandbox: sandbox})
}

func newFixture(t *testing.T, options fake.Options) fixture {
	t.Helper()
	c, adapter := graphtest.Connect(t, threads.Name, options, sandboxed)
	return fixture{Server: c.Server, Threads: adapter, account: c.Account, client: c.Client, approve: c.Approve}
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
		NetworkRates: map[string]map[string]fake.Rate{"threads": {"posts": {Requests: 1000, Per: 24 * time.Hour}}},
	})
	d.Threads = threads.New(d.client, threads.Options{
		Sandbox: d.account.BaseURL, CreateTimeout: 700 * time.Millisecond,
	})
	limits, err := d.Limits(t.Context(), d.account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network:       d,
		Connector:     d,
		Account:       d.account,
		Fake:          d,
		CreatePath:    "/threads/v1.0/" + d.account.RemoteID + "/threads_publish",
		NoLanguage:    true,
		Resolution:    time.Second,
		MediaWithPost: true,
		Client:        d.client,
		Metrics:       metricCases(),
		InsightsScope: "threads_manage_insights",
		Approve:       d.approve,
		NoPKCE:        true,
		BaseURL:       d.account.BaseURL,
		RedirectURI:   graphtest.RedirectURI,
		Limits:        limits,
		Options:       optionCases(), Compared: compared(),
		Counts: counts(t),
	})
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricViews, Name: "views", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricLikes, Name: "likes", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricReplies, Name: "replies", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricReposts, Name: "reposts", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricQuotes, Name: "quotes", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricSends, Name: "shares", Refused: true, OnlyWithScope: true},
	}
}
