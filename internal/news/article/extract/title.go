package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/news/article"
)

// candidate is one statement about a field.
type candidate struct {
	value  string
	source article.Source
	weight float64
}

// readTitle lets the statements of a page vote. Statements that differ only by the name
// of the site count together, and the visible headline decides the spelling.
func (r *builder) readTitle() {
	var all []candidate
	add := func(v string, s article.Source, w float64) {
		if v = clean(v); v != "" && utf8.RuneCountInString(v) < 400 {
			all = append(all, candidate{r.stripSite(v), s, w})
		}
	}
	add(r.jsonLD.text("headline"), article.FromJSONLD, 1)
	add(r.meta.first("og:title"), article.FromOpenGraph, 0.9)
	for i, h := range r.meta.h1s {
		if i < 5 && !r.isInJunk(h) {
			add(textOf(h, maxValueBytes), article.FromHTML, 0.95/float64(min(len(r.meta.h1s), 3)))
		}
	}
	for _, v := range r.meta.microdata["headline"] {
		add(v, article.FromMicrodata, 0.8)
		break
	}
	add(r.meta.first("itemprop:headline"), article.FromMicrodata, 0.5)
	add(r.meta.first("twitter:title", "title", "dc.title", "parsely-title", "sailthru.title"), article.FromMeta, 0.5)
	add(r.meta.title, article.FromMeta, 0.45)
	if len(all) == 0 {
		return
	}
	best, votes := -1, 0.0
	folded := make([]string, len(all))
	for i := range all {
		folded[i] = Plain(all[i].value)
	}
	for i := range all {
		sum := 0.0
		for k := range all {
			if samePlainTitle(folded[i], folded[k]) {
				sum += all[k].weight
			}
		}
		if r.isSite(all[i].value) {
			sum = 0.01
		}
		if best < 0 || sum > votes+1e-9 {
			best, votes = i, sum
		}
	}
	chosen := all[best]
	for _, c := range all { // prefer the spelling of the visible headline
		if c.source == article.FromHTML && sameTitle(c.value, chosen.value) && !isTruncated(c.value) {
			chosen.value = c.value
			break
		}
	}
	if isTruncated(chosen.value) {
		for _, c := range all {
			if sameTitle(c.value, chosen.value) && !isTruncated(c.value) {
				chosen.value = c.value
				break
			}
		}
	}
	r.a.Title = chosen.value
	r.a.SetOrigin(article.FieldTitle, chosen.source, min(1, votes/2.5))
}

func isTruncated(s string) bool { return strings.HasSuffix(s, "…") || strings.HasSuffix(s, "...") }

// sameTitle reports whether two titles are equal, or one is a truncated form of the
// other.
func sameTitle(a, b string) bool { return samePlainTitle(Plain(a), Plain(b)) }

func samePlainTitle(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 24 && strings.HasPrefix(b, a)
}

// stripSite removes the name of the site from a title: "Headline | Section - Site". Only
// the name of the site and what follows it is removed, so headlines with dashes stay
// complete, and so does the visible headline unless the page disagrees with itself.
func (r *builder) stripSite(title string) string {
	if r.headlines == nil {
		r.headlines = r.completeHeadlines()
	}
	for range 3 {
		if r.headlines[Plain(title)] {
			return title
		}
		cut := r.cutSite(title)
		if utf8.RuneCountInString(cut) < 8 {
			return title
		}
		title = cut
	}
	return title
}

// completeHeadlines returns the visible headlines that contain the name of the site and
// belong to the article as they are: other statements agree with them, before or after
// something is cut off, and none is equal to what would be left of them.
func (r *builder) completeHeadlines() map[string]bool {
	out := map[string]bool{}
	r.headlines = out // nothing is complete while they are compared
	stated := []string{r.jsonLD.text("headline"), r.meta.first("og:title"), r.meta.first("twitter:title"), r.meta.title}
	for _, h := range r.meta.h1s[:min(len(r.meta.h1s), 5)] {
		headline := clean(textOf(h, maxValueBytes))
		rest := r.stripSite(headline)
		if rest == headline {
			continue
		}
		agree, disagree, others := false, false, false
		for _, s := range stated {
			if s = clean(s); s == "" {
				continue
			}
			others = true
			disagree = disagree || Plain(s) == Plain(rest)
			for range 3 {
				agree = agree || Plain(s) == Plain(headline)
				s = r.cutSite(s)
			}
		}
		if !disagree && (agree || !others) {
			out[Plain(headline)] = true
		}
	}
	return out
}

// cutSite removes one part with the name of the site from a title; it returns nothing if
// there is none.
func (r *builder) cutSite(title string) string {
	for _, sep := range []string{" | ", " - ", " – ", " — ", " :: ", " » ", " • ", " · ", " ‹ ", " « ", ": "} {
		if i := strings.LastIndex(title, sep); i > 0 && sep != ": " && r.isSitePart(title[i+len(sep):]) {
			return strings.TrimSpace(title[:i])
		}
		if i := strings.Index(title, sep); i > 0 && r.isSite(title[:i]) && len(title)-i > 12 {
			return strings.TrimSpace(title[i+len(sep):])
		}
	}
	return ""
}

