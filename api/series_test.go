package api_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
)

const morningNews = "Bản tin sáng: Hà Nội có mưa rào 🌧"

// daily is a valid request for a series at 07:00 in Vietnam.
func daily(more ...object) object {
	o := object{"rule": "FREQ=DAILY", "starts": "2026-01-05T07:00", "template": object{
		"content": morningNews, "language": "vi",
	}}
	if year := time.Now().Year(); year > 2026 {
		o["starts"] = time.Now().AddDate(0, 0, -30).Format("2006-01-02") + "T07:00"
	}
	for _, m := range more {
		for k, v := range m {
			o[k] = v
		}
	}
	return o
}

func (s *server) series(a answer, status int) (one spec.Series) {
	s.t.Helper()
	s.decode(a, status, &one)
	return one
}

func (s *server) occurrences(id uuid.UUID) (list spec.OccurrenceList) {
	s.t.Helper()
	s.decode(s.send("GET", "/api/v1/series/"+id.String()+"/occurrences?limit=40", nil), 200, &list)
	return list
}

func (s *server) postsOf(id uuid.UUID, status string) []spec.Post {
	s.t.Helper()
	var page spec.PostPage
	s.decode(s.send("GET", "/api/v1/posts?order=asc&limit=200&series="+id.String()+"&status="+status, nil), 200, &page)
	return page.Posts
}

func TestSeries_CreatesPosts(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	a := s.send("POST", "/api/v1/series", daily(), "Idempotency-Key", "sáng")
	one := s.series(a, 201)
	path := a.Header.Get("Location")
	require.Equal(t, spec.SeriesStatus("active"), one.Status)
	require.Equal(t, "Asia/Ho_Chi_Minh", one.TimeZone)
	require.Equal(t, morningNews, one.Template.Content)
	require.Nil(t, one.LastError)
	require.Equal(t, `"1"`, a.Header.Get("ETag"))
	posts := s.postsOf(one.Id, "scheduled")
	if len(posts) != 35 {
		t.Fatalf("%d posts", len(posts))
	}
	for i, p := range posts {
		local := p.ScheduledTime.Format("2006-01-02T15:04:05")
		require.Equal(t, morningNews, p.Content, "post %d is %+v", i, p)
		require.Equal(t, one.Id, *p.SeriesId, "post %d is %+v", i, p)
		require.Equal(t, local, *p.Occurrence, "post %d is %+v", i, p)
		require.True(t, strings.HasSuffix(local, "T07:00:00"), "post %d is %+v", i, p)
		require.Equal(t, "+07:00", p.ScheduledTime.Format("-07:00"), "post %d is %+v", i, p)
	}
	again := s.send("POST", "/api/v1/series", daily(), "Idempotency-Key", "sáng")
	if s.series(again, 201).Id != one.Id || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: got %s", again.body)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := s.Scheduler.Materialize(t.Context(), one.Id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := s.Count("select count(*) from scheduled_posts"); n != 35 {
		t.Errorf("%d posts after the second pass", n)
	}
	if read := s.series(s.send("GET", path, nil), 200); read.Version != 1 {
		t.Errorf("read %+v", read)
	}
	list := s.occurrences(one.Id)
	if len(list.Occurrences) != 40 || list.Occurrences[0].State != "scheduled" ||
		*list.Occurrences[0].PostId != posts[0].Id || list.Occurrences[39].State != "planned" {
		t.Errorf("upcoming: %+v", list)
	}
	var page spec.SeriesPage
	s.decode(s.send("GET", "/api/v1/series?status=active&limit=1", nil), 200, &page)
	if len(page.Series) != 1 || page.NextCursor != nil {
		t.Errorf("listed %+v", page)
	}
}

func TestSeries_NextOccurrenceIsAlwaysAPost(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	far := time.Now().AddDate(1, 0, 0).Format("2006-01-02") + "T09:00"
	one := s.series(s.send("POST", "/api/v1/series",
		daily(object{"rule": "FREQ=MONTHLY;COUNT=2", "starts": far, "time_zone": "Europe/Berlin"})), 201)
	if posts := s.postsOf(one.Id, "scheduled"); len(posts) != 1 || *posts[0].Occurrence != far+":00" {
		t.Errorf("posts %+v", posts)
	}
}

