package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/site"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
)

// publishedPost is a post at a network, with stored readings of its metrics.
func (s *server) publishedPost(a account.Account, content string, at time.Time, metrics string) spec.Post {
	s.T.Helper()
	p := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"content": content, "track_links": true, "accounts": []any{a.ID}})), 201)
	remote := uuid.NewString()
	s.Exec(
		`insert into remote_posts (account_id, remote_id, target_id, segment, remote_url, posted_at) values ($1, $2, $3, 0, 'https://social.example/1', $4)`,
		a.ID, remote, p.Targets[0].Id, at)
	if metrics == "" {
		return p
	}
	s.Exec(
		`insert into post_metrics (account_id, remote_id, due_at, state, measured_at, latest) values ($1, $2, $3::timestamptz + interval '1 day', 'measured', $3, $4)`,
		a.ID, remote, at, metrics)
	s.Exec(
		`insert into post_metric_readings (account_id, remote_id, metric, at, value) select $1, $2, key, $3, value::bigint from jsonb_each_text($4::jsonb)`,
		a.ID, remote, at, metrics)
	return p
}

func (s *server) day(offset int) string {
	s.T.Helper()
	zone, err := timezone.Load(s.Workspace.TimeZone)
	s.Must(err)
	return time.Now().In(zone).AddDate(0, 0, offset).Format(time.DateOnly)
}

// The API returns the latest value and all readings of a metric. What a network does
// not report is absent.
func TestPostMetrics_ReturnsLatestAndReadings(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	p := s.publishedPost(a, "Measured", time.Now().Add(-time.Hour), `{"likes": 5, "replies": 0}`)
	s.Exec(
		`insert into post_metric_readings (account_id, remote_id, metric, at, value) select account_id, remote_id, 'likes', now() - interval '2 hours', 3 from post_metrics`)
	var got spec.PostMetrics
	s.decode(s.send("GET", "/api/v1/posts/"+p.Id.String()+"/metrics", nil), 200, &got)
	if len(got.Parts) != 1 {
		t.Fatalf("parts: got %+v, want 1", got.Parts)
	}
	part := got.Parts[0]
	if part.State != spec.PostMetricsPartStateMeasured || part.Network != "mastodon" || part.NextAt == nil ||
		part.MeasuredAt == nil {
		t.Errorf("got %+v, want a measured part with the time of the next reading", part)
	}
	if replies, ok := part.Latest["replies"]; !ok || replies != 0 || part.Latest["likes"] != 5 {
		t.Errorf("latest: got %v, want 5 likes and a reported zero of replies", part.Latest)
	}
	if _, ok := part.Latest["views"]; ok {
		t.Errorf("latest: got %v, want no views", part.Latest)
	}
	if len(part.Readings) != 3 || part.Readings[0].Metric != "likes" || part.Readings[0].Value != 3 {
		t.Errorf("readings: got %+v, want likes 3 and 5, and replies", part.Readings)
	}
}

