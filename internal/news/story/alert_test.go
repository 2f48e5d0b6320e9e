package story_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/news/story"
)

// meanwhile runs a function once, after a draft was created and before its alert is sent.
type meanwhile struct {
	story.AlertDrafts
	once *sync.Once
	f    func()
}

func (m meanwhile) CreateStoryDraft(
	ctx context.Context, who workspace.Principal, id uuid.UUID, text, language string,
) error {
	err := m.AlertDrafts.CreateStoryDraft(ctx, who, id, text, language)
	m.once.Do(m.f)
	return err
}

// alerting places two stories and stores preferences with drafts.
func alerting(t *testing.T) (d *rig, fire, vote uuid.UUID) {
	t.Helper()
	d = newRig(t)
	d.Connect("desk")
	_, err := d.editor.SetPreferences(t.Context(), d.Owner, story.Preferences{
		AlertEnabled: true, MinOwners: 2, MaxAgeHours: 12, CreateDraft: true, Owners: map[string]string{},
	})
	d.Must(err)
	fires, votes := d.twoStories()
	return d, d.storyOf(fires[0]), d.storyOf(votes[0])
}

// alertTwice sends alerts, and again as after the next interval.
func (d *rig) alertTwice() {
	d.T.Helper()
	for range 2 {
		_, err := d.alerter.Alert(d.T.Context())
		d.Must(err)
	}
}

func (d *rig) countAlerts() (alerts, drafts int) {
	d.T.Helper()
	return d.Count("select count(*) from post_events where type = 'story_missed'"),
		d.Count("select count(*) from scheduled_posts where status = 'draft'")
}

func TestAlerter_DiscardsTheDraftOfAStoryThatIsMergedMeanwhile(t *testing.T) {
	d, fire, vote := alerting(t)
	d.alerter.Drafts = meanwhile{d.alerter.Drafts, new(sync.Once), func() {
		// The alert of the merged story has its draft: whichever story is first.
		var drafted uuid.UUID
		d.Must(d.Store.Pool().QueryRow(t.Context(),
			"select story_id from story_alerts where post_id = (select post_id from scheduled_posts)").Scan(&drafted))
		into := fire
		if drafted == fire {
			into = vote
		}
		d.Must(d.editor.Merge(t.Context(), d.Owner, into, drafted))
	}}
	d.alertTwice()
	if alerts, drafts := d.countAlerts(); alerts != 1 || drafts != 1 {
		t.Errorf("got %d alerts and %d drafts, want one of each: of the surviving story", alerts, drafts)
	}
	if n := d.Count("select count(*) from story_alerts where state <> 'sent'"); n != 0 {
		t.Errorf("got %d alerts that are not sent, want none", n)
	}
}

func TestAlerter_DiscardsTheDraftOfAnAlertThatIsMutedMeanwhile(t *testing.T) {
	d, fire, vote := alerting(t)
	d.Must(d.editor.Mute(t.Context(), d.Owner, vote))
	d.alerter.Drafts = meanwhile{
		d.alerter.Drafts, new(sync.Once), func() { d.Must(d.editor.Mute(t.Context(), d.Owner, fire)) },
	}
	d.alertTwice()
	if alerts, drafts := d.countAlerts(); alerts != 0 || drafts != 0 {
		t.Errorf("got %d alerts and %d drafts, want none", alerts, drafts)
	}
}

func TestAlerter_AMergeWaitsForAnAlertThatIsBeingSent(t *testing.T) {
	d, fire, vote := alerting(t)
	d.alertTwice()
	d.Must(d.editor.Merge(t.Context(), d.Owner, fire, vote))
	d.alertTwice()
	if alerts, drafts := d.countAlerts(); alerts != 2 || drafts != 2 {
		t.Errorf("got %d alerts and %d drafts, want two of each: both stories were alerted of before the merge", alerts,
			drafts)
	}
}

// failing fails to create one draft.
type failing struct {
	story.AlertDrafts
	once *sync.Once
}

func (f failing) CreateStoryDraft(
	ctx context.Context, who workspace.Principal, id uuid.UUID, text, language string,
) (err error) {
	f.once.Do(func() { err = errBroken })
	if err != nil {
		return err
	}
	return f.AlertDrafts.CreateStoryDraft(ctx, who, id, text, language)
}

func TestAlerter_SendsOtherAlertsWhenOneFails(t *testing.T) {
	d, _, _ := alerting(t)
	d.alerter.Drafts = failing{d.alerter.Drafts, new(sync.Once)}
	if sent, err := d.alerter.Alert(t.Context()); sent != 1 || err == nil {
		t.Errorf("got %d alerts and error %v, want one alert and the failure", sent, err)
	}
	d.alertTwice()
	if alerts, drafts := d.countAlerts(); alerts != 2 || drafts != 2 {
		t.Errorf("got %d alerts and %d drafts, want two of each after the retry", alerts, drafts)
	}
}

