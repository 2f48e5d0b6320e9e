package telemetry

import (
	"math"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// latencies gives the histograms of Temporal's SDK bounds that fit seconds: the
// default ones begin at five.
func latencies() sdkmetric.View {
	return sdkmetric.NewView(sdkmetric.Instrument{Name: "temporal_*latency*"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300}}})
}

// TemporalMetrics brings the SDK's own metrics: polls, latencies, slots.
func (t *Telemetry) TemporalMetrics() client.MetricsHandler {
	return temporalotel.NewMetricsHandler(temporalotel.MetricsHandlerOptions{Meter: t.Meter("temporal")})
}

// TemporalTracing follows a request through its workflow to the activities that
// it leads to. Where no traces are made it is nil: it would cost each workflow
// a header for nothing.
func (t *Telemetry) TemporalTracing() (interceptor.ClientInterceptor, error) {
	if !t.Traces() {
		return nil, nil //nolint:nilnil // none is a right answer
	}
	return temporalotel.NewTracingInterceptor(temporalotel.TracerOptions{Tracer: t.Tracer("temporal"), TextMapPropagator: t.Propagator()})
}

// TemporalQueue names one of Temporal's queues; kind is workflow or activity.
type TemporalQueue struct{ Name, Kind string }

// TemporalWait is how long tasks waited for a worker of this process.
type TemporalWait struct {
	Tasks uint64

	upTo map[float64]uint64 // how many waited at most so many seconds
}

// TemporalWaits reads the SDK's metrics of how long tasks waited from when they
// were to be done until a worker began with them.
func (t *Telemetry) TemporalWaits() map[TemporalQueue]TemporalWait {
	families, err := t.counted.Gather()
	if err != nil {
		return nil // what is there is served all the same; a look goes without
	}
	kinds := map[string]string{"temporal_workflow_task_schedule_to_start_latency_seconds": "workflow",
		"temporal_activity_schedule_to_start_latency_seconds": "activity"}
	waits := map[TemporalQueue]TemporalWait{}
	for _, family := range families {
		kind := kinds[family.GetName()]
		if kind == "" {
			continue
		}
		for _, metric := range family.GetMetric() {
			queue := TemporalQueue{Kind: kind}
			for _, label := range metric.GetLabel() {
				if label.GetName() == "task_queue" {
					queue.Name = label.GetValue()
				}
			}
			wait := waits[queue]
			if wait.upTo == nil {
				wait.upTo = map[float64]uint64{}
			}
			wait.Tasks += metric.GetHistogram().GetSampleCount()
			for _, bucket := range metric.GetHistogram().GetBucket() {
				wait.upTo[bucket.GetUpperBound()] += bucket.GetCumulativeCount()
			}
			waits[queue] = wait
		}
	}
	return waits
}

// Quantile is the bound that a share of the tasks did not wait longer than. What
// waited longer than the last bound counts as that.
func (w TemporalWait) Quantile(share float64) time.Duration {
	least, last := math.Inf(1), 0.0
	for bound, tasks := range w.upTo {
		if math.IsInf(bound, 1) {
			continue
		}
		last = max(last, bound)
		if float64(tasks) >= share*float64(w.Tasks) {
			least = min(least, bound)
		}
	}
	return time.Duration(min(least, last) * float64(time.Second))
}
