package discord_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/discord"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

type fixture struct {
	network *discord.Discord
	fake    *fake.Server
	made    fake.Account
	client  *http.Client
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	server := platformtest.StartFake(t, fake.Options{})
	created := platformtest.AddAccount(t, server, fake.Account{Network: "discord", Name: "ban-tin"})
	client := platformtest.Client(t)
	return fixture{
		discord.New(client, discord.Options{Sandbox: server.URL() + "/discord", CreateTimeout: 700 * time.Millisecond}),
		server, created, client,
	}
}

func (r fixture) connect(t *testing.T, values map[string]string) network.Account {
	t.Helper()
	found, err := r.form(t, values)
	if err != nil || len(found) != 1 {
		t.Fatalf("connected %d, %v", len(found), err)
	}
	return found[0]
}

func (r fixture) form(t *testing.T, values map[string]string) ([]network.Account, error) {
	t.Helper()
	secrets := map[string]secret.Text{}
	for name, value := range values {
		secrets[name] = secret.NewText(value)
	}
	return r.network.ConnectForm(t.Context(), r.fake.URL()+"/discord", secrets)
}

func (r fixture) subject(t *testing.T, account network.Account) platformtest.Subject {
	t.Helper()
	limits, err := r.network.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return platformtest.Subject{
		Network: r.network, Account: account, Client: r.client, Fake: r.fake, Limits: limits,
		MediaWithPost: true, NoLanguage: true, NoRequestID: true, ReportsRates: true,
		WantClasses: map[string]network.Class{"Status403": network.Auth, "Status404": network.Auth},
		Counts: []platformtest.Count{
			{Name: "Latin", Text: "abc", Want: 3},
			{Name: "Vietnamese", Text: "Bản tin chiều", Want: 13},
			{Name: "Decomposed", Text: "Ba\u0309n", Want: 4},
			{Name: "Emoji", Text: "👍", Want: 1},
			{Name: "Family", Text: "👨‍👩‍👧", Want: 5},
			{Name: "Trimmed", Text: "  a b \n", Want: 3},
		},
	}
}

func TestBotConformance(t *testing.T) {
	r := newFixture(t)
	account := r.connect(t, map[string]string{
		"bot_token": r.made.Token, "channel_id": "https://discord.com/channels/1000000000000000001/" + r.made.ID,
	})
	if account.RemoteID != r.made.ID || account.Handle != "#ban-tin" || account.Name != "ban-tin" {
		t.Errorf("connected as %+v", account)
	}
	s := r.subject(t, account)
	s.CreatePath = "/discord/api/v10/channels/" + account.RemoteID + "/messages"
	s.Options = optionCases("/discord/api/v10/channels/" + account.RemoteID + "/threads")
	s.Compared = compared()
	s.Metrics = metricCases()
	platformtest.Run(t, s)
}

func TestWebhookConformance(t *testing.T) {
	r := newFixture(t)
	account := r.connect(t, map[string]string{"webhook_url": "https://discord.com/api/webhooks/777/" + r.made.Token})
	if account.RemoteID != "webhook/777" || account.Name != "ban-tin" ||
		strings.Contains(account.Handle, r.made.Token) {
		t.Errorf("connected as %+v", account)
	}
	s := r.subject(t, account)
	s.CreatePath, s.Unverifiable = "/discord/api/v10/webhooks/777/", true
	s.Options = optionCases("")
	s.Compared = compared()
	platformtest.Run(t, s)
}

func TestPublish_SameKeyCreatesOneMessage(t *testing.T) {
	r := newFixture(t)
	account := r.connect(t, map[string]string{"bot_token": r.made.Token, "channel_id": r.made.ID})
	sub := network.Submission{Key: "one operation", Text: "Once"}
	first, err := r.network.Publish(t.Context(), account, sub)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.network.Publish(t.Context(), account, sub)
	if err != nil || second.RemoteID != first.RemoteID || len(r.fake.Posts()) != 1 {
		t.Errorf("%+v after %+v, %d posts, %v", second, first, len(r.fake.Posts()), err)
	}
}

func TestConnectForm_ReportsInvalidFields(t *testing.T) {
	r := newFixture(t)
	for name, row := range map[string]struct {
		values map[string]string
		field  string
	}{
		"Nothing": {nil, "webhook_url"},
		"Address": {map[string]string{"webhook_url": "https://discord.com/channels/1/2"}, "webhook_url"},
		"Webhook": {
			map[string]string{"webhook_url": "https://discord.com/api/webhooks/777/unknown"},
			"webhook_url",
		},
		"Token":       {map[string]string{"bot_token": "unknown", "channel_id": r.made.ID}, "bot_token"},
		"TokenLines":  {map[string]string{"bot_token": "a\nb", "channel_id": r.made.ID}, "bot_token"},
		"Channel":     {map[string]string{"bot_token": r.made.Token, "channel_id": "12345"}, "channel_id"},
		"ChannelName": {map[string]string{"bot_token": r.made.Token, "channel_id": "#general"}, "channel_id"},
	} {
		_, err := r.form(t, row.values)
		if e := network.AsError(err); e == nil || e.Field != row.field || e.Message == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestCheck_LimitsTotalSize(t *testing.T) {
	r := newFixture(t)
	account := r.connect(t, map[string]string{"bot_token": r.made.Token, "channel_id": r.made.ID})
	limits, err := r.network.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	file := network.MediaInfo{MIMEType: "image/png", Bytes: 9 << 20}
	problems := r.network.Check(network.Content{Media: []network.MediaInfo{file, file, file}}, limits)
	if len(problems) != 1 || problems[0].Code != "too_large_together" || problems[0].Field != "attachments" {
		t.Errorf("%+v", problems)
	}
}

func TestPreview(t *testing.T) {
	r := newFixture(t)
	p := r.network.Preview(network.Content{Text: "**Nóng** https://báo.vn/a. @everyone"}, network.Limits{})
	if p.Card != "https://báo.vn/a" || len(p.Spans) != 1 || len(p.Notes) != 2 {
		t.Errorf("%+v", p)
	}
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricLikes, Name: ""},
		{Metric: network.MetricReplies, Name: "thread"},
	}
}
