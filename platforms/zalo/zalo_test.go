package zalo_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/zalo"
)

const (
	redirectURI = "http://127.0.0.1:9/callback"
	articles    = "/zalo/v2.0/article"
	messages    = "/zalo/v2.0/oa/message"

	// finish is how long a test waits for a lost call.
	finish = 600 * time.Millisecond
)

// sandbox returns an adapter for a fake, and connects the account desk.
func sandbox(t *testing.T, options fake.Options) (*fake.Server, *zalo.Zalo, network.Account, *http.Client) {
	t.Helper()
	server, client := platformtest.StartFake(t, options), platformtest.Client(t)
	z := zalo.New(client, zalo.Options{
		Sandbox: server.NetworkURL("zalo"), CreateTimeout: 700 * time.Millisecond, Finish: finish,
		Process: 700 * time.Millisecond,
	})
	return server, z, connect(t, server, z, fake.Account{Network: "zalo", Name: "desk"}), client
}

func connect(t *testing.T, server *fake.Server, z *zalo.Zalo, account fake.Account) network.Account {
	t.Helper()
	there := platformtest.AddAccount(t, server, account)
	found, err := z.Accounts(t.Context(), network.Account{
		BaseURL: server.NetworkURL("zalo"), Token: secret.NewText(there.Token),
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	return found[0]
}

func TestConformance(t *testing.T) {
	server, z, account, client := sandbox(t, fake.Options{AutoApprove: true})
	if account.Handle != "desk" || account.Name != "DESK" || account.Kind != network.KindPage {
		t.Errorf("identified as %+v", account)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: z, Connector: z, Account: account, Client: client, Fake: server, Limits: z.DefaultLimits(),
		CreatePath: articles + "/update", BaseURL: account.BaseURL, RedirectURI: redirectURI, Counts: counts(),
		ReportsRates: true, NoRequestID: true, NoLanguage: true, NoAltText: true, NeedsMedia: true,
		MediaWithPost: true, FindsByHandle: true, UnboundedSearch: true, HidesMediaStatus: true, KeepsMedia: true,
		Stored: stored, Options: optionCases(), Compared: compared(), Metrics: []platformtest.MetricCase{
			{Metric: network.MetricViews, Name: "total_view"}, {Metric: network.MetricReposts, Name: "total_share"},
		},
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

// stored is the text that the fake makes of an article.
func stored(s network.Submission) string {
	options, _ := s.Options.(zalo.PostOptions)
	a := article.Of(options.Title, s)
	return strings.TrimSpace(a.Title + "\n\n" + article.PlainText(a.HTML))
}

// counts are texts and their numbers of characters: those of the Markdown.
func counts() []platformtest.Count {
	var rows []platformtest.Count
	for _, piece := range []struct {
		name, text string
		want       int
	}{
		{"ascii", "News", 4},
		{"vietnamese", "Hà Nội", 6},
		{"tones", "Thủ tướng ký nghị định", 22},
		{"decomposed", "e\u0302\u0301", 3},
		{"emoji", "👍", 1},
		{"skin tone", "👍🏽", 2},
		{"family", "👨‍👩‍👧‍👦", 7},
		{"flag", "🇻🇳", 2},
		{"link", "https://news.example/a?b=c", 26},
		{"markdown link", "[tin](https://news.example)", 27},
		{"bold", "**no**", 6},
		{"heading", "## Tin", 6},
		{"list", "- a\n- b", 7},
		{"quote", "> Ông nói", 9},
		{"entity", "&amp;", 5},
		{"html", "<b>x</b>", 8},
		{"cjk", "新聞", 2},
		{"tab", "\t", 1},
		{"newlines", "\n\n", 2},
		{"zero width", "a\u200bb", 3},
		{"escape", `\*`, 2},
	} {
		for _, times := range []int{1, 2, 3, 10, 100} {
			rows = append(rows, platformtest.Count{
				Name: piece.name, Text: strings.Repeat(piece.text, times), Want: piece.want * times,
			})
		}
	}
	return rows
}

// optionCases is the option matrix.
func optionCases() []platformtest.OptionCase {
	sent := func(name, options string, want map[string]any) platformtest.OptionCase {
		return platformtest.OptionCase{Name: name, Options: options, Images: 1, Want: want}
	}
	refused := func(name, options, field, code string) platformtest.OptionCase {
		return platformtest.OptionCase{Name: name, Options: options, Images: 1, Field: "options." + field, Code: code}
	}
	broadcast := sent("broadcast", `{"kind":"broadcast"}`, map[string]any{"broadcasts": 1})
	broadcast.CreatePath, broadcast.Unlisted = messages, true
	return []platformtest.OptionCase{
		sent("title", `{"title":"Bão số 9 'đổ bộ' & gây mưa"}`, map[string]any{"title": "Bão số 9 'đổ bộ' & gây mưa"}),
		sent("longest title", `{"title":"`+strings.Repeat("ấ", 149)+`"}`, map[string]any{
			"title": strings.Repeat("ấ", 149),
		}),
		sent("author", `{"author":"Lê Mai"}`, map[string]any{"author": "Lê Mai"}),
		sent("description", `{"description":"Tóm tắt & hơn"}`, map[string]any{"description": "Tóm tắt & hơn"}),
		sent("longest description", `{"description":"`+strings.Repeat("ệ", 299)+`"}`, map[string]any{
			"description": strings.Repeat("ệ", 299),
		}),
		sent("no comments", `{"comments":"closed"}`, map[string]any{"comment": "hide"}),
		sent("comments", `{"comments":"open"}`, map[string]any{"comment": nil}),
		sent("article", `{"kind":"article"}`, map[string]any{"broadcasts": nil}),
		broadcast,
		refused("kind", `{"kind":"video"}`, "kind", "unknown_value"),
		refused("comments", `{"comments":"hide"}`, "comments", "unknown_value"),
		refused("long title", `{"title":"`+strings.Repeat("ấ", 150)+`"}`, "title", "too_long"),
		refused("long author", `{"author":"`+strings.Repeat("a", 50)+`"}`, "author", "too_long"),
		refused("long description", `{"description":"`+strings.Repeat("a", 300)+`"}`, "description", "too_long"),
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
	}
}
