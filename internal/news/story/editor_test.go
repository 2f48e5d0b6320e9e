package story_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/news/story"
)

// twoStories places a story about a fire and one about a vote, with two articles each.
func (d *rig) twoStories() (fires, votes [2]uuid.UUID) {
	d.T.Helper()
	d.sources("one.example", "two.example")
	fires = [2]uuid.UUID{
		d.publish(draft{
			Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire,
		}),
		d.publish(draft{Domain: "two.example", Title: "Harrowgate timber yard burns down", Body: fire2}),
	}
	votes = [2]uuid.UUID{
		d.publish(draft{Domain: "one.example", Title: "Parliament approves budget", Body: vote}),
		d.publish(draft{
			Domain: "two.example", Title: "Parliament in Norwick approves budget of Leila Haddad",
			Body: vote + " The opposition voted against it.",
		}),
	}
	d.place()
	if d.storyOf(fires[0]) != d.storyOf(fires[1]) || d.storyOf(votes[0]) != d.storyOf(votes[1]) ||
		d.storyOf(fires[0]) == d.storyOf(votes[0]) {
		d.T.Fatal("the articles are not two stories")
	}
	return fires, votes
}

func codeOf(err error) string {
	var e *apperr.Error
	if errors.As(err, &e) {
		if len(e.Fields) > 0 {
			return e.Fields[0].Code
		}
		return e.Code
	}
	return ""
}

func TestEditor_MergesAndUndoes(t *testing.T) {
	d := newRig(t)
	fires, votes := d.twoStories()
	into, from := d.storyOf(fires[0]), d.storyOf(votes[0])
	d.Must(d.editor.Merge(t.Context(), d.Owner, into, from))
	page, err := d.editor.Get(t.Context(), d.Owner, from)
	d.Must(err)
	if page.ID != into || page.Articles != 4 || len(page.Events) != 1 || page.Events[0].Kind != story.Merged {
		t.Fatalf("got story %s with %d articles and %+v, want %s with 4", page.ID, page.Articles, page.Events, into)
	}
	if code := codeOf(d.editor.Merge(t.Context(), d.Owner, into, from)); code != "same_story" {
		t.Errorf("merging again: got %q, want same_story", code)
	}
	d.Must(d.editor.Undo(t.Context(), d.Owner, page.Events[0].ID))
	d.Must(d.editor.Undo(t.Context(), d.Owner, page.Events[0].ID))
	if page, err = d.editor.Get(t.Context(), d.Owner, from); err != nil || page.ID != from || page.Articles != 2 {
		t.Errorf("after undoing: got %s with %d articles, %v; want %s with 2", page.ID, page.Articles, err, from)
	}
	if n := d.Count("select count(*) from audit_log where action = 'story.changed'"); n != 2 {
		t.Errorf("got %d entries in the audit log, want 2: undoing again changes nothing", n)
	}
}

func TestEditor_SplitsMovesAndPins(t *testing.T) {
	d := newRig(t)
	fires, votes := d.twoStories()
	a, b := d.storyOf(fires[0]), d.storyOf(votes[0])
	d.Must(d.editor.Move(t.Context(), d.Owner, a, b, []uuid.UUID{fires[1]}))
	if d.storyOf(fires[1]) != b {
		t.Fatal("the article was not moved")
	}
	// A pinned article stays, whatever its text becomes.
	d.Exec("update articles set body_text = $2, title = 'x', version = version + 1 where id = $1", fires[1], fire3)
	d.queue(fires[1])
	d.place()
	d.review()
	if d.storyOf(fires[1]) != b {
		t.Error("a pinned article was moved")
	}
	created, err := d.editor.Split(t.Context(), d.Owner, b, []uuid.UUID{fires[1]})
	d.Must(err)
	if d.storyOf(fires[1]) != created || created == b {
		t.Errorf("got %s, want the new story %s", d.storyOf(fires[1]), created)
	}
	d.Must(d.editor.PinHeadline(t.Context(), d.Owner, b, &votes[1]))
	page, err := d.editor.Get(t.Context(), d.Owner, b)
	d.Must(err)
	if page.Headline.ArticleID != votes[1] || !page.IsPinned {
		t.Errorf("got headline %+v, want that of %s", page.Headline, votes[1])
	}
	if code := codeOf(d.editor.PinHeadline(t.Context(), d.Owner, b, &fires[0])); code != "unknown" {
		t.Errorf("the headline of another story: got %q, want unknown", code)
	}
}

