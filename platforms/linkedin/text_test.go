package linkedin

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

func TestEncodeLittleText(t *testing.T) {
	for text, want := range map[string]string{
		`a (b) [c] {d} <e>`:            `a \(b\) \[c\] \{d\} \<e\>`,
		`\|{}@[]()<>#*_~`:              `\\\|\{\}\@\[\]\(\)\<\>\#\*\_\~`,
		"#Hanoi #mưa_lớn C# #1":        `{hashtag|\#|Hanoi} {hashtag|\#|mưa\_lớn} C\# \#1`,
		"https://a.example/x_y#top":    `https://a.example/x\_y\#top`,
		"@[Name](urn:li:person:1)":     `\@\[Name\]\(urn:li:person:1\)`,
		`{hashtag|\#|no}`:              `\{hashtag\|\\\#\|no\}`,
		"Bản tin chiều 👨‍👩‍👧‍👦\n\n(2)": "Bản tin chiều 👨‍👩‍👧‍👦\n\n\\(2\\)",
	} {
		if got := encodeLittleText(text); got != want {
			t.Errorf("little(%q) = %q, want %q", text, got, want)
		}
	}
}

// Listings also contain posts from LinkedIn's own pages.
func TestDecodeLittleText_OtherClients(t *testing.T) {
	for commentary, want := range map[string]string{
		`Thanks @[Dev \(co\)](urn:li:organization:24) #now`: "Thanks Dev (co) #now",
		`{hashtag|＃|tin} {hashtag|no} {x`:                   "＃tin {hashtag|no} {x",
		`@[Open`:                                            "@[Open",
		`@[Open](`:                                          "@[Open](",
		`end\`:                                              `end\`,
	} {
		if got := decodeLittleText(commentary); got != want {
			t.Errorf("plain(%q) = %q, want %q", commentary, got, want)
		}
	}
}

// The fake network truncates a text at unescaped characters, like LinkedIn.
func FuzzLittleText(f *testing.F) {
	for _, seed := range []string{
		"", `\`, `\#`, "#a#b #c_d# e#f", "##x", "#Hà\u0300 Nội", `{hashtag|\#|x}`,
		"@[a](urn:li:person:1)", "x_*~y", "＃tin", "#\u0301", "https://a.example/#b_(c)", "🇻🇳#🇻🇳 #a👍🏽", "a\r\nb\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := encodeLittleText(text)
		if got := fake.LinkedInText(written); got != text {
			t.Errorf("%q is sent as %q and shows as %q", text, written, got)
		}
		if got := decodeLittleText(written); got != text {
			t.Errorf("%q is read back as %q", text, got)
		}
		if got := utf16Length(text); utf8.ValidString(text) && got != len(utf16.Encode([]rune(text))) {
			t.Errorf("%q counts %d", text, got)
		}
	})
}

func TestCheck_Comments(t *testing.T) {
	l := New(http.DefaultClient, Options{})
	limits, err := l.Limits(t.Context(), network.Account{})
	if err != nil {
		t.Fatal(err)
	}
	png, clip := network.MediaInfo{MIMEType: "image/png", Bytes: 1}, network.MediaInfo{
		MIMEType: "video/mp4", Bytes: 100 << 10,
	}
	for name, row := range map[string]struct {
		content network.Content
		code    string
	}{
		"LongestComment": {
			network.Content{Text: strings.Repeat("ạ", 1250), Reply: true, Media: []network.MediaInfo{png}}, "",
		},
		"LongComment": {network.Content{Text: strings.Repeat("ạ", 1251), Reply: true}, "too_long"},
		"SameAsPost":  {network.Content{Text: strings.Repeat("ạ", 1251)}, ""},
		"Emoji":       {network.Content{Text: strings.Repeat("😀", 1501)}, "too_long"},
		"TwoPictures": {
			network.Content{Text: "t", Reply: true, Media: []network.MediaInfo{png, png}},
			"too_many_attachments",
		},
		"Video":        {network.Content{Text: "t", Reply: true, Media: []network.MediaInfo{clip}}, "unsupported_type"},
		"VideoAlone":   {network.Content{Media: []network.MediaInfo{clip}}, ""},
		"VideoAndMore": {network.Content{Media: []network.MediaInfo{clip, png}}, "mixed_attachments"},
		"TinyVideo":    {network.Content{Media: []network.MediaInfo{{MIMEType: "video/mp4", Bytes: 100}}}, "too_small"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := l.Check(row.content, limits)
			if row.code == "" && len(problems) > 0 || row.code != "" &&
				(len(problems) != 1 || problems[0].Code != row.code) {
				t.Errorf("problems %+v, want %q", problems, row.code)
			}
		})
	}
}

func TestPreview(t *testing.T) {
	l := New(http.DefaultClient, Options{})
	text := "Đọc #tin https://example.com/a_b.\n" + strings.Repeat("chữ ", 100)
	p := l.Preview(network.Content{Text: text}, network.Limits{})
	if p.Text != text {
		t.Errorf("p.Text: got %v, want %v", p.Text, text)
	}
	if len(p.Spans) != 2 {
		t.Fatalf("len(p.Spans): got %v, want %v", len(p.Spans), 2)
	}
	if p.Spans[0].Target != "tin" {
		t.Errorf("p.Spans[0].Target: got %q, want %q", p.Spans[0].Target, "tin")
	}
	if p.Spans[1].Target != "https://example.com/a_b" {
		t.Errorf("p.Spans[1].Target: got %q, want %q", p.Spans[1].Target, "https://example.com/a_b")
	}
	if len(p.Notes) != 1 {
		t.Fatalf("len(p.Notes): got %v, want %v", len(p.Notes), 1)
	}
	if p.Card != "" {
		t.Errorf("p.Card: got %q, want %q", p.Card, "")
	}
	if shown := utf8.RuneCountInString(text[:p.FoldAt]); shown != 210 {
		t.Errorf("shows %d characters before the fold", shown)
	}
	if p := l.Preview(network.Content{Text: text, Reply: true}, network.Limits{}); p.FoldAt != 0 || len(p.Notes) != 1 {
		t.Errorf("%+v", p)
	}
}
