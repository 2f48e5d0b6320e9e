package pipeline_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/news/pipeline"
)

func named(t *testing.T, address string) uuid.UUID {
	t.Helper()
	u, err := weburl.Parse(address, weburl.Rules{})
	require.NoError(t, err)
	return crawl.URLID(u)
}

// lose queues the removal of a page like the crawler. to is the page that it redirects
// to, or empty.
func (d *fixture) lose(address, to string) {
	d.t.Helper()
	u, err := weburl.Parse(address, weburl.Rules{})
	d.must(err)
	var moved *uuid.UUID
	if to != "" {
		id := named(d.t, to)
		moved = &id
	}
	d.at = d.at.Add(time.Minute)
	_, err = d.db.Exec(d.t.Context(),
		`insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, is_first_version, removed, moved_to) values ($1, $2, $3, $4, '', $3, false, true, $5)`,
		d.domain(u.Domain()).ID, crawl.URLID(u), d.at, address, moved)
	d.must(err)
}

// removed lists removed articles.
func (d *fixture) removed() []pipeline.ArticleSummary {
	d.t.Helper()
	far := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	list, err := d.News.Articles.Articles(d.t.Context(), pipeline.ArticleQuery{
		Workspace: d.workspace.ID, Removed: true, To: far, Before: far, Limit: 500,
	})
	d.must(err)
	return list
}

// searched asserts whether the search index contains an article.
func (d *fixture) searched(id uuid.UUID) bool {
	d.t.Helper()
	docs, err := d.News.Searches.SearchDocuments(d.t.Context(), []uuid.UUID{id})
	d.must(err)
	after, err := d.News.Searches.SearchDocumentsAfter(d.t.Context(), uuid.Nil, 100)
	d.must(err)
	in := false
	for _, doc := range after {
		in = in || doc.ID == id
	}
	require.Equal(d.t, in, len(docs) == 1, "a rebuilt index has the same")
	return in
}

// An article whose page is removed keeps its text and versions, has removed_at and
// leaves the search index. When the page is back, so is the article.
func TestRun_RemovedPageMarksItsArticle(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 50)
	s, other := p.next(), p.next()
	d.hand(s.url, s.html)
	d.hand(other.url, other.html)
	d.read()
	id := d.articles("")[0].ID
	require.True(t, d.searched(id))
	_, err := d.db.Exec(t.Context(), "delete from article_changes")
	require.NoError(t, err)

	d.lose(s.url, "")
	require.Equal(t, pipeline.Stats{Pages: 1, Removed: 1}, d.read())
	require.Len(t, d.articles(""), 1)
	require.Equal(t, other.url, d.articles("")[0].URL)
	list := d.removed()
	require.Len(t, list, 1)
	require.Equal(t, id, list[0].ID)
	require.True(t, d.at.Equal(*list[0].RemovedAt))
	a, err := d.News.Articles.Article(t.Context(), d.workspace.ID, id)
	require.NoError(t, err)
	require.NotEmpty(t, a.Text)
	require.Equal(t, 1, d.count("select count(*) from article_revisions where article_id = $1", id))
	require.Equal(t, 1, d.count("select count(*) from article_changes where article_id = $1", id),
		"the search index is updated")
	require.False(t, d.searched(id))
	since := *a.RemovedAt
	d.lose(s.url, "")
	require.Equal(t, pipeline.Stats{Pages: 1}, d.read())
	require.True(t, since.Equal(*d.removed()[0].RemovedAt), "it was removed when it was first removed")

	d.hand(s.url, s.html)
	d.read()
	require.Empty(t, d.removed())
	require.True(t, d.searched(id))
	a, err = d.News.Articles.Article(t.Context(), d.workspace.ID, id)
	require.NoError(t, err)
	require.EqualValues(t, 1, a.Version, "the text is unchanged")
	require.Equal(t, 2, d.count("select count(*) from article_changes where article_id = $1", id))
}

// Older versions of a page are processed before its removal, whatever is leased first,
// and newer versions restore the article.
func TestRun_RemovalWaitsForOlderVersions(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 51)
	s := p.next()
	d.hand(s.url, s.html)
	slow, err := d.News.Domains.LeaseCrawledPages(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	d.lose(s.url, "")
	timing := d.consumer.Timing
	d.consumer.Timing.MaxDuration = time.Second // deferred pages are leased again until MaxDuration
	require.NotZero(t, d.read().Deferred)
	d.consumer.Timing = timing
	require.Zero(t, d.count("select count(*) from articles"))
	d.must(d.News.Articles.ReleaseCrawled(t.Context(), slow[0], 0))
	d.read()
	require.Len(t, d.removed(), 1)

	s = p.next()
	d.hand(s.url, s.html)
	d.read()
	d.lose(s.url, "")
	lost, err := d.News.Domains.LeaseCrawledPages(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	d.hand(s.url, s.html)
	d.read()
	d.must(d.News.Articles.ReleaseCrawled(t.Context(), lost[0], 0))
	d.read()
	require.Len(t, d.removed(), 1, "the page came back after its removal")
	require.Zero(t, d.count("select count(*) from crawled_pages"))
}

// An article whose page redirects to the same story moves there with its versions. If
// the target is another story, the article is removed.
func TestRun_PermanentRedirectMovesTheArticle(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 52)
	s, other := p.next(), p.next()
	d.hand(s.url, s.html)
	d.hand(other.url, other.html)
	d.read()
	was := d.articles("")
	to, elsewhere := "https://paper.example/new/story.html", "https://paper.example/new/other.html"
	d.lose(s.url, to)
	d.lose(other.url, elsewhere)
	d.read()
	require.Len(t, d.removed(), 2)
	d.hand(to, s.html)
	d.hand(elsewhere, p.next().html)
	d.read()
	var moved pipeline.StoredArticle
	for _, a := range d.articles("") {
		if a.URL == to {
			moved = a
		}
	}
	require.Equal(t, was[indexOf(was, s.url)].ID, moved.ID)
	require.Equal(t, to, moved.CanonicalURL)
	require.EqualValues(t, 2, moved.Version)
	require.True(t, d.searched(moved.ID))
	require.Len(t, d.removed(), 1)
	require.Equal(t, other.url, d.removed()[0].URL)
	require.Equal(t, 3, d.count("select count(*) from articles"))
	require.Zero(t, d.count("select count(*) from articles where removed_at is null and moved_to is not null"))
}

func indexOf(all []pipeline.StoredArticle, address string) int {
	for i, a := range all {
		if a.URL == address {
			return i
		}
	}
	return -1
}
