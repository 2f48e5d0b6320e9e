package discover

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"dateline/internal/crawl/weburl"
)

// Shape is a URL without what differs from page to page: numbers become N and
// slugs *. All articles of a section have one shape, and so do all days of a
// calendar.
func Shape(u weburl.URL) string {
	var b strings.Builder
	b.WriteString(u.Hostname())
	for segment := range strings.SplitSeq(strings.Trim(strings.ToLower(u.Path()), "/"), "/") {
		ext := path.Ext(segment)
		if len(ext) > 6 || digits.MatchString(ext) {
			ext = ""
		}
		b.WriteByte('/')
		switch name := strings.TrimSuffix(segment, ext); {
		case strings.Count(name, "-") >= 3 || strings.Contains(name, "%"):
			b.WriteByte('*')
			if hasID(name) {
				b.WriteByte('N')
			}
		default:
			b.WriteString(digits.ReplaceAllString(name, "N"))
		}
		b.WriteString(ext)
	}
	if u.Query() != "" {
		b.WriteByte('?')
		for piece := range strings.SplitSeq(u.Query(), "&") {
			name, _, _ := strings.Cut(piece, "=")
			b.WriteString(digits.ReplaceAllString(name, "N") + "&")
		}
	}
	return b.String()
}

var (
	digits   = regexp.MustCompile(`\d+`)
	calendar = regexp.MustCompile(`[/=-]((?:19|20|21)\d{2})[/-](0?[1-9]|1[0-2])(?:[/-](0?[1-9]|[12]\d|3[01]))?(?:$|[/&?-])`)
)

// Bounds of URLs that are no traps.
const (
	maxDepth      = 12
	maxParameters = 8
	maxRepeats    = 3
)

// Trap says why a URL looks like one of endlessly many; empty: it does not. now
// tells what a calendar shows in the future.
func Trap(u weburl.URL, now time.Time) string {
	segments := strings.FieldsFunc(u.Path(), func(r rune) bool { return r == '/' })
	if len(segments) > maxDepth {
		return "trap: the path is too deep"
	}
	if strings.Count(u.Query(), "&") >= maxParameters {
		return "trap: too many parameters"
	}
	counts := map[string]int{}
	for i, segment := range segments {
		if counts[segment]++; counts[segment] > maxRepeats || counts[segment] == maxRepeats && i+1 < len(segments) && len(segments) > 2*maxRepeats {
			return "trap: the path repeats itself"
		}
	}
	if f := monthOf(u.RequestURI()); f != nil {
		if month, err := time.Parse("2006-1", f[1]+"-"+f[2]); err == nil && (month.After(now.AddDate(0, 1, 0)) || month.Year() < 1990) {
			return "trap: a calendar beyond its news"
		}
	}
	return ""
}

// monthOf finds a year and a month. It looks for what may be a year first: the
// expression is dear, and most URLs have none.
func monthOf(uri string) []string {
	for i := range max(len(uri)-4, 0) {
		if strings.IndexByte("/=-", uri[i]) < 0 {
			continue
		}
		switch uri[i+1 : i+3] {
		case "19", "20", "21":
			return calendar.FindStringSubmatch(uri)
		}
	}
	return nil
}

// Meter bounds how many URLs of one shape are taken from a site, articles apart:
// calendars, filters and session ids make endlessly many of few shapes. It is
// safe for concurrent use and counts each URL that it is asked about.
type Meter struct {
	most int

	mu     sync.Mutex
	counts map[string]int
}

// NewMeter makes a meter that lets most URLs of each shape pass.
func NewMeter(most int) *Meter { return &Meter{most: most, counts: map[string]int{}} }

// maxShapes bounds the memory of a meter; a site with more has no shapes at all.
const maxShapes = 10_000

// Admit says whether a new URL may be taken, and if not, why.
func (m *Meter) Admit(link Link, now time.Time) (ok bool, reason string) {
	if reason := Trap(link.URL, now); reason != "" {
		return false, reason
	}
	if link.Kind == Article {
		return true, ""
	}
	shape := Shape(link.URL)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.counts[shape]; !known && len(m.counts) >= maxShapes {
		return false, "trap: too many kinds of URLs"
	}
	if m.counts[shape] >= m.most {
		return false, "trap: too many URLs like " + shape
	}
	m.counts[shape]++
	return true, ""
}
