package rule_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/rule"
	"dateline/internal/publishing/scheduling"
)

// hookedPosts calls a function before it creates a post.
type hookedPosts struct {
	rule.Posts
	before func()
}

func (p hookedPosts) CreateAutomatic(ctx context.Context, in scheduling.Automatic) (post.Post, error) {
	p.before()
	return p.Posts.CreateAutomatic(ctx, in)
}

// hookedStore calls a function before it finishes a decision.
type hookedStore struct {
	rule.EngineStore
	before func()
}

func (s hookedStore) FinishDecision(ctx context.Context, d rule.Decision, maxFailures int) error {
	s.before()
	return s.EngineStore.FinishDecision(ctx, d, maxFailures)
}

// An attempt that takes too long is repeated elsewhere, while it continues. Whatever the
// two find, a post exists if and only if the decision says so.
func TestEngine_AgreesWithAConcurrentAttempt(t *testing.T) {
	setup := func(t *testing.T) (*rig, rule.Rule, rule.Request) {
		d := newRig(t)
		r := d.rule()
		request := rule.Request{RuleID: r.ID, ArticleID: d.publish()}
		if outcome, err := d.engine.Reserve(t.Context(), request); err != nil || outcome != rule.Reserved {
			t.Fatalf("got %s, %v, want it reserved", outcome, err)
		}
		return d, r, request
	}
	t.Run("the other one has skipped the article", func(t *testing.T) {
		d, r, request := setup(t)
		slow := d.newEngine(d.Store)
		slow.Posts = hookedPosts{d.Scheduler, func() {
			d.Exec("update articles set removed_at = now() where id = $1", request.ArticleID)
			if _, outcome, err := d.engine.CreatePost(t.Context(), request); err != nil || outcome != rule.Skipped {
				t.Errorf("got %s, %v, want the withdrawn article skipped", outcome, err)
			}
		}}
		if _, _, err := slow.CreatePost(t.Context(), request); !errors.Is(err, post.ErrDecided) {
			t.Errorf("got %v, want %v", err, post.ErrDecided)
		}
		d.wantPosts(r, request, 0, rule.Skipped)
	})
	t.Run("the rule was deleted", func(t *testing.T) {
		d, r, request := setup(t)
		d.engine.Posts = hookedPosts{d.Scheduler, func() { d.Must(d.service.Delete(t.Context(), d.Owner, r.ID)) }}
		if _, _, err := d.engine.CreatePost(t.Context(), request); !errors.Is(err, post.ErrDecided) {
			t.Errorf("got %v, want %v", err, post.ErrDecided)
		}
		if n := d.Count("select count(*) from scheduled_posts"); n != 0 {
			t.Errorf("got %d posts of a deleted rule, want none", n)
		}
		if _, outcome, err := d.engine.CreatePost(t.Context(), request); err != nil || outcome != rule.Skipped {
			t.Errorf("got %s, %v from the next attempt, want it skipped", outcome, err)
		}
	})
	t.Run("the other one has created the post", func(t *testing.T) {
		d, r, request := setup(t)
		other := d.newEngine(d.Store)
		other.Posts = faultyPosts{d.Scheduler, &faulty{remaining: 1}} // ends before it finishes the decision
		d.Exec("update articles set removed_at = now() where id = $1", request.ArticleID)
		d.engine.Store = hookedStore{d.Store.Publishing.Rules, func() {
			d.Exec("update articles set removed_at = null where id = $1", request.ArticleID)
			if _, _, err := other.CreatePost(t.Context(), request); !errors.Is(err, errCrash) {
				t.Errorf("got %v, want a crash", err)
			}
		}}
		if _, outcome, err := d.engine.CreatePost(t.Context(), request); err == nil {
			t.Errorf("got %s, want an error: the article has a post", outcome)
		}
		d.engine.Store = d.Store.Publishing.Rules
		d.Must(d.decide(t.Context(), d.engine, request))
		d.wantPosts(r, request, 1, rule.Created)
	})
}

// refusingLimits refuses to say how long texts may be.
type refusingLimits struct{ rule.Posts }

func (refusingLimits) TextLimits(
	context.Context, uuid.UUID, []uuid.UUID, bool,
) (map[uuid.UUID]scheduling.TextLimit, error) {
	return nil, apperr.NotFound("account")
}

// A post that a crashed attempt has created belongs to its decision, even if its texts
// could not be rendered now.
func TestEngine_AdoptsThePostOfACrashedAttempt(t *testing.T) {
	d := newRig(t)
	r := d.rule()
	request := rule.Request{RuleID: r.ID, ArticleID: d.publish()}
	d.engine.Posts = faultyPosts{d.Scheduler, &faulty{remaining: 1}}
	if err := d.decide(t.Context(), d.engine, request); !errors.Is(err, errCrash) {
		t.Fatalf("got %v, want a crash", err)
	}
	d.engine.Posts = refusingLimits{d.Scheduler}
	d.Must(d.decide(t.Context(), d.engine, request))
	d.wantPosts(r, request, 1, rule.Created)
}

// wantPosts checks that the decision of a rule about an article and the posts agree.
func (d *rig) wantPosts(r rule.Rule, request rule.Request, posts int, outcome rule.Outcome) {
	d.T.Helper()
	all := d.decisions(r)
	if len(all) != 1 || all[0].Outcome != outcome {
		d.T.Fatalf("got the decisions %+v, want one that is %s", all, outcome)
	}
	if n := d.Count("select count(*) from scheduled_posts where content like '%' || $1",
		request.ArticleID.String()); n != posts {
		d.T.Errorf("got %d posts, want %d", n, posts)
	}
	if n := d.Count("select count(*) from scheduled_posts p where not exists (select 1 from rule_decisions d where " +
		"d.post_id = p.post_id and d.outcome = 'created')"); n != 0 {
		d.T.Errorf("got %d posts without a decision, want none", n)
	}
}
