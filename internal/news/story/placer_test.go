package story_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/story"
	"dateline/internal/news/story/storytest"
)

func TestPlacer_GroupsArticlesOfOneEvent(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example", "three.example")
	first := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	d.publish(draft{Domain: "one.example", Title: "Parliament approves budget", Body: vote})
	second := d.publish(draft{Domain: "two.example", Title: "Harrowgate timber yard burns down", Body: fire2})
	copied := d.publish(draft{
		Domain: "three.example", Title: "Harrowgate timber yard burns down", Body: fire2,
		Group: second,
	})
	d.place()
	if d.storyOf(first) != d.storyOf(second) || d.storyOf(copied) != d.storyOf(first) {
		t.Fatalf("got stories %s, %s and %s, want one", d.storyOf(first), d.storyOf(second), d.storyOf(copied))
	}
	all := d.list(story.Filter{Order: story.Latest})
	if len(all) != 1 || all[0].Articles != 3 || all[0].Owners != 2 || all[0].Copies != 1 {
		t.Fatalf("got %+v, want one story with 3 articles, 2 owners and 1 copy", all)
	}
	page, err := d.editor.Get(t.Context(), d.Owner, all[0].ID)
	d.Must(err)
	if len(page.Entries) != 3 || page.Entries[0].ArticleID != first || !page.Entries[2].IsCopy ||
		len(page.Entries[1].Added) == 0 || !strings.Contains(page.Entries[1].Added[0], "nine million") {
		t.Errorf("got %+v, want the timeline with what the second article added", page.Entries)
	}
	if n := d.Count("select documents from stories where id = $1", all[0].ID); n != 2 {
		t.Errorf("got %d documents, want 2: a copy does not count twice", n)
	}

	// A workspace sees only the articles of its sources.
	_, other, _ := d.Found("Another newsroom")
	seen, err := d.editor.List(t.Context(), other, story.Filter{Order: story.Latest})
	d.Must(err)
	if len(seen) != 0 {
		t.Errorf("got %+v for a workspace without sources, want none", seen)
	}
	if _, err := d.editor.Get(t.Context(), other, all[0].ID); err == nil {
		t.Error("got a story of which the workspace sees no article")
	}
}

// The timeline shows the newest entries of a live blog, unless its publisher forbids showing
// text.
func TestEditor_ShowsTheNewestEntriesOfALiveBlog(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example")
	live := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate: live", Body: fire})
	d.publish(draft{Domain: "two.example", Title: "Harrowgate timber yard burns down", Body: fire2})
	d.Exec(`update articles set live_entries = (select jsonb_agg(jsonb_build_object('key', n::text, 'title', 'Entry ' || n,
		'text', 'Text', 'html', '<p>Text</p>')) from generate_series(1, 7) n) where id = $1`, live)
	d.place()
	entries := func() []string {
		page, err := d.editor.Get(t.Context(), d.Owner, d.storyOf(live))
		d.Must(err)
		titles := []string{}
		for _, e := range page.Entries {
			for _, one := range e.Live {
				titles = append(titles, one.Title)
			}
		}
		return titles
	}
	if got := entries(); !slices.Equal(got, []string{"Entry 1", "Entry 2", "Entry 3", "Entry 4", "Entry 5"}) {
		t.Errorf("got %q, want the newest five", got)
	}
	d.Exec("update articles set nosnippet = true where id = $1", live)
	if got := entries(); len(got) != 0 {
		t.Errorf("got %q although the publisher forbids showing text", got)
	}
}

func TestPlacer_CountsDomainsOfOneOwnerOnce(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example")
	d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	d.publish(draft{Domain: "two.example", Title: "Harrowgate timber yard burns down", Body: fire2})
	d.place()
	_, err := d.editor.SetPreferences(t.Context(), d.Owner, story.Preferences{
		MinOwners: 5, MaxAgeHours: 12, Owners: map[string]string{
			"one.example": "Media House", "two.example": "Media House",
		},
	})
	d.Must(err)
	if all := d.list(story.Filter{Order: story.Latest}); len(all) != 1 || all[0].Owners != 1 {
		t.Errorf("got %+v, want one owner", all)
	}
}

func TestPlacer_StartsAStoryAfterTheWindowAndLinksIt(t *testing.T) {
	d := newRig(t)
	d.sources("one.example")
	old := d.publish(draft{
		Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire,
		At: time.Now().Add(-10 * 24 * time.Hour),
	})
	later := d.publish(draft{
		Domain: "one.example", Title: "Harrowgate timber yard burns down", Body: fire2, At: time.Now().Add(-time.Hour),
	})
	future := d.publish(draft{
		Domain: "one.example", Title: "Investigation into the Harrowgate timber yard",
		Body: fire3, At: time.Now().Add(30 * 24 * time.Hour),
	})
	d.place()
	if d.storyOf(old) == d.storyOf(later) {
		t.Error("an article joined a story that had ended 10 days before")
	}
	if d.storyOf(future) != d.storyOf(later) {
		t.Error("an article dated in the future did not join the story of today")
	}
	if n := d.Count("select count(*) from stories where id = $1 and follows_id = $2", d.storyOf(later),
		d.storyOf(old)); n != 1 {
		t.Error("the later story is not linked to the earlier one")
	}
}

