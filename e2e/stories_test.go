package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/story/storytest"
	"dateline/internal/testing/e2etest"
)

// TestStories_SurviveKills kills the program while it places articles in stories. Each
// article is in one story in the end, and counts once in it and in the term frequencies.
func TestStories_SurviveKills(t *testing.T) {
	t.Parallel()
	const kills, events = 3, 400
	d := newDateline(t, "DATELINE_LOG_LEVEL=warn")
	d.start()
	d.ready()
	d.call("POST", "/api/v1/seeds", map[string]any{"url": "https://news.example/"}, nil)

	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	articles, interrupted := 0, 0
	for round := range kills {
		before := d.number("select count(*) from story_articles")
		articles += d.publishStories(uint64(round), events)
		e2etest.Eventually(t, 5*time.Minute, "the placing to start", func() bool {
			return d.number("select count(*) from story_articles") > before
		})
		time.Sleep(time.Duration(rng.Int64N(int64(200 * time.Millisecond))))
		d.kill()
		d.start()
		d.ready()
		if d.number("select count(*) from story_queue") > 0 {
			interrupted++
		}
	}
	e2etest.Eventually(t, 5*time.Minute, "all articles to be placed", func() bool {
		return d.number("select count(*) from story_queue") == 0
	})
	t.Logf("%d articles, %d of %d kills left some in the queue", articles, interrupted, kills)
	for what, sql := range map[string]string{
		"articles in a story": "select count(distinct article_id) from story_articles",
		"placements":          "select count(*) from story_articles",
		"placements in existing stories": "select count(*) from story_articles m join stories s on s.id " +
			"= m.story_id where s.merged_into is null",
		"articles that stories count": "select coalesce(sum(articles), 0) from stories where " +
			"merged_into is null",
		"documents that stories count": "select coalesce(sum(documents), 0) from stories where " +
			"merged_into is null",
		"documents of the term frequencies": "select coalesce(sum(documents), 0) from term_counts " +
			"where term = 0",
		"vectors of placed documents": "select count(*) from story_articles m join story_vectors v " +
			"using (article_id) where m.is_document",
		"articles in stories that their terms find": "select count(*) from story_articles m where exists (select 1 " +
			"from story_terms t where t.story_id = m.story_id)",
		"articles that are their story's own version": "select count(*) from story_articles m join articles a on " +
			"a.id = m.article_id and a.version = m.article_version",
	} {
		if got := d.number(sql); got != articles {
			t.Errorf("%s: got %d, want %d", what, got, articles)
		}
	}
}

// publishStories stores generated articles and queues them, and returns their number. A
// review, which is due half an hour after the third article of a story, does not change
// what the test counts.
func (d *dateline) publishStories(seed uint64, events int) int {
	d.t.Helper()
	all := storytest.Generate(storytest.Options{
		Language: "en", Seed: seed, Events: events, Start: time.Now().Add(-24 * time.Hour), Duration: 23 * time.Hour,
	})
	for i := range all {
		all[i].ID = uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%d %s", seed, all[i].ID)).String()
	}
	raw, err := json.Marshal(all)
	if err != nil {
		d.t.Fatal(err)
	}
	sql := strings.ReplaceAll(`with a as (
		insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, body_text, body_html, language, content_hash, group_id, object_key, fetched_at)
		select j.id, c.id, j.id, j.id, j.id::text, j.id::text, j.title, j.published_at, j.published_at, j.body, '', 'en', '', j.id, '', now()
		from jsonb_to_recordset($json$DATA$json$::jsonb) as j(id uuid, title text, body text, published_at timestamptz), crawl_domains c where c.domain = 'news.example' returning id)
	, q as (insert into story_queue (language, article_id) select 'en', id from a returning 1) select count(*) from q`,
		"DATA", string(raw))
	if got := d.number(sql); got != len(all) {
		d.t.Fatalf("got %d stored articles, want %d", got, len(all))
	}
	return len(all)
}
