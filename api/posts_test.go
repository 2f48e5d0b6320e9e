package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/publishing/post"
)

func TestCreatePost_ReturnsThePost(t *testing.T) {
	t.Parallel()
	s := start(t)
	account := s.Connect("desk")
	for _, path := range []string{"/api/v1/posts", "/api/schedule-post"} {
		s.Exec("delete from scheduled_posts") // the duplicate text causes a warning
		a := s.send("POST", path, object{
			"content": "Xin chào 👋", "scheduled_time": "2028-12-24T18:00", "time_zone": "Asia/Ho_Chi_Minh",
			"language": "vi",
		})
		p := s.post(a, 201)
		if p.Status != spec.PostStatusScheduled || p.Content != "Xin chào 👋" ||
			p.ScheduledTime.Format(time.RFC3339) != "2028-12-24T18:00:00+07:00" || *p.Language != "vi" {
			t.Errorf("%s: %s", path, a.body)
		}
		if len(p.Targets) != 1 || p.Targets[0].AccountId != account.ID || p.Targets[0].Network != "mastodon" {
			t.Errorf("%s: targets %+v", path, p.Targets)
		}
		if a.Header.Get("Location") != "/api/v1/posts/"+p.Id.String() || a.Header.Get("ETag") != `"1"` ||
			a.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: headers %v", path, a.Header)
		}
		if p.WorkflowId == "" || *p.WorkflowUrl != "https://temporal.example/workflows/"+p.WorkflowId {
			t.Errorf("%s: workflow %q at %v", path, p.WorkflowId, p.WorkflowUrl)
		}
		if n := s.temporal.signals(p.Id); n != 1 {
			t.Errorf("%s: Temporal got %d signals", path, n)
		}
		if read := s.send("GET", a.Header.Get("Location"), nil); string(read.body) != string(a.body) {
			t.Errorf("%s: read %s\nmade %s", path, read.body, a.body)
		}
	}
}

func TestCreatePost_ReturnsAThreadAsItIsRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	accounts := []string{s.Connect("desk").ID.String(), s.Connect("culture").ID.String()}
	for name, more := range map[string]object{
		"Post":           nil,
		"Thread":         {"thread": []object{{"content": "Two"}, {"content": "Three"}}},
		"DraftOfAThread": {"thread": []object{{"content": "Two"}}, "draft": true},
	} {
		a := s.send("POST", "/api/v1/posts", hello(more, object{"content": name, "accounts": accounts}))
		p := s.post(a, 201)
		if len(p.Targets) != 2 {
			t.Errorf("%s: got %d targets, want 2", name, len(p.Targets))
		}
		var made, read map[string]any
		s.Must(json.Unmarshal(a.body, &made))
		s.decode(s.send("GET", a.Header.Get("Location"), nil), 200, &read)
		delete(made, "warnings") // only of the request that stores
		delete(read, "warnings")
		require.Equal(t, read, made, name)
	}
}

func TestCreatePost_WithoutTemporal(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	s.temporal.fail(errors.New("dial tcp 10.0.0.7:7233: connection refused"))
	p := s.post(s.send("POST", "/api/v1/posts", hello()), 201)
	s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), object{"content": "Changed"}), 200)
	s.post(s.send("POST", "/api/v1/posts/"+p.Id.String()+"/publish-now", nil), 200)
	s.post(s.send("DELETE", "/api/v1/posts/"+p.Id.String(), nil), 200)
	if n := s.temporal.signals(p.Id); n != 4 {
		t.Errorf("Temporal got %d signals", n)
	}
	if !strings.Contains(s.log.String(), "signaling Temporal failed") {
		t.Error("the log has no entry about Temporal being down")
	}
}

