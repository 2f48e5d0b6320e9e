package api_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/scheduling"
)

// reviewed is a post that is pending approval, with a review link.
type reviewed struct {
	*server
	path string // of the post
	link spec.ReviewLink
	page string // path of the link's page
}

func startReview(t *testing.T) reviewed {
	t.Helper()
	s := start(t)
	s.Connect("desk")
	id := (&things{s: s}).waiting(func(d *scheduling.Draft) { d.Content = "Câu hỏi <b>của</b> luật sư" })
	r := reviewed{server: s, path: "/api/v1/posts/" + id.String()}
	r.link = r.another("Legal")
	address, err := url.Parse(*r.link.Url)
	s.Must(err)
	r.page = address.Path
	return r
}

func (r reviewed) another(name string) (l spec.ReviewLink) {
	r.t.Helper()
	r.decode(r.send("POST", r.path+"/review-links", object{"name": name}), 201, &l)
	return l
}

// open requests the page without credentials.
func (r reviewed) open(method string, form url.Values) (status int, text string) {
	r.t.Helper()
	return r.openAt(r.page, method, form)
}

func (r reviewed) openAt(path, method string, form url.Values) (status int, text string) {
	r.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, body)
	r.Must(err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer := r.do(request)
	return answer.StatusCode, string(answer.body)
}

func (r reviewed) wantState(where string, want spec.ReviewLinkState) {
	r.t.Helper()
	var list struct {
		ReviewLinks []spec.ReviewLink `json:"review_links"`
	}
	r.decode(r.send("GET", r.path+"/review-links", nil), 200, &list)
	got := list.ReviewLinks[len(list.ReviewLinks)-1]
	if got.State != want || got.Url != nil {
		r.t.Errorf("%s: the link is %s with the URL %v, want %s without", where, got.State, got.Url, want)
	}
}

func (r reviewed) wantClosed(where, sentence string) {
	r.t.Helper()
	if status, text := r.open("GET", nil); status != 200 || !strings.Contains(text, sentence) ||
		strings.Contains(text, "luật sư") {
		r.t.Errorf("%s: the page is %d %s, want %q and nothing of the post", where, status, text, sentence)
	}
	before := r.post(r.send("GET", r.path, nil), 200).Version
	r.open("POST", url.Values{"decision": {"approve"}})
	if after := r.post(r.send("GET", r.path, nil), 200).Version; after != before {
		r.t.Errorf("%s: a closed link changed the post from version %d to %d", where, before, after)
	}
}

func TestReviewLink_ApprovesTheVersionItShows(t *testing.T) {
	r := startReview(t)
	status, text := r.open("GET", nil)
	if status != 200 || !strings.Contains(text, "Câu hỏi &lt;b&gt;của&lt;/b&gt; luật sư") ||
		!strings.Contains(text, "Legal") {
		t.Errorf("the page is %d %s, want the post with its markup escaped", status, text)
	}
	if _, text := r.open("POST", url.Values{"decision": {"approve"}}); !strings.Contains(text,
		"You have approved this post") {
		t.Errorf("after approving the page says %s", text)
	}
	if p := r.post(r.send("GET", r.path, nil), 200); p.Status != spec.PostStatusScheduled {
		t.Errorf("the post is %s, want scheduled", p.Status)
	}
	r.wantState("approved", spec.ReviewLinkStateApproved)
	if n := r.Count("select count(*) from audit_log where action = 'post.approved' and actor = 'dateline' and data "+
		"->> 'reviewer' = 'Legal' and data ->> 'review_link' = $1", r.link.Id.String()); n != 1 {
		t.Errorf("got %d entries of the audit log, want one", n)
	}
	if n := r.Count("select count(*) from review_links where secret_hash is not null and encode(secret_hash, "+
		"'escape') like '%' || $1 || '%'", r.page[len("/api/v1/review/"):]); n != 0 {
		t.Error("the secret is stored")
	}
}

