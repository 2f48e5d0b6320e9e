package nostr_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/nostr"
	"dateline/platforms/platformtest"
)

func startFake(t *testing.T, options fake.Options) *fake.Server {
	t.Helper()
	server := platformtest.StartFake(t, options)
	for _, name := range []string{"desk", "other"} {
		platformtest.AddAccount(t, server, fake.Account{Network: "nostr", Name: name})
	}
	return server
}

// sandbox returns an adapter for a fake, and connects the account desk.
func sandbox(t *testing.T, server *fake.Server) (*nostr.Nostr, network.Account, *http.Client) {
	t.Helper()
	client := platformtest.Client(t)
	n := nostr.New(client, nostr.Options{Sandbox: server.NetworkURL("nostr"), AnswerTimeout: 700 * time.Millisecond, Pauses: pauses()})
	return n, connect(t, n, server.NetworkURL("nostr"), form(server, "desk")), client
}

// pauses are short, so that tests do not wait.
func pauses() []time.Duration { return []time.Duration{10 * time.Millisecond, 10 * time.Millisecond} }

func connect(t *testing.T, n *nostr.Nostr, baseURL string, values map[string]secret.Text) network.Account {
	t.Helper()
	found, err := n.ConnectForm(t.Context(), baseURL, values)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	return found[0]
}

func form(server *fake.Server, name string) map[string]secret.Text {
	values := map[string]secret.Text{}
	for field, value := range server.FormValues("nostr", name) {
		values[field] = secret.NewText(value)
	}
	return values
}

func TestConformance(t *testing.T) {
	server := startFake(t, fake.Options{})
	n, account, client := sandbox(t, server)
	limits, err := n.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	platformtest.Run(t, platformtest.Subject{
		Network: n, Account: account, Client: client, Fake: server, Limits: limits, Counts: counts(),
		CreatePath: "/nostr/relay/event", BadToken: strings.Repeat("7", 64), NoRequestID: true, NoStatus: true,
		FindsByHandle: true, UnboundedSearch: true, HidesMediaStatus: true, KeepsMedia: true, PublicReads: true,
		Resolution: time.Second, Stored: stored, Options: optionCases(),
		Metrics: []platformtest.MetricCase{
			{Metric: network.MetricLikes, Name: "7"},
			{Metric: network.MetricReplies, Name: "1"},
			{Metric: network.MetricReposts, Name: "6"},
		},
	})
}

// stored is the text that the fake makes of a post.
func stored(s network.Submission) string {
	options, _ := s.Options.(nostr.PostOptions)
	if options.Kind != "article" {
		return strings.TrimSpace(s.Text)
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(s.Text), "\n")
	if options.Title != "" {
		return strings.TrimSpace(options.Title + "\n\n" + s.Text)
	}
	return strings.TrimSpace(article.New("", first).Title + "\n\n" + strings.TrimSpace(rest))
}

// counts are texts and their numbers of characters.
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
		{"hashtag", "#mưa", 4},
		{"mention", "nostr:npub1", 11},
		{"quote", `"`, 1},
		{"backslash", `\`, 1},
		{"entity", "&amp;", 5},
		{"html", "<b>x</b>", 8},
		{"cjk", "新聞", 2},
		{"arabic", "خبر", 3},
		{"tab", "\t", 1},
		{"newlines", "\n\n", 2},
		{"zero width", "a\u200bb", 3},
		{"line separator", "a\u2028b", 3},
		{"bold", "**no**", 6},
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
		{Name: "note", Options: `{"kind":"note"}`, Want: map[string]any{"title": nil}},
		{
			Name: "article", Options: `{"kind":"article","title":"Bão số 9 & mưa","summary":"Tóm tắt","slug":"bao-so-9"}`,
			Want: map[string]any{"title": "Bão số 9 & mưa", "summary": "Tóm tắt", "d": "bao-so-9"},
		},
		{Name: "article with images", Options: `{"kind":"article","title":"Ảnh"}`, Images: 2, Want: map[string]any{
			"title": "Ảnh", "image": true,
		}},
		{Name: "warning", Options: `{"content_warning":"Cảnh máu me"}`, Images: 1, Want: map[string]any{
			"content-warning": "Cảnh máu me",
		}},
		{Name: "expiration", Options: `{"expires_after_hours":24}`, Want: map[string]any{"expiration": "24 h"}},
		refused("kind", `{"kind":"story"}`, "kind", "unknown_value"),
		refused("title of a note", `{"title":"A"}`, "kind", "only_articles"),
		refused("bad slug", `{"kind":"article","slug":"Bão số 9"}`, "slug", "not_a_slug"),
		refused("long title", `{"kind":"article","title":"`+strings.Repeat("a", 301)+`"}`, "title", "too_long"),
		refused("long summary", `{"kind":"article","summary":"`+strings.Repeat("a", 1001)+`"}`, "summary", "too_long"),
		refused("long warning", `{"content_warning":"`+strings.Repeat("a", 201)+`"}`, "content_warning", "too_long"),
		refused("expires before", `{"expires_after_hours":-1}`, "expires_after_hours", "expiry_hours"),
		refused("expires late", `{"expires_after_hours":9000}`, "expires_after_hours", "expiry_hours"),
	}
}
