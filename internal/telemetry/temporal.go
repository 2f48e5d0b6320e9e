package telemetry

import (
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
