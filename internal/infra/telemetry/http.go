package telemetry

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// TraceRequests starts a span for every request; the handler sets the route as its
// name. Health checks and the hits of readers are too frequent to be traced. Trace
// headers of clients are ignored: sampling is decided by this process.
func (t *Telemetry) TraceRequests(next http.Handler) http.Handler {
	if !t.TracingEnabled() {
		return next
	}
	tracer := t.Tracer("http")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/livez" || r.URL.Path == "/readyz" || strings.HasPrefix(r.URL.Path, "/v1/") {
			next.ServeHTTP(w, r)
			return
		}
		ctx, span := tracer.Start(r.Context(), "HTTP "+r.Method, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", r.Method)))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// TraceTransport starts a span for every outgoing request. It records the host and
// the status, never the path or the query, which can contain access tokens
// (core.telegram.org/bots/api#making-requests). Trace headers are not sent to third
// parties.
func (t *Telemetry) TraceTransport(next http.RoundTripper) http.RoundTripper {
	if !t.TracingEnabled() {
		return next
	}
	return &transport{next, t.Tracer("http")}
}

type transport struct {
	next   http.RoundTripper
	tracer trace.Tracer
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, span := t.tracer.Start(r.Context(), r.Method+" "+r.URL.Host, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("http.request.method", r.Method),
			attribute.String("server.address", r.URL.Host)))
	defer span.End()
	response, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		span.SetStatus(codes.Error, "no response") // the error can contain the URL
		return nil, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", response.StatusCode))
	if response.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return response, nil
}

// CloseIdleConnections implements the optional interface of http.Client.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
