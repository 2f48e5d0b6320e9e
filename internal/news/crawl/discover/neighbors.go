package discover

import (
	"path"
	"strings"
	"unicode"

	"dateline/internal/news/crawl/weburl"
)

// minRootWords is how many words the slug of an article has at the root of a site, where
// the sections are, too.
const minRootWords = 3

// family is what a URL has in common with those that differ only in the slug at its end:
// the host, the directory without its numbers, the extension, and whether there is an
// article number. Empty: its end is no slug.
func family(u weburl.URL, hasNumber bool) string {
	p := strings.ToLower(u.Path())
	bare := strings.TrimSuffix(p, "/")
	at := strings.LastIndexByte(bare, '/')
	if at < 0 || u.Query() != "" {
		return ""
	}
	dir, slug := bare[:at], bare[at+1:]
	ext := path.Ext(slug)
	if !strings.ContainsFunc(strings.TrimSuffix(slug, ext), unicode.IsLetter) {
		return ""
	}
	if strings.ContainsAny(dir, "0123456789") {
		dir = digitRun.ReplaceAllString(dir, "N")
	}
	key := u.Hostname() + dir + "/*" + ext + p[len(bare):]
	if hasNumber {
		key += "N"
	}
	return key
}

// neighbor is a link as far as its neighbors matter.
type neighbor struct {
	link   *Link
	family string
	// isOpen reports whether the link may be an article although its URL does not look so.
	isOpen bool
	// isHeadline reports whether it is one on its page.
	isHeadline bool
}

// promoteNeighbors makes links articles whose URLs are built like those of several
// articles: a short headline makes a short slug. A URL with others below it is a section. A
// page that turns out to be a list is not stored as an article.
func promoteNeighbors(all []neighbor) {
	articles, open := map[string]int{}, map[string]int{}
	for _, n := range all {
		switch {
		case n.family == "":
		case n.link.Kind == Article:
			articles[n.family]++
		case n.isOpen:
			open[n.family]++
		}
	}
	candidates := map[string]bool{} // URLs without the last slash; false: a section
	isCandidate := func(n neighbor) bool {
		return n.isOpen && n.link.Kind != Article && n.family != "" && isLongEnough(n) &&
			articles[n.family] >= max(minSimilarArticles, open[n.family])
	}
	for _, n := range all {
		if isCandidate(n) {
			candidates[strings.TrimSuffix(n.link.URL.String(), "/")] = true
		}
	}
	if len(candidates) == 0 {
		return
	}
	for _, n := range all {
		address := strings.TrimSuffix(n.link.URL.String(), "/")
		for at := strings.LastIndexByte(address, '/'); at > 0; at = strings.LastIndexByte(address, '/') {
			if address = address[:at]; candidates[address] {
				candidates[address] = false
			}
		}
	}
	for _, n := range all {
		if n.isOpen && candidates[strings.TrimSuffix(n.link.URL.String(), "/")] {
			n.link.Kind = Article
		}
	}
}

func isLongEnough(n neighbor) bool {
	p := strings.Trim(n.link.URL.Path(), "/")
	return strings.Contains(p, "/") || n.isHeadline || strings.Count(p, "-")+strings.Count(p, "_")+1 >= minRootWords
}
