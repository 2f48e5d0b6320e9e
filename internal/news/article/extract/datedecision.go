package extract

import (
	"sort"
	"time"

	"dateline/internal/news/article"
)

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
	r.a.Published = r.localDay(best.Date, seen)
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
