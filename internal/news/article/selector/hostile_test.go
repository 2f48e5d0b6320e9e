package selector_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
)

// both has paths that are matched by hand-written code and others.
func both() selector.Config {
	return selector.Config{Version: 1, Variants: []selector.Variant{
		{
			Name: "by hand", Body: []string{"//div[contains(concat(' ',normalize-space(@class),' '),' longread ')]"},
			Drop: []string{".//div[@id='a']"},
			Fields: map[article.Field][]string{
				article.FieldAuthors: {"//span[@class='who']"}, article.FieldPublished: {"//time/@datetime"},
			},
		},
		{
			Name: "library", Body: []string{
				"//div[starts-with(@class,'l')]",
				"//*[string-length(normalize-space(.)) > 100]",
			}, Drop: []string{"./p[last()]"},
			Fields: map[article.Field][]string{
				article.FieldTitle: {"//h1[1]", "//title/text()"}, article.FieldTags: {"//a/@href"},
			},
		},
	}}
}

// all does everything that is done with pages.
func all(ctx context.Context, s *selector.Selector, p extract.Page) (*article.Article, error) {
	doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
	if err != nil {
		return nil, err
	}
	a, o, err := s.Article(ctx, doc, p)
	if err == nil {
		selector.VerifyBody(doc, a, o)
	}
	s.Trace(doc)
	return a, err
}

// reasons are the reasons to refuse a page.
func reasons(err error) bool {
	for _, known := range []error{
		extract.ErrTooLarge, extract.ErrTooDeep, extract.ErrTooSlow, extract.ErrTooManyNodes,
		extract.ErrEncoding, extract.ErrNotHTML, extract.ErrNoArticle,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Giant and hostile pages result in an article or an error with a reason. Their cost is
// bounded: eight times the limit of parsing, and two gigabytes in total, most of which
// is garbage immediately.
func TestGiantPages(t *testing.T) {
	if testing.Short() {
		t.Skip("parses giant pages; run without -short")
	}
	s := mustCompile(t, both())
	const mb = 1 << 20
	for name, html := range map[string]string{
		"open divisions":     strings.Repeat("<div class=longread>", 8*mb/20),
		"open formatting":    strings.Repeat("<b><i><p>", 7*mb/9),
		"misnested tables":   strings.Repeat("<table><tr><td><table><a>", 4*mb/25),
		"one long text":      "<div class=longread><p>" + strings.Repeat("word ", 7*mb/5),
		"one long attribute": "<p title=\"" + strings.Repeat("x", 7*mb),
		"many attributes":    "<p " + strings.Repeat("a=1 b=2 ", 6*mb/8) + ">text",
		"many paragraphs": "<div class=longread>" + strings.Repeat("<p>A line of text, such as papers print.</p>",
			7*mb/44),
		"many headlines": strings.Repeat("<h1><a href=x>Some headline of the day</a></h1>", 6*mb/47),
		"many classes":   "<div class=\"" + strings.Repeat("longread ", 7*mb/9) + "\"><p>text</p></div>",
		"linked data":    "<script type=application/ld+json>" + strings.Repeat("{\"@graph\":[", mb/11) + "</script>",
		"entities":       "<div class=longread>" + strings.Repeat("&amp;amp;amp;lt;", 7*mb/16),
		"comments":       strings.Repeat("<!--<p>-->", 7*mb/10),
		"dates":          strings.Repeat("<time datetime='7/3/2026 10:00'>1 giờ trước</time>", 6*mb/52),
		"nothing":        strings.Repeat("\x00", 7*mb),
		"too much":       strings.Repeat("a", 9*mb),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 8*extract.DefaultLimits().Timeout)
			defer cancel()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := all(ctx, s, extract.Page{
				HTML: []byte(html), URL: "https://paper.example/a", Now: time.Unix(1772843936, 0),
			})
			runtime.ReadMemStats(&after)
			require.NoError(t, ctx.Err())
			if err != nil {
				require.True(t, reasons(err), "%v", err)
			}
			took := (after.TotalAlloc - before.TotalAlloc) >> 20
			require.Less(t, took, uint64(2048), "MiB")
			t.Logf("%d MiB, %v", took, err)
		})
	}
}

// FuzzPage reads any page with selectors of both kinds.
func FuzzPage(f *testing.F) {
	site := newSite()
	f.Add(site.next().page.HTML, "text/html")
	site.redesign = true
	f.Add(site.next().page.HTML, "text/html; charset=iso-8859-1")
	f.Add([]byte("<table><tr><div class=longread><p>x<time datetime=99/99/9999>"), "")
	f.Add([]byte("\xff\xfe<\x00p\x00>"), "text/html; charset=utf-16")
	s, err := selector.Compile(both())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, html []byte, contentType string) {
		a, err := all(t.Context(), s, extract.Page{
			HTML: html, URL: "https://paper.example/a", ContentType: contentType, Now: time.Unix(1772843936, 0),
		})
		switch {
		case err != nil && !reasons(err):
			t.Errorf("without a reason: %v", err)
		case err == nil && (a.Text == "" || strings.Contains(strings.ToLower(a.HTML), "<script")):
			t.Errorf("%+v", a)
		}
	})
}
