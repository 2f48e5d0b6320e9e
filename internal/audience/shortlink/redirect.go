package shortlink

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/infra/linkcode"
)

// Finder looks a code up.
type Finder interface {
	// LinkByCode finds a link of any workspace; found is false for none.
	LinkByCode(ctx context.Context, code string) (l Link, found bool, err error)
}

// Counter counts hits: views.Batcher.
type Counter interface {
	Count(ctx context.Context, h counter.Hit) (counter.Outcome, error)
	CountFiltered(ctx context.Context, h counter.FilteredHit) error
}

// Classifier tells who follows a link. reason says why it is not counted: a bot that
// makes a preview, a browser that only looks ahead, somebody who does not want
// to be counted; "" for a person.
type Classifier interface {
	Classify(ctx context.Context, r *http.Request, site counter.Site) (h counter.Hit, reason string, err error)
}

// Redirector leads readers on, and counts them on the way.
type Redirector struct {
	Finder     Finder
	Counter    Counter
	Classifier Classifier // nil: nobody can be told apart, and nothing is counted
	Log        *slog.Logger
	Now        func() time.Time // nil: this host's clock

	cache cache
}

// Link pages, for the counters: each link is one, and so is the post that it
// belongs to, whose funnel it feeds.
const pagePrefix = "link/"

// PageName is the page under which the clicks on a link are counted.
func PageName(code string) string { return pagePrefix + code }

// countTimeout is how long a reader waits to be counted; where Redis does not
// answer, they are led on all the same.
const countTimeout = 500 * time.Millisecond

// ErrorWriter answers a request that leads nowhere.
type ErrorWriter func(status int, code, message string)

// Serve answers a request for a code. Where it leads comes from the link's row
// alone.
func (s *Redirector) Serve(w http.ResponseWriter, r *http.Request, code string, refuse ErrorWriter) {
	h := w.Header()
	h.Set("Cache-Control", "private, no-store") // a reader who comes again is counted again
	h.Set("X-Robots-Tag", "noindex")
	l, ok, err := s.find(r.Context(), code)
	switch {
	case err != nil:
		s.Log.Error("a short link could not be looked up", "error", err)
		h.Set("Retry-After", "5")
		refuse(http.StatusServiceUnavailable, "unavailable", "This link cannot be followed right now. Try again in a moment.")
		return
	case ok && l.DisabledAt != nil:
		refuse(http.StatusGone, "link_disabled", "This link does not lead anywhere any more.")
		return
	case !ok || !linkcode.IsValidTarget(l.URL): // the database refuses what is not linkable; so does this
		refuse(http.StatusNotFound, "link_not_found", "There is no such link.")
		return
	}
	if r.Method == http.MethodGet { // HEAD is what previews ask with
		s.count(r, l)
	}
	http.Redirect(w, r, l.URL, http.StatusFound)
}

// count counts a click for the link, and for its post; one that is not a
// person's by its reason. It delays nobody for long, and keeps nobody from being
// led on.
func (s *Redirector) count(r *http.Request, l Link) {
	if s.Classifier == nil || s.Counter == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), countTimeout)
	defer cancel()
	of, at := site.PostsSite(l.WorkspaceID), s.now()
	hit, reason, err := s.Classifier.Classify(ctx, r, of)
	if err != nil {
		s.Log.Warn("a click was not counted", "code", l.Code, "error", err)
		return
	}
	pages := []string{PageName(l.Code)}
	if l.PostID != nil {
		pages = append(pages, l.PostID.String())
	}
	// At once, so that both are in one batch.
	var both sync.WaitGroup
	for _, page := range pages {
		both.Go(func() {
			var err error
			if reason != "" {
				err = s.Counter.CountFiltered(ctx, counter.FilteredHit{Site: of, Page: page, Reason: reason, At: at})
			} else {
				one := hit
				one.Site, one.Page, one.Kind, one.At = of, page, counter.Click, at
				_, err = s.Counter.Count(ctx, one)
			}
			if err != nil {
				s.Log.Warn("a click was not counted", "code", l.Code, "page", page, "error", err)
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

// find reads a link, from memory if it was asked for lately.
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
