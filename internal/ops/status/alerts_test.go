package status

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/dbclock"
)

// A report in which all is well; each case spoils one thing.
func well() Report {
	now := time.Date(2026, 12, 24, 11, 0, 0, 0, time.UTC)
	far := now.Add(90 * 24 * time.Hour)
	return Report{At: now, Engines: map[string]string{"database": "", "redis": "", "clock": ""}, Clock: dbclock.Reading{Offset: 12 * time.Millisecond},
		Posts: &Posts{Scheduled: 4000, Due: 200, Publishing: 9, Parked: 3, FreshlyDead: 4, Deliveries: 100},
		Dead:  map[string]int64{"rejected": 3}, Lateness: []Lateness{{Sent: 9, Latest: time.Hour}, {Network: "x", Sent: 9, Latest: 30 * time.Second}},
		Queues:   []Queue{{Name: "dateline-post", Kind: "activity", Waiting: 4000, Oldest: 30 * time.Second, Start: &Start{Steps: 9, P95: 5 * time.Second}}},
		Accounts: Accounts{FirstEnd: &far}, Crawl: &Crawl{SeedsDue: 12}, Readers: &Readers{}, Database: &Fullness{Used: 85, Most: 100},
		Redis: map[string]Fullness{"memory": {Used: 1 << 40}, "connections": {Used: 9, Most: 10_000}}, Disks: map[string]Fullness{"data": {Used: 90, Most: 100}}}
}

func TestNothingIsWrongWhenAllIsWell(t *testing.T) {
	if all := alerts(well()); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	// What could not be found out is no alert of its own.
	if all := alerts(Report{}); len(all) != 0 {
		t.Errorf("of nothing: %+v", all)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	soon := well().At.Add(71 * time.Hour)
	for name, c := range map[string]struct {
		spoil    func(r *Report)
		severity Severity
		about    string
		says     string
	}{
		"EngineDown":               {func(r *Report) { r.Engines["redis"] = "does not answer" }, Critical, "redis", "redis: does not answer. Nothing is lost"},
		"ClockDrifts":              {func(r *Report) { r.Clock.Offset = -1500 * time.Millisecond }, Warning, "", "by 1.5s"},
		"PostsLate":                {func(r *Report) { r.Posts.Overdue = 1 }, Critical, "", "1 post is more than 30 s late"},
		"DeadLettersGrow":          {func(r *Report) { r.Posts.FreshlyDead = 5 }, Warning, "", "5 dead letters"},
		"WebhooksWait":             {func(r *Report) { r.Posts.Deliveries = 101 }, Warning, "", "101 deliveries"},
		"PostsUncertain":           {func(r *Report) { r.Dead["uncertain"] = 2 }, Warning, "", "2 dead letters"},
		"PostsSentLate":            {func(r *Report) { r.Lateness[1].Latest = 42 * time.Second }, Warning, "x", "to x went out 42s late"},
		"AccountsNeedReconnect":    {func(r *Report) { r.Accounts.NeedReconnect = 2 }, Warning, "", "2 accounts have to be connected again"},
		"AccessEnds":               {func(r *Report) { r.Accounts.FirstEnd = &soon }, Warning, "", "2026-12-27T10:00:00Z"},
		"SeedsOverdue":             {func(r *Report) { r.Crawl.SeedsOverdue = 3 }, Warning, "", "3 seeds"},
		"RecordsQuarantined":       {func(r *Report) { r.Readers.Quarantined = 2 }, Warning, "", "2 records of readers' counts cannot be read and are in the quarantine"},
		"TasksWait":                {func(r *Report) { r.Queues[0].Oldest = 31 * time.Second }, Critical, "dateline-post", "for 31s"},
		"WorkersBehind":            {func(r *Report) { r.Queues[0].Start.P95 = 6 * time.Second }, Warning, "dateline-post", "longer than 6s"},
		"DatabaseServerNearItsEnd": {func(r *Report) { r.Database.Used = 86 }, Warning, "", "86 %"},
		"RedisNearItsEnd":          {func(r *Report) { r.Redis["connections"] = Fullness{Used: 9000, Most: 10_000} }, Critical, "connections", "90 % of the connections"},
		"DiskNearItsEnd":           {func(r *Report) { r.Disks["data"] = Fullness{Used: 95, Most: 100} }, Critical, "data", "for data files is 95 % full"},
	} {
		r := well()
		c.spoil(&r)
		all := alerts(r)
		if len(all) != 1 || all[0].Name != name || all[0].Severity != c.severity || all[0].About != c.about || !strings.Contains(all[0].Message, c.says) {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

func TestTheWorstIsSaidFirst(t *testing.T) {
	r := well()
	r.Accounts.NeedReconnect, r.Posts.Overdue, r.Clock.Offset = 1, 2, time.Minute
	var names []string
	for _, a := range alerts(r) {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "ClockDrifts PostsLate AccountsNeedReconnect" {
		t.Error(got)
	}
}
