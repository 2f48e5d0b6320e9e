package matching_test

import (
	"slices"
	"testing"
	"time"

	"dateline/platforms/matching"
	"dateline/platforms/network"
)

func TestComparison_FindsWhatReadersNotice(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	order := []string{"public", "unlisted", "private", "direct"}
	type compare = func(*matching.Comparison)
	text := func(asked, shown string) compare {
		return func(c *matching.Comparison) { c.Text(asked, shown) }
	}
	wording := func(asked, shown string) compare {
		return func(c *matching.Comparison) { c.Wording(asked, shown) }
	}
	poll := func(asked, shown []string) compare {
		return func(c *matching.Comparison) { c.Poll(asked, shown) }
	}
	seen := func(asked, shown string) compare {
		return func(c *matching.Comparison) { c.Visibility(asked, shown, order...) }
	}
	warning := func(asked, shown string) compare {
		return func(c *matching.Comparison) { c.Warning(asked, shown) }
	}
	language := func(asked, shown string) compare {
		return func(c *matching.Comparison) { c.Language(asked, shown) }
	}
	media := func(asked, shown []string) compare {
		return func(c *matching.Comparison) { c.MediaIDs(asked, shown) }
	}
	at := func(created time.Time) compare {
		return func(c *matching.Comparison) { c.Time(now, created) }
	}
	for _, row := range []struct {
		name string
		do   compare
		want string // code; "": none
	}{
		{"same text", text("Giá xăng tăng", "Giá xăng tăng"), ""},
		{"spaces at the ends and between lines", text(" Một \r\n\r\nhai\n", "Một\n\nhai"), ""},
		{"decomposed", text("Giá xăng", "Gia\u0301 xa\u0306ng"), ""},
		{"entities and typographic quotes", text(`"A" & b`, "“A” &amp; b"), ""},
		{"a link in another form", text("Xem http://www.example.com/a/", "Xem https://Example.com/a"), ""},
		{"another number", text("Giá 12.000 đồng", "Giá 21.000 đồng"), network.DifferenceText},
		{"lost emoji", text("Cháy 🔥", "Cháy ?"), network.DifferenceText},
		{"cut", text("Giá xăng tăng từ 15 giờ", "Giá xăng tăng…"), network.DifferenceCut},
		{"no text", text("Giá xăng tăng", ""), network.DifferenceText},
		{"a text where none was", text("", "Sent by a robot"), network.DifferenceText},
		{"Markdown applied", wording("2 * 3 * 4\n# Tin\n- mục\n> dẫn\n1. một", "2 3 4 Tin mục dẫn một"), ""},
		{
			"a shortened link", wording("Xem https://example.com/a-long-path hôm nay", "Xem https://t.co/abc hôm nay"),
			"",
		},
		{"another word", wording("Giá xăng tăng", "Giá xăng giảm"), network.DifferenceText},
		{
			"cut beside a link", wording("Giá xăng tăng https://example.com/a", "Giá xăng… https://t.co/abc"),
			network.DifferenceCut,
		},
		{"same poll", poll([]string{"Có", "Không"}, []string{"Có ", "Không"}), ""},
		{"no poll", poll([]string{"Có", "Không"}, nil), network.DifferenceNoPoll},
		{"a lost choice", poll([]string{"Có", "Không", "Chưa rõ"}, []string{"Có", "Không"}), network.DifferencePoll},
		{"turned choices", poll([]string{"Có", "Không"}, []string{"Không", "Có"}), network.DifferencePoll},
		{"unlisted made public", seen("unlisted", "public"), network.DifferenceWider},
		{"direct made private", seen("direct", "private"), network.DifferenceWider},
		{"private made something unknown", seen("private", "local"), network.DifferenceWider},
		{"public made unlisted", seen("public", "unlisted"), network.DifferenceVisibility},
		{"the account's default", seen("", "private"), ""},
		{"not reported", seen("private", ""), ""},
		{"no warning", warning("Hình ảnh bạo lực", ""), network.DifferenceNoWarning},
		{"only a mark of the warning", warning("Bạo lực!", "!"), network.DifferenceNoWarning},
		{"another warning", warning("Bạo lực", "Nhạy cảm"), network.DifferenceWarning},
		{"a warning that was not asked for", warning("", "Tin tức"), network.DifferenceWarning},
		{"same warning", warning("Bạo lực", "Bạo  lực "), ""},
		{"a region", language("pt", "pt-BR"), ""},
		{"another language", language("vi", "en"), network.DifferenceLanguage},
		{"no language", language("vi", ""), ""},
		{"same files", media([]string{"1", "2"}, []string{"1", "2"}), ""},
		{"a lost file", media([]string{"1", "2"}, []string{"1"}), network.DifferenceMedia},
		{"turned files", media([]string{"1", "2"}, []string{"2", "1"}), network.DifferenceMediaOrder},
		{"copied files", media([]string{"1", "2"}, []string{"8", "9"}), ""},
		{"a repeated call", at(now.Add(-50 * time.Minute)), ""},
		{"local time without its zone", at(now.Add(7 * time.Hour)), network.DifferenceTime},
		{"yesterday", at(now.Add(-24 * time.Hour)), network.DifferenceTime},
		{"no reply", func(c *matching.Comparison) { c.Reply("41", "") }, network.DifferenceNoReply},
		{"another reply", func(c *matching.Comparison) { c.Reply("41", "42") }, network.DifferenceReply},
		{"uncovered", func(c *matching.Comparison) { c.Hidden(true, false) }, network.DifferenceNoCover},
		{"covered by the server", func(c *matching.Comparison) { c.Hidden(false, true) }, ""},
		{"an option", func(c *matching.Comparison) { c.Option("protected", true, false) }, network.DifferenceOption},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var c matching.Comparison
			row.do(&c)
			var codes, want []string
			for _, d := range c.Differences() {
				codes = append(codes, d.Code)
				if d.Text == "" {
					t.Error("a difference without a sentence")
				}
			}
			if row.want != "" {
				want = []string{row.want}
			}
			if !slices.Equal(codes, want) {
				t.Errorf("got %v, want %v", codes, want)
			}
		})
	}
}
