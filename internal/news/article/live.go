package article

import (
	"strings"
	"time"
)

// LiveEntry is an entry of a live blog.
type LiveEntry struct {
	Key   string    `json:"key"`           // identifies it on its page
	Time  time.Time `json:"time,omitzero"` // unknown: zero
	Title string    `json:"title,omitempty"`
	Text  string    `json:"text"` // paragraphs separated by an empty line
	HTML  string    `json:"html"` // the same, sanitized
}

// FullText returns the text of an article with the entries of its live blog.
func FullText(text string, live []LiveEntry) string {
	parts := make([]string, 1, 1+len(live))
	parts[0] = text
	for _, e := range live {
		parts = append(parts, strings.TrimSpace(e.Title+"\n\n"+e.Text))
	}
	return strings.Join(parts, "\n\n")
}

// MaxLiveEntries is the number of entries of a live blog that are kept, the newest.
const MaxLiveEntries = 1000

// MergeLiveEntries returns the entries of a page, followed by those that were read before
// and are older than all of them: live blogs move older entries to further pages. What a
// page no longer has among newer entries was removed. Entries are the newest first.
func MergeLiveEntries(before, page []LiveEntry) []LiveEntry {
	if len(page) == 0 {
		return before
	}
	var oldest time.Time
	keys := make(map[string]bool, len(page))
	for _, e := range page {
		keys[e.Key] = true
		if !e.Time.IsZero() && (oldest.IsZero() || e.Time.Before(oldest)) {
			oldest = e.Time
		}
	}
	out := append(make([]LiveEntry, 0, len(page)), page...)
	for _, e := range before {
		if !keys[e.Key] && !e.Time.IsZero() && e.Time.Before(oldest) {
			out = append(out, e)
		}
	}
	return out[:min(len(out), MaxLiveEntries)]
}
