package extract

import (
	"sort"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// dateCandidate is one statement of a publication date.
type dateCandidate struct {
	dates.Date
	source article.Source
	weight float64
}

// readTimes reconciles the dates of a page. Metadata comes first. A date without time
// takes the time of another statement of the same day. If two statements differ by whole
// hours, the one that agrees with the visible date is right: the other has the wrong
// time zone.
func (r *builder) readTimes(g Selection) {
	var pub, mod []dateCandidate
	add := func(list *[]dateCandidate, s article.Source, w float64, values ...string) {
		for _, v := range values {
			if d, ok := dates.Parse(clean(v), r.dateOptions()); ok && r.isPlausible(d.Time) {
				*list = append(*list, dateCandidate{d, s, w})
				return
			}
		}
	}
	add(&pub, article.FromSelector, selectedConfidence, g.Values[article.FieldPublished]...)
	add(&mod, article.FromSelector, selectedConfidence, g.Values[article.FieldUpdated]...)
	add(&pub, article.FromJSONLD, 0.95, r.jsonLD.text("datePublished"))
	add(&mod, article.FromJSONLD, 0.95, r.jsonLD.text("dateModified"))
	for _, k := range []string{"article:published_time", "og:published_time", "article:published", "og:article:published_time", "itemprop:datepublished"} {
		add(&pub, article.FromOpenGraph, 0.9, r.meta.values[k]...)
	}
	for _, k := range []string{"article:modified_time", "og:updated_time", "article:updated_time", "itemprop:datemodified", "lastmod", "last-modified", "article_updatetime", "revised", "dcterms.modified", "dc.date.modified"} {
		add(&mod, article.FromOpenGraph, 0.8, r.meta.values[k]...)
	}
	add(&pub, article.FromMicrodata, 0.85, r.meta.microdata["datepublished"]...)
	add(&mod, article.FromMicrodata, 0.85, r.meta.microdata["datemodified"]...)
	for _, k := range []string{"pubdate", "publishdate", "publish-date", "publish_date", "parsely-pub-date", "sailthru.date", "article.published", "published-date", "dc.date.issued", "dcterms.created", "dc.date", "dcterms.date", "date", "cxenseparse:recs:publishtime", "displaydate", "originalpublicationdate", "article.created", "ptime", "rnews:datepublished", "citation_publication_date", "datepublished", "ms.date", "article:post_date", "dcterms.issued", "dcterms.available", "citation_date", "citation_online_date", "published_at", "published", "publication_date", "date_published", "pub_date", "pubdate_iso", "created", "article_date_original", "dc.date.created", "dc.created", "bt:pubdate", "shareaholic:article_published_time",
		"article:published_date", "article:publicationdate", "content_create_date", "date_created", "datecreated", "dateposted", "dc.date.publication", "dcsext.articlefirstpublished", "dc:created", "dc:date", "doc_date", "gentime", "mediator_published_time", "og:article:published", "og:datepublished", "og:pubdate", "og:publish_date", "og:question:published_time", "og:regdate", "pdate", "publish_time", "published_date", "published_time", "release_date", "pub-date", "publication-date", "date-pub", "itemprop:datecreated"} {
		add(&pub, article.FromMeta, 0.8, r.meta.values[k]...)
	}
	add(&pub, article.FromJSONLD, 0.5, r.jsonLD.text("dateCreated"), r.jsonLD.text("uploadDate"))
	seen := r.visibleDates()
	pub = append(pub, seen...)
	if d, ok := dateFromURL(r.doc.URL.Path); ok {
		pub = append(pub, dateCandidate{dates.Date{Time: d}, article.FromURL, 0.4})
	}
	if len(pub) == 0 {
		pub = r.hiddenDates()
	}
	if len(pub) == 0 {
		for _, m := range mod {
			m.weight = 0.3
			pub = append(pub, m)
		}
	}
	if len(pub) == 0 {
		if d, ok := r.dateAnywhere(); ok {
			pub = append(pub, dateCandidate{d, article.FromText, 0.2})
		}
	}
	r.trustURL(pub)
	r.setPublished(pub, seen)
	r.setUpdated(mod)
}

// isPlausible reports whether a time can be a publication date: not in the future, and
// not before the web.
func (r *builder) isPlausible(t time.Time) bool {
	return t.Year() >= 1990 && (r.src.Now.IsZero() || t.Before(r.src.Now.Add(36*time.Hour)))
}

// dateOptions returns the time zone of the site, from its settings or its country.
func (r *builder) dateOptions() dates.Options {
	return dates.Options{Zone: r.zone, Now: r.src.Now, MonthFirst: r.monthFirst}
}

// visibleDates returns the visible dates, nearest to the headline first. Dates inside
// links and sidebars are those of other articles, unless the page has no others.
func (r *builder) visibleDates() []dateCandidate {
	out := r.markedDates(marked)
	if len(out) == 0 && len(r.meta.h1s) > 0 {
		if d, ok := r.nearHeadline(r.meta.h1s[0]); ok {
			out = append(out, dateCandidate{d, article.FromHTML, 0.5})
		}
	}
	if len(out) == 0 {
		out = r.markedDates(markedAnywhere)
	}
	if len(out) == 0 {
		out = r.markedDates(markedUpdate)
	}
	for _, anywhere := range []bool{false, true} {
		if d, ok := r.dateInLines(anywhere); len(out) == 0 && ok {
			out = append(out, dateCandidate{d, article.FromHTML, 0.35})
		}
	}
	return out
}

// scope says which elements that are marked as dates are considered.
type scope int

const (
	marked         scope = iota
	markedAnywhere       // also those of sidebars and links
	markedUpdate         // only those of updates, outside sidebars and links
)

// markedDates returns the dates of elements that are marked as dates.
func (r *builder) markedDates(s scope) []dateCandidate {
	var out []dateCandidate
	for i, n := range r.meta.times {
		if len(out) >= 3 {
			break
		}
		if next := i + 1; next < len(r.meta.times) && n.DataAtom != atom.Time && contains(n, r.meta.times[next]) {
			continue // the inner elements are more precise
		}
		if s != markedAnywhere && (r.isInJunk(n) || r.isInsideLink(n)) {
			continue
		}
		text := textOf(n, 160)
		if isUpdate := isUpdateLine(text) || isNamedUpdate(n) || isUpdateLine(labelBefore(n)); isUpdate != (s == markedUpdate) {
			continue
		}
		w, v := 0.7, text
		if n.DataAtom == atom.Time && attr(n, "datetime") != "" {
			w, v = 0.75, attr(n, "datetime")
		}
		if s != marked {
			w = 0.4
		}
		for _, t := range []string{v, text, attr(n, "title"), attr(n, "content")} {
			if d, ok := dates.Parse(t, r.dateOptions()); ok && r.isPlausible(d.Time) {
				out = append(out, dateCandidate{d, article.FromHTML, w})
				break
			}
		}
	}
	return out
}

func isUpdateLine(text string) bool {
	low := strings.ToLower(text)
	for _, p := range []string{"updated", "cập nhật", "last modified", "last updated", "last reviewed", "reviewed", "zuletzt", "aktualisiert", "mis à jour", "actualizado", "atualizado"} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

// isNamedUpdate reports whether the class name of an element says that its date is that
// of an update.
func isNamedUpdate(n *html.Node) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(attr(n, "class")), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if w == "updated" || w == "modified" {
			return !strings.Contains(attr(n, "class"), "ublished") // "published updated" is both
		}
	}
	return false
}

