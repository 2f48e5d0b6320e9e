package extract

import (
	"cmp"
	"math"
	"slices"
	"time"

	"dateline/internal/news/article"
)

// scoreOf returns the log odds that a candidate is the publication: the sum of the weights of its
// traits. A conditional logit model trained on the development pages, validated on sites that it was
// not trained on, chooses no better and has similar weights.
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
		{inAnyDateMeta, 2.5},
		{inTopLine, 1.5},
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
	seen := slices.DeleteFunc(slices.Clone(all), func(c dateCandidate) bool { return !c.isShown() })
	midnight := func(m dateCandidate) bool {
		h, mi, s := m.Time.In(r.zone).Clock()
		u, um, us := m.Time.Clock()
		return !m.HasTime || h+mi+s == 0 || u+um+us == 0
	}
	if midnight(best) {
		for _, m := range all {
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
	r.a.Published = r.localDay(best.Date, seen)
	r.a.DateOnly = !best.HasTime
	r.a.SetOrigin(article.FieldPublished, best.source, confidence)
}

// setUpdated uses the strongest statement that is not before the publication. Metadata
// with the wrong zone has it in both dates.
func (r dateReader) setUpdated(all []dateCandidate) {
	for _, m := range all {
		if !m.isChange() || m.traits&inShownChange != 0 && m.Time.Equal(r.a.Published) {
			continue // nothing else than the update is visible, which counts as the publication
		}
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
		r.a.SetOrigin(article.FieldUpdated, m.source, updateConfidence(&m))
		return
	}
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
