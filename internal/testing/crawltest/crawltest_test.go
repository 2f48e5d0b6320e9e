package crawltest

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, w *World, address string, header ...string) (*http.Response, string) {
	t.Helper()
	proxy, _ := url.Parse(w.ProxyURL())
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyURL(proxy)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	r, _ := http.NewRequest(http.MethodGet, address, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return res, string(body)
}

func start(t *testing.T, o Options) *World {
	t.Helper()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// A new article is immediately on the front page, in its section, in the feed and in
// the news sitemap, and its page exists.
func TestWorld_Publish(t *testing.T) {
	w := start(t, Options{Sites: 2, Proxied: true})
	s := w.Site(1)
	_, before := get(t, w, s.Home())
	a := s.Publish()
	path := strings.TrimPrefix(a.URL, s.URL(""))
	if strings.Contains(before, path) {
		t.Fatal("the article existed before it was published")
	}
	section := strings.Split(path, "/")[1]
	for _, hub := range []string{s.Home(), s.URL("/" + section), s.FeedURL(), s.URL("/sitemap-news.xml")} {
		if _, page := get(t, w, hub); !strings.Contains(page, path) {
			t.Errorf("%s does not show %s", hub, path)
		}
	}
	res, page := get(t, w, a.URL)
	if res.StatusCode != http.StatusOK || !strings.Contains(page, strings.Split(a.Body, "\n\n")[1]) {
		t.Errorf("the article: got status %d, or its text is missing", res.StatusCode)
	}
	again, _ := get(t, w, a.URL, "If-None-Match", res.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("conditional request: got status %d", again.StatusCode)
	}
	s.Edit(a.Number)
	if res, page := get(t, w, a.URL, "If-None-Match", res.Header.Get("ETag")); res.StatusCode != http.StatusOK ||
		!strings.Contains(page, "Cập nhật lần thứ 1") {
		t.Errorf("edited article: got status %d", res.StatusCode)
	}
	if n := w.Fetches()[a.URL]; n != 3 {
		t.Errorf("the log has %d fetches of the article", n)
	}
}

// Violations are requests that are too close together, disallowed, or during a
// Retry-After.
func TestWorld_PolitenessViolations(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	w := start(t, Options{Sites: 2, Proxied: true, Now: func() time.Time { return now }})
	s := w.Site(0)
	get(t, w, s.Home())
	get(t, w, w.Site(1).Home()) // another site
	now = now.Add(time.Second)
	get(t, w, s.Home())
	if found := w.PolitenessViolations(time.Second, 0); len(found) != 0 {
		t.Errorf("got violations for polite requests: %q", found)
	}
	if found := w.PolitenessViolations(2*time.Second, 0); len(found) != 1 {
		t.Errorf("two requests within two seconds: %q", found)
	}
	now = now.Add(time.Second)
	s.Throttle(http.StatusTooManyRequests, time.Minute)
	if res, _ := get(t, w, s.Home()); res.StatusCode != http.StatusTooManyRequests ||
		res.Header.Get("Retry-After") != "60" {
		t.Errorf("throttled site: got status %d, header %v", res.StatusCode, res.Header)
	}
	now = now.Add(30 * time.Second)
	get(t, w, s.Home())
	now = now.Add(31 * time.Second)
	get(t, w, s.URL("/private/1"))
	found := strings.Join(w.PolitenessViolations(time.Second, 0), "\n")
	if strings.Count(found, "\n") != 1 || !strings.Contains(found, "30s before the pause was over") ||
		!strings.Contains(found, "/private/1 is disallowed") {
		t.Errorf("got violations %s", found)
	}
}

// Real hubs differ with every request; so do these.
func TestWorld_TemplateChurn(t *testing.T) {
	w := start(t, Options{Proxied: true, Traps: true})
	_, a := get(t, w, w.Site(0).Home())
	_, b := get(t, w, w.Site(0).Home())
	if a == b {
		t.Error("two responses of the front page are identical")
	}
}

// Articles of the demo are sentences in the language of their site, and differ.
func TestWorld_ReadableArticles(t *testing.T) {
	w := start(t, Options{Sites: 3, Articles: 8, Readable: true, Proxied: true})
	titles := map[string]bool{}
	for _, s := range w.Sites() {
		want := map[bool]string{true: `<html lang="en">`, false: `<html lang="vi">`}[s.number == 2]
		for _, a := range s.Articles() {
			titles[a.Title] = true
			if strings.ContainsAny(a.Title+a.Body, "{}|=") || strings.Count(a.Body, "\n\n") != 4 {
				t.Errorf("article %d of site %d is not finished: %q %q", a.Number, a.Site, a.Title, a.Body)
			}
		}
		a := s.Articles()[0]
		if _, page := get(t, w, a.URL); !strings.Contains(page, want) ||
			!strings.Contains(page, `property="article:section" content="`+a.Section) {
			t.Errorf("site %d: got a page without %s or the section %q", s.number, want, a.Section)
		}
	}
	if len(titles) != 3*8 {
		t.Errorf("got %d different titles, want %d", len(titles), 3*8)
	}
}

// Named sites answer by their names, the others by their numbers, and publish given articles.
func TestHosts_NameTheFirstSites(t *testing.T) {
	w := start(t, Options{Sites: 2, Hosts: []string{"bao-mai.test"}, Proxied: true, Readable: true})
	for host, want := range map[string]bool{
		"bao-mai.test": true, "www.bao-mai.test": true, "BAO-MAI.test": true, "site-0001.test": true,
		"mai.test": false, "bao-mai.example": false,
	} {
		if _, _, err := w.Resolver().Lookup(t.Context(), host); (err == nil) != want {
			t.Errorf("%s: got %v, want it to be found: %t", host, err, want)
		}
	}
	a := w.Site(0).Write(Article{Title: "Lũ lên nhanh", Body: "Nước dâng.", Section: "Thời sự", Language: "vi"})
	if !strings.HasPrefix(a.URL, "http://bao-mai.test/") {
		t.Errorf("it is at %s", a.URL)
	}
	if _, page := get(t, w, a.URL); !strings.Contains(page, "Nước dâng.") || !strings.Contains(page, `<html lang="vi">`) {
		t.Errorf("its page is %s", page)
	}
	if _, front := get(t, w, w.Site(0).Home()); !strings.Contains(front, "Lũ lên nhanh") {
		t.Error("the front page does not show it")
	}
}
