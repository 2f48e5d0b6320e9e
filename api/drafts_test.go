package api_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/api/spec"
)

func TestADraftBecomesAPost(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	a := s.send("POST", "/api/v1/posts", object{"content": "", "draft": true})
	d := s.post(a, 201)
	if d.Status != spec.PostStatusDraft || d.ScheduledTime != nil || s.temporal.signals(d.Id) != 0 {
		t.Errorf("got %s", a.body)
	}
	path := "/api/v1/posts/" + d.Id.String()
	s.refused(s.send("POST", path+"/schedule", object{"scheduled_time": in(time.Hour)}), 422, "invalid_request",
		"content")
	s.refused(s.send("POST", path+"/publish-now", nil), 422, "invalid_request", "content")
	edited := s.send("PATCH", path, object{"content": "Hello", "drop_if_late_minutes": 10}, "If-Match",
		a.Header.Get("ETag"))
	if p := s.post(edited, 200); p.Status != spec.PostStatusDraft || *p.DropIfLateMinutes != 10 {
		t.Errorf("got %s", edited.body)
	}
	s.refused(s.send("POST", path+"/schedule", object{}), 422, "invalid_request", "scheduled_time")
	s.refused(s.send("POST", path+"/schedule", object{"scheduled_time": in(time.Hour)}, "If-Match",
		a.Header.Get("ETag")), 412, "version_mismatch")
	if n := s.temporal.signals(d.Id); n != 0 {
		t.Errorf("Temporal got %d signals for a draft", n)
	}
	p := s.post(s.send("POST", path+"/schedule",
		object{"scheduled_time": "2028-12-24T18:00", "time_zone": "Asia/Tokyo"}, "If-Match", edited.Header.Get("ETag")),
		200)
	if p.Status != spec.PostStatusScheduled || p.ScheduledTime.Format(time.RFC3339) != "2028-12-24T18:00:00+09:00" ||
		s.temporal.signals(d.Id) != 1 {
		t.Errorf("got %+v", p)
	}
	s.refused(s.send("POST", path+"/schedule", object{}), 409, "not_a_draft")

	now := s.post(s.send("POST", "/api/v1/posts", object{"content": "Hello", "draft": true}), 201)
	now = s.post(s.send("POST", "/api/v1/posts/"+now.Id.String()+"/publish-now", nil), 200)
	if now.Status != spec.PostStatusScheduled || time.Since(*now.ScheduledTime).Abs() > time.Minute ||
		s.temporal.signals(now.Id) != 1 {
		t.Errorf("got %+v", now)
	}
	canceled := s.post(s.send("POST", "/api/v1/posts", object{"content": "Hello", "draft": true}), 201)
	if p := s.post(s.send("DELETE", "/api/v1/posts/"+canceled.Id.String(), nil),
		200); p.Status != spec.PostStatusCanceled || p.ScheduledTime != nil {
		t.Errorf("got %+v", p)
	}
}

// Drafts without a time are sorted by creation time; pagination continues after them.
func TestDrafts_AreListedWithPosts(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	var want []string
	for range 3 {
		want = append(want, s.post(s.send("POST", "/api/v1/posts", object{"content": "", "draft": true}),
			201).Id.String())
	}
	for _, body := range []object{
		hello(object{"draft": true}), hello(),
		hello(object{"scheduled_time": in(2 * time.Hour)}),
	} {
		want = append(want, s.post(s.send("POST", "/api/v1/posts", body), 201).Id.String())
	}
	s.post(s.send("DELETE", "/api/v1/posts/"+want[1], nil), 200) // canceled, still without a time
	for _, order := range []string{"asc", "desc"} {
		var seen []string
		cursor := ""
		for range 10 {
			var page spec.PostPage
			s.decode(s.send("GET", "/api/v1/posts?limit=1&order="+order+"&cursor="+url.QueryEscape(cursor), nil), 200,
				&page)
			for _, p := range page.Posts {
				seen = append(seen, p.Id.String())
			}
			if page.NextCursor == nil {
				break
			}
			cursor = *page.NextCursor
		}
		if order == "desc" {
			slices.Reverse(seen)
		}
		if !slices.Equal(seen, want) {
			t.Errorf("%s lists %v, want %v", order, seen, want)
		}
	}
	for query, n := range map[string]int{
		"?status=draft": 3, "?from=" + url.QueryEscape(in(time.Minute)): 3,
		"?status=draft&to=" + url.QueryEscape(in(time.Minute)): 2,
	} {
		var page spec.PostPage
		s.decode(s.send("GET", "/api/v1/posts"+query, nil), 200, &page)
		if len(page.Posts) != n {
			t.Errorf("%q lists %d posts, want %d", query, len(page.Posts), n)
		}
	}
}

func TestDrafts_ReturnThreadsAndOverridesUnchanged(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, second := s.Connect("desk"), s.Connect("sports")
	a, b := first.ID.String(), second.ID.String()
	file := s.upload("a.png", "").Id.String()
	body := hello(object{
		"accounts": []string{a, b}, "thread": []any{
			object{"content": "Second", "attachments": []string{file}}, object{"content": "Third"},
		},
		"overrides": object{b: object{"content": "For sports", "attachments": []string{file}, "thread": []any{}}},
	})
	p := s.post(s.send("POST", "/api/v1/posts", body), 201)
	th := *p.Thread
	require.Len(t, th, 2)
	require.Equal(t, "Second", th[0].Content)
	require.Equal(t, file, th[0].Attachments[0].String())
	require.Equal(t, "Third", th[1].Content)
	require.Empty(t, th[1].Attachments)
	override := func(p spec.Post, account string) *spec.PostOverride {
		for _, target := range p.Targets {
			if target.AccountId.String() == account {
				return target.Override
			}
		}
		return nil
	}
	o := override(p, b)
	require.NotNil(t, o)
	require.Equal(t, "For sports", *o.Content)
	require.Len(t, *o.Attachments, 1)
	require.Empty(t, *o.Thread)
	require.Nil(t, override(p, a))
	path := "/api/v1/posts/" + p.Id.String()
	p = s.post(s.send("PATCH", path, object{
		"overrides": object{b: nil, a: object{"content": "For the desk"}},
		"thread":    []any{},
	}), 200)
	if override(p, b) != nil || *override(p, a).Content != "For the desk" || p.Thread != nil {
		t.Errorf("got %+v", p)
	}
}
