package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// deadLettersPage reads one page of dead letters.
func (s *server) deadLettersPage(query string) (page spec.DeadLetterPage) {
	s.t.Helper()
	s.decode(s.send("GET", "/api/v1/dead-letters"+query, nil), 200, &page)
	return page
}

func TestDeadLetters_ListNewestFirst(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	long := strings.Repeat("ộ", 300)
	var want []string
	for i := range 5 {
		status := post.TargetFailed
		if i == 2 {
			status = post.TargetUncertain
		}
		p := s.Dead(s.Schedule(func(d *scheduling.Draft) { d.Content, d.TimeZone = long, "Asia/Tokyo" }), status)
		want = append([]string{p.ID.String()}, want...)
	}
	s.Schedule() // no dead letter
	var seen []string
	pages, cursor := 0, ""
	for {
		page := s.deadLettersPage("?limit=2&cursor=" + url.QueryEscape(cursor))
		for _, l := range page.DeadLetters {
			seen = append(seen, l.PostId.String())
			text := []rune(l.Content)
			require.Len(t, text, 200, "got %+v", l)
			require.Equal(t, '…', text[199], "got %+v", l)
			require.Equal(t, a.Handle, l.Handle, "got %+v", l)
			require.Equal(t, "mastodon", l.Network, "got %+v", l)
			require.NotEmpty(t, l.Message, "got %+v", l)
			require.Equal(t, 1, l.Attempts, "got %+v", l)
			if _, offset := l.ScheduledTime.Zone(); offset != 9*3600 {
				t.Errorf("the time is %s, not the post's zone's", l.ScheduledTime)
			}
		}
		pages++
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	if !slices.Equal(seen, want) || pages != 3 {
		t.Errorf("%d letters on %d pages: %v, want %v", len(seen), pages, seen, want)
	}
	for query, n := range map[string]int{
		"": 5, "?reason=rejected": 4, "?reason=ambiguous,auth": 1,
		"?network=mastodon": 5, "?network=bluesky": 0,
		"?account=" + a.ID.String(): 5, "?account=" + uuid.NewString(): 0, "?reason=rejected&network=bluesky": 0,
		"?limit=200": 5,
	} {
		if got := len(s.deadLettersPage(query).DeadLetters); got != n {
			t.Errorf("%q lists %d, want %d", query, got, n)
		}
	}
	var counts spec.DeadLetterCounts
	s.decode(s.send("GET", "/api/v1/dead-letters/counts", nil), 200, &counts)
	if counts.Total != 5 || len(counts.Counts) != 2 {
		t.Fatalf("counted %+v", counts)
	}
	for _, c := range counts.Counts {
		if want := map[spec.TargetStatus]int{"failed": 4, "uncertain": 1}[c.Status]; c.Count != want ||
			c.Network != "mastodon" || time.Since(c.Oldest).Abs() > time.Minute {
			t.Errorf("counted %+v", c)
		}
	}
}

func TestDeadLetters_AreHiddenFromOtherWorkspaces(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Dead(s.Schedule(), post.TargetUncertain)
	_, _, token := s.Found("Rivals")
	theirs := []string{"Authorization", "Bearer " + token}
	var page spec.DeadLetterPage
	s.decode(s.send("GET", "/api/v1/dead-letters", nil, theirs...), 200, &page)
	var counts spec.DeadLetterCounts
	s.decode(s.send("GET", "/api/v1/dead-letters/counts", nil, theirs...), 200, &counts)
	var bulk spec.BulkAnswer
	s.decode(s.send("POST", "/api/v1/dead-letters/discard", object{"posts": []string{p.ID.String()}}, theirs...), 200,
		&bulk)
	require.Empty(t, page.DeadLetters)
	require.NotNil(t, page.DeadLetters)
	require.Equal(t, 0, counts.Total)
	require.Equal(t, 0, bulk.Matched)
	require.Empty(t, bulk.Posts)
	path := "/api/v1/posts/" + p.ID.String()
	target := path + "/targets/" + p.Targets[0].ID.String()
	for _, a := range []answer{
		s.send("POST", path+"/retry", nil, theirs...),
		s.send("POST", path+"/discard", nil, theirs...), s.send("POST", path+"/schedule", object{}, theirs...),
		s.send("POST", target+"/resend", nil, theirs...),
		s.send("POST", target+"/confirm", object{"url": "https://social.example/1"}, theirs...),
	} {
		s.refused(a, 404, "post_not_found")
	}
	if now, err := s.Store.Publishing.Posts.Post(t.Context(), p.ID); err != nil || now.Version != p.Version {
		t.Errorf("the post is now %+v, %v", now, err)
	}
}

// The body is optional, with or without a content type; without one, the request
// applies to all targets.
func TestDeadLetters_RetryAndDiscardNeedNoBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	for name, send := range map[string]func(path string) answer{
		"nothing": func(path string) answer { return s.send("POST", path, nil) },
		"a type and nothing": func(path string) answer {
			return s.send("POST", path, nil, "Content-Type", "application/json")
		},
		"unknown length":  func(path string) answer { return s.send("POST", path, strings.NewReader("")) },
		"an empty object": func(path string) answer { return s.send("POST", path, object{}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			p := s.Dead(s.Schedule(), post.TargetFailed)
			path := "/api/v1/posts/" + p.ID.String()
			a := send(path + "/retry")
			if got := s.post(a, 200); got.Status != spec.PostStatusScheduled ||
				got.Targets[0].Status != spec.TargetStatusScheduled || a.Header.Get("ETag") == "" {
				t.Errorf("retried: %s", a.body)
			}
			again, err := s.Store.Publishing.Posts.Post(t.Context(), p.ID)
			s.Must(err)
			s.Dead(again, post.TargetFailed)
			if got := s.post(send(path+"/discard"), 200); got.Status != spec.PostStatusCanceled {
				t.Errorf("discarded: %+v", got)
			}
			if n := s.temporal.signals(p.ID); n != 2 {
				t.Errorf("Temporal got %d signals", n)
			}
		})
	}
}

