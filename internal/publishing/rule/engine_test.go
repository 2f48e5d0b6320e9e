package rule_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/rule"
	"dateline/internal/storage/postgres"
)

func TestEngine_CreatesPosts(t *testing.T) {
	d := newRig(t)
	r := d.rule(func(r *rule.Rule) { r.TrackLinks = true })
	a := d.publish()
	d.run()
	decision, p := d.only(r)
	if decision.Outcome != rule.Created || decision.ArticleID != a || decision.Reason != rule.Matched {
		t.Errorf("got the decision %+v, want a created post of the article", decision)
	}
	if want := "The river rises\n\nhttps://news.example/" + a.String(); p.Content != want {
		t.Errorf("got the text %q, want %q", p.Content, want)
	}
	if wait := time.Until(p.ScheduledTime); p.Status != post.Scheduled || wait < 55*time.Minute || wait > time.Hour {
		t.Errorf("got %s in %s, want it scheduled in an hour", p.Status, wait)
	}
	if p.LinkBase == "" || p.Language != "en" {
		t.Errorf("got links %q, language %q, want tracked links in English", p.LinkBase, p.Language)
	}
	d.queue(a) // an unchanged article
	d.run()
	d.only(r)
}

func TestEngine_CreatesPostsByMode(t *testing.T) {
	d := newRig(t)
	group, err := (&account.Groups{Store: d.Store.Publishing.Accounts}).Create(t.Context(), d.Owner,
		account.Group{
			Name: "Desk", Color: "blue", AccountIDs: []uuid.UUID{d.account.ID}, TimeZone: "UTC",
			Slots: []account.Slot{{Weekday: 1, Time: "09:00"}, {Weekday: 4, Time: "09:00"}},
		})
	d.Must(err)
	inQueue := func(mode rule.Mode) func(*rule.Rule) {
		return func(r *rule.Rule) {
			r.Mode, r.AccountIDs, r.GroupID, r.Timing = mode, nil, &group.ID, rule.Timing{When: rule.NextFree}
		}
	}
	unfinished := d.rule(func(r *rule.Rule) {
		r.Mode, r.Timing = rule.CreateDraft, rule.Timing{When: rule.Immediately}
	})
	approval := d.rule(inQueue(rule.NeedsApproval))
	automatic := d.rule(inQueue(rule.Automatic))
	embargo := time.Now().Add(30 * 24 * time.Hour).Truncate(time.Second)
	d.publish(func(a *draft) { a.Published = embargo })
	d.run()
	if _, p := d.only(unfinished); p.Status != post.Draft || p.Approval.State == post.ApprovalPending ||
		p.ScheduledTime.Before(embargo.Add(-time.Second)) {
		t.Errorf("got %s at %s, want a draft at the end of the embargo %s", p.Status, p.ScheduledTime, embargo)
	}
	_, first := d.only(approval)
	_, second := d.only(automatic)
	if !first.IsPendingApproval() || second.Status != post.Scheduled {
		t.Errorf("got %s %s and %s, want one pending approval and one scheduled", first.Status, first.Approval.State,
			second.Status)
	}
	for _, p := range []post.Post{first, second} {
		if p.ScheduledTime.Before(embargo) || p.QueueGroupID == nil || !group.HasSlotAt(p.ScheduledTime) {
			t.Errorf("got %s, want a slot after the embargo %s", p.ScheduledTime, embargo)
		}
	}
	if first.ScheduledTime.Equal(second.ScheduledTime) {
		t.Error("two posts share a slot")
	}
}

