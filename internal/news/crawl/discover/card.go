package discover

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func (h *hub) beginDate(tag atom.Atom) {
	h.inDate, h.dateTag = true, tag
	h.dateText.Reset()
}

// setDate assigns a date to the last article link: the teaser that is being
// read.
func (h *hub) setDate(t time.Time) {
	if h.dateIndex < 0 || t.IsZero() {
		return
	}
	if link := &h.page.Links[h.dateIndex]; link.Published.IsZero() {
		link.Published = t
	}
}

// reclassify corrects the kinds of links by comparing them: a site builds the
// URLs of its articles in one way.
func (h *hub) reclassify() {
	shapes, families := map[string]int{}, map[string]int{}
	strong := 0
	for i, link := range h.page.Links {
		switch {
		case link.Kind != Article:
		case h.targets[i].hasNumber:
			strong++
		case !h.inMenu[i] && h.targets[i].family != "":
			families[h.targets[i].family]++
		}
	}
	for i := range h.page.Links {
		link := &h.page.Links[i]
		// If articles have numbers, a link without one is a section with a long
		// name. If they have none, articles are recognized by their headlines, or by their
		// number.
		if link.Kind == Article && !h.targets[i].hasNumber && (strong >= minSimilarArticles ||
			h.titleSources[i] < inHeading && len(strings.Fields(link.Title)) < minHeadlineWords &&
				families[h.targets[i].family] < minSimilarArticles) {
			link.Kind = Section
		}
		if link.Kind == Article {
			shapes[h.shape(i)]++
		}
	}
	neighbors := make([]neighbor, len(h.page.Links))
	for i := range h.page.Links {
		link, t := &h.page.Links[i], &h.targets[i]
		neighbors[i] = neighbor{link, t.family, t.isOpen && !h.inMenu[i], h.titleSources[i] == inHeading}
	}
	promoteNeighbors(neighbors)
	for i := range h.page.Links {
		link := &h.page.Links[i]
		if (link.Kind == Other || link.Kind == Section) && h.targets[i].hasNumber &&
			shapes[h.targets[i].shape] >= minSimilarArticles {
			link.Kind = Article
		}
	}
}

// shape returns the shape of a link. Links that became articles by their text
// have none yet.
func (h *hub) shape(i int) string {
	if t := h.targets[i]; t.shape != "" {
		return t.shape
	}
	return Shape(h.targets[i].url)
}

// cleanText returns text of a page in one line of limited length. Some sites
// escape their titles twice, so remaining character references are resolved.
func cleanText(text string) string {
	if strings.Contains(text, "&") {
		text = html.UnescapeString(text)
	}
	if strings.ContainsFunc(text, isInvisible) {
		text = strings.Map(func(r rune) rune {
			if isInvisible(r) {
				return -1
			}
			return r
		}, text)
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxTitle && utf8.RuneCountInString(text) > maxTitle {
		text = string([]rune(text)[:maxTitle]) + "…"
	}
	return text
}

// isInvisible reports whether a character is removed from texts.
func isInvisible(r rune) bool {
	if ' ' <= r && r < 0x7f || 0xC0 <= r && r <= 0x24F || 0x1EA0 <= r && r <= 0x1EF9 {
		return false // most text, without a lookup in the Unicode tables
	}
	return r == utf8.RuneError || unicode.Is(unicode.C, r) && !unicode.IsSpace(r)
}
