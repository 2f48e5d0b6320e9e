package docs_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"dateline/docs"
)

// Every link and asset of the site is a page of it, so that it works without the
// internet, and nothing is inline, which its policy would refuse.
func TestSite_IsCompleteAndSelfContained(t *testing.T) {
	t.Parallel()
	site, err := docs.Build(docs.Options{Base: "/news/docs/", Version: "0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids := regexp.MustCompile(`id="([^"]*)"`)
	pages := 0
	for _, name := range docs.Names(site) {
		if path.Ext(name) != ".html" {
			continue
		}
		pages++
		text := string(site[name])
		for _, inline := range []string{"<style", " style=", "onclick", "<script>"} {
			if strings.Contains(text, inline) {
				t.Errorf("%s contains %s", name, inline)
			}
		}
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			file, fragment, _ := strings.Cut(m[1], "#")
			own, isOwn := strings.CutPrefix(file, "/news/docs/")
			switch {
			case strings.HasPrefix(m[1], "https://"), strings.HasPrefix(m[1], "http://"),
				m[1] == "/news/api/openapi.yaml":
				continue
			case file == "":
				own = name
			case !isOwn:
				t.Errorf("%s links %q", name, m[1])
				continue
			}
			content, ok := site[own]
			if !ok {
				t.Errorf("%s links %q, which does not exist", name, m[1])
			}
			if fragment == "" {
				continue
			}
			found := false
			for _, id := range ids.FindAllSubmatch(content, -1) {
				found = found || string(id[1]) == fragment
			}
			if !found {
				t.Errorf("%s links %q, which has no such heading", name, m[1])
			}
		}
	}
	var index []docs.Page
	if err := json.Unmarshal(site["search.json"], &index); err != nil || len(index) != pages || pages < 50 {
		t.Errorf("got %d pages and %d in the search index, %v", pages, len(index), err)
	}
	for _, p := range index {
		if p.Title == "" || p.Text == "" || site[p.Path] == nil {
			t.Errorf("got %q with the title %q", p.Path, p.Title)
		}
	}
}

func TestSite_LinksSourceFiles(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"": `<code>internal/infra/config</code>`,
		"https://git.example/dateline/blob/v0.1.0": `<a href="https://git.example/dateline/blob/v0.1.0/internal/infra/config">internal/infra/config</a>`,
	} {
		site, err := docs.Build(docs.Options{Base: "/docs/", Version: "0.1.0", Source: source})
		if err != nil {
			t.Fatal(err)
		}
		page := site["index.html"]
		if !bytes.Contains(page, []byte(want)) || bytes.Contains(page, []byte(`href="#"`)) ||
			bytes.Contains(page, []byte(`href=""`)) {
			t.Errorf("with the source at %q: index.html lacks %s", source, want)
		}
	}
}

func TestSite_ServesPagesWithTheirPolicy(t *testing.T) {
	t.Parallel()
	s := &docs.Site{Version: "0.1.0"}
	for name, want := range map[string]struct{ kind, text string }{
		"/docs/":                              {"text/html; charset=utf-8", "<h1"},
		"/docs/how-to/publish-a-post.html":    {"text/html; charset=utf-8", "0.1.0"},
		"/docs/style.css":                     {"text/css; charset=utf-8", "body"},
		"/docs/search.js":                     {"text/javascript; charset=utf-8", "search.json"},
		"/docs/search.json":                   {"application/json", `"title":`},
		"/docs/images/architecture.svg":       {"image/svg+xml", "<svg"},
		"/docs/screenshots/calendar.png":      {"image/png", "PNG"},
		"/docs/how-to/publish-a-post.md":      {"", ""},
		"/docs/site_test.go":                  {"", ""},
		"/docs/how-to/../../../../etc/passwd": {"", ""},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, name, nil))
		if want.kind == "" {
			if w.Code != http.StatusNotFound {
				t.Errorf("%s: got %d, want 404", name, w.Code)
			}
			continue
		}
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want.kind ||
			!bytes.Contains(w.Body.Bytes(), []byte(want.text)) ||
			!strings.HasPrefix(w.Header().Get("Content-Security-Policy"),
				"default-src 'none'; style-src 'self'; script-src 'self'") {
			t.Errorf("%s: got %d, %v", name, w.Code, w.Header())
		}
	}
}
