package telemetry

import (
	"math"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// latencies sets bounds in seconds for the histograms of Temporal's SDK: the default
// bounds start at five.
func latencyView() sdkmetric.View {
	return sdkmetric.NewView(sdkmetric.Instrument{Name: "temporal_*latency*"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{
			Boundaries: []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300},
		}})
}

// TemporalMetrics returns the handler for the SDK's own metrics: polls, latencies,
// slots.
func (t *Telemetry) TemporalMetrics() client.MetricsHandler {
	return newCachedMetrics(temporalotel.NewMetricsHandler(temporalotel.MetricsHandlerOptions{
		Meter: t.Meter("temporal"),
	}))
}

// TemporalTracing returns an interceptor that traces a request through its workflow
// to its activities. It is nil if traces are off, to avoid the header in every
// workflow.
func (t *Telemetry) TemporalTracing() (interceptor.ClientInterceptor, error) {
	if !t.TracingEnabled() {
		return nil, nil //nolint:nilnil // nil means that there is no interceptor
	}
	return temporalotel.NewTracingInterceptor(temporalotel.TracerOptions{
		Tracer: t.Tracer("temporal"), TextMapPropagator: t.Propagator(),
	})
}

// TaskQueue identifies a Temporal task queue; Kind is workflow or activity.
type TaskQueue struct{ Name, Kind string }

// QueueLatency is the schedule-to-start latency of the tasks of a queue.
type QueueLatency struct {
	Tasks uint64

	upTo map[float64]uint64 // cumulative task counts by upper bound in seconds
}

// QueueLatencies returns the schedule-to-start latencies of the task queues that
// this process polls, from the metrics of the SDK.
func (t *Telemetry) QueueLatencies() map[TaskQueue]QueueLatency {
	families, err := t.counted.Gather()
	if err != nil {
		return nil // the latencies are optional
	}
	kinds := map[string]string{
		"temporal_workflow_task_schedule_to_start_latency_seconds": "workflow",
		"temporal_activity_schedule_to_start_latency_seconds":      "activity",
	}
	latencies := map[TaskQueue]QueueLatency{}
	for _, family := range families {
		kind := kinds[family.GetName()]
		if kind == "" {
			continue
		}
		for _, metric := range family.GetMetric() {
			queue := TaskQueue{Kind: kind}
			for _, label := range metric.GetLabel() {
				if label.GetName() == "task_queue" {
					queue.Name = label.GetValue()
				}
			}
			latency := latencies[queue]
			if latency.upTo == nil {
				latency.upTo = map[float64]uint64{}
			}
			latency.Tasks += metric.GetHistogram().GetSampleCount()
			for _, bucket := range metric.GetHistogram().GetBucket() {
				latency.upTo[bucket.GetUpperBound()] += bucket.GetCumulativeCount()
			}
			latencies[queue] = latency
		}
	}
	return latencies
}

// Quantile returns the bucket bound that contains the given share of tasks. It is at
// most the largest finite bound.
func (l QueueLatency) Quantile(share float64) time.Duration {
	smallest, largest := math.Inf(1), 0.0
	for bound, tasks := range l.upTo {
		if math.IsInf(bound, 1) {
			continue
		}
		largest = max(largest, bound)
		if float64(tasks) >= share*float64(l.Tasks) {
			smallest = min(smallest, bound)
		}
	}
	return time.Duration(min(smallest, largest) * float64(time.Second))
}
