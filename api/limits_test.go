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
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// reportQuota makes the network report the account's quota.
func (s *server) reportQuota(a account.Account, limit, remaining int, reset time.Time) ratelimit.Caller {
	s.t.Helper()
	adapter, _ := s.Networks.Get(a.Network)
	known, err := adapter.Limits(s.t.Context(), network.Account{BaseURL: a.BaseURL})
	s.Must(err)
	c := ratelimit.Caller{Network: a.Network, BaseURL: a.BaseURL, RemoteID: a.RemoteID, Quotas: known.Quotas}
	s.Limits.Observe(s.t.Context(), c, network.CallPublish,
		[]network.RateStatus{{
			Bucket: "statuses", Scope: network.ScopeAccount,
			Limit: limit, Remaining: remaining, ResetAt: reset, Per: 3 * time.Hour,
		}}, nil)
	return c
}

// warnings returns the warnings of the forecast. These tests schedule duplicates and
// posts at night, so other warnings are skipped.
func warnings(p spec.Post) (codes []string, text string) {
	if p.Warnings == nil {
		return nil, ""
	}
	for _, w := range *p.Warnings {
		if !slices.Contains([]string{"quota_exceeded", "account_needs_reconnect", "account_expires"}, w.Code) {
			continue
		}
		codes = append(codes, w.Code)
		text += w.Message
	}
	return codes, text
}

func TestForecast_WarnsOfAnExceededQuota(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	reset := time.Now().Truncate(time.Minute).Add(90 * time.Minute)
	s.reportQuota(a, 3, 2, reset)
	schedule := func(at time.Time) spec.Post {
		t.Helper()
		return s.post(s.send("POST", "/api/v1/posts", hello(object{"scheduled_time": at.Format(time.RFC3339)})), 201)
	}
	// The reported period begins again at the reset.
	inside, after := reset.Add(time.Hour), reset.Add(4*time.Hour)
	for i := range 3 {
		if codes, text := warnings(schedule(inside)); codes != nil {
			t.Errorf("post %d: %v %s", i, codes, text)
		}
	}
	fourth := schedule(inside.Add(time.Minute))
	codes, text := warnings(fourth)
	if len(codes) != 1 || codes[0] != "quota_exceeded" || *(*fourth.Warnings)[0].AccountId != a.ID {
		t.Fatalf("warnings %v %s", codes, text)
	}
	for _, part := range []string{
		"4 posts are scheduled to @desk@", "allows 3 in 3 hours",
		reset.In(hanoi(t)).Format("15:04"),
	} {
		if !strings.Contains(text, part) {
			t.Errorf("got %q, want it to contain %q", text, part)
		}
	}
	if codes, _ := warnings(schedule(after)); codes != nil {
		t.Errorf("the period after: %v", codes)
	}
	// Edits are checked against the limit too. Posts outside the period do not count.
	path := "/api/v1/posts/" + fourth.Id.String()
	if codes, _ := warnings(s.post(s.send("PATCH", path, object{"scheduled_time": after.Format(time.RFC3339)}),
		200)); codes != nil {
		t.Errorf("moved away: %v", codes)
	}
	if codes, _ := warnings(s.post(s.send("PATCH", path, object{"scheduled_time": inside.Format(time.RFC3339)}),
		200)); len(codes) != 1 {
		t.Errorf("moved back: %v", codes)
	}
	if codes, _ := warnings(s.post(s.send("GET", path, nil), 200)); codes != nil {
		t.Errorf("read: %v", codes)
	}
	// In the current period, only the remaining quota counts.
	for i, want := range []int{0, 0, 1} {
		if codes, text := warnings(schedule(time.Now().Add(10 * time.Minute))); len(codes) != want || want == 1 &&
			!strings.Contains(text, "of which 2 are left") {
			t.Errorf("post %d of this period: %v %s", i, codes, text)
		}
	}
}

// When a server reports a limit without a period, only the current window is known:
// there is no forecast for the time after its reset.
func TestForecast_OfAReportedLimitWithoutAPeriod(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	// A reset at a multiple of Mastodon's own period would be taken for one of its
	// windows. Seven seconds past a minute is never such a multiple.
	reset := time.Now().Truncate(time.Minute).Add(30*time.Minute + 7*time.Second)
	adapter, _ := s.Networks.Get(a.Network)
	known, err := adapter.Limits(t.Context(), network.Account{BaseURL: a.BaseURL})
	s.Must(err)
	c := ratelimit.Caller{Network: a.Network, BaseURL: a.BaseURL, RemoteID: a.RemoteID, Quotas: known.Quotas}
	s.Limits.Observe(t.Context(), c, network.CallPublish,
		[]network.RateStatus{{
			Bucket: "statuses", Scope: network.ScopeAccount, Limit: 300, Remaining: 1,
			ResetAt: reset,
		}}, nil)
	schedule := func(at time.Time) (codes []string, text string) {
		t.Helper()
		return warnings(s.post(s.send("POST", "/api/v1/posts",
			hello(object{"scheduled_time": at.Format(time.RFC3339)})), 201))
	}
	if codes, text := schedule(reset.Add(-10 * time.Minute)); codes != nil {
		t.Errorf("the first: got %v %s, want no warning", codes, text)
	}
	if codes, text := schedule(reset.Add(-10 * time.Minute)); len(codes) != 1 ||
		!strings.Contains(text, "allows 300, of which 1 are left") {
		t.Errorf("the second: got %v %q, want a warning that 1 is left", codes, text)
	}
	if codes, text := schedule(reset.Add(time.Hour)); codes != nil {
		t.Errorf("after the reset: got %v %s, want no warning", codes, text)
	}
	var got spec.AccountLimits
	s.decode(s.send("GET", "/api/v1/accounts/"+a.ID.String()+"/limits", nil), 200, &got)
	if one := got.Limits[0]; one.Source != spec.Reported || one.PeriodSeconds != nil || *one.Limit != 300 ||
		got.Limits[1].Source != spec.Declared {
		t.Errorf("got %+v, want a reported limit without a period, and a declared one", got.Limits)
	}
}

