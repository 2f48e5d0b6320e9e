package extract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"dateline/internal/news/article/extract"
)

// Texts of a decomposed page are composed, as those of the same page in NFC; addresses
// stay as the site has them.
func TestExtract_ComposesTexts(t *testing.T) {
	body := strings.Repeat("<p>Thủy Nguyên, quê nghề gốm cũ — người thợ kể chuyện: “Mỗi mẻ lửa một đời đất”. "+
		"한국어 café.</p>", 6)
	for name, head := range map[string]string{
		"metadata": `<title>Làng gốm giữ lửa - Báo Sáng</title><meta name="author" content="Nguyễn Thị Ánh">
			<meta name="description" content="Ba thế hệ nối nghề gốm ở bến sông.">
			<meta property="og:site_name" content="Báo Sáng"><meta property="article:section" content="Đời sống">
			<meta property="article:tag" content="làng nghề"><meta property="og:title" content="Làng gốm giữ lửa">`,
		"JSON-LD": `<script type="application/ld+json">{"@type":"NewsArticle","headline":"Làng gốm giữ lửa",
			"description":"Ba thế hệ nối nghề gốm ở bến sông.","articleSection":"Đời sống","keywords":"làng nghề, gốm",
			"author":{"@type":"Person","name":"Nguyễn Thị Ánh"},
			"publisher":{"@type":"Organization","name":"Báo Sáng"}}</script>`,
		"microdata": `<title>Làng gốm giữ lửa</title><meta itemprop="headline" content="Làng gốm giữ lửa">
			<meta itemprop="articleSection" content="Đời sống"><meta itemprop="keywords" content="làng nghề">`,
	} {
		source := `<!doctype html><html lang="vi"><head>` + head + `</head><body><article><h1>Làng gốm giữ lửa</h1>` +
			`<p class="byline">Nguyễn Thị Ánh</p>` + body + `<p>Xem <a href="ADDRESS">ảnh mẻ gốm</a> ` +
			`<img src="ADDRESS" alt="Lò nung Thủy Nguyên"></p></article></body></html>`
		const address = "/a\u0309nh?q=me\u0309" // decomposed, as files of macOS are named
		page := func(form norm.Form) extract.Page {
			return extract.Page{
				HTML: []byte(strings.ReplaceAll(form.String(source), "ADDRESS", address)),
				URL:  "https://bao.example/lang-gom.html",
			}
		}
		got, want := read(t, page(norm.NFD)), read(t, page(norm.NFC))
		assert.Equal(t, want, got, name)
		require.Contains(t, want.Text, "Thủy Nguyên", name)
		require.Equal(t, "Làng gốm giữ lửa", got.Title, name)
		require.Contains(t, got.HTML, "q=me\u0309", name)
		require.Contains(t, got.HTML, `alt="Lò nung Thủy Nguyên"`, name)
		fields := append([]string{got.Title, got.Lead, got.Text, got.Section}, append(got.Tags, got.Authors...)...)
		for _, field := range fields {
			assert.True(t, norm.NFC.IsNormalString(field), "%s: %q", name, field)
		}
	}
}