func TestSeries_EditKeepsEditedPosts(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	one := s.series(s.send("POST", "/api/v1/series", daily()), 201)
	path := "/api/v1/series/" + one.Id.String()
	posts := s.postsOf(one.Id, "scheduled")
	s.post(s.send("PATCH", "/api/v1/posts/"+posts[1].Id.String(), object{"content": "Tin đặc biệt"}), 200)
	s.post(s.send("DELETE", "/api/v1/posts/"+posts[2].Id.String(), nil), 200)
	stored, err := s.Store.Publishing.Posts.Post(t.Context(), posts[3].Id)
	s.Must(err)
	s.Claim(stored)

	s.refused(s.send("PATCH", path, object{"rule": "FREQ=DAILY"}, "If-Match", `"7"`), 412, "version_mismatch")
	edited := s.series(s.send("PATCH", path,
		object{"template": object{"content": "Chào buổi sáng", "drop_if_late_minutes": 10}}, "If-Match", `"1"`), 200)
	if edited.Version != 2 || edited.Template.Content != "Chào buổi sáng" || edited.Template.Language != nil {
		t.Errorf("edited to %+v", edited)
	}
	now := s.postsOf(one.Id, "scheduled,publishing,canceled")
	if len(now) != 35 {
		t.Fatalf("%d posts", len(now))
	}
	for i, p := range now {
		want := map[int]string{1: "Tin đặc biệt", 2: morningNews, 3: morningNews}[i]
		if want == "" {
			want = "Chào buổi sáng"
		}
		if p.Id != posts[i].Id || p.Content != want {
			t.Errorf("post %d: got %q, want %q", i, p.Content, want)
		}
	}
	if p := now[0]; p.DropIfLateMinutes == nil || *p.DropIfLateMinutes != 10 || p.Version != 2 {
		t.Errorf("the first post is %+v", p)
	}

	// Another time of day cancels the posts that were not edited individually, and
	// creates them again.
	s.series(s.send("PATCH", path, object{"starts": edited.Starts[:10] + "T08:30"}), 200)
	scheduled := s.postsOf(one.Id, "scheduled")
	halfPast := 0
	for _, p := range scheduled {
		if strings.HasSuffix(*p.Occurrence, "T08:30:00") {
			halfPast++
		} else if p.Content != "Tin đặc biệt" {
			t.Errorf("%s is still scheduled", *p.Occurrence)
		}
	}
	if halfPast < 34 || len(scheduled) != halfPast+1 {
		t.Errorf("%d of %d posts are at half past eight", halfPast, len(scheduled))
	}
	// After changing it back, posts that the series canceled are restored.
	s.series(s.send("PATCH", path, object{"starts": edited.Starts}), 200)
	if back := s.postsOf(one.Id, "scheduled"); len(back) < 33 || !strings.HasSuffix(*back[0].Occurrence, "T07:00:00") {
		t.Errorf("%d posts are restored", len(back))
	}
}

func TestSeries_SkipCancelsOneOccurrence(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	one := s.series(s.send("POST", "/api/v1/series", daily()), 201)
	path := "/api/v1/series/" + one.Id.String()
	posts := s.postsOf(one.Id, "scheduled")
	made, later := *posts[4].Occurrence, s.occurrences(one.Id).Occurrences[38].Occurrence
	s.post(s.send("PATCH", "/api/v1/posts/"+posts[4].Id.String(),
		object{"content": "Edited, and skipped all the same"}), 200)
	for _, occurrence := range []string{made, later} {
		if got := s.series(s.send("POST", path+"/skip", object{"occurrence": occurrence}),
			200); !slices.Contains(got.Skipped, occurrence) {
			t.Errorf("skipped: %v", got.Skipped)
		}
	}
	if p := s.post(s.send("GET", "/api/v1/posts/"+posts[4].Id.String(), nil), 200); p.Status != "canceled" {
		t.Errorf("the skipped post is %s", p.Status)
	}
	_, err := s.Scheduler.Materialize(t.Context(), one.Id)
	s.Must(err)
	for _, o := range s.occurrences(one.Id).Occurrences {
		if skipped := o.Occurrence == made || o.Occurrence == later; skipped != (o.State == "skipped") {
			t.Errorf("%s is %s", o.Occurrence, o.State)
		}
	}
	s.series(s.send("POST", path+"/unskip", object{"occurrence": made[:16]}), 200)
	if again := s.postsOf(one.Id, "scheduled"); len(again) != 35 || *again[4].Occurrence != made ||
		again[4].Content != morningNews {
		t.Errorf("%d posts after undoing it", len(again))
	}
	for occurrence, code := range map[string]string{
		"2026-01-05T07:01": "unknown", "tomorrow": "invalid_time",
		daily()["starts"].(string): "in_the_past",
	} {
		a := s.send("POST", path+"/skip", object{"occurrence": occurrence})
		s.refused(a, 422, "invalid_request", "occurrence")
		if !strings.Contains(string(a.body), `"`+code+`"`) && occurrence != "2026-01-05T07:01" {
			t.Errorf("%s: %s", occurrence, a.body)
		}
	}
	stored, err := s.Store.Publishing.Posts.Post(t.Context(), posts[0].Id)
	s.Must(err)
	s.Claim(stored)
	s.refused(s.send("POST", path+"/skip", object{"occurrence": *posts[0].Occurrence}), 409, "too_late")
}

