package slack

import (
	"strings"
	"testing"
)

func TestUnescape_ReturnsWhatWasWritten(t *testing.T) {
	for shown, want := range map[string]string{
		"Xem <https://a.vn/x?b=1&amp;c=2>, nhé":     "Xem https://a.vn/x?b=1&c=2, nhé",
		"<http://a.vn|a.vn> <mailto:b@a.vn|b@a.vn>": "a.vn b@a.vn",
		"&lt;b&gt; &amp;lt;":                        "<b> &lt;",
		"5 &lt; 6":                                  "5 < 6",
	} {
		if got := unescape(shown); got != want {
			t.Errorf("unescape(%q) = %q, want %q", shown, got, want)
		}
	}
	for a, b := range map[string]string{
		"Nóng 👍🏽!": "Nóng :+1::skin-tone-4:!", "1️⃣ một": ":one: một", "© 2026 ‼️": ":copyright: 2026 :bangbang:",
		"ℹ️ Tin": ":information_source: Tin",
	} {
		if strings.ReplaceAll(withoutEmoji(a), "\uFE0F", "") != withoutEmoji(b) {
			t.Errorf("%q and %q: got %q and %q, want the same", a, b, withoutEmoji(a), withoutEmoji(b))
		}
	}
}

func TestLinked_PutsLinksInBrackets(t *testing.T) {
	for text, want := range map[string]string{
		"Xem https://a.vn/x?b=1&c=2, (http://b.vn) & @here": "Xem <https://a.vn/x?b=1&amp;c=2>, (<http://b.vn>) &amp; @here",
		"https://a.vn/x|y <!here>":                          "https://a.vn/x|y &lt;!here&gt;",
	} {
		if got := linked(text); got != want || unescape(got) != text {
			t.Errorf("linked(%q) = %q, want %q", text, got, want)
		}
	}
}

// A text survives its way to Slack and back.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "<!channel>", "&amp;", "&lt;", "a<b>c|d", "<https://a|b>", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := unescape(escape(text)); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	})
}
