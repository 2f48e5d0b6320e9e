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

// readPatience is how long all the lookups of one scrape may take together.
const readPatience = 5 * time.Second

// Observe registers a gauge that is read when somebody scrapes. An error leaves
// it out of that scrape: an old value would hide the trouble.
func (t *Telemetry) Observe(name string, read func(ctx context.Context) ([]Reading, error)) error {
	all := Instruments()
	i := slices.IndexFunc(all, func(i Instrument) bool { return i.Name == name })
	if i < 0 || all[i].Kind != "gauge" {
		return fmt.Errorf("no gauge %s is declared", name)
	}
	return t.registry.Register(&gauge{description: prometheus.NewDesc(name, all[i].Help, all[i].Labels, nil), read: read})
}

// gauge is a prometheus.Collector.
type gauge struct {
	description *prometheus.Desc
	read        func(ctx context.Context) ([]Reading, error)
}

func (g *gauge) Describe(out chan<- *prometheus.Desc) { out <- g.description }

func (g *gauge) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
	defer cancel()
	readings, err := g.read(ctx)
	if err != nil {
		return
	}
	for _, r := range readings {
		m, err := prometheus.NewConstMetric(g.description, prometheus.GaugeValue, r.Value, r.Labels...)
		if err != nil {
			m = prometheus.NewInvalidMetric(g.description, err)
		}
		out <- m
	}
}

// One is the reading of a gauge without labels.
func One(value float64) []Reading { return []Reading{{Value: value}} }
