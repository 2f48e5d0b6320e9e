package rule_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/site"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/rule"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

// newViewsRig is a newsroom with a site whose pages are the articles of news.example.
func newViewsRig(t *testing.T) (*rig, site.Site) {
	t.Helper()
	d := newRig(t)
	w, _ := d.Site(func(s *site.Site) { s.Domains = []string{"news.example"} })
	d.Exec("create table view_hours_test partition of view_hours default")
	d.Exec("create table view_days_test partition of view_days default")
	return d, w
}

// old stores an article of the site that was published long ago.
func (d *rig) old(w site.Site, age time.Duration, change ...func(*draft)) uuid.UUID {
	d.T.Helper()
	id := d.publish(append([]func(*draft){func(a *draft) { a.Published = time.Now().Add(-age) }}, change...)...)
	d.Exec("delete from rule_articles")
	d.Exec("insert into site_articles (site_id, page, article_id, title, authors, section, tags, published_at, "+
		"published_on) values ($1, $3, $2, '', '{}', '', '{}', now(), now())", w.ID, id, "/"+id.String())
	d.Exec("insert into view_pages (site_id, page, unique_method) values ($1, $2, 'set')", w.ID, "/"+id.String())
	return id
}

// read adds views of an article in the hour of an instant. They are rolled up.
func (d *rig) read(w site.Site, article uuid.UUID, at time.Time, views int) {
	d.T.Helper()
	d.Exec(
		`insert into view_hours (page_id, kind, hour, day, count, funnel, rolled_count) select id, 'view', date_trunc('hour', $3::timestamptz), ($3::timestamptz at time zone 'UTC')::date, $4, 0, $4
		from view_pages where site_id = $1 and page = $2 on conflict (page_id, kind, hour) do update set count = view_hours.count + excluded.count, rolled_count = view_hours.rolled_count + excluded.count`, w.ID, "/"+article.String(), at, views)
	d.Exec(
		`insert into view_days (page_id, kind, day, count, funnel) select id, 'view', ($3::timestamptz at time zone 'UTC')::date, $4, 0
		from view_pages where site_id = $1 and page = $2 on conflict (page_id, kind, day) do update set count = view_days.count + excluded.count`, w.ID, "/"+article.String(), at, views)
}

// evaluate evaluates the rules at an instant and decides.
func (d *rig) evaluate(at time.Time) {
	d.T.Helper()
	d.engine.Now = func() time.Time { return at }
	d.Exec("update rules set evaluated_at = 'epoch'")
	d.Must(d.engine.EvaluateViews(d.T.Context(), d.start))
	for request := range d.started {
		d.Must(d.decide(d.T.Context(), d.engine, request))
	}
	clear(d.started)
}

func (d *rig) posts() (out []post.Post) {
	d.T.Helper()
	for _, x := range d.allDecisions() {
		if x.Outcome == rule.Created {
			p, err := d.Scheduler.Post(d.T.Context(), d.Workspace.ID, *x.PostID)
			d.Must(err)
			out = append(out, p)
		}
	}
	slices.Reverse(out)
	return out
}

func (d *rig) allDecisions() []rule.Decision {
	d.T.Helper()
	all, err := d.service.Decisions(d.T.Context(), d.Owner, rule.DecisionFilter{Limit: 1000})
	d.Must(err)
	return all
}

func draftsNow(r *rule.Rule) {
	r.Mode, r.Timing = rule.CreateDraft, rule.Timing{When: rule.Immediately}
}

func evergreen(r *rule.Rule) {
	draftsNow(r)
	r.Trigger.Evergreen = &rule.Evergreen{MinViews: 100, Days: 7, MinAgeDays: 30, RepeatDays: 30}
}

func noonToday() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour) }

// thisHour is after all times of publication of more than an hour ago.
func thisHour() time.Time { return time.Now().UTC().Truncate(time.Hour).Add(5 * time.Minute) }

func TestTrending_PostsOnceAboveTheThreshold(t *testing.T) {
	d, w := newViewsRig(t)
	d.rule(func(r *rule.Rule) {
		draftsNow(r)
		r.Trigger.Trending = &rule.Trending{MinViews: 100, Hours: 2}
	})
	now := thisHour()
	hot, slow, stale := d.old(w, 3*time.Hour), d.old(w, 3*time.Hour), d.old(w, 90*24*time.Hour)
	d.read(w, hot, now.Add(-time.Hour), 60)
	d.read(w, hot, now, 40)
	d.read(w, slow, now, 99)
	d.read(w, slow, now.Add(-3*time.Hour), 500) // before the two hours
	d.read(w, stale, now, 1000)
	d.evaluate(now)
	d.evaluate(now.Add(2 * time.Minute))
	if got := d.posts(); len(got) != 1 || !strings.Contains(got[0].Content, hot.String()) {
		t.Fatalf("got %d posts, want one of the article with 100 views in two hours", len(got))
	}
	for _, x := range d.allDecisions() {
		if x.ArticleID == stale && x.Reason != rule.TooOld {
			t.Errorf("got the reason %s for an old article, want %s", x.Reason, rule.TooOld)
		}
	}
	d.read(w, slow, now, 1)
	d.evaluate(now.Add(4 * time.Minute))
	if got := d.posts(); len(got) != 2 {
		t.Errorf("got %d posts after the other article reached the threshold, want 2", len(got))
	}
}

