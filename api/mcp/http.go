package mcp

import (
	"bytes"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dateline/client"
)

// Path is where agents connect.
const Path = "/mcp"

// Handler serves MCP over streamable HTTP at Path, and everything else with the API, which
// it also calls for tools. Requests have no session, so that any process can answer them.
func Handler(api http.Handler, version, maxRole string) http.Handler {
	agents := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		c, err := apiClient(api, r)
		if err != nil {
			return nil // 400
		}
		return NewServer(Options{Version: version, API: c, MaxRole: maxRole})
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Path {
			api.ServeHTTP(w, r)
			return
		}
		// Browsers send their cookie by themselves, so it does not count here.
		r = r.Clone(r.Context())
		r.Header.Del("Cookie")
		if refused := authenticate(api, r); refused != nil {
			refused.writeTo(w)
			return
		}
		agents.ServeHTTP(w, r)
	})
}

// authenticate returns the response of the API to an invalid token, or nil.
func authenticate(api http.Handler, r *http.Request) *recorder {
	me, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+r.Host+"/api/v1/me", nil) //nolint:gosec // served by api in this process, not sent
	if err != nil {
		return &recorder{status: http.StatusBadRequest}
	}
	w := inner(api, r, me)
	if w.status == http.StatusOK {
		return nil
	}
	return w
}

// apiClient returns a client that calls the API in this process, as the sender of r.
func apiClient(api http.Handler, r *http.Request) (*client.Client, error) {
	return client.New("http://"+r.Host, "", client.Options{HTTP: &http.Client{Transport: local{api, r}}})
}

// local calls a handler instead of a server.
type local struct {
	api http.Handler
	of  *http.Request
}

func (t local) RoundTrip(r *http.Request) (*http.Response, error) {
	w := inner(t.api, t.of, r)
	return &http.Response{
		StatusCode: w.status, Header: w.Header(), Body: io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()),
		Proto:         "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
	}, nil
}

// inner calls the API with the credentials and the address of the sender of an outer request.
func inner(api http.Handler, outer, r *http.Request) *recorder {
	r = r.Clone(r.Context())
	r.Host, r.RemoteAddr, r.TLS, r.RequestURI = outer.Host, outer.RemoteAddr, outer.TLS, r.URL.RequestURI()
	for _, name := range []string{"Authorization", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-Ip", "User-Agent"} {
		if values := outer.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &recorder{status: http.StatusOK}
	api.ServeHTTP(w, r)
	return w
}

// recorder keeps a response in memory.
type recorder struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *recorder) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.wrote = true
	return w.body.Write(b)
}

func (w *recorder) writeTo(to http.ResponseWriter) {
	for name, values := range w.Header() {
		to.Header()[name] = values
	}
	to.WriteHeader(w.status)
	_, _ = w.body.WriteTo(to)
}
