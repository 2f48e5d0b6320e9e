package extract

import (
	"slices"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// dateCandidate is one statement of a publication date.
type dateCandidate struct {
	dates.Date
	source article.Source
	weight float64
	shown  dates.Date // what readers see, if it is not the date
	isText bool       // read from visible text, not from an attribute
}

// visibleDate returns a candidate that is read from visible text.
func visibleDate(d dates.Date, weight float64) dateCandidate {
	return dateCandidate{Date: d, source: article.FromHTML, weight: weight, shown: d, isText: true}
}

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
	if h := r.headline(); len(out) == 0 && h != nil {
		if d, ok := r.nearHeadline(h); ok {
			out = append(out, visibleDate(d, 0.5))
		}
	}
	if len(out) == 0 {
		take(0.4, func(m mark) bool { return m.isAside })
	}
	if len(out) > 0 || slices.ContainsFunc(marks, func(m mark) bool { return m.updated != nil }) {
		return out
	}
	if d, ok := r.dateInLines(); ok {
		out = append(out, visibleDate(d, 0.35))
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
			out = append(out, visibleDate(d, 0.5))
		}
	}
	return out
}
