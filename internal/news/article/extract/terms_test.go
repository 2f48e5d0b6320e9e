package extract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
)

// termsAround are links to categories and tags that do not belong to the article.
const termsAround = `<nav><a href="/category/the-thao/" rel="category">Thể thao</a><a href="/tags/bong-da/">bóng đá</a></nav>
<ul class="menu"><li><a href="/category/kinh-te/">Kinh tế</a></li></ul>
<aside><div class="tagcloud"><a href="/tag/gia-vang/" class="tag-cloud-link" rel="tag">giá vàng</a></div></aside>`

const termsAfter = `<div class="related"><div><a rel="category tag" href="/category/phap-luat/">Pháp luật</a><h3><a href="/b">Another story about the harbor</a></h3></div></div>
<section><div class="item"><p class="cat"><a href="/category/giai-tri/" rel="category">Giải trí</a></p><h3><a href="/c">A third story of the town and its market</a></h3><p><a href="/tag/ca-nhac/" rel="tag">ca nhạc</a></p></div></section>
<p class="wp-block-tag-cloud"><a href="/tag/gia-dau/" class="tag-cloud-link" style="font-size: 8pt" rel="tag">giá dầu</a></p>
<div class="widget"><ul><li><a href="/categories/the-gioi/">Thế giới</a></li></ul></div><footer><a href="/tags/lien-he/">liên hệ</a></footer>`

