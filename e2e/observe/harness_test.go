// Package observe tests what an operator sees: it runs the real program with a real
// Prometheus, causes problems, and checks the alerts and dashboards.
package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// program builds the binary under test; a second build is fast.
func program(t testing.TB) string {
	t.Helper()
	enginetest.NeedEngines(t)
	path := filepath.Join(e2etest.OpenDir(t), "dateline")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "../..").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return path
}

// run starts a program in the checkout; see e2etest.Run.
func run(t testing.TB, env []string, command string, args ...string) *e2etest.Child {
	t.Helper()
	return e2etest.Run(t, "../..", env, command, args...)
}

// client calls the API.
type client struct {
	t     testing.TB
	base  string
	token string
}

// try sends a request and decodes the response into out unless that is nil.
func (c *client) try(method, path string, body, out any) (int, error) {
	answer, err := e2etest.Ask(c.t.Context(), method, c.base+path, c.token, body)
	switch {
	case err != nil:
	case answer.Status >= 300:
		err = fmt.Errorf("%d %s", answer.Status, answer.Body)
	default:
		err = answer.Into(out)
	}
	return answer.Status, err
}

// call is try for requests that must succeed.
func (c *client) call(method, path string, body, out any) {
	c.t.Helper()
	if _, err := c.try(method, path, body, out); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// schedule creates a post to some accounts, or to all if none are given.
func (c *client) schedule(text string, in time.Duration, accounts ...string) (id string) {
	c.t.Helper()
	var p struct{ ID string }
	body := map[string]any{"content": text, "scheduled_time": time.Now().Add(in).Format(time.RFC3339Nano)}
	if len(accounts) > 0 {
		body["accounts"] = accounts
	}
	c.call(http.MethodPost, "/api/v1/posts", body, &p)
	return p.ID
}

// awaitPost waits until a post has a status.
func (c *client) awaitPost(id, status string, within time.Duration) {
	c.t.Helper()
	var p struct{ Status string }
	e2etest.Eventually(c.t, within, "a post to be "+status, func() bool {
		c.call(http.MethodGet, "/api/v1/posts/"+id, nil, &p)
		return p.Status == status
	})
}

// hit reports a page view like a browser and returns the status of the response.
func (c *client) hit(key, page string) int {
	c.t.Helper()
	raw, _ := json.Marshal(map[string]string{"site": key, "page": page})
	request, err := http.NewRequest(http.MethodPost, c.base+"/v1/view", bytes.NewReader(raw))
	if err != nil {
		c.t.Error(err)
		return 0
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept-Language": "vi-VN,vi;q=0.9",
		"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 " +
			"Safari/537.36",
	} {
		request.Header.Set(name, value)
	}
	answer, err := e2etest.Do(request)
	if err != nil {
		c.t.Error(err)
	}
	return answer.Status
}

// site creates a site and returns its write key.
func (c *client) site() string {
	c.t.Helper()
	var made struct {
		Site struct {
			WriteKey string `json:"write_key"`
		}
	}
	c.call(http.MethodPost, "/api/v1/sites", map[string]any{"name": "News", "rate_hits": 1000}, &made)
	return made.Site.WriteKey
}
