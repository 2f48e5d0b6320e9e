package article_test

import (
	"strings"
	"testing"

	"dateline/platforms/article"
)

func TestNew_TakesTheFirstLineAsTheTitle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Một câu rất dài, ", 20)
	for name, row := range map[string]struct{ title, text, wantTitle, wantHTML string }{
		"one line":         {"", "Giá xăng tăng", "Giá xăng tăng", ""},
		"title and body":   {"", "Giá xăng tăng\n\nTừ 15 giờ.", "Giá xăng tăng", "<p>Từ 15 giờ.</p>"},
		"line break":       {"", "A\nB\nC", "A", "<p>B<br>\nC</p>"},
		"heading":          {"", "# Giá *xăng* &amp; dầu\nTin", "Giá xăng & dầu", "<p>Tin</p>"},
		"option":           {"Tiêu đề", "Giá xăng\n\nTin", "Tiêu đề", "<p>Giá xăng</p>\n<p>Tin</p>"},
		"blank option":     {"  ", "Giá xăng", "Giá xăng", ""},
		"empty":            {"", " \n", "", ""},
		"html in title":    {"", "5 < 6 & <b>7</b>", "5 < 6 & <b>7</b>", ""},
		"link in title":    {"", "Đọc [tin](https://news.example)", "Đọc tin", ""},
		"windows newlines": {"", "A\r\n\r\nB", "A", "<p>B</p>"},
	} {
		a := article.New(row.title, row.text)
		if a.Title != row.wantTitle || a.HTML != row.wantHTML {
			t.Errorf("%s: got %q and %q, want %q and %q", name, a.Title, a.HTML, row.wantTitle, row.wantHTML)
		}
	}
	a := article.New("", long)
	if n := len([]rune(a.Title)); n > 201 || !strings.HasSuffix(a.Title, "…") ||
		!strings.HasPrefix(long, strings.TrimSuffix(a.Title, "…")) || !strings.Contains(a.HTML, strings.TrimSpace(long)) {
		t.Errorf("a long line: got the title %q and the body %q", a.Title, a.HTML)
	}
}

// CommonMark (https://spec.commonmark.org/), of which raw HTML is left out.
func TestRender_IsSafe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<script>alert(1)</script>":              "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
		"<div onclick=x>\n\ntext":                "<p>&lt;div onclick=x&gt;</p>\n<p>text</p>",
		"a <img src=x onerror=y> b":              "<p>a &lt;img src=x onerror=y&gt; b</p>",
		"[x](javascript:alert(1))":               `<p><a href="">x</a></p>`,
		"[x](JaVaScRiPt:alert(1))":               `<p><a href="">x</a></p>`,
		"[x](vbscript:a)":                        `<p><a href="">x</a></p>`,
		"[x](data:text/html;base64,PHNjcmlwdD4)": `<p><a href="">x</a></p>`,
		"![x](javascript:a)":                     `<p><img src="" alt="x"></p>`,
		`[x](https://a.example/"onclick=y)`:      `<p><a href="https://a.example/%22onclick=y">x</a></p>`,
		"<https://a.example>":                    `<p><a href="https://a.example">https://a.example</a></p>`,
		"https://a.example/b?c=1&d=2 x":          `<p><a href="https://a.example/b?c=1&amp;d=2">https://a.example/b?c=1&amp;d=2</a> x</p>`,
		"**b** *i* ~~d~~ `c`":                    "<p><strong>b</strong> <em>i</em> <del>d</del> <code>c</code></p>",
		"- a\n- b":                               "<ul>\n<li>a</li>\n<li>b</li>\n</ul>",
		"> quote":                                "<blockquote>\n<p>quote</p>\n</blockquote>",
		"<!-- hidden -->":                        "<p>&lt;!-- hidden --&gt;</p>",
		"&lt;script&gt;":                         "<p>&lt;script&gt;</p>",
		"[caption]":                              "<p>[caption]</p>",
	} {
		if got := article.Render(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<p>A<br>\nB</p>\n<p>C &amp; D</p>":            "A\nB\n\nC & D",
		"<ul>\n<li>a</li>\n<li>b</li>\n</ul>":          "a\n\nb",
		"<table><tr><td>1</td><td>2</td></tr></table>": "1 2",
		"plain":                "plain",
		"<h2>T</h2>text":       "T\n\ntext",
		"<p>unclosed":          "unclosed",
		"<p>&lt;b&gt;x</p>":    "<b>x",
		`<img alt="x"><hr>end`: "end",
	} {
		if got := article.PlainText(source); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}

func TestSlug_IsShortAndUnique(t *testing.T) {
	t.Parallel()
	for title, prefix := range map[string]string{
		"Giá xăng tăng từ 15 giờ": "gia-xang-tang-tu-15-gio-", "ĐẶC BIỆT: đường sắt": "dac-biet-duong-sat-",
		"新聞": "post-", "": "post-", "  --a--  ": "a-", "Ba\u0309n tin chie\u0302\u0300u": "ban-tin-chieu-",
		strings.Repeat("dài ", 100): "dai-dai-", "feed": "feed-", "İstanbul Ǆ": "istanbul-",
	} {
		one, same, other := article.Slug(title, 190, "k", "1"), article.Slug(title, 190, "k", "1"),
			article.Slug(title, 190, "k1", "")
		if !strings.HasPrefix(one, prefix) || len(one) > 190 || one != same || one == other ||
			strings.Trim(one, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.Contains(one, "--") {
			t.Errorf("%q: got %q and %q, want %s and a hash", title, one, other, prefix)
		}
	}
}
