// Package web serves the dashboard, which Vite builds into dist, and the pages for
// connecting accounts.
package web

import (
	"crypto/rand"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"dateline/internal/infra/message"
	"dateline/internal/infra/webpage"
)

// dist contains distless.html, and the folder dist if `make web` has built the
// dashboard. The pattern matches without that folder too, so that the program can
// always be built.
//
//go:embed all:dist*
var dist embed.FS

// pushWorker is the service worker for notifications in browsers.
//
//go:embed push.js
var pushWorker []byte

// vietnamese has the program's messages in Vietnamese, which the dashboard shows, too.
//
//go:embed src/i18n/messages/vi.json
var vietnamese []byte

// Messages returns the program's messages in every language but English.
func Messages() (webpage.Catalogs, error) {
	vi, err := message.ParseCatalog(vietnamese)
	return webpage.Catalogs{webpage.Vietnamese: vi}, err
}

// Page is the dashboard. If the binary contains none, it is a page that explains how to
// build it and lists the other pages.
type Page struct {
	Base       string // path that all of this is published under, without a slash at its end
	TemporalUI string
	Sandbox    string
	Bucket     string // origin that files are sent to directly; empty: none

	Files fs.FS // the dashboard; nil: the embedded one
}

// Built reports whether there is a dashboard.
func (p Page) Built() bool {
	_, err := fs.Stat(p.files(), "index.html")
	return err == nil
}

func (p Page) files() fs.FS {
	if p.Files != nil {
		return p.Files
	}
	files, _ := fs.Sub(dist, "dist") // fails for invalid names only
	return files
}

// ServeHTTP serves /, /app/ and /assets/.
func (p Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	files := p.files()
	index, err := fs.ReadFile(files, "index.html")
	switch asset := strings.TrimPrefix(path.Clean(r.URL.Path), "/"); {
	case err == nil && strings.HasPrefix(asset, "assets/"):
		p.serveAsset(w, r, files, asset)
	case asset == "app/push.js":
		w.Header().Set("Content-Type", contentType(asset))
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		_, _ = w.Write(pushWorker) // the reader may be gone
	case err == nil && asset == "":
		http.Redirect(w, r, p.Base+"/app/", http.StatusFound)
	case err == nil:
		// What Vite writes is relative to the page, which has many addresses.
		p.show(w, strings.ReplaceAll(string(index), `"./`, `"{{.Base}}/`))
	case asset == "":
		page, _ := dist.ReadFile("distless.html") // it is always there
		p.show(w, string(page))
	case asset == "app" || strings.HasPrefix(asset, "app/"):
		http.Redirect(w, r, p.Base+"/", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

// show renders a page. Styles may come from this origin, and from elements with the
// nonce of this response only.
func (p Page) show(w http.ResponseWriter, text string) {
	page, err := template.New("page").Parse(text)
	if err != nil {
		http.Error(w, "The page is broken.", http.StatusInternalServerError)
		return
	}
	nonce := rand.Text()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	// Forms of the dashboard send their origin, see internal/identity/login.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy",
		strings.Join([]string{
			"default-src 'none'", "script-src 'self'", "style-src 'self' 'nonce-" + nonce + "'",
			"img-src 'self' data:", "media-src 'self'", "font-src 'self'",
			strings.TrimSpace("connect-src 'self' " + p.Bucket), "base-uri 'none'",
			"form-action 'self'", "frame-ancestors 'none'",
		}, "; "))
	// The reader may be gone
	_ = page.Execute(w, struct{ Base, Nonce, TemporalUI, Sandbox string }{p.Base, nonce, p.TemporalUI, p.Sandbox})
}

// serveAsset serves a file whose name changes with its content. The build adds
// compressed copies beside the files.
func (p Page) serveAsset(w http.ResponseWriter, r *http.Request, files fs.FS, name string) {
	h := w.Header()
	if info, err := fs.Stat(files, name); err != nil || info.IsDir() {
		http.NotFound(w, r)
		return
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if packed, err := fs.ReadFile(files, name+".gz"); err == nil {
			h.Set("Content-Type", contentType(name))
			h.Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed) //nolint:gosec // a file of the build; the reader may be gone
			return
		}
	}
	h.Set("Content-Type", contentType(name))
	http.ServeFileFS(w, r, files, name) //nolint:gosec // in what is built in, and nowhere else
}

// contentType does not use the host's MIME table, which may contain anything.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json":
		return "application/json"
	case ".png":
		return "image/png"
	}
	return "application/octet-stream"
}
