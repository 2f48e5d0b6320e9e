// Package telemetry provides the metrics, traces and logs of a process. All metrics
// are declared in list.go and served at /metrics in the Prometheus format; traces and
// logs are exported over OTLP if an endpoint is set.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Options configure the telemetry of a process.
type Options struct {
	Service  string // api, worker or up
	Version  string
	OTLP     string  // base URL of an OTLP/HTTP collector; empty disables traces
	Sampling float64 // share of requests and posts that are traced, 0 to 1
	Logs     string  // OTLP/HTTP URL for logs; empty disables their export
}

// Telemetry contains the metrics, traces and logs of a process. It is safe for
// concurrent use.
type Telemetry struct {
	Publishing *Publishing
	API        *API
	Views      *Views
	Crawl      *Crawl
	Articles   *Articles

	registry *prometheus.Registry // metrics that are read on a scrape
	counted  *prometheus.Registry // metrics that this process records
	meters   *sdkmetric.MeterProvider
	traces   *sdktrace.TracerProvider // nil if traces are off
	logs     *sdklog.LoggerProvider   // nil if logs are not exported
	set      *instruments
}

// Start creates the instruments and starts the exporters, which run until Stop.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{registry: prometheus.NewRegistry(), counted: prometheus.NewRegistry()}
	t.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := promexporter.New(promexporter.WithRegisterer(t.counted), promexporter.WithoutScopeInfo(),
		promexporter.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("starting the metrics exporter: %w", err)
	}
	res := resource.NewSchemaless(attribute.String("service.name", "dateline-"+o.Service),
		attribute.String("service.version", o.Version))
	t.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(res),
		sdkmetric.WithView(latencyView()))
	if t.set, err = newInstruments(t.meters.Meter("dateline")); err != nil {
		return nil, fmt.Errorf("creating the instruments: %w", err)
	}
	t.Publishing, t.API, t.Views, t.Crawl, t.Articles = &Publishing{t.set}, &API{t.set}, &Views{t.set}, &Crawl{t.set},
		&Articles{t.set}
	if o.Logs != "" {
		if t.logs, err = newLoggerProvider(ctx, o.Logs, res); err != nil {
			return nil, err
		}
	}
	if o.OTLP == "" {
		return t, nil
	}
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(o.OTLP+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(res),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Sampling))))
	return t, nil
}

// Handler serves the metrics.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{t.registry, t.counted}, promhttp.HandlerOpts{
		EnableOpenMetrics: true,
	})
}

// Meter returns a meter for libraries with their own instruments.
func (t *Telemetry) Meter(library string) metric.Meter { return t.meters.Meter(library) }

// Tracer returns a tracer; if traces are off, its spans do nothing.
func (t *Telemetry) Tracer(library string) trace.Tracer {
	if t.traces == nil {
		return noop.NewTracerProvider().Tracer(library)
	}
	return t.traces.Tracer(library)
}

// TracingEnabled reports whether spans are exported.
func (t *Telemetry) TracingEnabled() bool { return t.traces != nil }

// Propagator returns the propagator for W3C trace context headers.
func (t *Telemetry) Propagator() propagation.TextMapPropagator { return propagation.TraceContext{} }

// Stop exports the remaining data and stops the exporters.
func (t *Telemetry) Stop(ctx context.Context) error {
	err := t.meters.Shutdown(ctx)
	if t.traces != nil {
		err = errors.Join(err, t.traces.Shutdown(ctx))
	}
	if t.logs != nil {
		err = errors.Join(err, t.logs.Shutdown(ctx))
	}
	return err
}