func TestEditor_RefusesChangesOfArticlesThatTheWorkspaceDoesNotSee(t *testing.T) {
	d := newRig(t)
	fires, votes := d.twoStories()
	d.Exec("delete from seeds where workspace_id = $1 and domain_id = (select id from crawl_domains where domain = "+
		"'two.example')", d.Workspace.ID)
	if code := codeOf(d.editor.Merge(t.Context(), d.Owner, d.storyOf(fires[0]),
		d.storyOf(votes[0]))); code != "story_shared" {
		t.Errorf("got %q, want story_shared", code)
	}
	if d.storyOf(fires[0]) == d.storyOf(votes[0]) {
		t.Error("the stories were merged")
	}
}

func TestMaintainer_MergesSimilarStories(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example")
	first := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	second := d.publish(draft{Domain: "two.example", Title: "Harrowgate timber yard burns down", Body: fire2})
	d.place()
	into, err := d.editor.Split(t.Context(), d.Owner, d.storyOf(first), []uuid.UUID{second})
	d.Must(err)
	d.review()
	if d.storyOf(second) != into {
		t.Fatal("an article that an editor had moved was merged")
	}
	d.Exec("update story_articles set pinned_by = ''")
	d.Exec("update stories set review_at = now() where articles > 0")
	_, err = d.maintainer.Review(t.Context(), 1000)
	d.Must(err)
	if d.storyOf(first) != d.storyOf(second) {
		t.Fatal("two stories about one event were not merged")
	}
	var event uuid.UUID
	d.Must(d.Store.Pool().QueryRow(t.Context(),
		"select id from story_events where kind = 'merged' and actor = 'dateline'").Scan(&event))
	d.Must(d.editor.Undo(t.Context(), d.Owner, event))
	d.Exec("update story_articles set pinned_by = ''")
	d.review()
	if d.storyOf(first) == d.storyOf(second) {
		t.Error("stories were merged again after an editor undid it")
	}
}

func TestEditor_ListsRisingStoriesByNewOwners(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example", "three.example", "four.example")
	ago := func(hours float64) time.Time { return time.Now().Add(-time.Duration(hours * float64(time.Hour))) }
	d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire, At: ago(10)})
	d.publish(draft{Domain: "two.example", Title: "Timber yard burns down in Harrowgate", Body: fire2, At: ago(1)})
	// An owner counts once
	older := d.publish(draft{
		Domain: "two.example", Title: "Wiring suspected in Harrowgate fire", Body: fire3,
		At: ago(0.5),
	})
	d.publish(draft{Domain: "one.example", Title: "Parliament in Norwick approves budget", Body: vote, At: ago(9)})
	d.publish(draft{
		Domain: "three.example", Title: "Norwick parliament approves the budget",
		Body: vote + " Our correspondent reports.", At: ago(2),
	})
	rising := d.publish(draft{
		Domain: "four.example", Title: "Budget approved in Norwick", Body: "A report. " + vote,
		At: ago(1),
	})
	d.place()
	all := d.list(story.Filter{Order: story.Rising, Limit: 10})
	if len(all) != 2 || all[0].ID != d.storyOf(rising) || all[0].NewOwners != 2 || all[1].ID != d.storyOf(older) ||
		all[1].NewOwners != 1 {
		t.Fatalf("got %+v, want the budget with two new owners before the fire with one", all)
	}
	d.Exec("update articles set first_seen_at = first_seen_at - interval '4 hours'")
	if all := d.list(story.Filter{Order: story.Rising, Limit: 10}); len(all) != 0 {
		t.Errorf("got %+v, want nothing: no owner is new", all)
	}
}

