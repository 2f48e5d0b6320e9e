package telemetry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reading is one value of a gauge, with its labels in the order that the
// instrument declares.
type Reading struct {
	Labels []string
	Value  float64
}

// Readings are those of several instruments, by name.
type Readings map[string][]Reading

// readPatience is how long all the lookups of one scrape may take together.
const readPatience = 5 * time.Second

// Observe registers a gauge that is read when somebody scrapes. An error leaves
// it out of that scrape: an old value would hide the trouble.
func (t *Telemetry) Observe(name string, read func(ctx context.Context) ([]Reading, error)) error {
	return t.ObserveTogether(func(ctx context.Context) (Readings, error) {
		all, err := read(ctx)
		return Readings{name: all}, err
	}, name)
}

// ObserveTogether registers gauges, and counters that somebody else counts,
// which one lookup answers for: it is made once in a scrape.
func (t *Telemetry) ObserveTogether(read func(ctx context.Context) (Readings, error), names ...string) error {
	all := Instruments()
	o := &observed{read: read, descriptions: map[string]*prometheus.Desc{}, kinds: map[string]prometheus.ValueType{}}
	for _, name := range names {
		i := slices.IndexFunc(all, func(i Instrument) bool { return i.Name == name })
		if i < 0 || all[i].Kind == histogram {
			return fmt.Errorf("nothing that can be looked up is declared as %s", name)
		}
		o.descriptions[name] = prometheus.NewDesc(name, all[i].Help, all[i].Labels, nil)
		o.kinds[name] = prometheus.GaugeValue
		if all[i].Kind == counter {
			o.kinds[name] = prometheus.CounterValue
		}
	}
	return t.registry.Register(o)
}

// observed is a prometheus.Collector.
type observed struct {
	descriptions map[string]*prometheus.Desc
	kinds        map[string]prometheus.ValueType
	read         func(ctx context.Context) (Readings, error)
}

func (o *observed) Describe(out chan<- *prometheus.Desc) {
	for _, d := range o.descriptions {
		out <- d
	}
}

func (o *observed) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
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

// One is the reading of a gauge without labels.
func One(value float64) []Reading { return []Reading{{Value: value}} }
