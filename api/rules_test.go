package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/search"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/publishing/rule"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/searchtest"
)

func rules(n *newsroomtest.Newsroom) *rule.Service {
	return &rule.Service{
		Store: n.Store.Publishing.Rules, Lookup: n.Store.Publishing.Accounts,
		Engine: &rule.Engine{
			Store: n.Store.Publishing.Rules, Lookup: n.Store.Publishing.Accounts, Posts: n.Scheduler, Images: n.Media,
			Searches: &savedsearch.Matcher{Store: n.Store.News.Searches}, Log: slog.New(slog.DiscardHandler),
		},
	}
}

// newRule is a valid rule on an account.
func newRule(account uuid.UUID, change ...object) object {
	definition := object{
		"trigger": object{}, "conditions": object{"max_age_hours": 24},
		"templates": object{"default": "{title} {url}"}, "image": "none", "track_links": false,
		"account_ids": []any{account}, "timing": object{"when": "now"}, "mode": "draft", "max_per_hour": 5,
		"max_per_day": 10,
	}
	for _, c := range change {
		for key, value := range c {
			definition[key] = value
		}
	}
	return object{"name": "Rule " + uuid.NewString(), "definition": definition}
}

func (x *things) newRule() object { return newRule(x.account()) }

func (x *things) rule() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		r, _, err := rules(x.s.Newsroom).Create(context.Background(), x.s.Owner,
			rule.Rule{Name: someID().String(), Definition: rule.Definition{
				Conditions: rule.Conditions{MaxAgeHours: 1},
				Templates:  map[string]string{rule.DefaultTemplate: "{title}"},
				AccountIDs: []uuid.UUID{x.ownAccount.ID}, MaxPerHour: 1, MaxPerDay: 1,
			}},
			idempotency.Key{})
		x.s.Must(err)
		return r.ID
	})
}

func (x *things) decision() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		id := someID()
		x.s.Exec(
			`insert into rule_decisions (id, rule_id, workspace_id, article_id, group_id, article_version, title, url, outcome, reason, decided_at)
			values ($1, $2, $3, $1, $1, 1, 'Title', 'https://news.example/', 'skipped', 'too_old', now())`, id,
			x.rule(), x.s.Owner.WorkspaceID)
		return id
	})
}

func (s *server) ruleOf(a answer, status int) (r spec.Rule) {
	s.t.Helper()
	s.decode(a, status, &r)
	return r
}

func TestRules_AreManaged(t *testing.T) {
	s := start(t)
	a := s.Connect("desk")
	body := newRule(a.ID, object{
		"hashtags": object{"Sports": "#Sports"}, "timing": object{"when": "delay", "delay_minutes": 30},
		"mode": "approval",
	})
	made := s.ruleOf(s.send("POST", "/api/v1/rules", body), 201)
	if made.Status != spec.RuleStatusActive || made.Definition.Mode != "approval" ||
		(*made.Definition.Hashtags)["Sports"] != "#Sports" || *made.Definition.Timing.DelayMinutes != 30 {
		t.Errorf("got %+v, want the rule as it was sent, active", made)
	}
	at := "/api/v1/rules/" + made.Id.String()
	if paused := s.ruleOf(s.send("POST", at+"/pause", nil), 200); paused.Status != spec.RuleStatusPaused ||
		paused.PauseReason == nil || *paused.PauseReason != "member" || paused.PausedAt == nil {
		t.Errorf("got %+v, want it paused by a member", paused)
	}
	if resumed := s.ruleOf(s.send("POST", at+"/resume", nil), 200); resumed.Status != spec.RuleStatusActive ||
		resumed.PauseReason != nil {
		t.Errorf("got %+v, want it active", resumed)
	}
	s.refused(s.send("PUT", at, body, "If-Match", `"1"`), 412, "version_mismatch")
	body["name"] = "Renamed"
	if changed := s.ruleOf(s.send("PUT", at, body), 200); changed.Name != "Renamed" {
		t.Errorf("got the name %q, want Renamed", changed.Name)
	}
	s.refused(s.send("POST", "/api/v1/rules", body), 422, "invalid_request") // the name is taken
	if n := s.Count("select count(*) from audit_log where object_type = 'rule' and actor = 'user'"); n != 4 {
		t.Errorf("got %d entries of the audit log, want 4: created, paused, resumed, changed", n)
	}
	if got := s.send("DELETE", at, nil); got.StatusCode != http.StatusNoContent {
		t.Errorf("got status %d, want 204", got.StatusCode)
	}
	s.refused(s.send("GET", at, nil), 404, "rule_not_found")
}

