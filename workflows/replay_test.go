package workflows_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/worker"
)

// TestReplay runs today's workflows over histories that were recorded on a real server.
// A change that makes it fail would break posts that are waiting now: guard the change
// with workflow.GetVersion. See TestRecord.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "replay", "*.json"))
	if err != nil || len(files) < len(scenarios())+len(crawlScenarios())+len(searchScenarios())+6 {
		t.Fatalf("found the histories %v, error %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			wantDiscreet(t, raw)
			replayer := worker.NewWorkflowReplayer()
			register(replayer)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet{}, file); err != nil {
				t.Error(err)
			}
		})
	}
}

// wantDiscreet checks that a history contains neither a post's content nor the machine
// or person that recorded it.
func wantDiscreet(t *testing.T, history []byte) {
	t.Helper()
	if host, err := os.Hostname(); err == nil && len(host) > 3 && bytes.Contains(history, []byte(host)) {
		t.Errorf("the history names the machine %s", host)
	}
	var document any
	if err := json.Unmarshal(history, &document); err != nil {
		t.Fatal(err)
	}
	payloads := 0
	walk(document, func(key string, value any) {
		text, ok := value.(string)
		switch {
		case !ok:
		case key == "identity" && text != recorder && !strings.HasPrefix(text, "history-service") &&
			!strings.HasPrefix(text, "temporal-"):
			t.Errorf("the history names %q", text)
		case key == "data":
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			payloads++
			if bytes.Contains(bytes.ToLower(data), []byte("content")) ||
				bytes.Contains(bytes.ToLower(data), []byte("token")) {
				t.Errorf("the history contains %s", data)
			}
		}
	})
	if payloads == 0 {
		t.Error("no payload was found in the history")
	}
}

func walk(node any, visit func(key string, value any)) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			visit(key, value)
			walk(value, visit)
		}
	case []any:
		for _, value := range node {
			walk(value, visit)
		}
	}
}
