package story_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/news/story"
	"dateline/internal/storage/postgres/news/db"
)

// queueWith queues an article within a transaction, as the extraction does.
func (d *rig) queueWith(tx db.DBTX, id uuid.UUID, kind db.ChangeKind) {
	d.T.Helper()
	d.Must(db.New(tx).InsertArticleChange(d.T.Context(), db.InsertArticleChangeParams{ArticleID: id, Kind: kind}))
}

func TestPlacer_PlacesAnArticleThatCommitsAfterLaterOnes(t *testing.T) {
	d := newRig(t)
	d.sources("one.example", "two.example")
	slow := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	d.Exec("delete from story_queue")
	tx, err := d.Store.Pool().Begin(t.Context())
	d.Must(err)
	d.queueWith(tx, slow, db.ChangeKindUpsert) // takes the lower number of the queue, and commits later
	fast := d.publish(draft{Domain: "two.example", Title: "Harrowgate timber yard burns down", Body: fire2})
	d.place()
	if n := d.Count("select count(*) from story_articles where article_id = $1", fast); n != 1 {
		t.Fatalf("got %d placements of the committed article, want 1", n)
	}
	d.Must(tx.Commit(t.Context()))
	d.place()
	if d.storyOf(slow) != d.storyOf(fast) {
		t.Error("the article that committed later is not in the story")
	}
	if n := d.Count("select count(*) from story_queue"); n != 0 {
		t.Errorf("got %d articles in the queue, want none", n)
	}
}

// intercepted calls a function after the articles of a batch were read.
type intercepted struct {
	story.Store
	after func()
}

func (s intercepted) InStories(ctx context.Context, language string, f func(story.Tx) error) error {
	return s.Store.InStories(ctx, language, func(tx story.Tx) error { return f(interceptedTx{tx, s.after}) })
}

type interceptedTx struct {
	story.Tx
	after func()
}

func (t interceptedTx) Articles(ctx context.Context, ids []uuid.UUID) ([]story.Article, error) {
	out, err := t.Tx.Articles(ctx, ids)
	t.after()
	return out, err
}

func TestPlacer_RemovesAnArticleThatIsDeletedMeanwhile(t *testing.T) {
	d := newRig(t)
	d.sources("one.example")
	id := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	var once sync.Once
	var deletion sync.WaitGroup
	placer := &story.Placer{Store: intercepted{d.Store.News.Stories, func() {
		once.Do(func() {
			deletion.Go(func() {
				tx, err := d.Store.Pool().Begin(t.Context())
				d.Must(err)
				d.Must(db.New(tx).DeleteArticle(t.Context(), id))
				d.queueWith(tx, id, db.ChangeKindDelete)
				d.Must(tx.Commit(t.Context()))
			})
		})
	}}}
	_, err := placer.Place(t.Context(), func(int) {})
	d.Must(err)
	deletion.Wait()
	d.place()
	if n := d.Count("select count(*) from story_articles"); n != 0 {
		t.Errorf("got %d placements of deleted articles, want none", n)
	}
}

func TestPlacer_PlacesAnArticleOnceWhoseLanguageChanged(t *testing.T) {
	d := newRig(t)
	d.sources("one.example")
	id := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	d.Exec("update articles set language = 'vi' where id = $1", id)
	d.queueWith(d.Store.Pool(), id, db.ChangeKindUpsert)
	d.place()
	if n := d.Count("select count(*) from stories"); n != 1 {
		t.Errorf("got %d stories, want one", n)
	}
	if n := d.Count("select count(*) from story_articles m join stories s on s.id = m.story_id where s.language = " +
		"'vi' and s.documents = 1"); n != 1 {
		t.Error("the article is not in a story of its new language")
	}
	// A placed article stays in the language of its story.
	d.Exec("update articles set language = 'de', version = version + 1 where id = $1", id)
	d.queueWith(d.Store.Pool(), id, db.ChangeKindUpsert)
	d.place()
	if n := d.Count("select count(*) from stories where documents > 0 and articles = 1"); n != 1 {
		t.Errorf("got %d stories after another change, want one", n)
	}
}

// broken fails for one language.
type broken struct{ story.Store }

var errBroken = errors.New("broken")

func (s broken) InStories(ctx context.Context, language string, f func(story.Tx) error) error {
	if language == "de" {
		return errBroken
	}
	return s.Store.InStories(ctx, language, f)
}

func TestPlacer_PlacesOtherLanguagesWhenOneFails(t *testing.T) {
	d := newRig(t)
	d.sources("one.example")
	english := d.publish(draft{Domain: "one.example", Title: "Fire destroys timber yard in Harrowgate", Body: fire})
	d.Exec("insert into story_queue (language, article_id) values ('de', $1)", uuid.New())
	_, err := (&story.Placer{Store: broken{d.Store.News.Stories}}).Place(t.Context(), func(int) {})
	if !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the failure reported", err)
	}
	if n := d.Count("select count(*) from story_articles where article_id = $1", english); n != 1 {
		t.Error("the article of the other language was not placed")
	}
}

// interrupted runs a function before the first change takes its lock.
type interrupted struct {
	story.EditorStore
	before *sync.Once
	f      func()
}

func (s interrupted) EditStories(ctx context.Context, language string, f func(story.EditorTx) error) error {
	s.before.Do(s.f)
	return s.EditorStore.EditStories(ctx, language, f)
}

func TestEditor_FollowsAMergeThatHappensMeanwhile(t *testing.T) {
	d := newRig(t)
	fires, votes := d.twoStories()
	into, from := d.storyOf(fires[0]), d.storyOf(votes[0])
	other := d.publish(draft{
		Domain: "one.example", Title: "Harbor festival opens",
		Body: "The harbor festival of Kelmouth opened with a parade of sailing ships and concerts by local choirs on " +
			"Saturday evening.",
	})
	d.place()
	target := d.storyOf(other)
	editor := &story.Editor{
		Drafts: d.editor.Drafts, Store: interrupted{
			d.Store.News.Stories, new(sync.Once), func() { d.Must(d.editor.Merge(t.Context(), d.Owner, target, into)) },
		},
	}
	d.Must(editor.Merge(t.Context(), d.Owner, into, from))
	for _, id := range []uuid.UUID{fires[0], fires[1], votes[0], votes[1]} {
		if got := d.storyOf(id); got != target {
			t.Errorf("article %s is in story %s, want the surviving one, %s", id, got, target)
		}
	}
}

func TestEditor_UndoesAMergeIntoAStoryThatWasMergedLater(t *testing.T) {
	d := newRig(t)
	fires, votes := d.twoStories()
	into, from := d.storyOf(fires[0]), d.storyOf(votes[0])
	other := d.publish(draft{
		Domain: "one.example", Title: "Harbor festival opens",
		Body: "The harbor festival of Kelmouth opened with a parade of sailing ships and concerts by local choirs on " +
			"Saturday evening.",
	})
	d.place()
	target := d.storyOf(other)
	d.Must(d.editor.Merge(t.Context(), d.Owner, into, from))
	var event uuid.UUID
	d.Must(d.Store.Pool().QueryRow(t.Context(), "select id from story_events").Scan(&event))
	d.Must(d.editor.Merge(t.Context(), d.Owner, target, into))
	d.Must(d.editor.Undo(t.Context(), d.Owner, event))
	if d.storyOf(votes[0]) != from || d.storyOf(votes[1]) != from || d.storyOf(fires[0]) != target {
		t.Errorf("got stories %s and %s, want the votes in %s again and the fires in %s", d.storyOf(votes[0]),
			d.storyOf(fires[0]), from, target)
	}
}
