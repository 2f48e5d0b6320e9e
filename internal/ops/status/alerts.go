package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dateline/internal/infra/dbclock"
)

// Severity of an alert.
type Severity string

// The severities, as in deploy/prometheus.
const (
	Critical Severity = "critical" // posts are late, or will be
	Warning  Severity = "warning"  // somebody should look
)

// Alert is something that is wrong. The names are those of the alerts in
// deploy/prometheus and of docs/how-to/runbooks, which knows more.
type Alert struct {
	Name     string
	Severity Severity
	About    string  // what it is about, such as an engine; empty: nothing in particular
	Value    float64 // the number in the sentence; 0: there is none
	Message  string  // what is wrong and what to do, for people
}

// The bounds of deploy/prometheus.
const (
	manyDeliveries = 100
	manyDead       = 5
	longInQueue    = 30 * time.Second
	slowStart      = 5 * time.Second
	lateSend       = 30 * time.Second
	soonEnds       = 72 * time.Hour
	nearEnd        = 0.85
	diskNearEnd    = 0.9
)

// alerts looks through a report for what is wrong, the worst first. One look knows
// nothing of how long it has been so.
func alerts(r Report) []Alert {
	var all []Alert
	add := func(severity Severity, name, about string, value float64, format string, args ...any) {
		all = append(all, Alert{Name: name, Severity: severity, About: about, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Engines)) {
		if said := r.Engines[name]; said != "" && name != "clock" {
			add(Critical, "EngineDown", name, 0, "%s: %s. Nothing is lost; what needs it waits until it is back.", name, strings.TrimSuffix(said, "."))
		}
	}
	if off := r.Clock.Offset.Abs(); off > dbclock.Warning {
		severity := Warning
		if off > dbclock.Limit {
			severity = Critical
		}
		add(severity, "ClockDrifts", "", r.Clock.Offset.Seconds(), "This host's clock differs from the database's by %s. Posts go out by the database's; set both by NTP.", off.Round(100*time.Millisecond))
	}
	postAlerts(r, add)
	for _, q := range r.Queues {
		if q.Oldest > longInQueue {
			add(Critical, "TasksWait", q.Name, q.Oldest.Seconds(), "Steps have been waiting in %s for %s, and no worker takes them. Is a worker running?", q.Name, q.Oldest.Round(time.Second))
		}
		if q.Start != nil && q.Start.P95 > slowStart {
			add(Warning, "WorkersBehind", q.Name, q.Start.P95.Seconds(), "One of twenty steps of %s waits longer than %s for a worker. Start more workers.", q.Name, q.Start.P95.Round(time.Second))
		}
	}
	fullnessAlerts(r, add)
	slices.SortStableFunc(all, func(a, b Alert) int { return cmp.Compare(a.Severity, b.Severity) }) // critical before warning
	return all
}

type adder func(severity Severity, name, about string, value float64, format string, args ...any)

func postAlerts(r Report, add adder) {
	if p := r.Posts; p != nil {
		if p.Overdue > 0 {
			add(Critical, "PostsLate", "", float64(p.Overdue), "%s more than 30 s late and not out. If an engine is away, mend that first; they go out by themselves.", are(p.Overdue, "post"))
		}
		if p.FreshlyDead >= manyDead {
			add(Warning, "DeadLettersGrow", "", float64(p.FreshlyDead), "%d dead letters within a quarter of an hour. Look at their reasons.", p.FreshlyDead)
		}
		if p.Deliveries > manyDeliveries {
			add(Warning, "WebhooksWait", "", float64(p.Deliveries), "%d deliveries of webhooks have not arrived. Look at what their receivers answer.", p.Deliveries)
		}
	}
	if n := r.Dead["uncertain"]; n > 0 {
		add(Warning, "PostsUncertain", "", float64(n), "Of %s nobody knows whether the network has it. Look at the account and decide.", count(n, "dead letter"))
	}
	for _, l := range r.Lateness {
		if l.Network != "" && l.Latest > lateSend {
			add(Warning, "PostsSentLate", l.Network, l.Latest.Seconds(), "A post to %s went out %s late within the last day.", l.Network, l.Latest.Round(time.Second))
		}
	}
	if n := r.Accounts.NeedReconnect; n > 0 {
		add(Warning, "AccountsNeedReconnect", "", float64(n), "%s to be connected again; their networks refuse them.", have(n, "account"))
	}
	if end := r.Accounts.FirstEnd; end != nil && end.Sub(r.At) < soonEnds {
		add(Warning, "AccessEnds", "", end.Sub(r.At).Seconds(), "Access to an account ends at %s and cannot be renewed. Connect it again before.", end.UTC().Format(time.RFC3339))
	}
	if r.Crawl != nil && r.Crawl.SeedsOverdue > 0 {
		add(Warning, "SeedsOverdue", "", float64(r.Crawl.SeedsOverdue), "%d seeds should have been crawled a quarter of an hour ago. Does a worker crawl?", r.Crawl.SeedsOverdue)
	}
	if r.Readers != nil && r.Readers.Quarantined > 0 {
		add(Warning, "RecordsQuarantined", "", float64(r.Readers.Quarantined), "%s of readers' counts cannot be read and %s in the quarantine; everything else is counted. See `dateline quarantine list`.",
			count(r.Readers.Quarantined, "record"), map[bool]string{true: "is", false: "are"}[r.Readers.Quarantined == 1])
	}
}

func fullnessAlerts(r Report, add adder) {
	if r.Database != nil && r.Database.Share() > nearEnd {
		add(Warning, "DatabaseServerNearItsEnd", "", r.Database.Share(), "%.0f %% of the connections that Postgres allows are in use.", 100*r.Database.Share())
	}
	for _, what := range slices.Sorted(maps.Keys(r.Redis)) {
		if share := r.Redis[what].Share(); share > nearEnd {
			add(Critical, "RedisNearItsEnd", what, share, "%.0f %% of the %s that Redis may have are in use.", 100*share, what)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(r.Disks)) {
		if share := r.Disks[place].Share(); share > diskNearEnd {
			add(Critical, "DiskNearItsEnd", place, share, "The disk for %s files is %.0f %% full.", place, 100*share)
		}
	}
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func are(n int64, what string) string {
	if n == 1 {
		return count(n, what) + " is"
	}
	return count(n, what) + " are"
}

func have(n int64, what string) string {
	if n == 1 {
		return count(n, what) + " has"
	}
	return count(n, what) + " have"
}
