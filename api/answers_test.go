package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/uuid"

	"dateline/api"
)

// answers is an http.RoundTripper that validates every response.
type answers struct {
	t         *testing.T
	doc       *openapi3.T
	router    routers.Router
	forbidden []string // must not appear in any error
}

// description is openapi.yaml with its routes.
type description struct {
	doc    *openapi3.T
	router routers.Router
}

// document is read once for all tests of the process: it takes a tenth of a second and 10 MB.
var document = sync.OnceValues(func() (description, error) { //nolint:gochecknoglobals // see above
	doc, err := api.ReadDocument()
	if err != nil {
		return description{}, err
	}
	asWritten := *doc
	asWritten.OpenAPI = "3.1.0" // the router checks the document itself
	router, err := legacy.NewRouter(&asWritten)
	asWritten.OpenAPI = doc.OpenAPI
	return description{doc, router}, err
})

func readDocument() (*openapi3.T, error) {
	described, err := document()
	return described.doc, err
}

func newAnswers(t *testing.T) *answers {
	t.Helper()
	described, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return &answers{t: t, doc: described.doc, router: described.router}
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	where := fmt.Sprintf("%s %s: %s", r.Method, r.URL.Path, answer.Status)
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer",
	} {
		if got := answer.Header.Get(name); got != want {
			a.t.Errorf("%s has %s %q", where, name, got)
		}
	}
	if csp := answer.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") ||
		!strings.Contains(csp, "frame-ancestors 'none'") {
		a.t.Errorf("%s has the policy %q", where, csp)
	}
	if strings.HasPrefix(r.URL.Path, "/api/") && answer.Header.Get("Cache-Control") != "no-store" {
		a.t.Errorf("%s lacks Cache-Control: no-store", where)
	}
	if _, err := uuid.Parse(answer.Header.Get("X-Request-ID")); err != nil {
		a.t.Errorf("%s has no request id", where)
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return answer, nil // streams have no end yet
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	// Readyz returns its JSON report with status 503
	if answer.StatusCode >= 400 && answer.Header.Get("Content-Type") != "application/json" {
		a.problem(where, answer, body)
	}
	a.validate(where, r, answer, body)
	return answer, nil
}

// problem validates a problem document, also for paths that openapi.yaml does not have.
func (a *answers) problem(where string, answer *http.Response, body []byte) {
	if got := answer.Header.Get("Content-Type"); got != "application/problem+json" {
		a.t.Errorf("%s is of type %q: %s", where, got, body)
		return
	}
	var document map[string]any
	if err := json.Unmarshal(body, &document); err != nil {
		a.t.Errorf("%s: %v: %s", where, err, body)
		return
	}
	if err := a.doc.Components.Schemas["Problem"].Value.VisitJSON(document); err != nil {
		a.t.Errorf("%s: %v", where, err)
	}
	if document["status"] != float64(answer.StatusCode) || document["detail"] == "" {
		a.t.Errorf("%s: got %s", where, body)
	}
	for _, secret := range a.forbidden {
		if secret != "" && bytes.Contains(body, []byte(secret)) {
			a.t.Errorf("%s reveals %q: %s", where, secret, body)
		}
	}
}

// validate checks a response against openapi.yaml.
func (a *answers) validate(where string, r *http.Request, answer *http.Response, body []byte) {
	route, params, err := a.router.FindRoute(r)
	if err != nil {
		return // not in openapi.yaml: an unknown path, the dashboard, the description itself
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params},
		Status:                 answer.StatusCode, Header: answer.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	in.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(context.Background(), in); err != nil {
		a.t.Errorf("%s does not fit openapi.yaml: %v\n%s", where, err, body)
	}
}