// isSite reports whether a text is the name of the site or its domain.
func (r *builder) isSite(s string) bool {
	f := Plain(s)
	if f == "" {
		return false
	}
	for _, n := range r.siteNames {
		if f == n {
			return true
		}
	}
	return false
}

// isSitePart is a looser check for the end of a title: "Báo VnExpress Kinh doanh"
// contains the name of the domain, "Tuổi Trẻ Online" starts with it.
func (r *builder) isSitePart(s string) bool {
	if r.isSite(s) {
		return true
	}
	f := Plain(s)
	if utf8.RuneCountInString(s) > 40 || countWords(s) > 6 {
		return false
	}
	for _, n := range r.siteNames {
		if len(n) > 3 && (strings.HasPrefix(f, n) || strings.HasSuffix(f, n) || len(n) > 5 && strings.Contains(f, n) ||
			len(f) > 4 && strings.HasPrefix(n, f)) {
			return true
		}
	}
	return false
}

// collectSiteNames collects the folded names of the site from metadata and host.
func (r *builder) collectSiteNames() {
	add := func(s string) {
		if s = Plain(clean(s)); len(s) > 1 && len(s) < 60 {
			r.siteNames = append(r.siteNames, s)
			for _, p := range []string{"bao", "trang", "the"} {
				if t := strings.TrimPrefix(s, p); t != s && len(t) > 4 {
					r.siteNames = append(r.siteNames, t)
				}
			}
			for _, p := range []string{"online", "dientu", "com", "news"} {
				if t := strings.TrimSuffix(s, p); t != s && len(t) > 4 {
					r.siteNames = append(r.siteNames, t)
				}
			}
		}
	}
	site := r.meta.first("og:site_name", "application-name", "apple-mobile-web-app-title", "al:ios:app_name")
	source := article.FromOpenGraph
	groups, more := r.jsonLD.people("publisher")
	groups = append(groups, more...)
	for _, g := range append(groups, r.jsonLD.organizations...) {
		if sameTitle(g, r.jsonLD.text("headline")) || countWords(g) > 6 {
			continue // some sites use the title of the article as the name of their WebSite
		}
		if site == "" {
			site, source = g, article.FromJSONLD
		}
		add(g)
	}
	add(site)
	add(r.meta.first("twitter:site"))
	add(r.meta.first("copyright"))
	for _, n := range r.siteFromHeadTitle() {
		add(n)
	}
	host := strings.TrimPrefix(r.doc.URL.Hostname(), "www.")
	if host == "" {
		host = strings.TrimPrefix(hostOf(r.meta.links["canonical"]), "www.")
	}
	if host != "" {
		add(host)
		label := host
		if i := strings.Index(host, "."); i > 0 {
			label = host[:i]
		}
		add(label)
		if parts := strings.Split(host, "."); len(parts) > 2 {
			add(parts[len(parts)-2])
			if len(parts[len(parts)-2]) <= 3 {
				add(parts[len(parts)-3])
			}
		}
	}
	if site == "" {
		site, source = host, article.FromURL
	}
	if site != "" {
		r.a.Site = site
		r.a.SetOrigin(article.FieldSite, source, 0.9)
	}
}

// siteFromHeadTitle returns the last part of the title element if it matches the host, or if both parts are headlines
// of the page: of the site and of the article.
func (r *builder) siteFromHeadTitle() []string {
	t := clean(r.meta.title)
	host := Plain(r.doc.URL.Hostname())
	for _, sep := range []string{" | ", " - ", " – ", " — "} {
		if i := strings.LastIndex(t, sep); i > 0 {
			end := t[i+len(sep):]
			f := Plain(end)
			if r.isH1(end) && r.isH1(t[:i]) {
				return []string{end}
			}
			if len(f) > 3 && countWords(end) <= 5 && host != "" &&
				(strings.Contains(host, f) || strings.Contains(host, strings.TrimPrefix(f, "the"))) {
				return []string{end}
			}
		}
	}
	return nil
}

// isH1 reports whether a text is one of the first headlines.
func (r *builder) isH1(text string) bool {
	text = Plain(text)
	for _, h := range r.meta.h1s[:min(len(r.meta.h1s), 5)] {
		if text != "" && Plain(textOf(h, maxValueBytes)) == text {
			return true
		}
	}
	return false
}

// Plain returns lowercase letters and digits without diacritics, so that "Tuổi Trẻ" and
// "TUOI TRE" are equal.
func Plain(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return plainUnicode(s)
		case c >= 'A' && c <= 'Z':
			out = append(out, c|0x20)
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			out = append(out, c)
		}
	}
	return string(out)
}

func plainUnicode(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, c := range norm.NFD.String(s) {
		switch {
		case c == 'đ' || c == 'Đ':
			b.WriteByte('d')
		case unicode.Is(unicode.Mn, c):
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}
