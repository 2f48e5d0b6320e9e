package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Publishing counts what the publisher does.
type Publishing struct{ set *instruments }

// Scheduled counts posts that were accepted.
func (p *Publishing) Scheduled(ctx context.Context, posts int) {
	p.set.scheduled.Add(ctx, int64(posts))
}

// Outcome counts what came of a target: posted, failed, uncertain or retried.
func (p *Publishing) Outcome(ctx context.Context, network, outcome string) {
	p.set.outcomes.Add(ctx, 1, labels("network", network, "outcome", outcome))
}

// Late notes how long after its time a post was sent.
func (p *Publishing) Late(ctx context.Context, network string, by time.Duration) {
	p.set.lateness.Record(ctx, max(by, 0).Seconds(), labels("network", network))
}

// Called notes a call of a network's API: its use, such as publish or upload,
// and its outcome class, or ok.
func (p *Publishing) Called(ctx context.Context, network, use, result string, took time.Duration) {
	p.set.calls.Add(ctx, 1, labels("network", network, "use", use, "result", result))
	p.set.callTime.Record(ctx, took.Seconds(), labels("network", network, "use", use))
}

// API counts what the API answers.
type API struct{ set *instruments }

// Answered notes an answer. route is the pattern, not the path.
func (a *API) Answered(ctx context.Context, method, route, status string, took time.Duration) {
	a.set.requests.Add(ctx, 1, labels("method", method, "route", route, "status", status))
	a.set.requestTime.Record(ctx, took.Seconds(), labels("route", route))
}

// labels takes names and values in turn.
func labels(pairs ...string) metric.MeasurementOption {
	set := make([]attribute.KeyValue, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		set = append(set, attribute.String(pairs[i], pairs[i+1]))
	}
	return metric.WithAttributes(set...)
}
