package mastodon_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"dateline/platforms/mastodon"
	"dateline/platforms/network"
)

func TestPreview(t *testing.T) {
	var m mastodon.Mastodon
	long := "https://www.news.example.com/2026/11/22/a-long-way-to-go"
	content := network.Content{
		Text: "\nHà Nội #mưa: " + long + ", hỏi @desk@news.example.com (http://localhost/#none) https://a.vn ",
	}
	p := m.Preview(content, limits())
	if p.Text != "Hà Nội #mưa: news.example.com/2026/11/22/a-…, hỏi @desk@news.example.com "+
		"(http://localhost/#none) a.vn" || p.Card != long || p.FoldAt != 0 {
		t.Errorf("%q, card %q", p.Text, p.Card)
	}
	var reported []string
	for _, s := range p.Spans {
		reported = append(reported, string(s.Kind)+" "+p.Text[s.Start:s.End]+" to "+s.Target)
	}
	want := []string{
		"tag #mưa to mưa", "link news.example.com/2026/11/22/a-… to " + long,
		"mention @desk@news.example.com to desk@news.example.com", "link a.vn to https://a.vn",
	}
	if strings.Join(reported, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(reported, "\n"))
	}
	content.Media = make([]network.MediaInfo, 1)
	if p := m.Preview(content, limits()); p.Card != "" {
		t.Errorf("with a picture there is a card of %s", p.Card)
	}
}

// Spans are in order, inside the text, and at character boundaries for any text.
func FuzzPreview(f *testing.F) {
	for _, text := range []string{
		"", " ", "#a@b https://a.vn/#c", "@a@b.vn#x",
		"http://www.a.vn/" + strings.Repeat("ă", 40),
	} {
		f.Add(text)
	}
	var m mastodon.Mastodon
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		p := m.Preview(network.Content{Text: text}, limits())
		at := 0
		for _, s := range p.Spans {
			if s.Start < at || s.End <= s.Start || s.End > len(p.Text) || !utf8.ValidString(p.Text[s.Start:s.End]) {
				t.Fatalf("%q: %+v in %q", text, s, p.Text)
			}
			at = s.End
		}
	})
}
