package crawltest

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// hub serves a front page or a section. As on real sites, its template changes
// with every request; only its articles show whether there is news.
func (s *Site) hub(out http.ResponseWriter, r *http.Request, section string) {
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	number = min(max(number, 1), 1000)
	articles := s.latest(section, (number-1)*s.world.options.ArticlesPerHub, s.world.options.ArticlesPerHub)
	s.mu.Lock()
	s.served++
	served, churn, listsHidden := s.served, s.churn, s.listsHidden
	s.mu.Unlock()

	var b strings.Builder
	s.head(&b, "", "Tin mới nhất", s.URL(r.URL.Path), served, churn)
	if !listsHidden {
		b.WriteString(`<link rel="alternate" type="application/rss+xml" title="RSS" href="/rss/tin-moi-nhat.rss">`)
	}
	b.WriteString(`</head><body>`)
	s.menu(&b, served)
	b.WriteString(`<section class="list-news ">`)
	for i, a := range articles {
		path := strings.TrimPrefix(a.URL, s.URL(""))
		fmt.Fprintf(&b,
			`<article class="item-news v%d"><h3 class="title-news"><a href="%s?utm_source=home&amp;vn_zone=%d" title="%s">%s</a></h3>`+
				`<a class="thumb" href="%s%s"><img src="/i/%d.jpg" alt=""></a><p class="description">%s</p><span class="time">%s</span></article>`,
			churn, path, i, html.EscapeString(a.Title), html.EscapeString(a.Title), path, s.noiseQuery(a), a.Number,
			html.EscapeString(firstWords(a.Body, 25)), shownDate(a.PublishedAt))
	}
	fmt.Fprintf(&b, `</section><nav class="pagination"><a href="?page=%d">Trang sau</a></nav>`, number+1)
	if s.world.options.Traps {
		month := s.world.options.Now()
		fmt.Fprintf(&b,
			`<div><a href="/lich/%d/%d">Lịch</a> <a href="/phien;jsessionid=%032X">Phiên</a> <a href="/loop/1">Vòng</a>
			<a href="/huge">To</a> <a href="/bomb">Nổ</a> <a href="/drip">Nhỏ giọt</a> <a href="/hang">Treo</a>
			<a href="/private/1">Kín</a> <a href="/private/bai-viet-noi-bo-khong-danh-cho-ai-4899999.html">Bài nội bộ</a> <a href="/tim-kiem?q=a">Tìm</a> <a href="/go/1">Chia sẻ</a> <a href="/kho/1">Kho</a></div>`,
			month.Year(), month.Month(), served)
	}
	s.foot(&b, served)
	s.writeTagged(out, r, fmt.Sprint("hub", served), []byte(b.String()))
}

// noiseQuery returns a query that does not change the page, as some sites add
// to track referrers.
func (s *Site) noiseQuery(a Article) string {
	if s.world.options.NoiseParameter == "" {
		return ""
	}
	return "?" + s.world.options.NoiseParameter + "=" + strconv.Itoa(a.Number%7+1)
}

func (s *Site) head(b *strings.Builder, language, title, canonical string, served, churn int) {
	if desk, ok := s.desk(); ok && language == "" {
		language = desk.language
	}
	language = cmp.Or(language, "vi")
	fmt.Fprintf(b,
		`<!DOCTYPE html><html lang="%s"><head><meta charset="utf-8"><title>%s - %s</title><link rel="canonical" href="%s">`+
			`<link rel="stylesheet" href="/css/main.%d.css"><script>var page=%d;</script>`,
		language, html.EscapeString(title), s.host, canonical, churn, served)
}

func (s *Site) menu(b *strings.Builder, served int) {
	b.WriteString(`<header><nav class="main-nav"><ul><li><a href="/">Trang chủ</a></li>`)
	for _, name := range sectionNames()[:s.world.options.Sections] {
		fmt.Fprintf(b, `<li><a href="/%s">%s</a></li>`, name, name)
	}
	fmt.Fprintf(b,
		`<li><a href="/dang-nhap?next=%%2F">Đăng nhập</a></li></ul></nav></header><div class="ads" id="ad-%d"></div>`,
		served)
}

