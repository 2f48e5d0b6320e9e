package mastodon

import (
	"testing"
	"unicode/utf8"
)

func TestHTMLToText(t *testing.T) {
	for name, row := range map[string]struct{ html, want string }{
		"Empty":      {"", ""},
		"Paragraphs": {"<p>One</p><p>Two<br />Three<br>Four</p>", "One Two Three Four"},
		"Entities":   {"<p>5 &lt; 6 &amp;amp; &quot;x&#39;</p>", `5 < 6 &amp; "x'`},
		"Link": {
			`<p>see <a href="https://www.example.com/a/very/long/path"><span class="invisible">https://www.</span>` +
				`<span class="ellipsis">example.com/a/very/</span><span class="invisible">long/path</span></a></p>`,
			"see https://www.example.com/a/very/long/path",
		},
		"Mention": {
			`<p><span class="h-card"><a href="https://x.example/@desk" class="u-url mention">@<span>desk</span></a></span> hi</p>`, "@desk hi",
		},
		"Hashtag": {`<p><a href="/tags/a" class="mention hashtag" rel="tag">#<span>a</span></a></p>`, "#a"},
		"Broken":  {"<p>One <b", "One"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := normalize(htmlToText(row.html)); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
	if a, b := normalize("@desk@news.example ha\u0300  no\u0323\u0302i\n"), normalize("@desk hà nội"); a != b {
		t.Errorf("%q is not %q", a, b)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("<p>a<br>b</p>")
	f.Add("<a href='x'>@<span>y</span></a><!-- <p> -->&#x110000;")
	f.Add("<script><p></script>\x00\xff@a@b.c")
	f.Fuzz(func(t *testing.T, content string) {
		text := normalize(htmlToText(content))
		if utf8.ValidString(content) && !utf8.ValidString(text) {
			t.Errorf("plain(%q) is not valid UTF-8", content)
		}
		if again := normalize(text); utf8.ValidString(text) && len(again) > 3*len(text)+3 {
			t.Errorf("normalizing adds text: %q", text)
		}
	})
}
