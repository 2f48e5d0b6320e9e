package call_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

func serve(t *testing.T, handler http.HandlerFunc) (*call.Caller, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := call.NewClient([]string{server.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return call.New(client), server.URL
}

// drop closes the connection without a response.
func drop(t *testing.T, w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func wantClass(t *testing.T, err error, class network.Class) *network.Error {
	t.Helper()
	var e *network.Error
	if !errors.As(err, &e) || e.Class != class {
		t.Fatalf("%v, want class %s", err, class)
	}
	return e
}

func create(address string) call.Request {
	return call.Request{Method: http.MethodPost, URL: address, Body: call.Form(url.Values{"a": {"b"}}), Create: true}
}

func TestDo_RefusedConnectionIsNotSent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	client, err := call.NewClient([]string{address})
	if err != nil {
		t.Fatal(err)
	}
	_, err = call.New(client).Do(t.Context(), create("http://"+address+"/?secret=in-query"))
	e := wantClass(t, err, network.NotSent)
	if strings.Contains(e.Error(), "in-query") || strings.Contains(e.Err.Error(), "in-query") {
		t.Errorf("the error contains the query: %v", e)
	}
}

func TestNewClient_RefusesPrivateAddresses(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		allow []string
		host  string
		ok    bool
	}{
		"Nothing":       {nil, "127.0.0.1", false},
		"ByName":        {nil, "localhost", false},
		"OtherPort":     {[]string{"127.0.0.1:1"}, "127.0.0.1", false},
		"OtherNetwork":  {[]string{"10.0.0.0/8"}, "127.0.0.1", false},
		"HostPort":      {[]string{"127.0.0.1:" + port}, "127.0.0.1", true},
		"ResolvedTo":    {[]string{"127.0.0.1:" + port}, "localhost", true},
		"ListedName":    {[]string{"localhost:" + port}, "localhost", true},
		"Network":       {[]string{"127.0.0.0/8"}, "127.0.0.1", true},
		"MappedAddress": {nil, "[::ffff:127.0.0.1]", false},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := call.NewClient(row.allow)
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			_, err = call.New(client).Do(t.Context(), create("http://"+row.host+":"+port))
			if row.ok != (err == nil) {
				t.Errorf("err = %v", err)
			}
			if !row.ok {
				wantClass(t, err, network.NotSent)
			}
		})
	}
	if calls.Load() != 4 {
		t.Errorf("got %d calls, want 4", calls.Load())
	}
	if _, err := call.NewClient([]string{"localhost"}); err == nil {
		t.Error("an entry without a port was accepted")
	}
}

func TestDo_LostResponses(t *testing.T) {
	var calls atomic.Int32
	caller, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		switch r.URL.Path {
		case "/warm":
		case "/half":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
			drop(t, w)
		case "/hang":
			_, _ = io.Copy(io.Discard, r.Body) // net/http detects a closed connection only after the body was read
			<-r.Context().Done()
		default:
			_, _ = io.Copy(io.Discard, r.Body)
			drop(t, w)
		}
	})
	warm := func() {
		if _, err := caller.Do(t.Context(), call.Request{Method: http.MethodGet, URL: address + "/warm"}); err != nil {
			t.Fatal(err)
		}
		calls.Store(0)
	}
	t.Run("Create", func(t *testing.T) {
		warm()
		_, err := caller.Do(t.Context(), create(address))
		wantClass(t, err, network.Ambiguous)
	})
	t.Run("WithKeyIsNotReplayed", func(t *testing.T) {
		warm()
		request := create(address)
		request.IdempotencyKey = "key"
		_, err := caller.Do(t.Context(), request)
		wantClass(t, err, network.Ambiguous)
		if calls.Load() != 1 {
			t.Errorf("sent %d times", calls.Load())
		}
	})
	t.Run("Repeatable", func(t *testing.T) {
		request := create(address)
		request.Create = false
		_, err := caller.Do(t.Context(), request)
		wantClass(t, err, network.Transient)
	})
	t.Run("HalfABody", func(t *testing.T) {
		_, err := caller.Do(t.Context(), create(address+"/half"))
		if e := wantClass(t, err, network.Ambiguous); e.Status != http.StatusOK {
			t.Errorf("status %d", e.Status)
		}
	})
	t.Run("Timeout", func(t *testing.T) {
		request := create(address + "/hang")
		request.Timeout = 50 * time.Millisecond
		_, err := caller.Do(t.Context(), request)
		if e := wantClass(t, err, network.Ambiguous); e.Code != "timeout" {
			t.Errorf("code %s", e.Code)
		}
	})
	t.Run("CanceledWhileSending", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := caller.Do(ctx, create(address+"/hang"))
		wantClass(t, err, network.Ambiguous)
	})
}

func TestDo_Request(t *testing.T) {
	caller, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Idempotency-Key", "Authorization", "Content-Type", "Transfer-Encoding"} {
			w.Header().Set("Got-"+name, r.Header.Get(name))
		}
		w.Header().Set("X-Request-Id", "id 1")
		_, _ = io.Copy(w, r.Body)
	})
	res, err := caller.Do(t.Context(), create(address))
	if err != nil {
		t.Fatal(err)
	}
	if res.Header.Get("Got-Idempotency-Key") != "" || res.Header.Get("Got-Authorization") != "" ||
		res.RequestID != "id 1" || string(res.Body) != "a=b" {
		t.Errorf("sent %v, body %q", res.Header, res.Body)
	}
	request := create(address)
	request.IdempotencyKey = "key"
	request.Token = secret.NewText("token")
	if res, err = caller.Do(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if res.Header.Get("Got-Idempotency-Key") != "key" || res.Header.Get("Got-Authorization") != "Bearer token" {
		t.Errorf("sent %v", res.Header)
	}
	request = create(address)
	request.Header = http.Header{"Idempotency-Key": {"smuggled"}}
	if res, err = caller.Do(t.Context(), request); err != nil || res.Header.Get("Got-Idempotency-Key") != "" {
		t.Errorf("an unrequested key was sent: %v", err)
	}
}

