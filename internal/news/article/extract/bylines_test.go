package extract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
)

// Where metadata names nobody, the page does.
func TestAuthors_FromThePage(t *testing.T) {
	for _, c := range []struct {
		name, head, top, end string
		want                 []string
	}{
		{"ByInItsOwnElement", "", `<div><span>By</span> <span>Mai Lan</span></div>`, "", []string{"Mai Lan"}},
		{
			"ByBeforeSeveralLinks", "",
			`<div>By <a href="/a">Mai Lan</a>, <a href="/b">Jo Harper</a> and <a href="/c">Ada Perry</a></div>`, "",
			[]string{"Mai Lan", "Jo Harper", "Ada Perry"},
		},
		{"FrenchLabel", "", `<div>par <span>Didier Roy</span>, 21 juin 2018</div>`, "", []string{"Didier Roy"}},
		{"GermanLabel", "", "", `<div><h5>Autor: </h5>Peter Brandt</div>`, []string{"Peter Brandt"}},
		{"WrittenByBelowTheText", "", "", `<h3>Written by Mai Lan</h3>`, []string{"Mai Lan"}},
		{"NameBeforeDate", "", `<div><span>Mai Lan |</span><span>05.04.2025</span></div>`, "", []string{"Mai Lan"}},
		{"InsideShareBar", "", `<div class="social-bar"><p class="author">Mai Lan</p></div>`, "", []string{"Mai Lan"}},
		{
			"Biography", "", "", `<div class="author-bio"><h3>Mai Lan</h3><p>` + prose(1)[0] + `</p></div>`,
			[]string{"Mai Lan"},
		},
		{"ProfileOfAnotherSite", "", `<p><a href="https://social.example/profile/paper">bluesky</a></p>`, "", nil},
		{
			"LabelForPreviews",
			`<meta name="twitter:label1" content="Verfasst von"><meta name="twitter:data1" content="Mai Lan">`, "", "",
			[]string{"Mai Lan"},
		},
		{
			"ByInASentence", "", "",
			`<p>The film by Mai Lan was shown in the old harbour hall, and everybody who had a boat came to see it, some of them twice, until the rain began.</p>`, nil,
		},
		{"GermanSentence", "", `<h2>Vorteile beim <b>Leasing</b> von Firmen</h2>`, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page(c.head, "<h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+paragraphs(prose(4))+
				"</div>"+c.end))
			require.Equal(t, c.want, a.Authors)
			if c.want != nil {
				require.Less(t, a.Origins[article.FieldAuthors].Confidence, 0.8)
			}
		})
	}
}

func TestAuthors_CleansNames(t *testing.T) {
	byline := func(s string) string { return `<p class="byline">` + s + `</p>` }
	for _, c := range []struct {
		name, head, top string
		want            []string
	}{
		{"RoleBeforeTheName", "", byline("Lead Reviewer, Mai Lan"), []string{"Mai Lan"}},
		{"ForAPaper", "", byline("By Mai Lan for The Sunday Paper"), []string{"Mai Lan"}},
		{
			"WhoUpdatedIt", "",
			`<span itemprop="author">Mai Lan</span><span itemprop="author">Updated by Jo Harper</span>`,
			[]string{"Mai Lan"},
		},
		{"Weekday", "", byline("Sun"), nil},
		{"UserWithDigits", `<meta name="author" content="delta2018">`, "", []string{"delta2018"}},
		{
			"NameThatStartsWithDigits",
			`<meta property="og:site_name" content="98 Buck Social"><meta name="author" content="98 Buck Social">`, "",
			[]string{"98 Buck Social"},
		},
		{"Staff", `<meta name="author" content="Staff">`, "", []string{"Staff"}},
		{
			"NameOfAnItem", "",
			`<div itemprop="author" itemscope><a href="/u"><meta itemprop="name" content="Mai Lan"></a><b>Member since May</b></div>`,
			[]string{"Mai Lan"},
		},
		{
			"OtherPostsOfAThread", "",
			`<div itemscope><span itemprop="author">Mai Lan</span></div><div itemscope><span itemprop="author">Jo Harper</span></div>`,
			[]string{"Mai Lan"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page(c.head, "<h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+paragraphs(prose(4))+
				"</div>"))
			require.Equal(t, c.want, a.Authors)
		})
	}
}