func hanoi(t *testing.T) *time.Location {
	t.Helper()
	zone, err := timezone.Load("Asia/Ho_Chi_Minh")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestForecast_UsesDeclaredQuotas(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	at := time.Now().Add(24 * time.Hour).Truncate(3 * time.Hour).Add(time.Hour)
	s.Exec(`with p as (insert into scheduled_posts (post_id, workspace_id, user_id, content, scheduled_time, time_zone)
		select gen_random_uuid(), $1, $2, 'Hello', $3, 'UTC' from generate_series(1, 299) returning post_id)
		insert into post_targets (id, post_id, account_id) select gen_random_uuid(), post_id, $4 from p`,
		s.Workspace.ID, s.Owner.UserID, at, a.ID)
	body := hello(object{"scheduled_time": at.Format(time.RFC3339)})
	if codes, text := warnings(s.post(s.send("POST", "/api/v1/posts", body), 201)); codes != nil {
		t.Errorf("the 300th: %v %s", codes, text)
	}
	if _, text := warnings(s.post(s.send("POST", "/api/v1/posts", body), 201)); !strings.Contains(text, "301 posts") ||
		!strings.Contains(text, "300 in 3 hours") {
		t.Errorf("the 301st: %q", text)
	}
	// A declared quota only warns; it does not reject posts.
	s.StopRedis()
	if _, text := warnings(s.post(s.send("POST", "/api/v1/posts", body), 201)); !strings.Contains(text, "302 posts") {
		t.Errorf("without Redis: %q", text)
	}
}

func TestWarnings_AccountNeedsReconnect(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	p := s.post(s.send("POST", "/api/v1/posts", hello()), 201)
	s.Refuse(a.ID)
	if codes, _ := warnings(s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), object{"content": "Changed"}),
		200)); fmt.Sprint(codes) != "[account_needs_reconnect]" {
		t.Errorf("warnings %v", codes)
	}
}

func TestAccountLimits_ShowTheirSource(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	path := "/api/v1/accounts/" + a.ID.String() + "/limits"
	var got spec.AccountLimits
	s.decode(s.send("GET", path, nil), 200, &got)
	require.Len(t, got.Limits, 2)
	require.Equal(t, "statuses", got.Limits[0].Bucket)
	require.Equal(t, 300, *got.Limits[0].Limit)
	require.Nil(t, got.Limits[0].Remaining)
	require.Equal(t, spec.Declared, got.Limits[0].Source)
	require.False(t, got.Limits[0].Enforced)
	reset := time.Now().Truncate(time.Second).Add(time.Hour)
	c := s.reportQuota(a, 50, 7, reset)
	s.Limits.Acquire(t.Context(), c, network.CallPublish)
	closed := time.Now().Add(time.Minute)
	s.Limits.Observe(t.Context(), c, network.CallUpload, nil, &network.Error{
		Class: network.Throttled, Scope: network.ScopeAccount, RetryAt: closed,
	})
	s.decode(s.send("GET", path, nil), 200, &got)
	posts, uploads := got.Limits[0], got.Limits[1]
	require.Equal(t, 50, *posts.Limit)
	require.Equal(t, 6, *posts.Remaining)
	require.Equal(t, spec.Reported, posts.Source)
	require.True(t, posts.Enforced)
	require.LessOrEqual(t, posts.ResetsAt.Sub(reset).Abs(), time.Second)
	require.Equal(t, 3*3600, *posts.PeriodSeconds)
	if uploads.ClosedUntil == nil || uploads.ClosedUntil.Sub(closed).Abs() > time.Second || *uploads.Remaining != 0 {
		t.Errorf("uploads %+v", uploads)
	}
	s.refused(s.send("GET", "/api/v1/accounts/"+uuid.NewString()+"/limits", nil), 404, "account_not_found")
	_, _, stranger := s.Found("Another desk")
	s.refused(s.send("GET", path, nil, "Authorization", "Bearer "+stranger), 404, "account_not_found")
	s.StopRedis()
	s.decode(s.send("GET", path, nil), 200, &got)
	if *got.Limits[0].Limit != 300 {
		t.Errorf("without Redis: %+v", got.Limits[0])
	}
}
