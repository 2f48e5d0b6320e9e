package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/post"
)

// approving is a server of a workspace that requires approval of authors' posts.
type approving struct {
	*server
	author, editor []string
}

func startApproving(t *testing.T) approving {
	t.Helper()
	s := start(t)
	s.Connect("desk")
	s.Exec("update workspaces set authors_need_approval = true")
	as := func(role workspace.Role) []string { return []string{"Authorization", "Bearer " + s.Member(role)} }
	return approving{s, as(workspace.Author), as(workspace.Editor)}
}

func (s approving) pending(a answer, status int) spec.Post {
	s.t.Helper()
	p := s.post(a, status)
	if p.Status != spec.PostStatusDraft || p.Approval == nil || p.Approval.State != spec.ApprovalStatePending ||
		p.Approval.SubmittedAt == nil {
		s.t.Fatalf("not pending: %s", a.body)
	}
	return p
}

// editorAnyVersion returns headers of the editor that match any version of a post.
func (s approving) editorAnyVersion() []string {
	return append(slices.Clone(s.editor), "If-Match", "*")
}

func (s approving) waiting() (ids []uuid.UUID) {
	s.t.Helper()
	var page spec.PostPage
	s.decode(s.send("GET", "/api/v1/posts?approval=pending&order=asc", nil), 200, &page)
	for _, p := range page.Posts {
		ids = append(ids, p.Id)
	}
	return ids
}

func (s approving) eventTypes(id uuid.UUID) string {
	s.t.Helper()
	events, err := s.Store.Publishing.Posts.Events(s.t.Context(), id, 0, 100)
	s.Must(err)
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return strings.Join(types, " ")
}

func TestApproval_PostsOfAuthorsWait(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	body := hello(object{"scheduled_time": "2028-12-24T18:00", "time_zone": "Asia/Tokyo"})
	a := s.send("POST", "/api/v1/posts", body, s.author...)
	p := s.pending(a, 201)
	path := "/api/v1/posts/" + p.Id.String()
	if s.temporal.signals(p.Id) != 0 || p.Approval.SubmittedBy == nil ||
		fmt.Sprint(s.waiting()) != fmt.Sprint([]uuid.UUID{p.Id}) {
		t.Errorf("got %s; waiting: %v", a.body, s.waiting())
	}
	s.refused(s.send("POST", path+"/approve", nil, s.author...), 403, "role_insufficient")
	s.refused(s.send("POST", path+"/approve", nil, s.editor...), 428, "if_match_required") // a version is required
	s.refused(s.send("POST", path+"/reject", object{"note": "No"}, s.author...), 403, "role_insufficient")
	s.refused(s.send("POST", path+"/submit", nil, s.author...), 409, "already_pending")
	// Editing a pending post keeps it pending. An approval of the previous text is
	// refused.
	edited := s.send("PATCH", path, object{"content": "Corrected"}, s.author...)
	s.pending(edited, 200)
	s.refused(s.send("POST", path+"/approve", nil, append(s.editor, "If-Match", a.Header.Get("ETag"))...), 412,
		"version_mismatch")
	approved := s.post(s.send("POST", path+"/approve", nil, append(s.editor, "If-Match", edited.Header.Get("ETag"))...),
		200)
	require.Equal(t, spec.PostStatusScheduled, approved.Status)
	require.Equal(t, "2028-12-24T18:00:00+09:00", approved.ScheduledTime.Format(time.RFC3339))
	require.Equal(t, "Corrected", approved.Content)
	require.Equal(t, spec.ApprovalStateApproved, approved.Approval.State)
	require.NotNil(t, approved.Approval.DecidedBy)
	require.NotEqual(t, *p.Approval.SubmittedBy, *approved.Approval.DecidedBy)
	require.Equal(t, 1, s.temporal.signals(p.Id))
	s.refused(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 409, "not_pending")
	s.refused(s.send("POST", path+"/reject", object{"note": "No"}, s.editor...), 409, "not_pending")
	if got := s.eventTypes(p.Id); got != "created submitted edited approved" || len(s.waiting()) != 0 {
		t.Errorf("events: %s; pending: %v", got, s.waiting())
	}
	// Other users need no approval, nor does any workspace that does not require it.
	for _, as := range [][]string{s.editor, nil} {
		if p := s.post(s.send("POST", "/api/v1/posts", hello(), as...), 201); p.Status != spec.PostStatusScheduled ||
			p.Approval != nil {
			t.Errorf("got %+v", p)
		}
	}
	s.Exec("update workspaces set authors_need_approval = false")
	if p := s.post(s.send("POST", "/api/v1/posts", hello(), s.author...), 201); p.Status != spec.PostStatusScheduled ||
		p.Approval != nil {
		t.Errorf("got %+v", p)
	}
}

