package discover

import (
	"fmt"
	"strings"
	"testing"
)

// Neighbors of one shape decide what is an article, on pages and in sitemaps.
func TestNeighbors_DecideAboutShortSlugs(t *testing.T) {
	long := func(format string) (paths []string) {
		for _, slug := range []string{
			"tram-bom-tu-dong-o-ba-tri", "the-night-ferry-to-halden-sound",
			"lop-hoc-ve-dem-cua-nguoi-tho", "a-library-that-lends-out-its-tools", "cho-noi-vang-dan-tren-song",
			"why-the-old-mill-turns-again",
		} {
			paths = append(paths, fmt.Sprintf(format, slug))
		}
		return paths
	}
	for name, c := range map[string]struct {
		neighbors      []string
		want, wantLeft []string // articles, and what stays as it is
	}{
		"a directory": {
			long("/posts/%s/"),
			[]string{"/posts/moss-that-counts-rain/", "/posts/night-ferry-returns/", "/posts/lut/"},
			[]string{"/posts/", "/posts/2/", "/posts/page/2/", "/posts/page-2/", "/about/", "/posts/tag/ferry/"},
		},
		"without the slash": {
			long("/blog/%s"), []string{"/blog/night-ferry-returns"}, []string{
				"/blog", "/blog/categories/boats", "/news/night-ferry-returns",
			},
		},
		"with an extension": {
			long("/%s.html"), []string{"/night-ferry-returns.html"}, []string{
				"/archives.html", "/the-thao.html", "/index.html",
			},
		},
		"a year and a month": {
			long("/2026/03/%s.html"),
			[]string{"/2026/03/night-ferry.html", "/2026/02/reu-dem-mua.html"},
			[]string{"/2026/03/", "/2026/", "/2026/night-ferry/"},
		},
		"at the root": {
			long("/%s/"), []string{"/night-ferry-returns/"}, []string{
				"/the-thao/", "/kinh-doanh/", "/tag/ba-tri/", "/2026/",
			},
		},
		"a section with pages": {
			append(long("/%s/"), "/khoa-hoc-doi-song/sao-choi-moi-phat-hien/"),
			[]string{"/night-ferry-returns/"},
			[]string{"/khoa-hoc-doi-song/"},
		},
		"too few neighbors":     {long("/posts/%s/")[:4], nil, []string{"/posts/night-ferry-returns/"}},
		"of another host":       {long("https://blog.baomau.example/%s/"), nil, []string{"/night-ferry-returns/"}},
		"numbers of the others": {long("/%s-4800001.html"), nil, []string{"/night-ferry-returns.html"}},
		"outnumbered": {
			long("/%s/"), nil, []string{
				"/khoa-hoc-moi/", "/doi-song-so/", "/giao-duc-tre/", "/phap-luat-do/",
				"/du-lich-xa/", "/xe-va-may/", "/am-thuc-ngon/",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := append(append(append([]string{}, c.neighbors...), c.want...), c.wantLeft...)
			check := func(where string, links []Link) {
				kinds := map[string]Kind{}
				for _, l := range links {
					kinds[strings.TrimPrefix(l.URL.String(), "https://baomau.example")] = l.Kind
				}
				for _, path := range c.want {
					if kinds[path] != Article {
						t.Errorf("%s: %s: got %q, want an article", where, path, kinds[path])
					}
				}
				for _, path := range c.wantLeft {
					if kinds[path] == Article {
						t.Errorf("%s: %s: got an article", where, path)
					}
				}
			}
			var page, map1, lines strings.Builder
			page.WriteString("<body><ul>")
			for i, path := range all {
				if !strings.Contains(path, "://") {
					path = "https://baomau.example" + path
				}
				title := strings.Repeat("Tin ", 7) // the headline of a teaser
				if i >= len(c.neighbors) {
					title = "Tin ngắn"
				}
				fmt.Fprintf(&page, `<li><a href="%s">%s</a>`, path, title)
				fmt.Fprintf(&map1, "<url><loc>%s</loc></url>", path)
				fmt.Fprintln(&lines, path)
			}
			check("page", ParseHub([]byte(page.String()), mustParse(t, "https://baomau.example/"), vietnam()).Links)
			for where, doc := range map[string]string{
				"sitemap":      "<urlset>" + map1.String() + "</urlset>",
				"text sitemap": lines.String(),
			} {
				s, err := ParseSitemap([]byte(doc), mustParse(t, "https://baomau.example/sitemap.xml"), vietnam())
				if err != nil {
					t.Fatal(err)
				}
				// Entries whose URLs show nothing count as articles, as far as the crawler goes.
				check(where, s.Pages)
			}
		})
	}
}

// Links of a menu are sections, whatever their neighbors are; a headline of two words is one.
func TestNeighbors_MenusAndHeadlines(t *testing.T) {
	doc := `<header><nav><a href="/khoa-hoc-vui/">Khoa học vui</a><a href="/doi-song/">Đời sống</a></nav></header>`
	for _, slug := range []string{
		"tram-bom-tu-dong-o-ba-tri", "the-night-ferry-to-halden-sound",
		"lop-hoc-ve-dem-cua-nguoi-tho", "a-library-that-lends-out-its-tools", "cho-noi-vang-dan-tren-song",
	} {
		doc += `<article><header><h2><a href="/` + slug + `/">` + slug + `</a></h2></header></article>`
	}
	doc += `<article><header><h2><a href="/mua-lu/">Mưa lũ</a></h2></header></article><footer><a href="/lien-he-toa-soan/">Liên hệ</a></footer>`
	kinds := map[string]Kind{}
	for _, l := range ParseHub([]byte(doc), mustParse(t, "https://baomau.example/"), vietnam()).Links {
		kinds[l.URL.Path()] = l.Kind
	}
	for path, want := range map[string]Kind{
		"/khoa-hoc-vui/": Section, "/doi-song/": Section, "/mua-lu/": Article,
		"/lien-he-toa-soan/": Section,
	} {
		if kinds[path] != want {
			t.Errorf("%s: got %s, want %s", path, kinds[path], want)
		}
	}
}
