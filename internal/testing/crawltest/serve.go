package crawltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

func disallowedPaths() []string { return []string{"/private/", "/tim-kiem"} }

var articlePath = regexp.MustCompile(`^/[a-z-]+/[a-z0-9-]+-(\d+)\.html$`)

func (s *Site) serve(out http.ResponseWriter, r *http.Request) {
	if s.serveFault(out, r) {
		return
	}
	path := r.URL.Path
	switch {
	case path == "/robots.txt":
		s.write(out, r, "text/plain", []byte(s.robotsText()))
	case path == "/.well-known/tdmrep.json" && s.tdmText() != "":
		s.write(out, r, "application/json", []byte(s.tdmText()))
	case path == "/rss/tin-moi-nhat.rss":
		s.write(out, r, "application/rss+xml; charset=utf-8", s.rss())
	case strings.HasPrefix(path, "/sitemap"):
		s.serveSitemap(out, r)
	case path == "/":
		s.hub(out, r, "")
	case path == "/js/bai.js":
		s.script(out, r)
	case articlePath.MatchString(path):
		s.serveArticle(out, r)
	case strings.HasPrefix(path, "/go/"):
		s.redirectToArticle(out, r)
	case strings.HasPrefix(path, "/private/"), path == "/tim-kiem":
		s.write(out, r, "text/html; charset=utf-8", []byte("<title>Not for robots</title>"))
	default:
		if name := strings.TrimPrefix(path, "/"); s.hasSection(name) {
			s.hub(out, r, name)
			return
		}
		s.trap(out, r)
	}
}

// serveFault responds while the site has a fault.
func (s *Site) serveFault(out http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	t := s.fault
	s.mu.Unlock()
	if t.latency > 0 {
		select {
		case <-time.After(t.latency):
		case <-r.Context().Done():
		case <-s.world.stop:
		}
	}
	if t.status == 0 || !t.until.IsZero() && !s.world.options.Now().Before(t.until) {
		return false
	}
	if t.retryAfter != "" {
		out.Header().Set("Retry-After", t.retryAfter)
		s.world.log.paused(s.number, t.until)
	}
	http.Error(out, http.StatusText(t.status), t.status)
	return true
}

func (s *Site) hasSection(name string) bool {
	for _, known := range sectionNames()[:s.world.options.Sections] {
		if known == name {
			return true
		}
	}
	return false
}

func (s *Site) robotsText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.robots != "" {
		return s.robots
	}
	text := "User-agent: *\nDisallow: " + strings.Join(disallowedPaths(), "\nDisallow: ") + "\n"
	if delay := s.world.options.CrawlDelay; delay > 0 {
		text += "Crawl-delay: " + strconv.FormatFloat(delay.Seconds(), 'f', -1, 64) + "\n"
	}
	if s.listsHidden {
		return text
	}
	return text + "\nSitemap: " + s.URL("/sitemap.xml") + "\n"
}

func (s *Site) serveArticle(out http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(articlePath.FindStringSubmatch(r.URL.Path)[1])
	number := id - firstID
	s.mu.Lock()
	if number < 1 || number > len(s.articles) {
		s.mu.Unlock()
		http.NotFound(out, r)
		return
	}
	article := s.articles[number-1]
	s.served++
	served, churn, removed := s.served, s.churn, s.removed[number]
	s.mu.Unlock()
	if removed/100 == 3 {
		http.Redirect(out, r, s.Home(), removed)
		return
	}
	if removed != 0 {
		http.Error(out, http.StatusText(removed), removed)
		return
	}
	out.Header().Set("Last-Modified", article.PublishedAt.Add(time.Duration(article.Edits)*time.Minute).UTC().
		Format(http.TimeFormat))
	if since, err := http.ParseTime(r.Header.Get("If-Modified-Since")); err == nil &&
		r.Header.Get("If-None-Match") == "" &&
		!article.PublishedAt.Add(time.Duration(article.Edits)*time.Minute).Truncate(time.Second).After(since) {
		out.WriteHeader(http.StatusNotModified)
		return
	}
	if !strings.HasSuffix(article.URL, r.URL.Path) {
		http.Redirect(out, r, article.URL, http.StatusMovedPermanently)
		return
	}
	related := s.latest("", number%5, 4)
	s.writeTagged(out, r, fmt.Sprintf("%d-%d-%d", number, article.Edits, churn),
		s.articlePage(article, related, served, churn))
}

// redirectToArticle redirects like share buttons and newsletters: /go/12.
func (s *Site) redirectToArticle(out http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/go/"))
	articles := s.Articles()
	if err != nil || number < 1 || number > len(articles) {
		http.NotFound(out, r)
		return
	}
	http.Redirect(out, r, articles[number-1].URL+"?utm_source=go", http.StatusMovedPermanently)
}

// writeTagged handles conditional requests for a page with this tag.
func (s *Site) writeTagged(out http.ResponseWriter, r *http.Request, tag string, page []byte) {
	sum := sha256.Sum256([]byte(tag))
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	out.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		out.WriteHeader(http.StatusNotModified)
		return
	}
	s.write(out, r, "text/html; charset=utf-8", page)
}

func (s *Site) write(out http.ResponseWriter, r *http.Request, contentType string, page []byte) {
	out.Header().Set("Content-Type", contentType)
	if len(page) > 1024 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && s.number%2 == 1 {
		out.Header().Set("Content-Encoding", "gzip")
		page = s.world.zipped(page)
	}
	out.Header().Set("Content-Length", strconv.Itoa(len(page)))
	_, _ = out.Write(page) //nolint:gosec // a test server; pages show what was asked for nowhere
}

// zipped compresses with pooled writers, because creating one costs more than a
// page.
func (w *World) zipped(page []byte) []byte {
	z, ok := w.zips.Get().(*gzip.Writer)
	if !ok {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // no error at this level
	}
	defer w.zips.Put(z)
	var b bytes.Buffer
	z.Reset(&b)
	_, _ = z.Write(page)
	_ = z.Close()
	return b.Bytes()
}
