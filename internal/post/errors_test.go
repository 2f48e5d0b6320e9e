package post_test

import (
	"strings"
	"testing"

	"dateline/internal/post"
)

func TestTooLateGivesAReasonForEveryStatusThatRefuses(t *testing.T) {
	for _, s := range post.Statuses() {
		if s == post.Draft || s == post.Scheduled {
			continue
		}
		e := post.TooLate(s)
		if e.Kind != post.Conflict || e.Code != "too_late" || strings.HasSuffix(e.Message, ": .") {
			t.Errorf("%s: %+v", s, e)
		}
	}
}

func TestAnErrorNamesEveryFieldThatIsAtFault(t *testing.T) {
	e := post.InvalidFields(post.Problem{Field: "content", Code: "too_long", Message: "Too long."}, post.Problem{Field: "accounts[1]", Code: "unknown", Message: "Not here."})
	if s := e.Error(); !strings.Contains(s, "content: Too long.") || !strings.Contains(s, "accounts[1]: Not here.") {
		t.Error(s)
	}
}

func TestFinalStatusesAreThoseThatNothingFollows(t *testing.T) {
	var final []string
	for _, s := range post.Statuses() {
		if s.Final() {
			final = append(final, string(s))
		}
	}
	if got := strings.Join(final, " "); got != "posted partly_posted failed cancelled" {
		t.Error(got)
	}
}