// One row leads from impression to reading; what is not known is absent.
func TestPostReport_LeadsFromImpressionToVisit(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains = []string{"posts.example"} })
	desk := s.Connect("desk")
	measured := s.publishedPost(desk, "Read https://posts.example/a", time.Now().Add(-2*time.Hour),
		`{"likes": 7, "reposts": 2, "views": 900}`)
	plain := s.publishedPost(desk, "No link and no reading", time.Now().Add(-time.Hour), "")
	s.publishedPost(desk, "Long ago", time.Now().AddDate(0, 0, -40), `{"likes": 99}`)
	var links spec.LinkList
	s.decode(s.send("GET", linksPath+"?post="+measured.Id.String(), nil), 200, &links)
	target := s.click("GET", links.Links[0].Code, "a").Header.Get("Location")
	s.click("GET", links.Links[0].Code, "b")
	s.send("POST", "/v1/view", object{"site": w.WriteKey, "url": target, "user": "a"}, "Authorization", "",
		"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Accept-Language", "vi")
	s.flush()
	s.flush()

	base := "/api/v1/reports/posts?from=" + s.day(-7) + "&to=" + s.day(1)
	var got spec.PostReport
	s.decode(s.send("GET", base, nil), 200, &got)
	if got.Posts != 2 || len(got.Rows) != 2 || got.Rows[0].PostId != measured.Id || got.Rows[1].PostId != plain.Id {
		t.Fatalf("rows: got %+v, want the measured post first", got.Rows)
	}
	n := got.Rows[0].Numbers
	if fmt.Sprint(*n.Views, *n.Engagement, *n.Clicks, *n.Visits) != "900 9 2 1" || n.Reach != nil {
		t.Errorf("numbers: got %+v, want 900 views, 9 reactions, 2 clicks, 1 visit and no reach", n)
	}
	if n := got.Rows[1].Numbers; n.Views != nil || n.Engagement != nil || n.Clicks != nil || n.Visits != nil {
		t.Errorf("numbers of a post without readings and links: got %+v, want none", n)
	}

	s.decode(s.send("GET", base+"&by=network&metric=views", nil), 200, &got)
	if len(got.Groups) != 1 {
		t.Fatalf("by network: got %+v, want one group", got.Groups)
	}
	if g := got.Groups[0]; g.Posts != 2 || g.Estimate.Posts != 1 || *g.Known.Views != 1 || *g.Numbers.Views != 900 {
		t.Errorf("by network: got %+v, want 900 views of 1 of 2 posts", g)
	}
	csv := string(s.send("GET", base+"&format=csv", nil).body)
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], ",900,,9,2,1,") || !strings.Contains(lines[2], ",,,,,,") {
		t.Errorf("CSV: got %s, want empty cells for what is not known", csv)
	}
	for _, by := range []string{"account", "hour", "weekday", "label", "author", "section"} {
		if r := s.send("GET", base+"&format=csv&by="+by, nil); r.StatusCode != http.StatusOK ||
			!strings.HasPrefix(withoutMark(t, r.body), by+",") {
			t.Errorf("CSV by %s: got %s %s", by, r.Status, r.body)
		}
	}
	if r := s.send("GET", "/api/v1/reports/posts?from=2024-01-01&to=2026-01-01",
		nil); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("two years: got %s, want 422", r.Status)
	}
}

// A highlight has a sample and an interval.
func TestPostHighlights_NameWhatWorked(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk, sport := s.Connect("desk"), s.Connect("sport")
	for i := range 8 {
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		s.publishedPost(desk, fmt.Sprintf("Desk %d", i), at, fmt.Sprintf(`{"likes": %d}`, 10+i%3))
		s.publishedPost(sport, fmt.Sprintf("Sport %d", i), at, fmt.Sprintf(`{"likes": %d}`, 90+i))
	}
	var got spec.PostHighlights
	s.decode(s.send("GET", "/api/v1/reports/posts/highlights?from="+s.day(-7)+"&to="+s.day(0), nil), 200, &got)
	if got.Posts != 16 || len(got.Groups) < 2 {
		t.Fatalf("got %+v, want highlights of 16 posts", got)
	}
	best := got.Groups[0]
	if best.By != "account" || best.Value != sport.ID.String() || best.Estimate.Posts != 8 {
		t.Errorf("best: got %+v with %+v, want the account sport with 8 posts", best, best.Estimate)
	}
	if !best.Estimate.Clear || best.Estimate.Low <= *got.Average {
		t.Errorf("best: got the interval %+v, want it above the average %v", best.Estimate, *got.Average)
	}
}

// An account says whether it is measured, and why not.
func TestAccount_ReportsMeasuring(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	get := func() spec.AccountMeasuring {
		t.Helper()
		var got spec.Account
		s.decode(s.send("GET", "/api/v1/accounts/"+a.ID.String(), nil), 200, &got)
		if got.Measuring == nil {
			t.Fatal("the account has no measuring")
		}
		return *got.Measuring
	}
	if m := get(); m.State != spec.AccountMeasuringStateActive || m.Metrics == nil || len(*m.Metrics) == 0 {
		t.Errorf("before: got %+v, want active with metrics", m)
	}
	s.Exec(`insert into account_measuring (account_id, reason, message, resume_at, token_version, missing_scope)
		values ($1, 'missing_scope', 'Reconnect the account to allow measuring.', now() + interval '1 day', $2, 'read:statuses')`, a.ID, a.TokenVersion)
	if m := get(); m.State != spec.AccountMeasuringStatePaused || *m.Reason != "missing_scope" || m.Message == nil ||
		*m.MissingScope != "read:statuses" {
		t.Errorf("without permission: got %+v, want paused with a reason", m)
	}
	s.Exec("update accounts set token_version = token_version + 1")
	if m := get(); m.State != spec.AccountMeasuringStateActive {
		t.Errorf("after reconnecting: got %+v, want active", m)
	}
}
