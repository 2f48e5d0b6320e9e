package acceptance

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
)

// addChannel adds a notification channel in Vietnamese.
func addChannel(t *testing.T, s *stack.Stack, settings map[string]any) (id string) {
	t.Helper()
	body := map[string]any{
		"name": "Desk", "types": []string{"post.failed"}, "time_zone": "Asia/Ho_Chi_Minh", "language": "vi",
	}
	maps.Copy(body, settings)
	var made struct{ ID string }
	status, err := s.Call(0, http.MethodPost, "/api/v1/notification-channels", body, &made)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("the channel %v: %d %v", settings, status, err)
	}
	return made.ID
}

// testChannel sends a test notification. An email address that is not confirmed gets the
// link to confirm it.
func testChannel(t *testing.T, s *stack.Stack, id string) {
	t.Helper()
	status, err := s.Call(0, http.MethodPost, "/api/v1/notification-channels/"+id+"/test", nil, nil)
	if err != nil || status != http.StatusAccepted {
		t.Fatalf("the test: %d %v", status, err)
	}
}

// wantChannelError waits until the last attempt of a channel failed with a reason.
func wantChannelError(t *testing.T, s *stack.Stack, id string, reason ...string) {
	t.Helper()
	var message string
	e2etest.Eventually(t, 60*time.Second, "an attempt to fail", func() bool {
		var list struct {
			Notifications []struct {
				LastError struct{ Message string } `json:"last_error"`
			}
		}
		_, err := s.Call(0, http.MethodGet, "/api/v1/notification-channels/"+id+"/notifications", nil, &list)
		if err != nil || len(list.Notifications) == 0 {
			return false
		}
		message = list.Notifications[0].LastError.Message
		return message != ""
	})
	for _, part := range reason {
		if !strings.Contains(message, part) {
			t.Errorf("the channel says %q, want %q in it", message, part)
		}
	}
}
