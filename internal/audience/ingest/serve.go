package ingest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"runtime/debug"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
)

// Prefix is the path prefix of the routes that Handler serves.
const Prefix = "/v1/"

// ServeHTTP serves the routes below Prefix and PlausiblePath.
func (in *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil {
			in.Log.ErrorContext(r.Context(), "panic in a request", "route", r.URL.Path, "panic", v, "stack",
				string(debug.Stack()))
			writeProblem(w, http.StatusInternalServerError, "internal",
				"Something went wrong on our side. The log has the details under the X-Request-ID.")
		}
	}()
	setHeaders(w.Header())
	method, handle := http.MethodPost, in.handleView
	switch r.URL.Path {
	case "/v1/view":
	case "/v1/event":
		handle = in.handleEvent
	case "/v1/heartbeat":
		handle = in.handleHeartbeat
	case "/v1/batch":
		handle = in.handleBatch
	case PlausiblePath:
		handle = in.handlePlausibleEvent
	case "/v1/pixel.gif":
		method, handle = http.MethodGet, in.handlePixel
	case "/v1/d.js":
		method, handle = http.MethodGet, in.Tracker.serve
	case "/v1/count.json":
		method, handle = http.MethodGet, in.handleCountJSON
	case "/v1/badge.svg":
		method, handle = http.MethodGet, in.handleBadge
	case "/v1/count.js":
		method, handle = http.MethodGet, in.handleCountScript
	default:
		writeProblem(w, http.StatusNotFound, "no_such_route", "No such route. See /api/openapi.yaml.")
		return
	}
	switch {
	case r.Method == http.MethodOptions:
		in.handlePreflight(w, r, method)
		return
	case r.Method != method:
		w.Header().Set("Allow", method+", OPTIONS")
		writeProblem(w, http.StatusMethodNotAllowed, "method_not_allowed", "This route does not support the method "+
			r.Method+".")
		return
	}
	handle(w, r)
}

// Overloaded responds that the server is overloaded, with the seconds after
// which to retry.
func Overloaded(w http.ResponseWriter, retryAfter string) {
	setHeaders(w.Header())
	w.Header().Set("Retry-After", retryAfter)
	writeProblem(w, http.StatusServiceUnavailable, "overloaded",
		"The server is overloaded; retry after the time in Retry-After.")
}

// setHeaders sets the headers of all responses, by their canonical names.
func setHeaders(h http.Header) {
	// Version 4 (RFC 9562, 5.4); a request id needs no secure randomness
	var id uuid.UUID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64()) //nolint:gosec // see above
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64()) //nolint:gosec // see above
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	h["X-Request-Id"] = []string{id.String()}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	h["X-Frame-Options"] = []string{"DENY"}
	h["Referrer-Policy"] = []string{"no-referrer"}
	h["Content-Security-Policy"] = []string{"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
	// Pages of other sites embed these resources (fetch.spec.whatwg.org,
	// "Cross-Origin-Resource-Policy header").
	h["Cross-Origin-Resource-Policy"] = []string{"cross-origin"}
}

// handlePreflight responds to CORS preflight requests. The body that names the
// site comes later, so pages of any site are allowed.
func (in *Handler) handlePreflight(w http.ResponseWriter, r *http.Request, method string) {
	origin := r.Header.Get("Origin")
	if origin == "" || !in.Sites.AnyAllows(hostOf(origin)) {
		writeOriginNotAllowed(w)
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", method)
	h.Set("Access-Control-Allow-Headers", "Content-Type")
	h.Set("Access-Control-Max-Age", "7200")
	h.Set("Vary", "Origin")
	w.WriteHeader(http.StatusNoContent)
}

// problem is a problem document (RFC 9457).
type problem struct {
	Type   string       `json:"type"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Code   string       `json:"code"`
	Detail string       `json:"detail"`
	Errors []fieldError `json:"errors,omitempty"`
}

type fieldError struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func fieldErrors(problems []apperr.FieldError) []fieldError {
	var out []fieldError
	for _, one := range problems {
		out = append(out, fieldError{one.Field, one.Code, one.Message})
	}
	return out
}

func writeProblem(w http.ResponseWriter, status int, code, detail string, problems ...apperr.FieldError) {
	raw, err := json.Marshal(problem{
		"about:blank", http.StatusText(status), status, code, detail, fieldErrors(problems),
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func writeInvalid(w http.ResponseWriter, problems ...apperr.FieldError) {
	writeProblem(w, http.StatusUnprocessableEntity, "invalid_request", "The request is invalid; see errors.",
		problems...)
}

// writeError responds with the error that prevented a hit from being counted.
// The log names neither the reader nor the page.
func (in *Handler) writeError(w http.ResponseWriter, r *http.Request, err error) {
	var refused *apperr.Error
	switch {
	case errors.As(err, &refused):
		writeInvalid(w, refused.Fields...)
	case r.Context().Err() != nil && !errors.Is(r.Context().Err(), context.DeadlineExceeded):
		return // the client has disconnected
	default:
		in.Log.ErrorContext(r.Context(), "a hit was not counted", "route", r.URL.Path, "request_id",
			w.Header().Get("X-Request-ID"), "error", err)
		w.Header().Set("Retry-After", "5")
		writeProblem(w, http.StatusServiceUnavailable, "unavailable", "The hit could not be counted; retry later.")
	}
}

// requestErrors returns the field errors of an invalid request; nil for
// internal errors.
func requestErrors(err error) []apperr.FieldError {
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return refused.Fields
	}
	return nil
}
