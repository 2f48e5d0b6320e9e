package extract

import (
	"slices"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// dateCandidate is a statement of a date of the article.
type dateCandidate struct {
	dates.Date
	source article.Source
	traits trait
	shown  dates.Date // what readers see, if an element is marked as a date
	isText bool       // read from visible text, not from an attribute
	score  float64    // log odds of being the publication
}

// trait is what is known about a candidate. The weights of its traits are its score.
type trait uint64

// What states a date.
const (
	inSelection trait = 1 << iota
	inJSONLD
	inPublishedMeta // article:published_time
	inMicrodata
	inDateMeta    // other names of publication dates
	inAnyDateMeta // DC.date
	inCreation    // of JSON-LD
	inTimeElement
	inNamedElement
	inTopLine // near the headline
	inLine
	inURLPath
	inURLDigits
	inScript
	inDescription
	inSentence
	inChange      // metadata of an update
	inShownChange // a visible date of an update
)

// Where a visible date is, and how it is related to the other candidates.
const (
	isAbove    trait = 1 << (iota + 20) // before the headline
	isAtTop                             // between the headline and the text
	isAside                             // in a sidebar or a link
	isTeased                            // next to a link to something else
	isFirst                             // of the visible ones
	isAgreed                            // another source states the same day
	isEarliest                          // in the address, days before all others
	isLater                             // than another one, by days
)

// sources are the traits of what states a date.
const sources = isAbove - 1

// isElsewhere are the traits of dates that may be those of something else.
const isElsewhere = isAside | isTeased

// isChange reports whether a date is that of an update.
func (c *dateCandidate) isChange() bool { return c.traits&(inChange|inShownChange) != 0 }

// isShown reports whether a date is visible.
func (c *dateCandidate) isShown() bool {
	return c.traits&(inTimeElement|inNamedElement|inTopLine|inLine|inShownChange) != 0
}

// readTimes collects what a page states about its dates and decides once about all of it. Of
// the statements about one day the most exact one counts. A time that would be in the future
// has the wrong zone, or is not believed. If two statements differ by whole hours, a visible
// time with a zone is right, else the one that agrees with the visible time.
func (r dateReader) readTimes(g Selection) {
	r.readWords()
	marks := r.markedDates()
	if r.useZoneOfPage(marks) {
		marks = r.markedDates()
	}
	all := append(r.metadataDates(g), marks...)
	all = append(all, r.unmarkedDates(all)...)
	if !slices.ContainsFunc(all, func(c dateCandidate) bool { return !c.isChange() }) {
		all = append(all, r.hiddenDates()...)
	}
	if len(all) == 0 {
		if d, ok := r.dateAnywhere(); ok {
			all = append(all, dateCandidate{Date: d, source: article.FromText, traits: inSentence})
		}
	}
	r.setPublished(all)
	r.setUpdated(all)
}

// metadataDates returns the first date that each name of the metadata has, and that of the address.
func (r dateReader) metadataDates(g Selection) []dateCandidate {
	var all []dateCandidate
	add := func(s article.Source, t trait, values ...string) {
		for _, v := range values {
			if d, ok := r.parseDate(clean(v)); ok {
				all = append(all, dateCandidate{Date: d, source: s, traits: t})
				return
			}
		}
	}
	add(article.FromSelector, inSelection, g.Values[article.FieldPublished]...)
	add(article.FromSelector, inChange, g.Values[article.FieldUpdated]...)
	add(article.FromJSONLD, inJSONLD, r.jsonLD.text("datePublished"))
	add(article.FromJSONLD, inChange, r.jsonLD.text("dateModified"))
	for _, k := range publishedNames() {
		add(article.FromOpenGraph, inPublishedMeta, r.meta.values[k]...)
	}
	for _, k := range updatedNames() {
		add(article.FromOpenGraph, inChange, r.meta.values[k]...)
	}
	add(article.FromMicrodata, inMicrodata, r.meta.microdata["datepublished"]...)
	add(article.FromMicrodata, inChange, r.meta.microdata["datemodified"]...)
	for _, k := range otherDateNames() {
		add(article.FromMeta, inDateMeta, r.meta.values[k]...)
	}
	for _, k := range anyDateNames() {
		add(article.FromMeta, inAnyDateMeta, r.meta.values[k]...)
	}
	add(article.FromJSONLD, inCreation, r.jsonLD.text("dateCreated"), r.jsonLD.text("uploadDate"))
	if t, ok := dateFromURL(r.doc.URL.Path); ok {
		if d, ok := r.believe(dates.Date{Time: t}); ok { // not that of an event to come
			all = append(all, dateCandidate{Date: d, source: article.FromURL, traits: inURLPath})
		}
	}
	return all
}

// unmarkedDates returns the dates in lines of a page whose elements do not tell them.
func (r dateReader) unmarkedDates(known []dateCandidate) []dateCandidate {
	var all []dateCandidate
	first, isMarked, isChanged, isShown := -1, false, false, false
	for i := range known {
		c := &known[i]
		isChanged = isChanged || c.isChange()
		isShown = isShown || c.isShown()
		if c.isShown() && !c.isChange() && !isMarked && (first < 0 || c.traits&isAside == 0) {
			first, isMarked = i, c.traits&isAside == 0
		}
	}
	add := func(d dates.Date, t trait) {
		all = append(all, dateCandidate{Date: d, source: article.FromHTML, traits: t, shown: d, isText: true})
	}
	if h := r.headline(); !isMarked && h != nil {
		if d, where, ok := r.nearHeadline(h); ok {
			add(d, inTopLine|where)
		}
	}
	if !isShown && len(all) == 0 {
		if d, ok := r.dateInLines(); ok {
			add(d, inLine)
		}
	}
	if isChanged {
		return all
	}
	if d, ok := r.updateInLines(); ok {
		add(d, inShownChange)
	} else if first >= 0 {
		all = append(all, r.updateBeside(known[first])...)
	}
	return all
}

// days is the day of a candidate in the zone of the page, and in UTC.
type days struct{ local, utc int }

func (d days) isSame(o days) bool { return d.local == o.local || d.utc == o.utc || d.local == o.utc }

func (r dateReader) daysOf(t time.Time) days {
	number := func(t time.Time) int {
		y, m, d := t.Date()
		return (y*12+int(m))*31 + d
	}
	return days{number(t.In(r.zone)), number(t.UTC())}
}

// relate adds the traits of candidates that depend on the others, and returns their days.
func (r dateReader) relate(all []dateCandidate) []days {
	const daysApart = 72 * time.Hour
	on := make([]days, len(all))
	for i := range all {
		on[i] = r.daysOf(all[i].Time)
	}
	isMarked := false
	for i := range all {
		c, isEarly := &all[i], true
		if c.isShown() && !c.isChange() && c.traits&(isAside|isTeased|isAbove) == 0 && !isMarked {
			isMarked = true
			c.traits |= isFirst
		}
		others := 0
		for k := range all {
			o := &all[k]
			if i == k {
				continue
			}
			switch {
			case o.isChange(), o.traits&(isAside|isTeased) != 0, o.traits&isAbove != 0 && c.isShown():
				continue
			case on[i].isSame(on[k]) && (o.source != c.source || o.traits&c.traits&sources == 0):
				c.traits |= isAgreed
			}
			others++
			isEarly = isEarly && o.Time.Sub(c.Time) >= daysApart
			if c.Time.Sub(o.Time) >= daysApart {
				c.traits |= isLater
			}
		}
		if isEarly && others > 0 && c.traits&inURLPath != 0 {
			c.traits |= isEarliest
		}
	}
	return on
}