// Credits name no authors.
func TestAuthors_WithoutCredits(t *testing.T) {
	line := func(s string) string { return `<p style="text-align:right">` + s + `</p>` }
	for _, c := range []struct {
		name, top, end string
		want           []string
	}{
		{
			"TextAndPicture", `<div class="author">Bài: Nguyễn Văn Mẫu - Ảnh: Phạm Chụp</div>`, "",
			[]string{"Nguyễn Văn Mẫu"},
		},
		{
			"PictureFirst", `<div class="author">Ảnh: Phạm Chụp - Bài: Nguyễn Văn Mẫu</div>`, "",
			[]string{"Nguyễn Văn Mẫu"},
		},
		{"TextAndPictureByOne", `<div class="author">Bài và ảnh: Nguyễn Văn Mẫu</div>`, "", []string{"Nguyễn Văn Mẫu"}},
		{"TextCommaPictureByOne", `<div class="author">Bài, ảnh: Nguyễn Văn Mẫu</div>`, "", []string{"Nguyễn Văn Mẫu"}},
		{
			"ManyCredits",
			`<div class="author">Thực hiện: Nguyễn Văn Mẫu | Đồ họa: Lê Vẽ | Video: Trần Quay | Biên tập: Đỗ Sửa</div>`,
			"",
			[]string{"Nguyễn Văn Mẫu"},
		},
		{
			"RightAlignedLines", "", line("Bài: Nguyễn Văn Mẫu") + line("Ảnh: Phạm Chụp") + line("Thiết kế: Lê Vẽ"),
			[]string{"Nguyễn Văn Mẫu"},
		},
		{
			"RightAlignedBold", "", line("<strong>Nguyễn Văn Mẫu</strong>") + line("<em>Ảnh: Phạm Chụp</em>"),
			[]string{"Nguyễn Văn Mẫu"},
		},
		{
			"LinesOfCredits", "", `<p>Nội dung: Nguyễn Văn Mẫu và Lý Thị Sao</p><p>Đồ họa: Lê Vẽ</p>`,
			[]string{"Nguyễn Văn Mẫu", "Lý Thị Sao"},
		},
		{
			"AndPhotographsBy", `<p class="byline">By Abby Byrne and photographs by Tom Kaplan</p>`, "",
			[]string{"Abby Byrne"},
		},
		{"PlainLineAndPhotographsBy", `<p>By Abby Byrne and photographs by Tom Kaplan</p>`, "", []string{"Abby Byrne"}},
		{"Bar", `<p class="byline">By Abby Byrne | Photo: Tom Kaplan</p>`, "", []string{"Abby Byrne"}},
		{"Break", `<p class="byline">Abby Byrne<br>Design: Tom Kaplan</p>`, "", []string{"Abby Byrne"}},
		{
			"Blocks", `<div class="author"><p>Abby Byrne</p><p>Illustration by Tom Kaplan</p></div>`, "",
			[]string{"Abby Byrne"},
		},
		{
			"WordsAndPictures", `<p class="byline">Words by Abby Byrne, pictures by Tom Kaplan</p>`, "",
			[]string{"Abby Byrne"},
		},
		{"StoryAndPhotosByOne", `<p class="byline">Story and photos by Abby Byrne</p>`, "", []string{"Abby Byrne"}},
		{"Parentheses", `<p class="byline">Abby Byrne (text) and Tom Kaplan (photos)</p>`, "", []string{"Abby Byrne"}},
		{
			"ReportingBy", `<p class="byline">Reporting by Abby Byrne; Editing by Tom Kaplan</p>`, "",
			[]string{"Abby Byrne"},
		},
		{"Reporter", `<div class="author">PV: Nguyễn Văn Mẫu - Ảnh: Phạm Chụp</div>`, "", []string{"Nguyễn Văn Mẫu"}},
		{"EditedBy", `<p class="byline">By Abby Byrne; edited by Tom Kaplan</p>`, "", []string{"Abby Byrne"}},
		{"OnlyCredits", `<p class="byline">Photo: Tom Kaplan</p>`, "", nil},
		{"German", `<p class="byline">Text: Abby Byrne, Fotos: Tom Kaplan</p>`, "", []string{"Abby Byrne"}},
		{
			"SentenceBeforeTheLabel", `<p class="byline">This post was written by Abby Byrne</p>`, "",
			[]string{"Abby Byrne"},
		},
		{"SourceBelowAndByline", `<p>By Abby Byrne</p>`, line("Source: Reuters"), []string{"Abby Byrne"}},
		{
			"JobTitleInALine", `<p class="byline">Abby Byrne<br>Content Marketing Coordinator</p>`, "",
			[]string{"Abby Byrne"},
		},
		{"Source", `<div class="author">Nguồn: TTXVN</div>`, "", []string{"TTXVN"}},
		{"SourceBelow", "", line("Nguồn: TTXVN"), []string{"TTXVN"}},
		{"WriterAndSource", `<div class="author">Nguyễn Văn Mẫu - Nguồn: TTXVN</div>`, "", []string{"Nguyễn Văn Mẫu"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page("", "<h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+paragraphs(prose(4))+
				c.end+"</div>"))
			require.Equal(t, c.want, a.Authors)
			require.Equal(t, strings.Join(prose(4), "\n\n"), a.Text)
		})
	}
}

