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
	return crawl.ID(u)
}

// lose says that a page is not there any more, as the crawler does. to is where
// it leads; empty: nowhere.
func (d *desk) lose(address, to string) {
	d.t.Helper()
	u, err := weburl.Parse(address, weburl.Rules{})
	d.must(err)
	var moved *uuid.UUID
	if to != "" {
		id := named(d.t, to)
		moved = &id
	}
	d.at = d.at.Add(time.Minute)
	_, err = d.db.Exec(d.t.Context(), `insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, first, gone, moved_to) values ($1, $2, $3, $4, '', $3, false, true, $5)`,
		d.domain(u.Domain()).ID, crawl.ID(u), d.at, address, moved)
	d.must(err)
}

// gone lists articles whose pages are not there any more.
func (d *desk) gone() []pipeline.ArticleSummary {
	d.t.Helper()
	far := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	list, err := d.Articles(d.t.Context(), pipeline.ArticleQuery{Workspace: d.workspace.ID, Removed: true, To: far, Before: far, Limit: 500})
	d.must(err)
	return list
}

// searched says whether the search has an article.
func (d *desk) searched(id uuid.UUID) bool {
	d.t.Helper()
	docs, err := d.SearchDocuments(d.t.Context(), []uuid.UUID{id})
	d.must(err)
	after, err := d.SearchDocumentsAfter(d.t.Context(), uuid.Nil, 100)
	d.must(err)
	in := false
	for _, doc := range after {
		in = in || doc.ID == id
	}
	require.Equal(d.t, in, len(docs) == 1, "an index that is built anew has the same")
	return in
}

// An article whose page is withdrawn keeps its text and its versions, says since
// when it is gone, and is not found by the search. When the page is back, so is
// the article.
func TestRun_RemovedPageMarksItsArticle(t *testing.T) {
	d, p := newDesk(t, "paper.example"), newPaper("paper.example", 50)
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
	list := d.gone()
	require.Len(t, list, 1)
	require.Equal(t, id, list[0].ID)
	require.True(t, d.at.Equal(*list[0].RemovedAt))
	a, err := d.Article(t.Context(), d.workspace.ID, id)
	require.NoError(t, err)
	require.NotEmpty(t, a.Text)
	require.Equal(t, 1, d.count("select count(*) from article_revisions where article_id = $1", id))
	require.Equal(t, 1, d.count("select count(*) from article_changes where article_id = $1", id), "the search is told")
	require.False(t, d.searched(id))
	since := *a.RemovedAt
	d.lose(s.url, "")
	require.Equal(t, pipeline.Stats{Pages: 1}, d.read())
	require.True(t, since.Equal(*d.gone()[0].RemovedAt), "it is gone since it was gone first")

	d.hand(s.url, s.html)
	d.read()
	require.Empty(t, d.gone())
	require.True(t, d.searched(id))
	a, err = d.Article(t.Context(), d.workspace.ID, id)
	require.NoError(t, err)
	require.EqualValues(t, 1, a.Version, "it says what it said before")
	require.Equal(t, 2, d.count("select count(*) from article_changes where article_id = $1", id))
}

// What a page said comes before that it is gone, whichever is taken first; and
// what it says later counts for more.
func TestRun_RemovalWaitsForOlderVersions(t *testing.T) {
	d, p := newDesk(t, "paper.example"), newPaper("paper.example", 51)
	s := p.next()
	d.hand(s.url, s.html)
	slow, err := d.TakeCrawled(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	d.lose(s.url, "")
	pace := d.drainer.Timing
	d.drainer.Timing.MaxDuration = time.Second // what is given back is taken again, as long as the drain goes on
	require.NotZero(t, d.read().Deferred)
	d.drainer.Timing = pace
	require.Zero(t, d.count("select count(*) from articles"))
	d.must(d.ReleaseCrawled(t.Context(), slow[0], 0))
	d.read()
	require.Len(t, d.gone(), 1)

	s = p.next()
	d.hand(s.url, s.html)
	d.read()
	d.lose(s.url, "")
	lost, err := d.TakeCrawled(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	d.hand(s.url, s.html)
	d.read()
	d.must(d.ReleaseCrawled(t.Context(), lost[0], 0))
	d.read()
	require.Len(t, d.gone(), 1, "the page was there after it was not")
	require.Zero(t, d.count("select count(*) from crawled_pages"))
}

// An article whose page leads to another that tells the same story moves there,
// with its versions. Where another story is told, it is gone.
func TestRun_PermanentRedirectMovesTheArticle(t *testing.T) {
	d, p := newDesk(t, "paper.example"), newPaper("paper.example", 52)
	s, other := p.next(), p.next()
	d.hand(s.url, s.html)
	d.hand(other.url, other.html)
	d.read()
	was := d.articles("")
	to, elsewhere := "https://paper.example/new/story.html", "https://paper.example/new/other.html"
	d.lose(s.url, to)
	d.lose(other.url, elsewhere)
	d.read()
	require.Len(t, d.gone(), 2)
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
	require.Len(t, d.gone(), 1)
	require.Equal(t, other.url, d.gone()[0].URL)
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
