package ingest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"unicode/utf8"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
)

// publicCount reads a page's views if the site's counts are public.
func (in *Handler) publicCount(w http.ResponseWriter, r *http.Request) (page string, count int64, ok bool) {
	query := r.URL.Query()
	name, field := query.Get("page"), "page"
	if name == "" && query.Get("url") != "" {
		name, field = query.Get("url"), "url"
	}
	page, problem := PageName(name)
	if problem != nil {
		problem.Field = field
		writeInvalid(w, *problem)
		return "", 0, false
	}
	s, found := in.Sites.ByKey(query.Get("site"))
	if !found || !s.PublicCounts {
		writeInvalid(w, apperr.FieldError{
			Field: "site", Code: "not_public", Message: "No site with public counts has this write key.",
		})
		return "", 0, false
	}
	stats, err := in.Bulk.PageStats(r.Context(), s.CounterSite, []string{page})
	if err != nil || len(stats) != 1 {
		in.writeError(w, r, fmt.Errorf("read a count: %w", err))
		return "", 0, false
	}
	h := w.Header()
	// Counts are at most a second old, and popular pages cause at most one request per
	// second and cache.
	h.Set("Cache-Control", "public, max-age=1")
	h.Set("Access-Control-Allow-Origin", "*")
	return page, stats[0].Views, true
}

// handleCountJSON serves GET /v1/count.json.
func (in *Handler) handleCountJSON(w http.ResponseWriter, r *http.Request) {
	page, count, ok := in.publicCount(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct {
		Page  string `json:"page"`
		Views int64  `json:"views"`
	}{page, count})
}

const maxLabelLength = 40 // characters

// handleBadge serves GET /v1/badge.svg.
func (in *Handler) handleBadge(w http.ResponseWriter, r *http.Request) {
	label, separator := r.URL.Query().Get("label"), ","
	usual := "views"
	switch r.URL.Query().Get("lang") {
	case "", "en":
	case "vi":
		usual, separator = "lượt xem", "."
	default:
		writeInvalid(w, apperr.FieldError{Field: "lang", Code: "not_allowed", Message: "Must be en or vi."})
		return
	}
	switch {
	case label == "":
		label = usual
	case !utf8.ValidString(label) || utf8.RuneCountInString(label) > maxLabelLength:
		writeInvalid(w, apperr.FieldError{Field: "label", Code: "too_long", Message: "At most 40 characters."})
		return
	}
	_, count, ok := in.publicCount(w, r)
	if !ok {
		return
	}
	number := groupDigits(count, separator)
	// A character of Verdana 11 is about 7 wide; textLength adjusts the text to it.
	left, right := 10+7*utf8.RuneCountInString(label), 10+7*len(number)
	w.Header().Set("Content-Type", "image/svg+xml")
	//nolint:gosec // the label is escaped
	_, _ = fmt.Fprintf(w,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s"><title>%[2]s: %[3]s</title>`+
			`<rect width="%[1]d" height="20" rx="3" fill="#555"/><path d="M%[4]d 0h%[5]da3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H%[4]dz" fill="#06c"/>`+
			`<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">`+
			`<text x="%[6]d" y="14" textLength="%[7]d">%[2]s</text><text x="%[8]d" y="14" textLength="%[9]d">%[3]s</text></g></svg>`,
		left+right, html.EscapeString(xmlText(label)), number, left, right-3, left/2, left-10, left+right/2, right-10)
}

// xmlText removes characters that XML 1.0 doesn't allow (2.2).
func xmlText(text string) string {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if r >= ' ' && r != 0x7f && r != 0xfffe && r != 0xffff {
			out = append(out, r)
		}
	}
	return string(out)
}

// groupDigits formats a number with a separator between groups of three digits.
func groupDigits(n int64, separator string) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + separator + digits[i:]
	}
	return digits
}

// handleCountScript serves GET /v1/count.js, a script that inserts the number
// where it is included.
func (in *Handler) handleCountScript(w http.ResponseWriter, r *http.Request) {
	_, count, ok := in.publicCount(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = fmt.Fprintf(w, //nolint:gosec // a number
		`(function(s,e){e.className="dateline-count";e.textContent=(%d).toLocaleString(document.documentElement.lang||[]);s.parentNode.insertBefore(e,s)})(document.currentScript,document.createElement("span"))`, count)
}

var _ BulkCounter = (*counter.Counter)(nil)