func (s *Site) foot(b *strings.Builder, served int) {
	fmt.Fprintf(b,
		`<footer><a href="https://www.facebook.com/sharer.php?u=x">Chia sẻ</a><a href="/lien-he">Liên hệ</a>`+
			`<span>%d người đang đọc</span></footer></body></html>`, served%97)
}

func (s *Site) articlePage(a Article, related []Article, served, churn int) []byte {
	var b strings.Builder
	s.head(&b, a.Language, a.Title, a.URL, served, churn)
	title := html.EscapeString(a.Title)
	fmt.Fprintf(&b,
		`<meta property="og:title" content="%s"><meta property="og:type" content="article"><meta property="article:published_time" content="%s">`,
		title, a.PublishedAt.Format(time.RFC3339))
	if a.Section != "" {
		lead, _, _ := strings.Cut(a.Body, "\n\n")
		fmt.Fprintf(&b, `<meta property="article:section" content="%s"><meta property="og:description" content="%s">`,
			html.EscapeString(a.Section), html.EscapeString(lead))
	}
	fmt.Fprintf(&b,
		`<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":%q,"datePublished":%q,`+
			`"author":{"@type":"Person","name":%q},"mainEntityOfPage":%q}</script></head><body>`, a.Title,
		a.PublishedAt.Format(time.RFC3339), a.Author, a.URL)
	s.menu(&b, served)
	fmt.Fprintf(&b,
		`<div class="page-detail"><span class="date">%s</span><h1 class="title-detail">%s</h1><article class="fck_detail ">`,
		shownDate(a.PublishedAt), title)
	if s.world.options.Scripts {
		fmt.Fprintf(&b, `<div id="than"></div><script src="/js/bai.js?%d"></script>`, a.Number)
	} else {
		s.paragraphs(&b, a)
	}
	fmt.Fprintf(&b,
		`<p class="Normal" style="text-align:right;"><strong>%s</strong></p></article></div><aside class="box-%d"><h2>Xem thêm</h2><ul>`,
		html.EscapeString(a.Author), churn)
	for _, other := range related {
		fmt.Fprintf(&b, `<li><a href="%s">%s</a></li>`, strings.TrimPrefix(other.URL, s.URL("")),
			html.EscapeString(other.Title))
	}
	b.WriteString(`</ul></aside>`)
	if missing := s.world.options.PageBytes - b.Len(); missing > 0 {
		const line = "window.dataLayer.push({event:'view',zone:'detail'});\n"
		b.WriteString("<script>" + strings.Repeat(line, missing/len(line)+1) + "</script>")
	}
	s.foot(&b, served)
	return []byte(b.String())
}

func (s *Site) paragraphs(b *strings.Builder, a Article) {
	for paragraph := range strings.SplitSeq(a.Body, "\n\n") {
		fmt.Fprintf(b, `<p class="Normal">%s</p>`, html.EscapeString(paragraph))
	}
}

// script serves the script that fills in an article: /js/bai.js?12.
func (s *Site) script(out http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.URL.RawQuery)
	articles := s.Articles()
	if err != nil || number < 1 || number > len(articles) {
		http.NotFound(out, r)
		return
	}
	var body strings.Builder
	s.paragraphs(&body, articles[number-1])
	s.write(out, r, "text/javascript; charset=utf-8",
		fmt.Appendf(nil, "document.getElementById('than').innerHTML = %q;", body.String()))
}

// shownDate formats a date as Vietnamese sites do.
func shownDate(at time.Time) string {
	at = at.In(time.FixedZone("GMT+7", 7*60*60))
	days := [...]string{"Chủ nhật", "Thứ hai", "Thứ ba", "Thứ tư", "Thứ năm", "Thứ sáu", "Thứ bảy"}
	return days[at.Weekday()] + at.Format(", 2/1/2006, 15:04 (GMT+7)")
}

func firstWords(text string, count int) string {
	all := strings.Fields(text)
	return strings.Join(all[:min(count, len(all))], " ") + "…"
}
