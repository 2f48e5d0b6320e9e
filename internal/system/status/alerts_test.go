package status

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/infra/dbclock"
	"dateline/internal/infra/timezone"
)

// healthyReport returns a report without alerts; each case changes one thing.
func healthyReport() Report {
	now := time.Date(2026, 12, 24, 11, 0, 0, 0, time.UTC)
	far := now.Add(90 * 24 * time.Hour)
	return Report{
		At: now, Engines: map[string]string{"database": "", "redis": "", "clock": ""}, Clock: dbclock.Reading{
			Offset: 12 * time.Millisecond,
		},
		Posts:       &Posts{Scheduled: 4000, Due: 200, Publishing: 9, Parked: 3, NewDeadLetters: 4, Deliveries: 100},
		DeadLetters: map[string]int64{"rejected": 3}, Lateness: []Lateness{
			{Sent: 9, Max: time.Hour}, {Network: "x", Sent: 9, Max: 30 * time.Second},
		},
		Queues: []Queue{
			{Name: "dateline-post", Kind: "activity", Pending: 4000, Oldest: 30 * time.Second, Start: &StartLatency{
				Tasks: 9, P95: 5 * time.Second,
			}},
		},
		Accounts: Accounts{FirstExpiry: &far}, Crawl: &Crawl{SeedsDue: 12}, Readers: &Readers{}, Database: &Usage{
			Used: 85, Max: 100,
		},
		Redis: map[string]Usage{"memory": {Used: 1 << 40}, "connections": {Used: 9, Max: 10_000}},
		Disks: map[string]Usage{"data": {Used: 90, Max: 100}},
	}
}

func TestAlerts_NoneForHealthyReport(t *testing.T) {
	if all := alerts(healthyReport()); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	// Missing data does not raise an alert.
	if all := alerts(Report{}); len(all) != 0 {
		t.Errorf("empty report: got %+v, want none", all)
	}
}

func TestAlerts_PerProblem(t *testing.T) {
	soon := healthyReport().At.Add(71 * time.Hour)
	zones := timezone.Open("")
	for name, c := range map[string]struct {
		change   func(r *Report)
		severity Severity
		subject  string
		message  string
	}{
		"EngineDown": {
			func(r *Report) { r.Engines["redis"] = "does not answer" }, Critical, "redis",
			"redis: does not answer. No data is lost",
		},
		"ClockDrift": {
			func(r *Report) { r.Clock.Offset = -1500 * time.Millisecond }, Warning, "", "is 1.5s off",
		},
		"PostsLate": {
			func(r *Report) { r.Posts.Overdue = 1 }, Critical, "", "1 post is overdue by more than 30 s",
		},
		"DeadLettersGrowing": {func(r *Report) { r.Posts.NewDeadLetters = 5 }, Warning, "", "5 new dead letters"},
		"WebhookDeliveriesPending": {
			func(r *Report) { r.Posts.Deliveries = 101 }, Warning, "", "101 webhook deliveries",
		},
		"PostsUncertain": {func(r *Report) { r.DeadLetters["uncertain"] = 2 }, Warning, "", "2 dead letters"},
		"PostsSentLate": {
			func(r *Report) { r.Lateness[1].Max = 42 * time.Second }, Warning, "x", "to x was sent 42 seconds late",
		},
		"AccountsNeedReconnect": {
			func(r *Report) { r.Accounts.NeedsReconnect = 2 }, Warning, "", "2 accounts have to be reconnected",
		},
		"AccountAccessExpiring": {
			func(r *Report) { r.Accounts.FirstExpiry = &soon }, Warning, "", "at 10:00 on 27 December 2026 UTC",
		},
		"SeedsOverdue": {func(r *Report) { r.Crawl.SeedsOverdue = 3 }, Warning, "", "3 seeds"},
		"RecordsQuarantined": {
			func(r *Report) { r.Readers.Quarantined = 2 }, Warning, "",
			"2 unreadable count records are in the quarantine",
		},
		"TimeZonesOld": {
			func(r *Report) { r.Zones, r.At = zones, zones.Released.AddDate(1, 0, 1); r.Accounts.FirstExpiry = nil },
			Warning, "", zones.Version + " is over a year old",
		},
		"TaskQueueStalled": {
			func(r *Report) { r.Queues[0].Oldest = 31 * time.Second }, Critical, "dateline-post", "for 31 seconds",
		},
		"WorkersBehind": {
			func(r *Report) { r.Queues[0].Start.P95 = 6 * time.Second }, Warning,
			"dateline-post", "longer than 6 seconds",
		},
		"DatabaseServerNearLimit": {func(r *Report) { r.Database.Used = 86 }, Warning, "", "86 %"},
		"RedisNearLimit": {
			func(r *Report) { r.Redis["connections"] = Usage{Used: 9000, Max: 10_000} },
			Critical, "connections", "90 % of the Redis connection limit",
		},
		"DiskNearlyFull": {
			func(r *Report) { r.Disks["data"] = Usage{Used: 95, Max: 100} }, Critical, "data",
			"data volume is 95 % full",
		},
	} {
		r := healthyReport()
		c.change(&r)
		all := alerts(r)
		require.Len(t, all, 1, "%s: %+v", name, all)
		require.Equal(t, name, all[0].Name, "%s: %+v", name, all)
		require.Equal(t, c.severity, all[0].Severity, "%s: %+v", name, all)
		require.Equal(t, c.subject, all[0].Subject, "%s: %+v", name, all)
		require.Contains(t, all[0].Message, c.message, "%s: %+v", name, all)
	}
}

func TestAlerts_CriticalFirst(t *testing.T) {
	r := healthyReport()
	r.Accounts.NeedsReconnect, r.Posts.Overdue, r.Clock.Offset = 1, 2, time.Minute
	var names []string
	for _, a := range alerts(r) {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "ClockDrift PostsLate AccountsNeedReconnect" {
		t.Errorf("got %s", got)
	}
}
