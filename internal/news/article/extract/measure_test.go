package extract_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/antchfx/htmlquery"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"dateline/internal/news/article/eval"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// articlesDir is the folder with the sets of real pages. They belong to their
// publishers and are not part of the project, so these tests run only if the folder is
// set.
func articlesDir(t *testing.T, set string) string {
	t.Helper()
	dir := os.Getenv("ARTICLES_DIR")
	if dir == "" {
		t.Skip("ARTICLES_DIR is not set")
	}
	return filepath.Join(dir, set)
}

// TestEnglishSet measures the bodies of the article extraction benchmark by
// Scrapinghub, compared with go-trafilatura. Both halves are reported: the rules were
// tuned on the first.
func TestEnglishSet(t *testing.T) {
	pages, err := score.LoadDataset(articlesDir(t, "en"))
	require.NoError(t, err)
	baseline, err := eval.StartBaseline(context.WithoutCancel(t.Context())) // it ends in Close
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, baseline.Close()) })
	var own, base [3]score.Total
	for i, p := range pages {
		text := ""
		if a, err := extract.Extract(t.Context(), extract.Page{HTML: p.HTML, URL: p.URL}); err == nil {
			text = a.Text
		}
		found, _, err := baseline.Extract([]score.Page{p})
		require.NoError(t, err)
		theirs := found[0].Text
		require.False(t, text == "" && theirs != "", "no pages in %s", p.URL)
		for _, k := range []int{0, 1 + i%2} {
			own[k].Add(score.CompareBody(p.Body, text))
			base[k].Add(score.CompareBody(p.Body, theirs))
		}
	}
	for k, name := range []string{"all", "first half", "second half"} {
		t.Logf("%-12s %d pages: F1 %.4f (precision %.4f, recall %.4f), go-trafilatura %.4f", name, own[k].Pages,
			own[k].F1(), own[k].Precision(), own[k].Recall(), base[k].F1())
	}
	require.Greater(t, own[0].F1(), 0.965)
	require.Greater(t, own[0].F1(), base[0].F1())
}

// TestVietnameseSet reads an article from each of four papers. The expected results
// were determined by reading the pages: names are stored as hashes, and the text is
// selected by manually written paths for each page.
func TestVietnameseSet(t *testing.T) {
	dir := articlesDir(t, "vi")
	for _, c := range []struct {
		site, title, authors, minute string
		body, not                    string // paths to the paragraphs, and to those that are not text
	}{
		{
			"vnexpress", "367aa29130ea", "81915d380e63", "2026-03-06T17:05",
			`//article[contains(@class,'fck_detail')]/p[contains(@class,'Normal')]`, `[contains(@style,'right')]`,
		},
		{
			"tuoitre", "9a49ab40a932", "dcc7a13819fe", "2026-03-07T01:01",
			`//div[contains(@class,'detail-content')]/*[self::p or self::h2]|//div[contains(@id,'ObjectBoxContent')]//*[self::h3 or self::p][not(ancestor::figure)]`, "",
		},
		{"dantri", "6ed29a65c061", "719524ba430d", "2026-03-07T01:07", `//div[@id='desktop-in-article']/p`, ""},
		{
			"baochinhphu", "ca70d3bf5f4a", "", "2026-03-01T02:51",
			`//div[contains(@class,'detail-content')]/*[self::p or self::h2 or self::h3]`, "",
		},
	} {
		t.Run(c.site, func(t *testing.T) {
			raw, err := score.ReadPage(filepath.Join(dir, c.site+"_article.html.gz"))
			require.NoError(t, err)
			a, err := extract.Extract(t.Context(), extract.Page{HTML: raw})
			require.NoError(t, err)
			require.Equal(t, c.title, hash(a.Title))
			require.Equal(t, c.authors, hash(a.Authors...))
			require.Equal(t, c.minute, a.Published.UTC().Format("2006-01-02T15:04"))
			require.Equal(t, "vi", a.Language)
			root, err := html.Parse(bytes.NewReader(raw))
			require.NoError(t, err)
			var want []string
			for _, n := range htmlquery.Find(root, c.body) {
				if c.not != "" && htmlquery.FindOne(n, "."+c.not) != nil {
					continue
				}
				if s := strings.Join(strings.Fields(htmlquery.InnerText(n)), " "); s != "" {
					want = append(want, s)
				}
			}
			require.Greater(t, len(want), 10)
			require.Equal(t, want, strings.Split(a.Text, "\n\n"))
			requireSafe(t, a.HTML)
		})
	}
}

func hash(s ...string) string {
	if len(s) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(s, "\n")))
	return hex.EncodeToString(sum[:6])
}
