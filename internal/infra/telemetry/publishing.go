package telemetry

import (
	"context"
	"time"
)

// Publishing records the metrics of publishing.
type Publishing struct{ set *instruments }

// Scheduled counts posts that were accepted.
func (p *Publishing) Scheduled(ctx context.Context, posts int) {
	p.set.add(ctx, "dateline_posts_scheduled_total", int64(posts))
}

// Outcome counts the outcome of a target: posted, failed, uncertain or retrying.
func (p *Publishing) Outcome(ctx context.Context, network, outcome string) {
	p.set.add(ctx, "dateline_target_outcomes_total", 1, "network", network, "outcome", outcome)
}

// Late records how long after its scheduled time a post was sent.
func (p *Publishing) Late(ctx context.Context, network string, by time.Duration) {
	p.set.record(ctx, "dateline_post_lateness_seconds", max(by, 0).Seconds(), "network", network)
}

// Called records a call of a network's API: its use, such as publish or upload,
// and its outcome class, or ok.
func (p *Publishing) Called(ctx context.Context, network, use, result string, took time.Duration) {
	p.set.add(ctx, "dateline_network_calls_total", 1, "network", network, "use", use, "result", result)
	p.set.record(ctx, "dateline_network_call_duration_seconds", took.Seconds(), "network", network, "use", use)
}

// Measured counts posts whose metrics were read, by what the network answered.
func (p *Publishing) Measured(ctx context.Context, network, state string, posts int) {
	p.set.add(ctx, "dateline_measured_posts_total", int64(posts), "network", network, "state", state)
}

// MeasuringPaused counts runs that stopped reading the metrics of an account.
func (p *Publishing) MeasuringPaused(ctx context.Context, network, reason string) {
	p.set.add(ctx, "dateline_measuring_pauses_total", 1, "network", network, "reason", reason)
}

// API records the metrics of the API.
type API struct{ set *instruments }

// Answered records a response. route is the pattern, not the path.
func (a *API) Answered(ctx context.Context, method, route, status string, took time.Duration) {
	a.set.add(ctx, "dateline_http_requests_total", 1, "method", method, "route", route, "status", status)
	a.set.record(ctx, "dateline_http_request_duration_seconds", took.Seconds(), "route", route)
}
