package telemetry

import (
	"slices"
	"sync"

	"go.temporal.io/sdk/client"
)

// cachedMetrics caches the handlers and instruments of Temporal's SDK, which asks for
// them by name with every call and every task: dozens of times per post. Its names and
// tags have few values.
type cachedMetrics struct {
	client.MetricsHandler

	mu       sync.RWMutex
	tagged   map[string]*cachedMetrics
	counters map[string]client.MetricsCounter
	gauges   map[string]client.MetricsGauge
	timers   map[string]client.MetricsTimer
}

func newCachedMetrics(h client.MetricsHandler) *cachedMetrics {
	return &cachedMetrics{
		MetricsHandler: h, tagged: map[string]*cachedMetrics{},
		counters: map[string]client.MetricsCounter{},
		gauges:   map[string]client.MetricsGauge{}, timers: map[string]client.MetricsTimer{},
	}
}

// WithTags implements client.MetricsHandler.
func (c *cachedMetrics) WithTags(tags map[string]string) client.MetricsHandler {
	names := make([]string, 0, 8)
	for name := range tags {
		names = append(names, name)
	}
	slices.Sort(names)
	key := make([]byte, 0, 256)
	for _, name := range names {
		key = append(append(append(append(key, name...), 0), tags[name]...), 0)
	}
	c.mu.RLock()
	known := c.tagged[string(key)]
	c.mu.RUnlock()
	if known != nil {
		return known
	}
	return cached(c, c.tagged, string(key), func() *cachedMetrics {
		return newCachedMetrics(c.MetricsHandler.WithTags(tags))
	})
}

// Counter implements client.MetricsHandler.
func (c *cachedMetrics) Counter(name string) client.MetricsCounter {
	return cached(c, c.counters, name, func() client.MetricsCounter { return c.MetricsHandler.Counter(name) })
}

// Gauge implements client.MetricsHandler.
func (c *cachedMetrics) Gauge(name string) client.MetricsGauge {
	return cached(c, c.gauges, name, func() client.MetricsGauge { return c.MetricsHandler.Gauge(name) })
}

// Timer implements client.MetricsHandler.
func (c *cachedMetrics) Timer(name string) client.MetricsTimer {
	return cached(c, c.timers, name, func() client.MetricsTimer { return c.MetricsHandler.Timer(name) })
}

// cached returns what a map of c has under a key, or makes it.
func cached[T any](c *cachedMetrics, in map[string]T, key string, make func() T) T {
	c.mu.RLock()
	known, ok := in[key]
	c.mu.RUnlock()
	if ok {
		return known
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := in[key]; ok {
		return known
	}
	in[key] = make()
	return in[key]
}
