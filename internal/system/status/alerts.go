package status

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"dateline/internal/infra/dbclock"
	"dateline/internal/infra/message"
	"dateline/internal/infra/timezone"
)

// Severity of an alert.
type Severity string

// The severities, as in deploy/prometheus.
const (
	Critical Severity = "critical" // posts are late or will be
	Warning  Severity = "warning"  // an operator should look into it
)

// Alert is a detected problem. Name is that of the alert in deploy/prometheus and of
// its runbook in docs/how-to/runbooks.
type Alert struct {
	Name     string
	Severity Severity
	Subject  string  // the affected engine, network, queue or volume; can be empty
	Value    float64 // the number in the message; 0 if there is none
	Message  string  // what is wrong and what to do
	Params   message.Params
}

// The thresholds, as in deploy/prometheus.
const (
	maxPendingDeliveries = 100
	maxNewDeadLetters    = 5
	maxQueueAge          = 30 * time.Second
	maxStartLatency      = 5 * time.Second
	maxLateness          = 30 * time.Second
	expiryWarning        = 72 * time.Hour
	usageLimit           = 0.85
	diskUsageLimit       = 0.9
)

// adder returns a function that adds an alert to a list.
func adder(all *[]Alert) addFunc {
	return func(severity Severity, name, subject string, value float64, template string, args ...any) {
		text, params := message.Format(template, args...)
		*all = append(*all, Alert{
			Name: name, Severity: severity, Subject: subject, Value: value, Message: text, Params: params,
		})
	}
}

// ProxyAlert is about a trusted proxy that does not forward the addresses of clients. Only
// a process of the API sees it.
func ProxyAlert() Alert {
	var all []Alert
	add := adder(&all)
	add(Warning, "ProxyHidesClients", "", 0,
		"A trusted proxy sends requests without X-Forwarded-For: all readers count as one and share the rate limits. "+
			"Let the proxy set this header; `docs/how-to/run-behind-a-proxy.md` has the lines.")
	return all[0]
}

// alerts returns the problems of a report, critical ones first. Unlike Prometheus, it
// does not consider their duration.
func alerts(r Report) []Alert {
	var all []Alert
	add := adder(&all)
	for _, name := range slices.Sorted(maps.Keys(r.Engines)) {
		if failure := r.Engines[name]; failure != "" && name != "clock" {
			add(Critical, EngineDown, name, 0,
				"{engine}: {reason}. No data is lost; work that needs it resumes when it is back.", name,
				strings.TrimSuffix(failure, "."))
		}
	}
	if off := r.Clock.Offset.Abs(); off > dbclock.Warning {
		severity := Warning
		if off > dbclock.Limit {
			severity = Critical
		}
		add(severity, "ClockDrift", "", r.Clock.Offset.Seconds(),
			"The clock of this host is {offset_seconds} off the database clock, by which posts are sent. Synchronize "+
				"both with NTP.", off.Round(100*time.Millisecond))
	}
	postAlerts(r, add)
	zoneAlerts(r, add)
	for _, q := range r.Queues {
		if q.Oldest > maxQueueAge {
			add(Critical, "TaskQueueStalled", q.Name, q.Oldest.Seconds(),
				"The oldest task in {queue} has been waiting for {wait_seconds}. Check that a worker is running.",
				q.Name, q.Oldest.Round(time.Second))
		}
		if q.Start != nil && q.Start.P95 > maxStartLatency {
			add(Warning, "WorkersBehind", q.Name, q.Start.P95.Seconds(),
				"5% of the tasks in {queue} wait longer than {wait_seconds} for a worker. Start more workers.", q.Name,
				q.Start.P95.Round(time.Second))
		}
	}
	usageAlerts(r, add)
	// Critical before warning
	slices.SortStableFunc(all, func(a, b Alert) int { return cmp.Compare(a.Severity, b.Severity) })
	return all
}

