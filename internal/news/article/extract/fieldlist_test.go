package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A list of the fields of an article is no part of its text, above or below it, on small pages and on large ones.
func TestText_WithoutListsOfFields(t *testing.T) {
	day := `<time datetime="2026-03-05T09:15:00+07:00">2026-03-05</time>`
	tag := func(name string) string {
		return fmt.Sprintf(`<li><a href="/tags/%s/" class="post-tag" rel="tag">%s</a></li>`, name, name)
	}
	for name, list := range map[string]string{
		"Eleventy": `<ul class="post-metadata"><li>By Idris Calloway, Petra Moore</li><li>` + day + `</li>` +
			tag("moss") + tag("weather") + `</ul>`,
		"a profile and minutes": `<ol><li><a href="/authors/petra">Petra</a></li><li>5 March 2026</li><li>6 min read</li></ol>`,
		"terms with labels": `<dl><dt>Author</dt><dd>Idris Calloway</dd><dt>Published</dt><dd>` + day +
			`</dd><dt>Category</dt><dd><a href="/category/travel/">Travel</a></dd></dl>`,
		"Vietnamese": `<ul><li>Tác giả: Nguyễn Văn Mẫu và Trần Thị Ví Dụ</li><li>Thứ năm, 05/03/2026</li>` +
			`<li><a href="/chuyen-muc/van-hoa/">Văn hóa</a></li></ul>`,
		"German": `<ul><li>Von Idris Calloway und Petra Moore</li><li>5. März 2026</li></ul>`,
	} {
		for place, body := range map[string]string{
			"above": list + paragraphs(prose(6)),
			"below": paragraphs(prose(6)) + list,
			"large": list + paragraphs(prose(6)) + `<footer>` + strings.Repeat(`<p><a href="/a">Contact</a></p>`, 40) +
				`</footer>`,
		} {
			t.Run(name+" "+place, func(t *testing.T) {
				a := read(t, page(`<title>The bridge - Paper</title>`, `<main><h1>The bridge</h1>`+body+`</main>`))
				require.Equal(t, strings.Join(prose(6), "\n\n"), a.Text)
			})
		}
	}
}

// Lists in the text that contain names and dates, too, stay.
func TestText_WithListsOfNamesAndDates(t *testing.T) {
	for name, list := range map[string]string{
		"names":     `<ul><li>Idris Calloway</li><li>Petra Moore</li></ul>`,
		"ways":      `<ul><li>By train from the harbor</li><li>By bus until 5 March 2026</li></ul>`,
		"a program": `<ul><li>5 March 2026: the bridge opens</li><li>By Petra Moore: a reading</li></ul>`,
		"steps":     `<ol><li>5 March 2026</li><li>Petra Moore signs the contract in the town hall</li></ol>`,
	} {
		t.Run(name, func(t *testing.T) {
			all := prose(6)
			a := read(t, page(`<title>The bridge - Paper</title>`, `<main><h1>The bridge</h1>`+paragraphs(all[:3])+list+
				paragraphs(all[3:])+`</main>`))
			require.Contains(t, a.HTML, "<li>", a.Text)
		})
	}
}