func TestSeries_PauseAndEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	one := s.series(s.send("POST", "/api/v1/series", daily()), 201)
	path := "/api/v1/series/" + one.Id.String()
	posts := s.postsOf(one.Id, "scheduled")
	s.post(s.send("PATCH", "/api/v1/posts/"+posts[0].Id.String(), object{"content": "Of its own"}), 200)
	if got := s.series(s.send("POST", path+"/pause", nil), 200); got.Status != "paused" {
		t.Errorf("got %s", got.Status)
	}
	if left := s.postsOf(one.Id, "scheduled"); len(left) != 1 || left[0].Id != posts[0].Id {
		t.Errorf("%d posts are left", len(left))
	}
	s.Exec("update series set checked_until = now() - interval '5 days'")
	if got := s.series(s.send("POST", path+"/resume", nil), 200); got.Status != "active" || len(got.Missed) != 0 {
		t.Errorf("resumed: %+v", got)
	}
	if back := s.postsOf(one.Id, "scheduled"); len(back) != 35 || back[0].Id != posts[0].Id {
		t.Errorf("%d posts are restored", len(back))
	}
	if got := s.series(s.send("DELETE", path, nil), 200); got.Status != "ended" ||
		len(s.postsOf(one.Id, "scheduled")) != 35 {
		t.Errorf("ended: %+v", got)
	}
	s.series(s.send("DELETE", path+"?cancel_scheduled=true", nil), 200)
	if left := s.postsOf(one.Id, "scheduled"); len(left) != 0 {
		t.Errorf("%d posts are left", len(left))
	}
	s.refused(s.send("PATCH", path, object{"rule": "FREQ=DAILY"}), 409, "series_ended")
	s.refused(s.send("POST", path+"/resume", nil), 409, "series_ended")
}

func TestSeries_PassedOccurrencesAreMissed(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	one := s.series(s.send("POST", "/api/v1/series", daily()), 201)
	s.Exec("update series set checked_until = now() - interval '72 hours'")
	_, err := s.Scheduler.Materialize(t.Context(), one.Id)
	s.Must(err)
	got := s.series(s.send("GET", "/api/v1/series/"+one.Id.String(), nil), 200)
	if len(got.Missed) != 3 || got.Missed[0].Reason == "" || got.Missed[0].Occurrence < got.Missed[1].Occurrence {
		t.Errorf("missed: %+v", got.Missed)
	}
	if n := s.Count("select count(*) from scheduled_posts where scheduled_time < now()"); n != 0 {
		t.Errorf("%d posts are in the past", n)
	}
}

