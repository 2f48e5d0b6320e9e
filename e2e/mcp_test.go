package e2e

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official client lists and calls every tool of the real program, over HTTP and over
// standard input and output. What the agent schedules waits for approval.
func TestMCP_ClientCallsEveryTool(t *testing.T) {
	t.Parallel()
	d := newDateline(t)
	d.start()
	d.ready()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	stdio := exec.Command(path, "mcp")
	stdio.Env = append(d.env, "DATELINE_URL="+d.API, "DATELINE_TOKEN="+d.Token)
	for name, transport := range map[string]mcp.Transport{
		"HTTP": &mcp.StreamableClientTransport{
			Endpoint: d.API + "/mcp", DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: bearer(d.Token)},
		},
		"CLI": &mcp.CommandTransport{Command: stdio},
	} {
		t.Run(name, func(t *testing.T) {
			session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(),
				transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			callEveryTool(t, session)
		})
	}
	var log struct {
		Entries []struct {
			Action string
			Data   map[string]any
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.API+"/api/v1/audit?action=agent.acted",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: bearer(d.Token)}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&log); err != nil {
		t.Fatal(err)
	}
	tools := map[any]bool{}
	for _, e := range log.Entries {
		tools[e.Data["tool"]] = true
	}
	for _, name := range []string{"draft_post", "schedule_post", "edit_post", "submit_post", "cancel_post"} {
		if !tools[name] {
			t.Errorf("the audit log has no entry of %s: %v", name, log.Entries)
		}
	}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func callEveryTool(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	called := map[string]bool{}
	call := func(name string, in map[string]any, failure string) string {
		t.Helper()
		called[name] = true
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: in})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var all strings.Builder
		for _, c := range r.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				all.WriteString(text.Text)
			}
		}
		if r.IsError != (failure != "") || !strings.Contains(all.String(), failure) {
			t.Errorf("%s: error %v, %s; want %q", name, r.IsError, all.String(), failure)
		}
		return all.String()
	}
	idOf := func(answer string) string {
		t.Helper()
		found := regexp.MustCompile(`"id": ?"([0-9a-f-]{36})"`).FindStringSubmatch(answer)
		if found == nil {
			t.Fatalf("no ID in %s", answer)
		}
		return found[1]
	}
	const none = "00000000-0000-0000-0000-000000000000"
	at := time.Now().Add(2 * time.Hour).Format(time.RFC3339)
	day := time.Now().UTC().Format(time.DateOnly)
	workspace := regexp.MustCompile(`"workspace":\{[^}]*"id":"([0-9a-f-]{36})"`).
		FindStringSubmatch(call("whoami", nil, ""))
	call("list_accounts", nil, "")
	call("preview_post", map[string]any{"text": "Preview", "scheduled_time": at}, "")
	draft := idOf(call("draft_post", map[string]any{"text": "A draft of an agent", "scheduled_time": at}, ""))
	call("edit_post", map[string]any{"id": draft, "text": "An edited draft"}, "")
	call("submit_post", map[string]any{"id": draft}, "")
	if got := call("get_post", map[string]any{"id": draft}, ""); !strings.Contains(got, `"state":"pending"`) ||
		!strings.Contains(got, "An edited draft") {
		t.Errorf("the submitted post: %s, want one that is pending approval", got)
	}
	scheduled := call("schedule_post", map[string]any{"text": "Scheduled by an agent", "scheduled_time": at}, "")
	if !strings.Contains(scheduled, `"state":"pending"`) || !strings.Contains(scheduled, `"status":"draft"`) {
		t.Errorf("the scheduled post: %s, want a draft that is pending approval", scheduled)
	}
	call("cancel_post", map[string]any{"id": draft, "dry_run": true}, "")
	call("cancel_post", map[string]any{"id": draft}, "")
	call("retry_post", map[string]any{"id": draft}, "cannot publish")
	call("explain_post", map[string]any{"id": draft}, "")
	call("post_stats", map[string]any{"id": draft}, "")
	call("list_posts", map[string]any{"status": []string{"draft"}}, "")
	call("list_dead_letters", nil, "")
	call("suggest_slots", map[string]any{"from": time.Now().Format(time.RFC3339), "to": at}, "")
	call("list_sites", nil, "")
	call("trending", nil, "")
	call("search_articles", map[string]any{"query": "news"}, "")
	call("get_article", map[string]any{"id": none}, "404")
	call("similar_articles", map[string]any{"id": none}, "404")
	call("list_sources", nil, "")
	call("list_rules", nil, "")
	call("list_rule_decisions", nil, "")
	call("preview_rule", map[string]any{"name": "Sports", "definition": map[string]any{
		"trigger":    map[string]any{},
		"conditions": map[string]any{"max_age_hours": 24},
	}}, "403")
	call("pause_rule", map[string]any{"id": none}, "403")
	call("resume_rule", map[string]any{"id": none}, "403")
	if workspace == nil {
		t.Fatal("whoami names no workspace")
	}
	call("site_report", map[string]any{"site": workspace[1], "from": day, "to": day}, "")
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if !called[tool.Name] {
			t.Errorf("the tool %s was not called", tool.Name)
		}
	}
}