func TestReviewLink_RejectsWithAComment(t *testing.T) {
	r := startReview(t)
	if _, text := r.open("POST", url.Values{"decision": {"reject"}, "comment": {" "}}); !strings.Contains(text,
		"Say what should be changed.") || !strings.Contains(text, "<form") {
		t.Errorf("without a comment the page says %s", text)
	}
	r.open("POST", url.Values{"decision": {"reject"}, "comment": {"Which source?"}})
	p := r.post(r.send("GET", r.path, nil), 200)
	if p.Approval == nil || p.Approval.State != spec.ApprovalStateRejected || p.Approval.Note == nil ||
		*p.Approval.Note != "Which source?" {
		t.Errorf("got the approval %+v, want rejected with the comment", p.Approval)
	}
	r.wantState("rejected", spec.ReviewLinkStateRejected)
	r.wantClosed("rejected", "You have asked for changes")
}

func TestReviewLink_IsOutdatedByAnyEdit(t *testing.T) {
	r := startReview(t)
	r.post(r.send("PATCH", r.path, object{"content": "Another text"}), 200)
	r.wantClosed("edited", "The post has changed since this link was made")
	r.wantState("edited", spec.ReviewLinkStateOutdated)
}

func TestReviewLink_IsRevokedAndExpires(t *testing.T) {
	r := startReview(t)
	if got := r.send("DELETE", "/api/v1/review-links/"+r.link.Id.String(),
		nil); got.StatusCode != http.StatusNoContent {
		t.Fatalf("revoking: got %s, want 204", got.Status)
	}
	r.wantClosed("revoked", "This link was revoked")
	r.wantState("revoked", spec.ReviewLinkStateRevoked)
	r.Exec("update review_links set revoked_at = null, expires_at = $1", time.Now().Add(-time.Second))
	r.wantClosed("expired", "This link has expired")
	r.wantState("expired", spec.ReviewLinkStateExpired)
	if status, _ := r.openAt("/api/v1/review/unknown", "GET", nil); status != http.StatusNotFound {
		t.Errorf("an unknown link: got %d, want 404", status)
	}
	p := r.Schedule()
	r.refused(r.send("POST", "/api/v1/posts/"+p.ID.String()+"/review-links", object{"name": "Legal"}), 409,
		"not_pending")
}

func TestReviewLink_ShowsOnlyFilesOfItsPost(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	x := &things{s: s}
	own, other := x.file(), x.file()
	_, plain := x.reviewLink(func(d *scheduling.Draft) { d.Attachments = []string{own.String()} })
	r := reviewed{server: s, page: "/api/v1/review/" + plain}
	if status, text := r.open("GET", nil); status != 200 || !strings.Contains(text, plain+"/files/"+own.String()) {
		t.Errorf("the page is %d %s, want the file in it", status, text)
	}
	if status, _ := r.openAt(r.page+"/files/"+own.String(), "GET", nil); status != 200 {
		t.Errorf("the post's file: got %d, want 200", status)
	}
	if status, _ := r.openAt(r.page+"/files/"+other.String(), "GET", nil); status != http.StatusNotFound {
		t.Errorf("another file: got %d, want 404", status)
	}
}

func TestComments_MentionMembers(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	path := "/api/v1/posts/" + s.Schedule().ID.String() + "/comments"
	member := s.Join(s.Workspace, workspace.Author)
	var c spec.Comment
	s.decode(s.send("POST", path, object{"text": "Is the name right?", "mentions": []any{member.UserID}}), 201, &c)
	var list spec.CommentList
	s.decode(s.send("GET", path, nil), 200, &list)
	if len(list.Comments) != 1 || list.Comments[0].Text != "Is the name right?" ||
		list.Comments[0].UserId != s.Owner.UserID || len(list.People) != 2 {
		t.Errorf("got %+v, want the comment and two people", list)
	}
	if n := s.Count("select count(*) from post_events where type = 'commented' and data -> 'mentions' ->> 0 = $1",
		member.UserID.String()); n != 1 {
		t.Errorf("got %d events for the mentioned member, want one", n)
	}
	s.refused(s.send("POST", path, object{"text": "Who?", "mentions": []any{uuid.New()}}), 422, "invalid_request",
		"mentions")
	token := s.TokenOf(member)
	if got := s.send("DELETE", "/api/v1/comments/"+c.Id.String(), nil, "Authorization",
		"Bearer "+token); got.StatusCode != http.StatusNotFound {
		t.Errorf("deleting another member's comment: got %s, want 404", got.Status)
	}
	if got := s.send("DELETE", "/api/v1/comments/"+c.Id.String(), nil); got.StatusCode != http.StatusNoContent {
		t.Errorf("deleting an own comment: got %s, want 204", got.Status)
	}
}
