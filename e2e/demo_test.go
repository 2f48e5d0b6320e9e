package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// browser is a browser that is logged in.
type browser struct {
	t      *testing.T
	client *http.Client
	api    string
}

// openLink logs in with the link that the start printed last.
func openLink(t *testing.T, d *dateline) *browser {
	t.Helper()
	links := regexp.MustCompile(`Login\s+(http://\S+/login/once/\S+)`).FindAllStringSubmatch(d.log.String(), -1)
	if len(links) == 0 {
		t.Fatal("the start prints no link")
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t, &http.Client{Jar: jar}, d.API}
	t.Cleanup(b.client.CloseIdleConnections)
	pressed, err := b.client.PostForm(links[len(links)-1][1], url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	_ = pressed.Body.Close()
	return b
}

// get returns a response of the API, which must succeed.
func (b *browser) get(path string) map[string]any {
	b.t.Helper()
	answer, err := b.client.Get(b.api + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("GET %s: %d %v %s", path, answer.StatusCode, err, body)
	}
	var out map[string]any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&out); err != nil {
		b.t.Fatalf("GET %s: %v: %s", path, err, body)
	}
	return out
}

// size returns the length of a list in a response, or its number.
func size(response map[string]any, field string) int {
	var value any = response
	for name := range strings.SplitSeq(field, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	switch v := value.(type) {
	case []any:
		return len(v)
	case float64:
		return int(v)
	}
	return 0
}

// demoLists are what the pages of the dashboard show: a path, the list or number in its response, and
// how much the demo has at least. SITE, WATCH, FROM and TO are filled in.
func demoLists() []struct {
	path, field string
	least       int
} {
	return []struct {
		path, field string
		least       int
	}{
		{"/posts?status=scheduled", "posts", 12},
		{"/posts?status=draft", "posts", 3},
		{"/posts?status=canceled", "posts", 1},
		{"/posts?status=posted", "posts", 5},
		{"/posts?approval=pending", "posts", 2},
		{"/dead-letters?reason=rejected", "dead_letters", 1},
		{"/series", "series", 2},
		{"/rules", "rules", 2},
		{"/rule-decisions?outcome=created", "decisions", 1},
		{"/accounts", "accounts", 7},
		{"/account-groups", "groups", 2},
		{"/media", "media", 2},
		{"/labels", "labels", 4},
		{"/snippets", "snippets", 3},
		{"/links", "links", 1},
		{"/sites", "sites", 1},
		{"/sites/SITE/report?from=FROM&to=TO", "period.totals.views", 10_000},
		{"/sites/SITE/imports", "imports", 1},
		{"/sites/SITE/shared-links", "shared_links", 1},
		{"/sites/SITE/concurrents", "concurrents", 1},
		{"/trending?site=SITE", "pages", 1},
		{"/reports/posts?from=FROM&to=TO", "rows", 5},
		{"/articles?limit=100", "articles", 15},
		{"/stories?min_owners=3", "stories", 1},
		{"/watches", "watches", 1},
		{"/watches/WATCH/changes", "changes", 1},
		{"/saved-searches", "saved_searches", 2},
		{"/seeds", "seeds", 3},
		{"/domains", "domains", 3},
		{"/members", "members", 1},
		{"/tokens", "tokens", 1},
		{"/webhooks", "webhooks", 1},
		{"/notification-channels", "channels", 1},
		{"/audit", "entries", 20},
		// It is searched for, for a minute and a half.
		{"/dead-letters?reason=ambiguous", "dead_letters", 1},
	}
}

// The demo fills every page, in a workspace of its own. A second start does not repeat anything, and it
// is removed with everything in it.
func TestDemo_FillsEveryPageAndIsRemovedWhole(t *testing.T) {
	t.Parallel()
	d := newDateline(t, "DATELINE_CRAWL_DELAY=100ms")
	d.start("--demo")
	d.ready()
	started := time.Now()
	b := openLink(t, d)
	me := b.get("/api/v1/me")
	if name := fmt.Sprint(me["workspace"].(map[string]any)["name"]); name != "Demo" {
		t.Fatalf("the link opens %s", name)
	}
	first := func(path, field string) (id string) {
		e2etest.Eventually(t, 2*time.Minute, path, func() bool {
			list, _ := b.get("/api/v1" + path)[field].([]any)
			if len(list) > 0 {
				id = list[0].(map[string]any)["id"].(string)
			}
			return id != ""
		})
		return id
	}
	zone, err := time.LoadLocation("Asia/Ho_Chi_Minh") // of the demo, where it may be tomorrow
	e2etest.Must(t, err)
	day := func(ago int) string { return time.Now().In(zone).AddDate(0, 0, -ago).Format(time.DateOnly) }
	names := strings.NewReplacer("SITE", first("/sites", "sites"), "WATCH", first("/watches", "watches"),
		"FROM", day(30), "TO", day(0))
	for _, l := range demoLists() {
		path := "/api/v1" + names.Replace(l.path)
		found := 0
		e2etest.Eventually(t, 4*time.Minute, fmt.Sprintf("%d %s of %s", l.least, l.field, path), func() bool {
			found = size(b.get(path), l.field)
			return found >= l.least
		})
		t.Logf("%3.0f s: %s: %d %s", time.Since(started).Seconds(), l.path, found, l.field)
	}

	counted := []struct{ path, field string }{
		{"/sites", "sites"},
		{"/accounts", "accounts"},
		{"/series", "series"},
		{"/webhooks", "webhooks"},
		{"/seeds", "seeds"},
		{"/watches", "watches"},
		{"/rules", "rules"},
		{"/posts?status=posted&limit=200", "posts"},
	}
	before := map[string]int{}
	for _, c := range counted {
		before[c.path] = size(b.get("/api/v1"+c.path), c.field)
		var own map[string]any
		d.call(http.MethodGet, "/api/v1"+c.path, nil, &own)
		if n := size(own, c.field); n > 1 || n == 1 && c.field != "accounts" { // one is connected at every start
			t.Errorf("the first workspace has %d %s", n, c.field)
		}
	}
	d.stop()
	d.start("--demo")
	d.ready()
	b = openLink(t, d)
	time.Sleep(5 * time.Second) // what would be created again
	for _, c := range counted {
		if n := size(b.get("/api/v1"+c.path), c.field); n != before[c.path] {
			t.Errorf("%s: %d after a second start, %d before", c.path, n, before[c.path])
		}
	}

	if status := d.call(http.MethodDelete, "/api/v1/demo", nil, nil); status != http.StatusNoContent {
		t.Fatalf("removing it: %d", status)
	}
	if name := fmt.Sprint(b.get("/api/v1/me")["workspace"].(map[string]any)["name"]); name != "Newsroom" {
		t.Errorf("the session shows %s", name)
	}
	for path, field := range map[string]string{
		"/workspaces": "workspaces", "/posts": "posts", "/seeds": "seeds", "/articles": "articles", "/sites": "sites",
	} {
		if n := size(b.get("/api/v1"+path), field); n != 0 && field != "workspaces" || n > 1 {
			t.Errorf("%d %s are left", n, field)
		}
	}
	if status := d.call(http.MethodDelete, "/api/v1/demo", nil, nil); status != http.StatusNotFound {
		t.Errorf("removing it again: %d", status)
	}
	var made struct{ Name string }
	status := d.call(http.MethodPost, "/api/v1/demo", nil, &made)
	if status != http.StatusCreated || made.Name != "Demo" {
		t.Errorf("creating it again: %d %+v", status, made)
	}
}
