package acceptance

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
)

var gotify = flag.String("gotify", "", "path of the program gotify")

// testGotify sends notifications to Gotify by a channel of the kind webhook.
func testGotify(t *testing.T, program string) {
	listen := "127.0.0.1:" + e2etest.FreePort(t)
	_, port, _ := strings.Cut(listen, ":")
	dir := t.TempDir()
	e2etest.Run(t, dir, append(os.Environ(), "GOTIFY_SERVER_LISTENADDR=127.0.0.1", "GOTIFY_SERVER_PORT="+port,
		"GOTIFY_DATABASE_DIALECT=postgres", "GOTIFY_DATABASE_CONNECTION="+enginetest.Postgres(t),
		"GOTIFY_DEFAULTUSER_NAME=admin", "GOTIFY_DEFAULTUSER_PASS=admin", "GOTIFY_UPLOADEDIMAGESDIR="+dir,
		"GOTIFY_PLUGINSDIR="), *gotify)
	base := "http://" + listen
	e2etest.Eventually(t, 30*time.Second, "Gotify to answer", func() bool {
		return e2etest.Works(t.Context(), base+"/version")
	})
	var application struct{ Token string }
	askGotify(t, http.MethodPost, base+"/application", `{"name":"Dateline"}`, &application)

	s := stack.Open(t, stack.Engines{Env: []string{"DATELINE_PUBLIC_URL=https://dateline.news.example"}})
	s.Env = append(s.Env, "DATELINE_ALLOW_PRIVATE_HOSTS="+listen)
	makeBucket(t, s)
	s.Setup(program)
	s.API("api", program)
	s.Worker("worker", program)
	channel := func(token string) string {
		return addChannel(t, s, map[string]any{"kind": "webhook", "url": base + "/message", "token": token})
	}
	testChannel(t, s, channel(application.Token))
	var got struct {
		Messages []struct{ Title, Message string }
	}
	e2etest.Eventually(t, 60*time.Second, "Gotify to have the notification", func() bool {
		askGotify(t, http.MethodGet, base+"/message", "", &got)
		return len(got.Messages) == 1
	})
	if text := got.Messages[0].Message; !strings.Contains(text, "Thông báo") {
		t.Errorf("got the message %q, want the test in Vietnamese", text)
	}

	wrong := channel("wrong")
	testChannel(t, s, wrong)
	wantChannelError(t, s, wrong, "you need to provide a valid access token") // its errorDescription
}

// askGotify sends a request as Gotify's administrator.
func askGotify(t *testing.T, method, address, body string, out any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	e2etest.Must(t, err)
	r.SetBasicAuth("admin", "admin")
	r.Header.Set("Content-Type", "application/json")
	answer, err := e2etest.Do(r)
	if err != nil || answer.Status != http.StatusOK {
		t.Fatalf("Gotify, %s: %v %d %s", address, err, answer.Status, answer.Body)
	}
	e2etest.Must(t, json.Unmarshal(answer.Body, out))
}