func TestRules_RefuseWhatCannotWork(t *testing.T) {
	s := start(t)
	a := s.Connect("desk")
	for name, c := range map[string]struct {
		change object
		field  string
	}{
		"an unknown placeholder": {
			object{"templates": object{"default": "{headline}"}}, "definition.templates.default",
		},
		"the same text every time": {
			object{"templates": object{"default": "Read our news"}}, "definition.templates.default",
		},
		"no default template":    {object{"templates": object{"x": "{title}"}}, "definition.templates.default"},
		"an unknown account":     {object{"account_ids": []any{uuid.New()}}, "definition.account_ids"},
		"no account":             {object{"account_ids": []any{}}, "definition.account_ids"},
		"an unknown group":       {object{"account_ids": []any{}, "group_id": uuid.New()}, "definition.group_id"},
		"a slot without a group": {object{"timing": object{"when": "next_free"}}, "definition.group_id"},
		"approval without time":  {object{"mode": "approval"}, "definition.timing.when"},
		"hours that end before": {
			object{"timing": object{
				"when":  "now",
				"hours": object{"from": "22:00", "to": "07:00", "time_zone": "UTC"},
			}}, "definition.timing.hours.to",
		},
		"hashtags without a sign": {object{"hashtags": object{"Sports": "Goal"}}, "definition.hashtags.Sports"},
		"an unknown saved search": {
			object{"trigger": object{"saved_search_id": uuid.New()}}, "definition.trigger.saved_search_id",
		},
		"hours of an unknown place": {
			object{"timing": object{
				"when":  "now",
				"hours": object{"from": "07:00", "to": "22:00", "time_zone": "Nowhere"},
			}},
			"definition.timing.hours.time_zone",
		},
	} {
		t.Run(name, func(*testing.T) {
			for _, address := range []string{"/api/v1/rules", "/api/v1/rules/preview"} {
				s.refused(s.send("POST", address, newRule(a.ID, c.change)), 422, "invalid_request", c.field)
			}
		})
	}
}

func TestRules_PreviewAndDecisions(t *testing.T) {
	s := start(t)
	a := s.Connect("desk")
	now := time.Now()
	for i, title := range []string{"The river rises", "An old report"} {
		published := now.Add(-time.Hour)
		if i == 1 {
			published = now.Add(-48 * time.Hour)
		}
		searchtest.Store(s.Newsroom,
			search.Document{
				ID: uuid.Must(uuid.NewV7()), URL: "https://news.example/" + uuid.NewString(),
				Domain: "news.example", Title: title, Body: "Words.", Published: published,
			}, now)
	}
	var p spec.RulePreview
	body := newRule(a.ID)
	s.decode(s.send("POST", "/api/v1/rules/preview", body), 200, &p)
	if p.Articles != 2 || p.Counts["matched"] != 1 || p.Counts["too_old"] != 1 || len(p.Decisions) != 2 {
		t.Fatalf("got %+v, want one post and one old article", p)
	}
	for _, d := range p.Decisions {
		switch {
		case d.Title == "An old report" && (d.Reason != "too_old" || d.Params["limit"] != float64(24) ||
			len(d.Texts) != 0):
			t.Errorf("got %+v, want it skipped with the limit", d)
		case d.Title == "The river rises" && (len(d.Texts) != 1 || d.Texts[0].Text != "The river rises "+d.Url ||
			d.Texts[0].Characters == 0):
			t.Errorf("got %+v, want the text of the post", d)
		}
	}
	if n := s.Count("select count(*) from rule_decisions") + s.Count("select count(*) from scheduled_posts"); n != 0 {
		t.Errorf("a preview stored %d rows", n)
	}

	made := s.ruleOf(s.send("POST", "/api/v1/rules", body), 201)
	for range 3 {
		s.Exec(
			`insert into rule_decisions (id, rule_id, workspace_id, article_id, group_id, article_version, title, url, outcome, reason, params, attention, decided_at)
			values ($1, $2, $3, $1, $1, 1, 'Title', 'https://news.example/', 'failed', 'invalid_post', '{"message": "Too long."}', 'corrected_edited', now())`, someID(), made.Id, s.Owner.WorkspaceID)
	}
	var page, rest spec.RuleDecisionList
	s.decode(s.send("GET", "/api/v1/rule-decisions?limit=2&needs_attention=true&rule_id="+made.Id.String(), nil), 200,
		&page)
	s.decode(s.send("GET", "/api/v1/rule-decisions?limit=2&cursor="+page.NextCursor.String(), nil), 200, &rest)
	if len(page.Decisions) != 2 || len(rest.Decisions) != 1 || rest.NextCursor != nil ||
		page.Decisions[0].Params["message"] != "Too long." {
		t.Errorf("got %+v and %+v, want pages of 2 and 1", page, rest)
	}
	var resolved spec.RuleDecision
	s.decode(s.send("POST", "/api/v1/rule-decisions/"+page.Decisions[0].Id.String()+"/resolve", nil), 200, &resolved)
	if got := s.ruleOf(s.send("GET", "/api/v1/rules/"+made.Id.String(), nil), 200); resolved.Attention != nil ||
		got.AttentionCount != 2 {
		t.Errorf("got attention %v and %d others, want none and 2", resolved.Attention, got.AttentionCount)
	}
}