func TestPlacer_PlacesAnArticleAgainThatBecameAnother(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example")
	first := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	second := d.publish(draft{Domain: "two.example", Title: "Harrowgate timber yard burns down", Body: fire2})
	d.place()
	was := d.storyOf(second)
	d.Exec("update articles set body_text = body_text || ' More details follow.', version = version + 1 where id = $1",
		second)
	d.queue(second)
	d.place()
	if got := d.storyOf(second); got != was {
		t.Errorf("a small correction moved the article from %s to %s", was, got)
	}
	d.Exec("update articles set title = 'Budget', body_text = $2, version = version + 1 where id = $1", second, vote)
	d.queue(second)
	d.place()
	if d.storyOf(second) == was || d.storyOf(first) != was {
		t.Error("an article with another text stayed in its story")
	}
	if n := d.Count("select documents from stories where id = $1", was); n != 1 {
		t.Errorf("got %d documents in the old story, want 1", n)
	}
	d.Exec("delete from articles where id = $1", first)
	d.queue(first)
	d.place()
	if n := d.Count("select count(*) from story_articles where article_id = $1", first); n != 0 {
		t.Error("a deleted article is still in a story")
	}
}

// crashing fails at a call of its transactions, like a process that is killed: nothing of
// the transaction is stored.
type crashing struct {
	story.Store
	calls, at int
}

var errCrash = errors.New("killed")

func (c *crashing) InStories(ctx context.Context, language string, f func(story.Tx) error) error {
	return c.Store.InStories(ctx, language, func(tx story.Tx) error { return f(crashingTx{tx, c}) })
}

func (c *crashing) step() error {
	c.calls++
	if c.calls == c.at {
		return errCrash
	}
	return nil
}

type crashingTx struct {
	story.Tx
	c *crashing
}

func (t crashingTx) Articles(ctx context.Context, ids []uuid.UUID) ([]story.Article, error) {
	if err := t.c.step(); err != nil {
		return nil, err
	}
	return t.Tx.Articles(ctx, ids)
}

func (t crashingTx) Frequencies(ctx context.Context, terms []story.Term) (*story.Frequencies, error) {
	if err := t.c.step(); err != nil {
		return nil, err
	}
	return t.Tx.Frequencies(ctx, terms)
}

func (t crashingTx) SaveBatch(ctx context.Context, b story.Batch) error {
	if err := t.c.step(); err != nil {
		return err
	}
	if err := t.Tx.SaveBatch(ctx, b); err != nil {
		return err
	}
	return t.c.step() // after everything was written, before the commit
}

// partition names the articles that share a story.
func (d *rig) partition() []string {
	d.T.Helper()
	rows, err := d.Store.Pool().Query(d.T.Context(),
		`select string_agg(a.url, ' ' order by a.url) || ' ' || s.documents from story_articles m join articles a on a.id = m.article_id
		join stories s on s.id = m.story_id group by m.story_id, s.documents`)
	d.Must(err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var one string
		d.Must(rows.Scan(&one))
		out = append(out, one)
	}
	d.Must(rows.Err())
	slices.Sort(out)
	return out
}

// publishAll stores generated news under ids that are the same in every newsroom.
func (d *rig) publishAll(events int) int {
	d.T.Helper()
	d.sources("one.example")
	all := storytest.Generate(storytest.Options{
		Language: "en", Seed: 7, Events: events, Start: time.Now().Add(-40 * time.Hour), Duration: 30 * time.Hour,
	})
	for i, a := range all {
		all[i].ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(a.ID)).String()
	}
	raw, err := json.Marshal(all)
	d.Must(err)
	d.Exec(
		`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, body_text, body_html, language, content_hash, group_id, object_key, fetched_at)
		select j.id, c.id, j.id, j.id, j.id::text, j.id::text, j.title, j.published_at, j.published_at, j.body, '', 'en', '', j.id, '', now()
		from jsonb_to_recordset($1::jsonb) as j(id uuid, title text, body text, published_at timestamptz), crawl_domains c where c.domain = 'one.example'`, string(raw))
	d.Exec("insert into story_queue (language, article_id) select 'en', a.id from articles a order by a.ctid")
	return len(all)
}

func TestPlacer_GivesTheSameResultAfterEveryCrash(t *testing.T) {
	d := newRig(t)
	n := d.publishAll(60)
	d.place()
	want := d.partition()
	if len(want) < 2 || n <= 100 {
		t.Fatalf("got %d stories of %d articles, want several and more than one batch", len(want), n)
	}
	for _, at := range []int{1, 2, 4, 5, 8} {
		d.Exec("truncate story_queue, story_articles, story_vectors, story_terms, term_counts, story_events, " +
			"story_alerts, stories")
		d.Exec("insert into story_queue (language, article_id) select 'en', a.id from articles a order by a.ctid")
		c := &crashing{Store: d.Store.News.Stories, at: at}
		placer := &story.Placer{Store: c}
		if _, err := placer.Place(t.Context(), func(int) {}); !errors.Is(err, errCrash) {
			t.Fatalf("crash at call %d: got %v", at, err)
		}
		if _, err := placer.Place(t.Context(), func(int) {}); err != nil {
			t.Fatal(err)
		}
		if got := d.partition(); !slices.Equal(got, want) {
			t.Errorf("after a crash at call %d: got %d stories %v, want %d", at, len(got), got, len(want))
		}
	}
}

func TestPlacer_PlacesOneAtATime(t *testing.T) {
	d := newRig(t)
	d.publishAll(60)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := (&story.Placer{Store: d.Store.News.Stories}).Place(t.Context(), func(int) {}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := d.partition()
	d.Exec("truncate story_queue, story_articles, story_vectors, story_terms, term_counts, story_events, " +
		"story_alerts, stories")
	d.Exec("insert into story_queue (language, article_id) select 'en', a.id from articles a order by a.ctid")
	d.place()
	if want := d.partition(); !slices.Equal(got, want) {
		t.Errorf("got %d stories of three placers, want the %d of one", len(got), len(want))
	}
}