// A decision that was a slip is undone while the post waits. It keeps its submitter and is decided again.
func TestApproval_ReopenTakesTheDecisionBack(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	for decision, body := range map[string]any{"approve": nil, "reject": object{"note": "Tên sai"}} {
		p := s.pending(s.send("POST", "/api/v1/posts", hello(), s.author...), 201)
		path := "/api/v1/posts/" + p.Id.String()
		s.refused(s.send("POST", path+"/reopen", nil, s.editor...), 409, "not_decided")
		decided := s.send("POST", path+"/"+decision, body, s.editorAnyVersion()...)
		s.post(decided, 200)
		s.refused(s.send("POST", path+"/reopen", nil, s.author...), 403, "role_insufficient")
		old := append(slices.Clone(s.editor), "If-Match", `"1"`)
		s.refused(s.send("POST", path+"/reopen", nil, old...), 412, "version_mismatch")
		again := append(slices.Clone(s.editor), "If-Match", decided.Header.Get("ETag"))
		reopened := s.pending(s.send("POST", path+"/reopen", nil, again...), 200)
		if reopened.Approval.DecidedBy != nil || reopened.Approval.Note != nil ||
			*reopened.Approval.SubmittedBy != *p.Approval.SubmittedBy || reopened.Content != p.Content {
			t.Errorf("%s: got %+v, want the submission without a decision", decision, reopened.Approval)
		}
		if got := s.eventTypes(p.Id); !strings.HasSuffix(got, " reopened") {
			t.Errorf("%s: got events %s", decision, got)
		}
		if n := s.Count("select count(*) from audit_log where action = 'post.reopened' and object_id = $1", p.Id); n != 1 {
			t.Errorf("%s: got %d entries in the audit log, want 1", decision, n)
		}
		s.post(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 200)
	}
	draft := s.post(s.send("POST", "/api/v1/posts", hello(object{"draft": true}), s.author...), 201)
	posted := s.post(s.send("POST", "/api/v1/posts", hello(), s.editor...), 201)
	for _, id := range []uuid.UUID{draft.Id, posted.Id} { // never submitted
		s.refused(s.send("POST", "/api/v1/posts/"+id.String()+"/reopen", nil, s.editor...), 409, "not_decided")
	}
	out := s.pending(s.send("POST", "/api/v1/posts", hello(), s.author...), 201)
	path := "/api/v1/posts/" + out.Id.String()
	s.post(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 200)
	s.Exec("update scheduled_posts set status = 'publishing' where post_id = $1", out.Id)
	s.refused(s.send("POST", path+"/reopen", nil, s.editor...), 409, "too_late")
}

func TestApproval_RejectReturnsThePostToItsAuthor(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	p := s.pending(s.send("POST", "/api/v1/posts", hello(), s.author...), 201)
	path := "/api/v1/posts/" + p.Id.String()
	p = s.post(s.send("POST", path+"/reject", object{"note": "Tên sai"}, s.editor...), 200)
	if p.Status != spec.PostStatusDraft || p.Approval.State != spec.ApprovalStateRejected ||
		*p.Approval.Note != "Tên sai" || p.Approval.DecidedAt == nil {
		t.Errorf("rejected: %+v", p.Approval)
	}
	s.refused(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 409, "not_pending")
	s.post(s.send("PATCH", path, object{"content": "Better"}, s.author...), 200)
	if len(s.waiting()) != 0 {
		t.Error("an edit alone submitted it")
	}
	again := s.pending(s.send("POST", path+"/submit", nil, s.author...), 200)
	if again.Approval.Note != nil || again.Approval.DecidedBy != nil {
		t.Errorf("the decision about the first text is still there: %+v", again.Approval)
	}
	// Editors may schedule it with another time, which approves it too.
	s.post(s.send("PATCH", path, object{"content": "Best"}, s.editor...), 200)
	p = s.post(s.send("POST", path+"/schedule", object{"scheduled_time": in(2 * time.Hour)}, s.editor...), 200)
	if p.Status != spec.PostStatusScheduled || p.Approval.State != spec.ApprovalStateApproved {
		t.Errorf("got %+v", p)
	}
	if got := s.eventTypes(p.Id); got != "created submitted rejected edited submitted edited scheduled" {
		t.Error(got)
	}
	canceled := s.pending(s.send("POST", "/api/v1/posts", hello(), s.author...), 201)
	s.post(s.send("DELETE", "/api/v1/posts/"+canceled.Id.String(), nil, s.author...), 200)
	if len(s.waiting()) != 0 {
		t.Error("a canceled post is pending")
	}
}

