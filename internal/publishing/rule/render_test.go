package rule

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/scheduling"
)

// rendered renders an article for one network whose texts have at most so many
// characters; 0: any.
func rendered(r Rule, a Article, network string, limit int) Text {
	acc := account.Account{ID: uuid.New(), Network: network}
	return r.render(a, 0, []account.Account{acc},
		map[uuid.UUID]scheduling.TextLimit{acc.ID: {Max: limit, Count: utf8.RuneCountInString}})[0]
}

func TestRender_FillsTemplates(t *testing.T) {
	a := match()
	a.Authors, a.Tags = []string{"Lan", "Minh"}, []string{"Football", "Cup"}
	for name, c := range map[string]struct {
		template string
		change   func(r *Rule, a *Article)
		want     string
	}{
		"all placeholders": {
			"{section}: {title} ({author})\n{lead}\n{url}", nil,
			"Sports: A late goal decides the match (Lan, Minh)\nThe visitors win.\nhttps://news.example/match",
		},
		"empty lines of missing parts": {
			"{title}\n\n{lead}\n\n{url} {hashtags}", func(_ *Rule, a *Article) {
				a.Lead = ""
			},
			"A late goal decides the match\n\nhttps://news.example/match",
		},
		"hashtags of section and tags, each once": {"{title} {hashtags}", func(r *Rule, _ *Article) {
			r.Hashtags = map[string]string{"sports": "#Sports", "football": "#Football #Sports", "tennis": "#Tennis"}
		}, "A late goal decides the match #Sports #Football"},
		"campaign parameters": {"{url}", func(r *Rule, a *Article) {
			a.URL, r.UTM = "https://news.example/match?id=1&utm_source=old", &UTM{Medium: "social", Campaign: "spring"}
		}, "https://news.example/match?id=1&utm_campaign=spring&utm_medium=social&utm_source=mastodon"},
		"a title with a placeholder": {
			"{title}", func(_ *Rule, a *Article) { a.Title = "How to write {url}" }, "How to write {url}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, a := sports(), a
			r.Templates = map[string]string{DefaultTemplate: c.template, "x": "only for X {url}"}
			if c.change != nil {
				c.change(&r, &a)
			}
			if got := rendered(r, a, "mastodon", 0).Text; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	r := sports()
	r.Templates["x"] = "X: {title}"
	if got, want := rendered(r, a, "x", 0).Text, "X: A late goal decides the match"; got != want {
		t.Errorf("got %q, want the template of the network: %q", got, want)
	}
}

func TestRender_ShortensLeadThenHashtagsThenTitle(t *testing.T) {
	r, a := sports(), match()
	r.Hashtags = map[string]string{"Sports": "#Sports #Goal"}
	a.Lead = strings.Repeat("The visitors win after a long match. ", 20)
	for _, c := range []struct {
		limit int
		want  string
	}{
		{
			120, "A late goal decides the match\n\nThe visitors win after a long match. The…\n\n" +
				"https://news.example/match #Sports #Goal",
		},
		{72, "A late goal decides the match\n\nhttps://news.example/match #Sports #Goal"},
		{66, "A late goal decides the match\n\nhttps://news.example/match #Sports"},
		{50, "A late goal decides…\n\nhttps://news.example/match"},
	} {
		got := rendered(r, a, "mastodon", c.limit)
		if got.Text != c.want || got.Length > c.limit {
			t.Errorf("limit %d: got %d characters %q, want %q", c.limit, got.Length, got.Text, c.want)
		}
	}
}

func TestRender_FitsAnyLimit(t *testing.T) {
	r, a := sports(), match()
	a.Title, a.Lead = strings.Repeat("Giá vàng tăng ", 30), strings.Repeat("Thị trường sáng nay ", 100)
	for limit := 60; limit < 600; limit += 7 {
		if got := rendered(r, a, "mastodon", limit); got.Length > limit || !strings.Contains(got.Text, a.URL) {
			t.Errorf("limit %d: got %d characters %q", limit, got.Length, got.Text)
		}
	}
}

func TestHashTexts_IgnoresTheOrder(t *testing.T) {
	a, b := Text{AccountID: uuid.New(), Text: "one"}, Text{AccountID: uuid.New(), Text: "two"}
	if string(hashTexts([]Text{a, b})) != string(hashTexts([]Text{b, a})) {
		t.Error("the order of accounts changes the hash")
	}
	changed := a
	changed.Text = "three"
	if string(hashTexts([]Text{a, b})) == string(hashTexts([]Text{changed, b})) {
		t.Error("another text has the same hash")
	}
}
