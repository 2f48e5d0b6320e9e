package slack_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/slack"
)

const createPath = "/slack/api/chat.postMessage"

type fixture struct {
	network *slack.Slack
	fake    *fake.Server
	there   fake.Account
	client  *http.Client
}

func newFixture(t *testing.T, options fake.Options) fixture {
	t.Helper()
	server := platformtest.StartFake(t, options)
	there := platformtest.AddAccount(t, server, fake.Account{Network: "slack", Name: "ban-tin"})
	client := platformtest.Client(t)
	return fixture{
		slack.New(client, slack.Options{
			Sandbox: server.NetworkURL("slack"), CreateTimeout: 700 * time.Millisecond, ListsAtOnce: true,
		}),
		server, there, client,
	}
}

// form connects with the values of the sandbox, and others in their place.
func (f fixture) form(t *testing.T, values map[string]string) ([]network.Account, error) {
	t.Helper()
	secrets := map[string]secret.Text{}
	for name, value := range f.fake.FormValues("slack", f.there.Name) {
		secrets[name] = secret.NewText(value)
	}
	for name, value := range values {
		secrets[name] = secret.NewText(value)
	}
	return f.network.ConnectForm(t.Context(), f.fake.NetworkURL("slack"), secrets)
}

func (f fixture) connect(t *testing.T) network.Account {
	t.Helper()
	found, err := f.form(t, nil)
	if err != nil || len(found) != 1 {
		t.Fatalf("ConnectForm: got %d accounts and %v, want one", len(found), err)
	}
	return found[0]
}

func TestConformance(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	if account.Handle != "#ban-tin" || account.Name != "Sandbox ban-tin" || account.Kind != network.KindChannel {
		t.Errorf("ConnectForm: got %+v, want the channel", account)
	}
	limits, err := f.network.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: f.network, Account: account, Client: f.client, Fake: f.fake, Limits: limits, Counts: counts(),
		CreatePath: createPath, NoLanguage: true, FindsByHandle: true, BadToken: "xoxb-1-wrong",
		WantClasses: map[string]network.Class{"Status403": network.Auth, "Status404": network.Auth},
		Options:     optionCases(), Compared: compared(), Metrics: []platformtest.MetricCase{
			{Metric: network.MetricLikes},
			{Metric: network.MetricReplies, Name: "reply_count"},
		},
	})
}

// counts are texts and their numbers of characters, of which three are escaped.
func counts() []platformtest.Count {
	var rows []platformtest.Count
	for _, piece := range []struct {
		name, text string
		want       int
	}{
		{"ascii", "News", 4},
		{"vietnamese", "Hà Nội", 6},
		{"decomposed", "e\u0302\u0301", 3},
		{"emoji", "👍", 1},
		{"family", "👨‍👩‍👧‍👦", 7},
		{"flag", "🇻🇳", 2},
		{"link", "https://news.example/a?b=c", 26},
		{"link with an ampersand", "https://news.example/?a=1&b=2", 33},
		{"markdown link", "[tin](https://news.example)", 27},
		{"bold", "*no*", 4},
		{"ampersand", "R&D", 7},
		{"entity", "&amp;", 9},
		{"less", "a < b", 8},
		{"channel", "<!channel>", 16},
		{"user", "<@U123>", 13},
		{"name of an emoji", ":+1:", 4},
		{"cjk", "新聞", 2},
		{"arabic", "خبر", 3},
		{"spaces", "  a ", 4},
		{"newlines", "\n\n", 2},
		{"zero width", "a\u200bb", 3},
	} {
		for _, times := range []int{1, 2, 3, 10, 1000} {
			rows = append(rows, platformtest.Count{
				Name: piece.name, Text: strings.Repeat(piece.text, times), Want: piece.want * times,
			})
		}
	}
	return rows
}

// optionCases is the option matrix.
func optionCases() []platformtest.OptionCase {
	return []platformtest.OptionCase{
		{Name: "plain text", Options: `{"plain_text":true}`, Want: map[string]any{"mrkdwn": false}},
		{
			Name: "plain text and a picture", Options: `{"plain_text":true}`, Images: 1,
			Want: map[string]any{"mrkdwn": false, "section": "plain_text"},
		},
		{Name: "formatted text and a picture", Options: `{"suppress_previews":true}`, Images: 2, Want: map[string]any{
			"unfurl_links": false, "unfurl_media": false, "section": "mrkdwn",
		}},
		{Name: "picture alone", Options: `{"suppress_previews":true}`, Images: 1, NoText: true, Want: map[string]any{
			"unfurl_links": false, "section": nil,
		}},
		{Name: "no previews", Options: `{"suppress_previews":true}`, Want: map[string]any{
			"unfurl_links": false, "unfurl_media": false, "mrkdwn": nil,
		}},
		{Name: "shown in the channel", Options: `{"broadcast_replies":true}`, Reply: true, Want: map[string]any{
			"reply_broadcast": true,
		}},
		{Name: "not a reply", Options: `{"broadcast_replies":true}`, Want: map[string]any{"reply_broadcast": nil}},
		{
			Name: "all", Options: `{"plain_text":true,"suppress_previews":true,"broadcast_replies":true}`, Reply: true,
			Images: 1, Want: map[string]any{"mrkdwn": false, "unfurl_links": false, "reply_broadcast": true},
		},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
		{Part: fake.PartOrder, Images: 2, Want: network.DifferenceMediaOrder},
		{Part: fake.PartReply, Reply: true, Want: network.DifferenceNoReply},
	}
}
