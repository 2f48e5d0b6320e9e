package api_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/api"
	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/enginetest"
)

func (s *server) system(headers ...string) (state spec.SystemStatus) {
	s.t.Helper()
	s.decode(s.send("GET", "/api/v1/system", nil, headers...), 200, &state)
	return state
}

func (s *server) alerts(headers ...string) map[string]spec.SystemAlert {
	s.t.Helper()
	named := map[string]spec.SystemAlert{}
	for _, a := range s.system(headers...).Alerts {
		named[a.Name] = a
	}
	return named
}

func TestSystem_ReportsState(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Connect("desk")
	{
		state := s.system()
		require.Empty(t, state.Alerts)
		require.Empty(t, state.Lateness)
		require.NotNil(t, state.Posts)
		require.Equal(t, (spec.Backlog{}), *state.Posts)
		require.Equal(t, "test", state.Version)
		require.Len(t, state.Queues, 1)
		require.Equal(t, int64(7), state.Queues[0].Pending)
		require.Len(t, state.Engines, 4)
	}
	s.Schedule()
	posted := s.Schedule()
	s.Finish(s.Claim(posted), post.TargetPosted)
	s.Exec("update scheduled_posts set scheduled_time = now() - interval '1 hour' where post_id = $1", posted.ID)
	s.Exec("update post_targets t set sent_at = p.scheduled_time + interval '250 milliseconds' from scheduled_posts "+
		"p where p.post_id = t.post_id and t.post_id = $1", posted.ID)
	s.Dead(s.Schedule(), post.TargetFailed)
	s.Dead(s.Schedule(), post.TargetUncertain)
	late := s.Schedule()
	s.Exec("update scheduled_posts set scheduled_time = now() - interval '1 minute' where post_id = $1", late.ID)
	s.Refuse(a.ID)
	state := s.system()
	p := state.Posts
	require.Equal(t, int64(1), p.Scheduled)
	require.Equal(t, int64(1), p.Overdue)
	require.Equal(t, int64(2), p.Parked)
	require.Equal(t, int64(1), state.DeadLetters["rejected"])
	require.Equal(t, int64(1), state.DeadLetters["uncertain"])
	l := state.Lateness
	require.Len(t, l, 2)
	require.Nil(t, l[0].Network)
	require.Equal(t, "mastodon", *l[1].Network)
	require.Equal(t, int64(1), l[1].Sent)
	require.Equal(t, float64(250), l[1].P50Ms)
	require.Equal(t, float64(250), l[1].P99Ms)
	if state.Accounts.NeedsReconnect != 1 {
		t.Errorf("accounts %+v", state.Accounts)
	}
	for _, e := range state.Engines {
		if !e.Healthy || e.Error != nil {
			t.Errorf("engine: got %+v, want it healthy", e)
		}
		if e.Name == "database" && (len(e.Usage) != 1 || e.Usage[0].Used < 1 || *e.Usage[0].Max < e.Usage[0].Used) {
			t.Errorf("usage of the database: got %+v, want connections within their limit", e.Usage)
		}
	}
	alerts := s.alerts()
	for _, name := range []string{"PostsLate", "PostsUncertain", "AccountsNeedReconnect"} {
		if alerts[name].Message == "" {
			t.Errorf("%s: missing in %v", name, alerts)
		}
	}
	if state.Alerts[0].Name != "PostsLate" || state.Alerts[0].Severity != "critical" {
		t.Errorf("the first is %+v", state.Alerts[0])
	}
	// Other workspaces and members with insufficient roles do not see this data.
	_, _, theirs := s.Found("Elsewhere")
	if state := s.system("Authorization", "Bearer "+theirs); *state.Posts != (spec.Backlog{}) ||
		len(state.DeadLetters) != 0 || len(state.Lateness) != 0 || len(state.Alerts) != 0 {
		t.Errorf("other workspace: got %+v, want empty", state)
	}
	s.refused(s.send("GET", "/api/v1/system", nil, "Authorization", "Bearer "+s.Member(workspace.Author)), 403,
		"role_insufficient")
}