func TestEditor_MergesAStoryOfWhichAllArticlesAreMoved(t *testing.T) {
	d := newRig(t)
	fires, votes := d.twoStories()
	from, to := d.storyOf(fires[0]), d.storyOf(votes[0])
	if _, err := d.editor.Split(t.Context(), d.Owner, from, fires[:]); codeOf(err) != "all_articles" {
		t.Errorf("splitting off all articles: got %q, want all_articles", codeOf(err))
	}
	d.Must(d.editor.Move(t.Context(), d.Owner, from, to, fires[:]))
	page, err := d.editor.Get(t.Context(), d.Owner, from)
	d.Must(err)
	if page.ID != to || page.Articles != 4 {
		t.Fatalf("got story %s with %d articles, want %s with 4", page.ID, page.Articles, to)
	}
	d.Must(d.editor.Undo(t.Context(), d.Owner, page.Events[0].ID))
	if d.storyOf(fires[0]) != from || d.storyOf(fires[1]) != from {
		t.Error("the articles were not moved back")
	}
}

func TestMaintainer_DeletesEmptyStories(t *testing.T) {
	d := newRig(t)
	fires, votes := d.twoStories()
	d.Must(d.Store.News.Stories.AddStoryAlerts(t.Context(), d.Workspace.ID, []uuid.UUID{d.storyOf(fires[0])}))
	for _, id := range fires {
		d.Exec("delete from articles where id = $1", id)
		d.queue(id)
	}
	d.place()
	stories := func(age string) int {
		t.Helper()
		d.Exec("update stories set updated_at = now() - $1::interval", age)
		_, err := d.maintainer.Nightly(t.Context())
		d.Must(err)
		return d.Count("select count(*) from stories")
	}
	if n := stories("1 hour"); n != 2 {
		t.Errorf("got %d stories, want 2: the empty one is recent", n)
	}
	if n := stories("2 days"); n != 1 {
		t.Errorf("got %d stories, want 1", n)
	}
	// An editor's change can be undone for two months.
	created, err := d.editor.Split(t.Context(), d.Owner, d.storyOf(votes[0]), votes[:1])
	d.Must(err)
	d.Exec("delete from articles where id = $1", votes[0])
	d.queue(votes[0])
	d.place()
	if n := stories("50 days"); n != 2 {
		t.Errorf("got %d stories, want 2: %s was split off", n, created)
	}
	if n := stories("61 days"); n != 1 {
		t.Errorf("got %d stories, want 1", n)
	}
}

func TestStories_ShowsOwnArticlesAndThoseWithAFutureDate(t *testing.T) {
	d := newRig(t)
	d.sources("own.example", "three.example")
	d.Exec("insert into sites (id, workspace_id, name, domains, time_zone, window_seconds, unique_method, max_id, "+
		"rate_hits, rate_seconds, visitors, weekly_uniques, public_counts, write_key, secret_hash, visitor_key) "+
		"values ($1, $2, 'Own', '{own.example}', 'UTC', 1800, 'set', 0, 60, 60, 'cookieless', false, false, 'key', "+
		"sha256('x'), '')", uuid.New(), d.Workspace.ID)
	fires, _ := d.twoStories()
	later := d.publish(draft{
		Domain: "three.example", Title: "Harrowgate timber yard in ashes", Body: fire3,
		At: time.Now().Add(-30 * time.Minute),
	})
	own := d.publish(draft{
		Domain: "own.example", Title: "Fire at the timber yard in Harrowgate",
		Body: fire2 + " Our reporter was there.", At: time.Now().Add(-20 * time.Minute),
	})
	// Its clock is in another time zone
	d.Exec("update articles set published_at = now() + interval '7 hours' where id = $1", later)
	d.place()
	id := d.storyOf(fires[0])
	if d.storyOf(later) != id || d.storyOf(own) != id {
		t.Fatal("the articles are not one story")
	}
	if found := d.list(story.Filter{Order: story.Latest, From: time.Now().Add(-24 * time.Hour)}); len(found) != 2 {
		t.Errorf("got %d stories, want both", len(found))
	}
	d.Exec("insert into view_pages (site_id, page, unique_method, views, uniques) select id, '/' || $1::text, 'set', "+
		"7, 3 from sites", own)
	page, err := d.Store.News.Stories.StoryPage(t.Context(), d.Workspace.ID, id, story.DefaultPreferences(), 3)
	d.Must(err)
	var shown []uuid.UUID
	for _, e := range page.Entries {
		shown = append(shown, e.ArticleID)
	}
	if !page.Truncated || page.Articles != 4 || len(shown) != 3 || shown[2] != own {
		t.Errorf("got %v of %d articles, truncated %t; want the two earliest and %s of 4, truncated", shown,
			page.Articles, page.Truncated, own)
	}
	if want := (story.Readers{Views: 7, Visitors: 3}); page.Readers != want {
		t.Errorf("got readers %+v, want %+v", page.Readers, want)
	}
	if page, err = d.Store.News.Stories.StoryPage(t.Context(), d.Workspace.ID, id, story.DefaultPreferences(), 4); err != nil ||
		page.Truncated || len(page.Entries) != 4 {
		t.Errorf("got %d articles, truncated %t, %v; want all 4", len(page.Entries), page.Truncated, err)
	}
}
