package story_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/news/story"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/searchtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// rig is a newsroom with stories.
type rig struct {
	*newsroomtest.Newsroom
	placer     *story.Placer
	maintainer *story.Maintainer
	alerter    *story.Alerter
	editor     *story.Editor
	announced  int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	d := &rig{Newsroom: newsroomtest.Open(t)}
	d.placer, d.maintainer = &story.Placer{Store: d.Store.News.Stories}, &story.Maintainer{Store: d.Store.News.Stories}
	d.editor = &story.Editor{Store: d.Store.News.Stories, Drafts: drafts{d.Scheduler}}
	d.alerter = &story.Alerter{
		Store: d.Store.News.Stories, Drafts: drafts{d.Scheduler}, Events: d, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	return d
}

// Announce implements story.Announcer.
func (d *rig) Announce() { d.announced++ }

// drafts creates drafts as the program does.
type drafts struct{ scheduler *scheduling.Scheduler }

func (d drafts) CreateStoryDraft(
	ctx context.Context, who workspace.Principal, id uuid.UUID, text, language string,
) error {
	_, err := d.scheduler.CreateAutomatic(ctx, scheduling.Automatic{
		ID: id, Who: who, Draft: scheduling.Draft{Content: text, Language: language, SaveAsDraft: true},
	})
	return err
}

func (d drafts) DiscardStoryDraft(ctx context.Context, workspaceID, id uuid.UUID) error {
	return d.scheduler.DiscardAutomatic(ctx, workspaceID, id)
}

// sources gives the workspace seeds on domains.
func (d *rig) sources(domains ...string) {
	d.T.Helper()
	for _, one := range domains {
		searchtest.Seed(d.Newsroom, d.Workspace.ID, one)
	}
}

// draft is an article of a test.
type draft struct {
	ID, Group uuid.UUID
	Domain    string
	Title     string
	Body      string
	At        time.Time
}

// publish stores an article and queues it, as the extraction does.
func (d *rig) publish(a draft) uuid.UUID {
	d.T.Helper()
	if a.ID == uuid.Nil {
		a.ID = uuid.Must(uuid.NewV7())
	}
	if a.Group == uuid.Nil {
		a.Group = a.ID
	}
	if a.At.IsZero() {
		a.At = time.Now().Add(-time.Hour)
	}
	d.Exec(
		`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, lead, body_text, body_html, section, language, content_hash, group_id, object_key, fetched_at)
		select $1, c.id, $1, $1, $5, $5, $2, $3, $3, '', $6, '', '', 'en', '', $4, '', now() from crawl_domains c where c.domain = $7`,
		a.ID, a.Title, a.At, a.Group, "https://"+a.Domain+"/"+a.ID.String(), a.Body, a.Domain)
	d.queue(a.ID)
	return a.ID
}

func (d *rig) queue(id uuid.UUID) {
	d.T.Helper()
	d.Exec("insert into story_queue (language, article_id) values ('en', $1)", id)
}

func (d *rig) place() {
	d.T.Helper()
	_, err := d.placer.Place(d.T.Context(), func(int) {})
	d.Must(err)
}

func (d *rig) review() {
	d.T.Helper()
	d.Exec("update stories set review_at = now() where documents > 1")
	_, err := d.maintainer.Review(d.T.Context(), 1000)
	d.Must(err)
}

// storyOf returns the story of an article.
func (d *rig) storyOf(article uuid.UUID) uuid.UUID {
	d.T.Helper()
	var out uuid.UUID
	d.Must(d.Store.Pool().QueryRow(d.T.Context(), "select story_id from story_articles where article_id = $1", article).
		Scan(&out))
	return out
}

func (d *rig) list(f story.Filter) []story.Summary {
	d.T.Helper()
	all, err := d.editor.List(d.T.Context(), d.Owner, f)
	d.Must(err)
	return all
}

const (
	fire = "A fire destroyed the old timber yard of Brandor in Harrowgate on Tuesday. Fire chief Daniel Osei said " +
		"thirty firefighters needed six hours. Nobody was hurt in the Harrowgate timber yard."
	fire2 = "The timber yard Brandor in Harrowgate burned down, fire chief Daniel Osei confirmed. Thirty " +
		"firefighters fought the flames for six hours in Harrowgate. Losses are put at nine million dollars, " +
		"insurers told reporters."
	fire3 = "After the blaze at the Brandor timber yard in Harrowgate investigators suspect faulty wiring. Daniel " +
		"Osei praised his firefighters. Harrowgate residents had kept windows closed."
	vote = "Parliament in Norwick approved the budget with a narrow majority. Finance minister Leila Haddad spoke of " +
		"a difficult compromise about pensions and schools."
)
