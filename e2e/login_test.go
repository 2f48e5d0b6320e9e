package e2e

import (
	"bytes"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A browser logs in once with the link that the start prints, and with a new link that
// is requested while the program runs.
func TestLogin_FirstOwnerWithALink(t *testing.T) {
	t.Parallel()
	d := newDateline(t, "DATELINE_SANDBOX=false")
	d.start()
	d.ready()
	printed := regexp.MustCompile(`Login\s+(http://\S+/login/once/\S+)`).FindStringSubmatch(d.log.String())
	if printed == nil {
		t.Fatal("the start prints no link")
	}
	if !strings.HasPrefix(printed[1], d.API) {
		t.Errorf("the link leads to %s, the API is at %s", printed[1], d.API)
	}
	if status := useLink(t, d, printed[1]); status != http.StatusOK {
		t.Errorf("the link of the start: %d", status)
	}
	if status := useLink(t, d, printed[1]); status != http.StatusUnauthorized {
		t.Errorf("the link of the start, again: %d", status)
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "login-link")
	cmd.Env = d.env
	var said, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &wrong
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, wrong.String())
	}
	if status := useLink(t, d, strings.TrimSpace(said.String())); status != http.StatusOK {
		t.Errorf("the link of `dateline login-link`, %q: %d", said.String(), status)
	}
	d.stop()
	cmd = exec.Command(path, "login-link")
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no `dateline up` runs") {
		t.Errorf("after the stop: %v %s", err, out)
	}
}

// useLink submits the form behind a link and returns the status of the API's response
// to that browser.
func useLink(t *testing.T, d *dateline, link string) int {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	defer client.CloseIdleConnections()
	pressed, err := client.PostForm(link, url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	_ = pressed.Body.Close()
	session, err := client.Get(d.API + "/api/v1/session")
	if err != nil {
		t.Fatal(err)
	}
	_ = session.Body.Close()
	return session.StatusCode
}