// Browsers behind a trusted proxy have X-Forwarded-For; programs may call from the machine
// itself.
func TestSystem_ReportsProxyThatHidesClients(t *testing.T) {
	t.Parallel()
	const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	s := start(t, func(a *api.Server) { a.TrustedProxies = []string{"127.0.0.0/8"} })
	for name, headers := range map[string][]string{
		"a program": {"User-Agent", "curl/8.14"},
		"a browser": {"User-Agent", browser, "X-Forwarded-For", "203.0.113.7"},
		"a monitor": {"User-Agent", ""},
	} {
		if _, ok := s.alerts(headers...)["ProxyHidesClients"]; ok {
			t.Errorf("%s: got an alert, want none", name)
		}
	}
	s.send("GET", "/livez", nil, "User-Agent", browser, "X-Real-IP", "203.0.113.7")
	got, ok := s.alerts()["ProxyHidesClients"]
	if !ok || got.Severity != spec.SystemAlertSeverityWarning || !strings.Contains(got.Message, "X-Forwarded-For") {
		t.Errorf("a browser without X-Forwarded-For: got %+v, want a warning", got)
	}

	direct := start(t)
	direct.send("GET", "/livez", nil, "User-Agent", browser)
	if _, ok := direct.alerts()["ProxyHidesClients"]; ok {
		t.Error("without a proxy: got an alert, want none")
	}
}

// Engines that are down are reported with the rest of the status.
func TestSystem_ReportsDownEngines(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.temporal.fail(errors.New("dial tcp 10.0.0.7:7233: connection refused"))
	s.StopObjects()
	state := s.system()
	if len(state.Queues) != 0 || state.Posts == nil {
		t.Errorf("%+v", state)
	}
	away := map[string]bool{}
	for _, a := range state.Alerts {
		if a.Name == "EngineDown" && a.Severity == "critical" {
			away[*a.Subject] = true
		}
	}
	if len(away) != 2 || !away["temporal"] || !away["objects"] {
		t.Errorf("alerts %+v", state.Alerts)
	}
	s.temporal.fail(nil)
	s.temporal.mu.Lock()
	s.temporal.oldest = time.Minute
	s.temporal.mu.Unlock()
	if a := s.alerts()["TaskQueueStalled"]; a.Subject == nil || *a.Subject != "dateline-post" || *a.Value != 60 {
		t.Errorf("%+v", a)
	}
}

// An engine that accepts a connection and never responds does not use up the time of
// the others.
func TestSystem_ToleratesUnresponsiveEngine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.temporal.silence()
	state := s.system()
	if state.Posts == nil || state.DatabaseBytes == nil || len(state.Queues) != 1 {
		t.Errorf("%+v", state)
	}
	if len(state.Alerts) != 1 || state.Alerts[0].Name != "EngineDown" || *state.Alerts[0].Subject != "temporal" {
		t.Errorf("alerts %+v", state.Alerts)
	}
}

// An unreadable record of counts raises an alert until it is removed.
func TestSystem_ShowsQuarantinedRecords(t *testing.T) {
	t.Parallel()
	s := start(t)
	if state := s.system(); state.Readers == nil || state.Readers.QuarantinedRecords != 0 {
		t.Errorf("before: got %+v, want 0 records", state.Readers)
	}
	client := enginetest.RedisClient(t, s.RedisURL)
	s.Must(client.RPush(t.Context(), "{v00}log", "1", "not a record").Err())
	viewCounter := counter.New(client, counter.Options{})
	s.Must(viewCounter.Aggregate(t.Context()))
	state := s.system()
	if state.Readers == nil || state.Readers.QuarantinedRecords != 1 || len(state.Alerts) != 1 ||
		state.Alerts[0].Name != "RecordsQuarantined" {
		t.Errorf("got %+v and alerts %+v, want 1 record and RecordsQuarantined", state.Readers, state.Alerts)
	}
	records, err := viewCounter.Quarantine(t.Context(), 0)
	s.Must(err)
	s.Must(viewCounter.Discard(t.Context(), records[0]))
	if state := s.system(); state.Readers.QuarantinedRecords != 0 || len(state.Alerts) != 0 {
		t.Errorf("afterwards: got %+v and alerts %+v, want nothing", state.Readers, state.Alerts)
	}
}
