package discover

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/antchfx/htmlquery"
	"golang.org/x/net/html"

	"dateline/internal/news/article/score"
	"dateline/internal/news/crawl/weburl"
)

// TestParseHub_VietnameseSites reads a list page from each of four papers: no linked
// article is missing. The papers' article URL patterns were written manually. The pages
// belong to their publishers, so this runs only if their folder is set.
func TestParseHub_VietnameseSites(t *testing.T) {
	dir := os.Getenv("ARTICLES_DIR")
	if dir == "" {
		t.Skip("ARTICLES_DIR is not set")
	}
	for _, c := range []struct {
		site, at, numbered string
		least              int
	}{
		{"vnexpress", "https://vnexpress.net/kinh-doanh", `-\d{7}\.html$`, 45},
		{"tuoitre", "https://tuoitre.vn/kinh-doanh.htm", `-\d{17}\.htm$`, 13},
		{"dantri", "https://dantri.com.vn/kinh-doanh.htm", `-\d{17}\.htm$`, 40},
		{"baochinhphu", "https://baochinhphu.vn/chinh-sach-va-cuoc-song/chinh-sach-moi.htm", `-\d{18}\.htm$`, 30},
	} {
		t.Run(c.site, func(t *testing.T) {
			doc, err := score.ReadPage(filepath.Join(dir, "vi", c.site+"_list.html.gz"))
			if err != nil {
				t.Fatal(err)
			}
			at := mustParse(t, c.at)
			found := map[string]bool{}
			for _, l := range ParseHub(doc, at, vietnam()).Links {
				if l.Kind == Article {
					found[l.URL.String()] = true
				}
			}
			root, err := html.Parse(bytes.NewReader(doc))
			if err != nil {
				t.Fatal(err)
			}
			article, linked := regexp.MustCompile(c.numbered), map[string]bool{}
			for _, a := range htmlquery.Find(root, "//a/@href") {
				u, err := at.Resolve(strings.TrimSpace(htmlquery.InnerText(a)), weburl.Rules{})
				if err == nil && u.Domain() == at.Domain() && article.MatchString(u.Path()) {
					linked[u.String()] = true
				}
			}
			if len(linked) < c.least {
				t.Fatalf("%d articles are linked, want %d at least", len(linked), c.least)
			}
			for u := range linked {
				if !found[u] {
					t.Errorf("%s is missing", u)
				}
			}
			t.Logf("%d of %d articles; %d in all", len(linked), len(linked), len(found))
		})
	}
}