func TestDeadLetters_SelectTargetsByID(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, second := s.Connect("desk"), s.Connect("sports")
	p := s.Dead(s.Schedule(func(d *scheduling.Draft) { d.Accounts = []string{first.ID.String(), second.ID.String()} }),
		post.TargetFailed)
	path := "/api/v1/posts/" + p.ID.String()
	choose := func(i int) object { return object{"targets": []string{p.Targets[i].ID.String()}} }
	tag := s.send("GET", path, nil).Header.Get("ETag")
	got := s.post(s.send("POST", path+"/discard", choose(0), "If-Match", tag), 200)
	if got.Status != spec.PostStatusFailed || got.Targets[0].Status != spec.TargetStatusCanceled ||
		got.Targets[1].Status != spec.TargetStatusFailed {
		t.Errorf("discarded one: %+v", got)
	}
	s.refused(s.send("POST", path+"/retry", choose(1), "If-Match", tag), 412, "version_mismatch")
	s.refused(s.send("POST", path+"/retry", choose(0)), 409, "not_a_dead_letter")
	got = s.post(s.send("POST", path+"/retry", choose(1)), 200)
	if got.Status != spec.PostStatusScheduled || got.Targets[0].Status != spec.TargetStatusCanceled ||
		got.Targets[1].Status != spec.TargetStatusScheduled {
		t.Errorf("retried the other: %+v", got)
	}
}