func TestAuthors_Several(t *testing.T) {
	for name, top := range map[string]string{
		"CardOnOneLine": `<address class="vcard author">By <a class="url fn" href="/author/a.html">Idris Calloway</a> <a class="url fn" href="/author/b.html">Petra Moore</a></address>`,
		"CardWithBreaks": "<address class=\"vcard author\">\n By <a class=\"url fn\" href=\"/author/a.html\">Idris " +
			"Calloway</a>\n <a class=\"url fn\" href=\"/author/b.html\">Petra Moore</a>\n</address>",
		"NamesInSpans": `<p class="byline"><span class="fn">Idris Calloway</span> <span class="fn">Petra Moore</span></p>`,
		"List":         `<ul class="authors"><li>Idris Calloway</li><li>Petra Moore</li></ul>`,
		"Breaks":       `<p class="byline">Idris Calloway<br>Petra Moore</p>`,
		"Ampersand":    `<p class="byline">By Idris Calloway &amp; Petra Moore</p>`,
		"Vietnamese":   `<p class="author">Bài: Idris Calloway và Petra Moore</p>`,
		"Commas":       `<p class="byline">Idris Calloway, Petra Moore</p>`,
		"InAWrapper":   `<p class="by">By <span class="author">Idris Calloway</span> and <span class="author">Petra Moore</span></p>`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, wrapper := range []string{"", "page-wrap no-sidebar"} {
				a := read(t, page("", `<div class="`+wrapper+`"><h1>The bridge opens</h1>`+top+
					`<div class="story-text">`+paragraphs(prose(4))+"</div></div>"))
				require.Equal(t, []string{"Idris Calloway", "Petra Moore"}, a.Authors)
			}
		})
	}
	a := read(t,
		page("",
			`<h1>The bridge opens</h1><p class="byline">By Idris Calloway, Petra Moore and Abby Byrne</p><div class="story-text">`+paragraphs(prose(4))+"</div>"))
	require.Equal(t, []string{"Idris Calloway", "Petra Moore", "Abby Byrne"}, a.Authors)
}
