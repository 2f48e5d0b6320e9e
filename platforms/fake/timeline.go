package fake

import (
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"
)

// timelineLength is the number of posts on the page.
const timelineLength = 100

//go:embed timeline.html
var timelineHTML string

//go:embed authorize.html
var authorizeHTML string

func parsePages() (*template.Template, error) {
	return template.New("page").Funcs(template.FuncMap{
		"is": func(m Media, kind string) bool { return strings.HasPrefix(m.MIMEType, kind+"/") },
	}).Parse(timelineHTML)
}

type timelinePost struct {
	Post
	HTML template.HTML
	Time string
	Day  string
}

// showTimeline serves the page with the published posts; part=posts returns only
// the list.
func (s controls) showTimeline(w http.ResponseWriter, r *http.Request) {
	var posts []timelinePost
	s.mu.Lock()
	total := len(s.state.posts)
	for _, p := range slices.Backward(s.state.posts) {
		if len(posts) == timelineLength {
			break
		}
		created := p.CreatedAt.UTC()
		posts = append(posts, timelinePost{
			Post: *p,
			HTML: template.HTML(s.renderer.render(p.Text)), //nolint:gosec // render escapes all of the text
			Time: created.Format("15:04:05.000"),
			Day:  created.Format(time.DateOnly),
		})
	}
	s.mu.Unlock()
	nonce := rand.Text()
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; img-src 'self'; media-src 'self'; connect-src 'self'; "+
			"style-src 'nonce-"+nonce+"'; script-src 'nonce-"+nonce+
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	name := "page"
	if r.URL.Query().Get("part") == "posts" {
		name = "posts"
	}
	_ = s.pages.ExecuteTemplate(w, name, map[string]any{"Posts": posts, "Total": total, "Nonce": nonce})
}

// streamChanges notifies the page of changes (server-sent events).
func (s controls) streamChanges(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	for {
		s.mu.Lock()
		changed, total := s.changed, len(s.state.posts)
		s.mu.Unlock()
		if _, err := fmt.Fprintf(w, "data: %d\n\n", total); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
		select {
		case <-changed:
			s.wait(r.Context(), 100*time.Millisecond) // combines bursts of changes
		case <-time.After(25 * time.Second): // prevents proxies from closing the stream
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
}
