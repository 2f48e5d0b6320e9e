package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// Instrument is one row of docs/metrics.md.
type Instrument struct {
	Name   string // in Prometheus
	Kind   string // counter, gauge or histogram
	Unit   string
	Labels []string
	Help   string
}

// Instruments lists everything that Dateline itself measures. Labels have few
// values each: names of networks, of states, of routes; never ids.
func Instruments() []Instrument {
	return []Instrument{
		// Publishing
		{"dateline_posts_scheduled_total", "counter", "posts", nil, "Posts and drafts that were accepted, one by one or in bulk."},
		{"dateline_target_outcomes_total", "counter", "targets", []string{"network", "outcome"}, "What came of targets: posted, failed, uncertain, retried."},
		{"dateline_post_lateness_seconds", "histogram", "seconds", []string{"network"}, "From a post's time to the call that published it, by the database's clock."},
		{"dateline_network_calls_total", "counter", "calls", []string{"network", "use", "result"}, "Calls of networks' APIs that publish or upload, by outcome class; ok is success."},
		{"dateline_network_call_duration_seconds", "histogram", "seconds", []string{"network", "use"}, "How long those calls took."},
		{"dateline_posts_armed", "gauge", "posts", nil, "Posts that this worker holds ready in memory."},
		{"dateline_posts", "gauge", "posts", []string{"state"}, "Posts that wait: scheduled, due within a minute, publishing, overdue."},
		{"dateline_dead_letters", "gauge", "targets", []string{"reason"}, "Targets that wait for a person, by reason."},
		{"dateline_webhook_deliveries_waiting", "gauge", "deliveries", nil, "Deliveries of webhooks that have not arrived yet."},
		{"dateline_accounts", "gauge", "accounts", []string{"network", "status"}, "Connected accounts and those that need a person."},
		{"dateline_account_access_ends_seconds", "gauge", "seconds", []string{"network"}, "Until the first account's access ends that cannot be renewed."},
		// The process and its engines
		{"dateline_http_requests_total", "counter", "requests", []string{"method", "route", "status"}, "Answers of the API."},
		{"dateline_http_request_duration_seconds", "histogram", "seconds", []string{"route"}, "How long they took."},
		{"dateline_engine_up", "gauge", "1", []string{"engine"}, "1 while an engine answers: database, redis, temporal, objects, clock, worker."},
		{"dateline_clock_offset_seconds", "gauge", "seconds", nil, "How far this host's clock is ahead of the database's."},
		{"dateline_database_connections", "gauge", "connections", []string{"state"}, "Connections of this process to Postgres: in_use, idle, most."},
		{"dateline_redis_connections", "gauge", "connections", []string{"state"}, "Connections of this process to Redis: in_use, idle."},
		{"dateline_build_info", "gauge", "1", []string{"version"}, "Always 1; tells the version."},
	}
}

// instruments are those that are counted as things happen. What is looked up
// when somebody asks is registered by its owner, see Observe.
type instruments struct {
	scheduled, outcomes, calls, requests metric.Int64Counter
	lateness, callTime, requestTime      metric.Float64Histogram
}

func newInstruments(m metric.Meter) (*instruments, error) {
	var s instruments
	var errs []error
	counter := func(to *metric.Int64Counter, name string) {
		c, err := m.Int64Counter(name, metric.WithDescription(help(name)))
		*to, errs = c, append(errs, err)
	}
	histogram := func(to *metric.Float64Histogram, name string, bounds ...float64) {
		h, err := m.Float64Histogram(name, metric.WithDescription(help(name)), metric.WithExplicitBucketBoundaries(bounds...))
		*to, errs = h, append(errs, err)
	}
	counter(&s.scheduled, "dateline_posts_scheduled_total")
	counter(&s.outcomes, "dateline_target_outcomes_total")
	counter(&s.calls, "dateline_network_calls_total")
	counter(&s.requests, "dateline_http_requests_total")
	// Editors notice a second; alerts begin at 30.
	histogram(&s.lateness, "dateline_post_lateness_seconds", 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600)
	histogram(&s.callTime, "dateline_network_call_duration_seconds", 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60)
	histogram(&s.requestTime, "dateline_http_request_duration_seconds", 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
	return &s, errors.Join(errs...)
}

func help(name string) string {
	for _, i := range Instruments() {
		if i.Name == name {
			return i.Help
		}
	}
	return ""
}