// labelBefore returns the text just before an element in the same line, such as "Last
// updated:" before a time element.
func labelBefore(n *html.Node) string {
	s := n.PrevSibling
	for s != nil && s.Type == html.TextNode && isBlank(s.Data) {
		s = s.PrevSibling
	}
	switch {
	case s == nil:
		return ""
	case s.Type == html.TextNode:
		return strings.TrimSpace(s.Data[:min(len(s.Data), 60)])
	case s.Type == html.ElementNode && isInline(s.DataAtom):
		if text := textOf(s, 60); !hasDigit(text) {
			return text
		}
	}
	return ""
}

// nearHeadline finds a date in the short lines after the headline, or just before it.
func (r *builder) nearHeadline(h *html.Node) (found dates.Date, ok bool) {
	left := 40 // text nodes to examine
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if ok || left <= 0 || depth > maxDepth {
			return
		}
		if n.Type == html.TextNode && !isBlank(n.Data) {
			left--
			found, ok = r.dateOfLine(n)
		}
		if n.Type == html.ElementNode && r.doc.hintCache.hints(n)&(hintComment|hintHidden) != 0 {
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
	}
	for at, up := h, 0; at != nil && up < 6 && !ok; at, up = at.Parent, up+1 {
		for s := at.NextSibling; s != nil; s = s.NextSibling {
			walk(s, 0)
		}
		if up < 2 && !ok {
			for s := at.PrevSibling; s != nil; s = s.PrevSibling {
				walk(s, 0)
			}
		}
	}
	return found, ok
}

