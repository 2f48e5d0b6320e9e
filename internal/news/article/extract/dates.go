package extract

import (
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	isText bool // read from visible text, not from an attribute
}

// Names of meta elements with dates, the most explicit first.
func publishedNames() []string {
	return []string{
		"article:published_time", "og:published_time", "article:published", "og:article:published_time",
		"itemprop:datepublished",
	}
}

func updatedNames() []string {
	return []string{
		"article:modified_time", "og:updated_time", "article:updated_time", "itemprop:datemodified",
		"lastmod", "last-modified", "article_updatetime", "revised", "dcterms.modified", "dc.date.modified",
	}
}

func otherDateNames() []string {
	return []string{
		"pubdate", "publishdate", "publish-date", "publish_date", "parsely-pub-date", "sailthru.date",
		"article.published", "published-date", "dc.date.issued", "dcterms.created",
		"cxenseparse:recs:publishtime", "displaydate", "originalpublicationdate",
		"article.created", "ptime", "rnews:datepublished", "citation_publication_date", "datepublished", "ms.date",
		"article:post_date", "dcterms.issued", "dcterms.available", "citation_date", "citation_online_date",
		"published_at", "published", "publication_date", "date_published", "pub_date", "pubdate_iso", "created",
		"article_date_original", "dc.date.created", "dc.created", "bt:pubdate", "shareaholic:article_published_time",
		"article:published_date", "article:publicationdate", "content_create_date", "date_created", "datecreated",
		"dateposted", "dc.date.publication", "dcsext.articlefirstpublished", "dc:created", "dc:date", "doc_date",
		"mediator_published_time", "og:article:published", "og:datepublished", "og:pubdate",
		"og:publish_date", "og:question:published_time", "og:regdate", "pdate", "publish_time", "published_date",
		"published_time", "release_date", "pub-date", "publication-date", "date-pub", "itemprop:datecreated",
	}
}

// anyDateNames are those of "a point or period of time associated with an event in the
// lifecycle of the resource" (https://www.dublincore.org/specifications/dublin-core/dcmi-terms/#date):
// often the publication, also an update or the time when the page was generated. A marked
// date next to the headline is more certain.
func anyDateNames() []string { return []string{"dc.date", "dcterms.date", "date"} }

