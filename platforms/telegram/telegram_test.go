package telegram_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/telegram"
)

// connected returns a channel of a new fake network, connected with the form.
func connected(t *testing.T) (*telegram.Telegram, *fake.Server, network.Account, *http.Client) {
	t.Helper()
	server := platformtest.StartFake(t, fake.Options{})
	created := platformtest.AddAccount(t, server, fake.Account{
		Network: "telegram", Name: "bantin", ID: "-1001234567890",
	})
	client := platformtest.Client(t)
	tg := telegram.New(client, telegram.Options{
		Sandbox: server.URL() + "/telegram", CreateTimeout: 700 * time.Millisecond,
	})
	found, err := tg.ConnectForm(t.Context(), server.URL()+"/telegram", map[string]secret.Text{
		"bot_token": secret.NewText(created.Token), "chat": secret.NewText("@bantin"),
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("connected %d, %v", len(found), err)
	}
	return tg, server, found[0], client
}

func TestConformance(t *testing.T) {
	tg, server, account, client := connected(t)
	if account.RemoteID != "-1001234567890" || account.Handle != "@bantin" || account.Name != "Bantin" ||
		account.Kind != network.KindChannel {
		t.Errorf("connected as %+v", account)
	}
	limits, err := tg.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: tg, Account: account, Client: client, Fake: server,
		CreatePath:   "/telegram/bot" + account.Token.Reveal() + "/send",
		Unverifiable: true, MediaWithPost: true, NoAltText: true, NoLanguage: true, NoRequestID: true,
		// A removed bot has to be added again. Telegram responds to a malformed
		// token with "method not found".
		WantClasses: map[string]network.Class{"Status403": network.Auth, "Status404": network.Auth},
		Limits:      limits,
		Options:     optionCases(), Compared: compared(),
		Counts: []platformtest.Count{
			{Name: "Latin", Text: "abc", Want: 3},
			{Name: "Vietnamese", Text: "Bản tin chiều", Want: 13},
			{Name: "Decomposed", Text: "Ba\u0309n", Want: 4},
			{Name: "Emoji", Text: "👍", Want: 2},
			{Name: "Family", Text: "👨‍👩‍👧", Want: 8},
			{Name: "Flag", Text: "🇻🇳", Want: 4},
			{Name: "Trimmed", Text: "  a b \n", Want: 3},
			{Name: "Link", Text: "https://a.vn", Want: 12},
		},
	})
}

func TestPublish_Album(t *testing.T) {
	tg, server, account, _ := connected(t)
	s := network.Submission{
		Key: "k", Text: "Hai ảnh", Media: []network.Media{
			platformtest.NewImage(t, "image/png"), platformtest.NewImage(t, "image/png"),
		},
	}
	receipt, err := tg.Publish(t.Context(), account, s)
	if err != nil {
		t.Fatal(err)
	}
	posts := server.Posts()
	if len(posts) != 1 {
		t.Fatalf("len(posts): got %v, want %v", len(posts), 1)
	}
	if len(posts[0].Media) != 2 {
		t.Fatalf("len(posts[0].Media): got %v, want %v", len(posts[0].Media), 2)
	}
	if posts[0].Text != "Hai ảnh" {
		t.Fatalf("posts[0].Text: got %q, want %q", posts[0].Text, "Hai ảnh")
	}
	if receipt.RemoteID != posts[0].ID {
		t.Fatalf("receipt.RemoteID: got %v, want %v", receipt.RemoteID, posts[0].ID)
	}
	if receipt.URL != posts[0].URL {
		t.Fatalf("receipt.URL: got %v, want %v", receipt.URL, posts[0].URL)
	}
	reply := network.Submission{Key: "r", Text: "Tiếp", ReplyTo: receipt.RemoteID}
	if _, err := tg.Publish(t.Context(), account, reply); err != nil {
		t.Fatal(err)
	}
	if got := server.Posts()[1]; got.ReplyTo != posts[0].ID {
		t.Errorf("answers %q", got.ReplyTo)
	}
	if err := tg.Delete(t.Context(), account, receipt.RemoteID); err != nil || !server.Posts()[0].Deleted {
		t.Errorf("deleted %v, %v", server.Posts()[0].Deleted, err)
	}
}

func TestCheck_CaptionLimit(t *testing.T) {
	tg, _, account, _ := connected(t)
	limits, err := tg.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ả", 1025)
	if problems := tg.Check(network.Content{Text: long}, limits); len(problems) != 0 {
		t.Errorf("alone: %+v", problems)
	}
	image := network.MediaInfo{MIMEType: "image/png", Bytes: 10}
	problems := tg.Check(network.Content{Text: long, Media: []network.MediaInfo{image}}, limits)
	if len(problems) != 1 || problems[0].Code != "too_long" {
		t.Errorf("as a caption: %+v", problems)
	}
	problems = tg.Check(network.Content{Text: "x", Media: []network.MediaInfo{image, {MIMEType: "image/gif"}}}, limits)
	if len(problems) != 1 || problems[0].Code != "mixed_gif" {
		t.Errorf("with a GIF: %+v", problems)
	}
}

func TestConnectForm_ReportsInvalidFields(t *testing.T) {
	tg, server, account, _ := connected(t)
	for name, row := range map[string]struct{ token, chat, field string }{
		"Token":      {"123:wrong", "@bantin", "bot_token"},
		"TokenShape": {"123:a/../../x", "@bantin", "bot_token"},
		"Chat":       {account.Token.Reveal(), "@other", "chat"},
		"NoChat":     {account.Token.Reveal(), "", "chat"},
	} {
		_, err := tg.ConnectForm(t.Context(), server.URL()+"/telegram", map[string]secret.Text{
			"bot_token": secret.NewText(row.token), "chat": secret.NewText(row.chat),
		})
		e := network.AsError(err)
		if e == nil || e.Field != row.field || strings.Contains(e.Error(), row.token) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if _, err := tg.ConnectForm(t.Context(), "https://elsewhere.example",
		nil); network.AsError(err).Code != "bad_address" {
		t.Errorf("another address: %v", err)
	}
}

func TestReconcile_ResendSetting(t *testing.T) {
	tg, _, account, _ := connected(t)
	account.Settings = map[string]string{"unclear": "send_again"}
	finding, err := tg.Reconcile(t.Context(), account, network.Submission{Text: "x"}, network.Window{From: time.Now()})
	if err != nil || finding.Found || !finding.Conclusive || len(finding.Evidence) == 0 {
		t.Errorf("%+v, %v", finding, err)
	}
}

func TestPreview(t *testing.T) {
	tg, _, _, _ := connected(t)
	p := tg.Preview(network.Content{Text: "Đọc https://báo.vn/a, @bantin #tin_nóng."}, network.Limits{})
	if p.Card != "https://báo.vn/a" || len(p.Spans) != 3 || p.Spans[2].Target != "tin_nóng" ||
		p.Text[p.Spans[1].Start:p.Spans[1].End] != "@bantin" {
		t.Errorf("%+v", p)
	}
}
