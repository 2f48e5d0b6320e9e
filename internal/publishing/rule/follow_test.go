package rule_test

import (
	"strings"
	"testing"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/rule"
	"dateline/internal/publishing/scheduling"
)

func TestFollow_UpdatesAPendingPost(t *testing.T) {
	d := newRig(t)
	automatic, approval := d.rule(), d.rule(func(r *rule.Rule) { r.Mode = rule.NeedsApproval })
	a := d.publish()
	d.run()
	d.correct(a, "The river falls")
	d.run()
	for name, r := range map[string]rule.Rule{"scheduled": automatic, "pending approval": approval} {
		decision, p := d.only(r)
		if !strings.HasPrefix(p.Content, "The river falls\n") || decision.Attention != "" {
			t.Errorf("%s: got %q with attention %q, want the corrected title without attention", name, p.Content,
				decision.Attention)
		}
	}
	if _, p := d.only(automatic); p.Status != post.Scheduled {
		t.Errorf("got %s, want it still scheduled", p.Status)
	}
	d.correct(a, "The river rises again")
	d.run()
	if _, p := d.only(automatic); !strings.HasPrefix(p.Content, "The river rises again\n") {
		t.Errorf("got %q, want the second correction", p.Content)
	}
}

func TestFollow_AsksAboutAPostThatAPersonHasChanged(t *testing.T) {
	d := newRig(t)
	edited, approved := d.rule(), d.rule(func(r *rule.Rule) { r.Mode = rule.NeedsApproval })
	a := d.publish()
	d.run()
	_, p := d.only(edited)
	text := "Our own words"
	_, err := d.Scheduler.Edit(t.Context(),
		post.Guard{WorkspaceID: d.Workspace.ID, PostID: p.ID, Actor: d.Owner.Actor(), UserID: d.Owner.UserID},
		scheduling.Edit{Content: &text})
	d.Must(err)
	_, q := d.only(approved)
	_, err = d.Scheduler.Approve(t.Context(), post.Guard{
		WorkspaceID: d.Workspace.ID, PostID: q.ID, Actor: d.Owner.Actor(), UserID: d.Owner.UserID,
	})
	d.Must(err)
	d.correct(a, "The river falls")
	d.run()
	for r, want := range map[*rule.Rule]string{&edited: text, &approved: q.Content} {
		decision, p := d.only(*r)
		if p.Content != want || decision.Attention != rule.CorrectedEdited {
			t.Errorf("got %q with attention %q, want %q with %q", p.Content, decision.Attention, want,
				rule.CorrectedEdited)
		}
		if n := d.Count("select count(*) from post_events where post_id = $1 and type = 'problem'", p.ID); n != 1 {
			t.Errorf("got %d notes in the timeline, want 1", n)
		}
	}
	decision, _ := d.only(edited)
	if got, err := d.service.Get(t.Context(), d.Owner, edited.ID); err != nil || got.AttentionCount != 1 {
		t.Errorf("got %d %v, want 1 that needs attention", got.AttentionCount, err)
	}
	resolved, err := d.service.Resolve(t.Context(), d.Owner, decision.ID)
	if err != nil || resolved.Attention != "" {
		t.Errorf("got %q %v, want no attention", resolved.Attention, err)
	}
	d.queue(a)
	d.run()
	if decision, _ := d.only(edited); decision.Attention != "" {
		t.Errorf("got attention %q for the same correction, want none", decision.Attention)
	}
}

func TestFollow_IgnoresCorrectionsThatChangeNoText(t *testing.T) {
	d := newRig(t)
	r := d.rule()
	a := d.publish()
	d.run()
	_, before := d.only(r)
	d.Exec("update articles set body_text = 'Other words.' where id = $1", a)
	d.correct(a, "The river rises")
	d.run()
	if _, after := d.only(r); after.Version != before.Version {
		t.Errorf("got version %d of the post, want %d", after.Version, before.Version)
	}
}

func TestFollow_UnschedulesPostsOfWithdrawnArticles(t *testing.T) {
	d := newRig(t)
	pending, published := d.rule(), d.rule()
	a := d.publish()
	d.run()
	_, p := d.only(published)
	d.Finish(d.Claim(p), post.TargetPosted)
	d.Exec("update articles set removed_at = now() where id = $1", a)
	d.queue(a)
	d.run()
	decision, p := d.only(pending)
	if !p.IsPendingApproval() || decision.Attention != rule.WithdrawnPending {
		t.Errorf("got %s %s with attention %q, want it pending approval with %q", p.Status, p.Approval.State,
			decision.Attention, rule.WithdrawnPending)
	}
	decision, p = d.only(published)
	if p.Status != post.Posted || decision.Attention != rule.WithdrawnPublished {
		t.Errorf("got %s with attention %q, want it posted with %q", p.Status, decision.Attention,
			rule.WithdrawnPublished)
	}
	version := p.Version
	d.queue(a)
	d.run() // once is enough
	if _, p = d.only(published); p.Version != version {
		t.Error("a repeated evaluation changed the post")
	}

	d.Exec("update articles set removed_at = null where id = $1", a)
	d.correct(a, "The river falls")
	d.run()
	decision, p = d.only(pending)
	if decision.Attention != "" || !p.IsPendingApproval() || !strings.HasPrefix(p.Content, "The river falls") {
		t.Errorf("got %q %s with attention %q, want the new title, still pending, without attention", p.Content,
			p.Status, decision.Attention)
	}
}