// TestTerms reads the category and the tags that themes of publishing systems link.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		name, head, top, end, section string
		tags                          []string
	}{
		{
			"WordPressBlocks", "",
			`<div class="taxonomy-category wp-block-post-terms"><span>in </span><a href="/category/van-hoa/" rel="tag">Văn hóa</a></div>`,
			`<div class="taxonomy-post_tag wp-block-post-terms"><a href="/tag/dan-bau/" rel="tag">đàn bầu</a><span> </span><a href="/tag/pho-co/" rel="tag">phố cổ</a></div>`, "Văn hóa",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"WordPressClassic", "", "",
			`<footer class="entry-footer"><span class="cat-links">Categorized as <a href="/category/van-hoa" rel="category tag">Văn hóa</a></span> <span class="tags-links">Tagged <a href="/tag/dan-bau" rel="tag">đàn bầu</a>, <a href="/tag/pho-co" rel="tag">phố cổ</a></span></footer>`, "Văn hóa",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"BesideAFormForComments", "", "",
			`<div><div><div class="taxonomy-category wp-block-post-terms"><a href="/category/van-hoa/" rel="tag">Văn hóa</a></div><div class="taxonomy-post_tag wp-block-post-terms"><a href="/tag/dan-bau/" rel="tag">đàn bầu</a></div></div>` +
				`<div class="comment-respond"><h3 id="reply-title">Leave a Reply <small><a rel="nofollow" href="/world/bridge-opens.html#respond">Cancel reply</a></small></h3><form><p>Write something about it.</p></form></div></div>`, "Văn hóa",
			[]string{"đàn bầu"},
		},
		{
			"BesideAHeadingWithItsAddress", "", "",
			`<div><div><div class="taxonomy-category wp-block-post-terms"><a href="/category/van-hoa/" rel="tag">Văn hóa</a></div><div class="taxonomy-post_tag wp-block-post-terms"><a href="/tag/dan-bau/" rel="tag">đàn bầu</a></div></div>` +
				`<div class="comment-respond"><h2><a href="#comments">Comments</a></h2><form><p>Write something about it.</p></form></div></div>`, "Văn hóa",
			[]string{"đàn bầu"},
		},
		{
			"BesideAHeadingInALinkToThePage", "", "",
			`<div><div><div class="taxonomy-category wp-block-post-terms"><a href="/category/van-hoa/" rel="tag">Văn hóa</a></div><div class="taxonomy-post_tag wp-block-post-terms"><a href="/tag/dan-bau/" rel="tag">đàn bầu</a></div></div>` +
				`<div class="comment-respond"><a href="https://www.paper.example/world/bridge-opens.html?replytocom=3"><h3>Answer the first reader here</h3></a><form><p>Write something about it.</p></form></div></div>`, "Văn hóa",
			[]string{"đàn bầu"},
		},
		{
			"WordPressWithoutBases", "",
			`<div class="taxonomy-category"><a href="/van-hoa/" rel="tag">Văn hóa</a></div>`,
			`<div class="taxonomy-post_tag"><a href="/t/dan-bau/" rel="tag">đàn bầu</a></div>`, "Văn hóa",
			[]string{"đàn bầu"},
		},
		{
			"HugoPaperMod", "", "",
			`<footer class="post-footer"><ul class="post-tags"><li><a href="https://www.paper.example/tags/dan-bau/">Đàn Bầu</a></li><li><a href="https://www.paper.example/tags/pho-co/">Phố Cổ</a></li></ul><nav class="paginav"><a class="next" href="/d"><span class="title">Next »</span><br><span>The market moves to the old harbor hall</span></a></nav></footer>`, "",
			[]string{"Đàn Bầu", "Phố Cổ"},
		},
		{
			"HugoStack", "", `<header class="article-category"><a href="/categories/van-hoa/">Văn hóa</a></header>`,
			`<section class="article-tags"><a href="/tags/dan-bau/">đàn bầu</a></section>`, "Văn hóa",
			[]string{"đàn bầu"},
		},
		{
			"Pelican", "",
			`<footer class="post-info"><p>In <a href="https://www.paper.example/category/van-hoa.html">Văn hóa</a>.</p><p>tags: <a href="/tag/dan-bau.html">đàn bầu</a> <a href="/tag/pho-co.html">phố cổ</a></p></footer>`, "", "Văn hóa",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"Nikola", "", "",
			`<ul itemprop="keywords" class="tags"><li><a class="tag p-category" href="../../categories/dan-bau/" rel="tag">đàn bầu</a></li><li><a class="tag p-category" href="../../categories/pho-co/" rel="tag">phố cổ</a></li></ul>`, "",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"MkDocsMaterial", "",
			`<nav class="md-tags"><a href="../../tags/#tag:dan-bau" class="md-tag">đàn bầu</a></nav><div class="md-meta"><ul class="md-meta__list"><li class="md-meta__item">in <a href="../../category/van-hoa/" class="md-meta__link">Văn hóa</a></li></ul></div>`, "", "Văn hóa",
			[]string{"đàn bầu"},
		},
		{
			"Hexo", "",
			`<div class="article-category"><a class="article-category-link" href="/categories/Van-hoa/">Văn hóa</a></div>`, `<ul class="article-tag-list" itemprop="keywords"><li class="article-tag-list-item"><a class="article-tag-list-link" href="/tags/dan-bau/" rel="tag">đàn bầu</a></li></ul>`, "Văn hóa",
			[]string{"đàn bầu"},
		},
		{
			"Docusaurus", "", "",
			`<b>Tags:</b><ul class="tags_jXut padding--none"><li class="tag_QGVx"><a rel="tag" class="tag_zVej tagRegular_sFm0" href="/blog/tags/dan-bau">đàn bầu</a></li><li class="tag_QGVx"><a rel="tag" class="tag_zVej tagRegular_sFm0" href="/blog/tags/pho-co">phố cổ</a></li></ul>`, "",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"Eleventy", "",
			`<ul class="post-metadata"><li><time datetime="2026-03-05">05 March 2026</time></li><li><a href="/tags/dan-bau/" class="post-tag">đàn bầu</a>, </li><li><a href="/tags/pho-co/" class="post-tag">phố cổ</a></li></ul>`, "", "",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"Ghost", `<meta property="article:tag" content="đàn bầu"><meta property="article:tag" content="phố cổ">`,
			`<a class="gh-article-tag" href="/tag/dan-bau/">đàn bầu</a>`, "", "",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"Microformats", "",
			`<p>Filed under <span class="p-category">đàn bầu</span> <span class="p-category">phố cổ</span></p>`, "", "",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"VietnamesePaper", "", `<a href="/chuyen-muc/van-hoa">Văn hóa</a>`,
			`<div class="tags"><strong>Từ khóa:</strong> <a href="/tu-khoa/dan-bau">#đàn bầu</a> <a href="/tu-khoa/pho-co">#phố cổ</a></div>`, "Văn hóa",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"Blogger", "", "",
			`<span class="post-labels">Labels: <a href="/search/label/dan-bau" rel="tag">đàn bầu</a></span>`, "",
			[]string{"đàn bầu"},
		},
		{
			"MetaBeforeLinks", `<meta name="keywords" content="phố cổ">`, "",
			`<p class="tags"><a href="/tag/dan-bau" rel="tag">đàn bầu</a></p>`, "",
			[]string{"phố cổ"},
		},
		{
			"SectionInMeta", `<meta property="article:section" content="Văn hóa">`,
			`<a href="/category/tin-moi/" rel="category">Tin mới</a>`, "", "Văn hóa", nil,
		},
		{
			"DefinedTerms",
			ld(
				`{"@type":"NewsArticle","headline":"x","articleSection":["Văn hóa"],"keywords":[{"@type":"DefinedTerm","name":"đàn bầu"},"phố cổ"]}`), "", "", "Văn hóa",
			[]string{"đàn bầu", "phố cổ"},
		},
		{
			"LabeledBreadcrumb", "",
			`<nav aria-label="Breadcrumbs"><ul><li><a href="/">Home</a></li><li><a href="/van-hoa">Văn hóa</a></li><li>The bridge opens</li></ul></nav>`, "", "Văn hóa", nil,
		},
		{"Uncategorized", "", `<a href="/category/khong-phan-loai/" rel="category">Chưa phân loại</a>`, "", "", nil},
		{"None", "", "", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, open := range []string{
				"<div>", "<main><article>",
				`<article class="post category-van-hoa tag-dan-bau">`,
			} {
				a := read(t, page(c.head, termsAround+open+"<h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+
					paragraphs(prose(6))+"</div>"+c.end+"</"+map[byte]string{
					'd': "div>", 'm': "article></main>",
					'a': "article>",
				}[open[1]]+termsAfter))
				require.Equal(t, c.section, a.Section, open)
				require.Equal(t, c.tags, a.Tags, open)
				require.NotContains(t, a.Text, "đàn bầu")
				if c.tags != nil && c.head == "" {
					require.Equal(t, article.FromHTML, a.Origins[article.FieldTags].Source)
				}
			}
		})
	}
}
