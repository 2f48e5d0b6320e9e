package counter

// addVisitStep adds the start of a visit, its second page load, or a view that made
// it an engaged one.
func (c *pageSummary) addVisitStep(h recordHeader, r record) {
	if !r.visit.isStart {
		// Counted in the hour of the start, so that no hour has more of them than
		// visits.
		quarters, day := h.quarters, h.day
		if r.visit.inPreviousHour {
			quarters -= 4
			if h.method == firstHour {
				day--
			}
		}
		if h.kind == Entry.letter() {
			c.addHour(SecondView.letter(), quarters, day, 1, 0)
		}
		if !r.visit.wasEngaged {
			c.addHour(EngagedVisit.letter(), quarters, day, 1, 0)
		}
		return
	}
	c.addHour(h.kind, h.quarters, h.day, 1, 0)
}

// visitStart holds what the starts of visits that are counted together share.
type visitStart struct {
	site                    string // its key
	day                     Day
	country, device, values string // values as in the log
}

// addVisitStart counts the dimensions of a visit that starts. Many visits have the same
// ones, so addVisitValues adds them up later.
func (cs *summaries) addVisitStart(page string, day Day, r record) {
	if cs.starts == nil {
		cs.starts = map[visitStart]int64{}
	}
	cs.starts[visitStart{siteKeyOf(page), day, r.country, r.device, r.visitValues}]++
}

// addVisitValues adds the dimensions of the visits that started to the summary of any
// page of the site: they are only reported by site.
func (cs *summaries) addVisitValues() {
	for start, n := range cs.starts {
		c, values := cs.bySite[start.site], decoder{rest: start.values}
		c.addValue(visitCountryLetter, start.day, start.country, n)
		c.addValue(visitDeviceLetter, start.day, start.device, n)
		for _, letter := range []byte(visitDimensions) {
			c.addValue(letter, start.day, values.text(), n)
		}
	}
	clear(cs.starts)
}
