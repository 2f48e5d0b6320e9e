// Package telemetry makes the metrics, traces and logs of one process:
// instruments are declared in list.go and nowhere else, and served at /metrics in
// the format of Prometheus; traces and logs leave by OTLP where an endpoint is
// set.
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

// Options say what a process is called and where its traces go.
type Options struct {
	Service  string // api, worker or up
	Version  string
	OTLP     string  // the base URL of a collector that takes OTLP over HTTP; "": traces are not made
	Sampling float64 // the share of requests and posts that is traced, 0 to 1
	Logs     string  // the URL that takes logs by OTLP over HTTP; "": they go nowhere but to the standard error
}

// Telemetry is what one process tells of itself. It is safe for concurrent use.
type Telemetry struct {
	Publishing *Publishing
	API        *API
	Views      *Views
	Crawl      *Crawl
	Articles   *Articles

	registry *prometheus.Registry // of what is looked up when somebody asks
	counted  *prometheus.Registry // of what this process counts
	meters   *sdkmetric.MeterProvider
	traces   *sdktrace.TracerProvider // nil: none are made
	logs     *sdklog.LoggerProvider   // nil: they are not sent
	set      *instruments
}

// Start makes the instruments. Traces are sent from then on, until Stop.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{registry: prometheus.NewRegistry(), counted: prometheus.NewRegistry()}
	t.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := promexporter.New(promexporter.WithRegisterer(t.counted), promexporter.WithoutScopeInfo(), promexporter.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("starting the metrics: %w", err)
	}
	described := resource.NewSchemaless(attribute.String("service.name", "dateline-"+o.Service), attribute.String("service.version", o.Version))
	t.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(described), sdkmetric.WithView(latencies()))
	if t.set, err = newInstruments(t.meters.Meter("dateline")); err != nil {
		return nil, fmt.Errorf("making the instruments: %w", err)
	}
	t.Publishing, t.API, t.Views, t.Crawl, t.Articles = &Publishing{t.set}, &API{t.set}, &Views{t.set}, &Crawl{t.set}, &Articles{t.set}
	if o.Logs != "" {
		if t.logs, err = sendLogs(ctx, o.Logs, described); err != nil {
			return nil, err
		}
	}
	if o.OTLP == "" {
		return t, nil
	}
	sender, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(o.OTLP+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(sender), sdktrace.WithResource(described),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Sampling))))
	return t, nil
}

// Handler serves the metrics.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{t.registry, t.counted}, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Meter is for libraries that bring instruments of their own.
func (t *Telemetry) Meter(library string) metric.Meter { return t.meters.Meter(library) }

// Tracer is for spans; where no traces are made, it makes none.
func (t *Telemetry) Tracer(library string) trace.Tracer {
	if t.traces == nil {
		return noop.NewTracerProvider().Tracer(library)
	}
	return t.traces.Tracer(library)
}

// Traces says whether spans go anywhere.
func (t *Telemetry) Traces() bool { return t.traces != nil }

// Propagator carries traces between processes in the W3C's headers.
func (t *Telemetry) Propagator() propagation.TextMapPropagator { return propagation.TraceContext{} }

// Stop sends what is left.
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
