package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/testing/e2etest"
)

// TestRules_SurviveKills kills the program at random moments while two rules create
// posts. Each article has one post of each rule, and the cap holds.
func TestRules_SurviveKills(t *testing.T) {
	t.Parallel()
	const kills, each, limit = 5, 8, 10
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host(), "DATELINE_LOG_LEVEL=warn")
	d.start()
	d.ready()
	account := n.connect(d, "desk")
	d.call("POST", "/api/v1/seeds", map[string]any{"url": "https://news.example/"}, nil)
	rule := func(name string, perHour int) {
		t.Helper()
		d.call("POST", "/api/v1/rules",
			map[string]any{"name": name, "definition": map[string]any{
				"trigger":    map[string]any{},
				"conditions": map[string]any{"max_age_hours": 24},
				"templates":  map[string]any{"default": name + " {url}"}, "image": "none", "track_links": false,
				"account_ids": []string{account}, "timing": map[string]any{"when": "now"},
				"mode": "draft", "max_per_hour": perHour, "max_per_day": 100,
			}}, nil)
	}
	rule("all", 100)
	rule("capped", limit)

	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for range kills {
		for range each {
			d.publish(uuid.Must(uuid.NewV7()))
		}
		time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
		d.kill()
		d.start()
		d.ready()
	}
	// A lost workflow is started again after five minutes, a lost lease after one.
	e2etest.Eventually(t, 8*time.Minute, "all decisions", func() bool {
		return d.number("select count(*) from rule_articles") == 0 &&
			d.number("select count(*) from rule_decisions where outcome in ('skipped', 'created')") == 2*kills*each
	})
	for name, want := range map[string]int{"all": kills * each, "capped": limit} {
		posts := d.number(fmt.Sprintf("select count(*) from scheduled_posts where content like '%s "+
			"https://news.example/%%'", name))
		different := d.number(fmt.Sprintf("select count(distinct content) from scheduled_posts where content like "+
			"'%s https://news.example/%%'", name))
		decided := d.number(fmt.Sprintf("select count(*) from rule_decisions d join rules r on r.id = d.rule_id join "+
			"scheduled_posts p on p.post_id = d.post_id where r.name = '%s' and d.outcome = 'created'", name))
		if posts != want || different != want || decided != want {
			t.Errorf("the rule %q: got %d posts about %d articles and %d decisions with a post, want %d each", name,
				posts, different, decided, want)
		}
	}
}

// publish stores an article as the extraction does.
func (d *dateline) publish(id uuid.UUID) {
	d.t.Helper()
	sql := strings.ReplaceAll(`with a as (
		insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, lead, body_text, body_html, section, language, content_hash, group_id, object_key, fetched_at)
		select 'ID', c.id, 'ID', 'ID', 'https://news.example/ID', 'https://news.example/ID', 'The river rises', now(), now(), '', 'Rain fell for a week.', '', '', 'en', '', 'ID', '', now()
		from crawl_domains c where c.domain = 'news.example' returning id)
	, q as (insert into rule_articles (article_id) select id from a returning 1) select count(*) from q`, "ID",
		id.String())
	if got := d.number(sql); got != 1 {
		d.t.Fatalf("got %d stored articles, want 1", got)
	}
}