func TestCreatePost_IsIdempotent(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	body := hello(object{"scheduled_time": in(time.Second)})
	first := s.post(s.send("POST", "/api/v1/posts", body, "Idempotency-Key", "key"), 201)
	for i := range 2 {
		a := s.send("POST", "/api/v1/posts", body, "Idempotency-Key", "key")
		if p := s.post(a, 201); p.Id != first.Id || a.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("repetition %d: %s %v", i, a.body, a.Header)
		}
		if i == 0 {
			time.Sleep(1100 * time.Millisecond) // the next one is past the scheduled time
		}
	}
	s.refused(s.send("POST", "/api/v1/posts", hello(object{"content": "Other"}), "Idempotency-Key", "key"), 422,
		"idempotency_key_reused", "Idempotency-Key")
	if rows := s.Count("select count(*) from scheduled_posts"); rows != 1 {
		t.Errorf("%d posts", rows)
	}
}

func TestIdempotencyKey_IgnoresWhiteSpaceAndOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	at := in(time.Hour)
	first := s.post(s.send("POST", "/api/v1/posts", `{"content":"Hello","scheduled_time":"`+at+`"}`, "Idempotency-Key",
		"key"), 201)
	again := s.post(s.send("POST", "/api/schedule-post",
		"{ \"scheduled_time\": \""+at+"\",\n\t\"content\": \"Hello\" }", "Idempotency-Key", "key"), 201)
	if again.Id != first.Id {
		t.Error("another post was created")
	}
}

func TestIdempotencyKey_ConcurrentRequestsCreateOnePost(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	body := hello()
	var mu sync.Mutex
	ids := map[string]bool{}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			p := s.post(s.send("POST", "/api/v1/posts", body, "Idempotency-Key", "key"), 201)
			mu.Lock()
			defer mu.Unlock()
			ids[p.Id.String()] = true
		})
	}
	all.Wait()
	if len(ids) != 1 {
		t.Errorf("%d posts", len(ids))
	}
}

func TestEditPost_RejectsAStaleETag(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	a := s.send("POST", "/api/v1/posts", hello())
	path, tag := a.Header.Get("Location"), a.Header.Get("ETag")
	edited := s.send("PATCH", path, object{"content": "Second"}, "If-Match", tag)
	if p := s.post(edited, 200); p.Content != "Second" || p.Version != 2 || edited.Header.Get("ETag") != `"2"` {
		t.Errorf("edited to %s", edited.body)
	}
	s.refused(s.send("PATCH", path, object{"content": "Third"}, "If-Match", tag), 412, "version_mismatch")
	s.refused(s.send("DELETE", path, nil, "If-Match", tag), 412, "version_mismatch")
	s.refused(s.send("POST", path+"/publish-now", nil, "If-Match", tag), 412, "version_mismatch")
	s.post(s.send("PATCH", path, object{"content": "Third"}, "If-Match", "*"), 200)
	if p := s.post(s.send("GET", path, nil), 200); p.Content != "Third" {
		t.Errorf("the text is %q", p.Content)
	}
}

func TestEditPost_TooLateHasTheReason(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	claimed, canceled, posted := s.Schedule(), s.Schedule(), s.Schedule()
	s.Claim(claimed)
	s.post(s.send("DELETE", "/api/v1/posts/"+canceled.ID.String(), nil), 200)
	s.Finish(s.Claim(posted), post.TargetPosted)
	for reason, p := range map[string]post.Post{
		"being published right now": claimed, "is canceled": canceled,
		"already published": posted,
	} {
		path := "/api/v1/posts/" + p.ID.String()
		for _, a := range []answer{
			s.send("PATCH", path, object{"content": "Late"}), s.send("DELETE", path, nil),
			s.send("POST", path+"/publish-now", nil),
		} {
			s.refused(a, 409, "too_late")
			if !strings.Contains(string(a.body), reason) {
				t.Errorf("%s: %s", reason, a.body)
			}
		}
	}
}

func TestGetPost_ShowsOutcomes(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	good, bad := s.Schedule(), s.Schedule()
	s.Finish(s.Claim(good), post.TargetPosted)
	s.Finish(s.Claim(bad), post.TargetFailed)
	p := s.post(s.send("GET", "/api/v1/posts/"+good.ID.String(), nil), 200)
	{
		target := p.Targets[0]
		require.Equal(t, spec.PostStatusPosted, p.Status)
		require.NotNil(t, p.PostedAt)
		require.NotNil(t, target.RemoteId)
		require.NotNil(t, target.Url)
		require.NotNil(t, target.SentAt)
		require.NotNil(t, target.LateMs)
		require.Nil(t, target.Error)
	}
	p = s.post(s.send("GET", "/api/v1/posts/"+bad.ID.String(), nil), 200)
	if target := p.Targets[0]; p.Status != spec.PostStatusFailed || target.Error == nil ||
		target.Error.Class != "rejected" || target.Error.Message == "" {
		t.Errorf("failed: %+v", p)
	}
}

