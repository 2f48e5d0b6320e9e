package acceptance

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// testGoToSocial starts the program gotosocial with a new account. GOTOSOCIAL_WEB is the
// folder web of its release, which holds its templates.
func testGoToSocial(t *testing.T, program string) {
	web := os.Getenv("GOTOSOCIAL_WEB")
	if web == "" {
		t.Skip("GOTOSOCIAL_WEB is not set")
	}
	dir, port := t.TempDir(), e2etest.FreePort(t)
	env := append(os.Environ(), "GTS_HOST=127.0.0.1:"+port, "GTS_PROTOCOL=http", "GTS_BIND_ADDRESS=127.0.0.1",
		"GTS_PORT="+port,
		"GTS_DB_TYPE=sqlite", "GTS_DB_ADDRESS="+filepath.Join(dir, "gotosocial.sqlite"),
		"GTS_STORAGE_LOCAL_BASE_PATH="+dir,
		"GTS_WEB_TEMPLATE_BASE_DIR="+filepath.Join(web, "template"),
		"GTS_WEB_ASSET_BASE_DIR="+filepath.Join(web, "assets"),
		"GTS_ADVANCED_RATE_LIMIT_REQUESTS=0", "GTS_LOG_LEVEL=error")
	server := exec.CommandContext(t.Context(), "gotosocial", "server", "start")
	server.Env = env
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second
	e2etest.Must(t, server.Start())
	t.Cleanup(func() { _ = server.Wait() })
	base := "http://127.0.0.1:" + port
	e2etest.Eventually(t, 2*time.Minute, "GoToSocial to respond", func() bool {
		return e2etest.Works(t.Context(), base+"/api/v1/instance")
	})

	const email, password = "desk@example.org", "a long password of 2026"
	create := exec.CommandContext(t.Context(), "gotosocial", "admin", "account", "create", "--username", "desk",
		"--email", email, "--password", password)
	create.Env = env
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("creating an account: %v\n%s", err, out)
	}
	testOnServer(t, program, base, grant(t.Context(), t, base, email, password))
}

// grant signs in as a browser does and returns an access token.
func grant(ctx context.Context, t *testing.T, base, email, password string) string {
	t.Helper()
	const nowhere = "urn:ietf:wg:oauth:2.0:oob"
	jar, err := cookiejar.New(nil)
	e2etest.Must(t, err)
	browser := &http.Client{Jar: jar}
	send := func(method, path string, form url.Values, out any) (end *url.URL) {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(form.Encode()))
		e2etest.Must(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := browser.Do(request)
		e2etest.Must(t, err)
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s", method, path, res.Status)
		}
		if out != nil {
			e2etest.Must(t, json.NewDecoder(res.Body).Decode(out))
		}
		return res.Request.URL
	}
	var app struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	send(http.MethodPost, "/api/v1/apps", url.Values{
		"client_name": {"tests"}, "redirect_uris": {nowhere},
		"scopes": {"read write"},
	}, &app)
	send(http.MethodGet, "/oauth/authorize?"+url.Values{
		"client_id": {app.ID}, "redirect_uri": {nowhere},
		"response_type": {"code"}, "scope": {"read write"},
	}.Encode(), nil, nil)
	send(http.MethodPost, "/auth/sign_in", url.Values{"username": {email}, "password": {password}}, nil)
	code := send(http.MethodPost, "/oauth/authorize", nil, nil).Query().Get("code")
	var token struct {
		Access string `json:"access_token"`
	}
	send(http.MethodPost, "/oauth/token", url.Values{
		"client_id": {app.ID}, "client_secret": {app.Secret},
		"redirect_uri": {nowhere}, "grant_type": {"authorization_code"}, "code": {code},
	}, &token)
	return token.Access
}