func TestDo_LimitsBody(t *testing.T) {
	caller, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
	})
	request := create(address)
	request.MaxBody = 999
	_, err := caller.Do(t.Context(), request)
	wantClass(t, err, network.Ambiguous)
	request = create(address + "/bad")
	request.MaxBody = 10
	res, err := caller.Do(t.Context(), request)
	if err != nil || len(res.Body) != 10 {
		t.Errorf("a long refusal must stay a refusal: %v", err)
	}
}

func TestDo_Redirects(t *testing.T) {
	caller, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/end":
			_, _ = io.WriteString(w, r.Method)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		default:
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		}
	})
	res, err := caller.Do(t.Context(), create(address))
	if err != nil || res.Status != http.StatusTemporaryRedirect {
		t.Fatalf("%+v, %v: a POST must not be redirected", res, err)
	}
	if e := res.StatusError("", ""); e.Class != network.Rejected || e.Code != "moved" {
		t.Errorf("%v", e)
	}
	res, err = caller.Do(t.Context(), call.Request{Method: http.MethodGet, URL: address})
	if err != nil || string(res.Body) != "GET" {
		t.Errorf("%v", err)
	}
	_, err = caller.Do(t.Context(), call.Request{Method: http.MethodGet, URL: address + "/circle"})
	wantClass(t, err, network.Transient)
}

func TestDo_RedactsSecrets(t *testing.T) {
	caller, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err := caller.Do(t.Context(), call.Request{
		Method: http.MethodGet, URL: "http://127.0.0.1:1/tok-1", Token: secret.NewText("127.0.0.1"),
		Secrets: []secret.Text{secret.NewText("prohibited")},
	})
	e := wantClass(t, err, network.NotSent)
	if text := e.Error() + e.Err.Error(); strings.Contains(text, "127.0.0.1") || strings.Contains(text, "prohibited") {
		t.Errorf("secrets in %q", text)
	}
}

func TestResponse_ClockSkew(t *testing.T) {
	caller, address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	res, err := caller.Do(t.Context(), call.Request{Method: http.MethodGet, URL: address})
	if err != nil {
		t.Fatal(err)
	}
	if skew := res.ClockSkew(); skew < 88*time.Second || skew > 91*time.Second {
		t.Errorf("skew %v", skew)
	}
	e := res.StatusError("", "")
	if wait := time.Until(e.RetryAt); e.Class != network.Transient || wait < 28*time.Second || wait > 31*time.Second {
		t.Errorf("%v, retry in %v", e, wait)
	}
}

// An instance's name can resolve to the operator's own network: messages must not
// reveal addresses in it.
func TestDo_HidesResolvedAddresses(t *testing.T) {
	client, err := call.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = call.New(client).Do(t.Context(), call.Request{Method: http.MethodGet, URL: "http://localhost:1/"})
	e := wantClass(t, err, network.NotSent)
	if strings.Contains(e.Message, "127.0.0.1") || strings.Contains(e.Message, "::1") ||
		!strings.Contains(e.Message, "not allowed") {
		t.Errorf("message %q", e.Message)
	}
	client, err = call.NewClient([]string{"localhost:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = call.New(client).Do(t.Context(), call.Request{Method: http.MethodGet, URL: "http://localhost:1/"})
	e = wantClass(t, err, network.NotSent)
	if strings.Contains(e.Message, "127.0.0.1") || strings.Contains(e.Message, "::1") ||
		!strings.Contains(e.Message, "refused") {
		t.Errorf("message %q", e.Message)
	}
}

// A redirect to another host gets none of the headers, because networks have names of their own
// for tokens.
func TestDo_RedirectToAnotherHostHasNoToken(t *testing.T) {
	var there http.Header
	_, other := serve(t, func(_ http.ResponseWriter, r *http.Request) { there = r.Header.Clone() })
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other, http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/end", http.StatusFound)
		default:
			there = r.Header.Clone()
		}
	}))
	t.Cleanup(first.Close)
	client, err := call.NewClient([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	for path, want := range map[string]string{"/away": "", "/here": "a token"} {
		if _, err := call.New(client).Do(t.Context(), call.Request{
			Method: http.MethodGet, URL: first.URL + path, Header: http.Header{"Access_token": {"a token"}},
		}); err != nil {
			t.Fatal(err)
		}
		if got := there.Get("Access_token"); got != want || there.Get("User-Agent") != "Dateline" {
			t.Errorf("%s: got the token %q and %v, want %q", path, got, there, want)
		}
	}
}

func TestCause_HasNoAddresses(t *testing.T) {
	t.Parallel()
	err := errors.New("broken: write tcp 127.0.0.1:33972->127.0.0.1:19490: use of closed network connection")
	if got := call.Cause(err); got != "broken: use of closed network connection" {
		t.Errorf("got %q, want no addresses in it", got)
	}
}
