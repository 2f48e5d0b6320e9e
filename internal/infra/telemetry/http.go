package telemetry

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Serve makes a span of every request, which whoever answers may name by its
// route. The health of the process and the hits of readers, which come all the
// time, have none. What a client says of traces of its own is not believed: it
// would decide what is traced here.
func (t *Telemetry) Serve(next http.Handler) http.Handler {
	if !t.Traces() {
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

// Transport makes a span of every request that leaves. It tells the host and
// the status, never the path or the query: networks have tokens there
// (core.telegram.org/bots/api#making-requests). Nor are the ids of traces sent
// along, which are nobody else's business.
func (t *Telemetry) Transport(next http.RoundTripper) http.RoundTripper {
	if !t.Traces() {
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
		trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("server.address", r.URL.Host)))
	defer span.End()
	answer, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		span.SetStatus(codes.Error, "no answer") // what the error says may name the address
		return nil, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", answer.StatusCode))
	if answer.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return answer, nil
}

// CloseIdleConnections is what http.Client looks for.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