func TestAlerter_AlertsOnceOfStoriesThatOthersHave(t *testing.T) {
	d := newRig(t)
	d.Connect("desk")
	d.sources("own.example", "one.example", "two.example")
	d.Exec("insert into sites (id, workspace_id, name, domains, time_zone, window_seconds, unique_method, max_id, "+
		"rate_hits, rate_seconds, visitors, weekly_uniques, public_counts, write_key, secret_hash, visitor_key) "+
		"values ($1, $2, 'Own', '{www.own.example}', 'UTC', 1800, 'set', 0, 60, 60, 'cookieless', false, false, "+
		"'key', sha256('x'), '')", uuid.New(), d.Workspace.ID)
	_, err := d.editor.SetPreferences(t.Context(), d.Owner, story.Preferences{
		AlertEnabled: true, MinOwners: 2, MaxAgeHours: 12, CreateDraft: true, Owners: map[string]string{},
	})
	d.Must(err)
	alerts := func() int { return d.Count("select count(*) from post_events where type = 'story_missed'") }
	run := func() {
		t.Helper()
		_, err := d.alerter.Alert(t.Context())
		d.Must(err)
	}
	fires, _ := d.twoStories()
	run()
	if n := alerts(); n != 0 || d.Count("select count(*) from story_alerts where state = 'waiting'") != 2 {
		t.Fatalf("got %d alerts, want them to wait for the crawl of the own site", n)
	}
	// The own site is crawled meanwhile and has the vote.
	d.publish(draft{
		Domain: "own.example", Title: "Parliament in Norwick approves budget",
		Body: vote + " Our correspondent reports.",
	})
	d.place()
	d.Exec("update story_alerts set due_at = now()")
	for range 2 {
		run()
	}
	if n := alerts(); n != 1 || d.announced != 1 {
		t.Fatalf("got %d alerts, want 1: of the fire, once", n)
	}
	page, err := d.editor.Get(t.Context(), d.Owner, d.storyOf(fires[0]))
	d.Must(err)
	if page.Alert != story.AlertSent || page.AlertPostID == nil || len(page.Posts) != 0 {
		t.Fatalf("got alert %s with draft %v and posts %v, want it sent with a draft", page.Alert, page.AlertPostID,
			page.Posts)
	}
	p, err := d.Scheduler.Post(t.Context(), d.Workspace.ID, *page.AlertPostID)
	d.Must(err)
	if want := story.DraftText(page.Summary); p.Content != want || p.Status != "draft" {
		t.Errorf("got the %s post %q, want the draft %q", p.Status, p.Content, want)
	}
	if covered := d.list(story.Filter{
		Order: story.Latest, Coverage: story.Covered,
		From: time.Now().Add(-24 * time.Hour),
	}); len(covered) != 1 || covered[0].OwnArticles != 1 ||
		covered[0].Alert != story.AlertCovered {
		t.Errorf("got %+v, want the vote as covered", covered)
	}
}

func TestAlerter_SendsAnAlertAfterACrash(t *testing.T) {
	d := newRig(t)
	d.Connect("desk")
	_, err := d.editor.SetPreferences(t.Context(), d.Owner, story.Preferences{
		AlertEnabled: true, MinOwners: 2, MaxAgeHours: 12, CreateDraft: true, Owners: map[string]string{},
	})
	d.Must(err)
	fires, votes := d.twoStories()
	d.Must(d.editor.Mute(t.Context(), d.Owner, d.storyOf(votes[0])))
	d.Must(d.Store.News.Stories.AddStoryAlerts(t.Context(), d.Workspace.ID, []uuid.UUID{d.storyOf(fires[0])}))
	var post uuid.UUID
	d.Must(d.Store.Pool().QueryRow(t.Context(), "select post_id from story_alerts where state = 'waiting'").Scan(&post))
	// The draft was created, then the process died.
	page, err := d.editor.Get(t.Context(), d.Owner, d.storyOf(fires[0]))
	d.Must(err)
	d.Must(drafts{d.Scheduler}.CreateStoryDraft(t.Context(), d.Owner, post, story.DraftText(page.Summary), "en"))
	for range 2 {
		_, err := d.alerter.Alert(t.Context())
		d.Must(err)
	}
	if n, drafts := d.Count("select count(*) from post_events where type = 'story_missed' and data->>'post_id' = $1",
		post.String()), d.Count("select count(*) from scheduled_posts"); n != 1 || drafts != 1 {
		t.Errorf("got %d alerts and %d drafts, want one of each", n, drafts)
	}
}
