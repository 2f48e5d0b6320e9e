package discover

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dateline/internal/news/article/dates"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/crawl/weburl"
)

func mustParse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw, weburl.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func vietnam() Options {
	return Options{Now: time.Date(2026, 3, 7, 11, 0, 0, 0, dates.VietnamTime()), Zone: dates.VietnamTime()}
}

// show formats links as lines: kind, URL, title, date.
func show(links []Link, only Kind) string {
	var b strings.Builder
	for _, l := range links {
		if only != "" && l.Kind != only {
			continue
		}
		date := "-"
		if !l.Published.IsZero() {
			date = l.Published.In(dates.VietnamTime()).Format("02/01 15:04")
		}
		fmt.Fprintf(&b, "%s %s | %s | %s\n", l.Kind, strings.TrimPrefix(l.URL.String(), "https://baomau.example"),
			l.Title, date)
	}
	return b.String()
}

func TestParseHub_Links(t *testing.T) {
	doc, err := os.ReadFile("testdata/front.html")
	if err != nil {
		t.Fatal(err)
	}
	h := ParseHub(doc, mustParse(t, "https://baomau.example/kinh-doanh?utm_source=x"), vietnam())
	want := `article /gia-vang-tang-manh-phien-dau-tuan-4800001.html | Giá vàng tăng mạnh phiên đầu tuần | 07/03 10:00
article /gia-xang-dau-giam-lan-thu-ba-4800002.html | Giá xăng dầu giảm lần thứ ba | 07/03 09:00
article https://thethao.baomau.example/doi-tuyen-thang-dam-tran-chung-ket-4800003.html | Đội tuyển thắng đậm trận chung kết | -
article /kinh-doanh/ngan-hang-ha-lai-suat-20260306101500123.htm | Ngân hàng hạ lãi suất | 06/03 10:15
article /2026/03/05/le-hoi-mua-xuan/ | Lễ hội mùa xuân | 05/03 00:00
article /video/clip-cau-vuot-thong-xe-4800006.html | Clip: cầu vượt thông xe | -
`
	if got := show(h.Links, Article); got != want {
		t.Errorf("articles:\n%s", got)
	}
	want = `feed /rss/kinh-doanh.rss | Kinh doanh | -
`
	if got := show(h.Links, Feed); got != want {
		t.Errorf("feeds:\n%s", got)
	}
	if got := show(h.Links, Sitemap); got != "sitemap /sitemap.xml | Sơ đồ | -\n" {
		t.Errorf("sitemaps:\n%s", got)
	}
	var sections []string
	for _, l := range h.Links {
		if l.Kind == Section {
			sections = append(sections, l.URL.Path())
		}
	}
	if got := strings.Join(sections, " "); got != "/ /thoi-su /khoa-hoc/khoa-hoc-doi-song-moi-truong "+
		"/chinh-sach-va-cuoc-song-hom-nay.htm /chu-de/bau-cu-quoc-hoi-khoa-xvi-2026-276 /tac-gia/nguyen-van-a-10001 "+
		"/kinh-doanh-p2" {
		t.Errorf("sections: %s", got)
	}
	for _, l := range h.Links {
		if l.URL.Domain() != "baomau.example" {
			t.Errorf("%s belongs to another site", l.URL)
		}
	}
	if h.Canonical.String() != "https://baomau.example/kinh-doanh" || h.NoFollow || h.NoIndex {
		t.Errorf("%+v", h)
	}
}

// Sites without numbers in their URLs: a headline is longer than a section.
func TestParseHub_URLsWithoutNumbers(t *testing.T) {
	doc := `<a href="/chinh-tri-xa-hoi-doi-song-van-hoa/">Chính trị xã hội</a>
		<h2><a href="/mua-lon-o-mien-trung-keo-dai/">Mưa lớn ở miền Trung</a></h2>
		<div><a href="/bien-dong-gia-nha-o-ha-noi-nam-nay/">Biến động giá nhà ở Hà Nội năm nay</a></div>
		<a href="/lien-he-voi-toa-soan-bao-mau/">Liên hệ</a>`
	h := ParseHub([]byte(doc), mustParse(t, "https://baomau.example/"), vietnam())
	want := `article /mua-lon-o-mien-trung-keo-dai/ | Mưa lớn ở miền Trung | -
article /bien-dong-gia-nha-o-ha-noi-nam-nay/ | Biến động giá nhà ở Hà Nội năm nay | -
`
	if got := show(h.Links, Article); got != want {
		t.Errorf("articles:\n%s", got)
	}
}

