package wordpress_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/wordpress"
)

// finish is how long a test waits for a lost call.
const finish = 600 * time.Millisecond

func startFake(t *testing.T, options fake.Options) *fake.Server {
	t.Helper()
	server := platformtest.StartFake(t, options)
	for name, role := range map[string]string{"desk": "", "author": "author", "intern": "contributor"} {
		platformtest.AddAccount(t, server, fake.Account{Network: "wordpress", Name: name, Kind: role})
	}
	return server
}

// sandbox returns an adapter for a fake, and connects the account desk.
func sandbox(t *testing.T, server *fake.Server) (*wordpress.WordPress, network.Account, *http.Client) {
	t.Helper()
	client := platformtest.Client(t)
	w := wordpress.New(client, wordpress.Options{
		Sandbox: server.NetworkURL("wordpress"), CreateTimeout: 700 * time.Millisecond, Finish: finish,
	})
	return w, connect(t, w, server, "desk"), client
}

func connect(t *testing.T, w *wordpress.WordPress, server *fake.Server, name string) network.Account {
	t.Helper()
	found, err := w.ConnectForm(t.Context(), "", form(server, name))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	return found[0]
}

func form(server *fake.Server, name string) map[string]secret.Text {
	values := map[string]secret.Text{}
	for field, value := range server.FormValues("wordpress", name) {
		values[field] = secret.NewText(value)
	}
	return values
}

func TestConformance(t *testing.T) {
	server := startFake(t, fake.Options{})
	w, account, client := sandbox(t, server)
	limits, err := w.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: w, Account: account, Client: client, Fake: server, Limits: limits, Counts: counts(),
		CreatePath: "/wordpress/wp-json/wp/v2/posts/", BadToken: "desk:wrong",
		NoRequestID: true, NoLanguage: true, FindsByHandle: true, UnboundedSearch: true, HidesMediaStatus: true,
		Resolution: time.Second, Stored: stored, Options: optionCases(), Compared: compared(),
	})
}

// stored is the text that the fake makes of an article.
func stored(s network.Submission) string {
	options, _ := s.Options.(wordpress.PostOptions)
	a := article.New(options.Title, s.Text)
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
		{"decomposed", "e\u0302\u0301", 3},
		{"emoji", "👍", 1},
		{"family", "👨‍👩‍👧‍👦", 7},
		{"flag", "🇻🇳", 2},
		{"link", "https://news.example/a?b=c", 26},
		{"markdown link", "[tin](https://news.example)", 27},
		{"bold", "**no**", 6},
		{"heading", "## Tin", 6},
		{"list", "- a\n- b", 7},
		{"entity", "&amp;", 5},
		{"html", "<b>x</b>", 8},
		{"cjk", "新聞", 2},
		{"arabic", "خبر", 3},
		{"tab", "\t", 1},
		{"newlines", "\n\n", 2},
		{"zero width", "a\u200bb", 3},
		{"escape", `\*`, 2},
		{"table", "|a|b|\n|-|-|", 11},
		{"quote", "“Đúng”", 6},
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
	refused := func(name, options, field, code string) platformtest.OptionCase {
		return platformtest.OptionCase{Name: name, Options: options, Field: "options." + field, Code: code}
	}
	return []platformtest.OptionCase{
		{Name: "title", Options: `{"title":"Bão số 9 'đổ bộ' & gây mưa"}`, Images: 1, Want: map[string]any{
			"title": "Bão số 9 'đổ bộ' & gây mưa",
		}},
		{Name: "slug", Options: `{"slug":"bao-so-9"}`, Want: map[string]any{"status": nil}},
		{Name: "excerpt", Options: `{"excerpt":"Tóm tắt & hơn"}`, Want: map[string]any{"excerpt": "Tóm tắt & hơn"}},
		{Name: "categories", Options: `{"categories":["kinh tế & thị trường","thoi-su"]}`, Want: map[string]any{
			"categories": []int{2, 3},
		}},
		{Name: "tags", Options: `{"tags":["Hà Nội","HÀ NỘI","bão số 9"]}`, Want: map[string]any{"tags": []int{100, 101}}},
		{Name: "featured", Options: `{"featured_image":"first"}`, Images: 2, Want: map[string]any{"featured": true}},
		{Name: "none featured", Options: `{"featured_image":"none"}`, Images: 1, Want: map[string]any{"featured": nil, "title": "ảnh \"1\""}, NoText: true},
		{Name: "private", Options: `{"visibility":"editors"}`, Want: map[string]any{"status": "private"}},
		{Name: "public", Options: `{"visibility":"public"}`, Want: map[string]any{"status": nil}},
		{Name: "comments", Options: `{"comments":"closed"}`, Want: map[string]any{"comment_status": "closed"}},
		{Name: "format", Options: `{"format":"video"}`, Want: map[string]any{"format": "video"}},
		{Name: "sticky", Options: `{"sticky":true}`, Want: map[string]any{"sticky": true}},
		refused("bad slug", `{"slug":"Bão số 9"}`, "slug", "not_a_slug"),
		refused("slug of hyphens", `{"slug":"a--b"}`, "slug", "not_a_slug"),
		refused("empty tag", `{"tags":["a"," "]}`, "tags[1]", "empty_term"),
		refused("many categories", `{"categories":["`+strings.Repeat(`a","`, 30)+`a"]}`, "categories", "too_many_terms"),
		refused("visibility", `{"visibility":"password"}`, "visibility", "unknown_value"),
		refused("format", `{"format":"essay"}`, "format", "unknown_value"),
		refused("sticky and private", `{"sticky":true,"visibility":"editors"}`, "sticky", "sticky_private"),
		refused("long title", `{"title":"`+strings.Repeat("a", 501)+`"}`, "title", "too_long"),
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
		{Part: fake.PartVisibility, Options: `{"visibility":"editors"}`, Want: network.DifferenceWider},
	}
}
