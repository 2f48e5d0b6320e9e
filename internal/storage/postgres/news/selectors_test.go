package news_test

import (
	"testing"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/message"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/pipeline"
	"dateline/internal/publishing/post"
)

// activate stores selectors and activates them.
func (n *newsroom) activate(d crawl.Domain) pipeline.Selectors {
	n.T.Helper()
	draft := pipeline.Selectors{
		Config:    selector.Config{Variants: []selector.Variant{{Name: "story", Body: []string{"//article"}}}},
		CreatedBy: pipeline.CreatedByMember, State: pipeline.Active, Reason: because("better"),
	}
	made, _, err := n.News.Articles.AddSelectors(n.T.Context(), d, n.Workspace.ID, draft, idempotency.Key{})
	n.Must(err)
	return made
}

// inUse returns the site's active version, on which the monitor and the versions must
// agree. 0: generic extraction.
func (n *newsroom) inUse(d crawl.Domain) int {
	n.T.Helper()
	site, err := n.News.Articles.SiteSelectors(n.T.Context(), d.ID)
	n.Must(err)
	h, err := n.News.Articles.ExtractionHealth(n.T.Context(), d.ID)
	n.Must(err)
	if h.Monitor.Version != site.Version || h.RequestedAction != selector.ActionNone {
		n.T.Errorf("the monitor watches version %d and wants to %s, version %d is in use", h.Monitor.Version,
			h.RequestedAction, site.Version)
	}
	return site.Version
}

func because(reason string) message.Message {
	return message.New("test", "{reason}", reason)
}

func TestRollBackSelectors_GoesBackVersionByVersion(t *testing.T) {
	n := open(t)
	_, d := n.Seed(n.Workspace.ID, "https://news.example/")
	for want := 1; want <= 3; want++ {
		if made := n.activate(d); made.Version != want || made.State != pipeline.Active || n.inUse(d) != want {
			t.Fatalf("got version %d, %s, %d in use, want %d active", made.Version, made.State, n.inUse(d), want)
		}
	}
	for _, want := range []int{2, 1, 0} {
		back, done, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, because("it lacks the lead"), false)
		if err != nil || !done || back.Version != want || n.inUse(d) != want {
			t.Fatalf("got version %d, %v, %v, %d in use, want %d", back.Version, done, err, n.inUse(d), want)
		}
		left, err := n.News.Articles.SelectorsVersion(t.Context(), d.ID, want+1)
		if err != nil || left.State != pipeline.RolledBack || left.EndReason.Text != "it lacks the lead" {
			t.Errorf("version %d: got %s, %q, %v, want rolled back with the reason", want+1, left.State,
				left.EndReason.Text, err)
		}
		var previous, version int
		var reason string
		n.Query(&version, "select (data->>'version')::int from post_events where type = $1 order by id desc limit 1",
			post.EventSelectorsRolledBack)
		n.Query(&previous, "select (data->>'previous')::int from post_events where type = $1 order by id desc limit 1",
			post.EventSelectorsRolledBack)
		n.Query(&reason, "select data->>'reason' from post_events where type = $1 order by id desc limit 1",
			post.EventSelectorsRolledBack)
		if version != want || previous != want+1 || reason != "it lacks the lead" {
			t.Errorf("the event has %d instead of %d because %q, want %d instead of %d", version, previous, reason,
				want, want+1)
		}
	}
	if back, done, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, message.Message{}, false); done ||
		err != nil || back.Version != 0 {
		t.Errorf("without selectors: got %d, %v, %v, want nothing done", back.Version, done, err)
	}
	if rows := n.Count("select count(*) from audit_log where action like 'domain%'"); rows != 6 {
		t.Errorf("audit log: got %d lines, want one for each of 3 versions and 3 rollbacks", rows)
	}
	// A version that was rolled back is not activated by another rollback.
	n.activate(d)
	if back, done, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, message.Message{}, false); err != nil ||
		!done || back.Version != 0 {
		t.Errorf("all others were rolled back: got version %d, %v, %v, want 0", back.Version, done, err)
	}
}

