package observe

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	logpb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"dateline/internal/testing/e2etest"
)

// collector takes OTLP over HTTP, as Grafana's Tempo and Loki do
// (opentelemetry.io/docs/specs/otlp/#otlphttp).
type collector struct {
	mu    sync.Mutex
	spans map[string]*tracev1.Span // by id
	logs  []logged
	raw   bytes.Buffer // all requests as received
}

type logged struct{ trace, span, text string }

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(raw)
	switch r.URL.Path {
	case "/v1/traces":
		var in tracepb.ExportTraceServiceRequest
		if err := proto.Unmarshal(raw, &in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range in.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					c.spans[string(span.GetSpanId())] = span
				}
			}
		}
	case "/v1/logs":
		var in logpb.ExportLogsServiceRequest
		if err := proto.Unmarshal(raw, &in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range in.GetResourceLogs() {
			for _, scope := range resource.GetScopeLogs() {
				for _, one := range scope.GetLogRecords() {
					c.logs = append(c.logs, logged{
						hex.EncodeToString(one.GetTraceId()), hex.EncodeToString(one.GetSpanId()),
						one.GetBody().GetStringValue(),
					})
				}
			}
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// line returns the names of the spans from one that calls a network up to the root.
func (c *collector) line(host string) (names []string, trace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, span := range c.spans {
		if span.GetKind() != tracev1.Span_SPAN_KIND_CLIENT || span.GetName() != "POST "+host {
			continue
		}
		names = names[:0]
		for at := span; at != nil && len(names) < 20; at = c.spans[string(at.GetParentSpanId())] {
			names = append(names, at.GetName())
			if !bytes.Equal(at.GetTraceId(), span.GetTraceId()) {
				return append(names, "another trace"), ""
			}
			if at.GetKind() == tracev1.Span_SPAN_KIND_SERVER && at.GetName() == "POST /api/v1/posts" {
				return names, hex.EncodeToString(span.GetTraceId())
			}
		}
	}
	return names, ""
}

func (c *collector) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw.String()
}

// logsOf returns the messages logged in a trace.
func (c *collector) logsOf(trace string) (texts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.logs {
		if l.trace == trace && l.span != "" {
			texts = append(texts, l.text)
		}
	}
	return texts
}

// TestAPostIsTracedFromTheRequestToTheNetwork follows a post whose first attempt fails:
// one trace connects the request, workflow, activity and network call. Log entries on
// the way carry its id, in the program's log and in exported logs. None of it contains
// a secret.
func TestAPostIsTracedFromTheRequestToTheNetwork(t *testing.T) {
	t.Parallel()
	c := &collector{spans: map[string]*tracev1.Span{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	up := startUp(t, nil, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "DATELINE_TRACE_SAMPLING=1",
		"DATELINE_LOG_FORMAT=json", "DATELINE_LOG_LEVEL=debug",
		"OTEL_BSP_SCHEDULE_DELAY=200", "OTEL_BLRP_SCHEDULE_DELAY=200")
	fault := `[{"kind": "status", "status": 503, "network": "mastodon", "method": "POST", "path": "/api/v1/statuses", "count": 1}]`
	request, err := http.NewRequest(http.MethodPut, up.sandbox+"/__faults", strings.NewReader(fault))
	e2etest.Must(t, err)
	answer, err := http.DefaultClient.Do(request)
	e2etest.Must(t, err)
	said, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%d %s", answer.StatusCode, said)
	}
	up.awaitPost(up.schedule("Where does this go?", 2*time.Second), "posted", 90*time.Second)

	host := strings.TrimPrefix(up.sandbox, "http://")
	var names []string
	var trace string
	e2etest.Eventually(t, 90*time.Second, "a trace from the request to the network", func() bool {
		names, trace = c.line(host)
		return trace != ""
	})
	path := strings.Join(names, " < ")
	for _, part := range []string{
		"POST " + host, "RunActivity:PublishTarget", "StartActivity:PublishTarget",
		"RunWorkflow:Post", "StartWorkflow:Post", "POST /api/v1/posts",
	} {
		if !strings.Contains(path, part) {
			t.Errorf("%s is missing in %s", part, path)
		}
	}

	for _, text := range []string{"request", "publishing failed"} {
		e2etest.Eventually(t, 90*time.Second, fmt.Sprintf("%q among the logs of the trace, sent", text), func() bool {
			for _, l := range c.logsOf(trace) {
				if l == text {
					return true
				}
			}
			return false
		})
		if !up.logged(t, text, trace) {
			t.Errorf("%q is not logged with trace_id and span_id", text)
		}
	}

	secrets := []string{up.token}
	var accounts struct {
		Accounts []struct{ Token string }
	}
	raw, err := http.Get(up.sandbox + "/__state/accounts")
	e2etest.Must(t, err)
	e2etest.Must(t, json.NewDecoder(raw.Body).Decode(&accounts.Accounts))
	_ = raw.Body.Close()
	for _, a := range accounts.Accounts {
		if a.Token != "" {
			secrets = append(secrets, a.Token)
		}
	}
	if len(secrets) < 3 {
		t.Fatalf("the sandbox lists %d tokens", len(secrets)-1)
	}
	// The output before this line shows the token, once
	_, said2, _ := strings.Cut(up.child.Log.String(), "Stop with Ctrl-C")
	for _, s := range secrets {
		if strings.Contains(c.received(), s) || strings.Contains(said2, s) {
			t.Errorf("the secret %s… is in traces or logs", s[:min(len(s), 6)])
		}
	}
}

// logged reports whether a line of the program's log has a text and a trace.
func (u *upped) logged(t *testing.T, text, trace string) bool {
	t.Helper()
	for line := range strings.Lines(u.child.Log.String()) {
		var entry struct {
			Msg   string `json:"msg"`
			Trace string `json:"trace_id"`
			Span  string `json:"span_id"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == text && entry.Trace == trace &&
			len(entry.Span) == 16 {
			return true
		}
	}
	return false
}
