package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// instruments contains the metrics that are recorded as events occur. Metrics that
// are read on a scrape are registered by their owners, see RegisterGauge.
type instruments struct {
	counters   map[string]metric.Int64Counter
	histograms map[string]metric.Float64Histogram
}

func newInstruments(m metric.Meter) (*instruments, error) {
	s := &instruments{map[string]metric.Int64Counter{}, map[string]metric.Float64Histogram{}}
	var errs []error
	for _, i := range Instruments() {
		var err error
		switch i.Kind {
		case counter:
			s.counters[i.Name], err = m.Int64Counter(i.Name, metric.WithDescription(i.Help))
		case histogram:
			s.histograms[i.Name], err = m.Float64Histogram(i.Name, metric.WithDescription(i.Help),
				metric.WithExplicitBucketBoundaries(i.bounds...))
		}
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// add increases a counter by n. labels alternates names and values.
func (s *instruments) add(ctx context.Context, name string, n int64, labels ...string) {
	if n > 0 {
		s.counters[name].Add(ctx, n, attributes(labels))
	}
}

// record adds a value to a histogram.
func (s *instruments) record(ctx context.Context, name string, value float64, labels ...string) {
	s.histograms[name].Record(ctx, value, attributes(labels))
}

func attributes(pairs []string) metric.MeasurementOption {
	set := make([]attribute.KeyValue, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		set = append(set, attribute.String(pairs[i], pairs[i+1]))
	}
	return metric.WithAttributes(set...)
}