// A request of the monitor is executed once, and only while it is pending.
func TestRollBackSelectors_AsTheMonitorAsksFor(t *testing.T) {
	n := open(t)
	_, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.activate(d)
	n.activate(d)
	rollBack := func() (pipeline.Selectors, bool) {
		t.Helper()
		back, done, err := n.News.Articles.RollBackSelectors(t.Context(), d, uuid.Nil, message.Message{}, true)
		n.Must(err)
		return back, done
	}
	if _, done := rollBack(); done || n.inUse(d) != 2 {
		t.Errorf("without a request: got %v, version %d, want version 2", done, n.inUse(d))
	}
	n.Must(n.News.Articles.RequestSelectorAction(t.Context(), d.ID, selector.ActionLearn, because("the site may have changed")))
	if _, done := rollBack(); done {
		t.Error("rolled back although the monitor requests learning")
	}
	n.Must(n.News.Articles.RequestSelectorAction(t.Context(), d.ID, selector.ActionRollBack, because("version 2 is worse")))
	if back, done := rollBack(); !done || back.Version != 1 || n.inUse(d) != 1 {
		t.Errorf("got version %d, %v, want 1", back.Version, done)
	}
	if left, err := n.News.Articles.SelectorsVersion(t.Context(), d.ID, 2); err != nil ||
		left.EndReason.Text != "version 2 is worse" {
		t.Errorf("version 2 ended because %q, %v, want the monitor's reason", left.EndReason.Text, err)
	}
	if _, done := rollBack(); done || n.inUse(d) != 1 {
		t.Errorf("a second time: got %v, version %d, want version 1", done, n.inUse(d))
	}
	n.Must(n.News.Articles.RequestSelectorAction(t.Context(), d.ID, selector.ActionLearn, because("the site may have changed")))
	learned, done, err := n.News.Articles.SaveLearnedSelectors(t.Context(), d, pipeline.Selectors{
		Config:    selector.Config{Variants: []selector.Variant{{Body: []string{"//main"}}}},
		CreatedBy: pipeline.CreatedByLearner, State: pipeline.Active,
	})
	if err != nil || !done || learned.Version != 3 || n.inUse(d) != 3 {
		t.Errorf("learned: got version %d, %v, %v, want 3", learned.Version, done, err)
	}
	if _, done, err := n.News.Articles.SaveLearnedSelectors(t.Context(), d, pipeline.Selectors{
		CreatedBy: pipeline.CreatedByLearner,
		State:     pipeline.Active,
	}); done || err != nil || n.inUse(d) != 3 {
		t.Errorf("learned without a request: got %v, %v, want nothing done", done, err)
	}
}

// A member may activate any version again.
func TestActivateSelectors_TakesAnyVersion(t *testing.T) {
	n := open(t)
	_, d := n.Seed(n.Workspace.ID, "https://news.example/")
	n.activate(d)
	n.activate(d)
	if made, err := n.News.Articles.ActivateSelectors(t.Context(), d, n.Workspace.ID, 1, because("it was better")); err != nil ||
		made.State != pipeline.Active || n.inUse(d) != 1 {
		t.Errorf("got %+v, %v, want version 1 in use", made, err)
	}
	if left, err := n.News.Articles.SelectorsVersion(t.Context(), d.ID, 2); err != nil || left.State != pipeline.Retired ||
		left.EndReason.Text != "it was better" {
		t.Errorf("version 2: got %s, %q, %v, want retired with the reason", left.State, left.EndReason.Text, err)
	}
	events := n.Count("select count(*) from post_events")
	if _, err := n.News.Articles.ActivateSelectors(t.Context(), d, n.Workspace.ID, 1, because("again")); err != nil ||
		n.Count("select count(*) from post_events") != events {
		t.Errorf("the version in use: got %v and a new event, want no change", err)
	}
	if _, err := n.News.Articles.ActivateSelectors(t.Context(), d, n.Workspace.ID, 9, message.Message{}); err == nil {
		t.Error("an unknown version: got no error")
	}
	back, _, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, because("no"), false)
	if err != nil || back.Version != 2 {
		t.Errorf("rolled back to version %d, %v, want the one that was in use before, 2", back.Version, err)
	}
}
