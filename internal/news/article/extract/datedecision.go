package extract

import (
	"cmp"
	"math"
	"slices"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// scoreOf returns the log odds that a candidate is the publication: the sum of the weights of its
// traits, which are set by hand. A conditional logit model, validated on sites that it was not trained
// on, chose no better.
func scoreOf(t trait) float64 {
	sum := 0.0
	for _, w := range [...]struct {
		trait  trait
		weight float64
	}{
		{inSelection, 12},
		{inMicrodata, 5.1},
		{inJSONLD, 5},
		{inPublishedMeta, 4.5},
		{inDateMeta, 4},
		{inTimeElement, 3},
		{inNamedElement, 2.8},
		{inTopLine, 2.6},
		{inAnyDateMeta, 2.5},
		{inCreation, 1},
		{inURLPath, 0.5},
		{inURLDigits, 0.5},
		{inScript, 0.5},
		{inLine, -0.3},
		{inShownChange, -0.3},
		{inDescription, -0.6},
		{inChange, -0.8},
		{inSentence, -1.5},
		{isEarliest, 5},
		{isAtTop, 0.5},
		{isFirst, 0.3},
		{isAgreed, 0.3},
		{isAbove, -0.5},
		{isLater, -0.5},
		{isAside, -2},
		{isTeased, -2},
	} {
		if t&w.trait != 0 {
			sum += w.weight
		}
	}
	return sum
}

// decide scores the candidates, and returns the most probable publication and the probability of its
// day; -1: there is none.
func (r dateReader) decide(all []dateCandidate) (best int, p float64) {
	on := r.relate(all)
	best = -1
	for i := range all {
		all[i].score = scoreOf(all[i].traits)
		if best < 0 || all[i].score > all[best].score {
			best = i
		}
	}
	total, same := 1.0, 0.0 // 1: the page does not state its date
	for i := range all {
		odds := math.Exp(all[i].score)
		total += odds
		if on[i].isSame(on[best]) {
			same += odds
		}
	}
	if best >= 0 && all[best].isShown() {
		same *= 0.8 // no metadata confirms it
	}
	return best, same / total
}

// setPublished uses the most probable candidate, and what others say about the time of its day and its zone.
func (r dateReader) setPublished(candidates []dateCandidate) {
	chosen, confidence := r.decide(candidates)
	if chosen < 0 {
		return
	}
	best := candidates[chosen]
	all := slices.DeleteFunc(slices.Clone(candidates), func(c dateCandidate) bool { return c.isChange() })
	slices.SortStableFunc(all, func(a, b dateCandidate) int { return cmp.Compare(b.score, a.score) })
	if r.isMidnight(best) {
		if i := slices.IndexFunc(all, func(m dateCandidate) bool {
			return m.HasTime && !r.isMidnight(m) && sameDay(best.Time, m.Time, r.zone) && m.traits&isElsewhere == 0 &&
				(!best.HasTime || m.traits&inCreation == 0) // 07:00 in Hanoi is midnight in UTC, or seven
		}); i >= 0 {
			best.Date, best.source = all[i].Date, all[i].source
		}
	}
	seen := slices.DeleteFunc(slices.Clone(all), func(c dateCandidate) bool {
		return !c.isShown() || c.traits&isElsewhere != 0
	})
	zoned := r.inOtherZone(best, all, seen)
	r.zoneError = zoned.Time.Sub(best.Time).Round(time.Minute)
	r.a.Published = r.localDay(zoned.Date, seen)
	r.a.DateOnly = !zoned.HasTime
	r.a.SetOrigin(article.FieldPublished, zoned.source, confidence)
}

// isMidnight reports whether a candidate has no time of day, or one that systems write which store only the day.
func (r dateReader) isMidnight(m dateCandidate) bool {
	return !m.HasTime || !isExact(m.Date) || !isExact(dates.Date{Time: m.Time, HasTime: true}) ||
		!isExact(dates.Date{Time: m.Time, Zone: r.zone, HasTime: true})
}

// inOtherZone returns the candidate that states the same time on the clock as another one, in the
// right zone: a visible one that names its zone, else the one that agrees with the visible time, else
// the one that is the other, named UTC, in the zone of the page.
func (r dateReader) inOtherZone(best dateCandidate, all, seen []dateCandidate) dateCandidate {
	if slices.ContainsFunc(seen, func(s dateCandidate) bool {
		return s.isText && s.HasZone && !s.IsRelative && s.isSameTime(best.Time)
	}) {
		return best
	}
	agree := 0
	for _, m := range all {
		if m.isSameTime(best.Time) {
			agree++
		}
	}
	for _, s := range seen {
		d := s.Time.Sub(best.Time)
		if !s.HasTime || !best.HasTime || d.Abs() < time.Minute || d.Abs() > maxOffset ||
			d%(15*time.Minute) >= time.Minute || d%(15*time.Minute) <= -time.Minute {
			continue
		}
		if s.isText && s.HasZone && !s.IsRelative {
			return s
		}
		for _, m := range all {
			if agree < 2 && (s.HasZone || r.zone != time.UTC) && d%time.Hour < time.Minute && !m.isShown() &&
				m.isSameTime(s.Time) {
				return m
			}
		}
	}
	if _, east := best.Local().Zone(); best.HasTime && best.HasZone && east == 0 {
		y, mo, day := best.Time.Date()
		h, mi, s := best.Time.Clock()
		clock := time.Date(y, mo, day, h, mi, s, 0, r.zone)
		for _, m := range all {
			if m.HasZone && !m.isShown() && m.isSameTime(clock) {
				return m
			}
		}
	}
	return best
}

func (c *dateCandidate) isSameTime(t time.Time) bool {
	return c.HasTime && c.Time.Sub(t).Abs() < time.Minute
}

// setUpdated uses the strongest statement that is not before the publication. Metadata
// with the wrong zone has it in both dates.
func (r dateReader) setUpdated(all []dateCandidate) {
	for _, m := range all {
		if !m.isChange() || m.traits&inShownChange != 0 && m.Time.Equal(r.a.Published) {
			continue // nothing else than the update is visible, which counts as the publication
		}
		if !m.isText && r.zoneError != 0 && m.HasTime && !r.isRightIn(all, m.source) {
			m.Time, m.Zone = m.Time.Add(r.zoneError), r.a.Published.Location()
			if d, ok := r.believe(m.Date); ok {
				m.Date = d
			}
		}
		if !r.a.Published.IsZero() && m.Time.Before(r.a.Published.Truncate(time.Minute)) {
			continue
		}
		r.a.Updated = m.Local()
		r.a.SetOrigin(article.FieldUpdated, m.source, updateConfidence(&m))
		return
	}
}

// isRightIn reports whether a source has the publication without the error of the zone.
func (r dateReader) isRightIn(all []dateCandidate, s article.Source) bool {
	return slices.ContainsFunc(all, func(c dateCandidate) bool {
		return c.source == s && !c.isChange() && !c.isText && c.isSameTime(r.a.Published)
	})
}

// updateConfidence returns how certain the date of an update is.
func updateConfidence(c *dateCandidate) float64 {
	switch {
	case c.source == article.FromSelector:
		return selectedConfidence
	case c.source == article.FromJSONLD || c.source == article.FromMicrodata:
		return 0.9
	case c.traits&inChange != 0:
		return 0.8
	}
	return 0.7
}
