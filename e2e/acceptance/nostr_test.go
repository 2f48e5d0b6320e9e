package acceptance

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
	"dateline/platforms/platformtest"
)

// testNostr runs the adapter on relays themselves, then publishes to them while connections
// are cut, answers come late, and the worker is killed every five seconds.
func testNostr(t *testing.T, program string) {
	python, err := filepath.Abs(os.Getenv("NOSTR_PYTHON"))
	e2etest.Must(t, err)
	goTest(t, nil, "./platforms/nostr", "-run", "^TestRealServer$", "-nostr-python", python)

	const posts, spread, killEvery = 200, time.Minute, 5 * time.Second
	relays := platformtest.StartRelays(t, python)
	var proxies []string
	for _, host := range relays {
		address, _ := platformtest.LoseConnections(t, host)
		proxies = append(proxies, address)
	}
	s := stack.Open(t, stack.Engines{
		Env: []string{"DATELINE_ALLOW_PRIVATE_HOSTS=" + strings.Join(append(proxies, relays...), ",")},
	})
	s.Setup(program)
	s.API("api", program)
	worker := s.Worker("worker", program)
	account := connectForm(t, s, "nostr", map[string]string{
		"key": strings.Repeat("5", 64), "relays": "ws://" + strings.Join(relays, " ws://"),
	})
	code, err := s.Call(0, http.MethodPatch, "/api/v1/accounts/"+account, map[string]any{
		"settings": map[string]string{"relays": "ws://" + strings.Join(proxies, " ws://")},
	}, nil)
	if err != nil || code != http.StatusOK {
		t.Fatalf("changing the relays: %d, %v", code, err)
	}
	at := time.Now().Add(15 * time.Second)
	texts, ids := make([]string, posts), make([]string, posts)
	for i := range posts {
		texts[i] = fmt.Sprintf("Tin số %d: triều cường lên cao", i)
		var made struct{ ID string }
		code, err := s.Call(0, http.MethodPost, "/api/v1/posts", map[string]any{
			"content": texts[i], "accounts": []string{account},
			"scheduled_time": at.Add(spread * time.Duration(i) / posts).Format(time.RFC3339Nano),
		}, &made)
		if err != nil || code != http.StatusCreated {
			t.Fatalf("scheduling post %d: %d, %v", i, code, err)
		}
		ids[i] = made.ID
	}
	kills := 0
	for time.Now().Before(at.Add(spread)) {
		time.Sleep(killEvery)
		worker.Kill()
		worker = s.Worker("worker", program)
		kills++
	}
	ends, there := settled(t, s, ids), platformtest.NotesAt(t, relays)
	count := map[string]int{}
	for i, end := range ends {
		count[end]++
		if end != "posted" || len(there[texts[i]]) != 1 {
			t.Errorf("post %d is %s and exists as %d events, want posted and 1", i, end, len(there[texts[i]]))
		}
	}
	t.Logf("%d posts with %d kills: %v", posts, kills, count)
}

// connectForm connects an account with a network's form, and returns its id.
func connectForm(t *testing.T, s *stack.Stack, network string, values map[string]string) string {
	t.Helper()
	var made struct{ ID string }
	code, err := s.Call(0, http.MethodPost, "/api/v1/accounts/form", map[string]any{"network": network, "values": values}, &made)
	if err != nil || code >= http.StatusMultipleChoices || made.ID == "" {
		t.Fatalf("connecting: %d, %v, %+v", code, err, made)
	}
	return made.ID
}
