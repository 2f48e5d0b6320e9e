package api_test

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/news/story"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

type storyDrafts struct{ scheduler *scheduling.Scheduler }

func (d storyDrafts) CreateStoryDraft(
	ctx context.Context, who workspace.Principal, id uuid.UUID, text, _ string,
) error {
	_, err := d.scheduler.CreateAutomatic(ctx, scheduling.Automatic{
		ID: id, Who: who, Draft: scheduling.Draft{Content: text, SaveAsDraft: true},
	})
	return err
}

func stories(n *newsroomtest.Newsroom) *story.Editor {
	return &story.Editor{Store: n.Store.News.Stories, Drafts: storyDrafts{n.Scheduler}}
}

// story returns a story with one article, which has the same id.
func (x *things) story() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		id, domain := someID(), x.seed().Domain
		x.s.Exec("insert into stories (id, language, documents, articles, first_at, last_at) values ($1, 'en', 1, 1, "+
			"now(), now())", id)
		x.addArticle(id, id, domain)
		return id
	})
}

func (x *things) addArticle(story, id uuid.UUID, domain string) {
	x.s.Exec(
		`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, first_seen_at, body_text, body_html, language, content_hash, group_id, object_key, fetched_at)
		select $1, c.id, $1, $1, 'https://x.example/1', 'https://x.example/1', 'Title', now(), 'Text', '', 'en', '', $1, '', now() from crawl_domains c where c.domain = $2`, id, domain)
	x.s.Exec(
		`insert into story_articles (article_id, story_id, group_id, domain_id, is_document, similarity, dated_at, article_version)
		select $1, $3, $1, c.id, true, 1, now(), 1 from crawl_domains c where c.domain = $2`, id, domain, story)
}

// storyOfTwo returns a story with two articles; the id of one is that of the story.
func (x *things) storyOfTwo() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		id := x.story()
		x.addArticle(id, someID(), x.seed().Domain)
		x.s.Exec("update stories set documents = 2, articles = 2 where id = $1", id)
		return id
	})
}

func (x *things) storyEvent() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		id := someID()
		x.s.Exec("insert into story_events (id, language, kind, story_id, other_id, actor) values ($1, 'en', "+
			"'moved', $2, $3, 'dateline')", id, x.story(), x.story())
		return id
	})
}
