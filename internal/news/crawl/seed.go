package crawl

import (
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl/weburl"
)

// SeedStatus says whether a seed is crawled.
type SeedStatus string

// The statuses of seeds.
const (
	Active SeedStatus = "active"
	Paused SeedStatus = "paused"
)

// Seed is a page, feed or sitemap at which a workspace starts a crawl.
type Seed struct {
	ID          uuid.UUID
	Number      int // references the seed from the frontier
	WorkspaceID uuid.UUID
	DomainID    int
	Domain      string
	URL         weburl.URL
	Kind        Kind
	Title       string
	Status      SeedStatus
	Priority    int // 0 to 100
	MinInterval time.Duration
	MaxInterval time.Duration
	Interval    time.Duration // current; shrinks when the seed yields new URLs
	Rules       Rules
	NextCrawl   time.Time
	LastCrawl   *time.Time
	LastFound   *time.Time // when it last yielded a new URL
	LastError   string
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Rules limit which links are followed from a seed.
type Rules struct {
	Allow       []string // empty: the whole domain
	Deny        []string
	MaxDepth    int // links away from the seed; 1 follows the seed's own links
	DailyBudget int // pages per day; 0: only the domain's budget applies
}

// CompilePatterns compiles allow or deny patterns. A pattern matches anywhere in
// the path and query of a URL: /the-thao/ matches /tin/the-thao/bong-da.html.
// "*" matches any text, a leading "^" the start, and a trailing "$" the end.
func CompilePatterns(patterns []string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, 0, len(patterns))
	for _, pattern := range patterns {
		text, start := strings.CutPrefix(pattern, "^")
		text, end := strings.CutSuffix(text, "$")
		parts := strings.Split(text, "*")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		text = strings.Join(parts, ".*")
		if start {
			text = "^" + text
		}
		if end {
			text += "$"
		}
		if compiled, err := regexp.Compile(text); err == nil {
			out = append(out, compiled)
		}
	}
	return out
}