// An article that a cap left out is posted when the cap allows it and it is still read.
func TestTrending_DecidesAgainWhatACapPrevented(t *testing.T) {
	d, w := newViewsRig(t)
	d.rule(func(r *rule.Rule) {
		draftsNow(r)
		r.Trigger.Trending, r.MaxPerHour = &rule.Trending{MinViews: 10, Hours: 12}, 2
	})
	now := thisHour()
	for range 5 {
		d.read(w, d.old(w, 3*time.Hour), now, 10)
	}
	for minute := 0; minute <= 60; minute += 20 {
		d.evaluate(now.Add(time.Duration(minute) * time.Minute))
		if got, want := len(d.posts()), 2+2*(minute/60); got != want {
			t.Fatalf("after %d minutes: got %d posts, want %d", minute, got, want)
		}
	}
}

func TestEvergreen_RepostsWithFreshWording(t *testing.T) {
	d, w := newViewsRig(t)
	_, err := d.Fake.Add(fake.Account{Network: "x", Name: "desk"})
	d.Must(err)
	x := d.Consented("x")[0] // rejects repeated texts; Mastodon does not
	r := d.rule(evergreen, func(r *rule.Rule) {
		r.AccountIDs = append(r.AccountIDs, x.ID)
		r.Variants = map[string][]string{rule.DefaultTemplate: {"Worth reading again: {title}\n\n{url}"}}
	})
	now := noonToday()
	a, fresh := d.old(w, 60*24*time.Hour), d.old(w, 29*24*time.Hour)
	d.read(w, fresh, now.AddDate(0, 0, -1), 5000)
	for round, want := range []struct {
		prefix   string
		accounts int
	}{{"The river rises", 2}, {"Worth reading again: ", 2}, {"The river rises", 1}} {
		d.read(w, a, now.AddDate(0, 0, -1), 60)
		d.evaluate(now)
		if got := len(d.posts()); got != round {
			t.Fatalf("round %d: got %d posts with 60 views, want %d", round, got, round)
		}
		d.read(w, a, now.AddDate(0, 0, -2), 40)
		for range 3 {
			d.evaluate(now)
			now = now.Add(time.Hour)
		}
		got := d.posts()
		if len(got) != round+1 {
			t.Fatalf("round %d: got %d posts, want %d", round, len(got), round+1)
		}
		p := got[round]
		if !strings.HasPrefix(p.Content, want.prefix) || len(p.Targets) != want.accounts {
			t.Errorf("round %d: got %q on %d accounts, want it to begin with %q on %d", round, p.Content,
				len(p.Targets), want.prefix, want.accounts)
		}
		if last := d.decisions(r)[0]; last.Reason != rule.RecentlyPosted || last.Round != round+2 {
			t.Errorf("round %d: got the newest decision %s of round %d, want %s of round %d", round, last.Reason,
				last.Round, rule.RecentlyPosted, round+2)
		}
		now = now.AddDate(0, 0, 31)
	}
	if n := d.Count("select count(*) from rule_decisions where article_id = $1", fresh); n != 0 {
		t.Errorf("got %d decisions about an article of 29 days, want 0", n)
	}
}

func TestEvergreen_SkipsWithoutFreshWording(t *testing.T) {
	d, w := newViewsRig(t)
	_, err := d.Fake.Add(fake.Account{Network: "x", Name: "desk"})
	d.Must(err)
	x := d.Consented("x")[0]
	r := d.rule(evergreen, func(r *rule.Rule) { r.AccountIDs, r.MaxPerHour = []uuid.UUID{x.ID}, 1 })
	now := noonToday()
	a, b := d.old(w, 60*24*time.Hour), d.old(w, 60*24*time.Hour)
	for range 2 {
		d.read(w, a, now.AddDate(0, 0, -1), 300)
		d.evaluate(now)
		now = now.AddDate(0, 0, 31)
	}
	if all := d.decisions(r); len(all) != 2 || all[0].Reason != rule.NoNewText {
		t.Fatalf("got %+v, want the second decision to be skipped because of %s", all, rule.NoNewText)
	}
	d.read(w, a, now.AddDate(0, 0, -1), 300)
	d.read(w, b, now.AddDate(0, 0, -1), 200)
	d.evaluate(now)
	if got := d.posts(); len(got) != 2 || !strings.Contains(got[1].Content, b.String()) {
		t.Errorf("got %d posts, want one of each article: what has no new text uses up no cap", len(got))
	}
	changed, err := d.service.Update(t.Context(), d.Owner, r.ID, 0, func(r *rule.Rule) {
		r.Variants = map[string][]string{"default": {"Again: {url}"}}
	})
	d.Must(err)
	d.Exec("update rules set updated_at = $2 where id = $1", changed.ID, now.Add(time.Minute))
	d.evaluate(now.Add(2 * time.Hour))
	if got := d.posts(); len(got) != 3 ||
		!slices.ContainsFunc(got, func(p post.Post) bool { return strings.HasPrefix(p.Content, "Again: ") }) {
		t.Errorf("got %d posts after a wording was added, want a third one with it", len(got))
	}
}

