package linkedin_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/linkedin"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

const redirectURI = "http://127.0.0.1:9/callback"

// fixture is a fake network in which a member can post for one organization.
type fixture struct {
	server               *fake.Server
	base                 string
	client               *http.Client
	member, organization network.Account
}

func startFake(t *testing.T, options fake.Options) fixture {
	t.Helper()
	server := platformtest.StartFake(t, options)
	profile := platformtest.AddAccount(t, server, fake.Account{Network: "linkedin", Name: "desk"})
	page := platformtest.AddAccount(t, server, fake.Account{
		Network: "linkedin", Kind: "organization", OwnerID: profile.ID, Name: "dateline",
	})
	client := platformtest.Client(t)
	n := fixture{server: server, base: server.URL() + "/linkedin", client: client}
	n.member = network.Account{
		BaseURL: n.base, RemoteID: "urn:li:person:" + profile.ID, Handle: "Desk", Name: "Desk",
		Token: secret.NewText(profile.Token),
	}
	n.organization = n.member
	n.organization.RemoteID, n.organization.Kind = "urn:li:organization:"+page.ID, network.KindOrganization
	return n
}

func (n fixture) adapter() *linkedin.LinkedIn {
	return linkedin.New(n.client, linkedin.Options{
		Sandbox: n.base, CreateTimeout: 700 * time.Millisecond, MediaPollInterval: 10 * time.Millisecond,
	})
}

// approve approves the consent page.
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

func counts(t *testing.T) []platformtest.Count {
	t.Helper()
	raw, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []platformtest.Count
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 100 {
		t.Fatalf("%d counts", len(rows))
	}
	return rows
}

func (n fixture) subject(t *testing.T, account network.Account) platformtest.Subject {
	l := n.adapter()
	limits, err := l.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return platformtest.Subject{
		Network: l, Account: account, Fake: n.server, Client: n.client, CreatePath: "/linkedin/rest/posts",
		BaseURL: n.base, RedirectURI: redirectURI, Limits: limits, Counts: counts(t),
		NoLanguage: true, NoPKCE: true, RejectsDuplicates: true, DailyQuota: true,
	}
}

func TestOrganization(t *testing.T) {
	n := startFake(t, fake.Options{AutoApprove: true, MediaDelay: 10 * time.Millisecond, TokenTTL: 60 * 24 * time.Hour})
	s := n.subject(t, n.organization)
	s.Connector, s.Approve, s.Options = n.adapter(), n.approve, optionCases(true)
	s.Metrics, s.InsightsScope = metricCases(), "rw_organization_admin"
	s.Compared = []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 3, Want: network.DifferenceMedia},
		{Part: fake.PartOrder, Images: 3, Want: network.DifferenceMediaOrder},
		{
			Part: fake.PartPoll, Options: `{"poll":{"question":"Mưa lớn?","choices":["Có","Không"],"duration_days":7}}`,
			Want: network.DifferenceNoPoll,
		},
	}
	platformtest.Run(t, s)
}

// A member's token can read neither posts nor the state of images.
func TestMember(t *testing.T) {
	n := startFake(t, fake.Options{MediaDelay: 10 * time.Millisecond})
	s := n.subject(t, n.member)
	s.Unverifiable, s.HidesMediaStatus, s.Counts, s.Options = true, true, nil, optionCases(false)
	s.Metrics, s.InsightsScope = memberMetricCases(), "r_member_postAnalytics"
	platformtest.Run(t, s)
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricViews, Name: "impressionCount", OnlyWithScope: true},
		{Metric: network.MetricReach, Name: "uniqueImpressionsCount", OnlyWithScope: true},
		{Metric: network.MetricLikes, Name: "likeCount", OnlyWithScope: true},
		{Metric: network.MetricReplies, Name: "commentCount", OnlyWithScope: true},
		{Metric: network.MetricReposts, Name: "shareCount", OnlyWithScope: true},
		{Metric: network.MetricAllClicks, Name: "clickCount", OnlyWithScope: true},
	}
}

// memberMetricCases are the metrics that the fake network reports.
func memberMetricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricViews, Name: "IMPRESSION", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricReach, Name: "MEMBERS_REACHED", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricLikes, Name: "REACTION", Refused: true},
		{Metric: network.MetricReplies, Name: "COMMENT", Refused: true},
		{Metric: network.MetricReposts, Name: "RESHARE", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricSaves, Name: "POST_SAVE", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricSends, Name: "POST_SEND", Refused: true, OnlyWithScope: true},
		{Metric: network.MetricClicks, Name: "LINK_CLICKS", Refused: true, OnlyWithScope: true},
	}
}