// One new card is a change; a new template, other advertisements and another order are
// none.
func TestParseHub_DetectsNewArticles(t *testing.T) {
	at := mustParse(t, "https://baomau.example/")
	page := func(template string, numbers ...int) change.Digest {
		doc := "<div class='" + template + "'>" + template
		for _, n := range numbers {
			doc += fmt.Sprintf(
				`<article class=%s><h3><a href="/tin-so-%d-cua-ngay-hom-nay-48000%02d.html?vn_zone=%s">Tin số %d của ngày hôm nay</a></h3></article>`, template, n, n, template, n)
		}
		var articles []weburl.URL
		for _, link := range ParseHub([]byte(doc), at, vietnam()).Links {
			if link.Kind == Article {
				articles = append(articles, link.URL)
			}
		}
		return change.HubDigest(articles)
	}
	before := page("a", 1, 2, 3, 4, 5, 6, 7, 8)
	if after := page("b", 3, 1, 2, 4, 8, 7, 6, 5); after != before {
		t.Error("a new template counts as a change")
	}
	if page("a", 9, 1, 2, 3, 4, 5, 6, 7) == before {
		t.Error("a new card does not count as a change")
	}
}

func TestParseHub_RobotsMeta(t *testing.T) {
	for content, want := range map[string][2]bool{
		"noindex, NOFOLLOW": {true, true}, "none": {true, true},
		"noarchive": {false, false}, "nofollow": {true, false},
	} {
		h := ParseHub([]byte(`<meta name="ROBOTS" content="`+content+`">`), mustParse(t, "https://baomau.example/"),
			Options{})
		if h.NoFollow != want[0] || h.NoIndex != want[1] {
			t.Errorf("%s: %+v", content, h)
		}
	}
}

func TestParseHub_LinkLimit(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `<a href="/tin-so-cua-ngay-hom-nay-%d.html">%s</a>`, 4800000+i, strings.Repeat("dài ", 1000))
	}
	h := ParseHub([]byte(b.String()), mustParse(t, "https://baomau.example/"), Options{})
	if len(h.Links) != maxHubLinks || len([]rune(h.Links[0].Title)) > maxTitle+1 {
		t.Errorf("%d links, a title of %d", len(h.Links), len(h.Links[0].Title))
	}
}

func TestClassify_Kinds(t *testing.T) {
	for path, want := range map[string]Kind{
		"/": Section, "/thoi-su": Section, "/thoi-su/": Section, "/thoi-su/giao-thong": Section, "/thoi-su-p2": Section,
		"/kinh-doanh/trang-3.htm":               Section,
		"/tag/gia-vang-hom-nay-tang-manh-12345": Section, "/tin-moi-nhat.htm": Section, "/?p=12": Other,
		"/gia-vang-4800001.html": Article, "/gia-vang-tang-manh-4800001": Article, "/2026/03/07/gia-vang": Other,
		"/2026/03/07/gia-vang-tang":          Article,
		"/gia-vang-tang-manh-phien-dau-tuan": Article, "/kinh-te/gia-vang-102260304091448508.htm": Article,
		"/post1234567.html":      Article,
		"/t%C3%ACm-ki%E1%BA%BFm": Section, "/tim-kiem?q=gia-vang": Other, "/dang-nhap": Other, "/login.php": Other,
		"/wp-login.php":                   Other,
		"/gia-vang-tang-manh-4800001.jpg": Other, "/bao-cao-tai-chinh-nam-2026.pdf": Other,
		"/rss/home.rss": Feed, "/feed/": Feed, "/atom.xml": Feed, "/sitemap.xml": Sitemap,
		"/sitemap-2026-03.xml.gz": Sitemap, "/news.xml.gz": Sitemap,
	} {
		if got, score := Classify(mustParse(t, "https://baomau.example"+path)); got != want {
			t.Errorf("%s: %s (%d)", path, got, score)
		}
	}
}

func TestDateInURL_Formats(t *testing.T) {
	for path, want := range map[string]string{
		"/2026/03/07/gia-vang": "2026-03-07 00:00", "/20260307/gia-vang": "2026-03-07 00:00",
		"/2026-03-07-gia-vang":            "2026-03-07 00:00",
		"/gia-vang-20260307075519174.htm": "2026-03-07 07:55", "/gia-vang-102260304091448508.htm": "2026-03-04 09:14",
		"/gia-vang-20260307.html": "2026-03-07 00:00",
		"/gia-vang-4800001.html":  "", "/gia-vang-20261399.html": "", "/2026/": "", "/": "",
	} {
		got := ""
		if at := DateInURL(mustParse(t, "https://baomau.example"+path), dates.VietnamTime()); !at.IsZero() {
			got = at.Format("2006-01-02 15:04")
		}
		if got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func FuzzParseHub(f *testing.F) {
	doc, err := os.ReadFile("testdata/front.html")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(doc))
	f.Add(
		`<base href="http://x y/"><a href="/a-b-c-d-e-f.html"><a href=?><time datetime=2026-03-07><link rel=canonical href=//>`)
	at := mustParse(f, "https://baomau.example/")
	f.Fuzz(func(t *testing.T, doc string) {
		seen := map[weburl.URL]bool{}
		for _, link := range ParseHub([]byte(doc), at, vietnam()).Links {
			if link.URL.IsZero() || seen[link.URL] || link.Kind == "" {
				t.Errorf("%+v", link)
			}
			seen[link.URL] = true
			if again, err := weburl.Parse(link.URL.String(), weburl.Rules{}); err != nil || again != link.URL {
				t.Errorf("%s is not canonical: %s %v", link.URL, again, err)
			}
		}
	})
}