func TestDeadLetters_ConfirmEndsTheWorkflow(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Dead(s.Schedule(), post.TargetUncertain)
	path := "/api/v1/posts/" + p.ID.String()
	target := path + "/targets/" + p.Targets[0].ID.String()
	for name, a := range map[string]answer{
		"edit":   s.send("PATCH", path, object{"content": "x"}),
		"cancel": s.send("DELETE", path, nil), "publish now": s.send("POST", path+"/publish-now", nil),
	} {
		s.refused(a, 409, "too_late")
		if !strings.Contains(string(a.body), "needs a decision about @desk") {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	got := s.post(s.send("POST", target+"/confirm",
		object{"url": "https://social.example/@desk/17", "remote_id": "seventeen"}), 200)
	if got.Status != spec.PostStatusPosted || *got.Targets[0].RemoteId != "seventeen" ||
		*got.Targets[0].Url != "https://social.example/@desk/17" || got.Targets[0].Error != nil {
		t.Errorf("got %+v", got)
	}
	if n := s.temporal.signals(p.ID); n != 1 {
		t.Errorf("Temporal got %d signals, want 1: otherwise the workflow waits for 30 days", n)
	}
	p = s.Dead(s.Schedule(), post.TargetUncertain)
	got = s.post(s.send("POST", "/api/v1/posts/"+p.ID.String()+"/targets/"+p.Targets[0].ID.String()+"/resend", nil),
		200)
	if got.Targets[0].Status != spec.TargetStatusScheduled || s.temporal.signals(p.ID) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestDeadLetters_BulkReturnsWhatItChanged(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	var ids []uuid.UUID
	for range 3 {
		ids = append(ids, s.Dead(s.Schedule(), post.TargetFailed).ID)
	}
	doubtful := s.Dead(s.Schedule(), post.TargetUncertain)
	bulk := func(what string, body object) (b spec.BulkAnswer) {
		t.Helper()
		s.decode(s.send("POST", "/api/v1/dead-letters/"+what, body), 200, &b)
		return b
	}
	if b := bulk("discard", object{"all": true, "dry_run": true}); b.Matched != 4 || len(b.Posts) != 4 || b.More {
		t.Errorf("got %+v", b)
	}
	if b := bulk("retry", object{"reasons": []string{"auth"}}); b.Matched != 0 || b.Posts == nil {
		t.Errorf("got %+v", b)
	}
	if len(s.deadLettersPage("").DeadLetters) != 4 {
		t.Error("a dry run changed something")
	}
	if b := bulk("retry", object{"posts": ids[:1], "networks": []string{"mastodon"}, "account": a.ID}); !slices.Equal(
		b.Posts, ids[:1]) {
		t.Errorf("got %+v", b)
	}
	if b := bulk("retry", object{"all": true}); b.Matched != 2 || len(b.Posts) != 2 ||
		slices.Contains(b.Posts, doubtful.ID) {
		t.Errorf("got %+v", b)
	}
	if b := bulk("discard", object{"all": true}); !slices.Equal(b.Posts, []uuid.UUID{doubtful.ID}) {
		t.Errorf("got %+v", b)
	}
	// Temporal is signaled asynchronously, after the response.
	for _, id := range append(ids, doubtful.ID) {
		for try := 0; s.temporal.signals(id) != 1; try++ {
			if try == 500 {
				t.Fatalf("Temporal got %[2]d signals for %[1]s, want 1", id, s.temporal.signals(id))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func TestIfMatch_DistinguishesOldVersionFromTooLate(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	s.Finish(s.Claim(p), post.TargetPosted)
	path := "/api/v1/posts/" + p.ID.String()
	current := s.send("GET", path, nil).Header.Get("ETag")
	for name, send := range map[string]func(tag string) answer{
		"edit": func(tag string) answer {
			return s.send("PATCH", path, object{"content": "x"}, "If-Match", tag)
		},
		"cancel":      func(tag string) answer { return s.send("DELETE", path, nil, "If-Match", tag) },
		"publish now": func(tag string) answer { return s.send("POST", path+"/publish-now", nil, "If-Match", tag) },
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			s.refused(send(`"1"`), 412, "version_mismatch")
			s.refused(send(current), 409, "too_late")
			s.refused(send("*"), 409, "too_late")
		})
	}
}
