package ingest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
)

// PlausiblePath is the path of Plausible's Events API.
const PlausiblePath = "/api/event"

// Serves reports whether Handler serves a path.
func Serves(path string) bool { return path == PlausiblePath || strings.HasPrefix(path, Prefix) }

const (
	plausiblePageview   = "pageview"
	plausibleEngagement = "engagement"
	// droppedHeader informs Plausible's clients that an event was not counted.
	droppedHeader = "X-Plausible-Dropped"
)

// plausibleEvent is an event as Plausible's tracker and servers send it
// (https://plausible.io/docs/events-api). The tracker uses the short names.
// Unknown fields are ignored: the tracker has gained several over time.
type plausibleEvent struct {
	Name          string `json:"name"`
	ShortName     string `json:"n"`
	URL           string `json:"url"`
	ShortURL      string `json:"u"`
	Domain        string `json:"domain"`
	ShortDomain   string `json:"d"`
	Referrer      string `json:"referrer"`
	ShortReferrer string `json:"r"`
	HashMode      any    `json:"h"`     // 1 or true: the fragment is part of the page
	Props         any    `json:"props"` // an object, or one as text
	ShortProps    any    `json:"p"`
}

// handlePlausibleEvent serves POST /api/event. As with Plausible, an event that is
// not counted is answered with 202 and a header.
func (in *Handler) handlePlausibleEvent(w http.ResponseWriter, r *http.Request) {
	raw, ok := readBody(w, r, maxHitBytes)
	if !ok {
		return
	}
	var e plausibleEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		writeProblem(w, http.StatusBadRequest, "invalid_request", "The body is invalid; see errors.",
			apperr.FieldError{Field: "body", Code: "not_json", Message: "Send one JSON object."})
		return
	}
	e.Name, e.URL, e.Domain, e.Referrer = either(e.Name, e.ShortName), either(e.URL, e.ShortURL), either(e.Domain,
		e.ShortDomain), either(e.Referrer, e.ShortReferrer)
	var problems []apperr.FieldError
	for _, f := range []struct{ field, value string }{{"name", e.Name}, {"url", e.URL}, {"domain", e.Domain}} {
		if f.value == "" {
			problems = append(problems, apperr.FieldError{
				Field: f.field, Code: "required", Message: "This field is missing.",
			})
		}
	}
	if len(problems) > 0 {
		writeProblem(w, http.StatusBadRequest, "invalid_request", "The request is invalid; see errors.", problems...)
		return
	}
	counted := false
	// The tracker can send an event to several sites.
	for domain := range strings.SplitSeq(e.Domain, ",") {
		s, ok := in.plausibleSite(strings.TrimSpace(domain))
		if !ok {
			continue
		}
		if !in.allowOrigin(w, r, s) {
			return
		}
		ok, err := in.countPlausible(r, s, e)
		if err != nil {
			in.writeError(w, r, err)
			return
		}
		counted = counted || ok
	}
	if !counted {
		w.Header().Set(droppedHeader, "1")
		w.Header().Set("Access-Control-Expose-Headers", droppedHeader)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write([]byte("ok"))
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// plausibleSite returns the site of a domain or of a write key. Other workspaces
// may name the same domain; the first site that did keeps its events.
func (in *Handler) plausibleSite(domain string) (*site.Active, bool) {
	if s, ok := in.Sites.ByKey(domain); ok {
		return s, true
	}
	return in.Sites.ByDomain(domain)
}

// countPlausible counts an event of a site. Times of engagement are not taken
// over: they are increments, and a lost or repeated one would change the sum.
func (in *Handler) countPlausible(r *http.Request, s *site.Active, e plausibleEvent) (counted bool, err error) {
	if e.Name == plausibleEngagement {
		return false, nil
	}
	h, problems := in.parseMessage(r, s, message{Type: string(counter.View), URL: e.URL, Referrer: e.Referrer})
	if slices.ContainsFunc(problems, func(p apperr.FieldError) bool { return p.Field == "referrer" }) {
		h.referrer, problems = "", slices.DeleteFunc(problems, func(p apperr.FieldError) bool {
			return p.Field == "referrer"
		})
	}
	if len(problems) > 0 {
		return false, apperr.InvalidFields(problems...)
	}
	if e.HashMode != nil && e.HashMode != false && e.HashMode != 0.0 {
		if u, err := url.Parse(e.URL); err == nil && u.Fragment != "" {
			h.page = truncateName(h.page + "#" + sanitizePath(u.Fragment))
		}
	}
	reason := in.filterReason(r.Header, false)
	if reason == botfilter.Prefetch {
		// The script waits until a prerendered page is visible; its requests still have
		// the header at that moment.
		reason = ""
	}
	if e.Name == plausiblePageview {
		return in.countHit(r.Context(), h, reason)
	}
	return in.countEvent(r.Context(), h, e.Name, e.properties(), reason)
}

// properties returns the event's properties without those that Dateline refuses.
func (e *plausibleEvent) properties() map[string]string {
	props := e.Props
	if props == nil {
		props = e.ShortProps
	}
	if text, ok := props.(string); ok {
		props = nil
		_ = json.Unmarshal([]byte(text), &props) // like Plausible, without properties if it is invalid
	}
	object, _ := props.(map[string]any)
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch object[name].(type) {
		case string, float64, bool:
		default:
			continue
		}
		one := map[string]string{name: fmt.Sprint(object[name])}
		if len(out) < maxEventProperties && len(checkProperties(one)) == 0 {
			out[name] = one[name]
		}
	}
	return out
}
