package ghost_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/fake"
	"dateline/platforms/ghost"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// finish is how long a test waits for a lost call.
const finish = 600 * time.Millisecond

// siteAPI is the path of the API of the site desk.
const siteAPI = "/ghost/desk/ghost/api/admin"

func startFake(t *testing.T, options fake.Options) *fake.Server {
	t.Helper()
	server := platformtest.StartFake(t, options)
	for _, name := range []string{"desk", "other"} {
		platformtest.AddAccount(t, server, fake.Account{Network: "ghost", Name: name})
	}
	return server
}

// sandbox returns an adapter for a fake, and connects the site desk.
func sandbox(t *testing.T, server *fake.Server) (*ghost.Ghost, network.Account, *http.Client) {
	t.Helper()
	client := platformtest.Client(t)
	g := ghost.New(client, ghost.Options{
		Sandbox: server.NetworkURL("ghost"), CreateTimeout: 700 * time.Millisecond, Finish: finish,
	})
	return g, connect(t, g, server), client
}

func connect(t *testing.T, g *ghost.Ghost, server *fake.Server) network.Account {
	t.Helper()
	found, err := g.ConnectForm(t.Context(), "", form(server, "desk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	return found[0]
}

func form(server *fake.Server, name string) map[string]secret.Text {
	values := map[string]secret.Text{}
	for field, value := range server.FormValues("ghost", name) {
		values[field] = secret.NewText(value)
	}
	return values
}

// anotherKey is a key that no site knows.
func anotherKey() string { return strings.Repeat("0a", 12) + ":" + strings.Repeat("1f", 32) }

func TestConformance(t *testing.T) {
	server := startFake(t, fake.Options{})
	g, account, client := sandbox(t, server)
	limits, err := g.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: g, Account: account, Client: client, Fake: server, Limits: limits, Counts: counts(),
		CreatePath: siteAPI + "/posts/0", // also of the ids of the fake, not of the draft
		BadToken:   anotherKey(), NoRequestID: true, NoLanguage: true, FindsByHandle: true, UnboundedSearch: true,
		HidesMediaStatus: true, KeepsMedia: true, Resolution: time.Second, Stored: stored, Options: optionCases(),
		Compared: compared(),
	})
}

// stored is the text that the fake makes of an article.
func stored(s network.Submission) string {
	options, _ := s.Options.(ghost.PostOptions)
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
		{Name: "slug", Options: `{"slug":"bao-so-9"}`, Want: map[string]any{"visibility": nil}},
		{Name: "excerpt", Options: `{"excerpt":"Tóm tắt & hơn"}`, Want: map[string]any{"custom_excerpt": "Tóm tắt & hơn"}},
		{Name: "tags", Options: `{"tags":["Hà Nội","HÀ NỘI","bão số 9"]}`, Want: map[string]any{
			"tags": []string{"Hà Nội", "bão số 9"},
		}},
		{Name: "authors", Options: `{"authors":["le-mai","DESK@paper.example"]}`, Want: map[string]any{
			"authors": []string{"Lê Mai", "Ban biên tập"},
		}},
		{Name: "featured image", Options: `{"featured_image":"first"}`, Images: 2, Want: map[string]any{"feature_image": true}},
		{Name: "no featured image", Options: `{"featured_image":"none"}`, Images: 1, NoText: true, Want: map[string]any{
			"feature_image": nil, "title": "ảnh \"1\"",
		}},
		{Name: "members", Options: `{"visibility":"members"}`, Want: map[string]any{"visibility": "members"}},
		{Name: "paid", Options: `{"visibility":"paid"}`, Want: map[string]any{"visibility": "paid"}},
		{Name: "featured", Options: `{"featured":true}`, Want: map[string]any{"featured": true}},
		{Name: "canonical", Options: `{"canonical_url":"https://news.example/a"}`, Want: map[string]any{
			"canonical_url": "https://news.example/a",
		}},
		refused("bad slug", `{"slug":"Bão số 9"}`, "slug", "not_a_slug"),
		refused("empty tag", `{"tags":["a"," "]}`, "tags[1]", "empty_term"),
		refused("many authors", `{"authors":["`+strings.Repeat(`a","`, 30)+`a"]}`, "authors", "too_many_terms"),
		refused("visibility", `{"visibility":"tiers"}`, "visibility", "unknown_value"),
		refused("canonical", `{"canonical_url":"news.example"}`, "canonical_url", "invalid_url"),
		refused("long title", `{"title":"`+strings.Repeat("a", 256)+`"}`, "title", "too_long"),
		refused("long excerpt", `{"excerpt":"`+strings.Repeat("a", 301)+`"}`, "excerpt", "too_long"),
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
		{Part: fake.PartVisibility, Options: `{"visibility":"members"}`, Want: network.DifferenceWider},
	}
}
