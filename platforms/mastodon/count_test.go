package mastodon_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/mastodon"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func limits() network.Limits {
	return network.Limits{
		AllowedBy: "news.example", MaxCharacters: 500, CharactersPerURL: 23, MaxMedia: 4, MaxImageBytes: 16 << 20,
		MaxImagePixels: 33_177_600, MaxVideoBytes: 99 << 20, MaxAltText: 1500,
		MIMETypes: []string{"image/png", "image/jpeg", "video/mp4"},
	}
}

func counts() []platformtest.Count {
	const vietnamese = "Hà Nội mưa lớn, giá điện tăng" // 29 letters and spaces
	const url = 23
	return []platformtest.Count{
		{Name: "Empty", Text: "", Want: 0},
		{Name: "Blank", Text: " \n\t ", Want: 0},
		{Name: "Stripped", Text: "\n hello \n", Want: 5},
		{Name: "VietnameseComposed", Text: norm.NFC.String(vietnamese), Want: 29},
		{Name: "VietnameseDecomposed", Text: norm.NFD.String(vietnamese), Want: 29},
		{Name: "Family", Text: "👨‍👩‍👧‍👦", Want: 1},
		{Name: "SkinTone", Text: "👍🏽", Want: 1},
		{Name: "Flag", Text: "🇻🇳🇯🇵", Want: 2},
		{Name: "LineEnd", Text: "a\r\nb", Want: 3},
		{Name: "URL", Text: "https://example.com/" + strings.Repeat("long/", 40), Want: url},
		{Name: "ShortURL", Text: "http://a.vn", Want: url},
		{Name: "URLInText", Text: "see https://example.com/x.", Want: 4 + url + 1},
		{Name: "URLInBrackets", Text: "(https://example.com/x)", Want: url + 2},
		{Name: "URLWithBrackets", Text: "https://en.example.com/wiki/Tet_(holiday)", Want: url},
		{Name: "URLQuery", Text: "https://example.com?a=1&b=[2]!", Want: url + 2},
		{Name: "URLPort", Text: "https://example.com:8443/x", Want: url},
		{Name: "URLUnicode", Text: "https://báo.vn/tin-tức/hôm-nay", Want: url},
		{Name: "URLCapitals", Text: "HTTPS://EXAMPLE.COM/X", Want: url},
		{Name: "TwoURLs", Text: "https://a.vn https://b.vn", Want: 2*url + 1},
		{Name: "URLAfterVietnamese", Text: "đọc:https://a.vn", Want: 4 + url},
		{Name: "TopLevelOnlyAsWildcard", Text: "https://www.information.gov.kh/a", Want: url},
		{
			Name: "TopLevelOnlyAsWildcardLong", Text: "https://www.information.gov.kh/" + strings.Repeat("a", 480),
			Want: url,
		},
		{Name: "TopLevelOfMyanmar", Text: "https://www.mofa.gov.mm/tin", Want: url},
		{Name: "TopLevelOfNepal", Text: "https://nepal.gov.np.", Want: url + 1},
		{Name: "TopLevelInCyrillic", Text: "https://пример.рф/a", Want: url},
		{Name: "TopLevelInPunycode", Text: "https://a.xn--p1ai/b", Want: url},
		{Name: "TopLevelAfterTwitterText", Text: "https://a.kids/b", Want: 16},
		{Name: "TopLevelBeforePlus", Text: "https://a.vn+b", Want: 14},
		{Name: "NoScheme", Text: "example.com/abc", Want: 15},
		{Name: "NoTopLevel", Text: "http://localhost/x", Want: 18},
		{Name: "UnknownTopLevel", Text: "http://a.invalidtld/x", Want: 21},
		{Name: "SchemeInWord", Text: "xhttp://a.vn", Want: 12},
		{Name: "Mention", Text: "@desk@news.example.com", Want: 5},
		{Name: "LocalMention", Text: "@desk hi", Want: 8},
		{Name: "MentionInText", Text: "hi @desk@news.example.com, bye", Want: 3 + 5 + 5},
		{Name: "MentionDots", Text: "@a.b-c@x.org.", Want: 7},
		{Name: "Email", Text: "desk@news.example.com", Want: 21},
		{Name: "MentionInURL", Text: "https://news.example.com/@desk@other.org", Want: url},
		{Name: "MentionThenAt", Text: "@a@b.org@c", Want: 10},
	}
}

func TestCheck_Messages(t *testing.T) {
	m := mastodon.New(http.DefaultClient, mastodon.Options{})
	problems := m.Check(network.Content{Text: strings.Repeat("đ", 512)}, limits())
	if len(problems) != 1 || problems[0].Message != "Mastodon counts 512 characters; news.example allows 500." {
		t.Errorf("problems %+v", problems)
	}
	video := network.MediaInfo{MIMEType: "video/mp4", Bytes: 50 << 20}
	if problems := m.Check(network.Content{Media: []network.MediaInfo{video}}, limits()); len(problems) != 0 {
		t.Errorf("a video below its limit: %+v", problems)
	}
	problems = m.Check(network.Content{Media: []network.MediaInfo{
		video,
		{MIMEType: "image/png", Width: 10000, Height: 10000},
	}}, limits())
	if len(problems) != 2 || problems[0].Code != "mixed_attachments" || problems[1].Code != "too_many_pixels" {
		t.Errorf("problems %+v", problems)
	}
}

func FuzzCount(f *testing.F) {
	for _, row := range counts() {
		f.Add(row.Text)
	}
	f.Add("https://a.vn/((((((((@\xff\xfe@@a@")
	m := mastodon.New(http.DefaultClient, mastodon.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		if got := m.Count(text, limits()); got < 0 || text == "" && got != 0 {
			t.Errorf("Count(%q) = %d", text, got)
		}
		m.Check(network.Content{Text: text}, limits())
	})
}