func TestEvergreen_ConsidersPostsOfMembers(t *testing.T) {
	d, w := newViewsRig(t)
	r := d.rule(evergreen)
	now := noonToday()
	a, b := d.old(w, 60*24*time.Hour), d.old(w, 60*24*time.Hour)
	for _, id := range []uuid.UUID{a, b} {
		d.read(w, id, now.AddDate(0, 0, -1), 300)
	}
	d.Schedule(func(in *scheduling.Draft) { in.Content = "Our archive: https://news.example/" + a.String() })
	d.Schedule(func(in *scheduling.Draft) { in.Content = "Another page: https://news.example/" + b.String() + "-2" })
	d.evaluate(now)
	for _, x := range d.decisions(r) {
		if want := map[uuid.UUID]rule.Reason{a: rule.RecentlyPosted, b: rule.Matched}[x.ArticleID]; x.Reason != want {
			t.Errorf("got %s, want %s", x.Reason, want)
		}
	}
}

// Several rules and processes select the same article at the same time.
func TestEvergreen_IsPostedByOneOfSeveralRules(t *testing.T) {
	d, w := newViewsRig(t)
	now := noonToday()
	a := d.old(w, 60*24*time.Hour)
	d.read(w, a, now.AddDate(0, 0, -1), 300)
	d.engine.Now = func() time.Time { return now }
	var rules []rule.Rule
	for range 4 {
		rules = append(rules, d.rule(evergreen))
	}
	var wg sync.WaitGroup
	for _, r := range slices.Concat(rules, rules) {
		wg.Go(func() {
			if err := d.decide(t.Context(), d.newEngineAt(now),
				rule.Request{RuleID: r.ID, ArticleID: a, Round: 1, Views: 300}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := len(d.posts()); got != 1 {
		t.Errorf("got %d posts, want 1", got)
	}
}

func (d *rig) newEngineAt(now time.Time) *rule.Engine {
	e := d.newEngine(d.Store)
	e.Now = func() time.Time { return now }
	return e
}

// After a crash at any step, an article has exactly one post in a round, and corrections
// keep the wording.
func TestEvergreen_CreatesOnePostAfterACrashAtAnyStep(t *testing.T) {
	d, w := newViewsRig(t)
	d.rule(evergreen, func(r *rule.Rule) {
		r.Variants = map[string][]string{rule.DefaultTemplate: {"Again: {title}\n\n{url}"}}
	})
	now := noonToday()
	for step := 1; ; step++ {
		a := d.old(w, 60*24*time.Hour)
		f := &faulty{}
		for round := 1; round <= 2; round++ {
			at := now.AddDate(0, 0, 40*round)
			d.read(w, a, at.AddDate(0, 0, -1), 300)
			f.remaining = 0
			if round == 2 {
				f.remaining = step
			}
			d.engine.Store, d.engine.Posts, d.engine.Now = faultyStore{d.Store.Publishing.Rules, f}, faultyPosts{
				d.Scheduler,
				f,
			}, func() time.Time { return at }
			d.Exec("update rules set evaluated_at = 'epoch'")
			d.Must(d.engine.EvaluateViews(t.Context(), d.start))
			for request := range d.started {
				for err := errCrash; err != nil; {
					if err = d.decide(t.Context(), d.engine, request); err != nil && !errors.Is(err, errCrash) {
						t.Fatal(err)
					}
				}
			}
			clear(d.started)
		}
		hasCrashed := f.hasCrashed()
		d.engine.Store, d.engine.Posts = d.Store.Publishing.Rules, d.Scheduler
		d.correct(a, "The river falls")
		d.run()
		for prefix, want := range map[string]int{"The river falls": 1, "Again: The river falls": 1} {
			if n := d.Count("select count(*) from scheduled_posts where content like $1 || '%' and content "+
				"like '%' || $2", prefix, a.String()); n != want {
				t.Fatalf("a crash after step %d: got %d posts that begin with %q, want %d", step, n, prefix, want)
			}
		}
		if !hasCrashed {
			if step < 3 {
				t.Fatalf("got %d steps, want more", step)
			}
			return
		}
	}
}

func TestTrigger_OwnSites(t *testing.T) {
	d, _ := newViewsRig(t)
	r := d.rule(func(r *rule.Rule) { r.Trigger.OwnSites = true })
	own, other := d.publish(), d.publish()
	d.Exec("update articles set canonical_url = 'https://othernews.example/' || id where id = $1", other)
	d.Exec("update articles set canonical_url = 'https://www.news.example/' || id where id = $1", own)
	d.run()
	if decision, _ := d.only(r); decision.ArticleID != own {
		t.Errorf("got a post about %s, want the article of the own site %s", decision.ArticleID, own)
	}
}