// After a crash at any step, an article has exactly one post from each rule, and its
// corrections reach it.
func TestEngine_CreatesOnePostAfterACrashAtAnyStep(t *testing.T) {
	d := newRig(t)
	r := d.rule()
	for step := 1; ; step++ {
		a := d.publish()
		f := &faulty{remaining: step}
		d.engine.Store, d.engine.Posts = faultyStore{d.Store.Publishing.Rules, f}, faultyPosts{d.Scheduler, f}
		drive := func() {
			for again := true; again; {
				n, _, err := d.engine.Evaluate(t.Context(), d.start)
				again = err != nil || n > 0
				for id := range d.started {
					for err := errCrash; err != nil; {
						if err = d.decide(t.Context(), d.engine, id); err != nil && !errors.Is(err, errCrash) {
							t.Fatal(err)
						}
					}
				}
				clear(d.started)
				again = again || d.Count("select count(*) from rule_articles") > 0
			}
		}
		drive()
		d.correct(a, "The river falls")
		drive()
		if n := d.Count("select count(*) from scheduled_posts where content like '%' || $1", a.String()); n != 1 {
			t.Fatalf("a crash after step %d: got %d posts, want 1", step, n)
		}
		if n := d.Count("select count(*) from scheduled_posts where content like 'The river falls%' || $1",
			a.String()); n != 1 {
			t.Fatalf("a crash after step %d: the correction did not reach the post", step)
		}
		if n := d.Count("select count(*) from rule_decisions where article_id = $1 and outcome = 'created' and "+
			"attention = ''", a); n != 1 {
			t.Fatalf("a crash after step %d: got %d finished decisions, want 1 without attention", step, n)
		}
		if !f.hasCrashed() {
			if step < 8 {
				t.Fatalf("got %d steps, want more", step)
			}
			break
		}
	}
	if got, err := d.service.Get(t.Context(), d.Owner, r.ID); err != nil || got.Status != rule.Active {
		t.Errorf("got %s %v, want an active rule", got.Status, err)
	}
}

