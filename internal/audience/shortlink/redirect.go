package shortlink

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/infra/linkcode"
)

// Finder looks up links.
type Finder interface {
	// LinkByCode returns a link of any workspace.
	LinkByCode(ctx context.Context, code string) (l Link, found bool, err error)
}

// Counter counts hits: counter.Batcher.
type Counter interface {
	Count(ctx context.Context, h counter.Hit) (counter.Outcome, error)
	CountFiltered(ctx context.Context, h counter.FilteredHit) error
}

// Classifier builds the hit of a request. reason is the reason to filter it,
// such as a preview bot, a prefetch or an opt-out; empty for a reader's.
type Classifier interface {
	Classify(ctx context.Context, r *http.Request, site counter.Site) (h counter.Hit, reason string, err error)
}

// Sites finds out which targets are pages of a site: site.Directory.
type Sites interface {
	Owns(workspace uuid.UUID, host string) bool
}

// Redirector redirects readers of short links and counts them.
type Redirector struct {
	Finder     Finder
	Counter    Counter
	Classifier Classifier // nil: clicks are not counted
	Sites      Sites      // nil: visits are not attributed to links
	Log        *slog.Logger
	Now        func() time.Time // nil: this host's clock

	cache cache
}

// pagePrefix is the prefix of links' page names. A click is counted for the link
// and for its post, as a step of the post's funnel.
const pagePrefix = "link/"

// PageName returns the page that the clicks on a link are counted for.
func PageName(code string) string { return pagePrefix + code }

// countTimeout limits how long counting delays the redirect. A click that takes
// longer is not counted.
const countTimeout = 500 * time.Millisecond

// ErrorWriter writes the response for a link that can't be followed.
type ErrorWriter func(status int, code, message string)

// Serve redirects a request for a code. The target comes from the link's row
// only. A page of the workspace's sites gets the code as a parameter, so that the
// visit is attributed to the link.
func (s *Redirector) Serve(w http.ResponseWriter, r *http.Request, code string, writeError ErrorWriter) {
	h := w.Header()
	h.Set("Cache-Control", "private, no-store") // so that repeated clicks are counted
	h.Set("X-Robots-Tag", "noindex")
	l, ok, err := s.find(r.Context(), code)
	switch {
	case err != nil:
		s.Log.Error("failed to look up a short link", "error", err)
		h.Set("Retry-After", "5")
		writeError(http.StatusServiceUnavailable, "unavailable",
			"This link cannot be looked up right now. Try again in a moment.")
		return
	case ok && l.DisabledAt != nil:
		writeError(http.StatusGone, "link_disabled", "This link has been disabled.")
		return
	case !ok || !linkcode.IsValidTarget(l.URL): // validated again in case of a corrupt row
		writeError(http.StatusNotFound, "link_not_found", "This link does not exist.")
		return
	}
	if r.Method == http.MethodGet { // previews use HEAD
		s.count(r, l)
	}
	http.Redirect(w, r, s.target(l), http.StatusFound)
}

// target returns the URL to redirect to, with UTM parameters.
func (s *Redirector) target(l Link) string {
	to := l.UTM.AddTo(l.URL)
	u, err := url.Parse(to)
	if err != nil || s.Sites == nil || !s.Sites.Owns(l.WorkspaceID, strings.ToLower(u.Hostname())) {
		return to
	}
	address, fragment, hasFragment := strings.Cut(to, "#")
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	address += separator + linkcode.Parameter + "=" + l.Code
	if hasFragment {
		address += "#" + fragment
	}
	return address
}

// count counts a click, or that it was filtered, for the link and its post.
// Errors and timeouts don't affect the redirect.
func (s *Redirector) count(r *http.Request, l Link) {
	if s.Classifier == nil || s.Counter == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), countTimeout)
	defer cancel()
	posts, at := site.PostsSite(l.WorkspaceID), s.now()
	hit, reason, err := s.Classifier.Classify(ctx, r, posts)
	if err != nil {
		s.Log.Warn("failed to count a click", "code", l.Code, "error", err)
		return
	}
	pages := []string{PageName(l.Code)}
	if l.PostID != nil {
		pages = append(pages, l.PostID.String())
	}
	// Concurrently, so that both are in one batch.
	var both sync.WaitGroup
	for _, page := range pages {
		both.Go(func() {
			var err error
			if reason != "" {
				err = s.Counter.CountFiltered(ctx, counter.FilteredHit{Site: posts, Page: page, Reason: reason, At: at})
			} else {
				one := hit
				one.Site, one.Page, one.Kind, one.At = posts, page, counter.Click, at
				_, err = s.Counter.Count(ctx, one)
			}
			if err != nil {
				s.Log.Warn("failed to count a click", "code", l.Code, "page", page, "error", err)
			}
		})
	}
	both.Wait()
}

func (s *Redirector) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// find returns a link, from the cache if it was read recently.
func (s *Redirector) find(ctx context.Context, code string) (Link, bool, error) {
	if !linkcode.IsValid(code) {
		return Link{}, false, nil
	}
	now := time.Now()
	if l, found, ok := s.cache.get(code, now); ok {
		return l, found, nil
	}
	l, found, err := s.Finder.LinkByCode(ctx, code)
	if err == nil {
		s.cache.put(code, l, found, now)
	}
	return l, found, err
}
