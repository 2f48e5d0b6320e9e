package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
)

// A browser opens a page that loads the tracker from the program: the count is visible
// immediately, and in Postgres a minute later. Neither the log nor any file of the
// program and its engines contains an IP address or a user agent.
func TestCount_AReader(t *testing.T) {
	t.Parallel()
	d := newDateline(t, "DATELINE_SANDBOX=false", "DATELINE_TRUSTED_PROXIES=127.0.0.0/8", "DATELINE_LOG_LEVEL=debug")
	d.start()
	d.ready()
	var made struct {
		Site struct {
			WriteKey string `json:"write_key"`
		} `json:"site"`
	}
	if status := d.call("POST", "/api/v1/sites", map[string]any{
		"name": "News", "domains": []string{"news.test"},
		"public_counts": true,
	}, &made); status != http.StatusCreated {
		t.Fatalf("the site: %d", status)
	}
	key := made.Site.WriteKey
	api, err := url.Parse(d.API)
	if err != nil {
		t.Fatal(err)
	}
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w,
			`<!doctype html><title>Flood</title><script defer src="http://stats.test:%s/v1/d.js" data-site="%s"></script>`, api.Port(), key)
	}))
	t.Cleanup(pages.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(pages.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Chromium(t, "MAP *.test 127.0.0.1").Open().Go("http://news.test:" + port + "/flood")
	count := func() string {
		answer, err := http.Get(d.API + "/v1/count.json?site=" + key + "&page=/flood")
		if err != nil {
			return err.Error()
		}
		defer func() { _ = answer.Body.Close() }()
		var b bytes.Buffer
		_, _ = b.ReadFrom(answer.Body)
		return strings.TrimSpace(b.String())
	}
	e2etest.Eventually(t, 90*time.Second, "the browser's view to be counted", func() bool {
		return count() == `{"page":"/flood","views":1}`
	})

	const address, agent = "203.0.113.177", "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0 " +
		"Quetzalcoatl"
	send := func(path, body string, headers ...string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.API+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"User-Agent": agent, "Accept-Language": "vi",
			"X-Forwarded-For": address, "Content-Type": "text/plain",
		} {
			r.Header.Set(name, value)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	view := `{"site":"` + key + `","page":"/flood"}`
	for range 2 { // the second is a reload
		if status := send("/v1/view", view); status != http.StatusAccepted {
			t.Errorf("a view: %d", status)
		}
	}
	if got := count(); got != `{"page":"/flood","views":2}` {
		t.Errorf("after another reader the count is %s", got)
	}
	// A bot, a refused hit, and an invalid one.
	if status := send("/v1/view", view, "User-Agent", agent+" Googlebot/2.1"); status != http.StatusAccepted {
		t.Errorf("a bot: %d", status)
	}
	if status := send("/v1/view", view, "Origin", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("a page of another site: %d", status)
	}
	if status := send("/v1/view", `{"site":`); status != http.StatusBadRequest {
		t.Errorf("an incomplete hit: %d", status)
	}

	db := d.database()
	var views, filtered int64
	e2etest.Eventually(t, 150*time.Second, "the flush to Postgres", func() bool {
		ask := "select coalesce((select sum(views) from view_pages where page = '/flood'), 0), coalesce((select " +
			"sum(count) from view_filtered f join view_pages p on p.id = f.page_id where p.page = '/flood' and " +
			"f.reason = 'crawler'), 0)"
		if err := db.QueryRow(t.Context(), ask).Scan(&views, &filtered); err != nil {
			t.Fatal(err)
		}
		return views == 2 && filtered == 1
	})
	if got := count(); got != `{"page":"/flood","views":2}` {
		t.Errorf("after the flush the count is %s", got)
	}
	d.stop()
	if !strings.Contains(d.log.String(), "level=") {
		t.Error("the program has no log")
	}
	for _, secret := range []string{address, "Quetzalcoatl", "Firefox/131"} {
		if strings.Contains(d.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
		if file := d.fileContaining(secret); file != "" {
			t.Errorf("%s has %q", file, secret)
		}
	}
	if d.fileContaining("/flood") == "" {
		t.Error("no file was checked")
	}
}

// setting returns an environment variable of the program.
func (d *dateline) setting(name string) string {
	for _, one := range d.env {
		if value, ok := strings.CutPrefix(one, name+"="); ok {
			return value
		}
	}
	return ""
}

// database connects to the program's Postgres.
func (d *dateline) database() *pgx.Conn {
	d.t.Helper()
	password, err := os.ReadFile(filepath.Join(d.setting("DATELINE_DATA_DIR"), "secrets", "postgres"))
	if err != nil {
		d.t.Fatal(err)
	}
	at := url.URL{
		Scheme: "postgres", User: url.UserPassword("dateline", strings.TrimSpace(string(password))),
		Host: "127.0.0.1:" + d.setting("DATELINE_POSTGRES_PORT"), Path: "/dateline",
	}
	db, err := pgx.Connect(d.t.Context(), at.String())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = db.Close(context.Background()) })
	return db
}

// fileContaining returns a file of the data directory that contains a text.
func (d *dateline) fileContaining(text string) (file string) {
	d.t.Helper()
	err := filepath.WalkDir(d.setting("DATELINE_DATA_DIR"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || file != "" {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) {
			file = path
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return file
}