// Several processes decide about the same articles at the same time.
func TestEngine_RespectsCapsAcrossProcesses(t *testing.T) {
	d := newRig(t)
	r := d.rule(func(r *rule.Rule) { r.MaxPerHour, r.MaxPerDay = 7, 30 })
	other, err := postgres.Open(t.Context(), d.DatabaseURL)
	d.Must(err)
	defer other.Close()
	group := uuid.New()
	var articles []uuid.UUID
	for i := range 24 {
		articles = append(articles, d.publish(func(a *draft) {
			if i%4 == 0 {
				a.Group = group
			}
		}))
	}
	var wg sync.WaitGroup
	for i, e := range []*rule.Engine{d.engine, d.newEngine(other), d.engine, d.newEngine(other)} {
		order := rand.New(rand.NewPCG(uint64(i), 1)).Perm(len(articles))
		wg.Go(func() {
			for _, at := range order {
				if err := d.decide(t.Context(), e, rule.Request{RuleID: r.ID, ArticleID: articles[at]}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := d.Count("select count(*) from scheduled_posts"); n != 7 {
		t.Errorf("got %d posts, want the 7 of the hourly cap", n)
	}
	if n := d.Count("select count(*) from rule_decisions where group_id = $1 and outcome = 'created'", group); n > 1 {
		t.Errorf("got %d posts of one story, want at most 1", n)
	}
	if n := d.Count("select count(*) from rule_decisions where outcome = 'reserved'"); n != 0 {
		t.Errorf("got %d unfinished decisions, want 0", n)
	}
}

func TestEngine_PostsOncePerStory(t *testing.T) {
	d := newRig(t)
	once := d.rule(func(r *rule.Rule) { r.Conditions.OncePerStory = true })
	each := d.rule()
	first, second, other, unplaced := d.publish(), d.publish(), d.publish(), d.publish()
	d.run()
	if got := len(d.decisions(once)); got != 0 {
		t.Errorf("got %d decisions before the articles are placed in stories, want none", got)
	}
	story := uuid.New()
	d.place(first, story)
	d.place(second, uuid.New())
	d.place(other, uuid.New())
	evaluate := func(ids ...uuid.UUID) {
		d.Exec("update rule_articles set leased_until = now() where article_id = any($1)", ids)
		d.run()
	}
	evaluate(first)
	d.place(second, story) // an editor, or the nightly review, has merged them meanwhile
	evaluate(second, other, unplaced)
	got := map[uuid.UUID]rule.Decision{}
	for _, x := range d.decisions(once) {
		got[x.ArticleID] = x
	}
	if got[first].Outcome != rule.Created || got[other].Outcome != rule.Created {
		t.Errorf("got %+v, want a post about each story", got)
	}
	if x := got[second]; x.Outcome != rule.Skipped || x.Reason != rule.DuplicateStory ||
		x.Params["article_id"] != first.String() {
		t.Errorf("got %+v about the second article of a story, want it skipped because of the first", x)
	}
	if _, ok := got[unplaced]; ok {
		t.Error("an article without a story was decided about at once, want it to wait")
	}
	d.Exec("update rule_articles set attempts = 100")
	evaluate(unplaced)
	if all := d.decisions(once); len(all) != 4 || d.Count("select count(*) from rule_articles") != 0 {
		t.Errorf("got %d decisions, want one about the article that is in no story after a minute, too", len(all))
	}
	if got := d.Count("select count(*) from rule_decisions where rule_id = $1 and outcome = 'created'",
		each.ID); got != 4 {
		t.Errorf("got %d posts of a rule that posts each article, want 4", got)
	}
}

// A preview decides like the engine does when the same articles arrive one by one.
func TestPreview_EqualsTheLaterRun(t *testing.T) {
	d := newRig(t)
	rng := rand.New(rand.NewPCG(3, 4))
	at := time.Now().Add(-6 * 24 * time.Hour)
	stories := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	events := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	var articles []uuid.UUID
	for i := range 150 {
		at = at.Add(time.Duration(rng.Int64N(int64(100 * time.Minute))))
		articles = append(articles, d.publish(func(a *draft) {
			a.ID, a.Title, a.Section = idAt(at, byte(i)), fmt.Sprintf("Article %d", i), []string{
				"Sports", "World",
				"Business",
			}[rng.IntN(3)]
			a.Published = at.Add(-time.Duration(rng.Int64N(int64(30 * time.Hour))))
			if rng.IntN(6) == 0 {
				a.Group = stories[rng.IntN(len(stories))]
			}
		}))
		story := uuid.New()
		if rng.IntN(5) == 0 {
			story = events[rng.IntN(len(events))]
		}
		d.place(articles[i], story)
	}
	definition := func(r *rule.Rule) {
		r.Trigger.Sections, r.Conditions.OncePerStory = []string{"Sports", "World"}, true
		r.Mode, r.Timing, r.MaxPerHour, r.MaxPerDay = rule.CreateDraft, rule.Timing{When: rule.Immediately}, 1, 9
	}
	r := d.rule(definition)
	preview, err := d.service.Preview(t.Context(), d.Owner, r)
	d.Must(err)

	for _, id := range articles { // in the order and at the times at which they were stored
		d.engine.Now = func() time.Time { return rule.Article{ID: id}.StoredAt() }
		d.Exec("delete from rule_articles")
		d.queue(id)
		d.run()
	}
	got, want := map[uuid.UUID]string{}, map[uuid.UUID]string{}
	for _, x := range d.decisions(r) {
		outcome := x.Outcome
		if outcome == rule.Created {
			outcome = rule.Reserved
		}
		got[x.ArticleID] = fmt.Sprint(outcome, x.Reason)
		if x.Outcome != rule.Created {
			continue
		}
		at := slices.IndexFunc(preview.Decisions, func(p rule.PreviewDecision) bool {
			return p.ArticleID == x.ArticleID
		})
		p, err := d.Scheduler.Post(t.Context(), d.Workspace.ID, *x.PostID)
		d.Must(err)
		if at < 0 || len(preview.Decisions[at].Texts) != 1 || preview.Decisions[at].Texts[0].Text != p.Content {
			t.Errorf("%s: the preview has another text than %q", x.Title, p.Content)
		}
	}
	reasons := map[rule.Reason]int{}
	for _, x := range preview.Decisions {
		want[x.ArticleID] = fmt.Sprint(x.Outcome, x.Reason)
		reasons[x.Reason]++
	}
	for _, id := range articles {
		if got[id] != want[id] {
			t.Errorf("%s: got %q, the preview had %q", id, got[id], want[id])
		}
	}
	for _, reason := range []rule.Reason{rule.Matched, rule.TooOld, rule.DuplicateStory, rule.HourlyCap} {
		if reasons[reason] == 0 {
			t.Errorf("the stream has no decision with the reason %s: %v", reason, reasons)
		}
	}
	if preview.Articles != len(articles) || preview.Counts[rule.NotSelected]+len(preview.Decisions) != len(articles) {
		t.Errorf("got %d articles and %v, want %d in all", preview.Articles, preview.Counts, len(articles))
	}
}

// idAt returns an article id of an instant.
func idAt(at time.Time, n byte) uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[15] = n
	return id
}

func TestEngine_PausesARule(t *testing.T) {
	t.Run("far too many articles", func(t *testing.T) {
		d := newRig(t)
		r := d.rule(func(r *rule.Rule) { r.MaxPerHour = 2 })
		for range 25 {
			d.publish()
		}
		d.run()
		d.wantPaused(r, rule.PausedTooMany)
		if n := d.Count("select count(*) from scheduled_posts"); n != 2 {
			t.Errorf("got %d posts, want the 2 of the cap", n)
		}
	})
	t.Run("failures in a row", func(t *testing.T) {
		d := newRig(t)
		r := d.rule()
		d.Exec("update accounts set status = 'needs_reconnect'")
		for range 7 {
			d.publish()
		}
		d.run()
		d.wantPaused(r, rule.PausedFailures)
	})
	t.Run("the saved search is deleted", func(t *testing.T) {
		d := newRig(t)
		searches := &savedsearch.Service{Store: d.Store.News.Searches}
		s, _, err := searches.Create(t.Context(), d.Owner, savedsearch.Search{Name: "River", Query: "river"},
			idempotency.Key{})
		d.Must(err)
		r := d.rule(func(r *rule.Rule) { r.Trigger.SavedSearchID = &s.ID })
		d.publish()
		d.publish(func(a *draft) { a.Title = "Something else" })
		d.run()
		if n := len(d.decisions(r)); n != 2 { // the text of both has the word
			t.Errorf("got %d decisions, want 2", n)
		}
		d.Must(searches.Delete(t.Context(), d.Owner, s.ID))
		d.publish()
		d.run()
		d.wantPaused(r, rule.PausedNoSearch)
	})
}

func (d *rig) wantPaused(r rule.Rule, reason rule.PauseReason) {
	d.T.Helper()
	got, err := d.service.Get(d.T.Context(), d.Owner, r.ID)
	d.Must(err)
	if got.Status != rule.Paused || got.PauseReason != reason {
		d.T.Errorf("got %s %s, want it paused because of %s", got.Status, got.PauseReason, reason)
	}
	if n := d.Count("select count(*) from audit_log where object_id = $1 and action = 'rule.paused' and actor = "+
		"'dateline'", r.ID); n != 1 {
		d.T.Errorf("got %d entries of the audit log, want 1", n)
	}
	if n := d.Count("select count(*) from post_events where type = 'rule_paused' and workspace_id = $1 and "+
		"data->>'rule_id' = $2 and data->>'reason' = $3", d.Workspace.ID, r.ID.String(), string(reason)); n != 1 {
		d.T.Errorf("got %d events for webhooks and notifications, want 1", n)
	}
	before := len(d.decisions(r))
	d.publish()
	d.run()
	if after := len(d.decisions(r)); after != before {
		d.T.Errorf("got %d decisions of a paused rule, want %d", after, before)
	}
	resumed, err := d.service.Resume(d.T.Context(), d.Owner, r.ID)
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return // something that it needs is missing
	}
	d.Must(err)
	if resumed.Status != rule.Active || resumed.PauseReason != "" || resumed.PausedAt != nil {
		d.T.Errorf("got %+v, want it active", resumed)
	}
}

// A skipped article is decided about again when it changes.
func TestEngine_EvaluatesCorrectedArticlesAgain(t *testing.T) {
	d := newRig(t)
	r := d.rule(func(r *rule.Rule) { r.Conditions.MinWords = 20 })
	a := d.publish()
	d.run()
	if all := d.decisions(r); len(all) != 1 || all[0].Outcome != rule.Skipped || all[0].Reason != rule.TooShort {
		t.Fatalf("got %+v, want it skipped because it is too short", all)
	}
	d.Exec("update articles set body_text = repeat('word ', 30) where id = $1", a)
	d.correct(a, "The river falls")
	d.run()
	if decision, _ := d.only(r); decision.Outcome != rule.Created {
		t.Errorf("got %+v, want a post", decision)
	}
}