func TestListPosts_Pages(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	var made []string
	for i := range 7 {
		made = append(made, s.post(s.send("POST", "/api/v1/posts",
			hello(object{"scheduled_time": at.Add(time.Duration(i/3) * time.Second).Format(time.RFC3339)})),
			201).Id.String())
	}
	for _, order := range []string{"asc", "desc"} {
		var seen []string
		pages, cursor := 0, ""
		for {
			var page spec.PostPage
			s.decode(s.send("GET", "/api/v1/posts?limit=3&order="+order+"&cursor="+url.QueryEscape(cursor), nil), 200,
				&page)
			for _, p := range page.Posts {
				seen = append(seen, p.Id.String())
			}
			pages++
			if page.NextCursor == nil {
				break
			}
			cursor = *page.NextCursor
		}
		want := slices.Clone(made)
		if order == "desc" {
			slices.Reverse(want)
		}
		if !slices.Equal(seen, want) || pages != 3 {
			t.Errorf("%s: %d posts on %d pages", order, len(seen), pages)
		}
	}
	for query, want := range map[string]int{
		"": 7, "?status=scheduled,posted": 7, "?status=posted": 0,
		"?from=" + url.QueryEscape(at.Add(time.Second).Format(time.RFC3339)): 4,
		"?to=" + url.QueryEscape(at.Add(time.Second).Format(time.RFC3339)):   3,
		"?from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z":                 7, "?limit=200": 7,
	} {
		var page spec.PostPage
		s.decode(s.send("GET", "/api/v1/posts"+query, nil), 200, &page)
		if len(page.Posts) != want {
			t.Errorf("%q lists %d posts, want %d", query, len(page.Posts), want)
		}
	}
}

func TestCreatePost_ReplyHasTheParentsAccounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	sports := s.Connect("sports")
	parent := s.post(s.send("POST", "/api/v1/posts", hello(object{"accounts": []string{sports.ID.String()}})), 201)
	child := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"thread_parent_id": parent.Id, "scheduled_time": in(2 * time.Hour)})), 201)
	if len(child.Targets) != 1 || child.Targets[0].AccountId != sports.ID || *child.ThreadId != parent.Id ||
		*child.ThreadParentId != parent.Id {
		t.Errorf("got %+v", child)
	}
}

func TestAuthenticate_PagesAndOpenAPIArePublic(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, want := range map[string]string{"/": "<!doctype html>", "/api/openapi.yaml": "openapi: 3.1.0"} {
		if a := s.send("GET", path, nil, "Authorization", ""); a.StatusCode != http.StatusOK ||
			!strings.HasPrefix(string(a.body), want) {
			t.Errorf("%s: %s %.40s", path, a.Status, a.body)
		}
	}
}

func TestPosts_StoreAttachmentsInOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	var ids []string
	for i := range 3 {
		ids = append(ids, s.upload(fmt.Sprintf("%d.png", i), "").Id.String())
	}
	slices.Reverse(ids)
	a := s.send("POST", "/api/v1/posts", hello(object{"content": "", "attachments": ids}))
	p := s.post(a, 201)
	for i, id := range p.Attachments {
		if id.String() != ids[i] {
			t.Errorf("attachment %d is %s, want %s", i, id, ids[i])
		}
	}
	if strings.Contains(string(a.body), "s3://") {
		t.Errorf("the response reveals the storage location: %s", a.body)
	}
	p = s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(),
		object{"content": "Only text", "attachments": []string{}}), 200)
	if len(p.Attachments) != 0 || p.Content != "Only text" {
		t.Errorf("got %+v", p)
	}
}
