package telemetry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Sample is one value of a gauge or counter. Labels are in the order in which the
// instrument declares them.
type Sample struct {
	Labels []string
	Value  float64
}

// Samples contains the samples of several instruments, by metric name.
type Samples map[string][]Sample

// collectTimeout is the time limit of one collector within a scrape.
const collectTimeout = 5 * time.Second

// RegisterGauge registers a gauge that is read on every scrape. If read fails, the
// scrape contains no value: a stale value would hide the failure.
func (t *Telemetry) RegisterGauge(name string, read func(ctx context.Context) ([]Sample, error)) error {
	return t.RegisterCollector(func(ctx context.Context) (Samples, error) {
		all, err := read(ctx)
		return Samples{name: all}, err
	}, name)
}

// RegisterCollector registers gauges and externally maintained counters that are
// read together, once per scrape.
func (t *Telemetry) RegisterCollector(read func(ctx context.Context) (Samples, error), names ...string) error {
	all := Instruments()
	o := &collector{read: read, descriptions: map[string]*prometheus.Desc{}, kinds: map[string]prometheus.ValueType{}}
	for _, name := range names {
		i := slices.IndexFunc(all, func(i Instrument) bool { return i.Name == name })
		if i < 0 || all[i].Kind == histogram {
			return fmt.Errorf("%s is not declared as a gauge or counter", name)
		}
		o.descriptions[name] = prometheus.NewDesc(name, all[i].Help, all[i].Labels, nil)
		o.kinds[name] = prometheus.GaugeValue
		if all[i].Kind == counter {
			o.kinds[name] = prometheus.CounterValue
		}
	}
	return t.registry.Register(o)
}

// collector implements prometheus.Collector.
type collector struct {
	descriptions map[string]*prometheus.Desc
	kinds        map[string]prometheus.ValueType
	read         func(ctx context.Context) (Samples, error)
}

func (o *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range o.descriptions {
		out <- d
	}
}

func (o *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	readings, err := o.read(ctx)
	if err != nil {
		return
	}
	for name, all := range readings {
		d, ok := o.descriptions[name]
		if !ok {
			continue
		}
		for _, r := range all {
			m, err := prometheus.NewConstMetric(d, o.kinds[name], r.Value, r.Labels...)
			if err != nil {
				m = prometheus.NewInvalidMetric(d, err)
			}
			out <- m
		}
	}
}

// SingleSample returns the sample of a gauge without labels.
func SingleSample(value float64) []Sample { return []Sample{{Value: value}} }
