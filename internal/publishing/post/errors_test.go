package post_test

import (
	"strings"
	"testing"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

func TestTooLate_HasAReasonForEveryStatus(t *testing.T) {
	for _, s := range post.Statuses() {
		e := post.TooLate(post.Post{Status: s})
		if e.Kind != apperr.KindConflict || e.Code != "too_late" || strings.HasSuffix(e.Message, ": .") {
			t.Errorf("%s: %+v", s, e)
		}
	}
}

func TestTooLate_NamesUncertainAccounts(t *testing.T) {
	p := post.Post{Status: post.Publishing, Targets: []post.Target{
		{Status: post.TargetPosted, Handle: "a"},
		{Status: post.TargetUncertain, Handle: "b"},
		{Status: post.TargetUncertain, Handle: "@c"},
	}}
	if m := post.TooLate(p).Message; !strings.Contains(m, "needs a decision about @b and @c;") {
		t.Error(m)
	}
	// While a target is being published, this is the reason why the post cannot be
	// changed.
	p.Targets[0].Status = post.TargetPublishing
	if m := post.TooLate(p).Message; !strings.Contains(m, "being published right now") {
		t.Error(m)
	}
}

func TestStatus_Final(t *testing.T) {
	var final []string
	for _, s := range post.Statuses() {
		if s.IsFinal() {
			final = append(final, string(s))
		}
	}
	if got := strings.Join(final, " "); got != "posted partly_posted failed canceled" {
		t.Error(got)
	}
}
