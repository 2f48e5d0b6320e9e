package discover

import (
	"path"
	"regexp"
	"strings"
	"time"

	"dateline/internal/news/crawl/weburl"
)

// Shape is a URL with variable parts replaced: numbers become N and slugs
// become *. All articles of a section have one shape, and so have all days of a
// calendar.
func Shape(u weburl.URL) string {
	var b strings.Builder
	b.WriteString(u.Hostname())
	for segment := range strings.SplitSeq(strings.Trim(strings.ToLower(u.Path()), "/"), "/") {
		ext := path.Ext(segment)
		if len(ext) > 6 || digitRun.MatchString(ext) {
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
			b.WriteString(digitRun.ReplaceAllString(name, "N"))
		}
		b.WriteString(ext)
	}
	if u.Query() != "" {
		b.WriteByte('?')
		for piece := range strings.SplitSeq(u.Query(), "&") {
			name, _, _ := strings.Cut(piece, "=")
			b.WriteString(digitRun.ReplaceAllString(name, "N") + "&")
		}
	}
	return b.String()
}

var (
	digitRun = regexp.MustCompile(`\d+`)
	calendar = regexp.MustCompile(
		`[/=-]((?:19|20|21)\d{2})[/-](0?[1-9]|1[0-2])(?:[/-](0?[1-9]|[12]\d|3[01]))?(?:$|[/&?-])`)
)

// Limits above which a URL counts as a trap.
const (
	maxDepth      = 12
	maxParameters = 8
	maxRepeats    = 3
)

// TrapReason returns why a URL looks like one of endlessly many; empty: it does
// not. now is needed to recognize calendars of the future.
func TrapReason(u weburl.URL, now time.Time) string {
	segments := strings.FieldsFunc(u.Path(), func(r rune) bool { return r == '/' })
	if len(segments) > maxDepth {
		return "trap: the path is too deep"
	}
	if strings.Count(u.Query(), "&") >= maxParameters {
		return "trap: too many parameters"
	}
	counts := map[string]int{}
	for i, segment := range segments {
		if counts[segment]++; counts[segment] > maxRepeats || counts[segment] == maxRepeats && i+1 < len(segments) &&
			len(segments) > 2*maxRepeats {
			return "trap: the path repeats itself"
		}
	}
	if f := findMonth(u.RequestURI()); f != nil {
		if month, err := time.Parse("2006-1", f[1]+"-"+f[2]); err == nil &&
			(month.After(now.AddDate(0, 1, 0)) || month.Year() < 1990) {
			return "trap: a calendar without news"
		}
	}
	return ""
}

// findMonth finds a year and a month. It looks for a possible year first,
// because regular expressions are slow and most URLs have none.
func findMonth(uri string) []string {
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

// ShapeLimiter limits how many sections of one shape are taken from a site:
// lists of days, filters and numbers produce endlessly many URLs of few shapes.
// It is not safe for concurrent use.
type ShapeLimiter struct {
	limit  int
	counts map[string]int
}

// maxShapes is how many shapes a site's sections may have.
const maxShapes = 2_000

// NewShapeLimiter returns an empty limiter; limit applies to each shape.
func NewShapeLimiter(limit int) *ShapeLimiter {
	return &ShapeLimiter{limit: limit, counts: map[string]int{}}
}

// Count records a section that was admitted before.
func (s *ShapeLimiter) Count(u weburl.URL) { s.counts[Shape(u)]++ }

// Admit counts a section and returns the reason why it must not be taken;
// empty: it may.
func (s *ShapeLimiter) Admit(u weburl.URL) (reason string) {
	shape := Shape(u)
	n, known := s.counts[shape]
	switch {
	case n >= s.limit:
		return "trap: too many sections like " + shape
	case !known && len(s.counts) >= maxShapes:
		return "trap: too many kinds of sections"
	}
	s.counts[shape] = n + 1
	return ""
}
