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

func newLoggerProvider(ctx context.Context, url string, res *resource.Resource) (*sdklog.LoggerProvider, error) {
	exporter, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(url))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: %w", err)
	}
	return sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)), sdklog.WithResource(res)),
		nil
}

// Logger returns a logger that adds trace IDs to records and also exports them over
// OTLP if an endpoint is set.
func (t *Telemetry) Logger(local *slog.Logger) *slog.Logger {
	handler := slog.Handler(traced{local.Handler()})
	if t.logs != nil {
		exported := otelslog.NewHandler("dateline", otelslog.WithLoggerProvider(t.logs))
		handler = slog.NewMultiHandler(handler, levelLimited{Handler: exported, local: local.Handler()})
	}
	return slog.New(handler)
}

// traced adds trace_id and span_id, as specified by OpenTelemetry
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

func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }

// levelLimited sends no more than is logged here.
type levelLimited struct {
	slog.Handler
	local slog.Handler
}

func (h levelLimited) Enabled(ctx context.Context, level slog.Level) bool {
	return h.local.Enabled(ctx, level) && h.Handler.Enabled(ctx, level)
}

func (h levelLimited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelLimited{h.Handler.WithAttrs(attrs), h.local}
}

func (h levelLimited) WithGroup(name string) slog.Handler {
	return levelLimited{h.Handler.WithGroup(name), h.local}
}