func TestApproval_SubmitRequiresACompleteDraft(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	d := s.post(s.send("POST", "/api/v1/posts", object{"content": "", "draft": true}, s.author...), 201)
	path := "/api/v1/posts/" + d.Id.String()
	s.refused(s.send("POST", path+"/submit", nil, s.author...), 422, "invalid_request", "content", "scheduled_time")
	s.refused(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 409, "not_pending")
	s.post(s.send("PATCH", path, object{"content": "Hello"}, s.author...), 200)
	s.refused(s.send("POST", path+"/publish-now", nil, s.author...), 409, "approval_required")
	p := s.pending(s.send("POST", path+"/schedule", object{"scheduled_time": in(time.Hour)}, s.author...), 200)
	// Edits of a pending post are validated like those of a scheduled one.
	s.refused(s.send("PATCH", path, object{"content": ""}, s.author...), 422, "invalid_request", "content")
	if p := s.post(s.send("POST", path+"/publish-now", nil, s.editor...), 200); p.Status != spec.PostStatusScheduled ||
		p.Approval.State != spec.ApprovalStateApproved {
		t.Errorf("got %+v", p)
	}
	s.refused(s.send("POST", path+"/submit", nil, s.editor...), 409, "not_a_draft")
	if n := s.temporal.signals(p.Id); n != 1 {
		t.Errorf("Temporal got %d signals", n)
	}
}

func TestApproval_EditByAnAuthorUnschedulesThePost(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	for name, edit := range map[string]object{
		"what": {"content": "Changed"}, "when": {
			"scheduled_time": in(3 * time.Hour),
		},
		"where":      {"accounts": []string{s.Connect("sports").ID.String()}},
		"the thread": {"thread": []any{object{"content": "More"}}},
	} {
		t.Run(name, func(t *testing.T) {
			one := *s.server
			one.t = t
			s := approving{&one, s.author, s.editor}
			p := s.post(s.send("POST", "/api/v1/posts", hello()), 201)
			before, err := s.Store.Publishing.Posts.Post(t.Context(), p.Id)
			s.Must(err)
			signals := s.temporal.signals(p.Id)
			s.pending(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), edit, s.author...), 200)
			if s.temporal.signals(p.Id) != signals+1 {
				t.Error("the workflow got no signal that there is nothing to publish")
			}
			after, err := s.Store.Publishing.Posts.Post(t.Context(), p.Id)
			s.Must(err)
			for _, as := range []post.Post{before, after} {
				_, ok, err := s.Store.Publishing.Ledger.Claim(t.Context(),
					post.Call{
						OperationID: uuid.New(), PostID: p.Id, TargetID: after.Targets[0].ID,
						Revision: as.Revision,
						Epoch:    1, IdempotencyKey: "k", Fingerprint: make([]byte, 32),
					}, time.Minute)
				if s.Must(err); ok {
					t.Errorf("revision %d was claimed without an approval", as.Revision)
				}
			}
		})
	}
	p := s.post(s.send("POST", "/api/v1/posts", hello()), 201)
	path := "/api/v1/posts/" + p.Id.String()
	for name, a := range map[string]answer{
		"a zone alone": s.send("PATCH", path, object{"time_zone": "Europe/Paris"},
			s.author...),
		"an editor": s.send("PATCH", path, object{"content": "By an editor"}, s.editor...),
	} {
		if p := s.post(a, 200); p.Status != spec.PostStatusScheduled {
			t.Errorf("%s unschedules it", name)
		}
	}
	s.refused(s.send("POST", path+"/publish-now", nil, s.author...), 409, "approval_required")
	dead := s.Dead(s.Schedule(), post.TargetFailed)
	path = "/api/v1/posts/" + dead.ID.String()
	s.refused(s.send("PATCH", path, object{"content": "Mended"}, s.author...), 409, "approval_required")
	if p := s.post(s.send("POST", path+"/retry", nil, s.author...), 200); p.Status != spec.PostStatusScheduled {
		t.Errorf("an approved target cannot be retried: %+v", p)
	}
	// It failed on one account and is pending on the other: an edit would resend it.
	s.refused(s.send("PATCH", "/api/v1/posts/"+s.halfFailed().String(), object{"content": "Mended"}, s.author...), 409,
		"approval_required")
}

// halfFailed is a post that is scheduled to one account and has failed on another.
func (s approving) halfFailed() uuid.UUID {
	s.t.Helper()
	s.Connect("third")
	p := s.post(s.send("POST", "/api/v1/posts", hello()), 201)
	s.Exec("update post_targets set status = 'failed' where id = $1", p.Targets[0].Id)
	return p.Id
}

func TestApproval_AfterTheScheduledTime(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	p := s.pending(s.send("POST", "/api/v1/posts", hello(), s.author...), 201)
	path := "/api/v1/posts/" + p.Id.String()
	s.Exec("update scheduled_posts set scheduled_time = now() - interval '1 minute'")
	for range 2 {
		s.refused(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 409, "too_late")
	}
	late := s.pending(s.send("GET", path, nil), 200)
	if late.Approval.Note == nil || !strings.Contains(*late.Approval.Note, "has passed") ||
		s.temporal.signals(p.Id) != 0 {
		t.Errorf("got %+v", late.Approval)
	}
	if got := s.eventTypes(p.Id); got != "created submitted refused" {
		t.Error(got)
	}
	if p := s.pending(s.send("PATCH", path, object{"scheduled_time": in(time.Hour)}, s.author...),
		200); p.Approval.Note != nil {
		t.Errorf("the note is still %q", *p.Approval.Note)
	}
	s.post(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 200)
}