// readTimes reconciles the statements of a page about its dates. Metadata comes first.
// Of the statements about one day the most exact one counts. A time that would be in the
// future has the wrong zone, or is not believed. If two statements differ by whole hours,
// a visible time with a zone is right, else the one that agrees with the visible time.
func (r dateReader) readTimes(g Selection) {
	r.readWords()
	var pub, mod []dateCandidate
	add := func(list *[]dateCandidate, s article.Source, w float64, values ...string) {
		for _, v := range values {
			if d, ok := r.parseDate(clean(v)); ok {
				*list = append(*list, dateCandidate{Date: d, source: s, weight: w})
				return
			}
		}
	}
	add(&pub, article.FromSelector, selectedConfidence, g.Values[article.FieldPublished]...)
	add(&mod, article.FromSelector, selectedConfidence, g.Values[article.FieldUpdated]...)
	marks := r.markedDates()
	if r.useZoneOfPage(marks) {
		marks = r.markedDates()
	}
	add(&pub, article.FromJSONLD, 0.95, r.jsonLD.text("datePublished"))
	add(&mod, article.FromJSONLD, 0.95, r.jsonLD.text("dateModified"))
	for _, k := range publishedNames() {
		add(&pub, article.FromOpenGraph, 0.9, r.meta.values[k]...)
	}
	for _, k := range updatedNames() {
		add(&mod, article.FromOpenGraph, 0.8, r.meta.values[k]...)
	}
	add(&pub, article.FromMicrodata, 0.85, r.meta.microdata["datepublished"]...)
	add(&mod, article.FromMicrodata, 0.85, r.meta.microdata["datemodified"]...)
	for _, k := range otherDateNames() {
		add(&pub, article.FromMeta, 0.8, r.meta.values[k]...)
	}
	for _, k := range anyDateNames() {
		add(&pub, article.FromMeta, 0.65, r.meta.values[k]...)
	}
	add(&pub, article.FromJSONLD, 0.5, r.jsonLD.text("dateCreated"), r.jsonLD.text("uploadDate"))
	seen := r.visibleDates(marks)
	pub = append(pub, seen...)
	if d, ok := dateFromURL(r.doc.URL.Path); ok {
		pub = append(pub, dateCandidate{Date: dates.Date{Time: d}, source: article.FromURL, weight: 0.4})
	}
	updates := r.visibleUpdates(marks, len(mod) == 0)
	if len(updates)+len(mod) == 0 && len(seen) > 0 {
		updates = r.updateBeside(seen[0])
	}
	if len(pub) == 0 && len(updates) > 0 {
		updates[0].weight = 0.4 // nothing else is visible
		pub, updates = updates[:1], nil
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
	mod = append(mod, updates...)
	if len(pub) == 0 {
		if d, ok := r.dateAnywhere(); ok {
			pub = append(pub, dateCandidate{Date: d, source: article.FromText, weight: 0.2})
		}
	}
	r.trustURL(pub)
	r.setPublished(pub, seen)
	r.setUpdated(mod)
}

// readWords adjusts what the declared language suggests to that of the text: the order of
// day and month, and the zone of Vietnamese pages.
func (r dateReader) readWords() {
	r.readLanguage()
	words := ""
	if r.a.Origins[article.FieldLanguage].Source == article.FromText {
		words = r.a.Language
	}
	if words == "vi" && r.zone == time.UTC && r.src.Zone == nil {
		r.zone = guessZone("", "vi")
	}
	if r.monthFirst && words != "en" && len(r.a.Text) > 300 || words == "vi" || isDayFirst(r.doc.URL.Hostname()) {
		r.monthFirst = false // templates declare en-US by default
	}
}

// isDayFirst reports whether a host is in a country that writes the day first.
func isDayFirst(host string) bool {
	switch tld := host[strings.LastIndex(host, ".")+1:]; tld {
	case "us", "io", "co", "tv", "me", "ai", "fm", "cc", "ly", "to", "gg", "ca", "ph", "am", "pr", "gu", "fyi":
		return false
	default:
		return len(tld) == 2
	}
}

// useZoneOfPage adopts the zone that a visible date of the page names, unless the
// domain has one.
func (r dateReader) useZoneOfPage(marks []mark) bool {
	if r.src.Zone != nil {
		return false
	}
	for _, m := range marks {
		for _, d := range []*dateCandidate{m.published, m.updated} {
			if d == nil || !d.isText || !d.HasZone || d.IsRelative {
				continue
			}
			_, own := d.Time.In(r.zone).Zone()
			if _, east := d.Local().Zone(); east != own && east != 0 {
				r.zone = d.Zone
				return true
			}
		}
	}
	return false
}

// clockSkew is how far the clock of a site may be ahead of ours, and maxOffset how far
// any zone is ahead of UTC.
const (
	clockSkew = 15 * time.Minute
	maxOffset = 14 * time.Hour
)

// parseDate parses a date and decides how far it is believed.
func (r dateReader) parseDate(text string) (dates.Date, bool) {
	d, ok := dates.Parse(text, r.dateOptions())
	if !ok {
		return d, false
	}
	return r.believe(d)
}

// believe reports whether a date is neither before the web nor in the future. A time that
// is ahead by less than a day is that of another zone: of the site's, if it is not ahead
// there. Otherwise only its day is believed.
func (r dateReader) believe(d dates.Date) (dates.Date, bool) {
	now := r.src.Now
	if d.Time.Year() < 1990 {
		return d, false
	}
	if now.IsZero() || !d.Time.After(now.Add(clockSkew)) {
		return d, true
	}
	if d.Time.After(now.Add(maxOffset)) {
		return d, false
	}
	if !d.HasTime {
		return d, true // it is already that day elsewhere
	}
	y, mo, day := d.Local().Date()
	h, mi, s := d.Local().Clock()
	if local := time.Date(y, mo, day, h, mi, s, 0, r.zone); !local.After(now.Add(clockSkew)) {
		return dates.Date{Time: local.UTC(), Zone: r.zone, HasTime: true}, true
	}
	return dates.Date{Time: time.Date(y, mo, day, 0, 0, 0, 0, r.zone).UTC(), Zone: r.zone}, true
}

// dateOptions returns the time zone of the site, from its settings or its country.
func (r *builder) dateOptions() dates.Options {
	return dates.Options{Zone: r.zone, Now: r.src.Now, MonthFirst: r.monthFirst}
}

// visibleDates returns the visible dates, nearest to the headline first. Dates inside
// links and sidebars are those of other articles, unless the page has no others.
func (r dateReader) visibleDates(marks []mark) []dateCandidate {
	const maxDates = 3
	var out []dateCandidate
	take := func(weight float64, want func(m mark) bool) {
		for _, m := range marks {
			if m.published != nil && want(m) && len(out) < maxDates {
				c := *m.published
				if weight > 0 {
					c.weight = weight
				}
				out = append(out, c)
			}
		}
	}
	take(0, func(m mark) bool { return !m.isAside && !m.isAbove })
	take(0, func(m mark) bool { return !m.isAside && m.isAbove })
	if len(out) == 0 && len(r.meta.h1s) > 0 {
		if d, ok := r.nearHeadline(r.meta.h1s[0]); ok {
			out = append(out, dateCandidate{d, article.FromHTML, 0.5, true})
		}
	}
	if len(out) == 0 {
		take(0.4, func(m mark) bool { return m.isAside })
	}
	if len(out) > 0 || slices.ContainsFunc(marks, func(m mark) bool { return m.updated != nil }) {
		return out
	}
	if d, ok := r.dateInLines(); ok {
		out = append(out, dateCandidate{d, article.FromHTML, 0.35, true})
	}
	return out
}

// visibleUpdates returns the visible dates of updates, or, with inLines, the one of a line
// that says so.
func (r dateReader) visibleUpdates(marks []mark, inLines bool) []dateCandidate {
	var out []dateCandidate
	for _, m := range marks {
		if m.updated != nil && !m.isAside {
			out = append(out, *m.updated)
		}
	}
	if len(out) == 0 && inLines {
		if d, ok := r.updateInLines(); ok {
			out = append(out, dateCandidate{d, article.FromHTML, 0.5, true})
		}
	}
	return out
}

// updateBeside returns the date after that of the publication: where two time elements without a word follow each
// other, as in Material for MkDocs, the first is the publication and the second a later update. Words or a dash between
// them say something else, and so do three dates.
func (r dateReader) updateBeside(published dateCandidate) []dateCandidate {
	times := r.meta.times
	for i := 0; i+1 < len(times); i++ {
		a, b := times[i], times[i+1]
		if a.DataAtom != atom.Time || b.DataAtom != atom.Time || attr(a, "class") != attr(b, "class") ||
			!isBeside(a, b) ||
			i+2 < len(times) && isBeside(b, times[i+2]) || i > 0 && isBeside(times[i-1], a) || r.isOtherDate(a) {
			continue
		}
		from, is := r.parseDate(attr(a, "datetime"))
		update := r.dateOfElement(b, textOf(b, 160), []string{attr(b, "datetime")})
		if is && update != nil && sameDay(from.Time, published.Time, r.zone) && update.Time.After(from.Time) {
			update.weight = 0.5
			return []dateCandidate{*update}
		}
	}
	return nil
}

// isBeside reports whether no text is between two elements, the second of which is near the first.
func isBeside(a, b *html.Node) bool {
	left := 20
	for n := nextOutside(a); n != nil && left > 0; left-- {
		if n == b {
			return true
		}
		if n.Type == html.TextNode && !isBlank(n.Data) {
			return false
		}
		if n.FirstChild != nil {
			n = n.FirstChild
		} else {
			n = nextOutside(n)
		}
	}
	return false
}

// nextOutside returns the next node in document order that is not inside a node.
func nextOutside(n *html.Node) *html.Node {
	for ; n != nil; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

// mark is an element that is marked as a date.
type mark struct {
	published, updated *dateCandidate
	isAside            bool // in a sidebar or a link
	isAbove            bool // before the headline
}

// markedDates returns the dates of elements that are marked as dates, except those of
// other things than the article.
func (r dateReader) markedDates() []mark {
	var out []mark
	for i, n := range r.meta.times {
		if next := i + 1; next < len(r.meta.times) && n.DataAtom != atom.Time && contains(n, r.meta.times[next]) &&
			hasDigit(textOf(r.meta.times[next], 160)) {
			continue // the inner elements are more precise
		}
		if r.isOtherDate(n) {
			continue
		}
		m := mark{isAside: r.isForeign(n, hintJunk) || r.isInsideLink(n), isAbove: r.isAboveHeadline(n)}
		text := textOf(n, 160)
		published, updated := splitUpdate(text)
		if published == text && (isNamedUpdate(n) || isUpdateLine(labelBefore(n))) {
			published, updated = "", text
		}
		attrs := []string{attr(n, "datetime"), attr(n, "title"), attr(n, "content")}
		if published != "" || updated == "" {
			if updated != "" {
				attrs = nil // of which of the two?
			}
			m.published = r.dateOfElement(n, published, attrs)
		}
		if updated != "" {
			m.updated = r.dateOfElement(n, updated, attrs)
		}
		if m.published != nil || m.updated != nil {
			out = append(out, m)
		}
	}
	return out
}

// dateOfElement returns the most exact date of an element: the one of its attributes, or
// that of its text if the text has a time and the attribute has none, or names the zone
// of the same time on the clock.
func (r dateReader) dateOfElement(n *html.Node, text string, attrs []string) *dateCandidate {
	shown, ok := r.parseDate(text)
	best := dateCandidate{shown, article.FromHTML, 0.7, true}
	for i, a := range attrs {
		d, is := r.parseDate(a)
		if !is {
			continue
		}
		byAttr := dateCandidate{d, article.FromHTML, 0.7, false}
		if i == 0 && n.DataAtom == atom.Time {
			byAttr.weight = 0.75
		}
		apart := d.Time.Sub(shown.Time).Abs()
		switch {
		case !ok && (i == 0 || text == "" || !hasDigit(text)):
			return &byAttr
		case !ok, apart > 2*maxOffset: // another day, such as in the title of a link
			if i == 0 {
				return &byAttr
			}
		case isExact(shown) && !isExact(d), shown.HasZone && !shown.IsRelative && sameClock(shown, d):
			best.weight = byAttr.weight
		default:
			return &byAttr
		}
	}
	if !ok {
		return nil
	}
	return &best
}

// isExact reports whether a date has a time of day. Midnight is what systems write that
// store only the day.
func isExact(d dates.Date) bool {
	h, m, s := d.Local().Clock()
	return d.HasTime && h+m+s > 0
}

// sameClock reports whether two dates have the same day and time of day, each in its zone.
func sameClock(a, b dates.Date) bool {
	const minute = "2006-01-02 15:04"
	return a.HasTime && b.HasTime && a.Local().Format(minute) == b.Local().Format(minute)
}

// findUpdateLabel finds the first word of a text in lower case that announces the time of an update; -1: none.
func findUpdateLabel(low string) int {
	return firstLabel(low, []string{
		"updated", "update:", "last update", "cập nhật", "sửa đổi", "chỉnh sửa", "sửa lần cuối", "modified",
		"last edited", "edited on", "reviewed", "revised", "zuletzt", "aktualisiert", "geändert", "mis à jour",
		"modifié le", "actualizado", "atualizado", "aggiornato", "bijgewerkt", "обновлено", "更新",
	})
}

// findPublicationLabel is the same for words that announce the publication.
func findPublicationLabel(low string) int {
	return firstLabel(low, []string{
		"published", "publish date", "publication date", "posted", "created", "đăng", "ngày đăng",
		"xuất bản", "erstellt", "veröffentlicht", "publié", "publicado", "pubblicato", "опубликовано",
	})
}

func isUpdateLine(text string) bool {
	published, updated := splitUpdate(text)
	return updated != "" && published == ""
}

// splitUpdate splits the text of a date, such as "10:48 | Updated: 11:05", into what it
// says about the publication and what about an update.
func splitUpdate(text string) (published, updated string) {
	low := strings.ToLower(text)
	if len(low) != len(text) {
		text = low
	}
	at := findUpdateLabel(low)
	if at < 0 {
		return text, ""
	}
	published, updated = text[:at], text[at:]
	if k := findPublicationLabel(low[at:]); k > 0 && !hasDigit(published) {
		published, updated = updated[k:], updated[:k]
	}
	if !hasDigit(published) {
		published = ""
	}
	return published, updated
}

// firstLabel returns the position of the first label that begins a word; -1: none.
func firstLabel(low string, labels []string) int {
	first := -1
	for _, l := range labels {
		i := strings.Index(low, l)
		if i < 0 || first >= 0 && i > first {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(low[:i]); i == 0 || !unicode.IsLetter(before) {
			first = i
		}
	}
	return first
}

// isNamedUpdate reports whether the class name of an element, or of the one around it,
// says that its date is that of an update.
func isNamedUpdate(n *html.Node) bool {
	if strings.EqualFold(attr(n, "itemprop"), "dateModified") {
		return true
	}
	for up := 0; n != nil && up < 2; up, n = up+1, n.Parent {
		class := strings.ToLower(attr(n, "class"))
		if strings.Contains(class, "published") { // "published updated" is both
			return false
		}
		for w := range strings.FieldsFuncSeq(class, func(r rune) bool { return !unicode.IsLetter(r) }) {
			switch w {
			case "updated", "modified", "lastmod", "lastupdated", "lastmodified", "revised", "edited":
				return true
			}
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
	case s.Type == html.ElementNode && (isInline(s.DataAtom) || isHeading(s.DataAtom)):
		if text := firstOf(textOf(s, 60), attr(s, "title"), attr(s, "aria-label")); !hasDigit(text) {
			return text
		}
	}
	return ""
}

// nearHeadline finds a date in the short lines after the headline, or just before it.
func (r dateReader) nearHeadline(h *html.Node) (found dates.Date, ok bool) {
	left := 40 // text nodes to examine
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if ok || left <= 0 || depth > maxDepth {
			return
		}
		if n.Type == html.TextNode && !isBlank(n.Data) {
			left--
			if d, is := r.dateOfLine(n); is && !r.isOtherDate(n) && !r.isSentence(n) {
				found, ok = d, true
			}
		}
		if n.Type == html.ElementNode && r.doc.hasHint(n, hintComment|hintHidden) {
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

// dateOfLine returns the date of publication of a short text node, with the time of day of the time element around it.
func (r dateReader) dateOfLine(n *html.Node) (dates.Date, bool) {
	if len(n.Data) > 160 || !hasDigit(n.Data) {
		return dates.Date{}, false
	}
	published, _ := splitUpdate(clean(n.Data))
	if published == "" || isUpdateLine(labelBefore(n)) {
		return dates.Date{}, false
	}
	d, ok := r.parseDate(published)
	if n.Parent.DataAtom == atom.Time && ok && !d.HasTime {
		if exact, is := r.parseDate(attr(n.Parent, "datetime")); is && isExact(exact) &&
			sameDay(exact.Time, d.Time, r.zone) {
			return exact, true
		}
	}
	return d, ok
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

func (r dateReader) setPublished(all, seen []dateCandidate) {
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
	stated := best.Date
	for _, s := range seen { // the same time in another zone
		d := s.Time.Sub(best.Time)
		if !s.HasTime || !best.HasTime || d.Abs() < time.Minute || d.Abs() > maxOffset ||
			d%(15*time.Minute) >= time.Minute || d%(15*time.Minute) <= -time.Minute {
			continue
		}
		if s.isText && s.HasZone && !s.IsRelative {
			best.Date, best.source = s.Date, s.source
			break
		}
		for _, m := range all {
			if e := m.Time.Sub(s.Time); agree < 2 && (s.HasZone || r.zone != time.UTC) && d%time.Hour < time.Minute &&
				m.source != article.FromHTML && e.Abs() < time.Minute {
				best.Date, best.source = m.Date, m.source
			}
		}
	}
	r.zoneError = best.Time.Sub(stated.Time).Round(time.Minute)
	r.a.Published = best.Local()
	r.a.DateOnly = !best.HasTime
	r.a.SetOrigin(article.FieldPublished, best.source, min(1, best.weight+0.02*float64(agree)))
}

// setUpdated uses the strongest statement that is not before the publication. Metadata
// with the wrong zone has it in both dates.
func (r dateReader) setUpdated(mod []dateCandidate) {
	for _, m := range mod {
		if !m.isText && r.zoneError != 0 && m.HasTime {
			m.Time, m.Zone = m.Time.Add(r.zoneError), r.a.Published.Location()
			if d, ok := r.believe(m.Date); ok {
				m.Date = d
			}
		}
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
	return a.In(zone).Format(time.DateOnly) == b.In(zone).Format(time.DateOnly) ||
		a.UTC().Format(time.DateOnly) == b.In(zone).Format(time.DateOnly)
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