func TestSeries_InvalidOccurrenceIsADraft(t *testing.T) {
	t.Parallel()
	s := start(t)
	account := s.Connect("desk")
	one := s.series(s.send("POST", "/api/v1/series",
		daily(object{"template": object{"content": morningNews, "accounts": []string{account.ID.String()}}})), 201)
	s.Exec("update accounts set status = 'needs_reconnect'")
	s.Exec("update scheduled_posts set status = 'canceled', withdrawn = true where series_id = $1", one.Id)
	look := func() spec.Series {
		t.Helper()
		_, err := s.Scheduler.Materialize(t.Context(), one.Id)
		s.Must(err)
		return s.series(s.send("GET", "/api/v1/series/"+one.Id.String(), nil), 200)
	}
	if got := look(); got.LastError == nil || !strings.Contains(*got.LastError, "Reconnect") ||
		!strings.HasPrefix(*got.LastError, "The post of ") || got.LastErrorAt == nil {
		t.Errorf("with problems: %+v", got)
	}
	drafts := s.postsOf(one.Id, "draft")
	if len(drafts) != 35 || len(drafts[0].Targets) != 1 || drafts[0].ScheduledTime == nil {
		t.Fatalf("%d drafts", len(drafts))
	}
	// An occurrence whose time passes is missed.
	s.Exec("update scheduled_posts set occurrence = to_char(now() at time zone 'Asia/Ho_Chi_Minh' - interval '1 "+
		"day', 'YYYY-MM-DD') || 'T07:00:00', scheduled_time = now() - interval '1 day' where post_id = $1",
		drafts[34].Id)
	s.Exec("update series set checked_until = now() - interval '2 days'")
	if got := look(); len(got.Missed) != 2 {
		t.Errorf("missed: %+v", got.Missed)
	}
	s.Exec("update accounts set status = 'connected'")
	if got := look(); got.LastError != nil {
		t.Errorf("after the fix: %+v", *got.LastError)
	}
	if posts := s.postsOf(one.Id, "scheduled"); len(posts) != 35 {
		t.Errorf("%d posts are scheduled", len(posts))
	}
}

func TestSeries_Validates(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	for name, c := range map[string]struct {
		body  object
		code  int
		field string
	}{
		"rule":          {object{"rule": "FREQ=HOURLY"}, 422, "rule"},
		"no occurrence": {object{"rule": "FREQ=DAILY;UNTIL=20260106"}, 422, "rule"},
		"start":         {object{"starts": "2026-01-05T07:00Z"}, 422, "starts"},
		"start too far": {object{"starts": "2199-01-05T07:00"}, 422, "starts"},
		"zone":          {object{"time_zone": "Asia/Sai_Gon"}, 422, "time_zone"},
		"text":          {object{"template": object{"content": strings.Repeat("ệ", 501)}}, 422, "template.content"},
		"account": {
			object{"template": object{"content": "x", "accounts": []string{uuid.NewString()}}},
			422,
			"template.accounts[0]",
		},
		"time in it": {
			object{"template": object{"content": "x", "scheduled_time": in(time.Hour)}},
			400,
			"template.scheduled_time",
		},
		"unknown field": {object{"until": "tomorrow"}, 400, "until"},
		"no template":   {object{"template": nil}, 400, "template"},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			s.refused(s.send("POST", "/api/v1/series", daily(c.body)), c.code, "invalid_request", c.field)
		})
	}
	if n := s.Count("select count(*) from series") + s.Count("select count(*) from scheduled_posts"); n != 0 {
		t.Errorf("%d rows are stored", n)
	}
	one := s.series(s.send("POST", "/api/v1/series", daily()), 201)
	_, _, rival := s.Found("Rivals")
	as := []string{"Authorization", "Bearer " + rival}
	path := "/api/v1/series/" + one.Id.String()
	for _, a := range []answer{
		s.send("GET", path, nil, as...),
		s.send("PATCH", path, object{"rule": "FREQ=DAILY"}, as...), s.send("DELETE", path, nil, as...),
		s.send("POST", path+"/pause", nil, as...),
		s.send("POST", path+"/skip", object{"occurrence": "2026-01-05T07:00"}, as...),
		s.send("GET", path+"/occurrences", nil, as...),
	} {
		s.refused(a, 404, "series_not_found")
	}
}

func TestSeries_EndsWithItsLastOccurrence(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	// The second and last occurrence is in an hour.
	starts := time.Now().Add(time.Hour).AddDate(0, 0, -1).UTC().Format("2006-01-02T15:04:05")
	one := s.series(s.send("POST", "/api/v1/series",
		daily(object{"rule": "FREQ=DAILY;COUNT=2", "starts": starts, "time_zone": "UTC"})), 201)
	if posts := s.postsOf(one.Id, "scheduled"); len(posts) != 1 || one.Status != "active" {
		t.Fatalf("%d posts of %+v", len(posts), one)
	}
	earlier := time.Now().Add(-time.Hour).AddDate(0, 0, -1).UTC().Format("2006-01-02T15:04:05")
	s.Exec("update series set starts = $1", earlier)
	_, err := s.Scheduler.Materialize(t.Context(), one.Id)
	s.Must(err)
	if got := s.series(s.send("GET", "/api/v1/series/"+one.Id.String(), nil), 200); got.Status != "ended" {
		t.Errorf("got %s", got.Status)
	}
}