// dateOfLine returns the date of a short text node.
func (r *builder) dateOfLine(n *html.Node) (dates.Date, bool) {
	if len(n.Data) > 160 || !hasDigit(n.Data) {
		return dates.Date{}, false
	}
	d, ok := dates.Parse(clean(n.Data), r.dateOptions())
	return d, ok && r.isPlausible(d.Time)
}

// isInsideLink reports whether an element is part of a link, like the dates of teasers.
func (r *builder) isInsideLink(n *html.Node) bool {
	for i := 0; n != nil && i < 4; i, n = i+1, n.Parent {
		if n.DataAtom == atom.A && attr(n, "rel") != "bookmark" {
			return true
		}
	}
	return false
}

func (r *builder) setPublished(all, seen []dateCandidate) {
	if len(all) == 0 {
		return
	}
	sort.SliceStable(all, func(i, k int) bool { return all[i].weight > all[k].weight })
	best := all[0]
	midnight := func(m dateCandidate) bool {
		h, mi, s := m.Time.In(r.zone).Clock()
		u, um, us := m.Time.Clock()
		return !m.HasTime || h+mi+s == 0 || u+um+us == 0
	}
	if midnight(best) {
		for _, m := range all[1:] {
			if m.HasTime && !midnight(m) && sameDay(best.Time, m.Time, r.zone) {
				best.Date, best.source = m.Date, m.source
				break
			}
		}
	}
	agree := 0
	for _, m := range all {
		if d := m.Time.Sub(best.Time); d > -time.Minute && d < time.Minute {
			agree++
		}
	}
	for _, s := range seen { // the same time in another zone
		d := s.Time.Sub(best.Time)
		if s.HasTime && best.HasTime && agree < 2 && d != 0 && d%time.Hour < time.Minute && d.Abs() <= 14*time.Hour && (s.HasZone || r.zone != time.UTC) {
			for _, m := range all {
				if e := m.Time.Sub(s.Time); m.source != article.FromHTML && e.Abs() < time.Minute {
					best.Date, best.source = m.Date, m.source
				}
			}
		}
	}
	r.a.Published = best.Local()
	r.a.DateOnly = !best.HasTime
	r.a.SetOrigin(article.FieldPublished, best.source, min(1, best.weight+0.02*float64(agree)))
}

// setUpdated uses the strongest statement that is not before the publication.
func (r *builder) setUpdated(mod []dateCandidate) {
	for _, m := range mod {
		if !r.a.Published.IsZero() && m.Time.Before(r.a.Published.Truncate(time.Minute)) {
			continue
		}
		r.a.Updated = m.Local()
		r.a.SetOrigin(article.FieldUpdated, m.source, m.weight)
		return
	}
}

func sameDay(a, b time.Time, zone *time.Location) bool {
	if d := a.Sub(b); d > -time.Minute && d < time.Minute {
		return true
	}
	return a.In(zone).Format(time.DateOnly) == b.In(zone).Format(time.DateOnly) || a.UTC().Format(time.DateOnly) == b.In(zone).Format(time.DateOnly)
}

// guessZone returns the time zone of a country with a single zone and no daylight saving
// time, else UTC.
func guessZone(host, lang string) *time.Location {
	var hours int
	switch tld := host[strings.LastIndex(host, ".")+1:]; tld {
	case "vn", "th", "kh", "la":
		hours = 7
	case "sg", "my", "ph", "cn", "hk", "tw":
		hours = 8
	case "jp", "kr":
		hours = 9
	case "in":
		return time.FixedZone("IST", 5*3600+1800)
	case "ae":
		hours = 4
	default:
		if lang != "vi" {
			return time.UTC
		}
		hours = 7
	}
	return time.FixedZone("", hours*3600)
}