func zoneAlerts(r Report, add addFunc) {
	if r.Zones == nil {
		return
	}
	for _, w := range r.Zones.Warnings(r.At) {
		switch w.Kind {
		case timezone.Old:
			add(Warning, "TimeZonesOld", "", 0,
				"The time zone database {version} is over a year old. Update Dateline, or the tzdata package of "+
					"the system.", r.Zones.Version)
		case timezone.Outdated:
			add(Warning, "TimeZonesOutdated", "", 0,
				"The system has the time zone database {version}, Dateline uses {used_version}. Restart Dateline.",
				w.Version, r.Zones.Version)
		case timezone.Anonymous: // dateline doctor reports it
		}
	}
}

type addFunc func(severity Severity, name, subject string, value float64, template string, args ...any)

func postAlerts(r Report, add addFunc) {
	if p := r.Posts; p != nil {
		if p.Overdue > 0 {
			add(Critical, "PostsLate", "", float64(p.Overdue),
				"{posts|post is|posts are} overdue by more than 30 s. If an engine is down, fix that first: the "+
					"posts are then sent automatically.", p.Overdue)
		}
		if p.NewDeadLetters >= maxNewDeadLetters {
			add(Warning, "DeadLettersGrowing", "", float64(p.NewDeadLetters),
				"{posts} new dead letters within 15 minutes. Check their reasons.", p.NewDeadLetters)
		}
		if p.Deliveries > maxPendingDeliveries {
			add(Warning, "WebhookDeliveriesPending", "", float64(p.Deliveries),
				"{deliveries} webhook deliveries are pending. Check the responses of the receivers.", p.Deliveries)
		}
	}
	if n := r.DeadLetters["uncertain"]; n > 0 {
		add(Warning, "PostsUncertain", "", float64(n),
			"{posts|dead letter|dead letters} with an uncertain outcome. Check the account at the network and decide.",
			n)
	}
	for _, l := range r.Lateness {
		if l.Network != "" && l.Max > maxLateness {
			add(Warning, "PostsSentLate", l.Network, l.Max.Seconds(),
				"A post to {network} was sent {late_seconds} late within the last day.", l.Network,
				l.Max.Round(time.Second))
		}
	}
	if n := r.Accounts.NeedsReconnect; n > 0 {
		add(Warning, "AccountsNeedReconnect", "", float64(n),
			"{accounts|account has|accounts have} to be reconnected: the networks rejected their access.", n)
	}
	if end := r.Accounts.FirstExpiry; end != nil && end.Sub(r.At) < expiryWarning {
		add(Warning, "AccountAccessExpiring", "", end.Sub(r.At).Seconds(),
			"Access to an account expires at {ends_at} UTC and cannot be renewed. Reconnect the account before then.",
			end.UTC())
	}
	if r.Crawl != nil && r.Crawl.SeedsOverdue > 0 {
		add(Warning, "SeedsOverdue", "", float64(r.Crawl.SeedsOverdue),
			"{seeds} seeds are overdue by more than 15 minutes. Check that a worker with DATELINE_CRAWL is running.",
			r.Crawl.SeedsOverdue)
	}
	if r.Readers != nil && r.Readers.Quarantined > 0 {
		add(Warning, "RecordsQuarantined", "", float64(r.Readers.Quarantined),
			"{records|unreadable count record is|unreadable count records are} in the quarantine; all other views "+
				"are counted. Run `dateline quarantine list`.", r.Readers.Quarantined)
	}
}

func usageAlerts(r Report, add addFunc) {
	if r.Database != nil && r.Database.Share() > usageLimit {
		add(Warning, "DatabaseServerNearLimit", "", r.Database.Share(),
			"{percent} % of the Postgres connection limit is in use.", percent(r.Database.Share()))
	}
	for _, resource := range slices.Sorted(maps.Keys(r.Redis)) {
		if share := r.Redis[resource].Share(); share > usageLimit {
			add(Critical, "RedisNearLimit", resource, share, "{percent} % of the Redis {resource} limit is in use.",
				percent(share), strings.TrimSuffix(resource, "s"))
		}
	}
	for _, volume := range slices.Sorted(maps.Keys(r.Disks)) {
		if share := r.Disks[volume].Share(); share > diskUsageLimit {
			add(Critical, "DiskNearlyFull", volume, share, "The {volume} volume is {percent} % full.", volume,
				percent(share))
		}
	}
}

func percent(share float64) int { return int(math.Round(100 * share)) }
