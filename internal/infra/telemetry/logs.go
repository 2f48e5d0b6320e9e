package telemetry

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
)

func sendLogs(ctx context.Context, url string, described *resource.Resource) (*sdklog.LoggerProvider, error) {
	sender, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(url))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: %w", err)
	}
	return sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(sender)), sdklog.WithResource(described)), nil
}

// Logger gives what is logged the ids of the trace that it belongs to, and sends
// it by OTLP too, where an endpoint is set.
func (t *Telemetry) Logger(local *slog.Logger) *slog.Logger {
	handler := slog.Handler(traced{local.Handler()})
	if t.logs != nil {
		sent := otelslog.NewHandler("dateline", otelslog.WithLoggerProvider(t.logs))
		handler = slog.NewMultiHandler(handler, limited{Handler: sent, as: local.Handler()})
	}
	return slog.New(handler)
}

// traced adds trace_id and span_id, by the names of OpenTelemetry
// (opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context/).
type traced struct{ slog.Handler }

func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }
func (h traced) WithGroup(name string) slog.Handler       { return traced{h.Handler.WithGroup(name)} }

// limited sends no more than is logged here.
type limited struct {
	slog.Handler
	as slog.Handler
}

func (h limited) Enabled(ctx context.Context, level slog.Level) bool {
	return h.as.Enabled(ctx, level) && h.Handler.Enabled(ctx, level)
}

func (h limited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return limited{h.Handler.WithAttrs(attrs), h.as}
}
func (h limited) WithGroup(name string) slog.Handler { return limited{h.Handler.WithGroup(name), h.as} }
