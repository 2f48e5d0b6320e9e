package extract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// readLive reads the entries of a live blog, the newest first.
func (r *builder) readLive() {
	l := r.doc.loadLive(r.a.Title)
	updates := r.jsonLD.updates
	if l.hasNoSummary || len(l.entries) == 0 && len(updates) < minLiveEntries {
		return
	}
	if len(l.entries) == 0 {
		r.a.Live = r.entriesOfJSONLD()
	} else {
		r.a.Live = r.entriesOfPage(l)
	}
	identify(r.a.Live)
	slices.SortStableFunc(r.a.Live, func(a, b article.LiveEntry) int { return b.Time.Compare(a.Time) })
	r.a.Live = r.a.Live[:min(len(r.a.Live), article.MaxLiveEntries)]
}

func (r *builder) entriesOfJSONLD() []article.LiveEntry {
	out := make([]article.LiveEntry, 0, len(r.jsonLD.updates))
	for _, u := range r.jsonLD.updates {
		d, _ := dates.Parse(u.time, r.dateOptions())
		e := article.LiveEntry{Title: u.title, Text: cmp.Or(u.text, u.title), Time: d.Time}
		e.HTML = "<p>" + html.EscapeString(e.Text) + "</p>"
		e.Key = cmp.Or(u.id, keyOfText(e))
		out = append(out, e)
	}
	return out
}

// identify makes the keys of entries different: ids that several share identify none.
func identify(all []article.LiveEntry) {
	counts := map[string]int{}
	for i := range all {
		counts[all[i].Key]++
	}
	same := map[string]int{}
	for i := range all {
		e := &all[i]
		if counts[e.Key] > 1 {
			e.Key = keyOfText(*e)
		}
		if same[e.Key]++; same[e.Key] > 1 {
			e.Key += " " + strconv.Itoa(same[e.Key])
		}
	}
}

// keyOfText identifies an entry that has no id of its own.
func keyOfText(e article.LiveEntry) string {
	text := cmp.Or(e.Title, e.Text)
	return fold(text[:min(len(text), 120)])
}

func (r *builder) entriesOfPage(l *live) []article.LiveEntry {
	o := l.outline
	byID, byTitle := map[string]liveUpdate{}, map[string]liveUpdate{}
	for _, u := range r.jsonLD.updates {
		if u.id != "" {
			byID[u.id] = u
		}
		byTitle[fold(cmp.Or(u.title, u.text))] = u
	}
	marks := make([]string, 0, len(l.entries))
	out := make([]article.LiveEntry, 0, len(l.entries))
	for _, found := range l.entries {
		s := &o.spans[found.span]
		var selected []int
		e := article.LiveEntry{}
		for i := s.first; i < s.end; i++ {
			b := &o.blocks[i]
			switch {
			case i == found.line, b.hints&(hintComment|hintHidden|hintCaption|hintByline) != 0,
				b.unit == noUnit && (b.hints&(hintJunk|hintDate) != 0 || b.isBoilerplate() || isDateLine(b.text)) &&
					b.chars < minLiveEntryChars:
			case e.Title == "" && len(selected) == 0 && isHeading(b.tag) && b.chars <= maxLiveHeadingChars:
				e.Title = b.text
			default:
				selected = append(selected, i)
			}
		}
		if len(selected) > 0 {
			parts := make([]string, len(selected))
			for k, i := range selected {
				parts[k] = o.blocks[i].text
			}
			e.Text = strings.Join(parts, "\n\n")
			e.HTML, _ = render(r.doc, s.node, o, selected)
		}
		if e.Text == "" && e.Title == "" {
			continue
		}
		id := idInside(s.node)
		u, ok := byID[id]
		if !ok || id == "" {
			u = byTitle[fold(cmp.Or(e.Title, e.Text))]
		}
		e.Title = cmp.Or(e.Title, u.title)
		e.Key = cmp.Or(id, keyOfText(e))
		out = append(out, e)
		marks = append(marks, cmp.Or(u.time, found.mark))
	}
	r.timeEntries(out, marks)
	return out
}

// idInside returns the id of an element, or of the only element of that kind inside it.
func idInside(n *html.Node) string {
	for _, key := range []string{"id", "data-id", "data-entry-id", "data-post-id", "data-update-id"} {
		if v := attr(n, key); v != "" && len(v) <= maxLiveHeadingChars {
			return v
		}
	}
	return ""
}

// timeEntries parses the times of entries. Most state only the time of day: they are of
// the day of the page's last change, or of its publication if the oldest is the first, and
// another day begins where the clock jumps.
func (r *builder) timeEntries(entries []article.LiveEntry, marks []string) {
	o := r.dateOptions()
	minutes := make([]int, len(marks))
	known := 0
	for i, m := range marks {
		minutes[i] = -1
		if d, ok := dates.Parse(m, o); ok && d.HasTime {
			entries[i].Time = d.Time
			known++
			continue
		}
		if clock := clockIn.FindStringSubmatch(m); clock != nil {
			h, _ := strconv.Atoi(clock[1])
			m, _ := strconv.Atoi(clock[2])
			switch {
			case strings.EqualFold(clock[3], "p") && h < 12:
				h += 12
			case strings.EqualFold(clock[3], "a") && h == 12:
				h = 0
			}
			minutes[i] = 60*h + m
		}
	}
	if known == len(marks) {
		return
	}
	order, before := 0, -1 // positive: the oldest first
	for _, m := range minutes {
		if m >= 0 && before >= 0 {
			order += cmp.Compare(m, before)
		}
		if m >= 0 {
			before = m
		}
	}
	zone := cmp.Or(o.Zone, time.UTC)
	day, step := r.a.Published, 1 // the oldest first
	if order <= 0 {
		day, step = r.a.Updated, -1
		if day.IsZero() {
			day = r.src.Now
		}
	}
	if day.IsZero() {
		if day = r.a.Published; day.IsZero() {
			return
		}
	}
	year, month, date := day.In(zone).Date()
	const jump = 180 // minutes back, in the order of the page: midnight
	before = -1
	for i, m := range minutes {
		if m < 0 {
			continue
		}
		if before >= 0 && step*(before-m) > jump {
			date += step
		}
		before = m
		entries[i].Time = time.Date(year, month, date, m/60, m%60, 0, 0, zone).UTC()
	}
}
